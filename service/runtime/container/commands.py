"""Commands that a container of the image runs, by its arguments and environment.

Spark starts the pods of a driver and of executors with the arguments and variables that its own
image understands ("Running Spark on Kubernetes"); all other arguments are commands of `lineward`.
Only the standard library is imported: this runs before each role.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

_EXECUTOR: Final = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
_JAVA_OPTION: Final = "SPARK_JAVA_OPT_"
# Hadoop, in Spark's JVM, looks its user up; without an entry it stops with "invalid null input:
# name", and Java's user.home is "?".
_SPARK_ROLES: Final = frozenset({"driver", "executor", "pipeline", "up", "demo"})
_EXECUTOR_OPTIONS: Final = {
    "--driver-url": "SPARK_DRIVER_URL",
    "--executor-id": "SPARK_EXECUTOR_ID",
    "--cores": "SPARK_EXECUTOR_CORES",
    "--app-id": "SPARK_APPLICATION_ID",
    "--hostname": "SPARK_EXECUTOR_POD_IP",
    "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
    "--podName": "SPARK_EXECUTOR_POD_NAME",
}


class EntrypointError(Exception):
    """Request that the container cannot run; the text says what to change."""


class ContainerCommand(NamedTuple):
    """Program with its arguments, and the environment that replaces the container's."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]


def choose_command(
    arguments: Sequence[str], environ: Mapping[str, str], *, has_passwd_entry: bool
) -> ContainerCommand:
    """Return the command of these arguments.

    Args:
        arguments: of the container; the first one is the role.
        environ: of the container.
        has_passwd_entry: whether the user of the process has a name.

    Raises:
        EntrypointError: a variable of Spark is missing, or Spark could not find out its user.
    """
    words = tuple(arguments) or ("--help",)
    role, rest = words[0], list(words[1:])
    if role in _SPARK_ROLES and not has_passwd_entry:
        message = (
            f"the user of this process has no entry in /etc/passwd, and {role} needs one for Spark:"
            " mount a file over it (docs/kubernetes/image.md), or run as uid 10001"
        )
        raise EntrypointError(message)
    builders: dict[str, Callable[[list[str], Mapping[str, str]], ContainerCommand]] = {
        "driver": _driver,
        "executor": _executor,
    }
    if builder := builders.get(role):
        return builder(rest, environ)
    return ContainerCommand((str(Path(sys.executable).with_name("lineward")), *words), environ)


def passwd_with(text: str, *, uid: int, gid: int) -> str:
    """Return the text of a passwd file with an entry for this user."""
    lines = text.splitlines()
    if not any(line.split(":")[2:3] == [str(uid)] for line in lines):
        lines = [line for line in lines if not line.startswith("lineward:")]
        # Java's home is that of passwd, whatever HOME says; a container can always write to /tmp.
        lines.append(f"lineward:x:{uid}:{gid}::/tmp:/usr/sbin/nologin")
    return "\n".join(lines) + "\n"


def _driver(rest: list[str], environ: Mapping[str, str]) -> ContainerCommand:
    address = _require("SPARK_DRIVER_BIND_ADDRESS", environ, "driver")
    home = _spark_home(environ)
    argv = (
        f"{home}/bin/spark-submit",
        "--conf",
        f"spark.driver.bindAddress={address}",
        "--conf",
        f"spark.executorEnv.SPARK_DRIVER_POD_IP={address}",
        "--deploy-mode",
        "client",
        *rest,
    )
    return ContainerCommand(argv, _spark_environment(environ, home, address))


def _executor(rest: list[str], environ: Mapping[str, str]) -> ContainerCommand:
    given = {
        option: _require(name, environ, "executor") for option, name in _EXECUTOR_OPTIONS.items()
    }
    memory = _require("SPARK_EXECUTOR_MEMORY", environ, "executor")
    home = _spark_home(environ)
    argv = (
        f"{environ['JAVA_HOME']}/bin/java" if environ.get("JAVA_HOME") else "java",
        *_java_options(environ),
        f"-Xms{memory}",
        f"-Xmx{memory}",
        "-cp",
        _class_path(environ, home),
        _EXECUTOR,
        *(word for option in given.items() for word in option),
        *rest,
    )
    return ContainerCommand(argv, _spark_environment(environ, home, given["--hostname"]))


def _java_options(environ: Mapping[str, str]) -> list[str]:
    """Return the values of SPARK_JAVA_OPT_0, _1, ... in the order of their numbers."""
    numbers = (name.removeprefix(_JAVA_OPTION) for name in environ if name.startswith(_JAVA_OPTION))
    return [
        environ[_JAVA_OPTION + number]
        for number in sorted((one for one in numbers if one.isdigit()), key=int)
    ]


def _class_path(environ: Mapping[str, str], home: str) -> str:
    """Return Spark's class path; an empty part of one would be the working folder."""
    parts = (
        environ.get("SPARK_CONF_DIR") or f"{home}/conf",
        environ.get("HADOOP_CONF_DIR"),
        environ.get("SPARK_CLASSPATH"),
        f"{home}/jars/*",
        environ.get("SPARK_EXTRA_CLASSPATH"),
        environ.get("SPARK_DIST_CLASSPATH"),
    )
    return ":".join(part.strip(":") for part in parts if part and part.strip(":"))


def _spark_environment(environ: Mapping[str, str], home: str, address: str) -> dict[str, str]:
    """Return the environment of Spark, with what the pod's own environment leaves out."""
    defaults = {
        "SPARK_HOME": home,
        "PYSPARK_PYTHON": sys.executable,  # Spark would take the `python3` of PATH
        "SPARK_LOCAL_IP": address,  # the pod's own; Spark would ask for its host's name
    }
    return defaults | dict(environ)


def _spark_home(environ: Mapping[str, str]) -> str:
    """Return Spark's folder; without SPARK_HOME it is the package of PySpark."""
    if home := environ.get("SPARK_HOME"):
        return home
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise EntrypointError("pyspark is not installed, and SPARK_HOME is not set")
    return str(Path(found.origin).parent)


def _require(name: str, environ: Mapping[str, str], role: str) -> str:
    value = environ.get(name)
    if not value:
        message = f"{name} is not set: {role} is for pods that Spark itself creates"
        raise EntrypointError(message)
    return value
