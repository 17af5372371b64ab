"""Policy file while others edit it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lineage.policy import DEFAULT, PolicyError, PolicyFile, load_policy, parse_policy

SHA = "ab" * 32
OTHER = "cd" * 32
# Block and flow style, `access` first, in the middle and last, a token with every restriction.
GUARDED = [
    f"""\
owners:
  - name: shop
    slack: "#shop"
access:
  tokens:
    - name: boss
      sha256: {SHA}
      roles: [admin]
    - name: shop
      sha256: {OTHER}
      roles:
        - read
      namespaces:
        - s3://*-public
      expires: 2027-01-01T00:00:00Z
retention_days: 30
""",
    f"""\
access: {{tokens: [{{name: shop, sha256: {SHA}, namespaces: ["s3://shop"]}}]}}
retention_days: 30
""",
    f"""\
retention_days: 365
access:
  tokens:
  - sha256: {SHA}
    namespaces: ["s3://shop", "s3://mart"]
    expires: 2026-12-24T00:00:00Z
    name: shop
""",
    "owners: []\naccess: {}\n",
    "access:\n  tokens: []\npeople: []\n",
]


class Clock:
    """Monotonic clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now


def settled(path):
    """Create a policy whose file is accepted at its first look."""
    return PolicyFile(path, settle_seconds=0)


def test_an_invalid_file_never_replaces_a_valid_one(tmp_path):
    """Keep the old policy in force, report the error, and accept the corrected file."""
    path = tmp_path / "lineward.yaml"
    path.write_text("retention_days: 7")
    file = settled(path)

    path.write_text("retention_days: never\n")
    assert (file.current().retention_days, file.error) == (
        7,
        "lineward.yaml:1: $.retention_days: expected a number, got 'never'",
    )
    path.write_text("retention_days: 30\n")
    assert (file.current().retention_days, file.error) == (30, None)
    path.unlink()
    assert file.current().retention_days == 30
    assert "cannot be read" in file.error


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        " \n\t\n",
        "# a comment\n",
        "---\n",
        "--- # nothing\n...\n",
        "null\n",
        "~",
        "\ufeff",
    ],
)
def test_an_empty_file_is_an_error_and_replaces_nothing(tmp_path, text):
    """Keep the policy: a file is empty while it is rewritten, as may be a ConfigMap's key."""
    path = tmp_path / "lineward.yaml"
    path.write_text("retention_days: 7")
    file = settled(path)
    path.write_text(text)

    assert file.current().retention_days == 7
    assert file.error is not None
    assert file.standing().hash == file.current().hash
    with pytest.raises(PolicyError, match=r"lineward\.yaml:[12]: "):
        load_policy(path)


def test_an_empty_file_at_the_start_is_rejected_with_a_message(tmp_path):
    """Report what to write instead."""
    path = tmp_path / "lineward.yaml"
    path.write_text("")

    with pytest.raises(PolicyError) as caught:
        PolicyFile(path)

    assert str(caught.value) == (
        "lineward.yaml:1: $: the file is empty: write `{}` for a policy that says nothing, or name"
        " no file"
    )
    path.write_text("{}")
    assert PolicyFile(path).current() == DEFAULT


@pytest.mark.parametrize("text", ["{[a]: b}", "[" * 5_000, "a: !!python/object:os {}", "x: \0"])
def test_no_text_ends_in_another_error(tmp_path, text):
    """Reject any text of YAML as an invalid policy."""
    path = tmp_path / "lineward.yaml"
    path.write_text(text)

    with pytest.raises(PolicyError, match=r"lineward\.yaml:[12]: "):
        load_policy(path)


def test_an_invalid_file_at_the_start_is_rejected(tmp_path):
    """Reject it: there is no older policy, and a failed start is better than wrong alerts."""
    path = tmp_path / "lineward.yaml"
    path.write_text("tiers: {}")

    with pytest.raises(PolicyError, match=r"lineward.yaml:1: \$.tiers: unknown key"):
        PolicyFile(path)
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy(tmp_path / "absent.yaml")
    assert PolicyFile(None).current() is DEFAULT


def test_a_role_that_may_start_without_a_policy_takes_the_first_valid_one(tmp_path):
    """Start without a policy until then, and report the reason."""
    path = tmp_path / "lineward.yaml"
    path.write_text("tiers: {}")
    file = PolicyFile(path, may_start_wrong=True, settle_seconds=0)

    with pytest.raises(PolicyError, match="unknown key"):
        file.current()
    assert file.standing().hash is None
    path.write_text("retention_days: 30\n")
    assert file.current().retention_days == 30
    assert file.standing().error is None


