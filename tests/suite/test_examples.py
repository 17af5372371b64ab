import pytest

from tests.suite.examples import examples


@pytest.mark.parametrize(
    ("setting", "nightly", "tried"),
    [(None, 600, 50), ("all", 600, 600), (None, 20, 20), ("all", 20, 20)],
)
def test_repeated_examples_are_left_to_the_nightly_run(monkeypatch, setting, nightly, tried):
    """Try as many as a test asks for, if it asks for fewer."""
    monkeypatch.delenv("LINEWARD_EXAMPLES", raising=False)
    if setting:
        monkeypatch.setenv("LINEWARD_EXAMPLES", setting)

    assert examples(nightly) == tried
