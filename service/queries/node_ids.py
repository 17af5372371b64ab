"""Node ids of Marquez: `dataset:NAMESPACE:NAME`, `job:NAMESPACE:NAME`.

A namespace may hold colons itself (`s3://bucket`, `postgres://host:5432`), and so may a name: the
catalog knows where the one ends.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal
from urllib.parse import unquote

import msgspec

from lineage.catalog.reader import CatalogReader
from service.api.access.visibility import Visibility
from service.errors import InvalidQuestionError, UnknownNodeError
from service.queries.dataset_lookup import Dataset, find_among

_MOST_COLONS = 32
_KINDS = re.compile(r"(dataset|job):(?=.*:)", re.DOTALL)
# Where Marquez cuts: not in `://`, nor before a port.
_LIKELY = re.compile(r":(?!//|\d)")
MOST_RUNS: Final = 5_000
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


def node_named(reader: CatalogReader, node_id: str, visibility: Visibility) -> Dataset | JobSummary:
    """Parse a node id.

    Raises:
        InvalidQuestionError: it is no id of a dataset or a job.
        UnknownNodeError: there is none, or it may not be seen.
    """
    kind = _KINDS.match(node_id)
    if kind is None:
        expected = "expected dataset:NAMESPACE:NAME or job:NAMESPACE:NAME"
        raise InvalidQuestionError(f"nodeId: {expected}, got {node_id[:80]!r}")
    rest = node_id[kind.end() :]
    # Some clients encode the parts once more than the query asks for.
    for text in dict.fromkeys((rest, unquote(rest))):
        pairs = list(_pairs(text))
        if kind[1] == "dataset":
            found: Dataset | JobSummary | None = find_among(reader, pairs, visibility)
        else:
            found = _job(reader, pairs, rest, visibility)
        if found is not None:
            return found
    raise unknown(kind[1], rest)


def unknown(kind: str, name: str) -> UnknownNodeError:
    """Return a rejection in the words of Marquez."""
    return UnknownNodeError(f"{kind.capitalize()} {name[:80]!r} not found.")


def node_id_of(kind: Literal["dataset", "job"], namespace: str, name: str) -> str:
    """Return the node id in the form of Marquez."""
    return f"{kind}:{namespace}:{name}"


def _job(
    reader: CatalogReader, pairs: list[tuple[str, str]], asked: str, visibility: Visibility
) -> JobSummary | None:
    for namespace, name in pairs:
        wanted = {"namespace": namespace, "name": name, "most": MOST_RUNS + 1}
        part = wanted | {"whole": name.partition(".")[0]}
        found = reader.rows(_RUNS, wanted)
        if not found and visibility.is_whole:  # The name of a part may name what is hidden.
            found = reader.rows(_RUNS_OF_PART, part)
        runs = [row[0] for row in found]
        if runs:
            return JobSummary(namespace, name, asked, runs[:MOST_RUNS], len(runs) > MOST_RUNS)
    return None


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to cut the text in two, the likeliest first."""
    likely = [found.start() for found in _LIKELY.finditer(text)]
    every = [at for at, letter in enumerate(text) if letter == ":"]
    for at in list(dict.fromkeys([*likely, *every]))[:_MOST_COLONS]:
        yield text[:at], text[at + 1 :]
