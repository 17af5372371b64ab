"""`lineward status`: health of Lineward itself."""

import typer
from rich.console import Group, RenderableType

from lineage.process.clock import system_clock
from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import (
    console,
    escape_markup,
    local_time,
    print_json,
    state_markup,
    wrapping_table,
)
from service.errors import NoDataError, UnreachableError
from service.queries.applications import KubernetesStatus
from service.queries.catalog_session import folder_advice
from service.queries.roles import RolePolicy, RoleStatus, ServiceLeader, role_problem, roles_of
from service.queries.status import Status, load_status, warnings_of
from service.queries.timestamps import short_duration
from service.runtime.jobs import PeriodicJobState, job_problem, job_state, stored_jobs
from service.runtime.settings import Settings, read_settings

_LISTENERS = {"yes": "with a listener", "no": "without a listener", "unknown": "unknown"}
app = typer.Typer(add_completion=False)


@app.command()
def main(data_dir: DataDir = None, *, as_json: AsJson = False) -> None:
    """Show the roles, their periodic jobs, the backlog, and the number of datasets by state."""
    settings, now = read_settings(data_dir), system_clock()
    try:
        answer = load_status(settings, now, jobs=stored_jobs(settings.data_dir, now.timestamp()))
    except UnreachableError:
        if not as_json:
            _show_roles(settings)
        raise
    if answer.collector is None and answer.datasets is None and not answer.up:
        folder = settings.data_dir.absolute()
        raise NoDataError(f"no data in {folder}: {folder_advice(folder)}")
    if as_json:
        print_json(answer)
    else:
        console().print(status_text(answer, is_scaled=settings.is_shipped))


def status_text(answer: Status, *, is_scaled: bool = False) -> RenderableType:
    """Return the status as text; in scaled mode each role is a process of its own."""
    shown = _roles(answer.data_dir, answer.roles, answer.warnings)
    return Group(
        *shown,
        *(escape_markup(line) for line in _lines(answer, is_scaled=is_scaled)),
        *_jobs(answer.jobs),
    )


def _show_roles(settings: Settings) -> None:
    """Print what needs neither catalog nor spool; JSON has its documented shape or is not there."""
    folder = settings.data_dir
    roles = roles_of(folder)[1]
    if roles:
        console().print(Group(*_roles(str(folder.absolute()), roles, warnings_of(folder))))


def _roles(data_dir: str, roles: list[RoleStatus], warnings: list[str]) -> list[RenderableType]:
    """Describe the roles and their failures, first: other figures depend on them."""
    table = wrapping_table("role", "state", "pid", "restarts")
    for role in roles:
        table.add_row(role.role, state_markup(role.state), str(role.pid or "-"), str(role.restarts))
    now = system_clock()
    failing = (line for role in roles if (line := role_problem(role, now)))
    return [
        escape_markup(data_dir),
        table,
        *(escape_markup(line) for line in (*warnings, *failing)),
    ]


def _jobs(jobs: list[PeriodicJobState]) -> list[RenderableType]:
    """Describe the periodic jobs, and those that fail or hang."""
    if not jobs:
        return []
    table = wrapping_table("job", "role", "state", "every", "last run", "took", "failed")
    for job in jobs:
        table.add_row(
            *(job.job, job.role, state_markup(job_state(job)), short_duration(job.every_seconds)),
            *(local_time(job.last_run_at), short_duration(job.last_seconds), f"{job.failures:,}"),
        )
    now = system_clock()
    return [table, *(escape_markup(line) for job in jobs if (line := job_problem(job, now)))]


def _lines(answer: Status, *, is_scaled: bool) -> list[str]:
    # In scaled mode each role is a process of its own.
    is_up = answer.up or (is_scaled and not answer.roles)
    lines = [] if is_up else ["`lineward up` does not run on this data folder."]
    if answer.collector:
        state_word = "up" if answer.collector.alive else "down"
        lines.append(
            f"collector: {state_word}, last heartbeat {local_time(answer.collector.heartbeat_at)},"
            f" {answer.collector.last_seq:,} events accepted,"
            f" {answer.collector.rejected:,} rejected"
        )
    waiting = "?" if answer.backlog_events is None else f"{answer.backlog_events:,}"
    errors = "?" if answer.pipeline_errors is None else f"{answer.pipeline_errors:,}"
    lines.append(
        f"pipeline: {waiting} events wait, last batch {local_time(answer.last_batch_at)},"
        f" {errors} events failed"
    )
    if answer.set_aside_events:
        lines.append(_set_aside(answer.set_aside_events))
    if answer.kubernetes:
        lines += _kubernetes(answer.kubernetes)
    lines.append(_evaluation(answer))
    if answer.incidents_wait_since:
        lines.append(_waiting_incidents(answer))
    lines.append(_leader(answer.leader))
    lines += [_rejected(policy) for policy in answer.policies if policy.error]
    if answer.datasets:
        lines.append("datasets: " + ", ".join(f"{n:,} {s}" for s, n in answer.datasets.items()))
    return lines + ([answer.partial_reason + "."] if answer.partial_reason else [])


def _leader(leader: ServiceLeader | None) -> str:
    if leader is not None and leader.is_leading:
        return f"leader: service {leader.replica} since {local_time(leader.since)}"
    last = f"; the last leader was {leader.replica}" if leader else ""
    return f"leader: none, so that no incident is found and nobody is notified{last}"


def _set_aside(number: int) -> str:
    events = f"{number:,} event{'' if number == 1 else 's'}"
    return f"pipeline: {events} set aside: `lineward set-aside` lists them"


def _kubernetes(watched: KubernetesStatus) -> list[str]:
    known = watched.jobs
    jobs = ", ".join(f"{known[has]:,} {words}" for has, words in _LISTENERS.items() if has in known)
    names = ", ".join(sorted({watch.kube_namespace for watch in watched.watches}))
    seen = f"kubernetes: namespaces {names}; jobs: {jobs or 'none'}; {watched.failed:,} failed"
    return [seen, *(f"kubernetes: {one.problem}" for one in watched.watches if one.problem)]


def _rejected(policy: RolePolicy) -> str:
    kept = f"policy {policy.hash} stays in force" if policy.hash else "no policy is in force"
    return f"{policy.role}: the policy file is rejected, {kept}: {policy.error}"


def _evaluation(answer: Status) -> str:
    if answer.evaluated_at is None:
        return "evaluation: none yet"
    age = answer.evaluation_age_seconds
    when = "ahead of this clock" if age is None else f"{short_duration(age)} ago"
    stale = ": out of date; no incident opens until the next one" if answer.stale else ""
    return f"evaluation: {local_time(answer.evaluated_at)}, {when}{stale}"


def _waiting_incidents(answer: Status) -> str:
    return (
        f"incidents: none opens or resolves since {local_time(answer.incidents_wait_since)}:"
        f" events received since {local_time(answer.events_wait_since)} have not landed"
    )
