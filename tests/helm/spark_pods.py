"""Builds the pods of a SparkApplication by Spark's own code, as spark-submit does; no cluster."""

import json
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import SparkSession

from tests.helm.charts import Manifest


def write_settings(application: Manifest, folder: Path) -> dict[str, str]:
    """Write the pod templates; return the settings that the operator gives to spark-submit."""
    spec = application["spec"]
    settings = {
        "spark.app.name": "lineward-pipeline",
        "spark.kubernetes.container.image": spec["image"],
        "spark.executor.instances": str(spec["executor"]["instances"]),
    }
    for part in ("driver", "executor"):
        given, file = spec[part], folder / f"{part}.yaml"
        file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", **given["template"]}))
        settings[f"spark.kubernetes.{part}.podTemplateFile"] = str(file)
        for name in ("cores", "memory", "memoryOverhead"):
            settings[f"spark.{part}.{name}"] = str(given[name])
        if options := given.get("javaOptions"):
            settings[f"spark.{part}.extraJavaOptions"] = options
        # As the operator does with `controller.defaultServiceAccount`.
        account = given.get("serviceAccount", "of-the-operator")
        settings[f"spark.kubernetes.authenticate.{part}.serviceAccountName"] = account
        # As the operator does: labels of the application first, then those of the part.
        for name, value in (application["metadata"]["labels"] | given.get("labels", {})).items():
            settings[f"spark.kubernetes.{part}.label.{name}"] = value
    return settings | spec["sparkConf"]


class SparkPods:
    """Pods that Spark makes of the templates and settings of a SparkApplication."""

    def __init__(self, spark: SparkSession, application: Manifest, folder: Path) -> None:
        """Write the templates, and set what the operator gives to spark-submit.

        Args:
            spark: lends its JVM.
            application: the SparkApplication.
            folder: for the templates.
        """
        self._jvm: Any = spark._jvm  # noqa: SLF001 - PySpark has no other name for it
        self._gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - as above
        self._spec = application["spec"]
        self._none = self._jvm.scala.Option.empty()
        self._conf = self._jvm.org.apache.spark.SparkConf(False)  # noqa: FBT003 - loads no defaults
        settings = {
            "spark.master": "k8s://https://127.0.0.1:1",
            "spark.submit.deployMode": "cluster",
        }
        for name, value in (settings | write_settings(application, folder)).items():
            self._conf.set(name, value)
        builder = self._jvm.io.fabric8.kubernetes.client.KubernetesClientBuilder()
        self._client = builder.build()
        self._factory = self._jvm.org.apache.spark.deploy.k8s.KubernetesConf

    def driver(self) -> tuple[Manifest, dict[str, Manifest]]:
        """Return the driver's pod, and the objects that Spark makes beside it by their kinds."""
        submit = self._jvm.org.apache.spark.deploy.k8s.submit
        main = submit.PythonMainAppResource(self._spec["mainApplicationFile"])
        none = self._gateway.new_array(self._jvm.java.lang.String, 0)
        runner = "org.apache.spark.deploy.PythonRunner"
        conf = self._factory.createDriverConf(self._conf, "app", main, runner, none, self._none)
        built = submit.KubernetesDriverBuilder().buildFromFeatures(conf, self._client)
        objects = built.driverKubernetesResources()
        made = [self._read_object(objects.apply(at)) for at in range(objects.size())]
        return self._read(built.pod()), {one["kind"]: one for one in made}

    def executor(self) -> Manifest:
        """Return an executor's pod."""
        self._conf.set("spark.driver.host", "driver")  # the driver's Service, when it runs
        spark = self._jvm.org.apache.spark
        manager = spark.SecurityManager
        entry = getattr(manager, "$lessinit$greater$default$3")()
        security = manager(self._conf, self._none, entry)
        profiles = getattr(getattr(spark.resource, "ResourceProfile$"), "MODULE$")
        profile = profiles.getOrCreateDefaultProfile(self._conf)
        given = self._factory.createExecutorConf(self._conf, "1", "app", self._none, 0)
        builder = spark.scheduler.cluster.k8s.KubernetesExecutorBuilder()
        return self._read(builder.buildFromFeatures(given, security, self._client, profile).pod())

    def _read(self, built: Any) -> Manifest:  # noqa: ANN401 - an object of the JVM
        pod = self._read_object(built.pod())
        container = self._read_object(built.container())
        pod["spec"]["containers"] = [container, *pod["spec"].get("containers", [])]
        return pod

    def _read_object(self, built: Any) -> Manifest:  # noqa: ANN401 - as above
        write = self._jvm.io.fabric8.kubernetes.client.utils.Serialization.asJson
        read: Manifest = json.loads(write(built))
        return read
