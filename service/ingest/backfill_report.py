"""Results of events that were read from files and sent."""

import msgspec

_MOST_LISTED = 100


class RejectedFileEvent(msgspec.Struct, frozen=True):
    """Event that was rejected; `position` is its line, or its index in an array."""

    file: str
    position: int
    reason: str


class BackfillReport(msgspec.Struct):
    """Counts of accepted and rejected events; a duplicate counts as accepted."""

    taken: int = 0
    rejected: int = msgspec.field(default=0, name="refused")
    rejections: list[RejectedFileEvent] = msgspec.field(default_factory=list, name="refusals")
    partial: bool = False
    partial_reason: str | None = None

    def reject(self, file: str, position: int, reason: str) -> None:
        """Count a rejected event; list it if the list has room."""
        self.rejected += 1
        if len(self.rejections) < _MOST_LISTED:
            self.rejections.append(RejectedFileEvent(file, position, reason))
        else:
            self.partial = True
            self.partial_reason = f"only the first {_MOST_LISTED} rejections are listed"
