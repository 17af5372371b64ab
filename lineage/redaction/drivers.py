"""URLs of database drivers, of which each has its own places for logins and options."""

import re
from collections.abc import Callable

from lineage.names.rules.databases import DATABASES
from lineage.redaction.patterns import KEY

CONNECTION = re.compile(DATABASES.when + r"|^(?:jtds|ch|informix-sqli|ids|as400|spark|redshift):")


def clear_connection(text: str) -> str:
    """Return the URL of a driver as server and database, without logins and options."""
    for change in _FORMS:
        text = change(text)
    return text


_RENAMED = (
    (re.compile(r"(?i)^(?:jdbc:)*jtds:sqlserver:"), "sqlserver:"),
    (re.compile(r"(?i)^(?:jdbc:)*redshift:iam:"), "redshift:"),
    (re.compile(r"(?i)^(?:jdbc:)*(?:clickhouse|ch):(?:https?:)?(?=//)"), "clickhouse:"),
    (re.compile(r"(?i)^(?:jdbc:)*informix(?:-sqli)?:(?=//)"), "informix:"),
    (re.compile(r"(?i)^(?:jdbc:)*mysql\+srv:(?=//)"), "mysql:"),
)


def _rename_driver(text: str) -> str:
    for pattern, usual in _RENAMED:
        text = pattern.sub(usual, text)
    return text


_ORACLE = re.compile(
    r"(?i)^(?:jdbc:)*(?:oracle:(?:thin|oci8?|kprb)|weblogic:oracle):(?P<rest>[\s\S]*)"
)


def _oracle(text: str) -> str:
    """Cut `user/password@`, and read `//host:port/service` or a descriptor behind it."""
    found = _ORACLE.match(text)
    if not found:
        return text
    rest = found["rest"]
    if "@(" in rest:
        return _descriptor(rest[rest.index("@(") :])
    head, mark, query = rest.partition("?")
    # A question mark may be part of the password, or begin the options.
    rest = query if mark and "@" not in head and "@" in query else head
    rest = rest.rpartition("@")[2] if "@" in rest else ""
    return "oracle://" + re.sub(r"(?i)^(?:tcps?:)?/*", "", rest).partition("?")[0]


def _descriptor(text: str) -> str:
    host, port = _given(text, "HOST"), _given(text, "PORT")
    service = _given(text, "SERVICE_NAME") or _given(text, "SID")
    return "oracle://" + host + (f":{port}" if port else "") + (f"/{service}" if service else "")


def _given(text: str, key: str) -> str:
    found = re.search(rf"(?i)[(,]\s*{key}\s*=\s*([^(),\s]+)", text)
    return found[1] if found else ""


_IRIS = re.compile(r"(?i)^((?:jdbc:)*(?:iris|cache)://[^/]+/[^:/;?]*)[^:]*:[\s\S]*$")


def _iris(text: str) -> str:
    """Cut what follows the namespace of InterSystems IRIS: log file, user and password."""
    return _IRIS.sub(r"\1", text)


_IN_PARENTHESES = re.compile(r"(?i)^(?:jdbc:)*(mysql|mariadb|oceanbase):(?:[a-z]+:)?//[^/]*?\(")
_DATABASE_BEHIND = re.compile(r"[)\]]\s*/([^?;/()\[\]]*)(?:[?;][\s\S]*)?$")


def _key_value_hosts(text: str) -> str:
    """Read MySQL's `(host=…,port=…,password=…)` and `address=(host=…)(port=…)`."""
    found = _IN_PARENTHESES.match(text)
    if not found:
        return text
    hosts = re.findall(r"(?i)[(,]\s*host\s*=\s*([^,()\s]+)", text)
    ports = re.findall(r"(?i)[(,]\s*port\s*=\s*([0-9]+)", text)
    if len(ports) == len(hosts):
        hosts = [f"{host}:{port}" for host, port in zip(hosts, ports, strict=True)]
    database = _DATABASE_BEHIND.search(text)
    path = f"/{database[1]}" if database and database[1] else ""
    return f"{found[1].lower()}://{','.join(hosts)}{path}"


_AUTHORITY = re.compile(r"(?i)^((?:(?:[a-z0-9+._-]+:)+//)+)([\s\S]*)$")
_PATH_FIRST = re.compile(r"[^/@:]*(?::[0-9]*)?/")
_ODD_PASSWORD = re.compile(r"[^/?;@:]*:(?![0-9]*[?;])[^/?;]*[?;]")


def _without_login(text: str) -> str:
    """Cut `user:password@` in front of the host; an `@` behind the options' mark is none of it."""
    found = _AUTHORITY.match(text)
    if not found or "@" not in found[2]:
        return text
    server, rest = found[1], found[2]
    before = re.split("[?;]", rest, maxsplit=1)[0]
    is_path = _PATH_FIRST.match(before) and not server.lower().endswith("oracle://")
    if "@" in before and not is_path:
        cut = before.rfind("@") + 1
    elif _ODD_PASSWORD.match(rest):
        cut = rest.rfind("@") + 1
    else:
        return text
    return server + rest[cut:]


_NO_SERVER = re.compile(r"(?i)^((?:jdbc:)*sqlserver:)//;")


def _server_in_options(text: str) -> str:
    """Read SQL Server's `//;serverName=host;…`."""
    if not _NO_SERVER.match(text):
        return text
    host = re.search(r"(?i);server(?:Name)?=([^;,]+)", text)
    port = re.search(r"(?i);port(?:Number)?=([0-9]+)", text)
    server = (host[1] if host else "") + (f":{port[1]}" if port else "")
    return text.replace("//;", f"//{server};", 1)


_TERADATA = re.compile(r"(?i)^(?:jdbc:)*teradata://([^/?;,]+)/(?=[^/]*=)([\s\S]*)$")


def _comma_options(text: str) -> str:
    """Read Teradata's `//host/DATABASE=…,USER=…,PASSWORD=…`."""
    found = _TERADATA.match(text)
    if not found:
        return text
    database = re.search(r"(?i)(?:^|,)DATABASE=([^,]*)", found[2])
    port = re.search(r"(?i)(?:^|,)DBS_PORT=([0-9]+)", found[2])
    server = found[1] + (f":{port[1]}" if port and ":" not in found[1] else "")
    return f"teradata://{server}" + (f"/{database[1]}" if database else "")


_OPTION = re.compile(rf"(?i)[:,&(]\s*[a-z_][\w.-]*=|[/ ][\w.-]{{0,40}}?(?:user|uid|{KEY})=")


def _without_options(text: str) -> str:
    """Cut what begins as an option does, whatever the driver puts in front of it.

    What begins with `?` or `;` is cut by a rule of `lineage.names.rules`, with the database in it.
    """
    kept = re.split("[?;]", text, maxsplit=1)[0]
    found = _OPTION.search(kept)
    return text[: found.start()].rstrip("/:") if found else text


_FORMS: tuple[Callable[[str], str], ...] = (
    _rename_driver,
    _oracle,
    _iris,
    _key_value_hosts,
    _server_in_options,
    _comma_options,
    _without_login,
    _without_options,
)
