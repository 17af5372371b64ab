"""`lineward collector|pipeline|service ...`: one role by itself, as a container runs it."""

import runpy

import typer

app = typer.Typer(add_completion=False)


@app.command()
def collector() -> None:
    """Run the collector: events in, durable, acked."""
    runpy.run_module("collector", run_name="__main__")


@app.command()
def shipper() -> None:
    """Run the shipper: from the collector's spool on to the Kafka log."""
    runpy.run_module("collector.shipper", run_name="__main__")


@app.command()
def pipeline() -> None:
    """Run the pipeline: from the spool to facts and SLIs, in Spark."""
    runpy.run_module("slis", run_name="__main__")


@app.command()
def service() -> None:
    """Run the service: API and metrics."""
    runpy.run_module("service", run_name="__main__")


@app.command()
def kafka() -> None:
    """Run the Kafka source: from a topic into the collector."""
    runpy.run_module("service.kafka", run_name="__main__")


@app.command()
def kubernetes() -> None:
    """Run the Kubernetes source: SparkApplications and failed pods into the catalog."""
    runpy.run_module("service.kubernetes", run_name="__main__")
