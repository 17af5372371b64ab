"""What a message may be, and that it comes out of the outbox as it went in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.notify.channels.name import parse_channel
from alerts.notify.message import Impacted, from_json, to_json
from tests.alerts.notify.messages import full_message, message


def test_a_message_comes_back_as_it_was():
    """The outbox keeps it as JSON."""
    assert from_json(to_json(full_message())) == full_message()


@given(st.text(alphabet=st.characters()))
def test_any_text_can_be_kept(text):
    """Lone surrogates and NUL included: no name may break the transaction of its incident."""
    kept = to_json(message(what=text))

    assert "\x00" not in kept
    assert from_json(kept).what == text.encode(errors="replace").decode()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"incident_id": ""}, "incident_id: 1 to 255 characters, got 0"),
        ({"incident_id": "x" * 256}, "incident_id: 1 to 255 characters, got 256"),
        ({"revision": 0}, "revision: 1 or more, got 0"),
        ({"impacted": (Impacted("n", "d", "t", "s"),) * 11}, "impacted: 10 at most, got 11"),
    ],
)
def test_what_no_channel_could_keep_apart_is_refused(wrong, said):
    """Where it is made, with field and value."""
    with pytest.raises(ValueError, match=said):
        message(**wrong)


@pytest.mark.parametrize("name", ["slack", "slack:", ":C1", ""])
def test_a_channel_has_a_kind_and_a_target(name):
    """One that is neither is refused with its name."""
    with pytest.raises(ValueError, match="expected kind:target"):
        parse_channel(name)
