"""Groups of datasets by the widest prefix that matches no other dataset."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from lineage.policy.public_holidays import Fit

_LEAST_GROUP: Final = 3  # fewer are named one by one
# A star or a brace in a name would make a pattern of it.
_PLAIN: Final = re.compile(r"[\w./:@+= -]*")
_STEP: Final = re.compile(r"[^/.]*[/.]")


class SeenDataset(msgspec.Struct, frozen=True):
    """Dataset as the catalog knows it."""

    key: int
    namespace: str
    name: str
    is_written: bool
    readers: int  # jobs that read it
    owner: str | None  # of its own facet, else of the jobs that write it
    owner_reason: str | None
    holidays: Fit | None = None  # that it keeps


class DatasetGroup(msgspec.Struct, frozen=True):
    """Datasets with one sign.

    Attributes:
        prefix: of all their names, and of no other dataset's; null: one dataset by its name.
    """

    members: Sequence[SeenDataset]
    prefix: str | None


_Sign = Callable[[SeenDataset], str | None]


def group_by_prefix(datasets: Sequence[SeenDataset], sign: _Sign) -> Iterator[DatasetGroup]:
    """Return groups of datasets of one namespace that have the same sign, the widest that hold.

    Args:
        datasets: all of which a prefix may speak.
        sign: what a group has alike.
    """
    by_namespace: dict[str, list[SeenDataset]] = defaultdict(list)
    for one in datasets:
        by_namespace[one.namespace].append(one)
    for members in by_namespace.values():
        yield from _split(members, "", sign)


def _split(members: Sequence[SeenDataset], prefix: str, sign: _Sign) -> Iterator[DatasetGroup]:
    if _is_group(members, prefix, sign):
        yield DatasetGroup(members, prefix)
        return
    deeper: dict[str | None, list[SeenDataset]] = defaultdict(list)
    for one in members:
        step = _STEP.match(one.name, len(prefix))
        deeper[step and prefix + step[0]].append(one)
    for below, each in deeper.items():
        if below is None:
            yield from (DatasetGroup([one], None) for one in each)
        else:
            yield from _split(each, below, sign)


def _is_group(members: Sequence[SeenDataset], prefix: str, sign: _Sign) -> bool:
    is_alike = len({sign(one) for one in members}) == 1
    is_plain = _PLAIN.fullmatch(members[0].namespace + prefix) is not None
    return len(members) >= _LEAST_GROUP and is_alike and is_plain
