"""What a walk along lineage found, wherever it was walked: in the catalog or in memory."""

import msgspec

Edge = tuple[int, int, str]  # from, to, job: in the direction of the walk


class Walk(msgspec.Struct):
    """A breadth-first walk: what was found, and the edges between it. By keys of datasets.

    Attributes:
        found_by: of each dataset who found it, in the order of finding; of a start nobody.
        edges: between what was found, no dataset to itself; those of one level by dataset.
        hidden: next to each, what may not be seen: the walk ends there.
        cut: why there is more than this, in words.
    """

    found_by: dict[int, int | None]
    edges: list[Edge]
    hidden: dict[int, set[int]]
    cut: str | None = None

    def depths(self) -> dict[int, int]:
        """Steps to each dataset, in the order of finding: whoever found it was found before."""
        depths: dict[int, int] = {}
        for key, finder in self.found_by.items():
            depths[key] = 0 if finder is None else depths[finder] + 1
        return depths

    def hidden_next_to(self, key: int) -> int:
        """How many datasets next to this one may not be seen."""
        return len(self.hidden.get(key, ()))


def too_many(most: int) -> str:
    """Why a walk is cut that found more than it may hold."""
    return f"more than {most} datasets"


def too_deep(depth: int) -> str:
    """Why a walk is cut that has further to go."""
    return f"more lies beyond depth {depth}"
