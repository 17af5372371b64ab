"""Condition by which rows of `dataset_alias` join two names; queries use it, not the table."""

from typing import Final

# All others are spellings of one name.
IS_LINK: Final = "rule IN ('symlink', 'rename', 'policy')"
