"""Place of a game day: a folder, and a Spark session of its own."""

from pathlib import Path

from lab.gameday.driver.saved_run import SavedRun
from lab.gameday.driver.state_changes import OnDays, replay_history
from lab.gameday.estate import Shape, build_estate
from lab.gameday.faults import plan_faults
from lab.gameday.policy import build_policy
from lab.gameday.truth_shapes import INJECTED_KINDS, InjectedKind
from service.errors import RejectedInputError
from slis.spark import garbage_collection
from slis.spark.session import spark_session

_MEMORY = "2g"  # a month of runs is in the catalog, on disk; a day at a minute is what Spark holds


def replay_days(
    place: Path,
    shape: Shape,
    faults: int,
    kinds: tuple[InjectedKind, ...] = INJECTED_KINDS,
    *,
    on_days: OnDays = lambda _: None,
) -> SavedRun:
    """Replay a game day.

    Args:
        place: folder that is empty or not there.
        shape: of the estate.
        faults: how many are done to it.
        kinds: of them.
        on_days: called with how many days of the month are replayed.

    Raises:
        RejectedInputError: there is something in the folder.
        ValueError: there is no room for so many faults in such an estate.
    """
    if place.exists() and any(place.iterdir()):
        raise RejectedInputError(f"{place} is not empty: name another folder, or use --reuse")
    # A lack of room is an error before Spark starts.
    estate = build_estate(shape)
    day = plan_faults(estate, faults, kinds)
    kept = SavedRun(place)
    kept.begin(shape, day, build_policy(estate, day.suppressions))
    spark = spark_session(driver_memory=_MEMORY, warehouse=place / "warehouse")
    garbage_collection.freeze_objects()
    try:
        replay_history(spark, kept, estate, day.injected, on_days)
    finally:
        spark.stop()
    return kept
