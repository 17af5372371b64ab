"""Start and end of suppression windows, for the API and the command line."""

import re
from datetime import datetime

import msgspec

from alerts.operator_actions.suppression_windows import (
    WindowEnding,
    WindowRequest,
    close_window,
    count_matches,
    create_window,
    record_end_rejection,
    record_rejected_window,
)
from lineage.catalog.queries import LISTED
from lineage.catalog.reader import open_reader
from lineage.errors import RequestError
from lineage.names.names import join_parts
from lineage.process.clock import to_micros
from service.incidents.incident_commands import command_transaction
from service.runtime.settings import Settings

_KNOWN = f"SELECT namespace, name FROM dataset WHERE {LISTED}"  # noqa: S608 - a constant


class Begun(msgspec.Struct, frozen=True):
    """Window that is active or planned.

    Attributes:
        id: by which it is ended.
        datasets: how many that are known now its pattern matches; jobs are not counted.
        example: a known dataset as patterns name it, where the pattern matches none.
    """

    id: int
    datasets: int
    example: str | None = None


def begin_window(settings: Settings, wanted: WindowRequest, now: datetime) -> Begun:
    """Begin or plan a window; the audit log has rejected requests too.

    Raises:
        RequestError: the window is rejected; the text names the invalid field.
    """
    at = to_micros(now)
    try:
        with command_transaction(settings) as connection:
            number = create_window(connection, wanted, at)
    except RequestError as error:
        with command_transaction(settings) as connection:
            record_rejected_window(connection, wanted, error, at)
        raise
    with open_reader(settings.catalog) as reader:
        known = [(str(namespace), str(name)) for namespace, name in reader.rows(_KNOWN)]
    pattern = wanted.pattern.strip()
    matches = count_matches(pattern, known)
    return Begun(number, matches, None if matches else _example(pattern, known))


def _example(pattern: str, known: list[tuple[str, str]]) -> str | None:
    """Return a known name that has the longest fixed part of the pattern, else any."""
    fixed = max(re.split(r"[*?]", pattern), key=len).strip("/")
    names = (join_parts(*name) for name in known)
    return min(names, key=lambda name: (fixed not in name, name), default=None)


def end_window(settings: Settings, ending: WindowEnding, now: datetime) -> None:
    """End it now.

    Raises:
        RequestError: there is none, or it is over.
    """
    at = to_micros(now)
    try:
        with command_transaction(settings) as connection:
            close_window(connection, ending, at)
    except RequestError as error:
        with command_transaction(settings) as connection:
            record_end_rejection(connection, ending, error, at)
        raise
