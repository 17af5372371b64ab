"""`lineward why|impact|history DATASET`: reasons of its state, downstream datasets, its past."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType

from service.cli.commands.options import AsJson, DataDir, DatasetName, DatasetNamespace
from service.cli.terminal import (
    console,
    escape_markup,
    local_time,
    owner_text,
    print_json,
    show_answer,
    state_markup,
    table_or_text,
    wrapping_table,
)
from service.queries.catalog_session import open_session
from service.queries.dataset import explain_states
from service.queries.dataset_history import DatasetHistory, SchemaSpan, dataset_history
from service.queries.dataset_lookup import resolve_dataset
from service.queries.impact import Impact, find_impact
from service.queries.schema_changes import describe_changes
from service.queries.timestamps import short_duration
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)

_OF_WRITES = ("written", "root run", "job", "rows", "partition", "code version")
MOST_SHOWN = 1_000


@app.command()
def why(
    dataset: DatasetName,
    namespace: DatasetNamespace = None,
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Explain why a dataset is good, bad, failing, learning or unknown."""
    with open_session(read_settings(data_dir)) as asked:
        answer = explain_states(
            asked.reader, resolve_dataset(asked.reader, dataset, namespace), asked.evaluated
        )
    if as_json:
        print_json(answer)
        return
    screen = console()
    screen.print(escape_markup(answer.dataset, "bold"), state_markup(answer.state))
    for sentence in answer.sentences:
        screen.print(escape_markup(f"  {sentence}"))


@app.command()
def impact(
    dataset: DatasetName,
    namespace: DatasetNamespace = None,
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show all downstream datasets with owners and tiers, most severe first."""
    with open_session(read_settings(data_dir)) as asked:
        named = resolve_dataset(asked.reader, dataset, namespace)
        answer = find_impact(asked, named)
    show_answer(answer, impact_table, as_json=as_json, prefix="incomplete: ")


def impact_table(answer: Impact) -> RenderableType:
    """Return the affected datasets as a table."""
    columns = ("tier", "dataset", "namespace", "owner", "state", "steps")
    shown = wrapping_table(*columns, title=_title(answer))
    for row in answer.affected:
        names = map(
            escape_markup, (row.tier, row.dataset, row.dataset_namespace, owner_text(row.owner))
        )
        shown.add_row(*names, state_markup(row.state), escape_markup(row.depth))
    return table_or_text(shown, _title(answer))


def _title(answer: Impact) -> str:
    number = len(answer.affected)
    count = "1 downstream dataset" if number == 1 else f"{number} downstream datasets"
    if answer.analysis_seconds is None:
        return count
    took = short_duration(answer.analysis_seconds)
    return f"{count}; fault at {local_time(answer.fault_at)}, page accepted {took} later"


@app.command()
def history(
    dataset: DatasetName,
    namespace: DatasetNamespace = None,
    data_dir: DataDir = None,
    *,
    limit: Annotated[int, typer.Option(min=1, max=MOST_SHOWN, help="Maximum number of each.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show how a dataset's schema changed, and its versions, checksums and writes."""
    with open_session(read_settings(data_dir)) as asked:
        named = resolve_dataset(asked.reader, dataset, namespace)
        answer = dataset_history(asked.reader, named, limit=limit)
    show_answer(answer, history_tables, as_json=as_json)


def history_tables(answer: DatasetHistory) -> RenderableType:
    """Return four tables, one below the other."""
    schemas = wrapping_table("from", "until", "change", "code versions", title="schemas")
    for span in answer.schemas:
        changed, versions = _changed(span), ", ".join(span.code_versions) or "-"
        schemas.add_row(
            *map(
                escape_markup,
                (local_time(span.first_seen_at), local_time(span.last_seen_at), changed, versions),
            )
        )
    writes = wrapping_table(*_OF_WRITES, title="writes")
    for write in answer.writes:
        reported = (write.job_name, write.rows, write.partition, write.code_version)
        cells = (local_time(write.written_at), write.root_run_id, *(x or "-" for x in reported))
        writes.add_row(*map(escape_markup, cells))
    stamps = []
    for title, listed in (("versions", answer.versions), ("checksums", answer.checksums)):
        shown = wrapping_table("value", "first seen", "last seen", title=title)
        for stamp in listed:
            cells = (stamp.value, local_time(stamp.first_seen_at), local_time(stamp.last_seen_at))
            shown.add_row(*map(escape_markup, cells))
        stamps.append(table_or_text(shown, f"{title}: none known"))
    tables = (
        table_or_text(schemas, "schemas: none known"),
        table_or_text(writes, "writes: none stored"),
    )
    return Group(escape_markup(answer.dataset, "bold"), *tables, *stamps)


def _changed(span: SchemaSpan) -> str:
    if span.change is None:
        return f"{len(span.fields)} fields, the first that is known"
    return "; ".join(describe_changes(span.change))
