from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.root_cause.kinds import (
    CODE,
    EXPLAINS,
    EXPLAINS_OWN,
    FAULT_KINDS,
    IS_ROOT,
    KIND_BY_ID,
    kind_of,
)
from lineage.states import REASONS

ABSENT = "missing silent slow waiting"
# As `alerting.md` and `docs/slis.md` have it, in words of their own.
DOWNSTREAM = {
    "failed": ABSENT,
    "lost": ABSENT,
    "source_stopped": ABSENT,
    "missing": ABSENT,
    "renamed": f"{ABSENT} failed mapping provenance unexpected_source",
    "unreported": "unreported mapping provenance unexpected_source waiting",
    "silent": f"{ABSENT} unreported mapping provenance unexpected_source",
    "slow": ABSENT,
    "waiting": ABSENT,
    "standing_gap": "waiting mapping provenance unexpected_source",
    "schema_changed": "failed schema_changed quality",
    "mapping": "",
    "provenance": "",
    "unexpected_source": "",
    "quality": "quality",
    "metadata": "",
    "claimed": "",
    "ingestion": "",
    "access": "",
    "set_aside": "",
}
OWN = {
    "failed": f"lost unreported mapping {ABSENT}",
    "lost": f"unreported mapping {ABSENT}",
    "source_stopped": f"unreported mapping {ABSENT}",
    "renamed": f"unreported mapping provenance unexpected_source {ABSENT}",
    "missing": "unreported silent slow waiting mapping",
    "unreported": "silent slow waiting mapping provenance unexpected_source",
    "silent": "slow waiting mapping provenance unexpected_source",
    "slow": "waiting mapping",
    "waiting": "mapping",
    "standing_gap": "mapping provenance unexpected_source",
    "schema_changed": "quality",
    "mapping": "provenance unexpected_source",
}


@pytest.mark.parametrize("kind", sorted(CODE))
def test_a_kind_explains_those_of_its_row(kind):
    """Compare each row with a second definition of the table."""
    explained = {each.id for each in FAULT_KINDS if EXPLAINS[CODE[kind], CODE[each.id]]}
    own = {each.id for each in FAULT_KINDS if EXPLAINS_OWN[CODE[kind], CODE[each.id]]}

    assert explained == set(DOWNSTREAM[kind].split())
    assert own == set(OWN.get(kind, "").split())


@given(st.sets(st.sampled_from(FAULT_KINDS), min_size=1))
def test_any_kinds_of_one_job_have_a_root(kinds):
    """Find at least one kind that no other kind explains."""
    roots = [
        each
        for each in kinds
        if not any(EXPLAINS_OWN[CODE[other.id], CODE[each.id]] for other in kinds)
    ]

    assert roots


def test_no_kind_explains_itself_through_others():
    """Find no cycle over any number of kinds: it would have no root."""
    reached = EXPLAINS_OWN.astype(int)
    for _ in FAULT_KINDS:
        reached = np.minimum(reached + reached @ EXPLAINS_OWN.astype(int), 1)

    assert not np.diag(reached).any()


def test_only_waiting_is_never_a_root():
    """Allow every kind as a root but `upstream_late`, which is a symptom."""
    assert [kind.id for kind, is_root in zip(FAULT_KINDS, IS_ROOT, strict=True) if not is_root] == [
        "waiting"
    ]


@pytest.mark.parametrize(
    ("reason", "kind", "standing", "of_source"),
    [
        ("job_failed", "failed", "failed", "failed"),
        ("lost_run", "lost", "lost", "lost"),
        ("naming_mismatch", "renamed", "standing_gap", "renamed"),
        ("upstream_late", "waiting", "waiting", "waiting"),
        ("lineage_missing", "unreported", "standing_gap", "source_stopped"),
        ("job_missing", "missing", "missing", "source_stopped"),
        ("silent", "silent", "silent", "source_stopped"),
        ("never_reported", "standing_gap", "standing_gap", "standing_gap"),
        ("no_inputs", "unreported", "standing_gap", "unreported"),
        ("edge_missing", "mapping", "mapping", "mapping"),
        ("edge_stale", "mapping", "mapping", "mapping"),
        ("edge_wrong", "mapping", "mapping", "mapping"),
        ("unexpected_source", "provenance", "provenance", "provenance"),
        ("schema_mismatch", "schema_changed", "schema_changed", "schema_changed"),
        ("assertion_failed", "quality", "quality", "quality"),
        ("metadata_missing", "metadata", "metadata", "metadata"),
        ("foreign_claim", "claimed", "claimed", "claimed"),
        ("late", "slow", "slow", "source_stopped"),
    ],
)
def test_the_kind_of_a_reason(reason, kind, standing, of_source):
    """Return a gap if it always stood, and a source's kind for a dataset that no job writes."""
    assert kind_of(reason, "M2", is_standing=False, is_source=False) == kind
    assert kind_of(reason, "M2", is_standing=True, is_source=False) == standing
    assert kind_of(reason, "M2", is_standing=False, is_source=True) == of_source


def test_a_new_source_of_a_regulated_dataset_may_page():
    """Return a kind of its own: of other datasets a new source is a ticket."""
    flags = {"is_standing": True, "is_source": False, "is_regulated": True}
    kind = kind_of("unexpected_source", "facts", **flags)

    assert (kind, KIND_BY_ID[kind].urgency) == ("unexpected_source", "by_tier")
    assert KIND_BY_ID["provenance"].urgency == "ticket"


def test_every_reason_for_bad_has_a_kind():
    """Find a kind for each reason, since one without would stop the detection of incidents."""
    for reason in set(REASONS) - {"pipeline_lag", "ingestion_gap", "limit_failed"}:
        assert kind_of(reason, "M1", is_standing=False, is_source=False) in KIND_BY_ID


def test_a_read_without_origin_needs_no_reason():
    """Return `provenance`: M5 counts reads, and has no reason for a dataset."""
    assert kind_of(None, "M5", is_standing=False, is_source=False) == "provenance"


@pytest.mark.parametrize(
    "reason", ["ingestion_gap", "pipeline_lag", "limit_failed", None, "moonphase"]
)
def test_an_unknown_reason_is_rejected(reason):
    """Reject a reason that is not bad or does not exist."""
    with pytest.raises(ValueError, match="no kind of fault has the reason"):
        kind_of(reason, "M2", is_standing=False, is_source=False)


def test_the_table_in_the_documentation_is_the_one_in_force():
    """Compare the table of the page with the kinds."""
    text = (Path(__file__).parents[3] / "docs" / "incidents.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    table = {row[0].strip("`"): (row[2], row[3], row[4]) for row in rows if len(row) == 5}

    assert table == {
        kind.id: (_join_kinds(kind.explains), _join_kinds(kind.explains_own), f"`{kind.urgency}`")
        for kind in FAULT_KINDS
    }


def _join_kinds(words):
    return ", ".join(f"`{word}`" for word in words) or "\N{EN DASH}"
