"""Relative links of documents lead to a file and a heading; the index lists each page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"(?ms)^( *)```.*?^ *```")
_CODE = re.compile(r"`[^`\n]*`")
_HEADING = re.compile(r"(?m)^#+ +(.+?) *$")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def dead_links(document: Path, text: str) -> list[str]:
    """Return the links of a document that lead nowhere."""
    links = _LINK.findall(_CODE.sub("", _FENCE.sub("", text)))
    return [one for one in links if "://" not in one and not _is_alive(document, one)]


def _is_alive(document: Path, link: str) -> bool:
    if link.startswith("mailto:"):
        return True
    path, _, anchor = link.partition("#")
    target = (document.parent / path) if path else document
    if not target.exists():
        return False
    if not anchor:
        return True
    return anchor in {anchor_of(one) for one in _HEADING.findall(target.read_text("utf-8"))}


def pages_without_a_place(index: str) -> list[str]:
    """Return the pages of `docs/` that an index does not link to exactly once."""
    links = [link.partition("#")[0] for link in _LINK.findall(index.partition("\n## ")[2])]
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    return sorted(page for page in pages if links.count(page) != 1)


def test_index_lists_each_page_once():
    """Find each page in the reading order."""
    index = (ROOT / "docs" / "README.md").read_text("utf-8")

    assert pages_without_a_place(index) == []


def test_index_without_a_page_is_found():
    """Find a page that is missing from the index, and one that is there twice."""
    index = (ROOT / "docs" / "README.md").read_text("utf-8")

    assert pages_without_a_place(index.replace("(slis.md)", "(api.md)")) == ["api.md", "slis.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: str(one.relative_to(ROOT)))
def test_no_link_of_a_document_is_dead(document: Path):
    """Find each file and each heading."""
    assert dead_links(document, document.read_text("utf-8")) == []


def test_a_dead_link_is_found():
    """Run the mutants: a missing file and a missing heading."""
    text = "[a](README.md) [b](nowhere.md) [c](README.md#nothing-of-this-name) [d](https://x.y)"

    found = dead_links(ROOT / "CONTRIBUTING.md", text)
    assert found == ["nowhere.md", "README.md#nothing-of-this-name"]
