"""Paths: object stores, file systems, and what is written in front of them."""

from lineage.names.rules.partitions import BIGQUERY_RULE, PARTITION_RULE
from lineage.names.rules.rule import NameRule, RuleGroup

_OBJECT_STORES = "s3|gs|abfss|wasbs"

# What stays of a name must not be a URI again: a second folding would go on.
_NO_URI = "(?![a-z0-9+.-]+:[/\\x00])"

_RULES = (
    NameRule(
        "object_store_in_name",
        r"^[^\x00]*\x00((?:s3[an]?|gs|gcs|abfss?|wasbs?)://[^/\x00]+)/*+" + _NO_URI,
        "\\g<1>\x00",
        "a whole URI in the name says the bucket by itself: it is the namespace",
    ),
    NameRule(
        "hdfs_in_name",
        r"^[^\x00]*\x00((?:hdfs|viewfs)://[^/\x00]+)/*",
        "\\g<1>\x00/",
        "a whole URI in the name says the name node by itself: it is the namespace",
    ),
    NameRule(
        "remote_file_in_name",
        r"^(?:file:?/*)?\x00(file://(?!localhost/)[^/\x00]+)/+",
        "\\g<1>\x00/",
        "a whole URI in the name says the host by itself: it is the namespace",
    ),
    NameRule(
        "file_in_name",
        r"^(?:(?:file|dbfs):?/*)?\x00(file|dbfs):(?://(?:localhost(?=/))?)?/+",
        "\\g<1>\x00/",
        "file:/x, file:///x and /x are one path",
    ),
    NameRule("s3", r"^s3[an]://", "s3://", "s3a and s3n are drivers; the bucket is the same"),
    NameRule(
        "azure",
        r"^(abfs|wasb)://",
        "\\g<1>s://",
        "with or without TLS, the container is the same",
    ),
    NameRule("gcs", r"^gcs://", "gs://", "OpenLineage names Google's buckets gs://"),
    NameRule(
        "file_namespace",
        r"^(?:file:/*|file://localhost/*)\x00",
        "file\x00",
        "OpenLineage names the local file system file",
    ),
    NameRule("dbfs_namespace", r"^dbfs:/*\x00", "dbfs\x00", "OpenLineage's client names it dbfs"),
    NameRule(
        "bigquery", r"^bigquery:/*\x00", "bigquery\x00", "OpenLineage's client names it bigquery"
    ),
    NameRule(
        "file_slashes",
        r"^(file|dbfs):///+(?=[^\x00])",
        "\\g<1>:/",
        "file:/x and file:///x are one folder",
    ),
    NameRule(
        "namespace_slash",
        r"^([^\x00]*[^/:\x00])/+\x00",
        "\\g<1>\x00",
        "a place has one name, with or without a slash behind it",
    ),
    NameRule(
        "leading_slash",
        rf"^((?:{_OBJECT_STORES})://[^/\x00]+\x00)/++(?=[^\x00]){_NO_URI}",
        "\\g<1>",
        "an object's key has no slash in front; older producers put one there",
    ),
    NameRule(
        "bucket_root",
        rf"^((?:{_OBJECT_STORES})://[^/\x00]+\x00)(?://+)?\x00",
        "\\g<1>/\x00",
        "OpenLineage names the root of a bucket /",
    ),
    NameRule(
        "double_slash",
        r"^((?:file|dbfs|(?:hdfs|viewfs):[^\x00]*)\x00)//+",
        "\\g<1>/",
        "//x and /x are one path",
    ),
    NameRule(
        "trailing_slash",
        r"^([^\x00]*\x00[^\x00]*[^/\x00])/+\x00",
        "\\g<1>\x00",
        "a folder has one name, with or without a slash behind it",
    ),
    BIGQUERY_RULE,
    PARTITION_RULE,
)

PATHS = RuleGroup(
    "path",
    # Holds for every name that some rule matches, which the tests prove; most names are dismissed
    # by it, and fast: each way to match begins with one of few characters.
    r"^(?:s3[an]:|abfs:|wasb:|gcs:|bigquery:|file:[/\x00]|dbfs:[/\x00]"
    rf"|(?:{_OBJECT_STORES}):[^\x00]*\x00[/\x00]|[a-z0-9+.-]+://[^/@:\x00]*:[^\x00]*@)"
    r"|/(?:\x00|[0-9]{2}|\*|_|part-|metadata/|\.hoodie|[0-9a-fA-F]{32}|[^/=\x00]+=)"
    r"|@(?:v[0-9]|[0-9]{17})|#snapshot|\.(?:snapshot_id|at_timestamp)_"
    r"|\x00(?://|[a-z0-9+.-]+:/)"
    r"|^bigquery\x00[^\x00]*[$]",
    _RULES,
)
