"""Validates objects strictly: an unknown field is an error."""

import functools
import json
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.helm.charts import TOOLS, Manifest
from tests.helm.crds import load_schema

KUBERNETES = ("1.30", "1.37")


def find_errors(manifest: Manifest, version: str) -> list[str]:
    """Return path and message of each error of an object on a Kubernetes of this version."""
    name = f"{manifest['kind']} {manifest['metadata']['name']}"
    validator = _build_validator(version, manifest["apiVersion"], manifest["kind"])
    errors = validator.iter_errors(manifest)
    return [f"{name} {one.json_path}: {one.message[:200]}" for one in errors]


def find_template_errors(template: Manifest, version: str) -> list[str]:
    """Return the errors of a pod template, which a custom resource takes as it is."""
    registry = _load_definitions(version)
    (uri,) = registry
    schema = {"$ref": f"{uri}#/$defs/io.k8s.api.core.v1.PodTemplateSpec"}
    validator = Draft202012Validator(schema, registry=registry)
    return [f"{one.json_path}: {one.message[:200]}" for one in validator.iter_errors(template)]


def find_route_errors(route: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    """Yield the errors of a route and of those below it, which the definition takes as they are."""
    for error in Draft202012Validator(schema).iter_errors(route):
        yield f"{error.json_path}: {error.message[:200]}"
    for one in route.get("routes", []):
        yield from find_route_errors(one, schema)


@functools.cache
def _build_validator(version: str, api_version: str, kind: str) -> Draft202012Validator:
    group, _, api = api_version.rpartition("/")
    if (custom := load_schema(group, api, kind)) is not None:
        return Draft202012Validator(custom)
    prefix = f"{group.partition('.')[0]}-" if group else ""
    file = TOOLS / "schemas" / version / f"{kind.lower()}-{prefix}{api}.json"
    return Draft202012Validator(json.loads(file.read_text()), registry=_load_definitions(version))


@functools.cache
def _load_definitions(version: str) -> Registry[Any]:
    text = (TOOLS / "schemas" / version / "_definitions.json").read_text()
    return Resource.from_contents(json.loads(text)) @ Registry()
