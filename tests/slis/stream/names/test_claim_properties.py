"""Properties of the claims in force, for small components that Hypothesis generates."""

from hypothesis import given
from hypothesis import strategies as st

from lineage.names.aliases import Sets
from slis.stream.names.claims import (
    RENAME,
    SYMLINK,
    DatasetLink,
    LinkClaims,
    Writers,
    holding_links,
)

_OURS, _THEIRS, _FREE = range(3), range(3, 5), range(5, 8)
_ANY = [*_OURS, *_THEIRS, *_FREE]
_WRITERS = {name: {"shop"} for name in _OURS} | {name: {"evil"} for name in _THEIRS}


def _links(names):
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names))
    pairs = pairs.filter(lambda pair: pair[0] != pair[1])
    rules = st.sampled_from([SYMLINK, SYMLINK, RENAME])
    return st.builds(lambda pair, rule: DatasetLink(*pair, rule), pairs, rules)


def _claims(names, by):
    """Return datasets as events report them: each by a job, some landed in one batch."""
    claim = st.builds(
        LinkClaims, st.sets(st.sampled_from(by), min_size=1).map(frozenset), st.integers(0, 5)
    )
    return st.dictionaries(_links(names), claim, max_size=8)


_DECLARED = st.sets(st.sampled_from(_ANY), max_size=2)


def _list_joined(claims, writers):
    """Return the pairs of names that are one dataset."""
    datasets = Sets()
    for link in holding_links(claims, writers):
        datasets.join(link.alias_key, link.dataset_key)
    return {
        (one, other)
        for one in _ANY
        for other in _ANY
        if one < other and datasets.find(one) == datasets.find(other)
    }


@given(_claims(_ANY, ["shop", "evil", "third"]), _DECLARED, st.randoms())
def test_the_order_in_which_claims_are_read_does_not_matter(claims, declared, random):
    """Join alike in any order: the catalog returns rows in any order."""
    writers = Writers(_WRITERS, declared)
    shuffled = list(claims.items())
    random.shuffle(shuffled)

    assert holding_links(dict(shuffled), writers) == holding_links(claims, writers)


@given(_claims([*_OURS, *_FREE], ["shop"]), _claims(_ANY, ["evil", "third"]), _DECLARED)
def test_claims_of_others_join_no_own_datasets(ours, theirs, declared):
    """Join neither two own datasets, nor an own dataset and a foreign or free name."""
    writers = Writers(_WRITERS, declared)
    both = theirs | {
        link: LinkClaims(claim.by | theirs[link].by, min(claim.landed_at, theirs[link].landed_at))
        if link in theirs
        else claim
        for link, claim in ours.items()
    }

    joined = _list_joined(both, writers)
    assert {pair for pair in joined if pair[0] in _OURS} <= _list_joined(ours, writers)


@given(_claims(_ANY, ["shop", "evil", "third"]), _DECLARED)
def test_datasets_of_two_owners_need_claims_of_both(claims, declared):
    """Require the claims of both: those of one of them, and of third parties, are not enough."""
    allowed = Sets()
    for link, claim in claims.items():
        if {"shop", "evil"} <= claim.by:
            allowed.join(link.alias_key, link.dataset_key)
    for own in (_OURS, _THEIRS):
        for name in own:
            allowed.join(own[0], name)

    for one, other in _list_joined(claims, Writers(_WRITERS, declared)):
        if one in _OURS and other in _THEIRS:
            assert allowed.find(one) == allowed.find(other)


@given(st.permutations(range(4)), st.integers(0, 3))
def test_a_free_name_belongs_to_its_first_claimant(landed, declared):
    """Prefer a declared dataset, then the first claim; nobody else gets the name."""
    by_name = {name: {f"writer {name}"} for name in range(4)}
    claims = {
        DatasetLink(_FREE[0], name, SYMLINK): LinkClaims(frozenset(by), landed[name])
        for name, by in by_name.items()
    }

    first = landed.index(0)
    assert _list_joined(claims, Writers(by_name, set())) == {(first, _FREE[0])}
    assert _list_joined(claims, Writers(by_name, {declared})) == {(declared, _FREE[0])}
