"""`lineward why DATASET`: the reasons for its state, with evidence."""

import typer

from service.cli.commands.options import AsJson, DataDir, DatasetName, Namespace
from service.cli.terminal import console, escape_markup, print_json, state
from service.queries.catalog_session import open_session
from service.queries.dataset import why as explain
from service.queries.dataset_lookup import resolve_dataset
from service.runtime.settings import read

app = typer.Typer(add_completion=False)


@app.command()
def why(
    dataset: DatasetName,
    namespace: Namespace = None,
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Explain why a dataset is good, bad, failing, learning or unknown."""
    with open_session(read(data_dir)) as asked:
        answer = explain(
            asked.reader, resolve_dataset(asked.reader, dataset, namespace), asked.evaluated
        )
    if as_json:
        print_json(answer)
        return
    screen = console()
    screen.print(escape_markup(answer.dataset, "bold"), state(answer.state))
    for sentence in answer.sentences:
        screen.print(escape_markup(f"  {sentence}"))
