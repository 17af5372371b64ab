"""Pipeline role: `python -m slis`.

One Spark session works off the spool and evaluates what it learned.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import structlog
from pyspark.sql import SparkSession

from lineage.catalog.revision import require_usable
from lineage.input_log.settings import KafkaLog, read_log, read_log_settings
from lineage.process.clock import system_clock
from lineage.process.disk import disk_problem
from lineage.process.environment import InvalidSettingError
from lineage.process.health import HEALTH
from lineage.process.health_port import serve_health
from lineage.process.role import await_catalog, begin_role, end_with_parent, stop_on_signals
from slis import settings
from slis.settings import PipelineSettings, SharedPaths
from slis.spark.session import describe_session, empty_scratch, spark_session
from slis.spark.session_settings import is_submitted

if TYPE_CHECKING:
    from slis.stream.log.input_log import InputLog

log = structlog.get_logger(__name__)

# The JVM's first start took four minutes at a load of 60 on two cores. Beyond this it hangs.
_OPEN_SECONDS = 900.0
_LOOK_SECONDS = 0.5


def main() -> int:
    """Run until SIGTERM or SIGINT.

    0 after a clean stop, 1 when the stream cannot go on, 2 for a wrong setting.
    """
    begin_role()
    if is_submitted():
        # SIGTERM ends spark-submit's JVM at once, and Python would wait for it without end. What is
        # lost is a batch that was not committed, which the next start repeats.
        end_with_parent(signal.SIGKILL)
    try:
        place, chosen, log_settings = (
            settings.read_place(),
            settings.read_pipeline_settings(),
            read_log(),
        )
        # In a container whose root is read-only, only a mounted folder can be made.
        place.data_dir.mkdir(parents=True, exist_ok=True)
        serve_health()
    except (InvalidSettingError, OSError) as error:
        log.error("setting_rejected", error=str(error))  # noqa: TRY400 - the message says all
        return 2
    stopped = stop_on_signals()
    opened = partial(
        spark_session,
        master=chosen.master,
        driver_memory=chosen.driver_memory,
        warehouse=place.data_dir / "warehouse",
        scratch=empty_scratch(place.scratch),
    )
    # Before the JVM: waiting for a catalog needs none.
    if not await_catalog(partial(require_usable, place.catalog), stopped):
        return 0
    opening = ThreadPoolExecutor(max_workers=1).submit(opened)
    code = 1
    try:
        code = _run(opening, place, chosen, stopped, log_settings)
    except Exception as error:
        with suppress(OSError):  # the log may be on a disk that is full
            log.exception("pipeline_failed", error=str(error))
    if not opening.done():
        os._exit(code)  # the thread that waits for Spark would outlive any other end
    return code


def _run(
    opening: Future[SparkSession],
    place: SharedPaths,
    chosen: PipelineSettings,
    stopped: Event,
    log_settings: KafkaLog | None,
) -> int:
    # These take two seconds to import, in which Spark's JVM starts.
    from lineage.catalog.engine import migrate, open_catalog  # noqa: PLC0415
    from lineage.catalog.policy_notes import StoredAccess  # noqa: PLC0415
    from lineage.catalog.trouble import CatalogError  # noqa: PLC0415
    from lineage.policy.file import PolicyFile  # noqa: PLC0415
    from lineage.policy.reading import PolicyError  # noqa: PLC0415
    from slis.pipeline import Pipeline  # noqa: PLC0415
    from slis.stream.running import PipelineStoppedError  # noqa: PLC0415

    engine = open_catalog(place.catalog)
    try:
        migrate(engine)
        stored = StoredAccess(place.catalog)
        stored.look()
        policy = PolicyFile(place.policy, access_before=stored)
        source = _open_log(log_settings, place, chosen)
        pipeline = Pipeline(engine, place, chosen, system_clock, policy=policy, source=source)
        pipeline.run(partial(_opened, opening, place.data_dir), stopped)
    except InvalidSettingError as error:
        log.error("setting_rejected", error=str(error))  # noqa: TRY400 - the message says all
        return 2
    except PolicyError as error:
        log.error("policy_rejected", error=str(error))  # noqa: TRY400 - the message says all
        return 2
    except CatalogError as error:
        HEALTH.fail("catalog", str(error))
        log.error("catalog_failed", error=str(error))  # noqa: TRY400 - the message says all
        return 1
    except PipelineStoppedError as error:
        HEALTH.fail("stream", str(error))
        log.error("pipeline_stopped", error=str(error))  # noqa: TRY400 - the message says all
        return 1
    finally:
        engine.dispose()
    return 0


def _open_log(
    log_settings: KafkaLog | None, place: SharedPaths, chosen: PipelineSettings
) -> "InputLog":
    """Return the log that feeds the catalog; raises as `_topic`."""
    from slis.stream.log.spool_log import SpoolLog  # noqa: PLC0415 - loads Spark's Python

    if log_settings is None:
        return SpoolLog(place, read_log_settings().replaces)
    return _topic(log_settings, chosen)


def _topic(log_settings: KafkaLog, chosen: PipelineSettings) -> "InputLog":
    """Return the topic as the pipeline's log.

    Raises:
        InvalidSettingError: its client does not take the settings.
    """
    from confluent_kafka import KafkaException  # noqa: PLC0415 - where a topic is the log

    from slis.stream.kafka.log import TopicLog  # noqa: PLC0415 - as above

    try:
        return TopicLog(log_settings, system_clock, most_bytes=chosen.max_bytes)
    except KafkaException as error:
        # A setting's value may be a password: only the kind of the fault is logged.
        message = f"LINEWARD_LOG_CONFIG_FILE: {error.args[0].name()}"
        raise InvalidSettingError(message) from None


def _opened(
    opening: Future[SparkSession], data_dir: Path, look: Callable[[], None]
) -> SparkSession:
    """Wait for Spark, and report that as life for as long as a slow start may take.

    Calls `look` meanwhile.

    Ends the process where the disk is full meanwhile: Java could not write the file that reports
    Python its port, which Python waits for without end.
    """
    deadline = time.monotonic() + _OPEN_SECONDS
    while not wait([opening], timeout=_LOOK_SECONDS).done:
        if problem := disk_problem(data_dir):
            HEALTH.fail("spark", problem)
            log.error("spark_not_started", error=problem)
            os._exit(1)  # the thread that waits would outlive any other end
        if time.monotonic() < deadline:
            HEALTH.beat()
        look()
    session = opening.result()
    log.info("spark_opened", **describe_session(session))
    return session


if __name__ == "__main__":
    sys.exit(main())
