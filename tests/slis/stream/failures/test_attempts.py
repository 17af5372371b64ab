"""Tries of a range: they outlive the process, and lead to the event that fails."""

import msgspec
import pytest

from slis.stream.failures import attempts
from slis.stream.failures.attempts import Attempts, BatchAttempt
from slis.stream.log.spool_reader import BatchLimits

GIVEN = BatchLimits(rows=100, size=1_000)


@pytest.fixture
def path(tmp_path):
    """Return the file of tries."""
    return tmp_path / "attempts.json"


def _batch(tries, at, events):
    """Return the range that the limits leave of `events` that wait behind `at`."""
    limits = tries.limits(at, GIVEN)
    last_seq = min(at + min(limits.rows, events - at), limits.until)
    return at, last_seq, last_seq - at


def _search(path, events, odd, fail):
    """Land all events but the odd ones; return those, and how many tries there were."""
    tries, at, alone, count = Attempts(path), 0, [], 0
    while at < events:
        given = _batch(tries, at, events)
        attempt = tries.begin(*given)
        count += 1
        if attempt.is_alone:
            alone.append(given[1])
            tries.landed()
            at = given[1]
        elif any(given[0] < one <= given[1] for one in odd):
            tries = fail(tries)
        else:
            tries.landed()
            at = given[1]
    return alone, count


def _raise(tries):
    tries.failed("odd")
    return tries


@pytest.mark.parametrize("odd", [[1], [64], [37, 38], [100], [1, 50, 100], list(range(20, 31))])
def test_exactly_the_events_that_fail_are_found(path, odd):
    """Halve the range: each event costs two tries a halving, and the others land."""
    alone, count = _search(path, 100, odd, _raise)

    assert alone == odd
    assert count <= len(odd) * 2 * 9 + 20


@pytest.mark.parametrize("odd", [[1], [37], [100]])
def test_an_event_that_ends_the_process_is_found_too(path, odd):
    """Begin each try in a new process, which knows the last one by the file alone."""
    alone, _ = _search(path, 100, odd, lambda _: Attempts(path))

    assert alone == odd


def test_a_range_stays_the_same_while_more_events_come(path):
    """Keep the range: a longer one would count each second failure as a first one."""
    tries = Attempts(path)
    tries.begin(*_batch(tries, 0, 10))
    tries.failed("odd")

    assert _batch(tries, 0, 90) == (0, 10, 10)


def test_an_interrupted_try_counts_as_no_failure(path):
    """Keep the range as it is while a disk is full for a day."""
    tries = Attempts(path)
    for _ in range(50):
        tries.begin(0, 100, 100)
        tries.interrupted()

    assert tries.limits(0, GIVEN) == GIVEN


def test_a_process_that_the_kernel_ended_counts_as_no_failure(path, monkeypatch):
    """Ignore a process that the kernel killed for memory, and one that ended in order."""
    for kills in range(20):
        monkeypatch.setattr(attempts, "_kills", lambda kills=kills: kills)
        Attempts(path).begin(0, 1, 1)

    monkeypatch.setattr(attempts, "_kills", lambda: 20)
    assert not Attempts(path).begin(0, 1, 1).is_alone


def test_a_file_that_cannot_be_read_is_started_again(path):
    """Begin again with half a file, or a foreign one, and land events."""
    path.write_bytes(b'{"after_seq": 7')

    assert Attempts(path).limits(7, GIVEN) == GIVEN


def test_a_try_is_noted_before_it_is_made(path):
    """Store the try first; stored after it (mutant), a killed process would leave nothing."""
    Attempts(path).begin(3, 9, 6)

    noted = msgspec.json.decode(path.read_bytes(), type=BatchAttempt)
    assert (noted.after_seq, noted.last_seq, noted.is_running) == (3, 9, True)


def test_tries_of_another_log_are_ignored(path):
    """Begin again where the pipeline reads another topic; continue with the same one."""
    Attempts(path, "b/first").begin(3, 9, 6, {5: 100})

    assert Attempts(path, "b/second").limits(3, GIVEN) == GIVEN
    assert Attempts(path, "b/first").limits(3, GIVEN).ends == {5: 100}