def test_a_file_is_taken_once_it_has_not_changed_for_a_second(tmp_path):
    """Wait while another program writes in steps, and read no half of the file."""
    path, clock = tmp_path / "lineward.yaml", Clock()
    path.write_text("retention_days: 7")
    file = PolicyFile(path, monotonic=clock)

    path.write_text("retention_days: 30\n")
    assert file.current().retention_days == 7
    clock.now = 0.9
    path.write_text("retention_days: 300\n")
    assert file.current().retention_days == 7
    clock.now = 1.8
    assert file.current().retention_days == 7
    clock.now = 2.0
    assert file.current().retention_days == 300


@pytest.mark.parametrize("whole", GUARDED)
def test_no_beginning_of_a_guarded_policy_opens_the_api(tmp_path, whole):
    """Cut at each byte: reject it, or keep the tokens with all their restrictions."""
    path = tmp_path / "lineward.yaml"
    path.write_text(whole)
    tokens = set(parse_policy(whole).guard.tokens)

    for length in range(len(whole)):
        path.write_text(whole)
        file = settled(path)
        path.write_text(whole[:length])
        guard = file.current().guard
        assert guard is not None, whole[:length]
        assert set(guard.tokens) <= tokens, whole[:length]


@given(whole=st.sampled_from(GUARDED), other=st.sampled_from(GUARDED), share=st.floats(0, 1))
@example(whole=GUARDED[0], other=GUARDED[3], share=0.6)
def test_no_beginning_of_another_policy_takes_the_guard_away(tmp_path_factory, whole, other, share):
    """Allow a cut version with less content, but without its `access` section none."""
    path = tmp_path_factory.mktemp("policy") / "lineward.yaml"
    path.write_text(whole)
    file = settled(path)
    path.write_text(other[: int(len(other) * share)])

    assert file.current().guard is not None


@pytest.mark.parametrize("text", ["retention_days: 30\n", "owners: []\n", "{}\n"])
def test_a_lost_access_section_is_rejected_by_name(tmp_path, text):
    """Reject it; a reader that accepts it (mutant) opens the API to everybody."""
    path = tmp_path / "lineward.yaml"
    path.write_text(GUARDED[0])
    file = settled(path)
    path.write_text(text)

    assert file.current().guard is not None
    assert file.error == (
        "lineward.yaml: the section access is gone: restore it (`access: off` opens the API to"
        " everybody)"
    )


@pytest.mark.parametrize("off", ["off", "false", "no", '"off"', "Off", "OFF"])
def test_access_off_opens_the_api(tmp_path, off):
    """Open it for an explicit setting."""
    path = tmp_path / "lineward.yaml"
    path.write_text(GUARDED[0])
    file = settled(path)
    path.write_text(f"access: {off}\n")

    assert (file.current().guard, file.error) == (None, None)


@pytest.mark.parametrize("on", ["on", "true", "0", "o", "of", "''", "[]", "{off: 1}"])
def test_only_off_opens_the_api(on):
    """Reject a beginning of the word, a number and the opposite."""
    with pytest.raises(PolicyError, match=r"\$.access"):
        parse_policy(f"access: {on}\n")


# Edits: a comment above, a changed tier or days, a checkout with other line breaks.
EDITS = [
    lambda text: text,
    lambda text: "# edited by ann\n" + text,
    lambda text: "time_zone: Europe/Berlin\n" + text,
    lambda text: text.replace("#shop", "#shop-data"),
    lambda text: text.replace("\n", "\r\n"),
]
FULL = """\
owners:
  - name: shop
datasets:
  - match: s3://lake/mart/*
    owner: shop
  - match: s3://lake/mart/revenue
    tier: critical
    owner: shop
"""
TEAM = f"""\
access:
  tokens:
    - name: team
      sha256: {SHA}
      roles: [read, respond]
      namespaces: ["s3://lake", "s3://mart"]
      expires: 2027-01-01T00:00:00Z
"""
NEW = """\
    - name: new
      token_file: new.token
      namespaces: ["s3://x"]
"""
IS_NEW = "$.access.tokens[1]: the token 'new' is new"
MIDDLE = (
    "ends in the middle of a line, as a half-written file does: if the file is complete,"
    " end it with a line break"
)
ENDED = "if the file is complete, end it with the line `...`"


def after(path, old, new):
    """Create a policy file with a version in force, after another was written."""
    path.write_text(old)
    file = settled(path)
    path.write_text(new)
    file.current()
    return file


