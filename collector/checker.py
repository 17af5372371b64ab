"""Process that checks large bodies for a worker: `python -m collector.checker LIMITS`.

It reads requests on standard input until the worker closes it or ends, and answers each on standard
output. A request is a letter, the length of the body in 8 bytes, and the body; an answer is a
length in 8 bytes, and an `Answer` as MessagePack.
"""

import signal
import sys
from typing import BinaryIO, Final

import msgspec

from collector import events
from collector.elements import elements_of
from collector.errors import InvalidEventError, TooManyError
from collector.settings import Limits

EVENT: Final = b"e"
ELEMENTS: Final = b"l"
LENGTH_BYTES: Final = 8
KINDS_OF_ERROR: Final = {error.__name__: error for error in (InvalidEventError, TooManyError)}


class CheckedEvent(msgspec.Struct, frozen=True, tag=True):
    """Valid event; its fields are those of `events.ValidEvent` without the body."""

    kind: str
    duplicate_keys: int


class BatchElements(msgspec.Struct, frozen=True, tag=True):
    """Elements of a batch; None where the body is no array."""

    elements: list[bytes] | None


class BodyRejection(msgspec.Struct, frozen=True, tag=True):
    """Rejection of a body; its fields are those of the error."""

    error: str
    detail: str
    path: str | None
    reason: str


Answer = CheckedEvent | BatchElements | BodyRejection


def check(request: bytes, body: bytes, limits: Limits) -> Answer:
    """Check a body; `request` is `EVENT` or `ELEMENTS`."""
    if request == ELEMENTS:
        return BatchElements(elements_of(body))
    try:
        event = events.parse_event(body, limits)
    except (InvalidEventError, TooManyError) as error:
        return BodyRejection(type(error).__name__, error.detail, error.path, error.reason)
    return CheckedEvent(event.kind, event.duplicate_keys)


def serve(requests: BinaryIO, answers: BinaryIO, limits: Limits) -> None:
    """Answer requests until there are no more."""
    while request := requests.read(1):
        body = requests.read(int.from_bytes(requests.read(LENGTH_BYTES)))
        answer = msgspec.msgpack.encode(check(request, body, limits))
        del body  # it is not kept until the next request
        answers.write(len(answer).to_bytes(LENGTH_BYTES) + answer)
        answers.flush()


def main() -> None:
    """Start as a program, whose argument is the limits as JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the worker, and by that this process
    limits = msgspec.json.decode(sys.argv[1], type=Limits)
    serve(sys.stdin.buffer, sys.stdout.buffer, limits)


if __name__ == "__main__":
    main()
