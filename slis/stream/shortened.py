"""Texts of events as an index can hold them: `shorten` of `lineage.names.keys`, in Spark."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineage.names.keys import CUT, HASH_DIGITS, KEY_BYTES, MARK_BYTES, REPLACEMENT


def shorten_column(text: Column | str, most_bytes: int = KEY_BYTES) -> Column:
    """Return the text; one of more bytes is cut, and ends with its hash."""
    given = F.col(text) if isinstance(text, str) else text
    kept = F.substring(given.cast("binary"), 1, most_bytes - MARK_BYTES).cast("string")
    # A character that was parted becomes a replacement character; Python drops it likewise.
    whole = F.rtrim(F.make_valid_utf8(kept), F.lit(REPLACEMENT))
    digits = F.lpad(F.lower(F.hex(F.xxhash64(given))), HASH_DIGITS, "0")
    cut = F.concat(whole, F.lit(CUT), digits)
    return F.when(F.octet_length(given) > most_bytes, cut).otherwise(given)
