"""Secrets taken out of what producers send, before the catalog keeps it.

`redact` is for texts that people read, as error messages. `clear` is for names: what is left of a
connection's URL is the server and the database. Both leave what holds no secret as it is.
"""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import msgspec

from lineage.name_rules.databases import DATABASES

REDACTED = "[redacted]"
MESSAGE_CHARACTERS = 2_000
# Of a message, before redaction: a secret that ends behind the 2,000th character is found too.
READ_CHARACTERS = 8_000
CREDENTIALS = "credentials"  # in place of a rule: a name held a secret

# A word that names a secret wherever it stands in a key; a short one by itself alone: `&sig=`.
_LONG = (
    r"password|passwd|passphrase|passcode|pwd|secret|token|api[._ -]?key(?: provided)?"
    r"|access[._-]?key(?:[._-]?id)?|(?:account|private|pvt|shared|auth|crypt|encryption|signing|master|hex)[._-]?key"
    r"|credential|authorization|signature|logdata"
)
_KEY = (
    rf"(?:(?:{_LONG})(?:[._-]?(?:key|hash|value|text))?"
    r"|(?<![A-Za-z])(?:pass|sig|sas|jwt|creds?)(?![A-Za-z]))s?(?:(?!->)[._\-0-9](?:(?!->)[\w.\-]){0,60}+)?+"
    r"|x-(?:amz|goog|ms)-[\w-]{1,60}+"
)
# Words that name a secret as the key of a query, and something else elsewhere: `error code=5`.
_QUERY_KEY = r"key|auth|code|jwt|session|pat|otp|pin"
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\{[^{}]*\}"
# JSON in JSON escapes its quotes, as HTML does.
_ESCAPED = r"\\{1,8}[\"'][^\"']*[\"']|&quot;[^&]*&quot;|\[[\"'][^\]]*\]"
_QUOTE = r"(?:\\{0,8}[\"']|&quot;)?"
_IS = rf"{_QUOTE}\s*(?>=>|->|:=|=|:|&#61;|\\u003[dD])\s*"
_WORD = r"[^\s,;&)\]}\"'<>]+"
_NOT_YET = r"(?![\"']?\[redacted)"
_SCHEME = r"[a-z][a-z0-9+._-]{0,30}"
_KEPT_HOSTS = r"(?!(?:abfss?|wasbs?)://)"  # container@account is a place, not a login
# What cannot be part of a login, so that a text of many `://` is read once.
_OF_LOGIN = r"(?:(?!://)[^\s@])*"
_TOOLS = r"(?:sqlplus|connect|conn|expdp|impdp|sqlldr|rman)"  # they take user/password@database
_IDENTIFIED = r"identified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:values\s+)?"
_AUTHORIZATION = rf"\[?(?:[a-z][\w-]{{1,30}}\s+)?{_WORD}(?:\"[^\"]*\")?"
_HOOKS = (
    r"hooks\.slack\.com|discord(?:app)?\.com/api/webhooks|outlook\.office\.com/webhook"
    r"|[\w-]{1,63}\.webhook\.office\.com"
)
_TOKENS = (
    r"\b(?:xox[a-z]-|xapp-|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{8}|gh[pousr]_|github_pat_|glpat-"
    r"|dapi[0-9a-f]{8}|sk-[A-Za-z0-9]|sk_(?:live|test)_|rk_live_|whsec_|AIza|ya29\.|npm_|pypi-"
    r"|hf_|dop_v1_|hvs\.|shpat_|glsa_|dckr_pat_|lin_api_|ATATT3|SG\."
    r"|eyJ[\w-]{4,}\.[\w-]+\.?)[\w.~+/=-]*"
)
_BEFORE_QUOTE = (
    rf"(?:(?:{_KEY}){_IS}|\(\s*[\"'](?:{_KEY})[\"']\s*,\s*|{_IDENTIFIED}"
    r"|(?:password|passwd|pwd|passphrase)\s+)"
)
_KEYS = (r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|\Z)", "")
_CONNECTIONS = (
    (r"(?i)\b(oracle:(?:thin|oci8?):|weblogic:oracle:)(?!\[redacted)[^\s@]{1,300}(?=@)", r"\1"),
    (r"(?i)\b(oracle:kprb:)(?!\[redacted)[^\s@\"']{1,300}", r"\1"),
    (r"(?i)\b(jdbc:(?:iris|cache)://[^\s/]{1,300}/[^\s:]{0,300}:)(?!\[redacted)[^\s\"']+", r"\1"),
    (rf"(?i)\b{_KEPT_HOSTS}({_SCHEME}://)[^\s/?#@:]*:{_OF_LOGIN}(?:@[^\s@/]*)*(?=@)", r"\1"),
    (rf"(?i)\b{_KEPT_HOSTS}({_SCHEME}://){_NOT_YET}[^\s/?#@]+(?=@)", r"\1"),
)
_LITERALS = (
    (rf"(?i)({_BEFORE_QUOTE})([\"'])(?!\[redacted)(?:(?!\2)[^\\]|\\.)*(?=\2)", r"\1\2"),
    (rf"(?i)([?&](?:{_QUERY_KEY})=){_NOT_YET}{_WORD}", r"\1"),
    (_TOKENS, ""),
    (rf"(?i)\bhttps://(?:{_HOOKS})/[^\s\"']+", ""),
)
_WORDS = (
    (rf"(?i)(<[\w:.-]{{0,40}}(?:{_KEY})>){_NOT_YET}[^<\s][^<]*(?=</)", r"\1"),
    (rf"(?i)(authorization{_IS}){_NOT_YET}{_AUTHORIZATION}", r"\1"),
    (rf"(?i)\b({_TOOLS}\s+)[^\s/@]{{1,128}}/[^\s@]{{1,300}}(?=@)", r"\1"),
    (r"(?i)\b((?:bearer|basic|digest|negotiate)\s+)[a-z0-9._~+/=-]{8,}", r"\1"),
    (rf"(?i)((?:{_KEY}){_IS}){_NOT_YET}(?:{_QUOTED}|{_ESCAPED}|{_WORD})", r"\1"),
    (rf"(?i)((?<!\w)\((?:{_KEY}),){_NOT_YET}[^\s,()]+(?=\))", r"\1"),
    (rf"(?i)({_IDENTIFIED}){_NOT_YET}{_WORD}", r"\1"),
    (
        rf"(?i)((?<!-)--(?!-)[\w.-]{{0,40}}(?:{_KEY})(?<!file)(?<!path)\s+)(?!-|\[redacted){_WORD}",
        r"\1",
    ),
)
# In SQL a word without quotes is a column: `password = u.password`. An option in a URL is none.
_OPTIONS = ((rf"(?i)([?&;:,/][\w.-]{{0,40}}(?:{_KEY})=){_NOT_YET}{_WORD}", r"\1"),)


