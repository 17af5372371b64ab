"""SQL texts parsed, each distinct one once, in Spark's Python workers."""

from collections.abc import Iterator

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from slis.indicators.accuracy.schemas import SQL_NAMES
from slis.indicators.accuracy.sql_names import UnreadableSqlError, statements


def parsed_sql(texts: DataFrame) -> DataFrame:
    """Return the names in each text.

    Args:
        texts: `accuracy.schemas.UNPARSED_SQL`.

    Returns:
        `accuracy.schemas.SQL_NAMES`: names, or why there are none.
    """
    return texts.mapInArrow(_parse, SQL_NAMES)


def _parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [
            {"sql_key": row["sql_key"], **_read(row["text"], row["dialect"])}
            for row in batch.to_pylist()
        ]
        yield pa.RecordBatch.from_pylist(rows, _ARROW)


_ARROW = pa.schema([("sql_key", pa.int64()), ("names", pa.string()), ("problem", pa.string())])


def _read(text: str, dialect: str) -> dict[str, str | None]:
    try:
        found = [one._asdict() for one in statements(text, dialect)]
    except UnreadableSqlError as error:
        return {"names": None, "problem": str(error)}
    except Exception as error:  # noqa: BLE001 - a fault of the parser's; other texts must be read
        problem = f"{type(error).__name__}: could not be parsed"
        return {"names": None, "problem": problem}
    return {"names": msgspec.json.encode(found).decode(), "problem": None}
