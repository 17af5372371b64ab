"""M3a: required fields of datasets and of the runs that wrote them last."""

import pytest

from lineage.policy.objectives import Requirements
from slis.indicators.completeness import nodes as module
from slis.indicators.completeness.nodes import judge_nodes, node_states, node_tally
from slis.indicators.completeness.schemas import NODES
from tests.slis.sli_frames import day, frame, instants

_FIELDS = ("owner", "schema", "version", "checksum", "job_id", "code_version")
_WRITTEN = {"is_regulated": True, "is_written": True, "is_reported": True}
_COMPLETE = {"datasets": 1, "tier": "critical", "tier_origin": "inherited", **_WRITTEN}
_COMPLETE |= dict.fromkeys(_FIELDS, True)
_REGULATED = Requirements()


def _judge(spark, requirements, rows):
    described = frame(spark, NODES, [{**_COMPLETE, **row} for row in rows])
    return judge_nodes(described, instants(spark, day(1)), requirements)


def _tallies(judged):
    return sorted(
        (row.tier, row.tier_origin, row.good, row.total, row.unknown)
        for row in node_tally(judged).collect()
    )


def test_a_regulated_dataset_without_a_required_field_is_bad_with_the_field_named(spark):
    """Require owner, schema and code version: two of twelve are not known."""
    judged = _judge(
        spark,
        _REGULATED,
        [
            {"datasets": 3},
            {"dataset_key": 2, "owner": False, "code_version": False, "checksum": False},
        ],
    )

    assert _tallies(judged) == [("regulated", "declared", 10, 12, 0)]
    (state,) = node_states(judged).collect()
    assert (state.dataset_key, state.sli, state.state) == (2, "M3a", "bad")
    assert state.reason == "metadata_missing"
    assert state.evidence == (
        "not known: owner, code_version; required of regulated datasets here: "
        "owner, schema, code_version"
    )


def test_a_run_without_details_is_unknown_and_in_no_total(spark):
    """Return unknown for a write that evidence alone knows, or whose run was deleted."""
    unheard = {"is_reported": False, "code_version": False}
    judged = _judge(
        spark,
        _REGULATED,
        [{"dataset_key": 1, **unheard}, {"dataset_key": 2, "code_version": None}],
    )

    assert _tallies(judged) == [("regulated", "declared", 4, 4, 2)]
    assert node_states(judged).collect() == []


def test_a_dataset_that_was_never_written_has_no_run_to_know_of(spark):
    """Require owner and schema all the same."""
    judged = _judge(
        spark, _REGULATED, [{"dataset_key": 1, "is_written": False, "code_version": None}]
    )

    assert _tallies(judged) == [("regulated", "declared", 2, 2, 0)]


@pytest.mark.parametrize(
    "rows", [[], [{"dataset_key": 1, "is_regulated": False}]], ids=["none", "not regulated"]
)
def test_without_requirements_there_is_no_sample(spark, rows):
    """Return no row: neither 100 % nor 0 %."""
    assert _tallies(_judge(spark, _REGULATED, rows)) == []


def test_a_tier_is_counted_by_itself_and_a_regulated_dataset_only_as_regulated(spark):
    """Require the fields of the tier too; other datasets of the tier have no state."""
    requirements = Requirements(regulated=("owner",), critical=("version",), optional=("schema",))
    judged = _judge(
        spark,
        requirements,
        [
            {"dataset_key": 1},
            {"dataset_key": 2, "is_regulated": False, "version": False},
            {"dataset_key": 3, "is_regulated": False, "tier": "optional", "tier_origin": "default"},
            {"dataset_key": 4, "is_regulated": False, "tier": "important"},
        ],
    )

    assert _tallies(judged) == [
        ("critical", "inherited", 0, 1, 0),
        ("optional", "default", 1, 1, 0),
        ("regulated", "declared", 2, 2, 0),
    ]
    assert node_states(judged).collect() == []


def test_a_run_without_events_would_count_as_complete_without_the_rule(spark, monkeypatch):
    """Remove the guarantee: every field of a run then counts as known."""
    monkeypatch.setattr(module, "_is_known", lambda _field: module.F.expr("true"))
    judged = _judge(spark, _REGULATED, [{"dataset_key": 1, "is_reported": False}])

    assert _tallies(judged) == [("regulated", "declared", 3, 3, 0)]
