"""What others claim of a dataset's names: it moves, retires and hides nothing of the dataset."""

from datetime import timedelta

import pytest
from spools import CANONICAL, WRITES, rows, run_event

from lineage.policy import DEFAULT, parse
from slis import dataset_policies
from slis.evaluation import evaluate
from slis.evaluation_input import EvaluationInput, position
from slis.policy_names import renew_names
from slis.quality.found import defects_found
from slis.retirement import retire_unused

_MINE = {"namespace": "s3://lake", "name": "mart/revenue"}
_DECLARED = parse("datasets: [{match: s3://lake/mart/revenue, tier: critical}]")
_REFUSED = "SELECT rule, job_namespace, name FROM dataset_claim WHERE is_refused ORDER BY 1, 2"


def _symlink(namespace, name):
    return {"symlinks": {"identifiers": [{"namespace": namespace, "name": name, "type": "TABLE"}]}}


def _renamed(namespace, name):
    before = {"namespace": namespace, "name": name}
    change = {"lifecycleStateChange": "RENAME", "previousIdentifier": before}
    return {"lifecycleStateChange": change}


_DROP = {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}


def _event(  # noqa: PLR0913
    at, by, namespace, name, facets=None, *, side="outputs", job="job"
):
    event = run_event("COMPLETE", at, run=f"{by}-{at.isoformat()}", job=job)
    event["job"]["namespace"] = by
    event[side] = [{"namespace": namespace, "name": name, "facets": facets or {}}]
    return event


def _declare(catalog, policy, at):
    renew_names(catalog, policy, at)


@pytest.fixture(params=["before", "after"])
def attacked(request, lander, catalog, at):
    """Lands somebody's claims about a dataset that `shop` writes, before its writes or after."""

    def land(*claims, policy=DEFAULT):  # noqa: ANN002
        _declare(catalog, policy, at(7))
        own = [_event(at(8 + hour), "shop", **_MINE) for hour in range(2)]
        batches = [claims, own] if request.param == "before" else [own, claims]
        for batch in batches:
            lander.land(*batch)

    return land


_CLAIMS = [
    ("s3://evil", "b1", _symlink("s3://lake", "mart/revenue")),
    ("s3://evil", "b2", _symlink("s3a://lake/", "/mart/revenue/dt=2026-11-21")),
    ("s3://lake", "mart/a", _symlink("s3://lake", "mart/revenue")),
    ("s3://evil", "b3", _renamed("s3://lake", "mart/revenue")),
    ("s3://lake", "mart/zzz", _renamed("s3n://lake", "mart/revenue/")),
]


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("policy", [DEFAULT, _DECLARED], ids=["undeclared", "declared"])
def test_claims_of_somebody_else_move_nothing(attacked, catalog, at, policy):
    """Symlinks and renames, over namespaces and within one, in any spelling."""
    attacked(*(_event(at(9, 30), "evil", *claim) for claim in _CLAIMS), policy=policy)

    names = sorted(["mart/revenue", *(name for _, name, _ in _CLAIMS)])
    assert rows(catalog, CANONICAL) == [(name, name) for name in names]
    assert [row for row in rows(catalog, WRITES) if row[0] == "mart/revenue"] == [
        ("mart/revenue", f"shop-{at(8).isoformat()}"),
        ("mart/revenue", f"shop-{at(9).isoformat()}"),
    ]
    assert rows(catalog, _REFUSED) == [
        *[("rename", "evil", "mart/revenue")] * 2,
        *[("symlink", "evil", "mart/revenue")] * 3,
    ]


def test_two_claims_through_a_free_name_join_no_two_datasets(lander, catalog, at):
    """A third name that both datasets are said to have would join them."""
    free = _symlink("hive://ms:9083", "mart.revenue")
    lander.land(_event(at(8), "shop", "s3://lake", "mart/revenue", free))
    lander.land(_event(at(7), "evil", "s3://evil", "b", free))

    assert rows(catalog, CANONICAL) == [("b", "b"), ("mart/revenue", "mart/revenue")]
    held = "SELECT d.name FROM dataset_alias a JOIN dataset d ON d.dataset_key = a.dataset_key"
    assert rows(catalog, held) == [("mart/revenue",)]


