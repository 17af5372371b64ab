"""Commands: module, purpose, and examples that run as pasted."""

from typing import Final

import msgspec

INSPECT = "Inspect"
RESPOND = "Respond"
SET_UP = "Set up"
RUN = "Run"
MEASURE = "Try and measure"


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


def _lab(name: str, *examples: str) -> CommandEntry:
    return CommandEntry(f"lab.commands.{name}", MEASURE, examples)


_TWO_RUNS: Final = "diff 019503f2-6c1f-7000-8000-000000000001 019503f2-6c1f-7000-8000-000000000002"
# In the order in which a new user needs them.
COMMANDS: Final = {
    "up": _known("up", RUN, "up --data-dir lineward-data --policy lineward.yaml"),
    "status": _known("status", INSPECT, "status", "status --json"),
    "slis": _known("slis", INSPECT, "slis"),
    "datasets": _known("datasets", INSPECT, "datasets --state bad --tier critical"),
    "lineage": _known(
        "lineage",
        INSPECT,
        "lineage core.orders --depth 2",
        "lineage core.orders.amount",
        "lineage core.orders --at 2026-11-20T12:00:00Z",
    ),
    "impact": _known("dataset", INSPECT, "impact core.orders"),
    "runs": _known("runs", INSPECT, "runs core.orders --limit 5"),
    "jobs": _known("runs", INSPECT, "jobs --contains nightly"),
    "why": _known("dataset", INSPECT, "why core.orders"),
    "incidents": _known("incidents", INSPECT, "incidents", "incidents 3f2c9a7d10b45e86"),
    "lint": _known("lint", INSPECT, "lint --limit 20"),
    "applications": _known("applications", INSPECT, "applications --without-listener"),
    "diff": _known("diff", INSPECT, "diff --job shop.clean", _TWO_RUNS),
    "history": _known("dataset", INSPECT, "history core.orders"),
    "lake": _known(
        "lake",
        INSPECT,
        "lake run 019503f2-6c1f-7000-8000-000000000001",
        "lake dataset core.orders --from 2026-09-03 --to 2026-09-04 --direction write",
    ),
    "audit": _known("audit", INSPECT, "audit --who anna --limit 20"),
    "unsourced": _known("datasets", INSPECT, "unsourced --hours 168"),
    "access-audit": _known("audit", INSPECT, "access-audit --decision deny --limit 20"),
    "set-aside": _known("event_errors", INSPECT, "set-aside --limit 20"),
    "rejected": _known("event_errors", INSPECT, "rejected --reason too_deep"),
    "pipeline-errors": _known("event_errors", INSPECT, "pipeline-errors --limit 20"),
    "suppressions": _known("suppression", INSPECT, "suppressions --ended"),
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
    "ship": _known("ship", RUN, "ship events/ --url http://collector:8700"),
    "collector": _known("roles", RUN, "collector"),
    "pipeline": _known("roles", RUN, "pipeline"),
    "service": _known("roles", RUN, "service"),
    "kafka": _known("roles", RUN, "kafka"),
    "kubernetes": _known("roles", RUN, "kubernetes"),
    "shipper": _known("roles", RUN, "shipper"),
    "demo": _lab("demo", "demo --once"),
    "gameday": _lab(
        "gameday",
        "gameday --datasets 80 --days 4 --faults 2",
        "gameday live --against http://staging:8700 --service http://staging:8701 --faults 5",
        "gameday policy",
    ),
    "bench": _lab(
        "bench",
        "bench ingest --json",
        "bench pipeline",
        "bench pipeline --catalog-url postgresql+psycopg://bench@localhost/bench --size 100000",
        "bench evaluate",
        "bench evidence --mebibytes 64",
        "bench freshness",
        "bench cadences histories/",
        "bench query --requests 60",
    ),
    "version": _known("version", SET_UP, "version"),
}
