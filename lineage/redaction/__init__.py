"""Secrets taken out of what producers send, before the catalog keeps it.

`redact` is for texts that people read, as error messages. `clear` is for names: what is left of a
connection's URL is the server and the database. Both leave what holds no secret as it is.
"""

from lineage.redaction.names import CREDENTIALS, clear, clear_name
from lineage.redaction.texts import (
    MESSAGE_CHARACTERS,
    READ_CHARACTERS,
    redact,
    redact_json,
    redact_message,
    redact_sql,
    redact_value,
)

__all__ = [
    "CREDENTIALS",
    "MESSAGE_CHARACTERS",
    "READ_CHARACTERS",
    "clear",
    "clear_name",
    "redact",
    "redact_json",
    "redact_message",
    "redact_sql",
    "redact_value",
]
