"""A day of a few chains, and what its listeners have posted by some second of it."""

import json
from collections import Counter

from runbooks.gameday.live.estate import chains
from runbooks.gameday.live.running import Running
from runbooks.gameday.model import MICROS

BEGINS = 1_795_000_000 * MICROS
ESTATE = chains(1, 4, BEGINS)


def at(second: float) -> int:
    """So many seconds into the day."""
    return BEGINS + round(second * MICROS)


def begun() -> Running:
    """The chains, from the first second on."""
    return Running(ESTATE, BEGINS)


def told(bodies: list[bytes]) -> Counter[tuple[str, str]]:
    """How often each (state of a run, dataset that it writes) was posted."""
    events = [json.loads(body) for body in bodies]
    return Counter(
        (event["eventType"], out["name"]) for event in events for out in event["outputs"]
    )


def written(bodies: list[bytes]) -> set[str]:
    """Datasets of which a whole write was told."""
    return {name for state, name in told(bodies) if state == "COMPLETE"}
