"""Origin of an event in the spool: decides whether it counts, and whether it may be sent back.

The collector writes the word beside the event; the pipeline and the forwarder read it.
"""

from typing import Final

HTTP: Final = "http"
HISTORY: Final = "history"
FILE: Final = "file"  # shipped from where the listener wrote it
KAFKA: Final = "kafka"
MARQUEZ: Final = "marquez"
MARQUEZ_HISTORY: Final = "marquez-history"

# Loaded afterwards: teaches, and counts in no SLI.
OF_HISTORY: Final = (HISTORY, MARQUEZ_HISTORY)
# Pulled from a Marquez: it comes back re-serialised, so that sending it there would never end.
FROM_MARQUEZ: Final = (MARQUEZ, MARQUEZ_HISTORY)
