"""Patterns over local files, in each spelling that people write."""

import pytest

from lineage.names.names import join_parts
from lineage.policy import parse_policy
from lineage.policy.patterns import matcher
from lineage.policy.resolution import decide_policy

READINGS = ("file", "/tmp/weather/raw/readings")  # noqa: S108 - a name


def _matches(pattern: str, namespace: str, name: str) -> bool:
    test, text = matcher(pattern), join_parts(namespace, name)
    return text.startswith(test.prefix) and test.regex.fullmatch(text) is not None


@pytest.mark.parametrize("start", ["/", "file:/", "file:///", "file/"])
def test_a_local_path_matches_in_each_spelling(start):
    """Compare a path with and without wildcards as the joined form `file/...`."""
    assert _matches(f"{start}tmp/weather/*", *READINGS)
    assert _matches(f"{start}tmp/w?ather/raw/readings", *READINGS)
    assert _matches(f"{start}tmp/weather/raw/readings", *READINGS)
    assert not _matches(f"{start}tmp/sales/*", *READINGS)


def test_a_folder_of_tables_matches_as_before():
    """Match tables whose namespace is a folder, and paths of DBFS, but no path on a host."""
    assert _matches("file:/warehouse/*", "file:/warehouse", "default.orders")
    assert _matches("/warehouse/*", "file:/warehouse", "default.orders")
    assert _matches("dbfs:/mnt/*", "dbfs", "/mnt/orders")
    assert _matches("file://host/share/*", "file://host", "/share/orders")
    assert not _matches("file://host/share/*", "file", "/host/share/orders")


@pytest.mark.parametrize("start", ["/", "file:/", "file:///", "file/"])
def test_a_rule_of_the_policy_applies_to_local_files(start):
    """Resolve a dataset by a rule with wildcards."""
    policy = parse_policy(f'datasets: [{{match: "{start}tmp/weather/*", tier: critical}}]')

    assert decide_policy(policy, *READINGS).tier == "critical"
