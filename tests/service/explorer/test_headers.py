"""Headers that restrict each page, compared exactly."""

import base64
import hashlib
import re

import pytest

from tests.service.explorer import estate


def _headers(answer):
    """Return all headers but the length."""
    return {name: text for name, text in answer.headers.items() if name != "content-length"}


@pytest.mark.parametrize(
    "path", ["/", "/datasets", f"/incidents/{estate.INCIDENT}", "/runs/none", "/login"]
)
def test_each_page_may_have_its_own_style_and_nothing_else(shop, path):
    """Forbid scripts, frames and foreign images, also on an error page, and cache nothing."""
    answer = shop.get(path)
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert _headers(answer) == {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": f"default-src 'none'; style-src 'sha256-{digest}';"
        " img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cache-control": "no-store",
    }


def test_an_error_of_the_api_may_load_nothing(shop):
    """Forbid all content, in case a browser shows the error as a page."""
    assert _headers(shop.get("/api/v1/runs/none")) == {
        "content-type": "application/problem+json",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
    }
