"""F7: a dataset's schema changed, and the version of the code that writes it did not."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec

from slis.evaluation.wording import instant_column, join_words

SCHEMA_MISMATCH = "schema_mismatch"
STANDS_DAYS = 7
_FIELDS = "array<struct<name: string, type: string>>"
_MOST_NAMED = 10
_BY_JOB = ("as_of", "dataset_key", "job_namespace", "job_name")


def schema_mismatches(writes: DataFrame, instants: DataFrame) -> DataFrame:
    """Return datasets whose last schema change came without a new code version of their job.

    Both writes, the one before the change and the first with the new schema, are of one job and
    name a schema and a code version; without a version nothing is held against anybody. A job that
    goes back to a schema that it wrote before has several by design. It stands until the code
    version or the schema changes again, and for 7 days.

    Args:
        writes: `quality.schemas.VERSIONED_WRITES`.
        instants: `sli_schemas.INSTANTS`.

    Returns:
        `quality.schemas.DEFECTS`, at most one row per dataset and instant.
    """
    seen = writes.join(F.broadcast(instants), F.col("written_at") <= F.col("as_of"))
    in_order = Window.partitionBy(*_BY_JOB).orderBy("written_at", "root_run_id")
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    placed = seen.select(
        "*",
        F.lag("schema_key").over(in_order).alias("old_schema_key"),
        F.lag("fields").over(in_order).alias("old_fields"),
        F.lag("code_version").over(in_order).alias("old_code_version"),
        F.array_contains(F.collect_set("schema_key").over(earlier), F.col("schema_key")).alias(
            "was_there"
        ),
        F.last("code_version").over(_whole()).alias("code_version_now"),
    )
    changes = placed.where(F.col("schema_key") != F.col("old_schema_key"))
    newest = Window.partitionBy(*_BY_JOB).orderBy(F.desc("written_at"), F.desc("root_run_id"))
    last = changes.select("*", F.row_number().over(newest).alias("place")).where("place = 1")
    mismatch = F.struct("written_at", _evidence().alias("words"))
    return (
        last.where(_is_mismatch())
        .groupBy("as_of", "dataset_key")
        .agg(F.max(mismatch).alias("mismatch"))
        .select(
            *("as_of", "dataset_key", F.lit(SCHEMA_MISMATCH).alias("reason")),
            F.col("mismatch.words").alias("evidence"),
        )
    )


def _whole() -> WindowSpec:
    ordered = Window.partitionBy(*_BY_JOB).orderBy("written_at", "root_run_id")
    return ordered.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)


def _is_mismatch() -> Column:
    version = F.col("code_version")
    stands = F.col("written_at") > F.col("as_of") - F.expr(f"INTERVAL {STANDS_DAYS} DAYS")
    is_same = (version == F.col("old_code_version")) & (version == F.col("code_version_now"))
    return is_same & ~F.col("was_there") & stands


def _evidence() -> Column:
    return join_words(
        *("schema changed ", instant_column(F.col("written_at")), " by run ", F.col("root_run_id")),
        *(" of ", F.col("job_name"), ", whose code version stayed ", F.col("code_version"), ": "),
        _difference(F.from_json("old_fields", _FIELDS), F.from_json("fields", _FIELDS)),
    )


def _difference(old: Column, new: Column) -> Column:
    """Return `added a (int); removed b; c string is now bigint`; nested fields: `fields differ`."""

    def absent(fields: Column, field: Column) -> Column:
        return ~F.exists(fields, lambda other: other["name"] == field["name"])

    def retyped(field: Column) -> Column:
        return F.exists(
            old,
            lambda other: (other["name"] == field["name"]) & (other["type"] != field["type"]),
        )

    def was(field: Column) -> Column:
        return F.filter(old, lambda other: other["name"] == field["name"])[0]["type"]

    added = F.transform(
        F.filter(new, lambda field: absent(old, field)),
        lambda field: join_words("added ", field["name"], " (", field["type"], ")"),
    )
    removed = F.transform(
        F.filter(old, lambda field: absent(new, field)),
        lambda field: join_words("removed ", field["name"]),
    )
    changed = F.transform(
        F.filter(new, retyped),
        lambda field: join_words(field["name"], " was ", was(field), " and is ", field["type"]),
    )
    parts = F.concat(added, removed, changed)
    more = F.size(parts) - _MOST_NAMED
    others = F.when(more > 0, join_words("; and ", more.cast("string"), " more"))
    shown = F.array_join(F.slice(parts, 1, _MOST_NAMED), "; ")
    return F.when(F.size(parts) == 0, F.lit("the order of its fields")).otherwise(
        F.concat(shown, F.coalesce(others, F.lit("")))
    )
