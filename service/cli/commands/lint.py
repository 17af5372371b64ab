"""`lineward lint`: datasets that may have two names."""

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import escape_markup, plain_lines, show_answer, wrapping_table
from service.queries.catalog_session import open_session
from service.queries.lint.claims import TIER_TAG
from service.queries.lint.findings import Finding, LintAnswer
from service.queries.lint.lint import MOST_FINDINGS, find_duplicates_and_claims
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)


@app.command()
def main(
    data_dir: DataDir = None,
    *,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of findings.")] = MOST_FINDINGS,
    as_json: AsJson = False,
) -> None:
    """List datasets that may have two names, with the policy line that joins them."""
    with open_session(read_settings(data_dir)) as asked:
        answer = find_duplicates_and_claims(asked.reader, limit=limit)
    show_answer(answer, findings_table, as_json=as_json)
    if not as_json:
        # Not through the console, which breaks a line that is wider than the terminal.
        plain_lines(policy_lines(answer.findings))


def findings_table(answer: LintAnswer) -> RenderableType:
    """Return the findings as a table."""
    if not answer.findings:
        return escape_markup(f"{answer.datasets:,} datasets, and no two look like one")
    title = "1 finding" if answer.total == 1 else f"{answer.total:,} findings"
    shown = wrapping_table("finding", "names", "evidence", title=title)
    for one in answer.findings:
        shown.add_row(escape_markup(one.kind), _names(one), escape_markup(one.evidence))
    return shown


def _names(one: Finding) -> Text:
    names = [f"{name.dataset_namespace} {name.dataset}" for name in one.names]
    more = [f"… {one.count} in all"] if one.count > len(one.names) else []
    return Text("\n").join([escape_markup(line) for line in [*names, *more]])


def policy_lines(findings: list[Finding]) -> list[str]:
    """Return the policy lines to copy."""
    lines = {
        "datasets": [line for one in findings if one.kind == TIER_TAG for line in one.policy],
        "aliases": [line for one in findings if one.kind != TIER_TAG for line in one.policy],
        "folds": [one.folding_rule for one in findings if one.folding_rule],
    }
    texts = ["", "# add the correct lines to the policy:"] if any(lines.values()) else []
    for section, listed in lines.items():
        texts += [f"{section}:", *(f"  {line}" for line in listed)] if listed else []
    return texts
