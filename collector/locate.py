"""JSON path of a byte offset in a JSON text: for error messages, on the slow path."""

import re

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[{}\[\],:]')


def path_at(body: bytes, offset: int) -> str:
    """JSON path of the value that holds byte `offset`.

    Works on malformed text too: what comes after the offset is not looked at.

    Args:
        body: the text.
        offset: 0-based; past the end means the end.
    """
    frames: list[str | int] = []
    text = ""
    for token in _TOKEN.finditer(body):
        if token.start() >= offset:
            break
        text = _step(frames, token[0], text)
    return "$" + "".join(f"[{frame}]" if isinstance(frame, int) else frame for frame in frames)


def _step(frames: list[str | int], token: bytes, text: str) -> str:
    """Follow one token; returns the last string seen, which a colon makes a key."""
    if token == b"{":
        frames.append("")
    elif token == b"[":
        frames.append(0)
    elif token in b"}]" and frames:
        frames.pop()
    elif token == b":" and frames:
        frames[-1] = f".{text}"
    elif token == b"," and frames:
        last = frames[-1]
        frames[-1] = last + 1 if isinstance(last, int) else ""
    elif token[:1] == b'"':
        return token.strip(b'"').decode(errors="replace")[:80]
    return text
