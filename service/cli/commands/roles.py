"""`lineward collector|pipeline|service ...`: one role by itself, as a container runs it."""

import runpy

import typer

app = typer.Typer(add_completion=False)


@app.command()
def collector() -> None:
    """Run the collector: receive events and store them durably."""
    runpy.run_module("collector", run_name="__main__")


@app.command()
def shipper() -> None:
    """Run the shipper: send the collector's spool to Kafka."""
    runpy.run_module("collector.shipper", run_name="__main__")


@app.command()
def pipeline() -> None:
    """Run the pipeline: process events into lineage and SLIs, in Spark."""
    runpy.run_module("slis", run_name="__main__")


@app.command()
def service() -> None:
    """Run the service: API, pages, metrics and notifications."""
    runpy.run_module("service", run_name="__main__")


@app.command()
def kafka() -> None:
    """Run the Kafka source: read events from a topic into the collector."""
    runpy.run_module("service.ingest.kafka", run_name="__main__")


@app.command()
def kubernetes() -> None:
    """Run the Kubernetes source: record SparkApplications and failed pods."""
    runpy.run_module("service.ingest.kubernetes", run_name="__main__")
