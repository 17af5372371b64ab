"""Databases: what drivers and OpenLineage call one server and one table.

Logins, and options that no driver puts behind `?` or `;`, are out before (`lineage.redaction`).
"""

from lineage.names.rules.rule import NameRule, RuleGroup

_DATABASES = (
    "postgres(?:ql)?|mysql|mariadb|oracle|sqlserver|redshift|snowflake|trino|presto|db2|teradata|clickhouse|"
    "vertica|sqlite|mongodb(?:\\+srv)?|databricks|hive2|sap|derby|h2|duckdb|spanner|oceanbase|"
    "cassandra|impala|phoenix|ignite|dremio|drill|exasol|netezza|informix|singlestore|tidb|cockroachdb"
)
# The server's URL holds the database, where OpenLineage puts it in front of the table's name.
_DATABASE_IN_PATH = (
    "postgres|mysql|mariadb|oracle|sqlserver|redshift|clickhouse|vertica|db2|oceanbase|teradata"
    "|informix"
)
_PORTS = {
    "postgres": 5432,
    "mysql": 3306,
    "oracle": 1521,
    "sqlserver": 1433,
    "redshift": 5439,
}


def _default_port(scheme: str, port: int) -> NameRule:
    return NameRule(
        f"{scheme}_port",
        rf"^{scheme}://([^:/\x00\\,;@?]+)(?=[/\x00])",
        f"{scheme}://\\g<1>:{port}",
        f"OpenLineage names a server {{host}}:{{port}}; {port} is what a driver takes by itself",
    )


_RULES = (
    NameRule(
        "jdbc",
        rf"^(?:jdbc:)+(?=(?:{_DATABASES}):)",
        "",
        "the URL of a driver names the same server as the URL of the database",
    ),
    NameRule("postgres", r"^postgresql:", "postgres:", "OpenLineage names PostgreSQL postgres://"),
    NameRule(
        "jdbc_mode",
        r"^(mysql|mariadb|oceanbase|databricks):[a-z]+://",
        "\\g<1>://",
        "how a driver balances its connections is no part of the server's name",
    ),
    NameRule(
        "sqlserver_database",
        r"^(sqlserver://[^;/\x00]+)/*;(?:[^\x00]*;)?(?i:database(?:Name)?)=([^;\x00]+)[^\x00]*\x00"
        r"(?:\2\.(?=[^\x00]))?",
        "\\g<1>\x00\\g<2>.",
        "the database, which stands in the URL's options, is the first part of the table's name",
        keeps_spelling=False,
    ),
    NameRule(
        "jdbc_options",
        r"^([^?;\x00]*)[?;][^\x00]*",
        "\\g<1>",
        "options of a connection are no part of a name, and may hold a password",
        keeps_spelling=False,
    ),
    *(_default_port(scheme, port) for scheme, port in _PORTS.items()),
    NameRule(
        "oracle_service",
        r"^(oracle://[^:/\x00]+:[0-9]+):([^/:\x00]+)\x00",
        "\\g<1>/\\g<2>\x00",
        "host:port:sid is the older spelling of host:port/service",
    ),
    NameRule(
        "database_in_namespace",
        rf"^((?:{_DATABASE_IN_PATH})://[^/\x00]+)/+([^/\x00]+)/*\x00(?:\2\.(?=[^\x00]))?",
        "\\g<1>\x00\\g<2>.",
        "the database is the first part of the table's name, not of the server's",
    ),
    NameRule(
        "namespace_slash",
        r"^([^\x00]*[^/:\x00])/+\x00",
        "\\g<1>\x00",
        "a server has one name, with or without a slash behind it",
    ),
)

DATABASES = RuleGroup("database", rf"^(?:jdbc|{_DATABASES}):", _RULES)
