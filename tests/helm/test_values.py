"""Check that a wrong value is an error that names its key, and that files are current."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from tests.helm import generate, schemas
from tests.helm.charts import CHART, ROOT, VALUES, render, run_helm, values_path

pytestmark = pytest.mark.xdist_group("helm")

DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
_OPEN = {"global", "enabled"}
# Parts of what Kubernetes itself defines are open, and labels have any name.
_OPEN_ENDS = ("odSecurityContext", ".securityContext", ".containerSecurityContext")
_OPEN_ENDS += (".resources.requests", ".resources.limits", ".nodeSelector")
_LABELS = ("monitoring.dashboards.labels", "monitoring.dashboards.annotations")


def find_errors(values: object) -> list[str]:
    """Return where the schema finds an error: the path of the value, by dots."""
    errors = Draft7Validator(SCHEMA).iter_errors(values)
    return [f"{'.'.join(map(str, one.absolute_path))}: {one.message}" for one in errors]


def _list_paths(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        yield prefix + name, value
        if isinstance(value, dict):
            yield from _list_paths(value, f"{prefix}{name}.")


PATHS = dict(_list_paths(DEFAULTS))


def _nest(path: str, value: object) -> dict[str, Any]:
    for step in reversed(path.split(".")):
        value = {step: value}
    return value  # type: ignore[return-value]


def _resolve(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/definitions/")
    found: dict[str, Any] = SCHEMA["definitions"][name] if name else schema
    return found


def _find_closed(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, set[str]]]:
    """Yield path and keys of each closed object of the schema."""
    schema = _resolve(schema)
    if schema.get("additionalProperties") is False and "patternProperties" not in schema:
        yield path, set(schema["properties"])
        for name, part in schema["properties"].items():
            yield from _find_closed(part, f"{path}.{name}".strip("."))


def test_a_value_of_another_type_is_named():
    """Set each value of values.yaml to another type: the error is at its path."""
    wrong = {path: {} if isinstance(value, list) else [[1]] for path, value in PATHS.items()}
    silent = [
        path
        for path, value in wrong.items()
        if not any(error.startswith(f"{path}: ") for error in find_errors(_nest(path, value)))
    ]

    inner = tuple(f"{path}." for path in PATHS if path.endswith(_OPEN_ENDS))
    assert silent == [path for path in wrong if path.startswith(inner)]
    assert len(wrong) > 150


def test_an_unknown_key_is_named():
    """Add a key to every object; only `global` and `enabled` are open, for parent charts."""
    objects = [
        "",
        *(path for path, value in PATHS.items() if value and isinstance(value, dict)),
    ]
    for path in objects:
        errors = find_errors(_nest(f"{path}.tpyo".strip("."), 1))
        parts = path.split(".")
        heads = {".".join(parts[: at + 1]) for at in range(len(parts))}
        is_open = path in _LABELS or any(head.endswith(_OPEN_ENDS) for head in heads)
        assert is_open or any("'tpyo' was unexpected" in error for error in errors), path

    assert find_errors({"global": {"any": {"thing": 1}}, "enabled": True}) == []
    assert len(objects) > 40


def test_schema_and_values_have_the_same_keys():
    """Compare the keys of the schema with those of values.yaml."""
    objects = {"": set(DEFAULTS) | _OPEN}
    objects |= {path: set(value) for path, value in PATHS.items() if isinstance(value, dict)}
    optional = {"successThreshold", "initialDelaySeconds", "claims"}

    for path, keys in _find_closed(SCHEMA):
        assert keys - optional == objects[path], path


def test_every_values_file_is_valid():
    """Validate the values files of `ci/` and the defaults."""
    for name in VALUES:
        values = yaml.safe_load(values_path(name).read_text())
        assert find_errors(values) == [], name
    assert find_errors(DEFAULTS) == []


_TRIAL = "access.insecure=true"
_GUARDED = "access.insecure=false,access.collectorToken.name=t,policy.existingConfigMap=p"
_ALERTS = f"{_TRIAL},monitoring.alertmanagerConfig.enabled=true"
_RULES = f"{_TRIAL},monitoring.rules.enabled=true,monitoring.rules.content"
_WATCHED = "monitoring.alertmanagerConfig.watchdogUrl.name=w"
_OUTSIDE = "monitoring.alertmanagerConfig.outsideUrl.name=o"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("mode=large", "'/mode': value must be one of"),
        ("acces.insecure=true", "additional properties 'acces' not allowed"),
        (f"{_TRIAL},settings.LINEWARD_HOST=x", "settings.LINEWARD_HOST: set host"),
        (f"{_TRIAL},settings.HOST=x", "additional properties 'HOST' not allowed"),
        (f"{_TRIAL},kubernetesSource.namespaces={{Jobs}}", "'/kubernetesSource/namespaces/0'"),
        (
            f"{_TRIAL},settings.LINEWARD_KUBERNETES_URL=x",
            "settings.LINEWARD_KUBERNETES_URL: set nothing (the address is the cluster's) instead",
        ),
        (
            f"{_TRIAL},settings.LINEWARD_SERVICE_PORT=1",
            "LINEWARD_SERVICE_PORT: set nothing",
        ),
        (f"{_TRIAL},listener.configMapNamespaces={{a}}", "'configMapNamespaces' not allowed"),
        (f"{_GUARDED},listener.eventFolder=/x", "listener.eventFolder: with access.collectorToken"),
        (f"{_TRIAL},policy.inline=a: [", "policy.inline: no valid YAML: error converting YAML"),
        (f"{_RULES}=groups: [", "monitoring.rules.content: no valid YAML: error converting YAML"),
        (f"{_RULES}=group: 1", "monitoring.rules.content: no `groups` of rules"),
        (f"{_RULES}=groups:", "monitoring.rules.content: no `groups` of rules"),
        (
            f"{_TRIAL},embedded.extraEnv[0].name=LINEWARD_HOST",
            "embedded.extraEnv: the chart sets LINEWARD_HOST itself: set host, or embedded.host",
        ),
        ("image.pullPolicy=Sometimes", "'/image/pullPolicy': value must be one of"),
        ("image.digest=sha256:12", "'/image/digest'"),
        ("fullnameOverride=my.lineward", "'/fullnameOverride'"),
        ("podDisruptionBudget.maxUnavailable=2", "'/podDisruptionBudget/maxUnavailable'"),
        ("embedded.persistence.accessModes={ReadWriteMany}", "/embedded/persistence/accessModes"),
        ("policy.inline=a: 1", "access.collectorToken.name: name the Secret"),
        ("access.collectorToken.name=t", "policy.inline: give a policy with an `access` section"),
        ("access.collectorToken.name=t,policy.inline=a: 1", "the policy has no `access` section"),
        (f"{_TRIAL},policy.inline=a: 1,policy.existingConfigMap=b", "set one of them"),
        (
            f"{_TRIAL},monitoring.serviceMonitor.enabled=true,monitoring.podMonitor.enabled=true",
            "monitoring.podMonitor.enabled: every figure would be scraped twice",
        ),
        (f"{_TRIAL},collector.replicas=3", "collector.replicas: only mode scaled reads it"),
        (f"{_TRIAL},pipeline.pod.nodeSelector.disk=ssd", "pipeline.pod.nodeSelector: only mode"),
        (f"{_TRIAL},service.replicas=1", "service.replicas: only mode scaled reads it"),
        (f"{_TRIAL},host=::", "host: only mode scaled reads it"),
        (f"{_TRIAL},networkPolicy.egress.kafka[0].podSelector.a=b", "networkPolicy.egress.kafka:"),
        (f"{_TRIAL},marquez.enabled=true", "marquez.enabled: only mode scaled reads it; in mode"),
        (f"{_TRIAL},ingress.enabled=true", "ingress.host: give the host name"),
        (f"{_TRIAL},httpRoute.enabled=true", "httpRoute.parentRefs: name the Gateway"),
        (f"{_TRIAL},nameOverride={'x' * 39}", "fullnameOverride: the full name has more than 38"),
        (
            f"{_TRIAL},services.collector.loadBalancerSourceRanges={{everybody}}",
            "'/services/collector/loadBalancerSourceRanges/0'",
        ),
        (
            f"{_TRIAL},services.ipFamilies={{IPv5}}",
            "'/services/ipFamilies/0': value must be one of",
        ),
        (f"{_TRIAL},ingress.path=/lineage", "additional properties 'path' not allowed"),
        (_ALERTS, "monitoring.alertmanagerConfig.watchdogUrl.name: name the Secret"),
        (f"{_ALERTS},{_WATCHED}", "monitoring.alertmanagerConfig.outsideUrl.name: name the"),
        (f"{_ALERTS},{_OUTSIDE},{_WATCHED}", "notifications.mode: set `alertmanager`"),
        (
            f"{_ALERTS},{_OUTSIDE},{_WATCHED},{_GUARDED}",
            "monitoring.alertmanagerConfig.token.name: name the Secret",
        ),
    ],
)
def test_helm_names_the_wrong_value(values, message):
    """Render with a wrong value: Helm fails and says which value to change."""
    answer = run_helm("template", "lineward", str(CHART), "--set", values)

    assert answer.returncode == 1
    assert message in answer.stderr


def test_generated_files_are_current():
    """Generate again and compare; `make chart` writes the files."""
    stale = [
        path
        for path, text in generate.generate().items()
        if not (CHART / path).exists() or (CHART / path).read_text("utf-8") != text
    ]

    assert stale == []


def test_image_tag_is_the_release():
    """Compare the chart's `appVersion`, which is the image's tag, with the project's version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert chart["appVersion"] == project["version"]


