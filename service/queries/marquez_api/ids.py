"""Ids that clients of Marquez use: of nodes, and UUIDs of what the catalog identifies otherwise.

A node is `dataset:NAMESPACE:NAME` or `job:NAMESPACE:NAME`. A namespace may hold colons itself
(`s3://bucket`, `postgres://host:5432`), and so may a name: the catalog knows where the one ends.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal
from urllib.parse import unquote
from uuid import UUID

import msgspec

from lineage.catalog.reader import CatalogReader
from lineage.errors import InvalidRequestError
from lineage.names.keys import key
from service.errors import UnknownNodeError
from service.queries.dataset_lookup import KnownDataset, find_among
from service.queries.visibility import Visibility

_MOST_COLONS = 32
_KINDS = re.compile(r"(dataset|job):(?=.*:)", re.DOTALL)
# Where Marquez cuts: not in `://`, nor before a port.
_LIKELY = re.compile(r":(?!//|\d)")
MOST_RUNS_OF_JOB: Final = 5_000
# A job is a root, a leaf, or a part of one: Spark names a part after its application.
# Each arm reads the newest runs in the order of its index.
_ARM = """
SELECT * FROM (SELECT run_key, first_event_at FROM run
  WHERE {part}_job_name = :name AND evidence {evidence} AND {part}_job_namespace = :namespace
  ORDER BY first_event_at DESC LIMIT :most) AS {part}_{number}
"""
_ARMS = " UNION ".join(
    _ARM.format(part=part, evidence=evidence, number=number)
    for part in ("root", "leaf")
    for number, evidence in enumerate(("IS NULL", "IS NOT NULL"))
)
_RUNS = f"""
SELECT run_key FROM ({_ARMS}) AS known ORDER BY first_event_at DESC LIMIT :most
"""  # noqa: S608 - constants only
_RUNS_OF_PART = """
SELECT run_key FROM run WHERE (root_job_name = :whole OR leaf_job_name = :whole)
AND job_name = :name AND job_namespace = :namespace ORDER BY first_event_at DESC LIMIT :most
"""

_VERSION, _VARIANT = 8, 0b10  # RFC 9562: a layout of our own
_LOW_BITS, _MIDDLE_BITS, _TIME_BITS = 62, 12, 54  # of 122: time, 6 unused bits, key
_LOW: Final = (1 << _LOW_BITS) - 1


class JobSummary(msgspec.Struct, frozen=True):
    """Job by its names, and its newest runs.

    Attributes:
        asked: how it was named; a rejection names no more than that.
        is_cut: it has older runs.
    """

    namespace: str
    name: str
    asked: str
    runs: list[int]
    is_cut: bool


def find_node(
    reader: CatalogReader, node_id: str, visibility: Visibility
) -> KnownDataset | JobSummary:
    """Parse a node id.

    Raises:
        InvalidRequestError: it is no id of a dataset or a job.
        UnknownNodeError: there is none, or it may not be seen.
    """
    kind = _KINDS.match(node_id)
    if kind is None:
        expected = "expected dataset:NAMESPACE:NAME or job:NAMESPACE:NAME"
        raise InvalidRequestError(f"nodeId: {expected}, got {node_id[:80]!r}")
    rest = node_id[kind.end() :]
    # Some clients encode the parts once more than the query asks for.
    for text in dict.fromkeys((rest, unquote(rest))):
        pairs = list(_pairs(text))
        if kind[1] == "dataset":
            found: KnownDataset | JobSummary | None = find_among(reader, pairs, visibility)
        else:
            found = _job(reader, pairs, rest, visibility)
        if found is not None:
            return found
    raise unknown_node(kind[1], rest)


def unknown_node(kind: str, name: str) -> UnknownNodeError:
    """Return a rejection in the words of Marquez."""
    return UnknownNodeError(f"{kind.capitalize()} {name[:80]!r} not found.")


def node_id_of(kind: Literal["dataset", "job"], namespace: str, name: str) -> str:
    """Return the node id in the form of Marquez."""
    return f"{kind}:{namespace}:{name}"


def _job(
    reader: CatalogReader, pairs: list[tuple[str, str]], asked: str, visibility: Visibility
) -> JobSummary | None:
    for namespace, name in pairs:
        wanted = {"namespace": namespace, "name": name, "most": MOST_RUNS_OF_JOB + 1}
        part = wanted | {"whole": name.partition(".")[0]}
        found = reader.rows(_RUNS, wanted)
        if not found and visibility.is_whole:  # The name of a part may name what is hidden.
            found = reader.rows(_RUNS_OF_PART, part)
        runs = [row[0] for row in found]
        if runs:
            return JobSummary(
                namespace, name, asked, runs[:MOST_RUNS_OF_JOB], len(runs) > MOST_RUNS_OF_JOB
            )
    return None


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to cut the text in two, the likeliest first."""
    likely = [found.start() for found in _LIKELY.finditer(text)]
    every = [at for at, letter in enumerate(text) if letter == ":"]
    for at in list(dict.fromkeys([*likely, *every]))[:_MOST_COLONS]:
        yield text[:at], text[at + 1 :]


def version_id(written_at: int, root_run_id: str) -> str:
    """Return the UUID of the version that a write made; newer versions have greater UUIDs."""
    return _uuid(written_at, key(root_run_id))


def written_at_of(version: str) -> int | None:
    """Return when the version was written, in µs; None if `version` is no UUID of a version."""
    try:
        given = UUID(version)
    except ValueError:
        return None
    if given.version != _VERSION:
        return None
    high = given.int >> 80
    middle = (given.int >> 64) & ((1 << _MIDDLE_BITS) - 1)
    return (high << _MIDDLE_BITS | middle) >> (48 + _MIDDLE_BITS - _TIME_BITS)


def schema_id(schema_key: int) -> str:
    """Return the UUID of a schema."""
    return _uuid(0, schema_key)


def job_id(namespace: str, name: str) -> str:
    """Return the UUID of a job."""
    return _uuid(0, key(namespace, name))


def _uuid(time: int, number: int) -> str:
    head = time << (48 + _MIDDLE_BITS - _TIME_BITS)
    high, middle = head >> _MIDDLE_BITS, head & ((1 << _MIDDLE_BITS) - 1)
    marks = _VERSION << 76 | _VARIANT << _LOW_BITS
    return str(UUID(int=high << 80 | middle << 64 | marks | number & _LOW))
