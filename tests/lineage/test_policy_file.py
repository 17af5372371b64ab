"""The policy's file while others edit it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lineage.policy import DEFAULT, PolicyError, PolicyFile, load, parse

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
    """A monotonic clock that stands until it is told."""

    now = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


def settled(path):
    """A policy whose file is taken at its first look."""
    return PolicyFile(path, settle_seconds=0)


def test_an_invalid_file_never_replaces_a_valid_one(tmp_path):
    """The old policy stays in force, the error can be shown, and a corrected file is taken."""
    path = tmp_path / "lineward.yaml"
    path.write_text("retention_days: 7")
    file = settled(path)

    path.write_text("retention_days: never")
    assert (file.current().retention_days, file.error) == (
        7,
        "lineward.yaml:1: $.retention_days: expected int, got str: 'never'",
    )
    path.write_text("retention_days: 30")
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
    """A file is empty for a moment while it is rewritten, and a key of a ConfigMap may be."""
    path = tmp_path / "lineward.yaml"
    path.write_text("retention_days: 7")
    file = settled(path)
    path.write_text(text)

    assert file.current().retention_days == 7
    assert file.error is not None
    assert file.standing().hash == file.current().hash
    with pytest.raises(PolicyError, match=r"lineward\.yaml:[12]: "):
        load(path)


def test_an_empty_file_at_the_start_is_rejected_with_a_sentence(tmp_path):
    """It says what to write instead."""
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
    """Whatever YAML makes of it, it is a policy that is rejected."""
    path = tmp_path / "lineward.yaml"
    path.write_text(text)

    with pytest.raises(PolicyError, match=r"lineward\.yaml:[12]: "):
        load(path)


def test_an_invalid_file_at_the_start_is_rejected(tmp_path):
    """There is no older one to keep: better no start than the wrong alerts."""
    path = tmp_path / "lineward.yaml"
    path.write_text("tiers: {}")

    with pytest.raises(PolicyError, match=r"lineward.yaml:1: \$.tiers: unknown key"):
        PolicyFile(path)
    with pytest.raises(PolicyError, match="cannot be read"):
        load(tmp_path / "absent.yaml")
    assert PolicyFile(None).current() is DEFAULT


def test_a_role_that_may_start_without_a_policy_takes_the_first_valid_one(tmp_path):
    """Until then it has none, and says why."""
    path = tmp_path / "lineward.yaml"
    path.write_text("tiers: {}")
    file = PolicyFile(path, may_start_wrong=True, settle_seconds=0)

    with pytest.raises(PolicyError, match="unknown key"):
        file.current()
    assert file.standing().hash is None
    path.write_text("retention_days: 30")
    assert file.current().retention_days == 30
    assert file.standing().error is None


def test_a_file_is_taken_once_it_has_not_changed_for_a_second(tmp_path):
    """Whoever writes in steps is not read between two of them."""
    path, clock = tmp_path / "lineward.yaml", Clock()
    path.write_text("retention_days: 7")
    file = PolicyFile(path, monotonic=clock)

    path.write_text("retention_days: 30")
    assert file.current().retention_days == 7
    clock.now = 0.9
    path.write_text("retention_days: 300")
    assert file.current().retention_days == 7
    clock.now = 1.8
    assert file.current().retention_days == 7
    clock.now = 2.0
    assert file.current().retention_days == 300


@pytest.mark.parametrize("whole", GUARDED)
def test_no_beginning_of_a_guarded_policy_lets_anybody_in(tmp_path, whole):
    """At each byte: rejected, or guarded by tokens that were there, with all their restrictions."""
    path = tmp_path / "lineward.yaml"
    path.write_text(whole)
    tokens = set(parse(whole).guard.tokens)

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
    """A new version that is cut may say less, but never that anybody may ask."""
    path = tmp_path_factory.mktemp("policy") / "lineward.yaml"
    path.write_text(whole)
    file = settled(path)
    path.write_text(other[: int(len(other) * share)])

    assert file.current().guard is not None


@pytest.mark.parametrize("text", ["retention_days: 30", "owners: []", "{}"])
def test_a_lost_access_section_is_rejected_by_name(tmp_path, text):
    """Mutant: a policy that takes it opens the API to everybody."""
    path = tmp_path / "lineward.yaml"
    path.write_text(GUARDED[0])
    file = settled(path)
    path.write_text(text)

    assert file.current().guard is not None
    assert file.error == (
        "lineward.yaml: the section access is gone: to let anybody ask, write `access: off`"
    )


@pytest.mark.parametrize("off", ["off", "false", "no", '"off"', "Off", "OFF"])
def test_access_off_opens_the_api(tmp_path, off):
    """Somebody who means it says so."""
    path = tmp_path / "lineward.yaml"
    path.write_text(GUARDED[0])
    file = settled(path)
    path.write_text(f"access: {off}\n")

    assert (file.current().guard, file.error) == (None, None)


@pytest.mark.parametrize("on", ["on", "true", "0", "o", "of", "''", "[]", "{off: 1}"])
def test_what_is_not_off_does_not_open(on):
    """A beginning of the word, a number and the opposite are errors."""
    with pytest.raises(PolicyError, match=r"\$.access"):
        parse(f"access: {on}\n")


def test_a_token_is_taken_out_by_its_last_lines(tmp_path):
    """The file is then the beginning of the one in force, and the token no longer counts."""
    path = tmp_path / "lineward.yaml"
    path.write_text(GUARDED[2] + f"  - {{name: other, sha256: {OTHER}}}\n")
    file = settled(path)
    path.write_text(GUARDED[2])

    assert [token.name for token in file.current().guard.tokens] == ["shop"]
    assert file.error is None
