"""Compare the frames that functions return with the schemas that declare them."""

from functools import partial

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lineage.policy.objectives import Requirements
from slis.evaluation import facts_as_of, judge_datasets, reasons, sli_schemas
from slis.evidence import lines, parse
from slis.evidence import schemas as logs
from slis.indicators import lag, provenance, unsourced_reads
from slis.indicators.accuracy import (
    checks,
    evaluate,
    facet_oracle,
    sql_catalog,
    sql_inputs,
    sql_match,
    sql_parse,
)
from slis.indicators.accuracy import schemas as accuracy
from slis.indicators.completeness import edges, nodes
from slis.indicators.completeness import schemas as completeness
from slis.indicators.quality import assertions, foreign_claims, schema_mismatch, unexpected_source
from slis.indicators.quality import evaluate as content
from slis.indicators.quality import schemas as quality
from tests.slis.sli_frames import frame

_AT = sli_schemas.INSTANTS
_WITH_NAMES = "run_key bigint, root_run_id string, sql_key bigint, names string"
_SQL = (accuracy.TOUCHED, accuracy.KNOWN_NAMES)
# What a frame has beside the schema that its docstring names.
_EXCUSED = f"{sli_schemas.JUDGED}, inputs_written_at timestamp, excused_until timestamp"

_SLIS = [
    (facts_as_of.activity, (sli_schemas.WRITES, sli_schemas.READS), sli_schemas.ACTIVITY),
    (
        facts_as_of.facts_as_of,
        (sli_schemas.ACTIVITY, sli_schemas.DATASETS, _AT),
        sli_schemas.KNOWN,
    ),
    (
        judge_datasets.datasets_judged,
        (sli_schemas.KNOWN, sli_schemas.EDGES, sli_schemas.GAPS, sli_schemas.PAUSES),
        _EXCUSED,
    ),
    (judge_datasets.count_datasets, (_EXCUSED, sli_schemas.KNOWN), sli_schemas.TALLIES),
    (reasons.add_reasons, (_EXCUSED, sli_schemas.EDGES), sli_schemas.STATES),
    *(
        (
            partial(provenance.judge_reads, horizon=None),
            (sli_schemas.READS, sli_schemas.WRITES, datasets, _AT),
            sli_schemas.READ_OUTCOMES,
        )
        for datasets in (sli_schemas.DATASETS, sli_schemas.DATASET_TIERS)
    ),
    (unsourced_reads.unsourced_states, (sli_schemas.UNSOURCED_READS, _AT), sli_schemas.STATES),
    (lag.count_lag, (sli_schemas.EVENTS, _AT), sli_schemas.LAGS),
]
_LOGS = [
    (partial(lines.read_lines, event_schema=logs.EVENT), (logs.LINES,), logs.LOGGED),
    (parse.applications, (logs.LOGGED,), logs.APPLICATIONS),
    (parse.executions, (logs.LOGGED,), logs.EXECUTIONS),
    (parse.touched_by_plans, (logs.LOGGED,), logs.TOUCHED),
    (parse.touched_by_streams, (logs.LOGGED,), logs.TOUCHED),
    (parse.jobs, (logs.LOGGED,), logs.JOBS),
    (parse.stages, (logs.LOGGED,), logs.STAGES),
]
_ACCURACY = [
    (checks.compare_edges, (accuracy.SOURCES, accuracy.SOURCES), accuracy.CHECKED),
    (
        facet_oracle.facet_checks,
        (accuracy.FACET_SOURCES, accuracy.SOURCES, accuracy.WHOLE),
        accuracy.FINDINGS,
    ),
    (partial(evaluate.strata, objective=0.98), (accuracy.CHECKS,), accuracy.STRATA),
    (evaluate.accuracy_tally, (accuracy.CHECKS, _AT), sli_schemas.TALLIES),
    (evaluate.accuracy_states, (accuracy.LATEST_CHECKS, _AT), sli_schemas.STATES),
    (sql_catalog.parsed_statements, (_WITH_NAMES,), accuracy.STATEMENTS),
    (sql_parse.parsed_sql, (accuracy.UNPARSED_SQL,), accuracy.SQL_NAMES),
    (sql_match.asked_names, (accuracy.STATEMENTS, *_SQL), accuracy.ASKED),
    (sql_match.sql_evidence, (accuracy.ASKED, *_SQL, accuracy.LEADS), accuracy.SQL_SOURCES),
    (
        sql_inputs.select_runs_without_inputs,
        (accuracy.SQL_SOURCES, accuracy.SQL_RUNS),
        accuracy.SQL_SOURCES,
    ),
    (
        sql_inputs.select_runs_with_inputs,
        (accuracy.SQL_SOURCES, accuracy.SQL_RUNS),
        accuracy.SOURCES,
    ),
]
_COMPLETENESS = [
    (
        partial(nodes.judge_nodes, requirements=Requirements()),
        (completeness.NODES, _AT),
        completeness.NODES_JUDGED,
    ),
    (nodes.node_tally, (completeness.NODES_JUDGED,), sli_schemas.TALLIES),
    (nodes.node_states, (completeness.NODES_JUDGED,), sli_schemas.STATES),
    (
        edges.judge_edges,
        (completeness.EXPECTED_EDGES, _AT, sli_schemas.GAPS),
        completeness.EDGES_JUDGED,
    ),
    (edges.edge_tally, (completeness.EDGES_JUDGED,), sli_schemas.TALLIES),
    (edges.edge_states, (completeness.EDGES_JUDGED, completeness.NAMES), sli_schemas.STATES),
]
_CONTENT = [
    (assertions.failed_assertions, (quality.ASSERTIONS, _AT), quality.DEFECTS),
    (foreign_claims.foreign_claims, (quality.REJECTED_CLAIMS, _AT), quality.DEFECTS),
    (schema_mismatch.schema_mismatches, (quality.VERSIONED_WRITES, _AT), quality.DEFECTS),
    (unexpected_source.unexpected_sources, (quality.NEW_SOURCES, _AT), quality.DEFECTS),
    (content.defect_states, (quality.DEFECTS,), sli_schemas.STATES),
]

_CASES = [*_SLIS, *_LOGS, *_ACCURACY, *_COMPLETENESS, *_CONTENT]
# No frame of these alone: types of one column, the events of a log, and facts for learning.
_OTHERS = {"WRITE", "JUDGEMENT", "JUDGED", "PAUSE_SPANS", "EVENT", "FAILURES"}


def _columns(schema: StructType) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in schema.fields}


def _name(function: object) -> str:
    return getattr(function, "func", function).__name__


@pytest.mark.parametrize(
    ("function", "taken", "returned"),
    [pytest.param(*case, id=_name(case[0])) for case in _CASES],
)
def test_a_function_returns_the_declared_columns(spark: SparkSession, function, taken, returned):
    """Give it frames of the schemas that it takes, without rows: no Spark job runs."""
    made: DataFrame = function(*(frame(spark, schema, []) for schema in taken))

    assert _columns(made.schema) == _columns(StructType.fromDDL(returned))  # type: ignore[arg-type]


def test_each_declared_schema_is_compared():
    """Find a schema that no function of these takes or returns."""
    compared = {schema for _, taken, returned in _CASES for schema in (*taken, returned)}
    declared = {
        name: value
        for module in (sli_schemas, logs, accuracy, completeness, quality)
        for name, value in vars(module).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, str) and " " in value
    }

    assert declared.keys() - _OTHERS == {n for n, value in declared.items() if value in compared}
