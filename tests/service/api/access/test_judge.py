"""Judge of audit rows, which shares no code with the gate."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.access.judge import AccessFileVersion, Token, access_fault, covers
from service.queries.visibility import Visibility

_TOKEN = Token("t", "f", ["read"], ["s3://shop"], 100)
_VERSION = AccessFileVersion(10, "v", [_TOKEN])
_ROW = {
    "at": 50,
    "version": "v",
    "who": "t",
    "fingerprint": "f",
    "action": "lineage",
    "namespaces": '["s3://shop"]',
}


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({}, None),
        ({"at": 9}, "no_version"),
        ({"version": "w"}, "another_version"),
        ({"who": ""}, "unknown_token"),
        ({"fingerprint": "g"}, "another_token"),
        ({"at": 100}, "expired"),
        ({"action": "status"}, "role"),
        ({"action": "anything"}, "role"),
        ({"namespaces": '["s3://shop", "s3://shop-secret"]'}, "namespace"),
        ({"namespaces": '["s3://SHOP"]'}, "namespace"),
        ({"namespaces": "[]"}, None),
    ],
)
def test_every_fault_has_its_name(changed, fault):
    """Return the fault of each row, and none for a correct row."""
    assert access_fault(_ROW | changed, [_VERSION]) == fault


def test_an_admin_of_some_namespaces_may_not_read_the_status():
    """Return a fault, as the status covers all namespaces."""
    token = msgspec.structs.replace(_TOKEN, roles=["admin"])

    fault = access_fault(_ROW | {"action": "status"}, [AccessFileVersion(10, "v", [token])])

    assert fault == "namespace"


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("prod", "prod", True),
        ("prod", "production", False),
        ("prod", "xprod", False),
        ("prod", "PROD", False),
        ("prod*", "production", True),
        ("prod/*", "production", False),
        ("prod.", "prodx", False),
        ("prod?", "prod1", True),
        ("prod?", "prod", False),
        ("s3a://lake", "s3://lake", True),
        ("*", "", True),
        ("p[a-z]od", "prod", False),
        ("prod", "prod\n", False),
        ("prod\n", "prod", False),
    ],
)
def test_a_pattern_matches_whole_names_and_nothing_but_its_wildcards_is_special(
    pattern, name, matches
):
    """Compare gate and judge on names that look alike."""
    assert Visibility([pattern]).sees(name) is matches
    assert covers(pattern, name) is matches


@given(
    st.text(alphabet="ab*?/:.", max_size=8),
    st.text(alphabet="ab/:.", max_size=8),
)
def test_gate_and_judge_agree_on_every_pattern(pattern, name):
    """Compare two matchers that share no code."""
    assert Visibility([pattern]).sees(name) is covers(pattern, name)
