"""Commands: module, purpose, and examples that run as pasted."""

from typing import Final

import msgspec

# Headings of the help, in its order; docs/cli.md has the same.
RUN = "Run Lineward"
HEALTH = "Inspect health"
LINEAGE = "Inspect lineage and runs"
RESPOND = "Respond to incidents"
SET_UP = "Set up"
EVENTS = "Inspect failed events and audit logs"
ROLE = "Run one role"
MEASURE = "Measure"


class CommandEntry(msgspec.Struct, frozen=True):
    """Command as the help lists it.

    Attributes:
        module: module of its app, imported when the command runs.
        purpose: heading under which the help lists it.
        examples: command lines without `lineward`.
    """

    module: str
    purpose: str
    examples: tuple[str, ...]


def _known(name: str, purpose: str, *examples: str) -> CommandEntry:
    return CommandEntry(f"service.cli.commands.{name}", purpose, examples)


def _lab(name: str, purpose: str, *examples: str) -> CommandEntry:
    return CommandEntry(f"lab.commands.{name}", purpose, examples)


_TWO_RUNS: Final = "diff 019503f2-6c1f-7000-8000-000000000001 019503f2-6c1f-7000-8000-000000000002"
# In the order in which a new user needs them.
COMMANDS: Final = {
    "up": _known("up", RUN, "up --data-dir lineward-data --policy lineward.yaml"),
    "demo": _lab("demo", RUN, "demo --once"),
    "ship": _known("ship", RUN, "ship events/ --url http://collector:8700"),
    "version": _known("version", RUN, "version"),
    "status": _known("status", HEALTH, "status", "status --json"),
    "slis": _known("slis", HEALTH, "slis"),
    "datasets": _known("datasets", HEALTH, "datasets --state bad --tier critical"),
    "why": _known("dataset", HEALTH, "why core.orders"),
    "unsourced": _known("datasets", HEALTH, "unsourced --hours 168"),
    "lint": _known("lint", HEALTH, "lint --limit 20"),
    "applications": _known("applications", HEALTH, "applications --without-listener"),
    "lineage": _known(
        "lineage",
        LINEAGE,
        "lineage core.orders --depth 2",
        "lineage core.orders.amount",
        "lineage core.orders --at 2026-11-20T12:00:00Z",
    ),
    "impact": _known("dataset", LINEAGE, "impact core.orders"),
    "runs": _known("runs", LINEAGE, "runs core.orders --limit 5"),
    "jobs": _known("runs", LINEAGE, "jobs --contains nightly"),
    "diff": _known("diff", LINEAGE, "diff --job shop.clean", _TWO_RUNS),
    "history": _known("dataset", LINEAGE, "history core.orders"),
    "lake": _known(
        "lake",
        LINEAGE,
        "lake run 019503f2-6c1f-7000-8000-000000000001",
        "lake dataset core.orders --from 2026-09-03 --to 2026-09-04 --direction write",
    ),
    "incidents": _known("incidents", RESPOND, "incidents", "incidents 3f2c9a7d10b45e86"),
    "ack": _known("incidents", RESPOND, "ack 3f2c9a7d10b45e86 --note 'on it'"),
    "escalate": _known(
        "incidents", RESPOND, "escalate 3f2c9a7d10b45e86 --note 'needs the platform'"
    ),
    "resolve": _known("incidents", RESPOND, "resolve 3f2c9a7d10b45e86 --note 'rolled back'"),
    "false-alarm": _known(
        "incidents", RESPOND, "false-alarm 3f2c9a7d10b45e86 --note 'planned test'"
    ),
    "suppress": _known(
        "suppression",
        RESPOND,
        "suppress 'warehouse/core/*' --reason 'migration' --for 4h",
    ),
    "unsuppress": _known("suppression", RESPOND, "unsuppress 7"),
    "suppressions": _known("suppression", RESPOND, "suppressions --ended"),
    "act": _known(
        "act",
        RESPOND,
        "act replay --from 2026-11-20T12:00:00Z",
        "act requeue-rejected --reason too_deep",
        "act requeue-notifications slack:C0123ABCD",
        "act requeue-set-aside",
        "act reinfer 019503f2-6c1f-7000-8000-000000000001",
        "act resubmit shop/clean-20261120",
        "act restart-role pipeline --yes",
        "act notify-downstream core.orders --note 'amounts are wrong since noon'",
        "act open-suppression 'warehouse/*' --until 2026-12-01T06:00:00Z --reason 'migration'",
    ),
    "retire": _known("retire", RESPOND, "retire core.orders_old --note 'replaced by core.orders'"),
    "policy": _known("policy", SET_UP, "policy suggest", "policy check lineward.yaml"),
    "render": _known(
        "render",
        SET_UP,
        "render spark-conf --url http://collector:8700",
        "render rules --policy lineward.yaml",
        "render alertmanager --watchdog-url https://watch.example.com/lineward",
        "render dashboards --out dashboards",
    ),
    "dashboards": _known(
        "dashboards",
        SET_UP,
        "dashboards push --url https://grafana.example.com --token-file grafana.token",
    ),
    "backfill": _known("backfill", SET_UP, "backfill files events/"),
    "marquez": _known(
        "marquez",
        SET_UP,
        "marquez status",
        "marquez backfill --from 2026-11-01T00:00:00Z",
        "marquez resend 4711",
        "marquez run",
    ),
    "rejected": _known("event_errors", EVENTS, "rejected --reason too_deep"),
    "set-aside": _known("event_errors", EVENTS, "set-aside --limit 20"),
    "pipeline-errors": _known("event_errors", EVENTS, "pipeline-errors --limit 20"),
    "audit": _known("audit", EVENTS, "audit --who anna --limit 20"),
    "access-audit": _known("audit", EVENTS, "access-audit --decision deny --limit 20"),
    "collector": _known("roles", ROLE, "collector"),
    "shipper": _known("roles", ROLE, "shipper"),
    "pipeline": _known("roles", ROLE, "pipeline"),
    "service": _known("roles", ROLE, "service"),
    "kafka": _known("roles", ROLE, "kafka"),
    "kubernetes": _known("roles", ROLE, "kubernetes"),
    "bench": _lab(
        "bench",
        MEASURE,
        "bench ingest --json",
        "bench pipeline",
        "bench pipeline --catalog-url postgresql+psycopg://bench@localhost/bench --size 100000",
        "bench evaluate",
        "bench evidence --mebibytes 64",
        "bench freshness",
        "bench cadences histories/",
        "bench query --requests 60",
    ),
    "gameday": _lab(
        "gameday",
        MEASURE,
        "gameday --datasets 80 --days 4 --faults 2",
        "gameday live --against http://staging:8700 --service http://staging:8701 --faults 5",
        "gameday policy",
    ),
}