def test_a_claim_made_by_a_writer_of_one_side_only_is_refused(attacked, catalog, at):
    """Writing the dataset once gives nobody a right over it."""
    attacked(
        _event(at(9, 10), "evil", **_MINE),
        _event(at(9, 20), "evil", "s3://evil", "b", _symlink("s3://lake", "mart/revenue")),
        _event(at(9, 30), "evil", **_MINE, facets=_symlink("s3://evil", "b")),
        _event(at(9, 40), "evil", **_MINE, facets=_DROP),
    )

    assert rows(catalog, CANONICAL) == [("b", "b"), ("mart/revenue", "mart/revenue")]
    retired = "SELECT name FROM dataset WHERE retired_at IS NOT NULL AND name <> 'b'"
    assert rows(catalog, retired) == []


@pytest.mark.postgres_nightly
def test_both_writers_may_say_that_their_names_are_one(lander, catalog, at):
    """Trino writes the table's name and Spark its path; each reports the other as a symlink."""
    lander.land(
        _event(at(8), "spark", "s3://wh", "t", _symlink("trino://host", "db.t")),
        _event(at(9), "trino", "trino://host", "db.t", _symlink("s3://wh", "t")),
    )
    assert rows(catalog, CANONICAL) == [("db.t", "db.t"), ("t", "t")]

    lander.land(
        _event(at(10), "trino", "s3://wh", "t", _symlink("trino://host", "db.t"), side="inputs")
    )
    assert rows(catalog, CANONICAL) in (
        [("db.t", "t"), ("t", "t")],
        [("db.t", "db.t"), ("t", "db.t")],
    )


@pytest.mark.postgres_nightly
def test_a_metastore_name_that_nobody_writes_is_another_name_of_the_path(lander, catalog, at):
    """Spark reports its table's name in the metastore; others read the table by that name."""
    lander.land(_event(at(7), "trino", "hive://ms:9083", "db.t", side="inputs"))
    lander.land(_event(at(8), "spark", "s3://wh", "t", _symlink("hive://ms:9083", "db.t")))

    assert rows(catalog, CANONICAL) == [("db.t", "t"), ("t", "t")]


@pytest.mark.postgres_nightly
@pytest.mark.parametrize(("by", "job"), [("evil", "job"), ("shop", "other"), ("evil", "other")])
def test_no_other_job_drops_a_declared_dataset(attacked, catalog, at, by, job):
    """Not one of the writer's own namespace either: many jobs share one."""
    attacked(_event(at(10), by, **_MINE, facets=_DROP, job=job), policy=_DECLARED)

    assert rows(catalog, "SELECT name FROM dataset WHERE retired_at IS NOT NULL") == []
    assert rows(catalog, _REFUSED) == [("drop", by, "mart/revenue")]


@pytest.mark.postgres_nightly
def test_the_job_that_writes_a_declared_dataset_drops_it(attacked, catalog, at):
    """As a job does that is retired."""
    attacked(_event(at(10), "shop", **_MINE, facets=_DROP), policy=_DECLARED)

    retired = "SELECT name FROM dataset WHERE retired_at IS NOT NULL"
    assert rows(catalog, retired) == [("mart/revenue",)]
    assert rows(catalog, _REFUSED) == []


@pytest.mark.parametrize(("by", "is_dropped"), [("evil", False), ("shop", True)])
def test_an_undeclared_dataset_is_dropped_by_its_own_writer_alone(
    attacked, catalog, at, by, is_dropped
):
    attacked(_event(at(10), by, **_MINE, facets=_DROP))

    retired = rows(catalog, "SELECT name FROM dataset WHERE retired_at IS NOT NULL")
    assert bool(retired) is is_dropped
    assert bool(rows(catalog, _REFUSED)) is not is_dropped


