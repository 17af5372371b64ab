"""What a browser is told with each page that it must not do, word for word."""

import base64
import hashlib
import re

import pytest

from tests.service.explorer import estate


def _told(answer):
    """All headers but the length, which is the page's own."""
    return {name: text for name, text in answer.headers.items() if name != "content-length"}


@pytest.mark.parametrize(
    "path", ["/", "/datasets", f"/incidents/{estate.INCIDENT}", "/runs/none", "/login"]
)
def test_each_page_may_have_its_own_style_and_nothing_else(shop, path):
    """No script, no frame, no picture but the icon in it; kept nowhere; also of a refusal."""
    answer = shop.get(path)
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert _told(answer) == {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": f"default-src 'none'; style-src 'sha256-{digest}';"
        " img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cache-control": "no-store",
    }


def test_a_refusal_of_the_api_may_have_nothing_at_all(shop):
    """It is no page; whoever makes one of it finds nothing to run."""
    assert _told(shop.get("/api/v1/runs/none")) == {
        "content-type": "application/problem+json",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
    }
