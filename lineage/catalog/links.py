"""Which rows of `dataset_alias` join two names; questions ask by it, and know no table."""

from typing import Final

# All others are spellings of one name.
IS_LINK: Final = "rule IN ('symlink', 'rename', 'policy')"
