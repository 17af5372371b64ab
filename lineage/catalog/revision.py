"""Revision of the catalog's schema, compared with the one that this release was made for.

Light to import: every role asks this before it works, and most find that nothing is to be done.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

from lineage.catalog.reader import CatalogReader, NoCatalogError, open_reader
from lineage.catalog.trouble import CatalogError

_VERSIONS = Path(__file__).parent / "migrations" / "versions"
KNOWN_REVISIONS: Final = tuple(
    sorted(path.name.partition("_")[0] for path in _VERSIONS.glob("[0-9]*_*.py"))
)
HEAD: Final = KNOWN_REVISIONS[-1]


class OlderCatalogError(CatalogError):
    """Error: the schema is of an older release, or there is none yet: `migrate` upgrades it."""


class NewerCatalogError(CatalogError):
    """Error: the schema is of a newer release; an older release would read and write it wrongly."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"the catalog is at revision {found}, and this release knows revisions up to {HEAD}:"
            " it was upgraded by a newer release. Run that release, or restore the catalog of"
            " before the upgrade (docs/operations.md#upgrading)"
        )


def require_current(url: str) -> None:
    """Return if the catalog has exactly the schema of this release.

    Raises:
        OlderCatalogError: it has an older one, or none.
        NewerCatalogError: it has one that this release does not know.
        CatalogError: it cannot be read.
    """
    try:
        with open_reader(url) as reader:
            require_revision(reader)
    except NoCatalogError as error:
        message = "there is no catalog yet: the pipeline or `lineward up` makes it"
        raise OlderCatalogError(message) from error


def require_usable(url: str) -> None:
    """Return if the catalog is current, or if `migrate` can make it of an older one or of none.

    Raises:
        NewerCatalogError: it has a schema that this release does not know.
        CatalogError: it cannot be read.
    """
    with suppress(OlderCatalogError):
        require_current(url)


def require_revision(reader: CatalogReader) -> None:
    """Return if the catalog that is being read has the schema of this release.

    Raises:
        OlderCatalogError: it has an older one.
        NewerCatalogError: it has one that this release does not know.
        NoCatalogError: it has none.
    """
    rows = reader.rows("SELECT version_num FROM alembic_version")
    if not rows:
        raise NoCatalogError("the catalog has no tables yet")
    found = str(rows[0][0])
    if found not in KNOWN_REVISIONS:
        raise NewerCatalogError(found)
    if found != HEAD:
        raise OlderCatalogError(
            f"the catalog is at revision {found}, and this release needs {HEAD}: waiting until the"
            " pipeline or `lineward up` of this release has upgraded it"
        )
