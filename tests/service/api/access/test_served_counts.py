"""Log of answers that wait to be judged."""

from service.api.access import served_counts
from service.api.access.served_counts import ServedLog, ServedResponse


def test_waiting_answers_stay_within_their_bound(monkeypatch):
    """Count answers beyond the bound as unknown while the catalog is away."""
    monkeypatch.setattr(served_counts, "_MOST_WAITING", 3)
    log = ServedLog()
    for turn in range(4):
        taken, lost = log.take()
        for number in range(2):
            log.add(ServedResponse(f"{turn} {number}", 0, 0))
        log.give_back(taken, lost)

    waiting, lost = log.take()

    assert [one.request_id for one in waiting] == ["0 0", "0 1", "1 0"]
    assert lost == 5
