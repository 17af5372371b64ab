"""Events as the fake Marquez accepts or rejects them."""

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tests.fakes.marquez_http import Answer

Event = dict[str, Any]


class Raw(NamedTuple):
    """Row of `lineage_events`, without the id and arrival time, which leave no trace outside."""

    event_time: datetime
    kind: str
    event: Event


def raw(event: Event) -> Raw:
    """Return the row of an event; its kind is the end of its schemaURL."""
    url = str(event.get("schemaURL", ""))
    kind = {"DatasetEvent": "dataset", "JobEvent": "job"}.get(url.rpartition("/")[2], "run")
    return Raw(parse_time(event["eventTime"]), kind, event)


def validate(body: bytes) -> tuple[Answer | None, Event]:
    """Return the rejection of a body, or None, and its event."""
    unprocessable = Answer(500, b'{"code":400,"message":"Unable to process JSON"}')
    if not body:
        return Answer(422, b'{"errors":["must not be null"]}'), {}
    try:
        event = json.loads(body)
        if not isinstance(event, dict):
            return unprocessable, {}
        if missing := _missing(event):
            return Answer(422, json.dumps({"errors": missing}).encode()), {}
        parse_time(event["eventTime"])
    except ValueError:
        return unprocessable, {}
    facets = [*_facets(event.get("run")), *_facets(event.get("job"))]
    if not all(isinstance(facet, dict | None) for facet in facets):
        return unprocessable, {}
    return None, event


def _facets(holder: Any) -> list[Any]:  # noqa: ANN401 - JSON
    return list(((holder or {}).get("facets") or {}).values())


def _missing(event: Event) -> list[str]:
    needed = ["eventTime", "producer"]
    kind = str(event.get("schemaURL", "")).rpartition("/")[2]
    needed += {"DatasetEvent": ["dataset"], "JobEvent": ["job"]}.get(kind, ["run", "job"])
    inner = {"run": ("runId",), "job": ("namespace", "name"), "dataset": ("namespace", "name")}
    found = [name for name in needed if not event.get(name)]
    for holder in set(needed) & inner.keys() - set(found):
        found += [f"{holder}.{name}" for name in inner[holder] if event[holder].get(name) is None]
    return [f"{name} must not be null" for name in found]


def parse_time(text: str) -> datetime:
    """Return the time, in UTC unless the text has a zone."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def node_ids(event: Event) -> list[str]:
    """Return the nodes of its datasets."""
    datasets = [*(event.get("inputs") or ()), *(event.get("outputs") or ())]
    return [f"dataset:{d['namespace']}:{d['name']}" for d in datasets]
