"""Pictures of `make pictures`: pages of the explorer in the demo, for `docs/pictures`.

Errors of jobs name the folder of this checkout: it stands in the pictures.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

from playwright.sync_api import Browser, sync_playwright

from tests.e2e.demos import start_demo
from tests.service.commandline import lineward
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
Scheme = Literal["light", "dark"]
_WIDE, _NARROW = (1280, 800), (390, 844)


def take() -> None:
    """Take all pictures, and replace the old ones."""
    FOLDER.mkdir(exist_ok=True)
    # Names of datasets begin with the folder: a short, neutral one.
    shop = Path(tempfile.gettempdir()) / "shop"
    with (
        tempfile.TemporaryDirectory() as temporary,
        start_demo(Path(temporary), "--data-dir", str(shop)) as demo,
        sync_playwright() as started,
    ):
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox"],
        )
        at = f"http://127.0.0.1:{demo.ports['pages']}"
        until(lambda: _failed_incident(at))
        for name, path in _pages(at).items():
            _picture(browser, at + path, name)
        _picture(browser, f"{at}/", "overview-dark", scheme="dark")
        _picture(browser, f"{at}/", "overview-narrow", is_narrow=True)
        browser.close()
        for command in ("lineage", "why"):
            _text(command, "core/orders", "--data-dir", str(shop / "lineward"))
    shutil.rmtree(shop)


def _picture(
    browser: Browser, address: str, name: str, *, is_narrow: bool = False, scheme: Scheme = "light"
) -> None:
    width, height = _NARROW if is_narrow else _WIDE
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    # Show the first page without a scroll, and the others whole.
    page.screenshot(path=FOLDER / f"{name}.png", full_page=not name.startswith("overview"))
    context.close()


def _text(command: str, *given: str) -> None:
    """Write the output of a command, as the README shows it."""
    done = lineward(command, *given)
    done.check_returncode()
    (FOLDER / f"{command}.txt").write_text(done.stdout)


def _pages(at: str) -> dict[str, str]:
    """Return paths by name; the ids are those of the demo."""
    runs = _get_json(at, "runs", dataset="mart/churn")["runs"]
    failed = next(run["run_id"] for run in runs if run["status"] == "FAIL")
    good = next(run["run_id"] for run in runs if run["status"] == "COMPLETE")
    return {
        "overview": "/",
        "datasets": "/datasets",
        "dataset": "/dataset?" + urlencode({"dataset": "mart/churn"}),
        "incidents": "/incidents?all=true",
        "incident": f"/incidents/{_failed_incident(at)}",
        "run": f"/runs/{failed}",
        "diff": f"/runs/{good}/diff/{failed}",
        "runbook": "/runbooks/failed",
        "login": "/login",
    }


def _failed_incident(at: str) -> str | None:
    """Return the incident of the killed job, once it is notified."""
    every = _get_json(at, "incidents")["incidents"]
    return next(
        (each["id"] for each in every if (each["kind"], each["state"]) == ("failed", "open")), None
    )


def _get_json(at: str, path: str, **asked: str) -> dict[str, Any]:
    answer = CLIENT.get(f"{at}/api/v1/{path}", params=asked, timeout=30)
    return dict(answer.raise_for_status().json())


if __name__ == "__main__":
    take()
