"""Loads the schemas of custom resources, kept in `crds/` without their descriptions.

`python -m tests.helm.crds FILE...` writes them from CustomResourceDefinitions.
"""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).with_name("crds")


class _Loader(yaml.CSafeLoader):
    """Loader that reads `=`, which PyYAML takes for a type of its own, as the text that it is."""


_Loader.add_constructor("tag:yaml.org,2002:value", _Loader.construct_yaml_str)


def load_schema(group: str, version: str, kind: str) -> dict[str, Any] | None:
    """Return the strict schema of a custom resource, None for a kind that has none here."""
    path = FOLDER / f"{kind.lower()}-{group}-{version}.json"
    if not path.exists():
        return None
    found: dict[str, Any] = _make_strict(json.loads(path.read_text()))
    # The core's fields, which a definition need not name.
    found["properties"]["metadata"] = {"type": "object"}
    return found


def _make_strict(node: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(node, list):
        return [_make_strict(one) for one in node]
    if not isinstance(node, dict):
        return node
    found = {name: _make_strict(value) for name, value in node.items()}
    if found.pop("x-kubernetes-int-or-string", False):
        found["type"] = ["integer", "string"]
    is_open = found.get("x-kubernetes-preserve-unknown-fields") is True
    if isinstance(found.get("properties"), dict) and "type" in found and not is_open:
        found.setdefault("additionalProperties", False)
    return found


def _strip(node: Any, *, is_properties: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Take descriptions out; a property may itself be named `description`."""
    if isinstance(node, list):
        return [_strip(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        name: _strip(value, is_properties=name == "properties" and not is_properties)
        for name, value in node.items()
        if is_properties or name != "description"
    }


def write(path: Path) -> None:
    """Write the schema of the version of a definition that clusters store."""
    crd = yaml.load(path.read_text(), _Loader)  # noqa: S506 - a safe loader
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    FOLDER.mkdir(exist_ok=True)
    for version in crd["spec"]["versions"]:
        if version["storage"]:
            schema = _strip(version["schema"]["openAPIV3Schema"])
            name = f"{kind.lower()}-{group}-{version['name']}.json"
            (FOLDER / name).write_text(json.dumps(schema, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        write(Path(argument))
