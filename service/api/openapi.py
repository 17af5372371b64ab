"""The description of the API as it is served.

A refusal is problem JSON, wherever it is from; what is sent is what a handler says by `sends=`.
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
    """With bodies, and the shape of refusals in place of the framework's, which never leaves us."""
    sent = dict(_sent(app))
    shapes = [Problem, *sent.values()]
    references, known = msgspec.json.schema_components(shapes, ref_template=_REF)
    rejected = {
        "description": "Refused: `status` says how, `detail` why.",
        "content": {PROBLEM_MEDIA_TYPE: {"schema": references[0]}},
    }
    bodies = dict(zip(sent, map(_body, references[1:]), strict=True))
    paths = {
        path: {
            name: {**_refusing(part, rejected), **bodies.get((path, name), {})}
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
    """Shapes of bodies, by path and method."""
    for route in app.routes:
        for handler in getattr(route, "route_handlers", ()):
            if "sends" in handler.opt:
                yield (route.path_format, "post"), handler.opt["sends"]


def _body(reference: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": reference}}
    return {"requestBody": {"content": content, "required": True}}


def _refusing(operation: dict[str, Any], rejected: dict[str, Any]) -> dict[str, Any]:
    fields = {code: text for code, text in operation["responses"].items() if int(code) < 400}  # noqa: PLR2004
    return {**operation, "responses": {**fields, "default": rejected}}


class Json(JsonRenderPlugin):
    """As JSON."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the bytes of the description."""
        return super().render(request, describe(request.app, openapi_schema))


class Yaml(YamlRenderPlugin):
    """As YAML."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the bytes of the description."""
        return super().render(request, describe(request.app, openapi_schema))
