"""64-bit keys of datasets, jobs and runs, equal to Spark's `xxhash64` over the same strings.

Spark chains XXH64: the hash of one column seeds the next, and the first seed is 42. Being computed
alike on both sides, a key needs no look-up in a batch. Among 10^6 names, any two collide with
probability 3e-8 (birthday bound over 2^64).
"""

from collections.abc import Iterable

from xxhash import xxh64_intdigest

_SPARK_SEED = 42
_SIGN = 1 << 63
_RANGE = 1 << 64

# PostgreSQL's B-tree takes 2,704 bytes a row. Two texts of KEY_BYTES and some numbers fit, or one
# name of NAME_BYTES, which is what the collector accepts.
KEY_BYTES = 1_000
NAME_BYTES = 2_048
# Stands between the part of a long text that is kept and the hash of all of it.
CUT = "…"
HASH_DIGITS = 16
MARK_BYTES = len(CUT.encode()) + HASH_DIGITS
REPLACEMENT = "\ufffd"
_LONGEST_CHARACTER = 4  # bytes of UTF-8


def key(*parts: str) -> int:
    """Return the signed 64-bit key of the parts, in their order."""
    return hash_parts(parts)


def hash_parts(parts: Iterable[str | bytes | int | None]) -> int:
    """Return the signed 64-bit hash of values in their order; None changes nothing.

    Args:
        parts: texts, or whole numbers of 64 bits.
    """
    state = _SPARK_SEED
    for part in parts:
        if part is not None:
            data = part.encode() if isinstance(part, str) else _bytes(part)
            state = xxh64_intdigest(data, state)
    return state - _RANGE if state >= _SIGN else state


def _bytes(part: bytes | int) -> bytes:
    return part.to_bytes(8, "little", signed=True) if isinstance(part, int) else part


def shorten(text: str, most_bytes: int = KEY_BYTES) -> str:
    """Return the text as an index can hold it: a longer one is cut, and ends with its hash.

    `slis.evidence.parse.shorten_column` does so in Spark. The cut never parts a character.
    """
    if len(text) <= most_bytes // _LONGEST_CHARACTER:
        return text
    encoded = text.encode()
    if len(encoded) <= most_bytes:
        return text
    kept = encoded[: most_bytes - MARK_BYTES].decode(errors="replace").rstrip(REPLACEMENT)
    return f"{kept}{CUT}{key(text) % _RANGE:0{HASH_DIGITS}x}"


def shorten_or_none(text: str | None, most_bytes: int = KEY_BYTES) -> str | None:
    """Return the shortened text; None of None."""
    return None if text is None else shorten(text, most_bytes)
