"""Errors by which a pipeline stops: no repetition helps."""

from typing import Final

from lineage.catalog.epochs import StaleEpochError
from slis.lake.identity import LakeMismatchError
from slis.stream.event_log import LogMismatchError
from slis.stream.merge import RangeMismatchError

# Another pipeline works on the catalog, or the log or the lake is another one.
STOPPING: Final = (RangeMismatchError, StaleEpochError, LakeMismatchError, LogMismatchError)
