"""Rows of results: each column is an attribute of its row."""

from collections import namedtuple
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, Final, Literal, Protocol, TypeVar, cast

import msgspec

_Shape = TypeVar("_Shape", bound=msgspec.Struct)
_MOST_SHAPES: Final = 1_024  # more than the queries of the product


class Row(Protocol):
    """Row of a result: `row.name` is the column that its query calls `name`.

    Positions end at the second column. mypy rejects `row[2]`, which stands for another column
    as soon as one is added before it.
    """

    def __getattr__(self, column: str, /) -> Any:  # noqa: ANN401 - as the database has it
        """Return the value of a column."""
        ...

    def __getitem__(self, place: Literal[0, 1], /) -> Any:  # noqa: ANN401 - as the database has it
        """Return the value of the first or the second column."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the values, in the order of the query."""
        ...

    def __len__(self) -> int:
        """Count the columns."""
        ...


def name_rows(columns: Sequence[str], rows: Iterable[Any]) -> list[Row]:
    """Return rows whose values are attributes, called as the columns of the result."""
    # Without Python's code for each row: `_make` of a named tuple takes a third longer.
    made = map(tuple.__new__, repeat(_row_type(tuple(columns))), rows)
    return cast("list[Row]", list(made))


@lru_cache(maxsize=_MOST_SHAPES)
def _row_type(columns: tuple[str, ...]) -> type[tuple[Any, ...]]:
    return namedtuple("Row", columns, rename=True)  # noqa: PYI024 - columns of any query


def convert_row(shape: type[_Shape], row: Row) -> _Shape:
    """Return a row as this shape, whose fields are called as columns of the row."""
    return shape(**{name: getattr(row, name) for name in shape.__struct_fields__})


def convert_rows(shape: type[_Shape], rows: Iterable[Row]) -> list[_Shape]:
    """Return rows as objects of this shape, as `convert_row`."""
    return [convert_row(shape, row) for row in rows]


def pairs_of(rows: Iterable[Row]) -> dict[Any, Any]:
    """Return rows of two columns as a mapping from the first to the second."""
    return {row[0]: row[1] for row in rows}
