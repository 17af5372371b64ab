"""Limits of a message, which the outbox returns unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.notify.channels.name import parse_channel
from alerts.notify.message import Impacted, from_json, to_json
from alerts.notify.sentences import dataset_line
from tests.alerts.notify.messages import full_message, message


def test_message_is_read_as_it_was_stored():
    """Store it as JSON."""
    assert from_json(to_json(full_message())) == full_message()


@given(st.text(alphabet=st.characters()))
def test_any_text_can_be_stored(text):
    """Include lone surrogates and NUL: no name may break the transaction of its incident."""
    kept = to_json(message(what=text))

    assert "\x00" not in kept
    assert from_json(kept).what == text.encode(errors="replace").decode()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"incident_id": ""}, "incident_id: 1 to 255 characters, got 0"),
        ({"incident_id": "x" * 256}, "incident_id: 1 to 255 characters, got 256"),
        ({"revision": 0}, "revision: 1 or more, got 0"),
        ({"impacted": (Impacted("n", "d", "t", "s"),) * 11}, "impacted: 10 at most, got 11"),
    ],
)
def test_message_without_a_valid_identity_is_rejected(wrong, error):
    """Name the field and the value."""
    with pytest.raises(ValueError, match=error):
        message(**wrong)


@pytest.mark.parametrize("name", ["slack", "slack:", ":C1", ""])
def test_channel_has_a_kind_and_a_target(name):
    """Reject any other name."""
    with pytest.raises(ValueError, match="expected kind:target"):
        parse_channel(name)


@pytest.mark.parametrize(
    ("namespace", "name", "shown"),
    [("s3://shop", "core/orders", "s3://shop/core/orders"), ("file", "/lake/a", "file/lake/a")],
)
def test_a_dataset_is_named_as_commands_take_it(namespace, name, shown):
    """Join both parts by one slash, so that the name can be pasted."""
    assert dataset_line(Impacted(namespace, name, "critical", "bad")) == f"critical: {shown} (bad)"
