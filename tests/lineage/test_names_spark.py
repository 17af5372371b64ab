import random

from pyspark.sql import functions as F

from lineage.names import fold, partition_of
from slis import names
from tests.lineage.spellings import FOLDED, KEPT

_GENERATED = 400


def _generated() -> list[tuple[str, str]]:
    """Pieces of the known spellings, put together anew; the same ones in every run."""
    chance = random.Random(4)  # noqa: S311 - examples, not secrets
    known = [sent for sent, _ in FOLDED] + KEPT
    namespaces, spelled = zip(*known, strict=True)
    tails = [name[cut:] for name in spelled for cut in range(0, len(name), 5)] + [
        "é/",
        "\u2028",
        "\x00",
        "\n",
        "K",
    ]
    return [
        (chance.choice(namespaces) + chance.choice(["", "/"]), "".join(chance.choices(tails, k=3)))
        for _ in range(_GENERATED)
    ]


def test_spark_folds_as_python_does(spark):
    """Both sides compute a dataset's key from the folded name.

    One letter of difference would make two datasets of it.
    """
    spellings = [sent for sent, _ in FOLDED] + KEPT + _generated()
    frame = spark.createDataFrame(spellings, "sent_namespace string, sent_name string")
    sent = F.col("sent_namespace"), F.col("sent_name")

    rows = frame.select(*sent, *names.folded(*sent), names.partition_of(*sent)).collect()

    assert [tuple(row) for row in rows] == [_by_python(*spelling) for spelling in spellings]


def _by_python(namespace, name):
    folded = fold(namespace, name)
    partition = partition_of(namespace, name)
    return namespace, name, folded.namespace, folded.name, list(folded.rules), partition
