"""Secret that another service signs its requests with."""

from pathlib import Path

from alerts.notify.channels.channel import MissingSecretError, read_secret
from service.errors import RejectedInputError


def read_signing_secret(file: Path | None) -> str:
    """Return the secret; empty without a file.

    Raises:
        RejectedInputError: the file cannot be read or is empty.
    """
    try:
        return "" if file is None else read_secret(file)
    except MissingSecretError as error:
        raise RejectedInputError(str(error)) from error
