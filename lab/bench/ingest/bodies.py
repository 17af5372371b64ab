"""Bodies that the benchmark sends: the mix of producers, and single sizes."""

import json
import random
import uuid
from typing import Any, Final, NamedTuple

from lab.bench.ingest import other_shapes as other
from lab.bench.ingest import spark_shapes as spark
from lab.bench.ingest.facets import BENCH_RUN_ID

MIX: Final = "mix"
_ID_DIGITS = 12
_SEED = 1


class Body(NamedTuple):
    """Body before and after the digits by which an event differs from the others."""

    before: bytes
    after: bytes

    @property
    def size(self) -> int:
        """Return the bytes of an event."""
        return len(self.before) + _ID_DIGITS + len(self.after)

    def event(self, number: int) -> bytes:
        """Return the event of this number."""
        return b"%s%012x%s" % (self.before, number, self.after)


def load(name: str) -> list[Body]:
    """Return the bodies of a load, in the order in which they are sent again and again.

    Args:
        name: `mix`, or a size of `SIZES`.
    """
    own = str(uuid.uuid4())[:-_ID_DIGITS]
    if name != MIX:
        return [_body(SIZES[name], own)]
    order = [body for event, weight in _mixed() for body in [_body(event, own)] * weight]
    random.Random(_SEED).shuffle(order)  # noqa: S311 - any fixed order
    return order


# Each size by itself: an average hides what a large event costs.
SIZES: Final[dict[str, dict[str, Any]]] = {
    "1 kB": spark.application("COMPLETE"),
    "4 kB": spark.query("COMPLETE", "3.5.6", 10, inputs=0),
    "21 kB": spark.query("COMPLETE", "4.0.1", 46),
    "100 kB": spark.query("COMPLETE", "4.0.1", 250),
}


def _mixed() -> list[tuple[dict[str, Any], int]]:
    """Return the events of the mix with their shares of a hundred."""
    return [
        (other.task("START"), 12),
        (other.task("COMPLETE", columns=6), 11),
        (other.task("FAIL", columns=6), 1),
        (other.model("START", 10), 9),
        (other.model("COMPLETE", 10), 7),
        (other.model("COMPLETE", 30), 2),
        (other.assertions(20), 5),
        (other.stream("START"), 1),
        (other.stream("RUNNING"), 7),
        (other.owned_job(), 2),
        (spark.application("START"), 4),
        (spark.application("COMPLETE"), 4),
        (spark.query("START", "3.5.6", 10, lineage=False, plan=2), 6),
        (spark.query("COMPLETE", "3.5.6", 10, inputs=1), 6),
        (spark.query("COMPLETE", "3.5.6", 60, plan=4), 1),
        (spark.query("COMPLETE", "4.0.1", 300, inputs=1), 1),
        (spark.query("START", "4.0.1", 10, lineage=False), 6),
        (spark.query("COMPLETE", "4.0.1", 10, inputs=1), 6),
        (spark.query("COMPLETE", "4.0.1", 66), 1),
        (spark.micro_batch("START"), 4),
        (spark.micro_batch("COMPLETE"), 4),
    ]


def _body(event: dict[str, Any], own: str) -> Body:
    before, _, after = _written(event).partition(BENCH_RUN_ID)
    return Body(f"{before}{own}".encode(), after.encode())


def _written(event: dict[str, Any]) -> str:
    """Return the event as the client of its producer writes it."""
    if event["producer"].endswith(("/airflow", "/dbt")):
        return json.dumps(event)  # Python's: spaces, and numbers for other letters than English
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False)
