"""Completions of the shell for an argument: names from the catalog, if there is one."""

import shlex

import typer

from lineage.catalog.queries import LISTED
from lineage.errors import RequestError
from service.cli.terminal import escape_control
from service.queries.catalog_session import open_session
from service.queries.datasets import escape_like
from service.runtime.settings import read_settings

_MOST = 50
# The second condition makes it exact: SQLite's LIKE does not mind case.
_NAMES = f"""
SELECT DISTINCT name FROM dataset WHERE {LISTED}
AND (name LIKE :begun || '%' ESCAPE '!' OR name LIKE '%/' || :begun || '%' ESCAPE '!'
  OR name LIKE '%.' || :begun || '%' ESCAPE '!')
AND (replace('/' || name, '/' || :typed, '') <> '/' || name
  OR replace(name, '.' || :typed, '') <> name)
ORDER BY name LIMIT :most
"""  # noqa: S608 - a constant


def complete_dataset(context: typer.Context, incomplete: str) -> list[str]:
    """Return whole names that begin so, and last parts that do; a shell has no use for an error.

    Names are from events: what a shell would not take as one plain word is not offered.
    """
    try:
        with open_session(read_settings(context.params.get("data_dir"))) as asked:
            typed = {"typed": incomplete, "begun": escape_like(incomplete), "most": _MOST}
            rows = asked.reader.rows(_NAMES, typed)
    except RequestError:
        return []
    offered = (_offered(name, incomplete) for (name,) in rows)
    return [name for name in dict.fromkeys(offered) if name and _is_plain(name)]


def _offered(name: str, incomplete: str) -> str:
    last = name.rpartition("/")[2]
    parts = (name, last, last.rpartition(".")[2])
    return next((part for part in parts if part.startswith(incomplete)), "")


def _is_plain(name: str) -> bool:
    return shlex.quote(name) == name == escape_control(name)
