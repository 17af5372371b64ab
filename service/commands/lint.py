"""`lineward lint`: the datasets that look like one under two names."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from service.asking import question
from service.commands.options import AsJson, DataDir
from service.lint.answer import MOST_FINDINGS, lint
from service.lint.shapes import Finding, LintAnswer
from service.settings import read
from service.terminal import console, plain, print_json, warn

app = typer.Typer()


@app.command()
def main(
    data_dir: DataDir = None,
    *,
    limit: Annotated[int, typer.Option(min=1, help="At most so many findings.")] = MOST_FINDINGS,
    as_json: AsJson = False,
) -> None:
    """List datasets that look like one under two names, each with the policy's line for it."""
    with question(read(data_dir)) as asked:
        answer = lint(asked.reader, limit=limit)
    if answer.partial_reason:
        warn(answer.partial_reason)
    if as_json:
        print_json(answer)
    else:
        console().print(page(answer))


def page(answer: LintAnswer) -> RenderableType:
    """The findings, and below them what to put into the policy."""
    if not answer.findings:
        return plain(f"{answer.datasets:,} datasets, and no two look like one")
    shown = Table("what", "names", "evidence", title=f"{answer.total:,} findings")
    for one in answer.findings:
        shown.add_row(plain(one.kind), _names(one), plain(one.evidence))
    return Group(shown, *map(plain, _advice(answer.findings)))


def _names(one: Finding) -> Text:
    names = [f"{name.dataset_namespace} {name.dataset}" for name in one.names]
    more = [f"… {one.count} in all"] if one.count > len(one.names) else []
    return Text("\n").join([plain(line) for line in [*names, *more]])


def _advice(findings: list[Finding]) -> list[str]:
    lines = [line for one in findings for line in one.policy]
    told = ["", "into the policy, where they are one:", "aliases:"] if lines else []
    told += [f"  {line}" for line in lines]
    rules = [one.folding_rule for one in findings if one.folding_rule]
    if rules:
        told += ["", "a rule that folds all of a pattern, for lineage/name_rules.py:"]
        told += [f"  {rule.pattern}  to  {rule.replacement}" for rule in rules]
    return told
