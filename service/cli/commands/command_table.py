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
        summary: what the help says of it. `lineward --help` imports no command.
        examples: command lines without `lineward`.
    """

    module: str
    purpose: str
    summary: str
    examples: tuple[str, ...]


def _known(name: str, purpose: str, summary: str, *examples: str) -> CommandEntry:
    return CommandEntry(f"service.cli.commands.{name}", purpose, summary, examples)


def _lab(name: str, purpose: str, summary: str, *examples: str) -> CommandEntry:
    return CommandEntry(f"lab.commands.{name}", purpose, summary, examples)


_TWO_RUNS: Final = "diff 019503f2-6c1f-7000-8000-000000000001 019503f2-6c1f-7000-8000-000000000002"
# In the order in which a new user needs them.
COMMANDS: Final = {
    "up": _known(
        "up",
        RUN,
        "Run collector, pipeline and service until Ctrl-C; a role that exits is restarted.",
        "up --data-dir lineward-data --policy lineward.yaml",
    ),
    "demo": _lab(
        "demo",
        RUN,
        "Run a shop's Spark jobs with the OpenLineage listener, and show what Lineward sees.",
        "demo --once",
    ),
    "ship": _known(
        "ship",
        RUN,
        "Watch a folder of OpenLineage event files, and send each event to the collector.",
        "ship events/ --url http://collector:8700",
    ),
    "version": _known("version", RUN, "Print the version.", "version"),
    "status": _known(
        "status",
        HEALTH,
        "Show the roles, their periodic jobs, the backlog, and the number of datasets by state.",
        "status",
        "status --json",
    ),
    "slis": _known("slis", HEALTH, "Show every SLI by tier, beside its objective.", "slis"),
    "datasets": _known(
        "datasets",
        HEALTH,
        "List datasets with reason and owner, most severe first.",
        "datasets --state bad --tier critical",
    ),
    "why": _known(
        "dataset",
        HEALTH,
        "Explain why a dataset is good, bad, failing, learning or unknown.",
        "why core/orders",
    ),
    "unsourced": _known(
        "datasets",
        HEALTH,
        "List datasets that were read without a known write, most readers first.",
        "unsourced --hours 168",
    ),
    "lint": _known(
        "lint",
        HEALTH,
        "List datasets that may have two names, with the policy line that joins them.",
        "lint --limit 20",
    ),
    "applications": _known(
        "applications",
        HEALTH,
        "List the last SparkApplication of each job that Kubernetes runs, newest first.",
        "applications --without-listener",
    ),
    "lineage": _known(
        "lineage",
        LINEAGE,
        "Show upstream and downstream of a dataset (with its last run) or of a column.",
        "lineage core/orders --depth 2",
        "lineage core/orders.amount",
        "lineage core/orders --at 2026-11-20T12:00:00Z",
    ),
    "impact": _known(
        "dataset",
        LINEAGE,
        "Show all downstream datasets with owners and tiers, most severe first.",
        "impact core/orders",
    ),
    "runs": _known(
        "runs",
        LINEAGE,
        "List the newest runs that read or wrote a dataset.",
        "runs core/orders --limit 5",
    ),
    "jobs": _known(
        "runs",
        LINEAGE,
        "List jobs with their last runs, including jobs without datasets.",
        "jobs --contains nightly",
    ),
    "diff": _known(
        "diff",
        LINEAGE,
        "Show the differences between two runs: code, settings, datasets, schemas and figures.",
        "diff --job shop.clean",
        _TWO_RUNS,
    ),
    "history": _known(
        "dataset",
        LINEAGE,
        "Show how a dataset's schema changed, and its versions, checksums and writes.",
        "history core/orders",
    ),
    "lake": _known(
        "lake",
        LINEAGE,
        "Find runs that the catalog has deleted, if the lake keeps events longer than the catalog.",
        "lake run 019503f2-6c1f-7000-8000-000000000001",
        "lake dataset core/orders --from 2026-09-03 --to 2026-09-04 --direction write",
    ),
    "runbook": _known(
        "runbook",
        RESPOND,
        "Print the runbook of an alert or of a kind of fault; without a name, list all.",
        "runbook LinewardScrapeDown",
    ),
    "incidents": _known(
        "incidents",
        RESPOND,
        "Show incidents: one for each fault, with the number of bad datasets.",
        "incidents",
        "incidents 3f2c9a7d10b45e86",
    ),
    "ack": _known(
        "incidents",
        RESPOND,
        "Acknowledge an incident; escalation stops.",
        "ack 3f2c9a7d10b45e86 --note 'on it'",
    ),
    "escalate": _known(
        "incidents",
        RESPOND,
        "Notify the next escalation step of the owner now.",
        "escalate 3f2c9a7d10b45e86 --note 'needs the platform'",
    ),
    "resolve": _known(
        "incidents",
        RESPOND,
        "Resolve an incident; it notifies again if its fault returns or a ticket becomes a page.",
        "resolve 3f2c9a7d10b45e86 --note 'rolled back'",
    ),
    "false-alarm": _known(
        "incidents",
        RESPOND,
        "Resolve an incident, and count it as a false alarm of its kind of fault.",
        "false-alarm 3f2c9a7d10b45e86 --note 'planned test'",
    ),
    "suppress": _known(
        "suppression",
        RESPOND,
        "Suppress an incident, or all incidents of matching datasets, until a given time.",
        "suppress 'warehouse/core/*' --reason 'migration' --for 4h",
    ),
    "unsuppress": _known(
        "suppression",
        RESPOND,
        "End a suppression window early, or unsuppress an incident.",
        "unsuppress 7",
    ),
    "suppressions": _known(
        "suppression",
        RESPOND,
        "List suppression windows: of the policy, and requested by people.",
        "suppressions --ended",
    ),
    "act": _known(
        "act",
        RESPOND,
        "Run an action of a runbook. Without --yes, print the plan only (dry run).",
        "act replay --from 2026-11-20T12:00:00Z",
        "act requeue-rejected --reason too_deep",
        "act requeue-notifications slack:C0123ABCD",
        "act requeue-set-aside",
        "act reinfer 019503f2-6c1f-7000-8000-000000000001",
        "act resubmit shop/clean-20261120",
        "act restart-role pipeline --yes",
        "act remove-collector lineward-collector-2",
        "act notify-downstream core/orders --note 'amounts are wrong since noon'",
        "act open-suppression 'warehouse/*' --until 2026-12-01T06:00:00Z --reason 'migration'",
    ),
    "retire": _known(
        "retire",
        RESPOND,
        "Retire a dataset: no SLI counts it until an event names it again.",
        "retire core/orders_old --note 'replaced by core/orders'",
    ),
    "policy": _known(
        "policy",
        SET_UP,
        "Check a policy file, or draft one from the datasets that Lineward knows.",
        "policy suggest",
        "policy check lineward.yaml",
    ),
    "render": _known(
        "render",
        SET_UP,
        "Print configuration for Spark, Prometheus, Alertmanager and Grafana.",
        "render spark-conf --collector-url http://collector:8700",
        "render rules --policy lineward.yaml",
        "render alertmanager --watchdog-url https://watch.example.com/lineward",
        "render dashboards --out dashboards",
    ),
    "dashboards": _known(
        "dashboards",
        SET_UP,
        "Save Lineward's dashboards in Grafana.",
        "dashboards push --grafana-url https://grafana.example.com --token-file grafana.token",
    ),
    "backfill": _known(
        "backfill",
        SET_UP,
        "Load past events: cadences and lineage are learned at once, and no SLI counts them.",
        "backfill files events/",
    ),
    "marquez": _known(
        "marquez",
        SET_UP,
        "Forward events to Marquez, pull events from it, and compare both.",
        "marquez status",
        "marquez backfill --from 2026-11-01T00:00:00Z",
        "marquez resend 4711",
        "marquez run",
    ),
    "rejected": _known(
        "event_errors",
        EVENTS,
        "List events that the collector rejected, newest first.",
        "rejected --reason too_deep",
    ),
    "set-aside": _known(
        "event_errors",
        EVENTS,
        "List events that the pipeline set aside because they failed, newest first.",
        "set-aside --limit 20",
    ),
    "pipeline-errors": _known(
        "event_errors",
        EVENTS,
        "List events that the pipeline could not read or read only in part, newest first.",
        "pipeline-errors --limit 20",
    ),
    "audit": _known(
        "audit",
        EVENTS,
        "List operator actions and their results, newest first.",
        "audit --who anna --limit 20",
    ),
    "access-audit": _known(
        "audit",
        EVENTS,
        "List accesses to the API and whether the policy allowed them, newest first.",
        "access-audit --decision deny --limit 20",
    ),
    "collector": _known(
        "roles", ROLE, "Run the collector: receive events and store them durably.", "collector"
    ),
    "shipper": _known(
        "roles", ROLE, "Run the shipper: send the collector's spool to Kafka.", "shipper"
    ),
    "pipeline": _known(
        "roles",
        ROLE,
        "Run the pipeline: process events into lineage and SLIs, in Spark.",
        "pipeline",
    ),
    "service": _known(
        "roles", ROLE, "Run the service: API, pages, metrics and notifications.", "service"
    ),
    "kafka": _known(
        "roles", ROLE, "Run the Kafka source: read events from a topic into the collector.", "kafka"
    ),
    "kubernetes": _known(
        "roles",
        ROLE,
        "Run the Kubernetes source: record SparkApplications and failed pods.",
        "kubernetes",
    ),
    "bench": _lab(
        "bench",
        MEASURE,
        "Measure on this machine; run nothing else meanwhile.",
        "bench ingest --json",
        "bench pipeline",
        "bench pipeline --catalog-url postgresql+psycopg://bench@localhost/bench --size 100000",
        "bench evaluate",
        "bench evidence --mebibytes 64",
        "bench freshness",
        "bench cadences histories/",
        "bench idle --seconds 60",
        "bench query --requests 60",
    ),
    "gameday": _lab(
        "gameday",
        MEASURE,
        "Replay a simulated environment with faults, and score the notifications.",
        "gameday --datasets 80 --days 4 --faults 2",
        "gameday live --against http://staging:8700 --service http://staging:8701 --faults 5",
        "gameday policy",
    ),
}
