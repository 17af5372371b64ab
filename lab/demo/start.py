"""Command that runs the demo: its settings, its folder, and its end."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from lab.demo.lineward_up import LinewardUp
from lab.demo.spark import EVENT_LOGS
from lab.demo.story import Story
from service.errors import RejectedInputError
from service.runtime.roles import with_free_ports
from service.runtime.settings import Settings, read_settings

DEMO_POLICY = Path(__file__).with_name("lineward.yaml")


def run_demo(*, once: bool, data_dir: Path | None) -> int:
    """Run the demo; the exit status.

    Args:
        once: end when all is shown, instead of staying up until Ctrl-C.
        data_dir: an empty folder, or one to be made; it stays. None: a temporary one, which goes.

    Raises:
        OccupiedError: one of the ports is in use.
        RejectedInputError: the folder is not empty, or settings point at a Lineward in use.
        StepFailedError: a step did not come to its end, or a state did not occur.
    """
    settings = with_free_ports(_of_a_demo(read_settings()))
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _folder(data_dir) as folder:
            own = {"data_dir": folder / "lineward", "policy": DEMO_POLICY}
            settings = msgspec.structs.replace(settings, **own)
            home = LinewardUp(settings, folder / "up.log", folder / "shop" / EVENT_LOGS)
            Story(folder, home).play(once=once)
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGTERM, previous)
    return 0


def _of_a_demo(settings: Settings) -> Settings:
    """Return the settings if they name no real catalog, lake or Marquez: the shop is made up."""
    real = settings.catalog_url, settings.lake_settings.url, settings.marquez_url
    if any(real) or settings.collector_token_file:
        message = (
            "the demo has a catalog of its own: unset LINEWARD_CATALOG_URL, LINEWARD_LAKE_URL,"
            " LINEWARD_COLLECTOR_TOKEN_FILE and LINEWARD_MARQUEZ_URL"
        )
        raise RejectedInputError(message)
    return settings


@contextmanager
def _folder(data_dir: Path | None) -> Iterator[Path]:
    if data_dir is not None:
        data_dir.mkdir(parents=True, exist_ok=True)
        if any(data_dir.iterdir()):
            raise RejectedInputError(f"{data_dir} is not empty: the demo needs a folder of its own")
        yield data_dir.resolve()
        return
    folder = Path(tempfile.mkdtemp(prefix="lineward-demo-")).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
