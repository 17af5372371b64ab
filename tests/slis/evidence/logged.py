"""Catalog, and event logs that passes read into it, a minute apart."""

from datetime import UTC, datetime, timedelta

from lineage.process.clock import from_micros
from slis.evidence import scan
from slis.meta import read_meta_number
from tests.slis.stream.spools import rows

_WRITTEN = """
    SELECT d.name FROM dataset d JOIN execution_io io ON io.dataset_key = d.dataset_key ORDER BY 1
"""


class Logged:
    """Catalog, and the folder of logs that it reads."""

    def __init__(self, spark, catalog, folder) -> None:
        self.spark, self.catalog = spark, catalog
        self.logs = folder / "event logs"
        self.logs.mkdir()
        self.scratch = folder / "unpacked"
        self.began = self.now = datetime.now(UTC)

    def scan(self, *others: str):
        """Run a pass, a minute after the one before, over the folder and others."""
        self.now += timedelta(minutes=1)
        folders = [*others, f"file:{self.logs}"]
        given = {"settle": timedelta(minutes=5), "scratch": self.scratch}
        return scan.scan_logs(self.spark, self.catalog, folders, self.now, **given)

    def written(self):
        """Return the names of the datasets in the logs."""
        return [name for (name,) in rows(self.catalog, _WRITTEN)]

    def last(self, name):
        """Return the number of the last pass that noted this, or None."""
        with self.catalog.connect() as connection:
            at = read_meta_number(connection, name)
        return None if at is None else (from_micros(at) - self.began) // timedelta(minutes=1)

    def unread(self):
        """Return the names of files and logs that the catalog lists as not read."""
        unread = "SELECT path FROM evidence_file WHERE bytes < 0 AND problem IS NOT NULL"
        return [path.rsplit("/", 1)[1] for (path,) in rows(self.catalog, unread)]
