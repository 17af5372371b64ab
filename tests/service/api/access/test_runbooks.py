import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from litestar.testing import TestClient

from runbooks.html import RUNBOOK_CONTENT_POLICY, markdown_page, page_html
from runbooks.library import RUNBOOKS_PATH, page_names
from service.api.access import served_counts
from service.api.app import create_app
from service.runtime.settings import Settings

pytestmark = pytest.mark.postgres_nightly


@pytest.fixture
def client() -> Iterator[TestClient]:
    """Start the API on a machine without data."""
    with TestClient(create_app(Settings()), base_url="http://127.0.0.1") as client:
        yield client


def test_every_page_is_served_at_the_address_in_alerts(client):
    """Serve HTML with the name as heading, before there is a catalog."""
    for name in sorted(page_names()):
        answer = client.get(f"{RUNBOOKS_PATH}/{name}")

        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/html")
        assert f"<title>{name}</title>" in answer.text


@pytest.mark.parametrize("path", [RUNBOOKS_PATH, f"{RUNBOOKS_PATH}/"])
def test_the_list_links_to_every_page(client, path):
    """Serve the list with and without a slash at the end."""
    text = client.get(path).text

    assert all(f'href="{RUNBOOKS_PATH}/{name}"' in text for name in page_names())


def test_an_unknown_page_is_404(client):
    """Serve no file beside the pages or above them."""
    for name in ("nothing", "failed.md", "..%2Flibrary.py", "%2e%2e%2flibrary", "a" * 300):
        assert client.get(f"{RUNBOOKS_PATH}/{name}").status_code == 404


def test_a_page_may_load_and_run_nothing(client):
    """Send one policy that forbids scripts, frames and foreign content, and forbid sniffing."""
    answer = client.get(f"{RUNBOOKS_PATH}/failed")

    assert answer.headers.get_list("content-security-policy") == [RUNBOOK_CONTENT_POLICY]
    assert RUNBOOK_CONTENT_POLICY.startswith("default-src 'none'; style-src 'sha256-")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<script" not in answer.text


def test_markup_inside_a_page_is_text():
    """Escape raw HTML, and make no link from a script."""
    html = markdown_page("<script>alert(1)</script>\n\n[x](javascript:alert(1)) <b onclick=x>")

    assert "<script" not in html
    assert "<b" not in html
    assert "href" not in html


@pytest.mark.postgres_always
def test_pages_are_open_beside_a_guarded_api_and_not_counted(estate):
    """Open links of PagerDuty without a token, an audit row or a count of M10."""
    answers = [
        estate.get(f"{RUNBOOKS_PATH}/failed", who=None),
        estate.get(f"{RUNBOOKS_PATH}/", who=None),
    ]
    estate.judge()

    assert [answer.status_code for answer in answers] == [200, 200]
    assert estate.rows("SELECT count(*) FROM access_audit") == [(0,)]
    assert estate.m10 is None
    assert estate.counts("lineage_access_unauthorized") == {}


def test_a_counter_that_does_not_know_the_pages_would_call_them_unauthorized(estate, monkeypatch):
    """Run the mutant: forget the open paths in one of the two places."""
    estate.get("/api/v1/slis")  # access is guarded from here on
    monkeypatch.setattr(served_counts, "OPEN_PATHS", served_counts.re.compile("/livez"))
    estate.get(f"{RUNBOOKS_PATH}/failed", who=None)
    estate.judge()

    assert estate.counts("lineage_access_unauthorized") == {"unaudited": 1.0}


def test_a_path_that_begins_like_a_page_is_not_open(estate):
    """Compare the whole path."""
    assert served_counts.OPEN_PATHS.fullmatch(f"{RUNBOOKS_PATH}/failed")
    for path in (
        f"{RUNBOOKS_PATH}/../api/v1/slis",
        f"{RUNBOOKS_PATH}/a/b",
        f"{RUNBOOKS_PATH}x",
        f"{RUNBOOKS_PATH}//api",
        "/livez/x",
    ):
        assert served_counts.OPEN_PATHS.fullmatch(path) is None
        assert estate.get(path, who=None).status_code in (401, 404)


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = page_html("LinewardScrapeDown").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", RUNBOOK_CONTENT_POLICY)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    """Return the address of a server for one page with its headers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def test_a_phone_shows_a_page_without_scrolling_aside(address):
    """Render in real Chromium at 390 points: styles apply, and nothing is blocked."""
    playwright = pytest.importorskip("playwright.sync_api")
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    if binary is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 844})
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(address)
        wide = page.evaluate("document.documentElement.scrollWidth")
        font = page.evaluate("getComputedStyle(document.querySelector('pre code')).fontSize")
        heading = page.inner_text("h1")
        browser.close()

    assert (heading, wide, font) == ("LinewardScrapeDown", 390, "14px")
    assert [one for one in complaints if "favicon" not in one] == []
