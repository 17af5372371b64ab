"""Texts inside PromQL and inside the templates of labels and annotations."""

import json
from typing import Final

_LEADS: Final = "lineage_service_leader == 1"


def quote(text: str) -> str:
    """A string literal of PromQL, of Alertmanager's matchers and of templates: one syntax."""
    return json.dumps(text, ensure_ascii=False)


def selector(metric: str, **labels: str) -> str:
    """`metric{a="x",b="y"}`, or the bare name."""
    matchers = ",".join(f"{name}={quote(value)}" for name, value in labels.items())
    return f"{metric}{{{matchers}}}" if matchers else metric


def bridge(series: str, window: str = "2m") -> str:
    """Return a query for series of the leader that also has a value while the leader changes.

    Only the leader exports what the catalog says. For up to 25 s after its end no sample shows a
    leader: the last values count, so that no alert resolves and fires again. While a sample shows a
    leader, a series that is absent has no value.
    """
    last = f"last_over_time({series}[{window}])"
    return f"({series} or ({last} unless on () ({_LEADS})))"


def escape_template(text: str) -> str:
    """The text in a label or annotation, which Prometheus takes for a template: as it is."""
    return text.replace("{{", '{{ "{{" }}')


def query_template(query: str, shown: str, otherwise: str) -> str:
    """A template that asks Prometheus for one figure.

    Args:
        query: PromQL with one result.
        shown: template function for its value, as `humanizePercentage`.
        otherwise: what stands there when the query has no result.
    """
    figure = f"{{{{ with query {quote(query)} }}}}{{{{ . | first | value | {shown} }}}}"
    return f"{figure}{{{{ else }}}}{otherwise}{{{{ end }}}}"
