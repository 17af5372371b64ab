r"""The rules that fold the spellings of one dataset into one name: data, read by Python and Spark.

A rule works on one string, `namespace NUL name NUL`, so that it can move text between the two. Its
pattern is anchored at the start and matches once; what it does not match is kept. The expressions
mean the same in Java and in Python's ASCII mode as long as they keep to this: `[0-9]` for digits,
negated classes for "anything but", `\x00` for the separator, no `.`, no `$`.

Where the names come from: OpenLineage's naming conventions (openlineage.io/docs/spec/naming) and
the partition trimmers of its Java client, with the exceptions that `docs/naming.md` gives reasons
for.
"""

import msgspec

SEPARATOR = "\x00"
# What stands in for a separator inside a name: PostgreSQL has no NUL in texts either.
SEPARATOR_SUBSTITUTE = "\ufffd"


class Rule(msgspec.Struct, frozen=True):
    """One way in which two spellings are one dataset.

    Attributes:
        id: recorded with every alias that the rule made.
        pattern: of `namespace NUL name NUL`, from its start.
        replacement: for what the pattern matched; groups as `$1`.
        why: for the person who asks why two names became one.
        keeps_spelling: false where the spelling is a secret (credentials) or one of an endless row
            (partitions): then the
            alias is recorded without it.
    """

    id: str
    pattern: str
    replacement: str
    why: str
    keeps_spelling: bool = True


class RuleGroup(msgspec.Struct, frozen=True):
    """Rules for the names that `when` finds a match in, in their order.

    Of the groups, the first whose `when` matches.
    """

    id: str
    when: str
    rules: tuple[Rule, ...]


_DATABASES = (
    "postgres(?:ql)?|mysql|mariadb|oracle|sqlserver|redshift|snowflake|trino|presto|db2|teradata|clickhouse|"
    "vertica|sqlite|mongodb(?:\\+srv)?|databricks|hive2|sap|derby|h2|duckdb|spanner|oceanbase|"
    "cassandra|impala|phoenix|ignite|dremio|drill|exasol|netezza|informix|singlestore|tidb|cockroachdb"
)
# The server's URL holds the database, where OpenLineage puts it in front of the table's name.
_DATABASE_IN_PATH = (
    "postgres|mysql|mariadb|oracle|sqlserver|redshift|clickhouse|vertica|db2|oceanbase"
)
_PORTS = {
    "postgres": 5432,
    "mysql": 3306,
    "oracle": 1521,
    "sqlserver": 1433,
    "redshift": 5439,
}


def _default_port(scheme: str, port: int) -> Rule:
    return Rule(
        f"{scheme}_port",
        rf"^{scheme}://([^:/\x00\\,;@?]+)(?=[/\x00])",
        f"{scheme}://$1:{port}",
        f"OpenLineage names a server {{host}}:{{port}}; {port} is what a driver takes by itself",
    )