def after_each(path, old, versions):
    """Yield each version, and the policy file with `old` in force after it was written."""
    file = None
    for version in versions:
        if file is None or file.error is None:  # `old` is in force no more
            path.write_text(old)
            file = settled(path)
        path.write_text(version)
        file.current()
        yield version, file


def beginnings(text):
    """Return the text cut at each byte."""
    return (text[:length] for length in range(len(text)))


def is_within(token, known):
    """Return whether a token may do no more than one of the tokens that were in force."""
    return any(
        token.sha256 == one.sha256
        and ("admin" in one.roles or set(token.roles) <= set(one.roles))
        and set(token.namespaces) <= set(one.namespaces)
        and (one.expires is None or (token.expires is not None and token.expires <= one.expires))
        for one in known
    )


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("whole", [*GUARDED, FULL + TEAM, FULL + TEAM + NEW])
def test_a_cut_version_adds_no_right_to_a_token(tmp_path, edit, whole):
    """Cut at each byte of the new version: no token sees more, may do more or expires later."""
    path, edited = tmp_path / "lineward.yaml", edit(whole)
    known = parse_policy(whole).guard.tokens
    for cut, file in after_each(path, whole, beginnings(edited)):
        guard = file.current().guard
        assert guard is not None, cut
        assert all(is_within(token, known) for token in guard.tokens), cut


@pytest.mark.parametrize("edit", EDITS)
def test_no_new_token_is_taken_from_a_cut_version(tmp_path, edit):
    """Reject it: its missing last lines may restrict it."""
    path, edited = tmp_path / "lineward.yaml", edit(FULL + TEAM + NEW)
    for cut, file in after_each(path, FULL + TEAM, beginnings(edited)):
        assert {token.name for token in file.current().guard.tokens} <= {"team"}, cut


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        (TEAM + NEW, IS_NEW),
        (TEAM.replace(SHA, OTHER), "$.access.tokens[0]: the token 'team' is new"),
        (
            TEAM.replace('"s3://mart"', '"s3://mart", "s3://x"'),
            "$.access.tokens[0]: the token 'team' sees more namespaces than before",
        ),
        (
            TEAM.replace('      namespaces: ["s3://lake", "s3://mart"]\n', ""),
            "$.access.tokens[0]: the token 'team' sees more namespaces than before",
        ),
        (
            TEAM.replace("respond]", "admin]"),
            "$.access.tokens[0]: the token 'team' has more roles than before",
        ),
        (
            TEAM.replace("2027", "2028"),
            "$.access.tokens[0]: the token 'team' expires later than before, or never",
        ),
        (
            TEAM.replace("      expires: 2027-01-01T00:00:00Z\n", "people: []\n"),
            "$.access.tokens[0]: the token 'team' expires later than before, or never",
        ),
    ],
)
def test_more_rights_count_in_a_file_with_an_end(tmp_path, version, problem):
    """Require the last line `...`; the error names it, with the token's place."""
    path = tmp_path / "lineward.yaml"
    old = f"{FULL}{TEAM}"
    line = 16 if "'new'" in problem else 11

    file = after(path, old, FULL + version)

    assert file.current().access == parse_policy(old).access
    assert file.error == f"lineward.yaml:{line}: {problem}: {ENDED}"
    path.write_text(f"{FULL}{version}...  # the end of the file\n")
    assert (file.current().access, file.error) == (parse_policy(FULL + version).access, None)


def test_a_cut_version_does_not_let_every_user_answer_in_slack(tmp_path):
    """Reject it: without the section `people` everybody in Slack may answer."""
    people = "people:\n  - {name: ann, slack: U012AB3CD}\n"
    file = after(tmp_path / "lineward.yaml", FULL + people, f"# edited\n{FULL}")

    assert len(file.current().people) == 1
    problem = "the section people is gone, and every user of Slack may answer"
    assert file.error == f"lineward.yaml:2: $: {problem}: {ENDED}"
    (tmp_path / "lineward.yaml").write_text(f"{FULL}...\n")
    assert (file.current().people, file.error) == ((), None)


@pytest.mark.parametrize(
    "version",
    [
        TEAM.replace(', "s3://mart"', ""),
        TEAM.replace("read, respond", "read"),
        TEAM.replace("2027", "2026"),
        TEAM.replace("team", "renamed"),
        "access: {}\n",
        "access: off\n",
    ],
)
def test_fewer_rights_need_no_end(tmp_path, version):
    """Withdraw removed rights at once."""
    file = after(tmp_path / "lineward.yaml", FULL + TEAM, FULL + version)

    assert (file.current().access, file.error) == (parse_policy(version).access, None)


