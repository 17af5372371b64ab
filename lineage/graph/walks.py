"""Result of a walk along lineage, in the catalog or in memory."""

from typing import Final

import msgspec

# By position in the walk's keys: a list is looked up in a tenth of a dictionary's time.
Edge = tuple[int, int, str]  # from, to, job: in the direction of the walk
Responsible = tuple[str, str | None]  # the tier of what was found, and its owner
NOBODY: Final = -1


class Walk(msgspec.Struct):
    """Breadth-first walk: the datasets found, and the edges between them.

    Attributes:
        keys: of the datasets, in the order of finding, the starts first; all else is by position
            in it.
        finders: of each dataset who found it, before it; of a start `NOBODY`.
        edges: between what was found, no dataset to itself; those of one level by dataset.
        hidden: next to each, the keys of what may not be seen: the walk ends there.
        cut: why there is more than this, in words.
    """

    keys: list[int]
    finders: list[int]
    edges: list[Edge]
    hidden: dict[int, set[int]]
    cut: str | None = None

    def depths(self) -> list[int]:
        """Return the hops to each dataset."""
        depths: list[int] = []
        for finder in self.finders:
            depths.append(0 if finder == NOBODY else depths[finder] + 1)
        return depths

    def ends(self) -> list[tuple[int, int]]:
        """Return the keys of each edge: from, to."""
        return [(self.keys[here], self.keys[other]) for here, other, _ in self.edges]

    def hidden_next_to(self, position: int) -> int:
        """Count the hidden neighbours of this dataset."""
        return len(self.hidden.get(position, ()))


def too_many(most: int) -> str:
    """Return why a walk is cut that found more than its limit."""
    return f"more than {most} datasets"


def too_deep(depth: int) -> str:
    """Return why a walk is cut that has further to go."""
    return f"there are more beyond depth {depth}"
