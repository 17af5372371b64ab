"""The pipeline: `python -m slis`.

One Spark session works off the spool and evaluates what it learned.
"""

import signal
import sys
from threading import Event
from types import FrameType

import structlog

from lineage.catalog.engine import migrate, open_catalog
from lineage.clock import system_clock
from lineage.environment import InvalidSettingError
from lineage.policy.reading import PolicyError
from slis import settings
from slis.pipeline import Pipeline, PipelineStoppedError

log = structlog.get_logger(__name__)


def main() -> int:
    """Run until SIGTERM or SIGINT.

    0 after a clean stop, 1 when the stream cannot go on, 2 for a wrong setting.
    """
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger("info"),
    )
    try:
        place, chosen = settings.read_place(), settings.read()
    except InvalidSettingError as error:
        log.error("setting_refused", error=str(error))  # noqa: TRY400 - the message says all
        return 2
    stopped = Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    place.data_dir.mkdir(parents=True, exist_ok=True)
    engine = open_catalog(place.catalog)
    migrate(engine)
    try:
        Pipeline(engine, place, chosen, system_clock).run(stopped)
    except PolicyError as error:
        log.error("policy_refused", error=str(error))  # noqa: TRY400 - the message says all
        return 2
    except PipelineStoppedError as error:
        log.error("pipeline_stopped", error=str(error))  # noqa: TRY400 - the message says all
        return 1
    finally:
        engine.dispose()
    return 0


if __name__ == "__main__":
    sys.exit(main())
