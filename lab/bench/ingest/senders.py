"""Senders of the benchmark: one process, a loop over raw sockets, so that they cost little.

Run as `python -m lab.bench.ingest.senders`, with a `Load` as JSON on standard input; answers with a
`Result` as JSON on standard output.
"""

import select
import socket
import sys
import time
from array import array
from collections import deque

import msgspec

from lab.bench.ingest import bodies

_HOST = "127.0.0.1"
_TAKEN = b"HTTP/1.1 201 "
_END = b"\r\n\r\n"
_GIVE_UP_SECONDS = 30.0


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """Load to send.

    Attributes:
        rate: events per second, sent when they are due whether or not others were answered;
            None: each connection sends when it has its answer.
        bodies: what is sent: `mix`, or a size of `bodies.SIZES`.
        seconds: no event is due after that.
        events: no more than that.
        marks: counts of acks, in rising order, whose moments are asked for.
    """

    port: int
    connections: int
    rate: float | None
    seconds: float
    bodies: str = bodies.MIX
    events: int = 1_000_000_000
    marks: list[int] = []


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Measured result of a load.

    Attributes:
        acked: events answered with 201.
        rejected: events answered with anything else.
        seconds: from the first event sent to the last answer.
        percentiles_ms: 50th, 95th, 99th and 100th of an event's time from due to acknowledged.
        marked_seconds: when each of `marks` and a tenth before it was acknowledged.
    """

    acked: int
    rejected: int
    seconds: float
    percentiles_ms: tuple[float, float, float, float]
    marked_seconds: list[tuple[float, float]]


def _request(body: bodies.Body) -> bodies.Body:
    head = (
        f"POST /api/v1/lineage HTTP/1.1\r\nHost: {_HOST}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {body.size}\r\n\r\n"
    )
    return bodies.Body(head.encode() + body.before, body.after)


class _Senders:
    def __init__(self, load: Load) -> None:
        self._load = load
        self._requests = [_request(body) for body in bodies.load(load.bodies)]
        self._poll = select.epoll()
        self._open = [socket.create_connection((_HOST, load.port)) for _ in range(load.connections)]
        self._by_number = {connection.fileno(): connection for connection in self._open}
        self._due: dict[int, float] = {}
        # The longest idle first: one left alone would be closed after the collector's deadline.
        self._idle = deque(self._by_number)
        self._sent = 0
        self._latencies = array("d")
        self._acked_at = array("d")
        self._rejected = 0

    def run(self) -> Result:
        """Send it all, and wait for the answers."""
        for connection in self._open:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._poll.register(connection, select.EPOLLIN)
        started = time.perf_counter()
        while True:
            now = time.perf_counter()
            wait = self._send_due(started, now)
            if wait is None and not self._due:
                break
            self._take_answers(_GIVE_UP_SECONDS if wait is None else wait)
        return self._result(started)

    def _send_due(self, started: float, now: float) -> float | None:
        """Send what is due; seconds until more is, None when nothing more will be sent."""
        rate = self._load.rate
        while self._sent < self._load.events:
            due = now if rate is None else started + self._sent / rate
            if due - started >= self._load.seconds:
                return None
            if due > now:
                return due - now
            if not self._idle:
                return _GIVE_UP_SECONDS
            self._send(self._idle.popleft(), due)
        return None

    def _send(self, number: int, due: float) -> None:
        request = self._requests[self._sent % len(self._requests)]
        self._by_number[number].sendall(request.event(self._sent))
        self._due[number] = due
        self._sent += 1

    def _take_answers(self, wait: float) -> None:
        ready = self._poll.poll(wait)
        if not ready and wait >= _GIVE_UP_SECONDS:
            message = f"no answer for {_GIVE_UP_SECONDS} s to {len(self._due)} events"
            raise TimeoutError(message)
        for number, _ in ready:
            answer = self._by_number[number].recv(65_536)
            if not answer:
                raise ConnectionResetError("the collector closed a connection")
            if _END in answer:
                self._note(answer.startswith(_TAKEN), number)

    def _note(self, taken: bool, number: int) -> None:  # noqa: FBT001 - read once, just above
        now = time.perf_counter()
        due = self._due.pop(number)
        self._idle.append(number)
        if taken:
            self._latencies.append(now - due)
            self._acked_at.append(now)
        else:
            self._rejected += 1

    def _result(self, started: float) -> Result:
        latencies = sorted(self._latencies)
        last = self._acked_at[-1] if latencies else started
        at = (
            [
                latencies[min(int(len(latencies) * part), len(latencies) - 1)] * 1_000
                for part in (0.5, 0.95, 0.99, 1)
            ]
            if latencies
            else [0.0] * 4
        )
        marks = [mark for mark in self._load.marks if mark <= len(latencies)]
        return Result(
            acked=len(latencies),
            rejected=self._rejected,
            seconds=last - started,
            percentiles_ms=(at[0], at[1], at[2], at[3]),
            marked_seconds=[
                (self._at(mark * 9 // 10, started), self._at(mark, started)) for mark in marks
            ],
        )

    def _at(self, count: int, started: float) -> float:
        return self._acked_at[max(count, 1) - 1] - started


if __name__ == "__main__":
    given = msgspec.json.decode(sys.stdin.buffer.read(), type=Load)
    sys.stdout.buffer.write(msgspec.json.encode(_Senders(given).run()))
