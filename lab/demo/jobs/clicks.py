"""Stream of clicks (JSON files as they land) to Parquet, until it is stopped.

A file sink would hide its output from the listener, which sees what `foreachBatch` writes.

Usage: clicks.py SHOP.
"""

import sys

from pyspark.sql import DataFrame, SparkSession

CLICKS = "customer_id bigint, page string, clicked_at timestamp"
TRIGGER = "2 seconds"


def main(shop: str) -> None:
    """Append each batch to `live/clicks`."""
    spark = SparkSession.builder.appName("clicks").getOrCreate()

    def append(batch: DataFrame, _batch_id: int) -> None:
        batch.write.mode("append").parquet(f"{shop}/live/clicks")

    clicks = spark.readStream.schema(CLICKS).json(f"{shop}/landing/clicks")
    query = (
        clicks.writeStream.foreachBatch(append)
        .option("checkpointLocation", f"{shop}/checkpoints/clicks")
        .trigger(processingTime=TRIGGER)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1])
