"""PromQL, matchers of Alertmanager, and templates of labels and annotations."""

import json
import re
from collections.abc import Iterable
from typing import Final

_LEADS: Final = "lineage_service_leader == 1"


def quote(text: str) -> str:
    """Return a string literal of PromQL and of templates."""
    return json.dumps(text, ensure_ascii=False)


def selector(metric: str, **labels: str) -> str:
    """Return `metric{a="x",b="y"}`, or the metric alone."""
    matchers = ",".join(f"{name}={quote(value)}" for name, value in labels.items())
    return f"{metric}{{{matchers}}}" if matchers else metric


def bridge(series: str, window: str = "2m") -> str:
    """Return a query for series of the leader that also has a value while the leader changes.

    Only the leader exports figures of the catalog. For up to 25 s after its end no sample shows a
    leader: the last values count, so that no alert resolves and fires again. While a sample shows a
    leader, a series that is absent has no value.
    """
    last = f"last_over_time({series}[{window}])"
    return f"({series} or ({last} unless on () ({_LEADS})))"


def escape_template(text: str) -> str:
    """Return the text for a label or annotation, in which Prometheus expands templates."""
    return text.replace("{{", '{{ "{{" }}')


def query_template(query: str, shown: str, otherwise: str, by: Iterable[str] = ()) -> str:
    """Return a template that queries Prometheus for one figure.

    Args:
        query: PromQL with one result.
        shown: template function for its value, as `humanizePercentage`.
        otherwise: text where the query has no result.
        by: labels of the alert, whose values replace each `%q` of the query in turn.
    """
    values = "".join(f" $labels.{label}" for label in by)
    asked = f"(printf {quote(query)}{values})" if values else quote(query)
    figure = f"{{{{ with query {asked} }}}}{{{{ . | first | value | {shown} }}}}"
    return f"{figure}{{{{ else }}}}{otherwise}{{{{ end }}}}"


def list_template(query: str, shown: str) -> str:
    """Return a template that lists the results of a query, with commas.

    Args:
        query: PromQL.
        shown: template of one result, as `{{ .Labels.job }}`.
    """
    comma = "{{ if $i }}, {{ end }}"
    return f"{{{{ range $i, $each := query {quote(query)} }}}}{comma}{shown}{{{{ end }}}}"


def equal(label: str, value: str) -> str:
    """Return the matcher `label="value"`."""
    return f"{label}={_escape(value)}"


def unequal(label: str, value: str) -> str:
    """Return the matcher `label!="value"`; with an empty value: the label exists."""
    return f"{label}!={_escape(value)}"


def one_of(label: str, values: Iterable[str]) -> str:
    """Return a matcher: the label is one of these."""
    return f"{label}=~{_escape('|'.join(map(re.escape, values)))}"


def none_of(label: str, values: Iterable[str]) -> str:
    """Return a matcher: the label is none of these, or does not exist."""
    return f"{label}!~{_escape('|'.join(map(re.escape, values)))}"


def _escape(text: str) -> str:
    # The parser of Alertmanager before 0.27 knows these three escapes alone; newer ones too.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
