"""Pages in a real browser, wide and narrow, light and dark, with names that break pages."""

import hashlib
import os
from pathlib import Path
from typing import Self
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.service import shop
from tests.service.explorer import estate
from tests.service.explorer.conftest import serving

_SIZES = {"wide": (1280, 800), "narrow": (390, 844)}
_SERIOUS = ("serious", "critical")
_FILE = "tests/service/explorer/test_in_chromium.py"
_IS_DARK = """() => {
  const of = getComputedStyle(document.body);
  const [page, text] = [of.backgroundColor, of.color].map(
    (each) => each.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0));
  return page < text;
}"""


def _dataset(name):
    return "/dataset?" + urlencode({"dataset_namespace": shop.NAMESPACE, "dataset": name})


PAGES = {
    "overview": "/",
    "datasets": "/datasets",
    "found": "/datasets?" + urlencode({"find": "<img"}),
    "none": "/datasets?" + urlencode({"find": '"><script>alert(3)</script>'}),
    "dataset": _dataset(shop.CORE),
    "markup": _dataset(estate.MARKUP),
    "long": _dataset(estate.LONG),
    "right-to-left": _dataset(estate.RIGHT_TO_LEFT),
    "incidents": "/incidents?all=true",
    "incident": f"/incidents/{estate.INCIDENT}",
    "run": f"/runs/{shop.RUN_ID}",
    "diff": f"/runs/{estate.EARLIER_RUN}/diff/{estate.ROOT_RUN}",
    "jobs": "/jobs",
    "access-audit": "/access-audit",
    "rejected": "/rejected-events",
    "pipeline-errors": "/pipeline-errors",
    "unsourced": "/unsourced-reads",
    "set-aside": "/set-aside-events?all=true",
    "login": "/login",
    "unknown": _dataset(estate.MARKUP + "!"),
}


class Seen:
    """Page as a browser shows it, with all complaints of the browser."""

    def __init__(self, browser, size, scheme="light", *, script=True) -> None:
        width, height = _SIZES[size]
        self._context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            java_script_enabled=script,
            bypass_csp=False,
        )
        self.page = self._context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda each: self.complaints.append(each.text))
        self.page.on("pageerror", lambda each: self.complaints.append(str(each)))
        self.page.on("dialog", self._dialog)

    def _dialog(self, dialog):
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()


def _keep(page, name):
    """Save a screenshot to the folder in LINEWARD_PICTURES, if it is set."""
    folder = os.environ.get("LINEWARD_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def _nightly(size, scheme):
    test = f"{_FILE}::test_every_page_is_accessible_and_fits_the_window[wide-light]"
    return pytest.param(size, scheme, marks=pytest.mark.nightly(short=test))


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        *[("wide", "light"), ("narrow", "dark")],
        *[_nightly("wide", "dark"), _nightly("narrow", "light")],
    ],
)
def test_every_page_is_accessible_and_fits_the_window(browser, address, size, scheme):
    """Find no dialog, console message, horizontal overflow or serious finding of axe.

    Pages are dark or light as the browser prefers.
    """
    found, is_dark = {}, set()
    for name, path in PAGES.items():
        with Seen(browser, size, scheme) as seen:
            status = seen.page.goto(address + path).status
            wide = seen.page.evaluate("document.documentElement.scrollWidth")
            is_dark.add(seen.page.evaluate(_IS_DARK))
            _keep(seen.page, f"{name}-{size}-{scheme}")
            # Chromium itself says in the console that a page is not there.
            texts = [each for each in seen.complaints if status == 200 or "404" not in each]
            findings = [
                (each["id"], [node["target"] for node in each["nodes"]][:3])
                for each in Axe().run(seen.page).response["violations"]
                if each["impact"] in _SERIOUS
            ]
        if texts or findings or wide > _SIZES[size][0]:
            found[name] = (texts, findings, wide)

    assert (found, is_dark) == ({}, {scheme == "dark"})


