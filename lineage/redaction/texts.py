"""Texts that people read, as error messages and SQL: secrets in them are replaced."""

import re
from typing import Any

import msgspec

from lineage.redaction.patterns import MESSAGES, REDACTED, SIGNS, SQL_SECRETS, decode_percent

MESSAGE_CHARACTERS = 2_000
# Of a message, before redaction: a secret that ends behind the 2,000th character is found too.
READ_CHARACTERS = 8_000


def redact(text: str) -> str:
    """Return the text with passwords, tokens and keys replaced by `[redacted]`."""
    if not _may_hold(text):
        return text
    text = _redact_plain(text)
    if "%" in text:
        text = re.sub(r"\S+", lambda word: _redact_encoded(word[0]), text)
    return text


def redact_value(name: str, value: str) -> str:
    """Return the value of a setting or tag; `[redacted]` if its name is that of a secret."""
    redacted = redact(value)
    if redacted == value and redact(f"{name}={value}") != f"{name}={value}":
        return REDACTED
    return redacted


def redact_sql(text: str) -> str:
    """Return SQL in which secrets of literals are replaced, so that it can still be parsed."""
    if not _may_hold(text):
        return text
    for pattern, replacement in SQL_SECRETS:
        text = pattern.sub(replacement, text)
    return text


def redact_json(text: str) -> str:
    """Return JSON in which each text is redacted by itself, so that it stays JSON."""
    if not _may_hold(text):
        return text
    try:
        content = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return redact(text)
    redacted = _redact_content(content)
    return text if redacted == content else msgspec.json.encode(redacted).decode()


def _redact_content(content: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(content, str):
        return redact(content)
    if isinstance(content, list):
        return [_redact_content(item) for item in content]
    if isinstance(content, dict):
        return {redact(name): _redact_member(name, value) for name, value in content.items()}
    return content


def _redact_member(name: str, value: Any) -> Any:  # noqa: ANN401 - any JSON
    return redact_value(name, value) if isinstance(value, str) else _redact_content(value)


def _may_hold(text: str) -> bool:
    # As patterns that ignore capitals: a long s is an s, and Turkish has two more letters for i.
    small = text.casefold().replace("\u0131", "i").replace("i\u0307", "i")
    return any(sign in small for sign in SIGNS)


def _redact_plain(text: str) -> str:
    for pattern, replacement in MESSAGES:
        text = pattern.sub(replacement, text)
    return text


def _redact_encoded(word: str) -> str:
    """Return the word; one that holds a secret when it is decoded ends at the secret."""
    plain = decode_percent(word)
    if plain == word or (redacted := _redact_plain(plain)) == plain:
        return word
    # An encoded blank or comma may be one of the secret, so nothing behind its start is kept.
    return redacted.partition(REDACTED)[0] + REDACTED


def redact_message(text: str) -> str:
    """Return the first 2,000 characters of an error message, without secrets.

    Args:
        text: the message, or its first `READ_CHARACTERS` characters.
    """
    if len(text) >= READ_CHARACTERS:
        # The last word may be the beginning of a secret, which no pattern recognizes.
        text = "".join(text.rsplit(maxsplit=1)[:1])
    return redact(text)[:MESSAGE_CHARACTERS]
