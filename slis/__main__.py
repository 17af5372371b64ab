"""The pipeline: `python -m slis`.

One Spark session works off the spool and evaluates what it learned.
"""

import signal
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Event
from types import FrameType

import structlog
from pyspark.sql import SparkSession

from lineage.clock import system_clock
from lineage.environment import InvalidSettingError
from lineage.logs import log_to_stderr
from slis import settings
from slis.scratch import sweep
from slis.session import open_session
from slis.settings import Place, Settings

log = structlog.get_logger(__name__)


def main() -> int:
    """Run until SIGTERM or SIGINT.

    0 after a clean stop, 1 when the stream cannot go on, 2 for a wrong setting.
    """
    log_to_stderr()
    try:
        place, chosen = settings.read_place(), settings.read()
    except InvalidSettingError as error:
        log.error("setting_refused", error=str(error))  # noqa: TRY400 - the message says all
        return 2
    stopped = _stopped_by_signals()
    place.data_dir.mkdir(parents=True, exist_ok=True)
    opened = partial(
        open_session,
        master=chosen.master,
        driver_memory=chosen.driver_memory,
        warehouse=place.data_dir / "warehouse",
        scratch=sweep(place.scratch),
    )
    with ThreadPoolExecutor(max_workers=1) as threads:
        return _run(threads.submit(opened), place, chosen, stopped)


def _run(opening: Future[SparkSession], place: Place, chosen: Settings, stopped: Event) -> int:
    # These take two seconds to import, in which Spark's JVM starts.
    from lineage.catalog.engine import migrate, open_catalog  # noqa: PLC0415
    from lineage.policy.reading import PolicyError  # noqa: PLC0415
    from slis.pipeline import Pipeline  # noqa: PLC0415
    from slis.stream.running import PipelineStoppedError  # noqa: PLC0415

    engine = open_catalog(place.catalog)
    try:
        migrate(engine)
        Pipeline(engine, place, chosen, system_clock).run(opening.result(), stopped)
    except PolicyError as error:
        log.error("policy_refused", error=str(error))  # noqa: TRY400 - the message says all
        return 2
    except PipelineStoppedError as error:
        log.error("pipeline_stopped", error=str(error))  # noqa: TRY400 - the message says all
        return 1
    finally:
        engine.dispose()
    return 0


def _stopped_by_signals() -> Event:
    stopped = Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return stopped


if __name__ == "__main__":
    sys.exit(main())
