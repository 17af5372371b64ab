"""Claims about datasets of others: none moves, retires or hides a name."""

import pytest

from lineage.policy import parse_policy
from slis.evaluation.policy_names import renew_names
from tests.slis.stream.names.claim_events import (
    DROP,
    REJECTED,
    RETIRED,
    event,
    mine,
    rename_from,
    symlink,
    without_run,
)
from tests.slis.stream.spools import CANONICAL, WRITES, rows

_DROPPED = {  # case: by, job
    "own": ("shop", "job"),
    "evil": ("evil", "job"),
    "declared_own": ("shop", "job"),
    "declared_evil": ("evil", "job"),
    "declared_other_job": ("shop", "other"),
    "declared_evil_other_job": ("evil", "other"),
}
_WITHOUT_RUN = {
    "dataset_event": lambda at, case: without_run(at, *mine(case), DROP),
    "job_event": lambda at, case: without_run(at, *mine(case), DROP, by="evil"),
    "other_spelling": lambda at, case: without_run(
        at, "s3a://lake/", f"/mart/{case}/dt=2026-11-21", DROP
    ),
    "own_job_event": lambda at, case: without_run(at, *mine(case), DROP, by="shop"),
}
_READERS = {
    "reader": lambda at, case, facets: event(at, "evil", *mine(case), facets, side="inputs"),
    "by_dataset_event": lambda at, case, facets: without_run(at, *mine(case), facets),
    "by_job_event": lambda at, case, facets: without_run(at, *mine(case), facets, by="evil"),
}
_FREE = {
    f"{reader}_{store}": (namespace, f"{name}_{reader}")
    for reader in _READERS
    for store, namespace, name in (
        *(("s3", "s3://maint", "x"), ("kafka", "kafka://k", "t")),
        ("hive", "hive://m", "db.r"),
    )
}
_FURTHER = {
    "further_s3": ("s3://secret", "ghost"),
    "further_kafka": ("kafka://k", "ghost_t"),
    "further_file": ("file", "/ghost_x"),
}
_APART = {"apart_inputs": "inputs", "apart_outputs": "outputs"}
_JOINED = {"joined_shop": "shop", "joined_evil": "evil"}
_MOVED = ("moved", "declared_moved")
_NOT_DROPPED = [f"{before}{case}" for case in _WITHOUT_RUN for before in ("", "declared_")]
_CASES = (*_MOVED, "sided", *_DROPPED, *_NOT_DROPPED, *_FREE, *_FURTHER, *_APART, *_JOINED)


def _table(case):
    """Return the free name of a case in a metastore."""
    return "hive://m", f"db.{case}"


def _policy():
    declared = [f"s3://lake/mart/{case}" for case in _CASES if case.startswith("declared_")]
    lines = [f"{{match: '{name}', tier: critical}}" for name in declared]
    aliases = [
        f"{{name: 'hive://m/db.{case}', dataset: 's3://lake/mart/{case}'{end}}}"
        for cases, end in ((_JOINED, ""), (_APART, ", apart: true"))
        for case in cases
    ]
    return parse_policy(f"datasets: [{', '.join(lines)}]\naliases: [{', '.join(aliases)}]")


def _moving(case):
    """Return symlinks and renames, over namespaces and within one, in any spelling."""
    return [
        ("s3://evil", f"{case}_b1", symlink(*mine(case))),
        ("s3://evil", f"{case}_b2", symlink("s3a://lake/", f"/mart/{case}/dt=2026-11-21")),
        ("s3://lake", f"mart/a_{case}", symlink(*mine(case))),
        ("s3://evil", f"{case}_b3", rename_from(*mine(case))),
        ("s3://lake", f"mart/zzz_{case}", rename_from("s3n://lake", f"mart/{case}/")),
    ]


def _claims(at):
    """Yield the claims of all cases: they share a batch, and each is about its own dataset."""
    for case in _MOVED:
        yield from (event(at(9, 30), "evil", *claim) for claim in _moving(case))
    yield event(at(9, 10), "evil", *mine("sided"))
    yield event(at(9, 20), "evil", "s3://evil", "b_sided", symlink(*mine("sided")))
    yield event(at(9, 30), "evil", *mine("sided"), symlink("s3://evil", "b_sided"))
    yield event(at(9, 40), "evil", *mine("sided"), DROP)
    for case, (by, job) in _DROPPED.items():
        yield event(at(10), by, *mine(case), DROP, job=job)
    for case in _NOT_DROPPED:
        yield _WITHOUT_RUN[case.removeprefix("declared_")](at(10), case)
    for case, free in _FREE.items():
        yield _READERS[case.rpartition("_")[0]](at(9, 30), case, symlink(*free))
    for case, name in _FURTHER.items():
        yield event(at(7, 30), "shop", *mine(case), symlink(*_table(case)))
        yield event(at(9, 30), "evil", *name, symlink(*_table(case)), side="inputs")
    for case, side in _APART.items():
        yield event(at(9), "shop", *mine(case), symlink(*_table(case)), side=side)
    for case, by in _JOINED.items():
        yield event(at(9), by, "s3://evil", f"a_{case}", symlink(*_table(case)))


