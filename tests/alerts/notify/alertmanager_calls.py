"""Bodies that Alertmanager posts."""

import msgspec

BEGAN = "2026-11-21T09:30:00.123456789Z"
BURN = {
    "alertname": "DatasetFreshnessBurn",
    "severity": "page",
    "owner": "platform",
    "sli": "freshness",
    "tier": "critical",
    "area": "datasets",
}
STALE = {
    "alertname": "LineageEvaluationStale",
    "severity": "page",
    "owner": "platform",
    "area": "service",
    "root": "ingestion",
}
ACCESS = {
    "alertname": "UnauthorizedAccess",
    "severity": "page",
    "owner": "platform",
    "sli": "unauthorized_access",
    "area": "access",
}


def alert(labels, status="firing", fingerprint="f1", **given):  # noqa: ANN003
    """Return an alert as its JSON."""
    return {
        "status": status,
        "labels": labels,
        "annotations": {"summary": "Much is bad", "description": "7 % for 5m."},
        "startsAt": BEGAN,
        "endsAt": "0001-01-01T00:00:00Z" if status == "firing" else "2026-11-21T10:00:00+02:00",
        "generatorURL": "http://prometheus:9090/graph",
        "fingerprint": fingerprint,
    } | given


def body(*alerts, **given):  # noqa: ANN002, ANN003
    """Return a whole post."""
    call = {
        "version": "4",
        "groupKey": '{}:{root="x"}',
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "platform/page",
        "groupLabels": {},
        "commonLabels": {},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager:9093",
        "alerts": list(alerts),
    }
    return msgspec.json.encode(call | given)


def of_incident(number, status="firing"):
    """Return the alert of an open incident."""
    labels = {"alertname": "LinewardIncidentPage", "incident": number, "severity": "page"}
    return alert(labels, status, f"i{number[:8]}")