def test_overview_fits_the_screen_without_scrolling(browser, address):
    """Show overall state, incidents, acknowledgements and every SLI at 1280 by 800."""
    with Seen(browser, "wide") as seen:
        seen.page.goto(address)
        high = seen.page.evaluate("document.documentElement.scrollHeight")
        answer = seen.page.inner_text("main")
        named = seen.page.inner_html("main")

    assert high <= 800
    assert "leader elected 3 h ago" in answer
    assert f"Leader: {estate.LEADER}" in named
    assert "Degraded" in answer
    assert "job etl fails" in answer
    assert "nobody" in answer
    assert all(f"M{number}" in answer for number in (1, 2, "3a", "3b", 4, 5, 6, 7, 8, 9, 10))


def test_phone_shows_acknowledgement_without_horizontal_scrolling(browser, address):
    """Show the column on the overview and in the list, also beside long incident names."""
    with Seen(browser, "narrow") as seen:
        for path in ("/", "/incidents"):
            seen.page.goto(address + path)
            found = seen.page.locator("td .state", has_text="nobody").first.bounding_box()
            assert found["x"] + found["width"] <= _SIZES["narrow"][0], path


def test_keyboard_reaches_every_link_with_a_visible_focus(browser, address):
    """Skip the header by the first key, and name each box of the graph as a link."""
    with Seen(browser, "wide") as seen:
        seen.page.goto(address + PAGES["dataset"])
        seen.page.keyboard.press("Tab")
        first = seen.page.evaluate("document.activeElement.innerText")
        seen.page.keyboard.press("Enter")
        where = seen.page.evaluate("document.activeElement.id")
        boxes = seen.page.locator("svg a")
        names = [boxes.nth(at).get_attribute("aria-label") for at in range(boxes.count())]
        boxes.first.focus()
        outline = seen.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_url("**/dataset?**")

    assert (first, where, outline) == ("Skip to the content", "main", "solid")
    assert "core/orders, bad, this dataset" in names
    assert len(names) == 4 + len(estate.HOSTILE)


def test_pages_work_without_scripts_and_explain_a_rejected_form(browser, address):
    """Search, follow links and send forms, and get a page for a rejected form."""
    with Seen(browser, "narrow", script=False) as seen:
        seen.page.goto(address)
        seen.page.fill("input[type=search]", "core/ord")
        seen.page.press("input[type=search]", "Enter")
        seen.page.click("text=core/orders")
        seen.page.click(".messages a")
        heading = seen.page.inner_text("h1")
        seen.page.click("text=Escalate")
        seen.page.wait_for_url("**/incidents/**")
        answer = seen.page.inner_text("main")

    assert heading.startswith("job etl fails")
    assert "waits for the leading service" in answer


def test_a_browser_signs_in_and_out(browser, embedded, tmp_path):
    """Use forms only: from the requested page, back to it, and out again."""
    token = "boss-0123456789abcdef"  # noqa: S105 - of this test
    digest = hashlib.sha256(token.encode()).hexdigest()
    policy = f"access: {{tokens: [{{name: boss, sha256: {digest}, roles: [admin]}}]}}\n"
    (tmp_path / "lineward.yaml").write_text(policy)
    estate.fill(embedded)
    with serving(tmp_path) as port, Seen(browser, "narrow", script=False) as seen:
        first = seen.page.goto(f"http://127.0.0.1:{port}{PAGES['dataset']}").status
        seen.page.fill("input[type=password]", token)
        seen.page.click("main button")
        seen.page.wait_for_url("**/dataset?**")
        heading, who = seen.page.inner_text("h1"), seen.page.inner_text("footer bdi")
        (cookie,) = seen.page.context.cookies()
        seen.page.click("text=Sign out")
        seen.page.wait_for_url("**/login")
        left = seen.page.context.cookies()

    assert (first, heading.split()[0], who) == (401, "core/orders", "boss")
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    assert left == []