@pytest.mark.parametrize(
    ("policy", "by", "job"),
    [(DEFAULT, "evil", "job"), (_DECLARED, "evil", "job"), (_DECLARED, "shop", "other")],
    ids=["undeclared", "declared", "declared, own namespace"],
)
def test_a_drop_by_the_writer_gives_nobody_else_the_right(lander, catalog, at, policy, by, job):  # noqa: PLR0913, PLR0917
    """A job that drops and writes its table each night, and somebody else in between."""
    _declare(catalog, policy, at(7))
    lander.land(_event(at(8), "shop", **_MINE))
    lander.land(_event(at(9), "shop", **_MINE, facets=_DROP), _event(at(10), "shop", **_MINE))

    lander.land(_event(at(11), by, **_MINE, facets=_DROP, job=job))

    assert rows(catalog, "SELECT name FROM dataset WHERE retired_at IS NOT NULL") == []


def test_a_dataset_that_was_dropped_by_another_name_and_is_declared_is_expected(
    lander, catalog, at
):
    """Dropped as the table, declared as the path."""
    other = {"namespace": "hive://ms:9083", "name": "mart.revenue"}
    lander.land(_event(at(8), "shop", **_MINE, facets=_symlink(*other.values())))
    lander.land(_event(at(9), "shop", **other, facets=_DROP))
    assert rows(catalog, "SELECT count(*) FROM dataset WHERE retired_at IS NOT NULL") != [(0,)]

    _declare(catalog, _DECLARED, at(10))

    retired = "SELECT name FROM dataset WHERE retired_at IS NOT NULL AND is_declared"
    assert rows(catalog, retired) == []


@pytest.mark.postgres_nightly
def test_a_dataset_that_the_policy_declares_later_is_its_own_again(lander, catalog, at):
    """Dropped by its writer, then declared: it is expected from then on."""
    lander.land(_event(at(8), "shop", **_MINE))
    lander.land(_event(at(9), "shop", **_MINE, facets=_DROP))
    assert rows(catalog, "SELECT count(*) FROM dataset WHERE retired_at IS NOT NULL") == [(1,)]

    _declare(catalog, _DECLARED, at(10))
    retire_unused(catalog, _DECLARED, at(11))

    assert rows(catalog, "SELECT count(*) FROM dataset WHERE retired_at IS NOT NULL") == [(0,)]


@pytest.mark.postgres_nightly
def test_a_rename_by_the_writer_moves_an_undeclared_dataset_only(lander, catalog, at):
    lander.land(_event(at(8), "shop", **_MINE))
    lander.land(
        _event(at(9), "shop", "s3://lake", "mart/new", _renamed("s3://lake", "mart/revenue"))
    )
    assert rows(catalog, CANONICAL) == [("mart/new", "mart/new"), ("mart/revenue", "mart/new")]

    _declare(catalog, _DECLARED, at(10))

    assert rows(catalog, CANONICAL) == [
        ("mart/new", "mart/new"),
        ("mart/revenue", "mart/revenue"),
    ]


@pytest.mark.postgres_nightly
def test_the_policy_still_joins_what_no_event_may(lander, catalog, at):
    lander.land(_event(at(8), "shop", **_MINE))
    lander.land(_event(at(9), "evil", "s3://copy", "b"))

    joined = parse("aliases: [{name: s3://copy/b, dataset: s3://lake/mart/revenue}]")
    _declare(catalog, joined, at(10))

    assert rows(catalog, CANONICAL) == [("b", "mart/revenue"), ("mart/revenue", "mart/revenue")]


