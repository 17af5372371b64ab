"""Links and paths of documents lead to a file or heading; the index lists each page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_NAMED_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+\.md(?:#[^)\s]*)?)\)")
_ROW = re.compile(r"(?m)^\| \[[^\]]*\]\(([^)\s#]+)\)")
_FENCE = re.compile(r"(?ms)^( *)```.*?^ *```")
_CODE = re.compile(r"`[^`\n]*`")
_HEADING = re.compile(r"(?m)^#+ +(.+?) *$")
_TOPS = "|".join(sorted(one.name for one in ROOT.iterdir() if (one / "__init__.py").is_file()))
_PATH = re.compile(rf"`((?:{_TOPS}|docs|helm|scripts|tests)/[^`\s]*)`")
_PLACEHOLDER = re.compile(r"[A-Z]{3,}|[…{<$]")
FOLDERS = [ROOT / "docs", ROOT / "docs" / "kubernetes"]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])
PRESENT = [one for one in DOCUMENTS if one.name != "CHANGELOG.md"]  # which names former files


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


def missing_paths(text: str) -> list[str]:
    """Return the paths in backticks that no file has; `*` stands for a part of a name."""
    found = [one for one in _PATH.findall(text) if not _PLACEHOLDER.search(one)]
    return [one for one in found if not any(ROOT.glob(one.partition("::")[0].rstrip("/")))]


def pages_without_a_place(index: str, folder: Path) -> list[str]:
    """Return the pages of a folder that the tables of its index do not list exactly once.

    The index lists the first page of a folder inside it, and that page lists the others.
    """
    pages = {*folder.glob("*.md"), *folder.glob("*/README.md")} - {folder / "README.md"}
    names = {page.relative_to(folder).as_posix() for page in pages}
    return sorted(name for name in names if _ROW.findall(index).count(name) != 1)


def pages_by_name() -> dict[str, Path]:
    """Return each page by its title and by the name of its file, in small letters."""
    found = {
        _HEADING.findall(one.read_text("utf-8"))[0].lstrip("# ").lower(): one for one in PRESENT
    }
    return {one.stem.replace("-", " "): one for one in PRESENT if one.stem != "README"} | found


def misnamed_links(document: Path, text: str) -> list[str]:
    """Return the links whose text is the name of another page than the one they lead to."""
    pages = pages_by_name()
    return [
        f"[{words}]({link})"
        for words, link in _NAMED_LINK.findall(_FENCE.sub("", text))
        if (page := pages.get(words.strip("`").lower())) is not None
        and "://" not in link
        and page != (document.parent / link.partition("#")[0]).resolve()
    ]


@pytest.mark.parametrize("document", PRESENT, ids=lambda one: str(one.relative_to(ROOT)))
def test_a_link_with_the_name_of_a_page_leads_there(document: Path):
    """Reject `[Operations](settings.md)`."""
    assert misnamed_links(document, document.read_text("utf-8")) == []


def test_a_misnamed_link_is_found():
    assert misnamed_links(ROOT / "docs" / "x.md", "[Operations](settings.md) [lake](lake.md)") == [
        "[Operations](settings.md)"
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda one: one.name)
def test_index_lists_each_page_once(folder: Path):
    """Find each page in the reading order of its folder."""
    assert pages_without_a_place((folder / "README.md").read_text("utf-8"), folder) == []


def test_index_without_a_page_is_found():
    """Find a page that is missing from the index, and one that is there twice."""
    index = (ROOT / "docs" / "README.md").read_text("utf-8")

    doubled = index.replace("(slis.md)", "(api.md)").replace("(kubernetes/README.md)", "(x.md)")
    found = pages_without_a_place(doubled, ROOT / "docs")
    assert found == ["api.md", "kubernetes/README.md", "slis.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: str(one.relative_to(ROOT)))
def test_no_link_of_a_document_is_dead(document: Path):
    """Find each file and each heading."""
    assert dead_links(document, document.read_text("utf-8")) == []


@pytest.mark.parametrize("document", PRESENT, ids=lambda one: str(one.relative_to(ROOT)))
def test_documents_name_existing_paths(document: Path):
    """Find each path, with patterns expanded."""
    assert missing_paths(document.read_text("utf-8")) == []


def test_missing_path_is_found():
    """Run the mutants: a missing file, and a pattern that no file matches."""
    text = "`service/cli/`, `tests/suite/test_l*.py::test_a`, `alerts/NAME.py`, `slis/no.py`"

    assert missing_paths(f"{text} `service/api/routes/*_pages.py`") == [
        "slis/no.py",
        "service/api/routes/*_pages.py",
    ]


def test_a_dead_link_is_found():
    """Run the mutants: a missing file and a missing heading."""
    text = "[a](README.md) [b](nowhere.md) [c](README.md#nothing-of-this-name) [d](https://x.y)"

    found = dead_links(ROOT / "CONTRIBUTING.md", text)
    assert found == ["nowhere.md", "README.md#nothing-of-this-name"]


def test_each_test_of_the_guarantees_exists():
    """Look for a short name in the folder of the whole name before it, in the same row."""
    rows = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8").splitlines()
    assert [name for row in rows for name in _absent_tests(row)] == []


def _absent_tests(row):
    folder = Path()
    for name in map(Path, re.findall(r"`([\w/]+\.py)`", row)):
        folder = name.parent if len(name.parts) > 1 else folder
        if not (ROOT / folder / name.name).exists():
            yield str(name)
