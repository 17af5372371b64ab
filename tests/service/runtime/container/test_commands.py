"""Commands of a container for its arguments and variables."""

import sys
from pathlib import Path

import pyspark
import pytest

from service.runtime.container.commands import EntrypointError, choose_command, passwd_with

EXECUTOR = {
    "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@driver.obs.svc:7078",
    "SPARK_EXECUTOR_ID": "3",
    "SPARK_EXECUTOR_CORES": "2",
    "SPARK_EXECUTOR_MEMORY": "1433m",
    "SPARK_APPLICATION_ID": "spark-1",
    "SPARK_EXECUTOR_POD_IP": "10.0.0.9",
    "SPARK_EXECUTOR_POD_NAME": "lw-exec-3",
    "SPARK_RESOURCE_PROFILE_ID": "0",
}


def test_driver_runs_spark_submit_on_the_pods_address():
    """Check the whole command: the arguments of the pod come last, so that they win."""
    pod = {"SPARK_DRIVER_BIND_ADDRESS": "10.0.0.7", "LINEWARD_POLICY": "/policy/lineward.yaml"}
    given = ["driver", "--properties-file", "/opt/spark/conf/spark.properties", "local:///x.py"]

    command = choose_command(given, pod, has_passwd_entry=True)

    home = str(Path(pyspark.__file__).parent)
    assert command.argv == (
        f"{home}/bin/spark-submit",
        *("--conf", "spark.driver.bindAddress=10.0.0.7"),
        *("--conf", "spark.executorEnv.SPARK_DRIVER_POD_IP=10.0.0.7"),
        *("--deploy-mode", "client"),
        *("--properties-file", "/opt/spark/conf/spark.properties", "local:///x.py"),
    )
    assert command.environ == {
        **pod,
        "SPARK_HOME": home,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "10.0.0.7",
    }


def test_executor_is_sparks_backend_with_the_options_in_their_order():
    """Check the whole command: option 10 comes after option 2, and a value keeps its spaces."""
    options = {
        "SPARK_JAVA_OPT_10": "-Dlast=1",
        "SPARK_JAVA_OPT_2": "-Dsecond=a b",
        "SPARK_JAVA_OPT_0": "-Dfirst=x=y",
    }
    pod = EXECUTOR | options | {"SPARK_HOME": "/s", "SPARK_CONF_DIR": "/opt/spark/conf"}

    command = choose_command(["executor"], pod, has_passwd_entry=True)

    assert command.argv == (
        "java",
        *("-Dfirst=x=y", "-Dsecond=a b", "-Dlast=1"),
        *("-Xms1433m", "-Xmx1433m"),
        *("-cp", "/opt/spark/conf:/s/jars/*"),
        "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
        *("--driver-url", "spark://CoarseGrainedScheduler@driver.obs.svc:7078"),
        *("--executor-id", "3"),
        *("--cores", "2"),
        *("--app-id", "spark-1"),
        *("--hostname", "10.0.0.9"),
        *("--resourceProfileId", "0"),
        *("--podName", "lw-exec-3"),
    )
    assert command.environ["SPARK_LOCAL_IP"] == "10.0.0.9"


def test_class_path_of_an_executor_has_all_that_a_pod_may_name():
    """Check the order of folders, and that an empty one does not become the working folder."""
    pod = EXECUTOR | {
        "JAVA_HOME": "/jdk",
        "SPARK_HOME": "/s",
        "HADOOP_CONF_DIR": "/hadoop",
        "SPARK_CLASSPATH": ":/extra/a.jar",
        "SPARK_EXTRA_CLASSPATH": "/extra/b.jar",
        "SPARK_DIST_CLASSPATH": "",
    }

    command = choose_command(["executor"], pod, has_passwd_entry=True)

    assert command.argv[0] == "/jdk/bin/java"
    assert "/s/conf:/hadoop:/extra/a.jar:/s/jars/*:/extra/b.jar" in command.argv


@pytest.mark.parametrize(
    "words", [["up"], ["collector"], ["service"], ["pipeline"], ["ship", "-x"]]
)
def test_each_role_is_a_command_of_lineward(words):
    """Check that arguments and environment reach `lineward` as they are."""
    command = choose_command(words, {"A": "1"}, has_passwd_entry=True)

    assert command.argv == (str(Path(sys.executable).with_name("lineward")), *words)
    assert command.environ == {"A": "1"}


def test_container_without_arguments_shows_the_help():
    """Check that an image that is run as it is says what can be run."""
    assert choose_command([], {}, has_passwd_entry=False).argv[1:] == ("--help",)


@pytest.mark.parametrize("role", ["driver", "executor", "pipeline", "up"])
def test_spark_without_a_passwd_entry_is_rejected_with_the_remedy(role):
    """Check the message: Spark itself would stop much later with "invalid null input: name"."""
    with pytest.raises(
        EntrypointError, match=rf"/etc/passwd, and {role} needs one .* mount a file"
    ):
        choose_command([role], EXECUTOR, has_passwd_entry=False)


def test_roles_without_spark_run_as_any_user():
    """Check that collector and service need no passwd entry."""
    for role in ("collector", "service", "kafka", "marquez"):
        assert choose_command([role], {}, has_passwd_entry=False).argv[1] == role


@pytest.mark.parametrize("missing", sorted(EXECUTOR))
def test_missing_variable_of_spark_is_named(missing):
    """Check that a wrong pod ends with the variable's name, and not in Java's usage text."""
    pod = {name: value for name, value in EXECUTOR.items() if name != missing}

    with pytest.raises(EntrypointError, match=f"^{missing} is not set"):
        choose_command(["executor"], pod, has_passwd_entry=True)


IMAGE = "root:x:0:0:root:/root:/bin/bash\nlineward:x:10001:10001::/tmp:/usr/sbin/nologin\n"


def test_passwd_file_gets_an_entry_for_another_user():
    """Check that the name stays one user's, and that Java's home is a folder it can write to."""
    assert passwd_with(IMAGE, uid=1000650000, gid=0) == (
        "root:x:0:0:root:/root:/bin/bash\nlineward:x:1000650000:0::/tmp:/usr/sbin/nologin\n"
    )


def test_passwd_file_stays_as_it_is_for_a_known_user():
    """Check the image's own user."""
    assert passwd_with(IMAGE, uid=10001, gid=10001) == IMAGE