def test_claims_about_a_declared_dataset_are_one_fact_of_it(spark, lander, catalog, at):
    """One fact, and so one ticket, however often and by how many jobs it is claimed."""
    _declare(catalog, _DECLARED, at(7))
    lander.land(_event(at(8), "shop", **_MINE))
    facets = [_symlink(*_MINE.values()), _renamed(*_MINE.values())]
    lander.land(*(_event(at(9, n), "evil", "s3://evil", "b", facets[n % 2]) for n in range(4)))

    evaluate(spark, catalog, _DECLARED, at(12, 1))

    states = """
        SELECT d.name, s.reason, s.evidence FROM dataset_state s
        JOIN dataset d ON d.dataset_key = s.dataset_key WHERE s.sli = 'facts'
    """
    [(dataset, reason, evidence)] = rows(catalog, states)
    assert (dataset, reason) == ("mart/revenue", "foreign_claim")
    said = "job namespace evil reports that the dataset"
    assert f"{said} is another name of s3://evil b, last " in evidence
    assert f"{said} was renamed to s3://evil b, last " in evidence
    assert evidence.endswith("; the claim has no effect")


def test_claims_about_optional_datasets_are_no_flood_of_tickets(spark, lander, catalog, at):
    names = [f"x{n}" for n in range(3)]
    lander.land(*(_event(at(8), "shop", "s3://lake", name) for name in names))
    claims = [("s3://evil", f"y{name}", _symlink("s3://lake", name)) for name in names]
    lander.land(*(_event(at(9), "evil", *claim) for claim in claims))

    evaluate(spark, catalog, DEFAULT, at(12, 1))

    assert rows(catalog, "SELECT count(*) FROM dataset_claim WHERE is_refused") == [(3,)]
    assert rows(catalog, "SELECT * FROM dataset_state WHERE sli = 'facts'") == []


def _tagged(tier):
    return {"tags": {"tags": [{"key": "Tier", "value": tier}]}}


def _owned(owner):
    return {"ownership": {"owners": [{"name": owner, "type": "MAINTAINER"}]}}


_OWNED = parse(
    """
    owners: [{name: shop, slack: "#shop"}, {name: mallory, slack: "#m"}]
    datasets: [{match: s3://lake/mart/revenue, tier: important, owner: shop}]
    """
)
_UNOWNED = parse("datasets: [{match: s3://lake/mart/revenue, tier: important}]")


@pytest.fixture
def evidence(spark, lander, catalog, at):
    """Return what the ticket of the dataset says, once these events came; None without one."""

    def land(policy, *events, days=0):  # noqa: ANN002
        _declare(catalog, policy, at(7))
        lander.land(_event(at(8), "shop", **_MINE), *events)
        found = _defects(spark, catalog, policy, at(12, 1) + timedelta(days=days))
        assert all(one["reason"] == "foreign_claim" for one in found)
        assert len(found) <= 1
        return found[0]["evidence"] if found else None

    return land


def _defects(spark, catalog, policy, as_of):
    """Return what an evaluation finds of the content of datasets, by that part of it alone."""
    renew_names(catalog, policy, as_of)
    dataset_policies.renew(catalog, policy)
    with catalog.connect() as connection:
        at = position(connection, as_of)
    instants = EvaluationInput(spark, catalog, at, policy).instants
    tables = defects_found(spark, catalog, policy, at, instants)
    return [row for table in tables for row in table.to_pylist()]


def _end(text):
    """Evidence without the instant at which the test ran."""
    return text.split(", last ")[0]


@pytest.mark.postgres_nightly
@pytest.mark.parametrize(("tier", "by"), [("critical", "evil"), ("optional", "shop")])
def test_a_tier_tag_on_a_declared_dataset_is_a_ticket(evidence, at, tier, by):
    """Reject any sender and either direction: the policy has named the tier."""
    said = evidence(_OWNED, _event(at(9), by, **_MINE, facets=_tagged(tier), job="etl"))

    claim = f"has the tier {tier} and not important"
    assert _end(said) == f"job etl of job namespace {by} reports that the dataset {claim}"
    assert said.endswith("; the claim has no effect")


@pytest.mark.postgres_nightly
def test_an_owner_of_anothers_facet_is_a_ticket(evidence, at):
    said = evidence(_OWNED, _event(at(9), "evil", **_MINE, facets=_owned("mallory"), side="inputs"))

    claim = "has the owner mallory and not shop"
    assert _end(said) == f"job job of job namespace evil reports that the dataset {claim}"


