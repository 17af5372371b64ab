"""`lineward lineage DATASET[.COLUMN]`: upstream and downstream, now or at a past time."""

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from lineage.errors import InvalidRequestError
from service.cli.commands.options import AsJson, DataDir, DatasetNamespace, completed_datasets
from service.cli.terminal import (
    draw_tree,
    elsewhere_note,
    escape_markup,
    local_time,
    show_answer,
    state_markup,
)
from service.queries.catalog_session import CatalogSession, open_session
from service.queries.column_lineage import find_column_lineage
from service.queries.column_shapes import ColumnLineage, ColumnNode
from service.queries.columns import dataset_or_column_named, describe_transformation
from service.queries.dataset_lookup import KnownDataset, resolve_dataset
from service.queries.edge_runs import EdgeRun, Touched
from service.queries.lineage import ORIGIN_WORDS, find_lineage
from service.queries.lineage_at import PastLineage, PastNode, past_lineage
from service.queries.run_shapes import RunSummary
from service.queries.shapes import Lineage, Node
from service.queries.timestamps import past_instant, short_duration
from service.queries.walk import MOST_DEPTH
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)


@app.command()
def main(  # noqa: PLR0913 - each is an option
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET[.COLUMN]",
            help="Name, `namespace/name`, or the last part of a name; with or without a column.",
            autocompletion=completed_datasets,
        ),
    ],
    namespace: DatasetNamespace = None,
    data_dir: DataDir = None,
    *,
    depth: Annotated[int, typer.Option(min=1, max=MOST_DEPTH, help="Number of hops.")] = 5,
    at: Annotated[
        str | None, typer.Option(help="Show the lineage at this time, e.g. 2026-11-20T12:00:00Z.")
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(help="Column of the dataset; DATASET.COLUMN works too."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show upstream and downstream of a dataset (with its last run) or of a column."""
    with open_session(read_settings(data_dir)) as asked:
        named, field = _named(asked, dataset, namespace, column)
        answer = _answer(asked, named, field, depth=depth, at=at)
    show_answer(answer, _drawn, as_json=as_json, prefix="incomplete: ")


def _named(
    asked: CatalogSession, name: str, namespace: str | None, column: str | None
) -> tuple[KnownDataset, str | None]:
    if column is not None:
        return resolve_dataset(asked.reader, name, namespace), column
    return dataset_or_column_named(asked.reader, name, namespace)


def _answer(
    asked: CatalogSession, named: KnownDataset, column: str | None, *, depth: int, at: str | None
) -> Lineage | PastLineage | ColumnLineage:
    if column is None and at is None:
        return find_lineage(asked, named, depth=depth)
    if column is None:
        return past_lineage(asked.reader, named, past_instant(str(at), asked.now), depth=depth)
    if at is not None:
        raise InvalidRequestError("--at: past lineage is not stored for columns: name a dataset")
    return find_column_lineage(asked, named, column, depth=depth)


def _drawn(answer: Lineage | PastLineage | ColumnLineage) -> RenderableType:
    if isinstance(answer, ColumnLineage):
        return column_drawing(answer)
    return past_drawing(answer) if isinstance(answer, PastLineage) else trees_text(answer)


def trees_text(answer: Lineage) -> RenderableType:
    """Return both trees and the last run, one below the other."""
    head = Text.assemble(escape_markup(answer.dataset, "bold"), "  ", state_markup(answer.state))
    return Group(
        Text.assemble(head, "  ", escape_markup(answer.dataset_namespace, "dim")),
        draw_tree("upstream datasets", answer.upstream, _label),
        draw_tree("downstream datasets", answer.downstream, _label),
        _run(answer.last_run),
    )


def _label(node: Node) -> Text:
    by = escape_markup(f"  by {', '.join(node.job_names)}", "dim")
    origin = f"  (known from {ORIGIN_WORDS[node.origin]})" if node.origin else ""
    label = Text.assemble(escape_markup(node.dataset), "  ", state_markup(node.state), by)
    return label.append(escape_markup(origin, "dim")).append(elsewhere_note(node))


def _run(run: RunSummary | None) -> Text:
    if run is None:
        return escape_markup("last run: none known", "bold")
    length = short_duration(run.duration_seconds)
    started, finished = local_time(run.started_at), local_time(run.finished_at)
    facts = f"  started {started}, finished {finished}, took {length}"
    head = Text.assemble(
        escape_markup("last run: ", "bold"), state_markup(run.status), escape_markup(facts)
    )
    whose = escape_markup(f"  {run.job_namespace}/{run.job_name}, run {run.run_id}", "dim")
    return Text("\n").join([head, whose])


def column_drawing(answer: ColumnLineage) -> RenderableType:
    """Draw both trees, one below the other."""
    head = Text.assemble(
        escape_markup(f"{answer.dataset}.{answer.column}", "bold"),
        escape_markup(f"  {answer.type}" if answer.type else ""),
        escape_markup(f"  {answer.dataset_namespace}", "dim"),
    )
    return Group(
        head,
        draw_tree("upstream columns", answer.upstream, _column_label),
        draw_tree("downstream columns", answer.downstream, _column_label),
    )


def _column_label(node: ColumnNode) -> Text:
    how = escape_markup(
        "".join(f"  {describe_transformation(one)}" for one in node.transformations), "dim"
    )
    return Text.assemble(escape_markup(f"{node.dataset}.{node.column}"), how, elsewhere_note(node))


def past_drawing(answer: PastLineage) -> RenderableType:
    """Return both trees as they were, one below the other."""
    head = Text.assemble(
        escape_markup(answer.dataset, "bold"), escape_markup(f"  as of {local_time(answer.at)}")
    )
    return Group(
        Text.assemble(head, "  ", escape_markup(answer.dataset_namespace, "dim")),
        draw_tree("upstream datasets", answer.upstream, _past_label),
        draw_tree("downstream datasets", answer.downstream, _past_label),
    )


def _past_label(node: PastNode) -> Text:
    head = Text.assemble(escape_markup(node.dataset), elsewhere_note(node))
    return Text("\n").join([head, _past_run(node)])


def _past_run(node: PastNode) -> Text:
    by = f"by {', '.join(node.job_names)}"
    if node.run is None:
        return escape_markup(f"  {by}; no run known from that time", "dim")
    facts = "".join(f", {fact}" for fact in _facts(node.run))
    head = escape_markup(f"  {by}, run {node.run.root_run_id} ", "dim")
    text = Text.assemble(head, state_markup(node.run.status), escape_markup(facts, "dim"))
    if node.run.spark_conf:
        conf = ", ".join(f"{key}={value}" for key, value in node.run.spark_conf.items())
        text = Text("\n").join([text, escape_markup(f"    conf {conf}", "dim")])
    return text


def _facts(run: EdgeRun) -> Iterable[str]:
    yield f"wrote {local_time(run.written_at)}"
    if run.written_again_at:
        yield f"written again without it {local_time(run.written_again_at)}"
    for verb, touched in (("read", run.read), ("wrote", run.wrote)):
        yield from _touched(verb, touched)
    if run.code_version:
        yield f"code {run.code_version}"
    if run.job_version:
        yield f"job version {run.job_version}"
    if run.engine_version:
        yield f"engine {run.engine_version}"
    yield from (f"{key}={value}" for key, value in run.parameters.items())


def _touched(verb: str, touched: Touched | None) -> Iterable[str]:
    if touched and touched.version:
        yield f"{verb} version {touched.version}"
    if touched and touched.partition:
        yield f"{verb} {touched.partition}"
    if touched and touched.checksum:
        yield f"{verb} checksum {touched.checksum}"
    if touched and touched.rows is not None:
        yield f"{verb} {touched.rows:,} rows"
