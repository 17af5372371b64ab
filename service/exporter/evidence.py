"""Metrics of event logs and SQL texts, and of producers that report edges correctly."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.catalog.meta_keys import EVIDENCE_LISTED_AT, EVIDENCE_UNLISTED
from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import pairs_of
from lineage.process.clock import SECOND_MICROS

_FILES = """
SELECT COUNT(*), COUNT(problem) FROM evidence_file
"""
_PASSES = f"""
SELECT name, CAST(value AS BIGINT) FROM meta
WHERE name IN ('{EVIDENCE_LISTED_AT}', '{EVIDENCE_UNLISTED}')
"""  # noqa: S608 - names of ours
_TEXTS = "SELECT COUNT(*), COUNT(problem) FROM sql_text"
_RUNS = "SELECT evidence, COUNT(*) FROM run WHERE evidence IS NOT NULL GROUP BY evidence"
_STRATA = """
SELECT producer, adapter_version, ratio, lower, upper FROM accuracy_stratum
ORDER BY total DESC LIMIT :most
"""
_MOST_STRATA = 50
_BOUNDS = ("ratio", "lower", "upper")


def evidence_families(reader: CatalogReader) -> Iterator[Metric]:
    """Yield the families; what was never compared is absent, not healthy."""
    yield from _event_logs(reader)
    yield from _sql(reader)
    yield from _accuracy(reader)


def _event_logs(reader: CatalogReader) -> Iterator[Metric]:
    passes = pairs_of(reader.rows(_PASSES))
    if not passes:
        return
    yield from _logs(reader, passes)
    runs = GaugeMetricFamily(
        "lineage_evidence_runs",
        "Runs that failed, ended or existed according to evidence, but not according to events.",
        labels=("evidence",),
    )
    for evidence, count in reader.rows(_RUNS):
        runs.add_metric((evidence,), count)
    yield runs


def _logs(reader: CatalogReader, passes: dict[str, int]) -> Iterator[Metric]:
    ((files, problems),) = reader.rows(_FILES)
    values = [
        ("files", "Event log files that were read or failed.", files),
        ("problem_files", "Event log files that could not be read completely.", problems),
        (
            "unlisted_folders",
            "Event log folders that the last scan could not list.",
            passes[EVIDENCE_UNLISTED],
        ),
    ]
    # Where no pass could, there is no such time.
    if listed_at := passes.get(EVIDENCE_LISTED_AT):
        message = "Time of the last listing of all event log folders."
        values.append(("read_timestamp_seconds", message, listed_at / SECOND_MICROS))
    for name, text, value in values:
        yield GaugeMetricFamily(f"lineage_evidence_{name}", text, value=value)


def _sql(reader: CatalogReader) -> Iterator[Metric]:
    ((texts, problems),) = reader.rows(_TEXTS)
    if texts:
        text = "Distinct SQL texts of runs."
        yield GaugeMetricFamily("lineage_sql_texts", text, value=texts)
        text = "SQL texts that could not be parsed; they verify no edges."
        yield GaugeMetricFamily("lineage_sql_problem_texts", text, value=problems)


def _accuracy(reader: CatalogReader) -> Iterator[Metric]:
    found = reader.rows(_STRATA, {"most": _MOST_STRATA})
    if not found:
        return
    family = GaugeMetricFamily(
        "lineage_accuracy_bound_ratio",
        "Ratio of edges that agree with evidence, with bounds at 95 %.",
        labels=("producer", "adapter_version", "bound"),
    )
    for row in found:
        for name in _BOUNDS:
            family.add_metric((row.producer, row.adapter_version, name), getattr(row, name))
    yield family