@pytest.mark.postgres_nightly
def test_a_declared_dataset_without_an_owner_gets_none_by_others(evidence, at):
    said = evidence(
        _UNOWNED, _event(at(9), "evil", **_MINE, facets=_owned("mallory"), side="inputs")
    )

    assert "has the owner mallory and not nobody" in said


_QUIET = {
    "agrees": (
        _OWNED,
        [
            ("evil", _tagged("important")),
            ("evil", _tagged("silver")),
            ("evil", _owned("shop")),
        ],
    ),
    # Readers repeat the technical owner that their metastore has.
    "writer": (_OWNED, [("shop", _owned("hive")), ("evil", _owned("hive"))]),
    "no owner": (_UNOWNED, [("shop", _owned("mallory"))]),
    # The lint lists these.
    "optional": (DEFAULT, [("evil", {**_tagged("critical"), **_owned("mallory")})]),
}


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("case", _QUIET)
def test_what_agrees_or_is_a_writers_own_to_say_is_no_ticket(evidence, at, case):
    policy, said = _QUIET[case]
    events = [
        _event(at(9, minute), by, **_MINE, facets=facets, side="inputs")
        for minute, (by, facets) in enumerate(said)
    ]

    assert evidence(policy, *events) is None


@pytest.mark.postgres_nightly
def test_tier_and_owner_are_one_ticket_and_end_seven_days_after_the_last_claim(evidence, at):
    facets = {**_tagged("critical"), **_owned("mallory")}
    claim = _event(at(9), "evil", **_MINE, facets=facets, side="inputs")

    said = evidence(_OWNED, claim)

    assert "has the owner mallory and not shop" in said
    assert "has the tier critical and not important" in said
    assert evidence(_OWNED, days=8) is None


@pytest.mark.postgres_nightly
def test_the_policy_settles_a_tier_and_an_owner(evidence, at):
    claim = {**_tagged("critical"), **_owned("mallory")}
    event = _event(at(9), "evil", **_MINE, facets=claim, side="inputs")
    assert evidence(_OWNED, event) is not None

    settled = parse(
        """
        owners: [{name: mallory, slack: "#m"}]
        datasets: [{match: s3://lake/mart/revenue, tier: critical, owner: mallory}]
        """
    )

    assert evidence(settled) is None


@pytest.mark.postgres_nightly(but="own")
@pytest.mark.parametrize(
    ("by", "owner"), [("shop", "aaa"), ("evil", "team-b"), ("", "aaa")], ids=["own", "other", "no"]
)
def test_an_owner_of_an_undeclared_dataset_is_its_own_writers_to_name(
    evidence, catalog, at, by, owner
):
    """`aaa` would come first; an event without a run is that of a catalog of tables."""
    own = _event(at(8, 30), "shop", **_MINE, facets=_owned("team-b"))
    said = _event(at(9), by, **_MINE, facets=_owned("aaa"), side="inputs")
    if not by:
        said = {
            **{key: said[key] for key in ("eventTime", "producer", "schemaURL")},
            "dataset": said["inputs"][0],
        }

    assert evidence(DEFAULT, own, said) is None

    assert rows(catalog, "SELECT owner, owner_origin FROM dataset_policy") == [(owner, "facet")]


def _without_run(at, namespace, name, facets, *, by=None):
    """Return a DatasetEvent, or the JobEvent of a job of the namespace `by`."""
    event = {"eventTime": at.isoformat(), "producer": "p", "schemaURL": "https://x/DatasetEvent"}
    dataset = {"namespace": namespace, "name": name, "facets": facets}
    if by is None:
        return {**event, "dataset": dataset}
    job = {"namespace": by, "name": "job", "facets": {}}
    return {**event, "schemaURL": "https://x/JobEvent", "job": job, "outputs": [dataset]}


