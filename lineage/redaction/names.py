"""Names: what is left of a connection's URL is the server and the database."""

import re

from lineage.redaction.drivers import CONNECTION, clear_connection
from lineage.redaction.patterns import KEY, NOT_YET, QUERY_KEY, QUOTED, REDACTED, decode_percent

CREDENTIALS = "credentials"  # in place of a rule: a name held a secret
_SECRET_QUERY = re.compile(rf"(?i)[?&#;](?:[^=?&#;]{{0,80}}?(?:{KEY})|{QUERY_KEY})=")
_QUERY = re.compile(r"[?#]")
_LOGIN = re.compile(
    r"(?i)^((?:[a-z0-9+._-]+:(?://)?){0,3}?(?!(?:abfss?|wasbs?|s3[an]?|gs|gcs)://)[a-z0-9+._-]+://)"
    r"(?:[^/?#@:]*:[^/]*@|[^/?#@:]+@|[^/?#@:]*:(?![0-9]*[/?#]|[0-9]*$)[^?#]*@)"
)
# A bucket has neither `:` nor `@`; a secret key of AWS may have slashes.
_S3_LOGIN = re.compile(r"^((?i:s3[an]?)://)(?:[^/@:]+:[^@]*@)+")
# Connection strings of ODBC, ADO.NET, libpq and Azure. A slash in front is a partition's.
_PAIR = re.compile(
    rf"(?i)(?<![^\s;,&?#:(\"'{{|])([\w.-]{{0,60}}(?:{KEY})\s?=\s?){NOT_YET}(?:{QUOTED}|[^\s;&]+)"
)
_LABEL = re.compile(r"(?i)^[\w.-]{0,40}=(?=jdbc:)")
_SCHEMES = re.compile(
    r"(?i)^(?:[a-z][a-z0-9+._-]*:)+(?=//)|^(?:jdbc:|weblogic:|oracle:)+(?:[a-z0-9]+:)?"
)
# A login, or the key of a secret. `thin:@host` and `tcp://@host` have none.
_NAME_SIGN = re.compile(rf"(?i)(?<![:/@(])@|(?:{KEY}|{QUERY_KEY})=|oracle:kprb:")


def clear_name(text: str) -> str:
    """Return a name as `clear_secrets` does; a connection in a name has all its options cut."""
    cleared = clear_secrets(text)
    is_connection = CONNECTION.match(text) or (cleared != text and CONNECTION.match(cleared))
    return re.split("[?;]", cleared, maxsplit=1)[0] if is_connection else cleared


def clear_secrets(text: str) -> str:
    """Return a namespace or a name without logins, options and signatures of a connection."""
    if not any(sign in text for sign in ":=%"):
        return text
    cleared = _clear(text)
    # Blanks, capitals and encoding hide a secret, and are a part of other names.
    plain = _plain(cleared)
    if plain == cleared or not _NAME_SIGN.search(plain):
        return cleared
    usual = _clear(plain)
    return usual if usual != plain or CONNECTION.match(plain) else cleared


def _plain(text: str) -> str:
    text = _LABEL.sub("", decode_percent(text.strip()))
    return _SCHEMES.sub(lambda found: found[0].lower(), text)


def _clear(text: str) -> str:
    if CONNECTION.match(text):
        return clear_connection(text)
    text = _S3_LOGIN.sub(r"\1", _LOGIN.sub(r"\1", text))
    if _SECRET_QUERY.search(text) and (query := _QUERY.search(text)):
        text = text[: query.start()]
    return _PAIR.sub(rf"\1{REDACTED}", text)
