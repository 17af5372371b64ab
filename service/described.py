"""The description of the API as it is served: a refusal is problem JSON, wherever it is from."""

from typing import Any

import msgspec
from litestar import Request
from litestar.openapi.plugins import JsonRenderPlugin, YamlRenderPlugin

from service.problems import PROBLEM_MEDIA_TYPE, Problem

_REF = "#/components/schemas/{name}"
_METHODS = ("get", "post", "delete")


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """With the shape of refusals in place of the framework's, which never leaves the service."""
    (reference,), shapes = msgspec.json.schema_components([Problem], ref_template=_REF)
    refused = {
        "description": "Refused: `status` says how, `detail` why.",
        "content": {PROBLEM_MEDIA_TYPE: {"schema": reference}},
    }
    paths = {
        path: {
            name: _refusing(part, refused) if name in _METHODS else part
            for name, part in item.items()
        }
        for path, item in schema["paths"].items()
    }
    components = schema["components"]
    known = {**components["schemas"], **shapes}
    return {**schema, "paths": paths, "components": {**components, "schemas": known}}


def _refusing(operation: dict[str, Any], refused: dict[str, Any]) -> dict[str, Any]:
    told = {code: said for code, said in operation["responses"].items() if int(code) < 400}  # noqa: PLR2004
    return {**operation, "responses": {**told, "default": refused}}


class Json(JsonRenderPlugin):
    """As JSON."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """The bytes of it."""
        return super().render(request, described(openapi_schema))


class Yaml(YamlRenderPlugin):
    """As YAML."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """The bytes of it."""
        return super().render(request, described(openapi_schema))