def _compiled(*patterns: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), kept + REDACTED) for pattern, kept in patterns)


_MESSAGES = _compiled(_KEYS, *_CONNECTIONS, *_WORDS[:2], *_LITERALS, *_WORDS[2:])
_SQL = _compiled(_KEYS, *_CONNECTIONS, *_LITERALS, *_OPTIONS)
# A text without these holds nothing that a pattern finds: looked for in small letters.
_SIGNS = (
    *(
        "@",
        "?",
        "&",
        "%",
        "oracle:",
        "://",
        "private key",
        "bearer",
        "basic",
        "digest",
        "negotiate",
    ),
    *("pass", "pwd", "secret", "token", "key", "credential", "creds", "auth", "signature", "sig"),
    *("sas", "jwt", "logdata", "identified", "x-amz-", "x-goog-", "x-ms-", "xox", "xapp-", "akia"),
    *("asia", "aroa", "aida", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
    *("whsec_", "hvs.", "shpat_", "glsa_", "dckr_pat_", "lin_api_", "atatt3", "_test_"),
    *("dapi", "sk-", "_live_", "aiza", "ya29.", "npm_", "pypi-", "hf_", "dop_v1_", "sg.", "eyj"),
)
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_MOST_DECODINGS = 3


def redact(text: str) -> str:
    """Return the text with passwords, tokens and keys replaced by `[redacted]`."""
    if not _may_hold(text):
        return text
    text = _redact_plain(text)
    if "%" in text:
        text = re.sub(r"\S+", lambda word: _redact_encoded(word[0]), text)
    return text


def redact_sql(text: str) -> str:
    """Return SQL in which secrets of literals are replaced, so that it can still be parsed."""
    if not _may_hold(text):
        return text
    for pattern, replacement in _SQL:
        text = pattern.sub(replacement, text)
    return text


def redact_json(text: str) -> str:
    """Return JSON in which each text is redacted by itself, so that it stays JSON."""
    if redact(text) == text:
        return text
    try:
        content = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return redact(text)
    return msgspec.json.encode(_redact_content(content)).decode()


def _redact_content(content: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(content, str):
        return redact(content)
    if isinstance(content, list):
        return [_redact_content(item) for item in content]
    if isinstance(content, dict):
        return {redact(key): _redact_content(value) for key, value in content.items()}
    return content


def _may_hold(text: str) -> bool:
    small = text.lower()
    return any(sign in small for sign in _SIGNS)


def _redact_plain(text: str) -> str:
    for pattern, replacement in _MESSAGES:
        text = pattern.sub(replacement, text)
    return text


def _redact_encoded(word: str) -> str:
    """Return the word; one that holds a secret when it is decoded ends at the secret."""
    decoded = _decoded(word)
    if decoded == word or (redacted := _redact_plain(decoded)) == decoded:
        return word
    # An encoded blank or comma may be one of the secret, so nothing behind its start is kept.
    return redacted.partition(REDACTED)[0] + REDACTED


def _decoded(text: str) -> str:
    """Return the text without percent-encoding, which may be there several times."""
    for _ in range(_MOST_DECODINGS):
        if not _ENCODED.search(text):
            break
        text = unquote(text).replace("\0", "")
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
_SECRET_QUERY = re.compile(rf"(?i)[?&#;](?:[^=?&#;]{{0,80}}?(?:{_KEY})|{_QUERY_KEY})=")
_QUERY = re.compile(r"[?#]")
_LOGIN = re.compile(
    r"(?i)^((?:[a-z0-9+._-]+:(?://)?){0,3}?(?!(?:abfss?|wasbs?|s3[an]?|gs|gcs)://)[a-z0-9+._-]+://)"
    r"(?:[^/?#@:]*:[^/]*@|[^/?#@:]+@|[^/?#@:]*:(?![0-9]*[/?#]|[0-9]*$)[^?#]*@)"
)
# A bucket has neither `:` nor `@`; a secret key of AWS may have slashes.
_S3_LOGIN = re.compile(r"^((?i:s3[an]?)://)(?:[^/@:]+:[^@]*@)+")
# Connection strings of ODBC, ADO.NET, libpq and Azure. A slash in front is a partition's.
_PAIR = re.compile(
    rf"(?i)(?<![^\s;,&?#:(\"'{{|])([\w.-]{{0,60}}(?:{_KEY})\s?=\s?){_NOT_YET}(?:{_QUOTED}|[^\s;&]+)"
)
_LABEL = re.compile(r"(?i)^[\w.-]{0,40}=(?=jdbc:)")
_SCHEMES = re.compile(
    r"(?i)^(?:[a-z][a-z0-9+._-]*:)+(?=//)|^(?:jdbc:|weblogic:|oracle:)+(?:[a-z0-9]+:)?"
)
# A login, or the key of a secret. `thin:@host` and `tcp://@host` have none.
_NAME_SIGN = re.compile(rf"(?i)(?<![:/@(])@|(?:{_KEY}|{_QUERY_KEY})=|oracle:kprb:")


def clear_name(text: str) -> str:
    """Return a name as `clear` does; a whole connection in a name has all its options cut."""
    cleared = clear(text)
    is_connection = _CONNECTION.match(text) or (cleared != text and _CONNECTION.match(cleared))
    return re.split("[?;]", cleared, maxsplit=1)[0] if is_connection else cleared


def clear(text: str) -> str:
    """Return a namespace or a name without logins, options and signatures of a connection."""
    if not any(sign in text for sign in ":=%"):
        return text
    cleared = _clear(text)
    # Blanks, capitals and encoding hide a secret, and are a part of other names.
    plain = _plain(cleared)
    if plain == cleared or not _NAME_SIGN.search(plain):
        return cleared
    usual = _clear(plain)
    return usual if usual != plain or _CONNECTION.match(plain) else cleared


def _plain(text: str) -> str:
    text = _LABEL.sub("", _decoded(text.strip()))
    return _SCHEMES.sub(lambda found: found[0].lower(), text)


def _clear(text: str) -> str:
    if _CONNECTION.match(text):
        return _clear_connection(text)
    text = _S3_LOGIN.sub(r"\1", _LOGIN.sub(r"\1", text))
    if _SECRET_QUERY.search(text) and (query := _QUERY.search(text)):
        text = text[: query.start()]
    return _PAIR.sub(rf"\1{REDACTED}", text)


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


_ORACLE = re.compile(
    r"(?i)^(?:jdbc:)*(?:oracle:(?:thin|oci8?|kprb)|weblogic:oracle):(?P<rest>[\s\S]*)"
)


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


_IRIS = re.compile(r"(?i)^((?:jdbc:)*(?:iris|cache)://[^/]+/[^:/;?]*)[^:]*:[\s\S]*$")


def _iris(text: str) -> str:
    """Cut what follows the namespace of InterSystems IRIS: log file, user and password."""
    return _IRIS.sub(r"\1", text)


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


_AUTHORITY = re.compile(r"(?i)^((?:(?:[a-z0-9+._-]+:)+//)+)([\s\S]*)$")
_PATH_FIRST = re.compile(r"[^/@:]*(?::[0-9]*)?/")
_ODD_PASSWORD = re.compile(r"[^/?;@:]*:(?![0-9]*[?;])[^/?;]*[?;]")


def _without_login(text: str) -> str:
    """`user:password@` in front of the host; an `@` behind the options' mark is none of it."""
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
    _iris,
    _key_value_hosts,
    _server_in_options,
    _comma_options,
    _without_login,
    _without_options,
)
