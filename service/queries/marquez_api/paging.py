"""Pages of lists as Marquez asks for them, and what an answer says of its length."""

from typing import Final, TypeVar

import msgspec

MOST_LIMIT: Final = 1_000
MOST_COUNTED: Final = 100_000
_Item = TypeVar("_Item")


class PageRange(msgspec.Struct, frozen=True):
    """Page of a list."""

    limit: int
    offset: int

    @property
    def values(self) -> dict[str, int]:
        """Return the parameters of `LIMIT_AND_OFFSET`."""
        return {"limit": self.limit, "offset": self.offset}

    def cut(self, items: list[_Item]) -> list[_Item]:
        """Return the items of the page."""
        return items[self.offset : self.offset + self.limit]


LIMIT_AND_OFFSET: Final = "LIMIT CAST(:limit AS BIGINT) OFFSET CAST(:offset AS BIGINT)"


def count_up_to(rows: str) -> str:
    """Return the question how many rows another has, up to one more than `MOST_COUNTED`."""
    return f"SELECT COUNT(*) FROM ({rows} LIMIT {MOST_COUNTED + 1}) AS counted"  # noqa: S608 - SQL of ours


def capped_total(found: int, what: str) -> tuple[int, str | None]:
    """Return the `totalCount` of a capped count, and the reason if it was cut."""
    if found <= MOST_COUNTED:
        return found, None
    return MOST_COUNTED, f"totalCount stops at {MOST_COUNTED:,} {what}"
