"""`lineward why DATASET`: the reasons for its state, with evidence."""

import typer

from service.answers.dataset import why
from service.answers.named import dataset_named
from service.asking import question
from service.commands.options import AsJson, DataDir, DatasetName, Namespace
from service.settings import read
from service.terminal import console, plain, print_json, state

app = typer.Typer(add_completion=False)


@app.command()
def main(
    dataset: DatasetName,
    namespace: Namespace = None,
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Explain why a dataset is good, bad, failing, learning or unknown."""
    with question(read(data_dir)) as asked:
        answer = why(asked.reader, dataset_named(asked.reader, dataset, namespace), asked.evaluated)
    if as_json:
        print_json(answer)
        return
    screen = console()
    screen.print(plain(answer.dataset, "bold"), state(answer.state))
    for sentence in answer.sentences:
        screen.print(plain(f"  {sentence}"))