@pytest.mark.parametrize(
    "whole", [FULL, FULL + TEAM, TEAM + FULL, "retention_days: 30\nowners: []"]
)
def test_no_beginning_of_the_file_in_force_is_taken(tmp_path, whole):
    """Keep owners, tiers and datasets, whatever line the half-written file ends with."""
    path, policy = tmp_path / "lineward.yaml", parse_policy(whole)
    lines = (f"{cut} \n\n" for cut in beginnings(whole) if cut.endswith("\n"))
    for cut, file in after_each(path, whole, [*beginnings(whole), *lines]):
        assert file.current() == policy, cut


@pytest.mark.parametrize("edit", EDITS[:4])
def test_a_file_with_an_end_is_safe_whatever_was_edited(tmp_path, edit):
    """Cut at each byte: use the policy in force, or all of the new one."""
    path, whole = tmp_path / "lineward.yaml", f"{FULL}...\n"
    edited = edit(whole)
    policies = parse_policy(whole), parse_policy(edited)
    for cut, file in after_each(path, whole, beginnings(edited)):
        assert file.current() in policies, cut


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (
            FULL,
            FULL.removesuffix("    owner: shop\n") + "    generated: true",
            MIDDLE,
        ),
        (
            FULL,
            FULL[: FULL.index("datasets:")],
            f"is the beginning of the file in force, as a half-written file is: {ENDED}",
        ),
        (
            f"{FULL}...\n",
            "owners: []\n",
            f"lacks the line `...`, with which the file in force ends: {ENDED}",
        ),
    ],
)
def test_the_error_names_the_missing_part_and_the_fix(tmp_path, old, new, error):
    """Follow the message: the file is then in force."""
    path = tmp_path / "lineward.yaml"
    file = after(path, old, new)

    assert file.error == f"lineward.yaml: {error}"
    assert file.current() == parse_policy(old)
    path.write_text(f"{FULL[: FULL.index('datasets:')]}...\n")
    assert (file.current().datasets, file.error) == ((), None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("retention_days: 300\n", "retention_days: 30\n"),
        (FULL, FULL.replace("  - match: s3://lake/mart/*\n    owner: shop\n", "")),
        (FULL + "sources: []\n# end\n", FULL),  # the same policy
        (FULL.rstrip(), FULL.rstrip() + "\n"),
        (f"{FULL}...\n", FULL),
    ],
)
def test_a_usual_edit_needs_no_end(tmp_path, old, new):
    """Accept an edit that loses nothing, or is no beginning of the file in force."""
    file = after(tmp_path / "lineward.yaml", old, new)

    assert (file.current(), file.error) == (parse_policy(new), None)


def test_a_file_in_force_is_taken_back_as_it_was(tmp_path):
    """Take a file without a last line break at the start, and when an edit is reverted."""
    path = tmp_path / "lineward.yaml"
    path.write_text("retention_days: 7")
    file = settled(path)
    for text, error in (("retention_days: x\n", True), ("retention_days: 7", False)):
        path.write_text(text)
        assert file.current().retention_days == 7
        assert (file.error is not None) is error


def test_a_token_is_taken_out_by_its_last_lines(tmp_path):
    """Keep the token until the beginning of the file in force is marked as complete."""
    path = tmp_path / "lineward.yaml"
    path.write_text(GUARDED[2] + f"  - {{name: other, sha256: {OTHER}}}\n")
    file = settled(path)
    path.write_text(GUARDED[2])
    assert [token.name for token in file.current().guard.tokens] == ["shop", "other"]
    assert "is the beginning of the file in force" in file.error
    path.write_text(f"{GUARDED[2]}...\n")

    assert [token.name for token in file.current().guard.tokens] == ["shop"]
    assert file.error is None


def test_files_without_a_line_break_at_their_end_are_policies(tmp_path):
    """Accept them: some editors and templates of Kubernetes write none."""
    old = (
        "owners: [{name: shop, slack: '#shop'}]\ndatasets: [{match: s3://lake/*, tier: important}]"
    )
    new = old.replace("important", "critical")
    file = after(tmp_path / "lineward.yaml", old, new)

    assert (file.current(), file.error) == (parse_policy(new), None)


def test_no_beginning_of_a_file_without_a_line_break_at_its_end_is_taken(tmp_path):
    """Cut at each byte."""
    old = "owners: [{name: shop, slack: S}]\ndatasets:\n- match: s3://lake/mart\n  tier: critical"
    path, policy = tmp_path / "lineward.yaml", parse_policy(old)
    for cut, file in after_each(path, old, list(beginnings(old))[1:]):
        assert (file.current(), bool(file.error)) == (policy, True), cut
