"""Delivery through Apprise, which reports only whether a message was accepted."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Final
from urllib.parse import unquote

import apprise

from alerts.notify import sentences
from alerts.notify.channels.channel import (
    ChannelTask,
    DeliveryOutcome,
    PermanentFailure,
    Retryable,
    Sent,
    cut_error,
)
from alerts.notify.formatting import plain_text, quote_link
from alerts.notify.message import Message

_MAX_TITLE: Final = 250
_MAX_LINE: Final = 400
_TYPES: Final = {"resolved": "success", "acknowledged": "info", "notice": "info", "test": "info"}
# Words with which services notify a whole channel: names of datasets must not.
_MENTION: Final = re.compile(r"(?<=[@!])(?=everyone\b|here\b|channel\b|all\b)|(?<=<)(?=[@!#&])")
# No picture is fetched from the project of Apprise, and no plugin from a folder.
_ASSET: Final = apprise.AppriseAsset(
    app_id="Lineward",
    app_desc="Lineward",
    image_url_mask=None,
    image_url_logo=None,
    async_mode=False,
    secure_logging=True,
)
_LOGGER: Final = logging.getLogger("apprise")
# What goes wrong is an outcome; a line of Apprise's own may repeat an answer with a secret.
_LOGGER.propagate = False
_LOGGER.addHandler(logging.NullHandler())
_LOGGER.setLevel(logging.DEBUG)


def deliver_to_apprise(
    task: ChannelTask, url: str, secrets: tuple[str, ...], timeout_seconds: int
) -> DeliveryOutcome:
    """Send a message to a URL of Apprise, once.

    Args:
        task: the message.
        url: with its secrets.
        secrets: that no error may show.
        timeout_seconds: of a connection, and of an answer.
    """
    with _capture_errors() as errors:
        service = apprise.Apprise.instantiate(url, asset=_ASSET, suppress_exceptions=True)
        if service is None:
            return PermanentFailure("invalid_url", _join(errors, *secrets))
        service.redirects = False
        service.socket_connect_timeout = service.socket_read_timeout = float(timeout_seconds)
        is_accepted = service.notify(
            title=title_of(task.message),
            body=body_of(task.message),
            notify_type=_TYPES.get(task.message.kind, "failure"),
            body_format=apprise.NotifyFormat.TEXT,
        )
    if is_accepted:
        return Sent(is_repeat=task.doubt_since is not None)
    return Retryable("not_accepted", _join(errors, *secrets), is_in_doubt=True)


def title_of(message: Message) -> str:
    """Return the subject of a mail, or the first line of a post."""
    return _plain(sentences.summary_line(message), _MAX_TITLE)


def body_of(message: Message) -> str:
    """Return the message as lines of text: whatever a name holds, it stays on its line."""
    labelled = (
        (sentences.ERROR, message.error),
        (sentences.FIRST_DIFFERENCE, message.first_difference),
        ("", message.note),
    )
    paragraphs = (
        sentences.field_lines(message),
        [*sentences.impact_lines(message), *message.lines],
        [f"{label}{text}" for label, text in labelled if text],
        _links(message),
        sentences.context_lines(message),
    )
    shown = ("\n".join(_plain(line, _MAX_LINE) for line in lines) for lines in paragraphs if lines)
    return "\n\n".join(shown)


def _links(message: Message) -> list[str]:
    links = ((label, quote_link(url)) for label, url in message.links.labelled.items())
    return [f"{label}: {link}" for label, link in links if link and len(link) < _MAX_LINE // 2]


def _plain(text: str, limit: int) -> str:
    return _MENTION.sub(" ", plain_text(text, limit))


@contextmanager
def _capture_errors() -> Iterator[list[str]]:
    """Collect what Apprise logs in this thread; other threads send at the same time."""
    handler = _ThreadHandler()
    _LOGGER.addHandler(handler)
    try:
        yield handler.lines
    finally:
        _LOGGER.removeHandler(handler)


class _ThreadHandler(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        self._thread = get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep warnings, errors, and the reason that Apprise logs for debugging alone."""
        line = record.getMessage()
        is_reason = record.levelno >= logging.WARNING or line.startswith("Socket Exception")
        if is_reason and record.thread == self._thread:
            self.lines.append(line)


def _join(errors: list[str], *secrets: str) -> str:
    # A URL holds a secret quoted, and an answer may repeat it as it was sent.
    longest_first = sorted({*secrets, *map(unquote, secrets)}, key=len, reverse=True)
    return cut_error(" ".join(errors), *longest_first)
