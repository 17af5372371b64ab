"""Day of a few chains, and the events that its listeners have posted by some second."""

import json
from collections import Counter

from lab.gameday.live.estate import chains
from lab.gameday.live.running import RunningChains
from lineage.process.clock import SECOND_MICROS

BEGINS = 1_795_000_000 * SECOND_MICROS
ESTATE = chains(1, 4, BEGINS)


def at(second: float) -> int:
    """Return so many seconds into the day."""
    return BEGINS + round(second * SECOND_MICROS)


def build_chains() -> RunningChains:
    """Build the chains, from the first second on."""
    return RunningChains(ESTATE, BEGINS)


def count_reported(bodies: list[bytes]) -> Counter[tuple[str, str]]:
    """Count the posted events by (state of a run, dataset that it writes)."""
    events = [json.loads(body) for body in bodies]
    return Counter(
        (event["eventType"], out["name"]) for event in events for out in event["outputs"]
    )


def list_written(bodies: list[bytes]) -> set[str]:
    """Return the datasets of which a whole write was reported."""
    return {name for state, name in count_reported(bodies) if state == "COMPLETE"}
