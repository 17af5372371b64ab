"""Secrets taken out of what producers send, before the catalog keeps it.

`redact` is for texts that people read, as error messages. `clear_secrets` is for names: what is
left of a connection's URL is the server and the database. Both leave what holds no secret as it is.
"""

from lineage.redaction.names import CREDENTIALS, clear_name, clear_secrets
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
    "clear_name",
    "clear_secrets",
    "redact",
    "redact_json",
    "redact_message",
    "redact_sql",
    "redact_value",
]
