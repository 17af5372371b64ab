"""`lineward ship DIR`: sends event files of Spark jobs to the collector."""

from pathlib import Path
from threading import Event
from typing import Annotated

import typer

from lineage import origins
from lineage.errors import InvalidRequestError
from lineage.process.logs import log_to_stderr
from lineage.process.role import stop_on_signals
from service.cli.commands.options import COLLECTOR_ADDRESS, AsJson
from service.cli.terminal import plain_lines, print_json
from service.errors import RejectedInputError
from service.ingest.collector_client import Target, UploadStoppedError, read_token_file
from service.ingest.collector_url import require_collector_url
from service.ingest.event_uploader import endless_uploader
from service.ingest.ship.folder_sender import PATTERNS, FolderSender, Shipped
from service.ingest.ship.positions import Positions
from service.runtime.data_folder import hold_folder
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)
_STATE = ".lineward-ship"


@app.command()
def main(  # noqa: PLR0913 - each is an option of the command
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with event files.")],
    *,
    url: Annotated[
        str | None,
        typer.Option(help=COLLECTOR_ADDRESS),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the bearer token \\[LINEWARD_COLLECTOR_TOKEN_FILE]."),
    ] = None,
    secret_file: Annotated[
        Path | None,
        typer.Option(help="Copy of the collector's reader.secret \\[LINEWARD_SENDER_SECRET_FILE]."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help=f"Folder for the positions of shipped files \\[DIR/{_STATE}]."),
    ] = None,
    match: Annotated[
        list[str] | None, typer.Option(help=f"File patterns \\[{', '.join(PATTERNS)}].")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Exit when all files are shipped.")] = False,
    as_json: AsJson = False,
) -> None:
    """Watch a folder of OpenLineage event files, and send each event to the collector."""
    log_to_stderr()  # messages on the way must not mix with the answer
    settings = read_settings()
    if url is not None:
        require_collector_url("--url", url)
    target = Target(
        url=(url or settings.collector).rstrip("/"),
        origin=origins.FILE,
        token_file=token_file or settings.collector_token_file,
        secret_file=secret_file or settings.sender_secret,
    )
    if target.token_file is not None:
        read_token_file(target.token_file)
    _require_folder(folder)
    kept = _made(state or folder / _STATE)
    with hold_folder(kept / "lock", f"`lineward ship` already runs on {folder}"):
        positions = Positions(kept / "positions.json")
        stopping = stop_on_signals()
        poster = endless_uploader(target, stopping)
        shipper = FolderSender(folder, positions, poster, match or PATTERNS)
        _run(shipper, stopping, once=once)
    _show(shipper.report, as_json=as_json)
    if once and shipper.report.rejected:
        raise typer.Exit(RejectedInputError.exit_code)


def _run(shipper: FolderSender, stopping: Event, *, once: bool) -> None:
    if not once:
        shipper.follow(stopping)
        return
    try:
        shipper.ship_all()
    except UploadStoppedError as error:
        raise typer.Exit(1) from error


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        message = f"{folder} {what}: create it, and let the job's file transport write there"
        raise InvalidRequestError(message)


def _made(state: Path) -> Path:
    try:
        state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = (
            f"the positions of shipped files cannot be stored in {state} ({error.strerror}):"
            " name another folder with --state"
        )
        raise InvalidRequestError(message) from error
    return state


def _show(report: Shipped, *, as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    texts = [f"{report.taken:,} events accepted, {report.rejected:,} rejected"]
    texts += [f"  {one.file}:{one.position}: {one.reason}" for one in report.rejections]
    texts += [f"  {report.partial_reason}"] if report.partial_reason else []
    texts += [f"  {one.file}:{one.position}: half written, left" for one in report.unfinished]
    plain_lines(texts)
