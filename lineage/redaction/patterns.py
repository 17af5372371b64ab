"""Patterns of secrets in texts and names: the words of keys, and expressions around them.

Percent-encoding hides a secret from them: `decode` removes it.
"""

import re
from urllib.parse import unquote

REDACTED = "[redacted]"

# A word that names a secret wherever it stands in a key; a short one by itself alone: `&sig=`.
_LONG = (
    r"password|passwd|passphrase|passcode|pwd|secret|token|api[._ -]?key(?: provided)?"
    r"|access[._-]?key(?:[._-]?id)?|(?:account|private|pvt|shared|auth|crypt|encryption|signing|master|hex)[._-]?key"
    r"|credential|authorization|signature|logdata"
)
KEY = (
    rf"(?:(?:{_LONG})(?:[._-]?(?:key|hash|value|text))?"
    r"|(?<![A-Za-z])(?:pass|sig|sas|jwt|creds?)(?![A-Za-z]))s?(?:(?!->)[._\-0-9](?:(?!->)[\w.\-]){0,60}+)?+"
    r"|x-(?:amz|goog|ms)-[\w-]{1,60}+"
)
# Words that name a secret as the key of a query, and something else elsewhere: `error code=5`.
QUERY_KEY = r"key|auth|code|jwt|session|pat|otp|pin"
QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\{[^{}]*\}"
# JSON in JSON escapes its quotes, as HTML does.
_ESCAPED = r"\\{1,8}[\"'][^\"']*[\"']|&quot;[^&]*&quot;|\[[\"'][^\]]*\]"
_QUOTE = r"(?:\\{0,8}[\"']|&quot;)?"
_IS = rf"{_QUOTE}\s*(?>=>|->|:=|=|:|&#61;|\\u003[dD])\s*"
_WORD = r"[^\s,;&)\]}\"'<>]+"
NOT_YET = r"(?![\"']?\[redacted)"
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
    rf"(?:(?:{KEY}){_IS}|\(\s*[\"'](?:{KEY})[\"']\s*,\s*|{_IDENTIFIED}"
    r"|(?:password|passwd|pwd|passphrase)\s+)"
)
_LITERAL = 8_000  # characters of a literal, at most
# Behind a literal: a cast, and the name that the column gets.
_NAMED = r"(?:::\w{1,40})?(?:\s++as\s++\w{1,40})?[\s)]*+as\s++(?:[\"`\[][\w .-]{0,40}|[\w.]{0,40})"
_KEYS = (r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|\Z)", "")
_CONNECTIONS = (
    (r"(?i)\b(oracle:(?:thin|oci8?):|weblogic:oracle:)(?!\[redacted)[^\s@]{1,300}(?=@)", r"\1"),
    (r"(?i)\b(oracle:kprb:)(?!\[redacted)[^\s@\"']{1,300}", r"\1"),
    (r"(?i)\b(jdbc:(?:iris|cache)://[^\s/]{1,300}/[^\s:]{0,300}:)(?!\[redacted)[^\s\"']+", r"\1"),
    (rf"(?i)\b{_KEPT_HOSTS}({_SCHEME}://)[^\s/?#@:]*:{_OF_LOGIN}(?:@[^\s@/]*)*(?=@)", r"\1"),
    (rf"(?i)\b{_KEPT_HOSTS}({_SCHEME}://){NOT_YET}[^\s/?#@]+(?=@)", r"\1"),
)
_LITERALS = (
    (rf"(?i)({_BEFORE_QUOTE})([\"'])(?!\[redacted)(?:(?!\2)[^\\]|\\.)*(?=\2)", r"\1\2"),
    # SQL: 'P' AS password, CAST('P' AS string) AS password
    (
        rf"(?i)(?<![^\s(,=|ne])(')(?!\[redacted)(?:[^'\\]|\\.|''){{0,{_LITERAL}}}+(?='{_NAMED}(?:{KEY}))",
        r"\1",
    ),
    (rf"(?i)([?&](?:{QUERY_KEY})=){NOT_YET}{_WORD}", r"\1"),
    (_TOKENS, ""),
    (rf"(?i)\bhttps://(?:{_HOOKS})/[^\s\"']+", ""),
)
_WORDS = (
    (rf"(?i)(<[\w:.-]{{0,40}}(?:{KEY})>){NOT_YET}[^<\s][^<]*(?=</)", r"\1"),
    (rf"(?i)(authorization{_IS}){NOT_YET}{_AUTHORIZATION}", r"\1"),
    (rf"(?i)\b({_TOOLS}\s+)[^\s/@]{{1,128}}/[^\s@]{{1,300}}(?=@)", r"\1"),
    (r"(?i)\b((?:bearer|basic|digest|negotiate)\s+)[a-z0-9._~+/=-]{8,}", r"\1"),
    (rf"(?i)((?:{KEY}){_IS}){NOT_YET}(?:{QUOTED}|{_ESCAPED}|{_WORD})", r"\1"),
    (rf"(?i)((?<!\w)\((?:{KEY}),){NOT_YET}[^\s,()]+(?=\))", r"\1"),
    (rf"(?i)({_IDENTIFIED}){NOT_YET}{_WORD}", r"\1"),
    (
        rf"(?i)((?<!-)--(?!-)[\w.-]{{0,40}}(?:{KEY})(?<!file)(?<!path)\s+)(?!-|\[redacted){_WORD}",
        r"\1",
    ),
)
# In SQL a word without quotes is a column: `password = u.password`. An option in a URL is none.
_OPTIONS = ((rf"(?i)([?&;:,/][\w.-]{{0,40}}(?:{KEY})=){NOT_YET}{_WORD}", r"\1"),)

_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_MOST_DECODINGS = 3


def _compiled(*patterns: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), kept + REDACTED) for pattern, kept in patterns)


MESSAGES = _compiled(_KEYS, *_CONNECTIONS, *_WORDS[:2], *_LITERALS, *_WORDS[2:])
SQL_SECRETS = _compiled(_KEYS, *_CONNECTIONS, *_LITERALS, *_OPTIONS)
# A text without these holds nothing that a pattern finds: looked for in small letters.
SIGNS = (
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
    *("pass", "pwd", "secret", "token", "key", "cred", "auth", "signature", "sig"),
    *("sas", "jwt", "logdata", "identified", "x-amz-", "x-goog-", "x-ms-", "xox", "xapp-", "akia"),
    *("asia", "aroa", "aida", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
    *("whsec_", "hvs.", "shpat_", "glsa_", "dckr_pat_", "lin_api_", "atatt3", "_test_"),
    *("dapi", "sk-", "_live_", "aiza", "ya29.", "npm_", "pypi-", "hf_", "dop_v1_", "sg.", "eyj"),
)


def decode_percent(text: str) -> str:
    """Return the text without percent-encoding, which may be there several times."""
    for _ in range(_MOST_DECODINGS):
        if not _ENCODED.search(text):
            break
        text = unquote(text).replace("\0", "")
    return text
