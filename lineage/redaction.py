"""Secrets taken out of what producers send, before the catalog keeps it.

`redact` is for texts that people read, as error messages. `clear` is for names: what is left of a
connection's URL is the server and the database. Both leave what holds no secret as it is.
"""

import re
from collections.abc import Callable

from lineage.name_rules.databases import DATABASES

REDACTED = "[redacted]"
MESSAGE_CHARACTERS = 2_000
READ_CHARACTERS = (
    8_000  # of a message: a secret that ends behind its 2,000th character is found too
)
CREDENTIALS = "credentials"  # in place of a rule: a name held a secret

# A word that names a secret wherever it stands in a key; a short one by itself alone: `&sig=`.
_LONG = (
    r"password|passwd|passphrase|passcode|pwd|secret|token|api[._-]?key|access[._-]?key"
    r"(?:[._-]?id)?|account[._-]?key|private[._-]?key|shared[._-]?key|credential|authorization"
    r"|signature"
)
_KEY = (
    rf"(?:(?:{_LONG})|(?<![A-Za-z])(?:pass|sig|sas)(?![A-Za-z]))s?(?:[._\-0-9][\w.\-]{{0,60}})?"
    r"|x-(?:amz|goog|ms)-[\w-]{1,60}"
)
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\{[^{}]*\}"
_KEPT_HOSTS = r"(?!(?:abfss?|wasbs?)://)"  # container@account is a place, not a login
_MESSAGES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|\Z)"),
        REDACTED,
    ),
    (re.compile(r"(?i)\b(oracle:(?:thin|oci8?):)[^\s@]+@"), rf"\1{REDACTED}@"),
    (
        re.compile(
            rf"(?i)\b{_KEPT_HOSTS}([a-z][a-z0-9+.-]{{0,30}}://)[^\s/?#@]*:[^\s@]*(?:@[^\s@/]*)*@"
        ),
        rf"\1{REDACTED}@",
    ),
    (
        re.compile(rf"(?i)\b{_KEPT_HOSTS}([a-z][a-z0-9+.-]{{0,30}}://)[^\s/?#@]+@"),
        rf"\1{REDACTED}@",
    ),
    (re.compile(r"(?i)\b(bearer|basic|digest|negotiate)\s+[a-z0-9._~+/=-]{8,}"), rf"\1 {REDACTED}"),
    (
        re.compile(
            rf"(?i)({_KEY})([\"']?\s*(?:=>?|:)\s*)(?!\[redacted)({_QUOTED}|[^\s,;&)\]}}\"'<>]+)"
        ),
        rf"\1\2{REDACTED}",
    ),
    (
        re.compile(
            r"\b(?:xox[a-z]-|xapp-|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{8}|gh[pousr]_|github_pat_|glpat-"
            r"|dapi[0-9a-f]{8}|sk-[A-Za-z0-9]|sk_live_|rk_live_|AIza|ya29\.|npm_|pypi-|hf_|dop_v1_"
            r"|SG\.|eyJ[\w-]{4,}\.[\w-]+\.?)[\w.~+/=-]*"
        ),
        REDACTED,
    ),
    (re.compile(r"(?i)\bhttps://hooks\.slack\.com/\S+"), REDACTED),
)
_MAY_HOLD = re.compile(
    r"(?i)://[^\s]*@|oracle:|PRIVATE KEY|bearer|basic|digest|negotiate|xox|xapp-"
    r"|AKIA|ASIA|AROA|AIDA"
    rf"|gh[pousr]_|github_pat_|glpat-|dapi|sk-|_live_|AIza|ya29|npm_|pypi-|hf_|dop_|SG\.|eyJ|hooks\.|"
    rf"{_LONG}|pass|sig|sas|x-(?:amz|goog|ms)-"
)


def redact(text: str) -> str:
    """Return the text with passwords, tokens and keys replaced by `[redacted]`."""
    if not _MAY_HOLD.search(text):
        return text
    for pattern, replacement in _MESSAGES:
        text = pattern.sub(replacement, text)
    return text


def redact_message(text: str) -> str:
    """Return the first 2,000 characters of an error message, without secrets.

    Args:
        text: the message, or its first `READ_CHARACTERS` characters.
    """
    if len(text) >= READ_CHARACTERS:
        # The last word may be the beginning of a secret, which no pattern recognizes.
        text = "".join(text.rsplit(maxsplit=1)[:1])
    return redact(text)[:MESSAGE_CHARACTERS]


_CONNECTION = re.compile(DATABASES.when + r"|^(?:jtds|ch|informix-sqli|ids|as400|spark|redshift):")
_SECRET_QUERY = re.compile(rf"(?i)[?&#;][^=&#;]{{0,80}}?(?:{_KEY})=")
_QUERY = re.compile(r"[?#]")
_LOGIN = re.compile(
    r"(?i)^((?!(?:abfss?|wasbs?|s3[an]?|gs|gcs)://)[a-z0-9+.-]+://)"
    r"(?:[^/?#@:]*:[^/]*@|[^/?#@:]+@|[^/?#@:]*:(?![0-9]*[/?#]|[0-9]*$)[^?#]*@)"
)


