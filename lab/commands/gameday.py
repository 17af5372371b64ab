"""`lineward gameday`: a simulated month with faults, and the quality of its notifications."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lab.commands.gameday_live import live, policy
from lab.gameday.estate import Shape
from lab.gameday.truth_shapes import INJECTED_KINDS, InjectedKind
from lineage.process.logs import log_to_stderr
from service.cli.commands.options import AsJson
from service.cli.terminal import console, escape_markup, print_json, progress_bars, show_progress
from service.errors import RejectedInputError

if TYPE_CHECKING:
    from lab.gameday.driver.run_judgement import Judgement
    from lab.gameday.driver.saved_run import SavedRun

app = typer.Typer(add_completion=False)
app.command("live")(live)
app.command("policy")(policy)

_OnDays = Callable[[float], None]
_Seed = Annotated[int, typer.Option(min=0, help="Seed of the environment and the faults.")]
_Datasets = Annotated[int, typer.Option(min=50, max=4_000, help="Number of datasets.")]
_Days = Annotated[
    int, typer.Option(min=2, max=60, help="Days to simulate; the first ten are for learning.")
]
_Faults = Annotated[int, typer.Option(min=0, max=200, help="Number of faults.")]
_Kinds = Annotated[
    list[str] | None, typer.Option("--kind", help="Only faults of this kind; may be repeated.")
]
_Folder = Annotated[
    Path | None, typer.Option("--keep", help="Empty folder to save the run in, for --reuse.")
]
_Reuse = Annotated[
    Path | None,
    typer.Option(help="Folder from --keep: run only the incident step again."),
]


@app.callback(invoke_without_command=True)
def gameday(  # noqa: PLR0913 - options of a command
    context: typer.Context,
    *,
    seed: _Seed = 1,
    datasets: _Datasets = 2_000,
    days: _Days = 30,
    faults: _Faults = 60,
    kind: _Kinds = None,
    keep: _Folder = None,
    reuse: _Reuse = None,
    as_json: AsJson = False,
) -> None:
    """Replay a simulated environment with faults, and score the notifications.

    Exits with 1 if a requirement is not met.
    """
    if context.invoked_subcommand is not None:
        _reject_options(context)
        return
    log_to_stderr("error")
    began = time.monotonic()
    try:
        with progress_bars(quiet=as_json) as bars, _folder(keep or reuse) as place:
            if reuse is not None:
                kept = _kept(reuse)
            else:
                shape = Shape(seed, datasets, days)
                kept = _replayed(
                    place, shape, faults, _kinds(kind), show_progress(bars, "days replayed", days)
                )
            judgement = _judged(
                kept, began, show_progress(bars, "days judged", kept.planned().shape.days)
            )
    except ValueError as error:
        raise RejectedInputError(str(error)) from error
    failings = _failings(judgement)
    if as_json:
        print_json(msgspec.to_builtins(judgement.score))
    else:
        _show(judgement, failings)
    raise typer.Exit(bool(failings))


def _reject_options(context: typer.Context) -> None:
    """Reject options of the simulated month that were given to another mode."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            wrong = (
                f"{parameter.opts[0]}: for a simulated month only; `{context.invoked_subcommand}`"
            )
            raise typer.BadParameter(f"{wrong} has its own options, after its name")


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    """Yield the folder of the run: the given one, or one that is deleted at the end."""
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="lineward-gameday-") as place:
        yield Path(place)


def _kept(folder: Path) -> "SavedRun":
    # At their use, here and below: a command is known before what it needs is imported.
    from lab.gameday.driver.saved_run import SavedRun  # noqa: PLC0415

    return SavedRun(folder)


def _kinds(names: list[str] | None) -> tuple[InjectedKind, ...]:
    unknown = sorted({*(names or ())}.difference(INJECTED_KINDS))
    if unknown:
        raise ValueError(f"--kind {unknown[0]}: expected one of {', '.join(INJECTED_KINDS)}")
    return tuple(each for each in INJECTED_KINDS if not names or each in names)


def _replayed(
    place: Path,
    shape: Shape,
    faults: int,
    kinds: tuple[InjectedKind, ...],
    on_days: _OnDays,
) -> "SavedRun":
    from lab.gameday.driver.workspace import replay_days  # noqa: PLC0415

    return replay_days(place, shape, faults, kinds, on_days=on_days)


def _judged(kept: "SavedRun", began: float, on_days: _OnDays) -> "Judgement":
    from lab.gameday.driver.run_judgement import judge_run  # noqa: PLC0415

    return judge_run(kept, began=began, on_days=on_days)


def _failings(judgement: "Judgement") -> list[str]:
    from lab.gameday.verdict import failed_criteria  # noqa: PLC0415

    return failed_criteria([judgement.score], judgement.unknown_seconds)


def _show(judgement: "Judgement", failings: list[str]) -> None:
    score, shown = judgement.score, console()
    for each in score.faults:
        outcome = "detected" if each.detected else "not detected"
        shown.print(
            escape_markup(f"{each.kind}: expects {each.expect}, {outcome}, {each.pages} pages")
        )
    shown.print(escape_markup(f"false pages: {score.false_pages}"))
    for failing in failings:
        shown.print(escape_markup(f"failed: {failing}"))
