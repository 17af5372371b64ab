"""Worker's side of the process that checks large bodies."""

import subprocess
import sys
import threading
from typing import BinaryIO, cast

import msgspec
import structlog

from collector.checker import (
    ELEMENTS,
    EVENT,
    KINDS_OF_ERROR,
    LENGTH_BYTES,
    Answer,
    BatchElements,
    BodyRejection,
    CheckedEvent,
)
from collector.errors import CheckFailedError
from collector.events import ValidEvent
from collector.settings import Limits

_ANSWER: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)
_PASSED = ("max_depth", "max_values", "max_name_bytes")
_log = structlog.get_logger()


class CheckProcess:
    """Process that starts with the first large body; another one follows where it has ended.

    Its methods wait, and are called from threads.
    """

    def __init__(self, limits: Limits) -> None:
        passed = {name: getattr(limits, name) for name in _PASSED}
        self._limits = msgspec.json.encode(passed).decode()
        self._process: subprocess.Popen[bytes] | None = None
        # A request that was given up does not end the thread that waits for its answer.
        self._lock = threading.Lock()

    def parse(self, body: bytes) -> ValidEvent:
        """Check one event, as `events.parse_event` does.

        Raises:
            InvalidEventError: as `events.parse_event`.
            TooManyError: as `events.parse_event`.
            CheckFailedError: the process has ended.
        """
        answer = self._exchange(EVENT, body)
        if isinstance(answer, BodyRejection):
            raise KINDS_OF_ERROR[answer.error](
                answer.detail, path=answer.path, reason=answer.reason
            )
        event = cast("CheckedEvent", answer)
        return ValidEvent(event.kind, body, event.duplicate_keys)

    def elements(self, body: bytes) -> list[bytes] | None:
        """Take a batch apart, as `elements.elements_of` does.

        Raises:
            CheckFailedError: the process has ended.
        """
        return cast("BatchElements", self._exchange(ELEMENTS, body)).elements

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.communicate()

    def _exchange(self, request: bytes, body: bytes) -> Answer:
        with self._lock:
            process = self._running()
            try:
                return _ask(process, request, body)
            except (OSError, EOFError) as error:
                _log.exception("checker_ended", status=process.wait(), body_bytes=len(body))
                detail = "the process that checks large events ended: send the event again"
                raise CheckFailedError(detail) from error

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", "collector.checker", self._limits],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        return self._process


def _ask(process: subprocess.Popen[bytes], request: bytes, body: bytes) -> Answer:
    to, back = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
    to.write(request + len(body).to_bytes(LENGTH_BYTES))
    to.write(body)
    to.flush()
    length = _read(back, LENGTH_BYTES)
    return _ANSWER.decode(_read(back, int.from_bytes(length)))


def _read(file: BinaryIO, count: int) -> bytes:
    found = file.read(count)
    if len(found) < count:
        raise EOFError("the answer ends before its end")
    return found
