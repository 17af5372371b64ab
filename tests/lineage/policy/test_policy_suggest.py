from hypothesis import given
from hypothesis import strategies as st

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from lineage.names.names import fold
from lineage.policy import decide_policy, parse_policy
from lineage.policy.prefixes import SeenDataset
from lineage.policy.suggest import draft, suggest_policy


def _seen(number, namespace, name, **known: object):
    facts = {"is_written": True, "readers": 0, "owner": None, "owner_reason": None}
    return SeenDataset(key=number, namespace=namespace, name=name, **(facts | known))


def test_a_draft_names_sources_tiers_and_owners():
    """Propose topics and a landing path as sources; leave tiers to people."""
    topic = _seen(1, "kafka://h:9092", "orders", is_written=False, readers=1)
    logins = _seen(6, "kafka://h:9092", "logins", is_written=False, readers=1)
    clicks = _seen(2, "kafka://h:9092", "clicks", is_written=False, readers=1)
    landing = _seen(3, "s3://landing", "prices", is_written=False, readers=2)
    core = _seen(4, "s3://lake", "core", owner="shop", owner_reason="its ownership facet says so")
    mart = _seen(5, "s3://lake", "mart", readers=2)

    text = draft([topic, logins, clicks, landing, core, mart], [(1, 4), (4, 5)])
    policy = parse_policy(text)

    assert decide_policy(policy, "kafka://h:9092", "new-topic").source
    assert decide_policy(policy, "s3://landing", "prices").source
    assert not decide_policy(policy, "s3://landing", "other").source
    assert decide_policy(policy, "s3://lake", "core").owner == "shop"
    assert decide_policy(policy, "s3://lake", "core").tier is None
    assert decide_policy(policy, "s3://lake", "mart").tier is None
    assert '#  - match: "s3://lake/mart"' in text
    assert "# its ownership facet says so" in text
    assert "# read by 2 jobs, never written" in text


def test_a_wide_lake_is_a_few_lines():
    """Write one line for 300 tables of one owner below two folders, and one for 50 topics."""
    core = [_seen(n, "s3://lake", f"core/t{n}", owner="core") for n in range(150)]
    mart = [_seen(150 + n, "s3://lake", f"mart/t{n}", owner="mart") for n in range(150)]
    topics = [_seen(300 + n, "kafka://h:1", f"topic_{n}", is_written=False) for n in range(50)]
    raw = [_seen(400 + n, "s3://lake", f"raw/in/{n}", is_written=False) for n in range(3)]

    text = draft([*core, *mart, *topics, *raw], [])
    policy = parse_policy(text)

    assert [rule.match for rule in policy.datasets] == ["s3://lake/core/*", "s3://lake/mart/*"]
    assert policy.sources == ("kafka://h:1/*", "s3://lake/raw/*")
    assert all(rule.tier is None for rule in policy.datasets)
    assert len(text.splitlines()) < 30
    # Not `s3://lake/*`: a dataset that is only read does not end here.
    assert '#  - match: "s3://lake/core/*"' in text


def test_a_prefix_matches_only_its_group():
    """Split the group at a dataset of another owner, or at one that is written."""
    own = [_seen(n, "s3://lake", f"core/a/t{n}", owner="core") for n in range(3)]
    foreign = _seen(3, "s3://lake", "core/b", owner="other")
    read = [_seen(4 + n, "s3://lake", f"raw/t{n}", is_written=False) for n in range(3)]
    written = _seen(7, "s3://lake", "raw/u")

    policy = parse_policy(draft([*own, foreign, *read, written], []))

    assert [rule.match for rule in policy.datasets] == ["s3://lake/core/a/*", "s3://lake/core/b"]
    assert policy.sources == tuple(f"s3://lake/raw/t{n}" for n in range(3))


def test_a_draft_of_an_empty_catalog_is_a_policy():
    """Return a valid file, however early."""
    assert parse_policy(draft([], [])).datasets == ()


@given(st.lists(st.tuples(st.text(max_size=15), st.text(min_size=1, max_size=15)), max_size=5))
def test_names_from_outside_do_no_harm_to_a_draft(names):
    """Escape quotes, line breaks and YAML in a name."""
    folded = [fold(namespace, name) for namespace, name in names]
    seen = [
        _seen(number, one.namespace, one.name, owner=one.name, owner_reason=one.name)
        for number, one in enumerate(dict.fromkeys(folded))
    ]

    policy = parse_policy(draft(seen, []))

    for one in seen:
        assert decide_policy(policy, one.namespace, one.name).owner is not None


def test_a_draft_comes_from_the_catalog(catalog):
    """Prefer owners by facet to the job namespace; leave retired datasets out."""
    instants = {"first_seen_at": 1, "last_seen_at": 1}
    keys = {name: key("s3://b", name) for name in ("raw", "core", "mart", "old")}
    flags = {"names_input": True, "is_reported": True, "is_streaming": False, "is_history": False}
    with write_transaction(catalog) as connection:
        for name, dataset_key in keys.items():
            row = {"dataset_key": dataset_key, "canonical_key": dataset_key, **instants}
            retired = {"retired_at": 2 if name == "old" else None}
            row |= {"namespace": "s3://b", "name": name, **retired}
            connection.execute(tables.dataset.insert(), row)
        for name in ("core", "mart"):
            row = {
                "dataset_key": keys[name],
                "root_run_id": "r",
                "bucket": 0,
                "job_key": 1,
                **flags,
            }
            row |= {"job_namespace": "shop", "job_name": "j", "written_at": 1, "landed_at": 1}
            connection.execute(tables.dataset_write.insert(), row | flags)
        facet = {"subject": "dataset", "subject_key": keys["mart"], "owner": "finance"}
        connection.execute(tables.ownership.insert(), {**facet, "last_seen_at": 1})
        edge = {"job_key": 1, "job_namespace": "shop", "job_name": "j", "runs": 1, **instants}
        for up, down in (("raw", "core"), ("core", "mart")):
            ends = {"upstream_key": keys[up], "downstream_key": keys[down]}
            connection.execute(tables.edge.insert(), {**ends, **edge})

    text = suggest_policy(catalog)
    policy = parse_policy(text)

    assert text.endswith("\n...\n")
    assert [owner.name for owner in policy.owners] == ["finance", "shop"]
    assert policy.sources == ("s3://b/raw",)
    assert decide_policy(policy, "s3://b", "core").owner == "shop"
    assert decide_policy(policy, "s3://b", "mart").owner == "finance"
    assert decide_policy(policy, "s3://b", "mart").tier is None
    assert decide_policy(policy, "s3://b", "old").rule is None
