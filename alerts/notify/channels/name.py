"""Names of channels: the provider, and the target that the provider knows."""

import msgspec


class ChannelName(msgspec.Struct, frozen=True):
    """Name of a channel: `slack:C0123`, `pagerduty:keys/payments`, `webhook:tickets`."""

    kind: str
    target: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.target}"


def parse_channel(name: str) -> ChannelName:
    """Return the parts of a channel's name.

    Raises:
        ValueError: it has no colon, or nothing on one side of it.
    """
    kind, _, target = name.partition(":")
    if not kind or not target:
        raise ValueError(f"channel: expected kind:target as in slack:C0123, got {name[:80]!r}")
    return ChannelName(kind, target)
