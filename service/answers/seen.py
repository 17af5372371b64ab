"""Which namespaces may be seen, as a condition of a question: pages are cut after it."""

from typing import Final

from lineage.catalog.reader import Reader
from service.access.sight import Sight

UNSEEN: Final = "some of it may not be seen with this token"


def seen(reader: Reader, sight: Sight, *, table: str = "dataset") -> tuple[str, dict[str, str]]:
    """A condition on a dataset `d`, and its values: namespaces are few, and listed.

    Args:
        reader: of the catalog.
        sight: of the one who asks.
        table: `d` in the question; a `dataset`, or another with names.
    """
    if sight.is_whole:
        return "1 = 1", {}
    rows = reader.rows(f"SELECT DISTINCT namespace FROM {table}")  # noqa: S608 - a constant
    names = [row[0] for row in rows if sight.sees(row[0])]
    values = {f"seen_{n}": name for n, name in enumerate(names)}
    listed = ", ".join(f":{name}" for name in values)
    return (f"d.namespace IN ({listed})" if names else "1 = 0"), values
