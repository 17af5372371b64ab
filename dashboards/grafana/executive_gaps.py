"""Rows of the executive dashboard on what is missing: lineage, owners, tags."""

from dashboards.grafana import links
from dashboards.grafana.objectives import Objectives
from dashboards.grafana.queries import TIER, WITHOUT_LINEAGE, once
from dashboards.grafana.spec import GREEN, RED, YELLOW, Panel, Query, least, most


def provenance(asked: Objectives) -> tuple[Panel, ...]:
    """How many datasets nobody can say the origin of, since when, and whose."""
    rate = once("lineage_missing_provenance_ratio", "tier", where=TIER)
    named = 'label_replace({}, "owner", "(nobody)", "owner", "^$")'
    by_owner = named.format(f"sum by (owner) ({WITHOUT_LINEAGE})")
    return (
        Panel(
            kind="bars",
            title="Reads of data of unknown origin",
            description=(
                "M5, last 24 hours: reads of datasets that nobody is known to have written, over"
                " all reads. 0 is best. Above what the objective leaves: find what writes them."
            ),
            unit="percentunit",
            queries=(Query(rate, "{{tier}}"),),
            no_value="no sample",
            steps=most(float(1 - asked("missing_provenance", "critical"))),
            width=6,
            lowest=0,
            highest=1,
            links=(links.on_call(), links.runbook("LineageProvenanceBurn")),
        ),
        Panel(
            kind="trend",
            title="Datasets without lineage, 7 days",
            description=(
                "Bad in M1, by tier. It should fall. A step up is a job that lost its listener, or"
                " a rename."
            ),
            unit="short",
            queries=(Query(f"sum by (tier) ({WITHOUT_LINEAGE})", "{{tier}}"),),
            no_value="not known",
            width=10,
            back="7d",
            lowest=0,
            links=(links.on_call(), links.runbook("missing")),
        ),
        Panel(
            kind="bars",
            title="Whose they are",
            description=(
                "The same by owner, the 50 with the most, the rest under (other). (nobody) has no"
                " owner in the policy or in events."
            ),
            unit="short",
            queries=(Query(f"sort_desc({by_owner})", "{{owner}}"),),
            no_value="not known",
            steps=((None, GREEN), (1, YELLOW)),
            width=8,
            lowest=0,
            links=(links.on_call(), links.page("All bad datasets", "/datasets?state=bad")),
        ),
    )


def compliance(asked: Objectives) -> tuple[Panel, ...]:
    """What auditors ask for."""
    regulated = 'tier="regulated"'
    return (
        Panel(
            kind="stat",
            title="Required fields that are known",
            description=(
                "M3a of regulated datasets: fields that the policy requires and that are known, of"
                " all required. No sample: no rule of the policy says regulated."
            ),
            unit="percentunit",
            queries=(Query(once("lineage_node_completeness_ratio", where=regulated)),),
            no_value="no sample",
            steps=least(asked("node_completeness", "regulated")),
            width=5,
            height=6,
            links=(links.on_call(), links.runbook("NodeCompletenessBurn")),
        ),
        Panel(
            kind="stat",
            title="Expected edges that were reported",
            description=(
                "M3b of regulated datasets: expected edges reported within their own limits, over"
                " all. No sample: no rule of the policy says regulated."
            ),
            unit="percentunit",
            queries=(Query(once("lineage_edge_completeness_ratio", where=regulated)),),
            no_value="no sample",
            steps=least(asked("edge_completeness", "regulated")),
            width=5,
            height=6,
            links=(links.on_call(), links.runbook("EdgeCompletenessBurn")),
        ),
        Panel(
            kind="stat",
            title="Datasets without an owner",
            description=(
                "Neither the policy nor an event says whose they are; what goes wrong with them is"
                " told to the platform. Give them an owner in lineward.yaml."
            ),
            unit="short",
            queries=(Query(f"sum({once('lineage_datasets_without_owner', 'tier', where=TIER)})"),),
            no_value="not known",
            steps=((None, GREEN), (1, YELLOW)),
            width=4,
            height=6,
            links=(links.page("Datasets", "/datasets"), links.on_call()),
        ),
        Panel(
            kind="stat",
            title="Personal data without a tag",
            description=(
                "Datasets that a rule of the policy calls pii and that carry no tag pii. Have their"
                " producer send the tags facet. None named: no rule says pii."
            ),
            unit="short",
            queries=(Query(once("lineage_pii_datasets", where='tagged="no"')),),
            no_value="none named",
            steps=((None, GREEN), (1, RED)),
            width=4,
            height=6,
            links=(links.page("Datasets", "/datasets"), links.on_call()),
        ),
        Panel(
            kind="trend",
            title="Unauthorized accesses by reason",
            description=(
                "M10: what of each day was let in and should not have been, or was not audited."
                " Nothing: none was, or nothing is audited (see the first row)."
            ),
            unit="short",
            queries=(
                Query(
                    "max by (reason) (increase(lineage_access_unauthorized_total[1d]))",
                    "{{reason}}",
                ),
            ),
            no_value="none",
            steps=most(0.5),
            width=6,
            height=6,
            lowest=0,
            links=(links.on_call(), links.runbook("UnauthorizedAccess")),
        ),
    )
