"""What the metrics say of room: of the catalog, and of the lake where it is beside us."""

from collections.abc import Iterator
from pathlib import Path

from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.catalog.reader import Reader
from lineage.lake import every
from service.settings import Settings

_POSTGRES = "SELECT pg_database_size(current_database())"


def size_figures(reader: Reader, settings: Settings) -> Iterator[Metric]:
    """The catalog's bytes; the lake's, where there is one in the data folder."""
    bytes_ = float(_catalog_bytes(reader, settings))
    yield GaugeMetricFamily("lineage_catalog_bytes", "Room that the catalog takes.", value=bytes_)
    lake = settings.data_dir / "lake"
    if lake.is_dir():
        sizes = list(_sizes(lake))
        text = "Room that the lake takes."
        yield GaugeMetricFamily("lineage_lake_bytes", text, value=float(sum(sizes)))
        text = "Its files: daily compaction makes few of many."
        yield GaugeMetricFamily("lineage_lake_files", text, value=float(len(sizes)))


def _catalog_bytes(reader: Reader, settings: Settings) -> int:
    if not settings.catalog.startswith("sqlite"):
        return int(reader.rows(_POSTGRES)[0][0])
    pages, size = (int(reader.rows(f"PRAGMA {name}")[0][0]) for name in ("page_count", "page_size"))
    return pages * size


def _sizes(lake: Path) -> Iterator[int]:
    for folder in every(lake):
        for path in folder.path.rglob("*.parquet"):
            try:
                yield path.stat().st_size
            except FileNotFoundError:
                continue  # it was compacted between the two