@pytest.fixture(params=["before", "after"])
def attacked(request, lander, catalog, at):
    """Land all claims, before what `shop` writes or after."""
    renew_names(catalog, _policy(), at(7))
    own = [event(at(8 + hour), "shop", *mine(case)) for case in _CASES for hour in range(2)]
    claims = list(_claims(at))
    for batch in (claims, own) if request.param == "before" else (own, claims):
        lander.land(*batch)
    return catalog


def _list_retired(catalog, cases):
    names = {mine(case)[1]: case for case in cases}
    return [names[name] for (name,) in rows(catalog, RETIRED) if name in names]


def _rejections(catalog, *names):  # noqa: ANN002
    return [row for row in rows(catalog, REJECTED) if row[2] in names]


def _symlinks(catalog, *names):  # noqa: ANN002
    found = rows(catalog, "SELECT name FROM dataset_alias WHERE rule = 'symlink' ORDER BY 1")
    return [name for (name,) in found if name in names]


@pytest.mark.parametrize("case", _MOVED)
@pytest.mark.postgres_nightly(but="before-moved")
def test_claims_of_others_move_nothing(attacked, at, case):
    """Ignore them, whether the policy declares the dataset or not."""
    name = mine(case)[1]
    names = sorted([name, *(other for _, other, _ in _moving(case))])

    assert [row for row in rows(attacked, CANONICAL) if set(row) & {*names}] == [
        (each, each) for each in names
    ]
    assert [row for row in rows(attacked, WRITES) if row[0] == name] == [
        (name, f"shop-{name}-{at(8).isoformat()}"),
        (name, f"shop-{name}-{at(9).isoformat()}"),
    ]
    assert _rejections(attacked, name) == [
        *[("rename", "evil", name)] * 2,
        *[("symlink", "evil", name)] * 3,
    ]


def test_a_claim_made_by_a_writer_of_one_side_only_is_rejected(attacked):
    """Give no right to a job that wrote the dataset once."""
    names = {"b_sided", "mart/sided"}

    found = [row for row in rows(attacked, CANONICAL) if set(row) & names]
    assert found == [(name, name) for name in sorted(names)]
    assert _list_retired(attacked, ["sided"]) == []


@pytest.mark.postgres_nightly
def test_a_dataset_is_dropped_by_the_job_that_writes_it_alone(attacked):
    """Reject also a job of the writer's own namespace: many jobs share one."""
    assert _list_retired(attacked, _DROPPED) == ["declared_own", "own"]
    assert _rejections(attacked, *(mine(case)[1] for case in _DROPPED)) == [
        ("drop", "evil", "mart/declared_evil"),
        ("drop", "evil", "mart/declared_evil_other_job"),
        ("drop", "evil", "mart/evil"),
        ("drop", "shop", "mart/declared_other_job"),
    ]


@pytest.mark.postgres_nightly
def test_a_drop_without_a_run_retires_nothing_and_is_listed(attacked):
    """List it, whether the policy declares the dataset or not."""
    names = [mine(case)[1] for case in _NOT_DROPPED]

    assert _list_retired(attacked, _NOT_DROPPED) == []
    assert _rejections(attacked, *names) == [("drop", "", name) for name in sorted(names)]


@pytest.mark.postgres_nightly
def test_only_a_writer_names_a_dataset_by_a_free_name(attacked):
    """Reject a reader and an event without a run, in either order."""
    names = [name for _, name in _FREE.values()]

    assert _symlinks(attacked, *names) == []
    found = [(rule, name) for rule, _, name in _rejections(attacked, *names)]
    assert sorted(found) == [("symlink", name) for name in sorted(names)]


@pytest.mark.postgres_nightly
def test_a_free_name_of_a_dataset_gets_no_further_name_by_others(attacked):
    """Reject the further name, which was read under its own name and is written by nobody."""
    tables = [_table(case)[1] for case in _FURTHER]

    assert {(name, name) for _, name in _FURTHER.values()} <= {*rows(attacked, CANONICAL)}
    assert _rejections(attacked, *tables) == [("symlink", "evil", name) for name in sorted(tables)]


@pytest.mark.postgres_nightly
def test_a_name_that_the_policy_joins_to_a_dataset_is_the_datasets_own(attacked):
    """Join the name, although nobody writes it."""
    joined = {(f"a_{case}", mine(case)[1]) for case in _JOINED}

    assert joined & {*rows(attacked, CANONICAL)} == {("a_joined_shop", "mart/joined_shop")}


@pytest.mark.postgres_nightly(but="after")
def test_a_name_that_the_policy_keeps_apart_is_no_name_of_a_dataset(attacked):
    """Reject it of an input and of an output."""
    assert _symlinks(attacked, *(_table(case)[1] for case in _APART)) == []
