"""Reads from the catalog whether the API asked for tokens before a restart."""

from typing import Final

from lineage.catalog.reader import NoCatalogError, open_reader

ACCESS_OFF: Final = "off"  # the hash of the version that lets anybody ask
_NEWEST = "SELECT hash FROM access_version ORDER BY in_force_from DESC LIMIT 1"


class StoredAccess:
    """Access as it was in force before this process; read once, from a catalog that is there."""

    def __init__(self, catalog_url: str) -> None:
        self._url = catalog_url
        self._was_in_force: bool | None = None
        self._is_read = False

    def __call__(self) -> bool | None:
        """Return whether access was in force; None while the catalog could not be read."""
        return self._was_in_force

    def look(self, _engine: object = None) -> None:
        """Read the catalog, unless that succeeded before.

        Raises:
            CatalogError: the catalog cannot be read.
        """
        if self._is_read:
            return
        try:
            self._was_in_force = _read(self._url)
            self._is_read = True
        except NoCatalogError:
            # A database that is being restored has no tables yet: the next call reads again.
            self._was_in_force = False


def _read(catalog_url: str) -> bool:
    with open_reader(catalog_url) as reader:
        rows = reader.rows(_NEWEST)
    return bool(rows) and rows[0][0] != ACCESS_OFF
