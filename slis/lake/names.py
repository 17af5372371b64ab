"""Names of the folders that batches and compactions write.

A name holds the epoch of the pipeline, the catalog that owns it, the range of events, and a random
part: no two tries write to the same folder. The release before looks at names that begin with the
kind: its service, which may still run for a while, leaves out the folders of this release.
"""

import re
from typing import Final
from uuid import uuid4

import msgspec

BATCH: Final = "batch"
COMPACTED: Final = "compacted"
_DIGITS: Final = 20
_NAME: Final = re.compile(
    r"(e(?P<epoch>\d+)-(?P<owner>[0-9a-f]{8})-)?"
    r"(?P<kind>batch|compacted|_unfinished)-(?P<first>\d+)-(?P<last>\d+)(-[0-9a-f]{8})?"
)


class FolderName(msgspec.Struct, frozen=True):
    """Name of a folder, taken apart.

    Attributes:
        text: the name.
        first_seq: the folder may hold events from here ...
        last_seq: ... to here.
        is_compacted: made of several batches.
        is_unfinished: of a compaction that an older release did not end.
        epoch: of the pipeline that wrote it; 0 for older releases.
        owner: of the catalog; None for older releases.
    """

    text: str
    first_seq: int
    last_seq: int
    is_compacted: bool
    is_unfinished: bool
    epoch: int
    owner: str | None


def make_owner() -> str:
    """Return what the folders of a new catalog are known by."""
    return uuid4().hex[:8]


def make_name(kind: str, first_seq: int, last_seq: int, *, epoch: int, owner: str) -> FolderName:
    """Return a name that no other folder has."""
    seqs = f"{first_seq:0{_DIGITS}}-{last_seq:0{_DIGITS}}"
    return FolderName(
        text=f"e{epoch}-{owner}-{kind}-{seqs}-{uuid4().hex[:8]}",
        first_seq=first_seq,
        last_seq=last_seq,
        is_compacted=kind == COMPACTED,
        is_unfinished=False,
        epoch=epoch,
        owner=owner,
    )


def parse_name(text: str) -> FolderName | None:
    """Return the parts of a name; None where it is none of ours."""
    found = _NAME.fullmatch(text)
    if found is None:
        return None
    return FolderName(
        text=text,
        first_seq=int(found["first"]),
        last_seq=int(found["last"]),
        is_compacted=found["kind"] == COMPACTED,
        is_unfinished=found["kind"].startswith("_"),
        epoch=int(found["epoch"] or 0),
        owner=found["owner"],
    )