def test_every_value_has_a_comment():
    """Render a README of a value without a comment."""
    with pytest.raises(ValueError, match=r"policy\.other has no comment"):
        generate.render_readme("policy:\n  # -- Text.\n  inline: 1\n  other: 2\n")


_EMBEDDED_NULLS = (
    *("commonLabels", "commonAnnotations", "settings"),
    *("monitoring.rules.alertLabels", "monitoring.dashboards.content"),
    *(f"embedded.{name}" for name in ("podLabels", "podAnnotations", "resources")),
    *(f"embedded.{kind}Probe" for kind in ("startup", "liveness", "readiness")),
)
_SCALED_NULLS = (
    *("commonLabels", "settings", "pipeline.sparkConf"),
    *(
        f"{part}.pod.{name}"
        for part in ("collector", "pipeline", "service", "kafkaSource")
        for name in ("labels", "annotations", "resources", "startupProbe", "livenessProbe")
    ),
    *("pipeline.executor.pod.labels", "pipeline.executor.pod.annotations"),
)


@pytest.mark.parametrize(("name", "paths"), [("full", _EMBEDDED_NULLS), ("scaled", _SCALED_NULLS)])
def test_null_turns_a_value_off(name, paths):
    """Set maps and probes to null, all at once: the objects are valid without them."""
    objects = render(name, "--set", ",".join(f"{path}=null" for path in paths))
    containers = [
        container
        for one in objects
        if one["kind"] in {"StatefulSet", "Deployment"}
        and not one["metadata"]["name"].endswith(("-marquez", "-kubernetes"))
        for container in one["spec"]["template"]["spec"]["containers"]
    ]

    assert [error for one in objects for error in schemas.find_errors(one, "1.37")] == []
    assert not [one["name"] for one in containers if "startupProbe" in one]
    assert not [one["name"] for one in containers if "livenessProbe" in one]


