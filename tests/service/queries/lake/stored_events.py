"""Lake beside a catalog that a test has filled by hand."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine

from tests.slis.lake.lakes import event_row, lay, writer_of
from tests.slis.stream.spools import Event


def lay_events(catalog: Engine, folder: Path, events: Sequence[Event]) -> None:
    """Write events to the lake of this data folder, and to its manifest."""
    rows = [
        event_row(
            1_000 + number,
            datetime.fromisoformat(event["eventTime"]),
            body=json.dumps(event).encode(),
        )
        for number, event in enumerate(events)
    ]
    lay(writer_of(catalog, folder), *rows)
