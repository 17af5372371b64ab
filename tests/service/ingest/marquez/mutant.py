"""Marquez role without one of its guarantees: `mutant.py NAME`."""

import sys

from service.ingest import collector_spool
from service.ingest.marquez import __main__, store

_MUTANTS = {
    "forgets_the_cursor": lambda: setattr(store.Store, "note_forwarded", lambda *_: None),
    "sends_back": lambda: setattr(collector_spool, "FROM_MARQUEZ", ()),
}

if __name__ == "__main__":
    _MUTANTS[sys.argv[1]]()
    sys.exit(__main__.main())
