"""64-bit keys of datasets, jobs and runs, equal to Spark's `xxhash64` over the same strings.

Spark chains XXH64: the hash of one column seeds the next, and the first seed is 42. Being computed
alike on both sides, a key needs no look-up in a batch. Among 10^6 names, any two collide with
probability 3e-8 (birthday bound over 2^64).
"""

import xxhash

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


def key(*parts: str) -> int:
    """Signed 64-bit key of the parts, in their order."""
    seed = _SPARK_SEED
    for part in parts:
        seed = xxhash.xxh64_intdigest(part.encode(), seed=seed)
    return seed - _RANGE if seed >= _SIGN else seed


def shorten(text: str, most_bytes: int = KEY_BYTES) -> str:
    """Return the text as an index can hold it: a longer one is cut, and ends with its hash.

    `slis.stream.shortened` does the same in Spark. The cut never parts a character.
    """
    encoded = text.encode()
    if len(encoded) <= most_bytes:
        return text
    kept = encoded[: most_bytes - MARK_BYTES].decode(errors="replace").rstrip(REPLACEMENT)
    return f"{kept}{CUT}{key(text) % _RANGE:0{HASH_DIGITS}x}"