DATABASE_RULES = (
    Rule(
        "jdbc",
        rf"^(?:jdbc:)+(?=(?:{_DATABASES}):)",
        "",
        "the URL of a driver names the same server as the URL of the database",
    ),
    Rule("postgres", r"^postgresql:", "postgres:", "OpenLineage names PostgreSQL postgres://"),
    Rule(
        "oracle_driver",
        r"^oracle:(?:thin|oci8?):[^@\x00]*@(?://)?",
        "oracle://",
        "the driver's kind, user and password are no part of the server's name",
        keeps_spelling=False,
    ),
    Rule(
        "jdbc_mode",
        r"^(mysql|mariadb|oceanbase|databricks):[a-z]+://",
        "$1://",
        "how a driver balances its connections is no part of the server's name",
    ),
    Rule(
        "jdbc_credentials",
        # Up to the last @ of the authority; a password with a slash in it is told from a port.
        r"^([a-z0-9+]+://)(?:[^/\x00?;]*@|[^/@:?;\x00]*:(?![0-9]*[/?;\x00])[^?;\x00]*@)",
        "$1",
        "user and password are no part of a name, and must not be kept",
        keeps_spelling=False,
    ),
    Rule(
        "sqlserver_database",
        r"^(sqlserver://[^;/\x00]+)/*;(?:[^\x00]*;)?(?i:database(?:Name)?)=([^;\x00]+)[^\x00]*\x00"
        r"(?:\2\.(?=[^\x00]))?",
        "$1\x00$2.",
        "the database, which stands in the URL's options, is the first part of the table's name",
        keeps_spelling=False,
    ),
    Rule(
        "jdbc_options",
        r"^([^?;\x00]*)[?;][^\x00]*",
        "$1",
        "options of a connection are no part of a name, and may hold a password",
        keeps_spelling=False,
    ),
    *(_default_port(scheme, port) for scheme, port in _PORTS.items()),
    Rule(
        "oracle_service",
        r"^(oracle://[^:/\x00]+:[0-9]+):([^/:\x00]+)\x00",
        "$1/$2\x00",
        "host:port:sid is the older spelling of host:port/service",
    ),
    Rule(
        "database_in_namespace",
        rf"^((?:{_DATABASE_IN_PATH})://[^/\x00]+)/+([^/\x00]+)/*\x00(?:\2\.(?=[^\x00]))?",
        "$1\x00$2.",
        "the database is the first part of the table's name, not of the server's",
    ),
    Rule(
        "namespace_slash",
        r"^([^\x00]*[^/:\x00])/+\x00",
        "$1\x00",
        "a server has one name, with or without a slash behind it",
    ),
)

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
    f"(?:/+(?:{_PARTITION_SEGMENT}|{_FURTHER_SEGMENTS}){_SEGMENT_END}"
    f"|(?:{_SUFFIXES})(?=[/@#.\\x00]))"
)
# Longer names are left alone: nobody partitions that deep, and Java's matcher recurses once a
# segment.
_BOUND = "(?=[^\\x00]{0,1000}\\x00[^\\x00]{1,1000}\\x00)"
# At least one segment stays: a dataset that is nothing but a date is called by it.
_HEAD = f"{_BOUND}([^\\x00]*\\x00[^\\x00]*?[^/\\x00])"

_OBJECT_STORES = "s3|gs|abfss|wasbs"

# What stays of a name must not be a URI again: a second folding would go on.
_NO_URI = "(?![a-z0-9+.-]+:[/\\x00])"


def _credentials(rule: str, before: str) -> tuple[Rule, Rule]:
    """In front of a host, `user:password@`.

    A secret key of S3 may have slashes in it, where a bucket has no colon.
    """
    why = "keys and passwords are no part of a name, and must not be kept"
    s3 = rf"^({before}s3[an]?://)(?:[^/@:\x00]+:[^@\x00]*@)+"
    other = rf"^({before}[a-z0-9+.-]+://)[^/@:\x00]*:[^/\x00]*@"
    return (
        Rule(f"{rule}_keys", s3, "$1", why, keeps_spelling=False),
        Rule(f"{rule}_credentials", other, "$1", why, keeps_spelling=False),
    )