_FREE, _OTHER_FREE = ("hive://m", "db.r"), ("trino://t", "db.r")
_STOLEN = ("s3://evil", "a")
# How `s3://evil/a` and the declared dataset come to have a name in common.
_PATHS = {
    "direct": [(_STOLEN, "outputs", _MINE.values())],
    "direct, the other way": [(_STOLEN, "outputs", ()), (_MINE.values(), "inputs", _STOLEN)],
    "one free name": [(_STOLEN, "outputs", _FREE), (_MINE.values(), "inputs", _FREE)],
    "one free name, declared first": [
        (_MINE.values(), "inputs", _FREE),
        (_STOLEN, "outputs", _FREE),
    ],
    "two free names": [
        (_STOLEN, "outputs", _FREE),
        (_OTHER_FREE, "inputs", _FREE),
        (_MINE.values(), "inputs", _OTHER_FREE),
    ],
    "two free names, another way": [
        (_STOLEN, "outputs", _FREE),
        (_FREE, "inputs", _OTHER_FREE),
        (_OTHER_FREE, "inputs", _MINE.values()),
    ],
}


@pytest.mark.postgres_nightly(but="direct, the other way")
@pytest.mark.parametrize("path", _PATHS)
def test_a_declared_dataset_that_nobody_writes_joins_nothing(spark, lander, catalog, at, path):
    """Its owner, tier and states are its own, and a drop of the other dataset is not its drop."""
    _declare(catalog, _DECLARED, at(7))
    for minute, (name, side, symlink) in enumerate(_PATHS[path]):
        facets = _symlink(*symlink) if symlink else None
        lander.land(_event(at(9, minute), "evil", *name, facets, side=side))
    for name in (_STOLEN, _FREE):
        lander.land(_event(at(11), "evil", *name), _event(at(11, 5), "evil", *name, facets=_DROP))
    evaluate(spark, catalog, _DECLARED, at(12, 1))

    joined = "SELECT name, retired_at FROM dataset WHERE canonical_key = {key}"
    mine = "(SELECT dataset_key FROM dataset WHERE name = 'mart/revenue')"
    assert rows(catalog, joined.format(key=mine)) == [("mart/revenue", None)]
    declared = "SELECT d.name FROM dataset_policy p JOIN dataset d ON d.dataset_key = p.dataset_key"
    assert rows(catalog, f"{declared} WHERE p.is_declared") == [("mart/revenue",)]


_FOREIGN = {
    "a reader": lambda at, symlink: _event(at, "evil", **_MINE, facets=symlink, side="inputs"),
    "a DatasetEvent": lambda at, symlink: _without_run(at, **_MINE, facets=symlink),
    "a JobEvent": lambda at, symlink: _without_run(at, **_MINE, facets=symlink, by="evil"),
}


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("free", [("s3://maint", "x"), ("kafka://k", "t"), _FREE])
@pytest.mark.parametrize("claim", _FOREIGN)
def test_only_a_writer_gives_a_dataset_a_free_name(attacked, catalog, at, claim, free):
    attacked(_FOREIGN[claim](at(9, 30), _symlink(*free)))

    assert rows(catalog, "SELECT name FROM dataset_alias WHERE rule = 'symlink'") == []
    assert [(rule, name) for rule, _, name in rows(catalog, _REFUSED)] == [("symlink", free[1])]


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("name", [("s3://secret", "ghost"), ("kafka://k", "t"), ("file", "/x")])
def test_a_free_name_of_a_dataset_gets_no_further_name_by_others(attacked, catalog, at, name):
    """The further name was read under its own name, and nobody writes it."""
    own = _event(at(7, 30), "shop", **_MINE, facets=_symlink(*_FREE))
    attacked(own, _event(at(9, 30), "evil", *name, facets=_symlink(*_FREE), side="inputs"))

    assert (name[1], name[1]) in rows(catalog, CANONICAL)
    assert rows(catalog, _REFUSED) == [("symlink", "evil", "db.r")]


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("by", ["shop", "evil"])
def test_a_name_that_the_policy_joins_to_a_dataset_is_the_datasets_own(attacked, catalog, at, by):
    """Nobody writes the name itself."""
    policy = parse("aliases: [{name: hive://m/db.r, dataset: s3://lake/mart/revenue}]")
    attacked(_event(at(9), by, *_STOLEN, facets=_symlink(*_FREE)), policy=policy)

    assert (("a", "mart/revenue") in rows(catalog, CANONICAL)) is (by == "shop")


