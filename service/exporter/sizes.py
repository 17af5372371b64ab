"""Metrics of the size of the catalog and of the lake."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.catalog.reader import CatalogReader
from service.runtime.settings import Settings

# Files that compaction or retention will delete take room as well.
_LAKE = "SELECT coalesce(sum(bytes), 0), coalesce(sum(files), 0) FROM lake_folder"
_POSTGRES = "SELECT pg_database_size(current_database())"


def size_figures(reader: CatalogReader, settings: Settings) -> Iterator[Metric]:
    """Return the bytes of the catalog, and the bytes and files of the lake by its manifest."""
    bytes_ = float(_catalog_bytes(reader, settings))
    yield GaugeMetricFamily("lineage_catalog_bytes", "Size of the catalog.", value=bytes_)
    size, files = map(float, reader.rows(_LAKE)[0])
    yield GaugeMetricFamily("lineage_lake_bytes", "Size of the lake.", value=size)
    text = "Number of files in the lake; compaction reduces it."
    yield GaugeMetricFamily("lineage_lake_files", text, value=files)


def _catalog_bytes(reader: CatalogReader, settings: Settings) -> int:
    if not settings.catalog.startswith("sqlite"):
        return int(reader.rows(_POSTGRES)[0][0])
    pages, size = (int(reader.rows(f"PRAGMA {name}")[0][0]) for name in ("page_count", "page_size"))
    return pages * size
