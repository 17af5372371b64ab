"""Adds jars and Debian packages to the bill of materials of the image's Python packages.

`sbom.py PREFIX PYTHON.json` prints CycloneDX JSON: what `cyclonedx-py environment` wrote, the jars
below PREFIX with their hashes, and the packages that dpkg has installed.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Component = dict[str, Any]
_JAR = re.compile(r"(?P<name>.+?)-(?P<version>\d[^/]*)\.jar")
_DEBIAN = r"${Package}\t${Version}\t${Architecture}\n"


def main(prefix: Path, python: Path) -> None:
    """Print the whole bill of materials."""
    whole = extend_bom(json.loads(python.read_text()), [*find_jars(prefix), *debian_packages()])
    sys.stdout.write(require_valid(json.dumps(whole, indent=1, sort_keys=True)) + "\n")


def extend_bom(bom: dict[str, Any], more: list[Component]) -> dict[str, Any]:
    """Return the bill of materials with further components in it."""
    return {**bom, "components": [*bom.get("components", []), *more]}


def find_jars(prefix: Path) -> Iterator[Component]:
    """Yield a component for each jar below a folder."""
    for jar in sorted(prefix.rglob("*.jar")):
        parts = _JAR.fullmatch(jar.name)
        yield {
            "type": "library",
            "bom-ref": f"jar:{jar.relative_to(prefix)}",
            "name": parts["name"] if parts else jar.stem,
            **({"version": parts["version"]} if parts else {}),
            "hashes": [{"alg": "SHA-256", "content": _sha256(jar)}],
        }


def debian_packages() -> Iterator[Component]:
    """Yield a component for each package that dpkg has installed; none where there is no dpkg."""
    if not shutil.which("dpkg-query"):
        return
    command = ["dpkg-query", "--show", f"--showformat={_DEBIAN}"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    for line in listed.stdout.splitlines():
        name, version, architecture = line.split("\t")
        url = f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}"
        yield {
            "type": "library",
            "bom-ref": f"deb:{name}:{architecture}",
            "name": name,
            "version": version,
            "purl": f"{url}?arch={architecture}",
        }


def require_valid(text: str) -> str:
    """Return the text, which CycloneDX's own schema accepts.

    Raises:
        ValueError: the schema rejects it.
    """
    # The image's tools have it; a checkout has not.
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    version = SchemaVersion.from_version(json.loads(text)["specVersion"])
    if error := JsonStrictValidator(version).validate_str(text):
        raise ValueError(str(error.data)[:500])
    return text


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
