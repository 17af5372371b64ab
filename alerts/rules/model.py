"""Prometheus rules as plain values, and as YAML."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import yaml

from alerts.rules.promql import escape_template, query_template, quote

OUTAGE_LABEL: Final = "ingestion"  # `root` of alerts that no lineage comes in
OUTSIDE: Final = {"reach": "outside"}  # notified by another way than the service


class RecordingRule(msgspec.Struct, frozen=True):
    """Recording rule."""

    name: str
    expr: str
    labels: dict[str, str] = {}

    def document(self) -> dict[str, Any]:
        """Return the document that Prometheus reads."""
        found = {"record": self.name, "expr": self.expr}
        return {**found, "labels": self.labels} if self.labels else found


class AlertRule(msgspec.Struct, frozen=True, kw_only=True):
    """Alerting rule. Its texts are templates: foreign text passes `escape_template` first.

    Attributes:
        hold: Prometheus duration for which it must be true; none fires at once.
        about: labels beside severity and owner.
        owner: to notify; None where the series has the label itself.
    """

    name: str
    expr: str
    severity: str | None
    summary: str
    description: str
    owner: str | None
    about: dict[str, str] = {}
    hold: str | None = None

    def document(self, runbooks: str) -> dict[str, Any]:
        """Return the document that Prometheus reads; `runbooks` is the base URL of runbooks."""
        own = {"severity": self.severity, "owner": self.owner, **self.about}
        labels = {name: escape_template(value) for name, value in own.items() if value is not None}
        found: dict[str, Any] = {"alert": self.name, "expr": self.expr}
        if self.hold is not None:
            found["for"] = self.hold
        texts = {
            "summary": self.summary,
            "description": self.description,
            "runbook_url": escape_template(f"{runbooks.rstrip('/')}/{self.name}"),
        }
        return {**found, "labels": labels, "annotations": texts}


class ServiceAlert(msgspec.Struct, frozen=True, kw_only=True):
    """Alert on Lineward itself, as a row of `service_alert_table`.

    Attributes:
        root: label; alerts of one root are one message.
        hold: Prometheus duration for which it must be true; None: it fires at once.
        is_outside: the service may be unable to notify of it.
        by: labels of its series: each series is an alert with a start of its own.
        figures: templates, by the names that stand for them in the description in braces;
            `{since}`, since when the alert fires, is one of each alert.

    The description of the alert ends with the command that prints its runbook.
    """

    name: str
    severity: str
    root: str
    expr: str
    summary: str
    description: str
    hold: str | None = None
    is_outside: bool = False
    by: tuple[str, ...] = ()
    figures: Mapping[str, str] = {}

    def alert(self, owner: str) -> AlertRule:
        """Return the alert of this row."""
        text = self.description
        for name, figure in {"since": since(self.name, *self.by), **self.figures}.items():
            text = text.replace(f"{{{name}}}", figure)
        about = {"area": "service", "root": self.root, **(OUTSIDE if self.is_outside else {})}
        return AlertRule(
            name=self.name,
            expr=self.expr,
            hold=self.hold,
            severity=self.severity,
            owner=owner,
            about=about,
            summary=self.summary,
            description=f"{text} `lineward runbook {self.name}` prints what to do.",
        )


Rule = RecordingRule | AlertRule


class PrometheusGroup(msgspec.Struct, frozen=True):
    """Rules that are evaluated one after the other, so that each sees what those before recorded.

    Attributes:
        interval: Prometheus duration; none is the interval of Prometheus.
    """

    name: str
    rules: tuple[Rule, ...]
    interval: str | None = None

    def document(self, runbooks: str) -> dict[str, Any]:
        """Return the document that Prometheus reads."""
        found: dict[str, Any] = {"name": self.name}
        if self.interval is not None:
            found["interval"] = self.interval
        rules = [
            rule.document(runbooks) if isinstance(rule, AlertRule) else rule.document()
            for rule in self.rules
        ]
        return {**found, "rules": rules}


def since(name: str, *by: str, **labels: str) -> str:
    """Return a template: since when the alert fires, as Prometheus remembers it.

    Args:
        name: of the alert.
        by: labels of its series, which have other values in each of its alerts.
        labels: labels that have one value.
    """
    matchers = {"alertname": name, **labels}
    own = [f"{label}={quote(value)}" for label, value in matchers.items()]
    inner = ",".join([*own, *(f"{label}=%q" for label in by)])
    return query_template(f"max(ALERTS_FOR_STATE{{{inner}}})", "humanizeTimestamp", "now", by)


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks, nothing by reference."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        """Return that every value is written out."""
        return True


_PLAIN_BLOCK = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]*")


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    is_block = "\n" in text and _PLAIN_BLOCK.fullmatch(text)
    style = "|" if is_block else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def to_yaml(document: dict[str, Any], head: Iterable[str] = ()) -> str:
    """Return YAML with comments in `head`; the same document gives the same bytes."""
    comments = "".join(f"# {line}\n" for line in head)
    return comments + yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000
    )
