"""Invalid policies: each is rejected with line and path, and never crashes."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lineage.policy import PolicyError, parse_policy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "owners:\n- name: a\n- name: b\n  slack: 5",
            "lineward.yaml:4: $.owners[1].slack: expected str, got int: '5'",
        ),
        (
            "owners:\n- name: a\n  slak: x",
            "lineward.yaml:3: $.owners[0].slak: unknown key 'slak'; did you mean 'slack'?",
        ),
        (
            "access:\n",
            "lineward.yaml:1: $.access: expected object, got null: ''",
        ),
        (
            "access:\n  tokens:\n  - {name: a}",
            "lineward.yaml:3: $.access.tokens[0]: needs either token_file or sha256",
        ),
        (
            "access:\n  tokens:\n  - name: a\n    token_file: x\n  - name: a\n    token_file: y",
            "lineward.yaml:5: $.access.tokens[1].name: 'a' is there already",
        ),
        (
            "access: {tokens: [{name: a, token_file: x, roles: [root]}]}",
            (
                "lineward.yaml:1: $.access.tokens[0].roles[0]: "
                "expected one of admin, alerts, read, respond, got 'root'"
            ),
        ),
        (
            "dataset: []",
            "lineward.yaml:1: $.dataset: unknown key 'dataset'; did you mean 'datasets'?",
        ),
        (
            "datasets:\n- match: {nam: x}",
            "lineward.yaml:2: $.datasets[0].match.nam: unknown key 'nam'; did you mean 'name'?",
        ),
        (
            "datasets:\n- match: x\n  tier: crit",
            (
                "lineward.yaml:3: $.datasets[0].tier: "
                "expected one of critical, important, optional, got 'crit'"
            ),
        ),
        (
            "objectives: {M1: {all: 0.9}}",
            (
                "lineward.yaml:1: $.objectives.M1: unknown key 'M1'; one of coverage, freshness, "
                "node_completeness, edge_completeness, accuracy, missing_provenance, "
                "ingestion_lag, query_latency, impact_analysis, error_rate, unauthorized_access"
            ),
        ),
        (
            "datasets:\n\n- tier: critical",
            "lineward.yaml:3: $.datasets[0]: object missing required field match",
        ),
        (
            "datasets:\n- match: x\n  limit: 5 apples",
            (
                "lineward.yaml:2: $.datasets[0]: expected a duration such as "
                '"26h", "90m" or "2d 6h", got \'5 apples\''
            ),
        ),
        (
            "datasets:\n- match: x\n  limit: 0",
            "lineward.yaml:2: $.datasets[0]: 0 is not between one second and one year",
        ),
        (
            "datasets:\n- match: x\n\n  owner: nobody",
            (
                "lineward.yaml:4: $.datasets[0].owner: no owner is called 'nobody': "
                "add it under owners"
            ),
        ),
        (
            "owners: [{name: a}]\njobs:\n- {match: x, owner: b}",
            "lineward.yaml:3: $.jobs[0].owner: no owner is called 'b': add it under owners",
        ),
        (
            "owners:\n- name: a\n- name: a",
            "lineward.yaml:3: $.owners[1].name: 'a' is there already",
        ),
        (
            "datasets: [{match: x, calendar: c}]",
            (
                "lineward.yaml:1: $.datasets[0].calendar: no calendar is called 'c': "
                "add it under calendars"
            ),
        ),
        (
            "datasets: [{match: 'x*', expect_inputs: [y]}]",
            "lineward.yaml:1: $.datasets[0].match: expect_inputs needs a match without wildcards",
        ),
        (
            "datasets: [{match: x, expect_inputs: ['y*']}]",
            (
                "lineward.yaml:1: $.datasets[0].expect_inputs[0]: expected one dataset, without"
                " wildcards"
            ),
        ),
        (
            "aliases: [{name: 'x*', dataset: y}]",
            "lineward.yaml:1: $.aliases[0].name: expected one dataset, without wildcards",
        ),
        (
            "suppressions:\n- {name: x, match: y, from: 2026-11-21T00:00:00Z}",
            (
                "lineward.yaml:2: $.suppressions[0]: needs until: "
                "an open window would hide things for ever"
            ),
        ),
        (
            "suppressions:\n- {name: x, match: y}",
            "lineward.yaml:2: $.suppressions[0]: needs from and until, or cron and for",
        ),
        (
            "suppressions:\n- {name: x, match: y, cron: 0 2 * * *}",
            ("lineward.yaml:2: $.suppressions[0]: cron needs for: how long each window lasts"),
        ),
        (
            (
                "suppressions:\n- name: x\n  match: y\n  cron: 0 2 * * *\n  for: 1h\n"
                "  until: 2026-11-22T00:00:00Z"
            ),
            (
                "lineward.yaml:2: $.suppressions[0]: cron goes with for, and with neither from "
                "nor until"
            ),
        ),
        (
            (
                "suppressions:\n- name: x\n  match: y\n  from: 2026-11-21T00:00:00Z\n"
                "  until: 2026-12-22T00:00:00Z"
            ),
            (
                "lineward.yaml:5: $.suppressions[0].until: "
                "is more than 30 days after from: hide less"
            ),
        ),
        (
            "suppressions:\n- name: x\n  match: y\n  cron: 0 25 * * *\n  for: 1h",
            (
                "lineward.yaml:4: $.suppressions[0].cron: bad hour in '0 25 * * *': "
                'expected five fields such as "0 2 * * sun": '
                "minute, hour, day of month, month, day of week"
            ),
        ),
        (
            "suppressions:\n- name: x\n  match: y\n  cron: 0 0 * * *\n  for: 1d",
            (
                "lineward.yaml:4: $.suppressions[0].cron: '0 0 * * *' hides without a break: "
                "each begins before the last one ended"
            ),
        ),
        (
            "suppressions:\n- name: x\n  match: y\n  cron: 0 0 1 * *\n  for: 31d",
            "lineward.yaml:5: $.suppressions[0].for: is longer than 30 days",
        ),
        (
            (
                "suppressions:\n- name: x\n  match: y\n  cron: 0 0 1 * *\n  for: 1h\n"
                "  time_zone: Mars/Olympus"
            ),
            (
                "lineward.yaml:6: $.suppressions[0].time_zone: 'Mars/Olympus' "
                "is no time zone such as Europe/Berlin"
            ),
        ),
        (
            "people:\n- {name: ann, slack: ann}",
            (
                "lineward.yaml:2: $.people[0].slack: expected the id of a member in Slack, as in"
                " U012AB3CD, got 'ann'"
            ),
        ),
        (
            "people:\n- {name: ann, slack: U012}\n- {name: bob, slack: U012}",
            "lineward.yaml:3: $.people[1].slack: 'U012' is there already",
        ),
        (
            (
                "suppressions:\n- name: x\n  match: y\n  from: 2026-11-21T00:00:00\n"
                "  until: 2026-11-22T00:00:00Z"
            ),
            (
                "lineward.yaml:4: $.suppressions[0].from: "
                "expected datetime with a timezone component: '2026-11-21T00:00:00'"
            ),
        ),
        (
            (
                "suppressions:\n- {name: x, match: y, from: 2026-11-21T00:00:00Z, "
                "until: 2026-11-21T00:00:00Z}"
            ),
            (
                "lineward.yaml:2: $.suppressions[0]: until is not after from "
                "(2026-11-21T00:00:00+00:00)"
            ),
        ),
        (
            (
                "suppressions:\n- {name: x, match: y, from: 9999-12-30T00:00:00Z, "
                "until: 9999-12-31T23:59:59-14:00}"
            ),
            (
                "lineward.yaml:2: $.suppressions[0]: "
                "from and until: expected a time of the years 1970 to 2999"
            ),
        ),
        (
            "objectives:\n  coverage:\n    critical: 1.5",
            "lineward.yaml:3: $.objectives.coverage.critical: 1.5 is no ratio above 0 and up to 1",
        ),
        (
            "objectives: {cover: {critical: 0.5}}",
            "lineward.yaml:1: $.objectives.cover: unknown key 'cover'; did you mean 'coverage'?",
        ),
        (
            "time_zone: Mars/Olympus",
            "lineward.yaml:1: $.time_zone: 'Mars/Olympus' is no time zone such as Europe/Berlin",
        ),
        ("retention_days: 0", "lineward.yaml:1: $.retention_days: expected 1 to 3650, got '0'"),
        ("[1]", "lineward.yaml:1: $: expected object, got array"),
        ("owners: []\nowners: []", "lineward.yaml:2: $: 'owners' twice"),
        ("a: [", "lineward.yaml:2: $: did not find expected node content"),
    ],
)
def test_a_wrong_file_is_rejected_with_line_and_path(text, message):
    """Name the line, and what to write there."""
    with pytest.raises(PolicyError) as error_text:
        parse_policy(text)

    assert str(error_text.value) == message


def test_a_tag_of_python_is_rejected():
    """Create no object and run nothing: the file is data."""
    with pytest.raises(PolicyError, match="constructor"):
        parse_policy("owners: !!python/object/apply:os.getcwd []")


_NESTED = st.recursive(st.none() | st.integers() | st.text(), st.lists)


@given(st.text(max_size=60) | _NESTED.map(yaml.safe_dump))
def test_any_file_is_accepted_or_rejected(text):
    """Return an error for any text."""
    error_text = ""
    try:
        parse_policy(text)
    except PolicyError as error:
        error_text = str(error)

    assert error_text == "" or error_text.startswith("lineward.yaml:")


@pytest.mark.parametrize("beginning", ["[", "- ", "{a: ", "- ? "])
def test_a_nesting_without_end_is_rejected(beginning):
    """Return an error: such a text crashes an interpreter that composes YAML in C."""
    with pytest.raises(PolicyError, match="recursion"):
        parse_policy(beginning * 50_000)


def test_a_token_in_the_place_of_its_hash_is_not_shown():
    """Log the place of the error, and never the value."""
    with pytest.raises(PolicyError, match=r"\$\.access\.tokens\[0\]\.sha256") as raised:
        parse_policy("access: {tokens: [{name: a, sha256: secret-0123456789}]}")

    assert "secret" not in str(raised.value)


def test_two_tokens_of_one_hash_are_rejected():
    """Reject both: the user of a request would be unknown."""
    one = "sha256: " + "a" * 64

    with pytest.raises(PolicyError, match="another token has the same"):
        parse_policy(f"access: {{tokens: [{{name: a, {one}}}, {{name: b, {one}}}]}}")
