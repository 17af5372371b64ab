"""M3b: which edges are expected, and which of them were reported in time."""

from slis.indicators.completeness import edges as module
from slis.indicators.completeness.edges import edge_states, edge_tally, judge_edges
from slis.indicators.completeness.schemas import EXPECTED_EDGES, NAMES
from tests.slis.sli_frames import day, frame, gaps, instants

DAY = 86_400.0
_DAILY = {
    "job_name": "clean",
    "first_seen_at": day(0),
    "last_seen_at": day(10),
    "last_reported_at": day(10),
    "runs": 11,
    "is_declared": False,
    "tier": "critical",
    "tier_origin": "declared",
    "is_regulated": False,
    "limit_seconds": 1.2 * DAY,
    "cadence_seconds": DAY,
    "writes": 11,
    "written_at": day(10),
}


def _judge(spark, at, *rows: dict, silent=()):
    named = [{"downstream_key": 100 + n, "upstream_key": n, **row} for n, row in enumerate(rows)]
    expected = frame(spark, EXPECTED_EDGES, [{**_DAILY, **row} for row in named])
    return judge_edges(expected, instants(spark, at), gaps(spark, *silent))


def _missing(judged):
    return {row.upstream_key: row.missed for row in judged.collect()}


def _tallies(judged):
    return sorted(
        (row.tier, row.good, row.total, row.unknown) for row in edge_tally(judged).collect()
    )


def test_an_edge_that_is_not_reported_within_its_own_limit_has_aged(spark):
    """Judge daily edges: of today, of two days ago, and of every second run only."""
    judged = _judge(
        spark,
        day(10, 8),
        {},
        {"last_seen_at": day(8), "last_reported_at": day(8), "runs": 9},
        {"last_seen_at": day(8), "last_reported_at": day(8), "runs": 5},
    )

    assert _missing(judged) == {0: None, 1: "aged", 2: None}
    assert _tallies(judged) == [("critical", 2, 3, 0)]


def test_edges_known_from_evidence_only_are_missing_at_once(spark):
    """Report edges that were never reported, or not by the run that evidence saw since."""
    judged = _judge(
        spark,
        day(10, 1),
        {"runs": 1, "last_reported_at": None},
        {"last_reported_at": day(9)},
        {"last_reported_at": day(9), "runs": 2},
    )

    assert _missing(judged) == {
        0: "never_reported",
        1: "unreported_since",
        2: "unreported_since",
    }


def test_a_declared_edge_is_waited_for_and_then_missing(spark):
    """Count the edge as good from its first day until its limit has passed."""
    declared = {"is_declared": True, "runs": 0, "last_reported_at": None, "limit_seconds": None}
    soon, late = (
        _judge(spark, at, {**declared, "last_seen_at": day(0)}) for at in (day(0, 20), day(1, 1))
    )

    assert (_missing(soon), _missing(late)) == ({0: None}, {0: "never_reported"})


def test_without_a_limit_the_newest_write_must_have_the_edge(spark):
    """Compare two runs, as seven gaps teach no limit: yesterday's had it, today's did not."""
    unlimited = {"limit_seconds": None, "cadence_seconds": None}
    judged = _judge(
        spark,
        day(10, 1),
        unlimited,
        {**unlimited, "last_seen_at": day(9), "last_reported_at": day(9)},
    )

    assert _missing(judged) == {0: None, 1: "aged"}


def test_an_edge_of_few_runs_or_of_long_ago_is_not_expected(spark):
    """Drop an edge that was read once in ten runs, or not for eight cycles."""
    rare = {"runs": 3, "cadence_seconds": DAY / 4}
    gone = {"last_seen_at": day(10), "last_reported_at": day(10)}

    assert _missing(_judge(spark, day(10), rare)) == {}
    assert _missing(_judge(spark, day(18, 1), gone)) == {}


def test_an_edge_due_while_the_collector_was_down_is_unknown(spark):
    """Leave it out of every total: its report may have been lost."""
    silent = [("ingestion", day(10, 20), day(11, 10))]
    judged = _judge(spark, day(11, 12), {}, silent=silent)

    assert _tallies(judged) == [("critical", 0, 0, 1)]
    assert edge_states(judged, frame(spark, NAMES, [])).collect() == []
    assert _tallies(_judge(spark, day(11, 12), {})) == [("critical", 0, 1, 0)]


def test_an_edge_of_a_lost_run_is_unknown(spark):
    """Excuse it: its event log has it, its events came while the collector was down."""
    seen = {"last_seen_at": day(11, 6)}
    lost = {**seen, "last_reported_at": day(10)}
    never = {**seen, "last_reported_at": None, "runs": 1, "first_seen_at": day(11, 6)}
    by_gap = [
        {
            (row.missed, row.is_unknown)
            for row in _judge(spark, day(11, 8), *(lost, never), silent=[gap]).collect()
        }
        for gap in (("ingestion", day(11, 5), day(11, 7)), ("ingestion", day(11, 7), None))
    ]

    missed = ("unreported_since", "never_reported")
    assert by_gap == [{(each, is_lost) for each in missed} for is_lost in (True, False)]


def test_without_expected_edges_there_is_no_sample(spark):
    """Return no row: neither 100 % nor 0 %."""
    assert _tallies(_judge(spark, day(10))) == []


def test_regulated_datasets_count_apart(spark):
    """Count them apart from their tier."""
    assert _tallies(_judge(spark, day(10), {"is_regulated": True}, {})) == [
        ("critical", 1, 1, 0),
        ("regulated", 1, 1, 0),
    ]


def test_a_dataset_names_its_missing_edge_and_how_many_more_there_are(spark):
    """Return one row per dataset, with the last report of the edge and its limit."""
    old = {"last_seen_at": day(8), "last_reported_at": day(8), "downstream_key": 7}
    judged = _judge(spark, day(10, 12), old, old)
    names = [{"dataset_key": n, "namespace": "shop", "name": f"raw.t{n}"} for n in range(2)]

    (state,) = edge_states(judged, frame(spark, NAMES, names)).collect()

    assert (state.dataset_key, state.sli, state.state, state.reason) == (
        *(7, "M3b", "bad"),
        "edge_stale",
    )
    assert state.evidence == (
        "the edge from shop raw.t0 by job clean was last reported 2026-11-09 00:00:00 UTC; "
        "its limit is 1.2 d; so are 1 more"
    )


def test_never_reported_edges_are_named_before_stale_ones(spark):
    """Name a missing edge before a stale one, which counts among the others."""
    stale = {"last_seen_at": day(8), "last_reported_at": day(8), "downstream_key": 7}
    judged = _judge(spark, day(10, 12), stale, {"last_reported_at": None, "downstream_key": 7})
    names = [{"dataset_key": n, "namespace": "shop", "name": f"raw.t{n}"} for n in range(2)]

    (state,) = edge_states(judged, frame(spark, NAMES, names)).collect()

    assert state.reason == "edge_missing"
    assert state.evidence.startswith(
        "the edge from shop raw.t1 by job clean is known from evidence"
    )


def test_the_limit_of_the_dataset_would_call_a_rare_edge_missing(spark, monkeypatch):
    """Run the mutant: without its own cadence, an edge of every second run is often bad."""
    rare = {"last_seen_at": day(8), "last_reported_at": day(8), "runs": 5}
    assert _missing(_judge(spark, day(10, 1), rare)) == {0: None}

    monkeypatch.setattr(module, "_own_limit", lambda: module.F.col("limit_seconds"))

    assert _missing(_judge(spark, day(10, 12), rare)) == {0: "aged"}