@pytest.mark.postgres_nightly(but="after-inputs")
@pytest.mark.parametrize("side", ["inputs", "outputs"])
def test_a_name_that_the_policy_keeps_apart_is_no_name_of_a_dataset(attacked, catalog, at, side):
    policy = parse("aliases: [{name: hive://m/db.r, dataset: s3://lake/mart/revenue, apart: true}]")
    attacked(_event(at(9), "shop", **_MINE, facets=_symlink(*_FREE), side=side), policy=policy)

    assert rows(catalog, "SELECT name FROM dataset_alias WHERE rule = 'symlink'") == []


_DROPS = {
    "a DatasetEvent": lambda at: _without_run(at, **_MINE, facets=_DROP),
    "a JobEvent": lambda at: _without_run(at, **_MINE, facets=_DROP, by="evil"),
    "another spelling": lambda at: _without_run(
        at, "s3a://lake/", "/mart/revenue/dt=2026-11-21", _DROP
    ),
    "a JobEvent of the writer": lambda at: _without_run(at, **_MINE, facets=_DROP, by="shop"),
}


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("policy", [DEFAULT, _DECLARED], ids=["undeclared", "declared"])
@pytest.mark.parametrize("drop", _DROPS)
def test_a_drop_without_a_run_retires_nothing_and_is_listed(attacked, catalog, at, drop, policy):
    attacked(_DROPS[drop](at(10)), policy=policy)

    assert rows(catalog, "SELECT name FROM dataset WHERE retired_at IS NOT NULL") == []
    assert rows(catalog, _REFUSED) == [("drop", "", "mart/revenue")]


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("policy", [DEFAULT, _DECLARED], ids=["undeclared", "declared"])
def test_a_drop_without_a_run_of_a_dataset_that_nobody_writes(lander, catalog, at, policy):
    """Before and after somebody has written it."""
    _declare(catalog, policy, at(7))
    lander.land(_event(at(8), "shop", **_MINE, side="inputs"))
    for hour in (9, 10):
        lander.land(_without_run(at(hour), **_MINE, facets=_DROP))
        assert rows(catalog, "SELECT name FROM dataset WHERE retired_at IS NOT NULL") == []
        assert rows(catalog, _REFUSED) == [("drop", "", "mart/revenue")]
        lander.land(_event(at(8, 30), "shop", **_MINE))


_TOLD = {
    "free name, by a reader": (
        lambda at: _event(at, "evil", **_MINE, facets=_symlink("s3://maint", "x"), side="inputs"),
        "job namespace evil reports that the dataset is another name of s3://maint x",
    ),
    "free name, by a DatasetEvent": (
        lambda at: _without_run(at, **_MINE, facets=_symlink("kafka://k", "t")),
        "an event without a run reports that the dataset is another name of kafka://k t",
    ),
    "drop": (
        lambda at: _without_run(at, **_MINE, facets=_DROP),
        "an event without a run reports that the dataset was dropped",
    ),
    "drop by a JobEvent": (
        lambda at: _without_run(at, **_MINE, facets=_DROP, by="evil"),
        "an event without a run reports that the dataset was dropped",
    ),
}


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("claim", _TOLD)
def test_a_claim_by_those_who_do_not_write_is_a_ticket(evidence, at, claim):
    event, expected = _TOLD[claim]

    said = evidence(_OWNED, event(at(9)))

    assert _end(said) == expected


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("free", [("hive://m", "db.r"), ("s3://maint", "x"), ("trino://t", "r")])
def test_a_free_name_by_a_writer_is_no_ticket(evidence, at, free):
    """Readers repeat it."""
    symlink = _symlink(*free)
    own = _event(at(9), "shop", **_MINE, facets=symlink)

    assert (
        evidence(_OWNED, own, _event(at(9), "bi", **_MINE, facets=symlink, side="inputs")) is None
    )
