"""M4 by SQL: which datasets the names of a text mean, and so what its statements read for what.

A name means a dataset where exactly one fits: one that the run touches, else one in a namespace
that it touches, else any. Silence is preferred to a false alarm: see `docs/slis.md`.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

_WRITE = ("run_key", "root_run_id", "downstream_key")
_ONE = (*_WRITE, "name")


def mentioned_names(known: DataFrame, statements: DataFrame) -> DataFrame:
    """Return the rows of `schemas.KNOWN_NAMES` that a name of `schemas.STATEMENTS` could mean."""
    names = statements.select(F.explode(F.concat("reads", "writes")).alias("name"))
    lasts = names.select(_last("name").alias("last")).distinct()
    spelled = known.withColumn("last", _last(F.lower("spelled")))
    return spelled.join(lasts, "last", "left_semi").drop("last")


def asked_names(statements: DataFrame, touched: DataFrame, known: DataFrame) -> DataFrame:
    """Return `accuracy.schemas.ASKED`: each name that a text reads for an output of its run.

    Args:
        statements: `accuracy.schemas.STATEMENTS`.
        touched: `accuracy.schemas.TOUCHED`, of the same runs.
        known: `accuracy.schemas.KNOWN_NAMES`.
    """
    writes = touched.where(F.col("direction") == "write")
    found = targets(statements, _named(writes, known))
    return found.select(*_WRITE, F.explode("reads").alias("name")).distinct()


def sql_evidence(
    asked: DataFrame, touched: DataFrame, known: DataFrame, leads: DataFrame
) -> DataFrame:
    """Return the datasets that the texts of runs read for what these wrote.

    Args:
        asked: `accuracy.schemas.ASKED`.
        touched: `accuracy.schemas.TOUCHED`, of the same runs.
        known: `accuracy.schemas.KNOWN_NAMES`.
        leads: `accuracy.schemas.LEADS`, of what the runs read.

    Returns:
        `accuracy.schemas.SQL_SOURCES`; `is_whole` is false: a text proves presence alone.
    """
    reads = touched.where(F.col("direction") == "read")
    fitting = _fitting(asked, _named(reads, known), ["run_key"]).select(*_ONE, "dataset_key")
    fitting = fitting.distinct()
    read = _alone(fitting)
    others = _unread(asked, fitting, reads)
    unread = _not_views(_known_by(others, touched, known), touched, leads)
    found = read.union(unread).where("dataset_key <> downstream_key")
    shown = known.select("dataset_key", "shown_namespace", "shown_name").union(
        touched.select("dataset_key", "namespace", "name")
    )
    return found.join(shown.distinct(), "dataset_key").select(
        *("run_key", "root_run_id", "downstream_key"),
        F.col("dataset_key").alias("upstream_key"),
        F.col("shown_namespace").alias("upstream_namespace"),
        F.col("shown_name").alias("upstream_name"),
        F.lit(False).alias("is_whole"),
    )


def targets(statements: DataFrame, writes: DataFrame) -> DataFrame:
    """Return the statements, each with the output that it wrote.

    The output is the only one that its target fits; without a target in all statements of the run,
    the run's only output.

    Args:
        statements: `accuracy.schemas.STATEMENTS`.
        writes: run_key, dataset_key, spelled: outputs of the runs by each of their names.
    """
    one = ["run_key", "root_run_id", "sql_key", "place", "reads"]
    named = statements.select(*one, F.explode("writes").alias("name"))
    fitting = _fitting(named, writes, ["run_key"]).groupBy(*one, "name")
    written = fitting.agg(*_only("dataset_key", "downstream_key")).where("found = 1")
    silent = statements.groupBy("run_key").agg(F.sum(F.size("writes")).alias("named"))
    only = writes.groupBy("run_key").agg(*_only("dataset_key", "downstream_key"))
    unnamed = (
        statements.join(silent.where("named = 0"), "run_key")
        .join(only.where("found = 1"), "run_key")
        .select(*one, "downstream_key")
    )
    return written.select(*one, "downstream_key").union(unnamed)


def _only(name: str, alias: str) -> tuple[Column, Column]:
    return F.count_distinct(name).alias("found"), F.min(name).alias(alias)


def _named(touched: DataFrame, known: DataFrame) -> DataFrame:
    """Return every name: run_key, dataset_key, spelled (null: it has paths for names alone)."""
    names = known.select("dataset_key", "spelled")
    return touched.select("run_key", "dataset_key").distinct().join(names, "dataset_key", "left")


def _fitting(asked: DataFrame, named: DataFrame, keys: list[str]) -> DataFrame:
    """Join each asked name with each dataset that has a fitting name."""
    left = asked.withColumn("last", _last("name"))
    right = named.withColumn("last", _last(F.lower("spelled")))
    return left.join(right, [*keys, "last"]).where(_fits(F.col("name"), F.col("spelled")))


def _last(name: Column | str) -> Column:
    return F.substring_index(name, ".", -1)


def _fits(name: Column, spelled: Column) -> Column:
    """Match where one name ends with the other, part by part, by two parts if the text has two."""
    asked, known = F.split(name, r"\."), F.split(F.lower(spelled), r"\.")
    parts = F.least(F.size(asked), F.size(known))
    ends = F.slice(asked, F.size(asked) - parts + 1, parts) == F.slice(
        known, F.size(known) - parts + 1, parts
    )
    return ends & ((parts >= 2) | (F.size(asked) == 1))  # noqa: PLR2004 - as it says


def _alone(fitting: DataFrame) -> DataFrame:
    """Keep names that fit exactly one dataset."""
    counted = fitting.groupBy(*_ONE).agg(*_only("dataset_key", "dataset_key"))
    return counted.where("found = 1").select(*_ONE, "dataset_key")


def _unread(asked: DataFrame, fitting: DataFrame, reads: DataFrame) -> DataFrame:
    """Return names that fit no input of the run, of runs whose text names all their inputs.

    Where a run reads what its text does not name, one of the names may be a view over it. A name of
    one part may be a view of the session.
    """
    read_for = (
        asked.select(*_WRITE).distinct().join(reads.select("run_key", "dataset_key"), "run_key")
    )
    unnamed = read_for.where("dataset_key <> downstream_key").join(
        fitting, [*_WRITE, "dataset_key"], "left_anti"
    )
    return (
        asked.join(unnamed, list(_WRITE), "left_anti")
        .join(fitting, list(_ONE), "left_anti")
        .where(F.contains(F.col("name"), F.lit(".")))
    )


def _known_by(others: DataFrame, touched: DataFrame, known: DataFrame) -> DataFrame:
    """Return the one dataset that each name means, near before far, if it holds data."""
    own = touched.select("run_key", "dataset_key").join(known, "dataset_key")
    places = own.select("run_key", "namespace").union(touched.select("run_key", "namespace"))
    near = places.distinct().withColumn("is_near", F.lit(True))
    candidates = (
        _fitting(others, known, [])
        .join(near, ["run_key", "namespace"], "left")
        .groupBy(*_ONE, "dataset_key")
        .agg(
            F.max(F.coalesce("is_near", F.lit(False))).alias("is_near"),
            F.max("holds_data").alias("holds_data"),
        )
    )
    nearest = candidates.groupBy(*_ONE).agg(
        F.count_if("is_near").alias("near"), F.count("*").alias("all")
    )
    chosen = (F.col("near") == 1) & F.col("is_near") | (F.col("all") == 1)
    return (
        candidates.join(nearest, list(_ONE))
        .where(chosen & F.col("holds_data"))
        .select(*_ONE, "dataset_key")
    )


def _not_views(unread: DataFrame, touched: DataFrame, leads: DataFrame) -> DataFrame:
    """Drop outputs made from something that the run reads, and what the run itself writes."""
    inputs = touched.where(F.col("direction") == "read").select(
        "run_key", F.col("dataset_key").alias("upstream_key")
    )
    made = inputs.join(leads, "upstream_key").select(
        "run_key", F.col("downstream_key").alias("dataset_key")
    )
    written = touched.where(F.col("direction") == "write").select("run_key", "dataset_key")
    return unread.join(made.union(written), ["run_key", "dataset_key"], "left_anti").select(
        *_ONE, "dataset_key"
    )
