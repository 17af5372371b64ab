"""What became of events that were read out of files and sent."""

import msgspec

_MOST_LISTED = 100


class Refusal(msgspec.Struct, frozen=True):
    """An event that was not taken; `position` is its line, or its place in an array."""

    file: str
    position: int
    reason: str


class Report(msgspec.Struct):
    """What became of the events; an event that was there already counts as taken."""

    taken: int = 0
    refused: int = 0
    refusals: list[Refusal] = msgspec.field(default_factory=list)
    partial: bool = False
    partial_reason: str | None = None

    def refuse(self, file: str, position: int, reason: str) -> None:
        """Count it, and list it while the list is short."""
        self.refused += 1
        if len(self.refusals) < _MOST_LISTED:
            self.refusals.append(Refusal(file, position, reason))
        else:
            self.partial = True
            self.partial_reason = f"only the first {_MOST_LISTED} rejections are listed"
