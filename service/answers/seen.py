"""Which namespaces may be seen, as a condition of a question: pages are cut after it."""

from typing import Final

from lineage.catalog.reader import Reader
from service.access.sight import Sight

UNSEEN: Final = "some of it may not be seen with this token"

# What several names are known as is shown to those who may see each of them: whoever joins two
# names by an event shows nothing to anybody.
_EVERY_NAME = """
  AND NOT EXISTS (SELECT 1 FROM dataset m WHERE m.canonical_key = d.canonical_key
    AND m.namespace NOT IN ({listed}))"""
_JOINED = """
SELECT canonical_key, namespace FROM dataset WHERE canonical_key <> dataset_key
UNION SELECT m.canonical_key, c.namespace FROM dataset m
  JOIN dataset c ON c.dataset_key = m.canonical_key WHERE m.canonical_key <> m.dataset_key
"""


def seen(reader: Reader, sight: Sight, *, table: str = "dataset") -> tuple[str, dict[str, str]]:
    """A condition on a dataset `d`, and its values: namespaces are few, and listed.

    Args:
        reader: of the catalog.
        sight: of the one who asks.
        table: `d` in the question; a `dataset`, or another with names.
    """
    if sight.is_whole:
        return "1 = 1", {}
    every_name = _EVERY_NAME if table == "dataset" else ""
    rows = reader.rows(f"SELECT DISTINCT namespace FROM {table}")  # noqa: S608 - a constant
    names = [row[0] for row in rows if sight.sees(row[0])]
    values = {f"seen_{n}": name for n, name in enumerate(names)}
    listed = ", ".join(f":{name}" for name in values)
    if not names:
        return "1 = 0", values
    return f"(d.namespace IN ({listed}){every_name.format(listed=listed)})", values


def hidden_keys(reader: Reader, sight: Sight) -> list[int]:
    """Return the datasets that have some name out of sight, whatever they are called."""
    if sight.is_whole:
        return []
    return sorted({key for key, namespace in reader.rows(_JOINED) if not sight.sees(namespace)})
