"""OpenAPI description of the API as it is served.

A rejection is problem JSON, wherever it is from; a handler declares its body by `sends=`.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import Litestar, Request
from litestar.openapi.plugins import JsonRenderPlugin, YamlRenderPlugin

from service.api.problems import PROBLEM_MEDIA_TYPE, Problem

_REF = "#/components/schemas/{name}"
_METHODS = ("get", "post", "delete")
_Operation = tuple[str, str]  # path, method


def describe(app: Litestar, schema: dict[str, Any]) -> dict[str, Any]:
    """Add bodies, and the product's shape of rejections in place of the framework's."""
    sent = dict(_sent(app))
    shapes = [Problem, *sent.values()]
    references, known = msgspec.json.schema_components(shapes, ref_template=_REF)
    rejected = {
        "description": "Rejected: `status` has the HTTP status, `detail` the reason.",
        "content": {PROBLEM_MEDIA_TYPE: {"schema": references[0]}},
    }
    bodies = dict(zip(sent, map(_body, references[1:]), strict=True))
    paths = {
        path: {
            name: {**_with_rejections(part, rejected), **bodies.get((path, name), {})}
            if name in _METHODS
            else part
            for name, part in item.items()
        }
        for path, item in schema["paths"].items()
    }
    components = schema["components"]
    schemas = {**components["schemas"], **known}
    return {**schema, "paths": paths, "components": {**components, "schemas": schemas}}


def _sent(app: Litestar) -> Iterator[tuple[_Operation, type]]:
    """Return the shapes of bodies, by path and method."""
    for route in app.routes:
        for handler in getattr(route, "route_handlers", ()):
            if "sends" in handler.opt:
                yield (route.path_format, "post"), handler.opt["sends"]


def _body(reference: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": reference}}
    return {"requestBody": {"content": content, "required": True}}


def _with_rejections(operation: dict[str, Any], rejected: dict[str, Any]) -> dict[str, Any]:
    fields = {code: text for code, text in operation["responses"].items() if int(code) < 400}  # noqa: PLR2004
    return {**operation, "responses": {**fields, "default": rejected}}


class Json(JsonRenderPlugin):
    """Renderer of the description as JSON."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the bytes of the description."""
        return super().render(request, describe(request.app, openapi_schema))


class Yaml(YamlRenderPlugin):
    """Renderer of the description as YAML."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the bytes of the description."""
        return super().render(request, describe(request.app, openapi_schema))
