"""`lineward status`: how Lineward itself is."""

import typer
from rich.console import Group, RenderableType

from lineage.clock import system_clock
from service.answers.dataset import duration
from service.answers.status import RolePolicy, Status, status, trouble_of
from service.commands.options import AsJson, DataDir
from service.errors import NoDataError
from service.settings import read
from service.terminal import console, grid, local, plain, print_json, state

app = typer.Typer(add_completion=False)


@app.command()
def main(data_dir: DataDir = None, *, as_json: AsJson = False) -> None:
    """Show the roles, what waits to be taken in, and how the datasets stand."""
    settings = read(data_dir)
    answer = status(settings, system_clock())
    if answer.collector is None and answer.datasets is None and not answer.up:
        folder = settings.data_dir
        message = f"no data in {folder} yet: run `lineward up --data-dir {folder}`"
        raise NoDataError(message)
    if as_json:
        print_json(answer)
    else:
        console().print(page(answer))


def page(answer: Status) -> RenderableType:
    """The status as people read it."""
    roles = grid("role", "state", "pid", "restarts", title=answer.data_dir)
    for role in answer.roles:
        roles.add_row(role.role, state(role.state), str(role.pid or "-"), str(role.restarts))
    return Group(roles, *(plain(line) for line in [*_failing(answer), *_lines(answer)]))


def _failing(answer: Status) -> list[str]:
    """What keeps Lineward from working: first, since the other figures follow from it."""
    now = system_clock()
    return [*answer.warnings, *(line for role in answer.roles if (line := trouble_of(role, now)))]


def _lines(answer: Status) -> list[str]:
    lines = [] if answer.up else ["`lineward up` does not run on this data folder."]
    if answer.collector:
        beat = "alive" if answer.collector.alive else "silent"
        lines.append(
            f"collector: {beat}, last heartbeat {local(answer.collector.heartbeat_at)},"
            f" {answer.collector.last_seq:,} events taken, {answer.collector.rejected:,} refused"
        )
    waiting = "?" if answer.backlog_events is None else f"{answer.backlog_events:,}"
    errors = "?" if answer.pipeline_errors is None else f"{answer.pipeline_errors:,}"
    lines.append(
        f"pipeline: {waiting} events wait, last batch {local(answer.last_batch_at)},"
        f" {errors} events failed"
    )
    lines.append(_evaluation(answer))
    lines += [_rejected(policy) for policy in answer.policies if policy.error]
    if answer.datasets:
        lines.append("datasets: " + ", ".join(f"{n:,} {s}" for s, n in answer.datasets.items()))
    return lines + ([answer.partial_reason + "."] if answer.partial_reason else [])


def _rejected(policy: RolePolicy) -> str:
    kept = f"policy {policy.hash} stays in force" if policy.hash else "no policy is in force"
    return f"{policy.role}: the policy file is rejected, {kept}: {policy.error}"


def _evaluation(answer: Status) -> str:
    if answer.evaluated_at is None:
        return "evaluation: none yet"
    age = answer.evaluation_age_seconds
    when = "ahead of this clock" if age is None else f"{duration(age)} ago"
    stale = ": not of now" if answer.stale else ""
    return f"evaluation: {local(answer.evaluated_at)}, {when}{stale}"
