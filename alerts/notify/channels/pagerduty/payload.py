"""Message as a PagerDuty event: plain text, cut to the limits of PagerDuty."""

from typing import Any, Final

from alerts.notify import sentences
from alerts.notify.formatting import plain_text, quote_link
from alerts.notify.message import Message
from lineage.process.clock import from_micros

MAX_SUMMARY: Final = 1_024
MAX_EVENT_BYTES: Final = 512_000
_MAX_TEXT: Final = 4_000  # a dozen of these are within the bytes of an event, whatever they hold
_MAX_LINE: Final = 400
_MAX_LINK: Final = 2_000
_SEVERITIES: Final = {"page": "critical", "ticket": "warning"}


def build_event(message: Message) -> dict[str, Any]:
    """Return the event without its action and keys."""
    return {
        "payload": {
            "summary": plain_text(sentences.summary_line(message), MAX_SUMMARY),
            "source": plain_text(f"{message.root.namespace} {message.root.name}", MAX_SUMMARY),
            "severity": _SEVERITIES[message.severity],
            "timestamp": from_micros(message.since).isoformat(),
            "component": plain_text(message.root.name, _MAX_LINE),
            "group": plain_text(message.owner, _MAX_LINE),
            "class": plain_text(message.root.kind, _MAX_LINE),
            "custom_details": _build_details(message),
        },
        "client": "Lineward",
        "links": _links(message),
    }


def _build_details(message: Message) -> dict[str, Any]:
    details = {
        "what": plain_text(message.what, _MAX_TEXT),
        **sentences.format_times(message),
        "owner": plain_text(message.owner, _MAX_LINE),
        "affected": plain_text(sentences.impact_line(message), _MAX_LINE),
        "datasets": [
            plain_text(sentences.dataset_line(dataset), _MAX_LINE) for dataset in message.impacted
        ],
        "lines": [plain_text(line, _MAX_LINE) for line in message.lines],
        "error": plain_text(message.error or "", _MAX_TEXT),
        "first_difference": plain_text(message.first_difference or "", _MAX_TEXT),
        "note": plain_text(message.note, _MAX_TEXT),
        "flapping": sentences.FLAPPING if message.is_flapping else "",
        "bridged": sentences.BRIDGED if message.is_bridged else "",
        "revision": message.revision,
        "incident": plain_text(message.incident_id, _MAX_LINE) if message.is_answerable else "",
        "correlation_id": plain_text(message.correlation_id, _MAX_LINE),
    }
    return {name: value for name, value in details.items() if value}


def _links(message: Message) -> list[dict[str, str]]:
    shown = ((text, quote_link(url)) for text, url in message.links.labelled.items())
    return [{"href": url, "text": text} for text, url in shown if url and len(url) <= _MAX_LINK]
