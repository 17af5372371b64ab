import pytest

from service.runtime.supervised_role import Liveness


@pytest.fixture
def liveness():
    """Return the state of a role that may be silent for 60 s, and has answered once."""
    liveness = Liveness(60)
    liveness.checked(answered=True)
    return liveness


def _miss(liveness, times):
    for _ in range(times):
        liveness.checked(answered=False)
    return liveness.is_hung()


def test_a_silent_role_is_hung_after_its_time(liveness):
    assert not _miss(liveness, 11)
    assert _miss(liveness, 1)
    assert liveness.silent_seconds == 60


def test_one_answer_begins_the_count_again(liveness):
    _miss(liveness, 11)
    liveness.checked(answered=True)

    assert not _miss(liveness, 11)


def test_a_role_that_starts_has_five_times_as_long():
    starting = Liveness(60)

    assert not _miss(starting, 59)
    assert _miss(starting, 1)


def test_each_restart_doubles_the_time_up_to_eight_times(liveness):
    """Give a role more time that is only slow, instead of restarting it in a loop."""
    allowed = []
    for _ in range(5):
        liveness.given_up()
        liveness.checked(answered=True)
        allowed.append(liveness.allowed)

    assert allowed == [24, 48, 96, 96, 96]


def test_ten_healthy_minutes_bring_the_first_time_back(liveness):
    liveness.given_up()
    for _ in range(119):
        liveness.checked(answered=True)
    assert liveness.allowed == 24
    liveness.checked(answered=True)

    assert liveness.allowed == 12
