"""Remember the classes of the JVM that PySpark asks for by name.

For each expression PySpark asks for a class by its short name. Java looks for the class in each of
Spark's jars and under each package that it may be in, and then copies the list of all its methods:
a seventh of an evaluation's CPU where there are few datasets.
"""

from typing import Any, Final

from py4j.java_gateway import JVMView

DATASET: Final = "org.apache.spark.sql.classic.Dataset"
_CLASSES = (
    *("functions", "org.apache.spark.sql.functions", "PythonUtils", "PythonSQLUtils"),
    DATASET,
)


class _RememberedClass:
    """Java class whose static methods are cached once PySpark has asked for them."""

    def __init__(self, found: Any) -> None:  # noqa: ANN401 - py4j's objects have no types
        self._found = found

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        method = getattr(self._found, name)
        setattr(self, name, method)
        return method


def remember(jvm: JVMView) -> None:
    """Have PySpark find its most used classes and their methods without asking the JVM."""
    for name in _CLASSES:
        if name not in vars(jvm):
            setattr(jvm, name, _RememberedClass(getattr(jvm, name)))