def clear_name(text: str) -> str:
    """Return a name as `clear` does; a whole connection in a name has all its options cut."""
    cleared = clear(text)
    return re.split("[?;]", cleared, maxsplit=1)[0] if _CONNECTION.match(text) else cleared


def clear(text: str) -> str:
    """Return a namespace or a name without logins, options and signatures of a connection."""
    if "://" not in text and ":" not in text and "=" not in text:
        return text
    if _CONNECTION.match(text):
        return _clear_connection(text)
    text = _LOGIN.sub(r"\1", text)
    if _SECRET_QUERY.search(text) and (query := _QUERY.search(text)):
        text = text[: query.start()]
    return text


def _clear_connection(text: str) -> str:
    """Of the URL of a driver: forms first that have parts elsewhere than `//host:port/database`."""
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


_ORACLE = re.compile(r"(?i)^(?:jdbc:)*oracle:(?:thin|oci8?):(?P<rest>[\s\S]*)")


def _oracle(text: str) -> str:
    """`user/password@` comes first; then `//host:port/service`, or a descriptor in parentheses."""
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


_IN_PARENTHESES = re.compile(r"(?i)^(?:jdbc:)*(mysql|mariadb|oceanbase):(?:[a-z]+:)?//[^/]*?\(")
_DATABASE_BEHIND = re.compile(r"[)\]]\s*/([^?;/()\[\]]*)(?:[?;][\s\S]*)?$")


def _key_value_hosts(text: str) -> str:
    """MySQL's `(host=…,port=…,password=…)` and `address=(host=…)(port=…)`."""
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


_AUTHORITY = re.compile(r"^((?:[a-z0-9+._-]+:)+//)([\s\S]*)$")
_PATH_FIRST = re.compile(r"[^/@:]*(?::[0-9]*)?/")
_ODD_PASSWORD = re.compile(r"[^/?;@:]*:(?![0-9]*[?;])[^/?;]*[?;]")


def _without_login(text: str) -> str:
    """`user:password@` in front of the host; an `@` behind the options' mark is none of it."""
    found = _AUTHORITY.match(text)
    if not found or "@" not in found[2]:
        return text
    server, rest = found[1], found[2]
    before = re.split("[?;]", rest, maxsplit=1)[0]
    is_path = _PATH_FIRST.match(before) and not server.endswith("oracle://")
    if "@" in before and not is_path:
        cut = before.rfind("@") + 1
    elif _ODD_PASSWORD.match(rest):
        cut = rest.rfind("@") + 1
    else:
        return text
    return server + rest[cut:]


_NO_SERVER = re.compile(r"(?i)^((?:jdbc:)*sqlserver:)//;")


def _server_in_options(text: str) -> str:
    """SQL Server's `//;serverName=host;…`."""
    if not _NO_SERVER.match(text):
        return text
    host = re.search(r"(?i);server(?:Name)?=([^;,]+)", text)
    port = re.search(r"(?i);port(?:Number)?=([0-9]+)", text)
    server = (host[1] if host else "") + (f":{port[1]}" if port else "")
    return text.replace("//;", f"//{server};", 1)


_TERADATA = re.compile(r"(?i)^(?:jdbc:)*teradata://([^/?;,]+)/(?=[^/]*=)([\s\S]*)$")


def _comma_options(text: str) -> str:
    """Teradata's `//host/DATABASE=…,USER=…,PASSWORD=…`."""
    found = _TERADATA.match(text)
    if not found:
        return text
    database = re.search(r"(?i)(?:^|,)DATABASE=([^,]*)", found[2])
    port = re.search(r"(?i)(?:^|,)DBS_PORT=([0-9]+)", found[2])
    server = found[1] + (f":{port[1]}" if port and ":" not in found[1] else "")
    return f"teradata://{server}" + (f"/{database[1]}" if database else "")


_OPTION = re.compile(rf"(?i)[:,&(]\s*[a-z_][\w.-]*=|[/ ][\w.-]{{0,40}}?(?:user|uid|{_KEY})=")


def _without_options(text: str) -> str:
    """Cut what begins as an option does, whatever the driver puts in front of it.

    What begins with `?` or `;` a rule of `name_rules` cuts, which takes the database out of it.
    """
    kept = re.split("[?;]", text, maxsplit=1)[0]
    found = _OPTION.search(kept)
    return text[: found.start()].rstrip("/:") if found else text


_FORMS: tuple[Callable[[str], str], ...] = (
    _rename_driver,
    _oracle,
    _key_value_hosts,
    _server_in_options,
    _comma_options,
    _without_login,
    _without_options,
)