def test_a_dash_is_no_storage_class():
    """Render `-`: an empty name turns dynamic volumes off, and no name means the default class."""
    names = {}
    for given in ("-", "fast", ""):
        options = f"embedded.persistence.storageClass={given}"
        (one,) = [
            one for one in render("embedded", "--set", options) if one["kind"] == "StatefulSet"
        ]
        (claim,) = one["spec"]["volumeClaimTemplates"]
        names[given] = claim["spec"].get("storageClassName")

    assert names == {"-": "", "fast": "fast", "": None}


def _comments_by_path(node: yaml.Node, lines: list[str], prefix: str = "") -> dict[str, str]:
    """Return the comment above each value by its path, with those of its sections before it."""
    found: dict[str, str] = {}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            start = end = key.start_mark.line
            while lines[start - 1].strip().startswith("#"):
                start -= 1
            found[prefix + key.value] = "\n".join(lines[start:end])
            below = _comments_by_path(value, lines, f"{prefix}{key.value}.")
            found |= {path: f"{found[prefix + key.value]}\n{text}" for path, text in below.items()}
    return found


def test_a_value_of_one_mode_has_the_mode_in_its_comment():
    """Find "Scaled mode only." at each value, or at its section, that embedded mode rejects."""
    text = (CHART / "values.yaml").read_text()
    comments = _comments_by_path(yaml.compose(text, yaml.SafeLoader), text.splitlines())
    modes = json.loads((CHART / "files" / "mode-values.json").read_text())

    wanted = {
        path: f"# {mode.title()} mode only." for mode, paths in modes.items() for path in paths
    }
    shared = {path for path, _, _ in generate.list_values(text)} - set(wanted)
    assert [path for path, words in wanted.items() if words not in comments[path]] == []
    assert [path for path in sorted(shared) if " mode only." in comments[path]] == []
