"""Reads and writes in a physical plan, as Spark writes it into its event log.

The text has a paragraph for each operator (`EXPLAIN FORMATTED`). The plan is that of the start of
the execution: adaptive execution may skip what turns out empty, and never adds a source.
"""

from functools import cache

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineage.states import READ, WRITE

# `Scan parquet db.t` … `Location: InMemoryFileIndex(2 paths)[file:/a, file:/b]`. Spark shortens the
# list after `spark.sql.maxMetadataStringLength` characters: it then ends in `...`.
_LOCATIONS = r"\nLocation: [A-Za-z]+ ?(?:\([0-9]+ paths\))?\[([^\n]*)"
_PATH_START = r"(?:^|, )(?=[A-Za-z][A-Za-z0-9+.-]*:/)"
# A list that was cut ends in an unfinished path, and three dots.
_CUT = r"(?:, )?\.\.\.\]?$"
_FILE_WRITE = (
    r"Execute InsertInto(?:HadoopFs|HiveTable|HiveDir)[^\n]*\n(?:Input[^\n]*\n)?"
    r"Arguments: ([a-z][^,\s]*:/[^,\n]*)"
)
_TABLE_READ = r"Scan JDBCRelation\(([^\n]*?)\) \[numPartitions"
_SAVED = r"SaveIntoDataSourceCommand[^\n]*\nArguments: [^\n]*"
_TABLE_WRITE = _SAVED + r"[\[ ]dbtable=([^,\]\n]+)"
_TOPIC_READ = r"(?:KafkaV2\[Subscribe\[|KafkaRelation\(strategy=Subscribe\[)([^\]\n]+)\]"
_TOPIC_WRITE = _SAVED + r"kafka010[^\n]*[\[ ]topic=([^,\]\n]+)"
# Rows that come out of code: the plan does not show what that read.
_OPAQUE = r"Scan ExistingRDD|LogicalRDD|MapPartitions|RDDScan"
_DELTA_LOG = r"/_delta_log(?:/|$)"
_OUTPUT_PATH = _SAVED + r"[\[ ]path=([a-z][a-z0-9+.-]*:/[^,\]\n]+)"

# A stream's source that is not of files: the plan has its class, and not what it reads.
_UNNAMED = r"\) (?:MicroBatch|Continuous)Scan"

FILE, TABLE, TOPIC = "file", "table", "topic"
# A sink or a source as a stream's progress describes it.
_FILE_STREAM = r"^(?:FileSink|FileStreamSource|DeltaSink)\[(.+)\]$"
_TOPIC_STREAM = r"^KafkaV[0-9]+\["
_GLOB = r"/[^/]*[*?{\[].*$"


@cache
def touched_tables(plan: str) -> Column:
    """Return what a plan names: an array of (direction, kind, location, is_whole)."""
    text = F.col(plan)
    lists = F.regexp_extract_all(text, F.lit(_LOCATIONS), F.lit(1))
    is_whole = ~F.exists(lists, _is_cut) & ~text.rlike(_OPAQUE)
    found = [
        _named(READ, FILE, F.filter(F.flatten(F.transform(lists, _paths)), _is_data), is_whole),
        _named(READ, TABLE, _all(text, _TABLE_READ), is_whole),
        _named(READ, TOPIC, _topics(text, _TOPIC_READ), is_whole),
        _named(WRITE, FILE, _all(text, _FILE_WRITE), is_whole),
        _named(WRITE, FILE, _all(text, _OUTPUT_PATH), is_whole),
        _named(WRITE, TABLE, _all(text, _TABLE_WRITE), is_whole),
        _named(WRITE, TOPIC, _topics(text, _TOPIC_WRITE), is_whole),
    ]
    return F.array_distinct(F.concat(*found))


def streamed_folder(description: str) -> Column:
    """Return the folder that a file sink or source names; null for any other."""
    folder = F.regexp_extract(description, _FILE_STREAM, 1)
    return F.nullif(F.regexp_replace(folder, _GLOB, ""), F.lit(""))


def reads_unnamed(plan: str) -> Column:
    """Return whether the plan reads what it does not name."""
    return F.col(plan).rlike(_UNNAMED)


def streamed_topics(sources: str) -> Column:
    """Return the topics that Kafka sources had read up to: an array, for every way to subscribe.

    Args:
        sources: of a stream's progress; the offsets are by topic and partition.
    """

    def topics(source: Column) -> Column:
        offsets = F.from_json(source["endOffset"], "map<string, string>")
        # Without an offset nothing was read yet; a null would take the others with it.
        return F.coalesce(F.map_keys(offsets), F.array().cast("array<string>"))

    of_kafka = F.filter(sources, lambda source: source["description"].rlike(_TOPIC_STREAM))
    return F.array_distinct(F.flatten(F.transform(of_kafka, topics)))


def _all(text: Column, pattern: str) -> Column:
    return F.regexp_extract_all(text, F.lit(pattern), F.lit(1))


def _topics(text: Column, pattern: str) -> Column:
    return F.flatten(F.transform(_all(text, pattern), lambda names: F.split(names, ", ?")))


def _is_cut(paths: Column) -> Column:
    return paths.rlike(_CUT) | ~paths.endswith("]")


def _is_data(path: Column) -> Column:
    """Return whether the path is of data: Delta reads its own log to find a table's files."""
    return ~path.rlike(_DELTA_LOG)


def _paths(paths: Column) -> Column:
    """Return the whole ones; a path may hold a comma, so a list is cut where a scheme follows."""
    parts = F.split(F.regexp_replace(paths, r"\]$", ""), _PATH_START)
    named = F.filter(parts, lambda part: part != "")
    whole = F.when(_is_cut(paths), F.slice(named, 1, F.greatest(F.size(named) - 1, F.lit(0))))
    return whole.otherwise(named)


def _named(direction: str, kind: str, locations: Column, is_whole: Column) -> Column:
    def one(location: Column) -> Column:
        return F.struct(
            F.lit(direction).alias("direction"),
            F.lit(kind).alias("kind"),
            F.trim(location).alias("location"),
            is_whole.alias("is_whole"),
        )

    return F.transform(locations, one)