PATH_RULES = (
    *_credentials("namespace", ""),
    *_credentials("name", r"[^\x00]*\x00"),
    Rule(
        "object_store_in_name",
        r"^[^\x00]*\x00((?:s3[an]?|gs|gcs|abfss?|wasbs?)://[^/\x00]+)/*+" + _NO_URI,
        "$1\x00",
        "a whole URI in the name says the bucket by itself: it is the namespace",
    ),
    Rule(
        "hdfs_in_name",
        r"^[^\x00]*\x00((?:hdfs|viewfs)://[^/\x00]+)/*",
        "$1\x00/",
        "a whole URI in the name says the name node by itself: it is the namespace",
    ),
    Rule(
        "remote_file_in_name",
        r"^(?:file:?/*)?\x00(file://(?!localhost/)[^/\x00]+)/+",
        "$1\x00/",
        "a whole URI in the name says the host by itself: it is the namespace",
    ),
    Rule(
        "file_in_name",
        r"^(?:(?:file|dbfs):?/*)?\x00(file|dbfs):(?://(?:localhost(?=/))?)?/+",
        "$1\x00/",
        "file:/x, file:///x and /x are one path",
    ),
    Rule("s3", r"^s3[an]://", "s3://", "s3a and s3n are drivers; the bucket is the same"),
    Rule(
        "azure",
        r"^(abfs|wasb)://",
        "$1s://",
        "with or without TLS, the container is the same",
    ),
    Rule("gcs", r"^gcs://", "gs://", "OpenLineage names Google's buckets gs://"),
    Rule(
        "file_namespace",
        r"^(?:file:/*|file://localhost/*)\x00",
        "file\x00",
        "OpenLineage names the local file system file",
    ),
    Rule("dbfs_namespace", r"^dbfs:/*\x00", "dbfs\x00", "OpenLineage's client names it dbfs"),
    Rule("bigquery", r"^bigquery:/*\x00", "bigquery\x00", "OpenLineage's client names it bigquery"),
    Rule(
        "file_slashes",
        r"^(file|dbfs):///+(?=[^\x00])",
        "$1:/",
        "file:/x and file:///x are one folder",
    ),
    Rule(
        "namespace_slash",
        r"^([^\x00]*[^/:\x00])/+\x00",
        "$1\x00",
        "a place has one name, with or without a slash behind it",
    ),
    Rule(
        "leading_slash",
        rf"^((?:{_OBJECT_STORES})://[^/\x00]+\x00)/++(?=[^\x00]){_NO_URI}",
        "$1",
        "an object's key has no slash in front; older producers put one there",
    ),
    Rule(
        "bucket_root",
        rf"^((?:{_OBJECT_STORES})://[^/\x00]+\x00)(?://+)?\x00",
        "$1/\x00",
        "OpenLineage names the root of a bucket /",
    ),
    Rule(
        "double_slash",
        r"^((?:file|dbfs|(?:hdfs|viewfs):[^\x00]*)\x00)//+",
        "$1/",
        "//x and /x are one path",
    ),
    Rule(
        "trailing_slash",
        r"^([^\x00]*\x00[^\x00]*[^/\x00])/+\x00",
        "$1\x00",
        "a folder has one name, with or without a slash behind it",
    ),
    Rule(
        "partition",
        rf"^{_HEAD}{_TAIL}+/*\x00",
        "$1\x00",
        "a partition, a snapshot or a file belongs to its dataset",
        keeps_spelling=False,
    ),
)

GROUPS = (
    RuleGroup("database", rf"^(?:jdbc|{_DATABASES}):", DATABASE_RULES),
    # Holds for every name that some path rule matches, which the tests prove; most names are
    # dismissed by it, and fast: each way to match begins with one of few characters.
    RuleGroup(
        "path",
        r"^(?:s3[an]:|abfs:|wasb:|gcs:|bigquery:|file:[/\x00]|dbfs:[/\x00]"
        rf"|(?:{_OBJECT_STORES}):[^\x00]*\x00[/\x00]|[a-z0-9+.-]+://[^/@:\x00]*:[^\x00]*@)"
        r"|/(?:\x00|[0-9]{2}|\*|_|part-|metadata/|\.hoodie|[0-9a-fA-F]{32}|[^/=\x00]+=)"
        r"|@(?:v[0-9]|[0-9]{17})|#snapshot|\.(?:snapshot_id|at_timestamp)_"
        r"|\x00(?://|[a-z0-9+.-]+:/)",
        PATH_RULES,
    ),
)
RULES = tuple(dict.fromkeys(rule for group in GROUPS for rule in group.rules))

# Group 1: the partitions that a spelling names, outermost first, as dt=2026-11-21/hour=04 or
# 2026/11/21.
PARTITION = (
    rf"^{_BOUND}[^\x00]*\x00[^\x00]*?[^/\x00]"
    rf"/+({_PARTITION_SEGMENT}(?:/+{_PARTITION_SEGMENT})*){_SEGMENT_END}{_TAIL}*/*\x00"
)
# Groups 1 to 3: year, month and day of a partition; the day is empty where the partition is a
# month.
PARTITION_DATE = (
    r"(?:^|[^0-9])((?:19|20)[0-9]{2})[-_./]?(?:[A-Za-z_]+=)?(1[0-2]|0?[1-9])"
    r"(?:[-_./]?(?:[A-Za-z_]+=)?(3[01]|[12][0-9]|0?[1-9]))?"
)
