"""Partitions, snapshots and files: which end of a path is not the dataset's own name."""

from lineage.names.rules.rule import NameRule

_YEAR = "(?:19|20)[0-9]{2}"
_MONTH = "(?:0[1-9]|1[0-2])"
_DAY = "(?:0[1-9]|[12][0-9]|3[01])"
_TIME = "(?:[T _-]?[0-2][0-9](?:[:_-]?[0-5][0-9](?:[:_-]?[0-5][0-9](?:\\.[0-9]{1,9})?)?)?Z?)?"
_DATE = (
    f"(?:{_YEAR}[-_]?{_MONTH}"
    f"|{_YEAR}[-_.]{_MONTH}[-_.]{_DAY}{_TIME}"
    f"|{_YEAR}{_MONTH}{_DAY}{_TIME}"
    f"|{_DAY}\\.{_MONTH}\\.{_YEAR})"
)
_EXTENSION = "(?:\\.[A-Za-z][A-Za-z0-9]{0,8}){0,3}"
_DATE_PARTITION = (
    f"(?:{_YEAR}/(?:0?[1-9]|1[0-2])(?:/(?:0?[1-9]|[12][0-9]|3[01])(?:/[0-2]?[0-9](?:/[0-5][0-9])?)?)?"
    f"|{_DATE}{_EXTENSION})"
)
# A key holds none of what a query of SQL or of a URL has in front of its equals sign.
_KEY_VALUE_PARTITION = "[^/=?&#@\\s\"'()\\x00]+=[^/=\\x00]*"
_PARTITION_SEGMENT = f"(?:{_KEY_VALUE_PARTITION}|{_DATE_PARTITION})"
# A file of columns or records in a partition's folder. Files of other kinds (`dt=2026-11-21/a.csv`)
# may be of a dataset each.
_DATA_FILE = "[^/\\x00]+\\.(?:parquet|orc|avro)(?:\\.[A-Za-z0-9]{1,8})?"
_FURTHER_SEGMENTS = (
    "[0-9a-fA-F]{64}|[0-9a-fA-F]{40}|[0-9a-fA-F]{32}"  # a hash of the content or of the key
    "|part-[0-9]{5}[^/\\x00]*|[0-9]{6}_[0-9]+"  # files that Spark and Hive write
    "|\\*[^/\\x00]*"
    "|_delta_log(?:/[^/\\x00]*)?|_spark_metadata(?:/[^/\\x00]*)?|_SUCCESS|\\.hoodie(?:/[^\\x00]*)?"
    "|metadata/(?:[^/\\x00]+\\.(?:metadata\\.json|avro)|version-hint\\.text)"  # Iceberg
)
_SUFFIXES = (
    "@v[0-9]+|@[0-9]{17}"  # Delta, by version or by instant
    "|#snapshot[^/\\x00]*|\\.(?:snapshot_id|at_timestamp)_[0-9]+"  # Iceberg
)
# A segment ends where the next begins: what may follow it is a slash, a suffix or the end.
_SEGMENT_END = "(?=[/@#\\x00]|\\.snapshot_id_|\\.at_timestamp_)"
_TAIL = (
    f"(?:/+(?:{_PARTITION_SEGMENT}|{_KEY_VALUE_PARTITION}/+{_DATA_FILE}|{_FURTHER_SEGMENTS})"
    f"{_SEGMENT_END}"
    f"|(?:{_SUFFIXES})(?=[/@#.\\x00]))"
)
# Longer names are left alone: nobody partitions that deep, and Java's matcher recurses once a
# segment.
_BOUND = "(?=[^\\x00]{0,1000}\\x00[^\\x00]{1,1000}\\x00)"
# At least one segment stays: a dataset that is nothing but a date is called by it.
_HEAD = f"{_BOUND}([^\\x00]*\\x00[^\\x00]*?[^/\\x00])"

PARTITION_RULE = NameRule(
    "partition",
    rf"^{_HEAD}{_TAIL}+/*\x00",
    "\\g<1>\x00",
    "a partition, a snapshot or a file belongs to its dataset",
    keeps_spelling=False,
)

# `$` cannot stand in a table's name there: behind it is a day, an hour, a number or `__NULL__`.
_DECORATED = r"bigquery(?::/*)?\x00[^$\x00]+"
BIGQUERY_RULE = NameRule(
    "bigquery_partition",
    rf"^({_DECORATED})[$][^\x00]*\x00",
    "\\g<1>\x00",
    "a partition belongs to its table",
    keeps_spelling=False,
)
# Group 1: the month, day or hour; a number of another kind says nothing of time.
BIGQUERY_PARTITION = rf"^{_DECORATED}[$]({_YEAR}{_MONTH}(?:{_DAY}(?:[01][0-9]|2[0-3])?)?)\x00"

# Group 1: the partitions that a spelling names, outermost first, as dt=2026-11-21/hour=04 or
# 2026/11/21. What follows the colon of a scheme is all of a path, whatever it looks like.
PARTITION = (
    rf"^{_BOUND}[^\x00]*\x00[^\x00]*?[^/:\x00]"
    rf"/+({_PARTITION_SEGMENT}(?:/+{_PARTITION_SEGMENT})*){_SEGMENT_END}{_TAIL}*"
    rf"(?:/+{_DATA_FILE})?/*\x00"
)
# Groups 1 to 3: year, month and day of a partition; the day is empty where the partition is a
# month.
PARTITION_DATE = (
    r"(?:^|[^0-9])((?:19|20)[0-9]{2})[-_./]?(?:[A-Za-z_]+=)?(1[0-2]|0?[1-9])"
    r"(?:[-_./]?(?:[A-Za-z_]+=)?(3[01]|[12][0-9]|0?[1-9]))?"
)
