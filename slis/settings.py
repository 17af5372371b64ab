"""Settings of the pipeline; every default is safe."""

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from lineage.lake.settings import LakeSettings, read_lake_settings
from lineage.lake.storage import Lake, open_lake
from lineage.process import environment
from lineage.process.setting_files import add_password

_Seconds = Annotated[float, Meta(gt=0)]
_Memory = Annotated[
    str, Meta(pattern=r"^[0-9]+[mgMG]$", description="a number with m or g, such as 2g")
]
_Days = Annotated[int, Meta(ge=1, le=3_650)]


class SharedPaths(msgspec.Struct, frozen=True, kw_only=True):
    """Places that roles share: `LINEWARD_` + field in capitals."""

    data_dir: Path = Path("lineward-data")
    policy: Path | None = None
    catalog_url: str | None = None  # none: SQLite in the data folder
    catalog_password_file: Path | None = None  # has the password of the URL's user
    lake_settings: LakeSettings = LakeSettings()

    @property
    def catalog(self) -> str:
        """URL of the catalog."""
        # SQLAlchemy, which `lineward up` does without.
        from lineage.catalog.engine import catalog_url  # noqa: PLC0415

        return self.catalog_url or catalog_url(self.data_dir)

    @property
    def spool(self) -> Path:
        """Return the path of the collector's spool."""
        return self.data_dir / "spool.db"

    @property
    def attempts(self) -> Path:
        """Return the path of the file that counts failures of the current range of events."""
        return self.data_dir / "attempts.json"

    @property
    def lake(self) -> Lake:
        """Return the folder of raw events, as Parquet."""
        return open_lake(self.data_dir, self.lake_settings)

    @property
    def control_lake(self) -> Lake:
        """Return the folder of the lake of a control event, for as long as it is tried."""
        return Lake(LakeSettings(), self.data_dir / "lake-control")

    @property
    def unpacked(self) -> Path:
        """Compressed event logs, unpacked for the pass that reads them."""
        return self.data_dir / "unpacked"

    @property
    def scratch(self) -> Path:
        """Temporary files of Spark, Java and Python, deleted at each start."""
        return self.data_dir / "scratch"


class PipelineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`LINEWARD_PIPELINE_` + field in capitals."""

    master: str = "local[2]"
    driver_memory: _Memory = "1536m"
    max_rows: Annotated[int, Meta(ge=1, le=200_000)] = 25_000  # events a batch
    # Of the bodies of a batch; a single event always fits.
    max_bytes: Annotated[int, Meta(ge=1, le=1 << 30)] = 128 << 20
    poll_seconds: _Seconds = 0.25  # how often the log is read, while no backlog waits
    evaluate_seconds: Annotated[float, Meta(ge=1)] = 15.0  # a long one at most that often
    # The service shows no figure older than 60 s: the next evaluation must land before that.
    evaluate_at_least_seconds: Annotated[float, Meta(ge=1)] = 40.0
    event_days: _Days = 7  # identities, against repeats
    write_days: _Days = 180
    audit_days: _Days = 400  # what people wanted, and what became of it
    history_days: _Days = 400  # hours of SLIs, edges, columns and schemas that are seen no more
    writes_a_dataset: Annotated[int, Meta(ge=10)] = 4_500  # that limits are learned from
    event_logs: str = ""  # folders of Spark event logs, as spark.eventLog.dir names them; by commas
    evidence_seconds: Annotated[float, Meta(ge=1)] = 60.0  # how often they are looked at
    # How long after a Spark execution its events may still come before they are missed.
    evidence_settle_seconds: Annotated[float, Meta(ge=0)] = 300.0

    @property
    def days(self) -> dict[str, int]:
        """Return how long the catalog keeps its rows."""
        return {
            "event_days": self.event_days,
            "write_days": self.write_days,
            "audit_days": self.audit_days,
            "history_days": self.history_days,
        }

    @property
    def event_log_folders(self) -> tuple[str, ...]:
        """Return the folders of Spark event logs; none: lineage is judged by itself alone."""
        return tuple(folder for part in self.event_logs.split(",") if (folder := part.strip()))


def read_place() -> SharedPaths:
    """Return where the roles meet, by the environment.

    Raises:
        InvalidSettingError: a value out of range.
    """
    place = environment.read(SharedPaths)
    url = add_password(place.catalog_url, place.catalog_password_file)
    return msgspec.structs.replace(place, lake_settings=read_lake_settings(), catalog_url=url)


def read_pipeline_settings() -> PipelineSettings:
    """Read the settings of this process.

    Raises:
        InvalidSettingError: an unknown variable, or a value out of range.
    """
    return environment.read(PipelineSettings, section="PIPELINE_")
