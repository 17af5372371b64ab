"""Which namespaces may be seen, as a condition of a question: pages are cut after it."""

from lineage.catalog.reader import Reader
from service.access.sight import Sight

_NAMESPACES = "SELECT DISTINCT namespace FROM dataset"


def seen(reader: Reader, sight: Sight) -> tuple[str, dict[str, str]]:
    """A condition on a dataset `d`, and its values: namespaces are few, and listed."""
    if sight.is_whole:
        return "1 = 1", {}
    names = [row[0] for row in reader.rows(_NAMESPACES) if sight.sees(row[0])]
    values = {f"seen_{n}": name for n, name in enumerate(names)}
    listed = ", ".join(f":{name}" for name in values)
    return (f"d.namespace IN ({listed})" if names else "1 = 0"), values
