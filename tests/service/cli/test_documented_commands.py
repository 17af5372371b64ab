"""Headings and commands of docs/cli.md, compared with the help."""

import re
from pathlib import Path

from service.cli.commands.command_table import COMMANDS

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "cli.md"
_SECTION = re.compile(r"(?ms)^## ([^\n]+)\n\n\| command \| does \|\n\|---\|---\|\n(.*?)\n(?!\|)")


def _list_commands(page: str) -> dict[str, list[str]]:
    """Return the commands of each section that has a table of them, each once, in order."""
    return {
        heading: list(dict.fromkeys(re.findall(r"(?m)^\| `([\w-]+)", rows)))
        for heading, rows in _SECTION.findall(page)
    }


def test_the_page_has_the_headings_and_the_order_of_the_help():
    """Compare each heading with its commands; mutants: a renamed heading, a missing row."""
    panels: dict[str, list[str]] = {}
    for name, entry in COMMANDS.items():
        panels.setdefault(entry.purpose, []).append(name)
    page = _PAGE.read_text("utf-8")

    documented = _list_commands(page)
    assert documented == panels
    assert list(documented) == list(panels)
    assert _list_commands(page.replace("## Set up", "## Prepare")) != panels
    assert _list_commands(page.replace("| `slis` |", "| slis |")) != panels
