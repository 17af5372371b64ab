"""Settings of Spark that the pipeline sets, and those that spark-submit keeps."""

from pathlib import Path

import pytest

from slis.spark.session_settings import SessionOptions, choose_settings, is_local

SUBMITTED = {
    "spark.master": "local[8]",
    "spark.driver.memory": "6g",
    "spark.driver.extraJavaOptions": "-XX:+UseG1GC",
    "spark.driver.host": "pipeline.obs.svc",
    "spark.driver.bindAddress": "10.0.0.7",
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.adaptive.enabled": "true",
    "spark.local.dir": "/var/data",
    "spark.app.name": "lineward-prod",
}


def test_settings_of_spark_submit_are_kept():
    """Set no setting again that spark-submit has set."""
    chosen = choose_settings(
        SessionOptions(master="local[2]", driver_memory="1g", scratch=Path("/data/scratch")),
        SUBMITTED,
    )

    assert SUBMITTED.keys() & chosen.keys() == set()


def test_jvm_that_runs_already_gets_no_memory_and_no_options():
    """Set no JVM options where spark-submit passes a master alone.

    They would have no effect, and the configuration would show values that are not true.
    """
    chosen = choose_settings(SessionOptions(), {"spark.master": "local[*]"})

    assert {"spark.master", "spark.driver.memory", "spark.driver.extraJavaOptions"} & {*chosen} == (
        set()
    )
    assert chosen["spark.driver.host"] == "127.0.0.1"


def test_embedded_session_starts_its_own_jvm_as_before():
    """Set master, memory, options and folders of a session that spark-submit did not start."""
    options = SessionOptions(
        master="local[2]", driver_memory="1g", warehouse=Path("/d/w"), scratch=Path("/d/s s")
    )
    chosen = choose_settings(options, None)

    assert chosen["spark.master"] == "local[2]"
    assert chosen["spark.driver.memory"] == "1g"
    assert "-XX:+UseSerialGC" in chosen["spark.driver.extraJavaOptions"]
    assert '"-Djava.io.tmpdir=/d/s s"' in chosen["spark.driver.extraJavaOptions"]
    assert chosen["spark.local.dir"] == "/d/s s"
    assert chosen["spark.sql.warehouse.dir"] == "/d/w"


def test_executors_have_the_options_of_the_driver_unless_spark_submit_sets_others():
    """Set options of JVMs that start after the driver: spark-submit need not pass any."""
    name, master = "spark.executor.extraJavaOptions", {"spark.master": "spark://host:7077"}
    given = choose_settings(SessionOptions(), master)

    assert given[name] in choose_settings(SessionOptions(), None)["spark.driver.extraJavaOptions"]
    assert "-XX:+UseSerialGC" in given[name]
    assert name not in choose_settings(SessionOptions(), master | {name: "-XX:+UseG1GC"})


@pytest.mark.parametrize("master", ["k8s://https://10.0.0.1:443", "spark://host:7077"])
@pytest.mark.parametrize("is_submitted", [True, False])
def test_executors_elsewhere_reach_the_driver(master, is_submitted):
    """Use loopback and the driver's own disk with a local master only."""
    options = SessionOptions(master=master, scratch=Path("/data/scratch"))
    chosen = choose_settings(options, {"spark.master": master} if is_submitted else None)

    assert {"spark.driver.host", "spark.driver.bindAddress", "spark.local.dir"} & {*chosen} == set()


@pytest.mark.parametrize(
    "required",
    ["spark.sql.session.timeZone", "spark.extraListeners", "spark.scheduler.mode"],
)
def test_settings_that_results_rest_on_are_ours(required):
    """Let spark-submit neither move the time zone nor make the pipeline observe itself."""
    chosen = choose_settings(
        SessionOptions(), {"spark.master": "local[2]", required: "something else"}
    )

    assert chosen[required] in {"UTC", "", "FAIR"}


def test_local_cluster_is_not_the_drivers_jvm():
    """Distinguish masters with similar names."""
    masters = ("local", "local[*]", "local[4,2]", "local-cluster[2,1,9]")

    assert [is_local(one) for one in masters] == [True, True, True, False]
