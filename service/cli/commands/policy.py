"""`lineward policy check|suggest`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import print_json
from service.errors import RejectedInputError
from service.queries.catalog_session import open_session
from service.runtime.settings import last_read, read_settings

app = typer.Typer(add_completion=False)

_NO_LAST_LINE = (
    "the file does not end with the line `...`: a change may be rejected as half-written, also one"
    " that removes a token"
)


@app.callback()
def policy() -> None:
    """Check a policy file, or draft one from the datasets that Lineward knows."""


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="The policy file.")], *, as_json: AsJson = False
) -> None:
    """Check a policy file, and show the first error with its place."""
    from alerts.notify.recipients import unclaimed_entries  # noqa: PLC0415 - as below
    from alerts.notify.settings import read_routing  # noqa: PLC0415 - as below
    from lineage.policy import (  # noqa: PLC0415 - YAML only where a policy is
        PolicyError,
        load_policy,
        not_in_force,
        token_gaps,
        unreachable_owners,
    )
    from lineage.policy.half_written import has_last_line  # noqa: PLC0415 - as above

    try:
        found = load_policy(file)
    except PolicyError as error:
        if not as_json:
            raise RejectedInputError(str(error)) from error
        print_json({"valid": False, "error": str(error)})
        raise typer.Exit(RejectedInputError.exit_code) from error
    is_ended = has_last_line(file.read_text("utf-8"))
    unreachable = unreachable_owners(found, read_routing(last_read().service_url).platform)
    if as_json:
        gaps = {"not_in_force": not_in_force(found), "unreachable": unreachable}
        gaps["unclaimed"] = unclaimed_entries(found)
        gaps["tokens"] = token_gaps(found, file.parent)
        ending = {"has_last_line": is_ended}
        print_json({"valid": True, "error": None, "hash": found.hash, **gaps, **ending})
    else:
        counts = f"{len(found.owners)} owners, {len(found.datasets)} rules for datasets"
        typer.echo(f"{file} is a valid policy: {counts}, {len(found.sources)} sources")
        for name in not_in_force(found):
            typer.echo(f"  {name}: accepted; this version only exports a metric for it")
        for gap in unreachable:
            typer.echo(f"  {gap}")
        for gap in token_gaps(found, file.parent):
            typer.echo(f"  {gap}")
        for entry in unclaimed_entries(found):
            typer.echo(f"  notify: no type of channel knows {entry[:80]!r}")
        if not is_ended:
            typer.echo(f"  {_NO_LAST_LINE}")


@app.command()
def suggest(data_dir: DataDir = None) -> None:
    """Print a draft of a policy as YAML, based on the datasets seen."""
    settings = read_settings(data_dir)
    with open_session(settings):  # that there is a catalog, before anything opens (and makes) one
        pass
    from lineage.catalog.engine import open_catalog  # noqa: PLC0415 - not for those who only check
    from lineage.policy.suggest import suggest_policy  # noqa: PLC0415 - as above

    engine = open_catalog(settings.catalog)
    try:
        sys.stdout.write(suggest_policy(engine))
    finally:
        engine.dispose()
