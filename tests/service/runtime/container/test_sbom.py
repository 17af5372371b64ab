"""Bill of materials of the image, beyond that of its Python packages."""

import hashlib
import importlib.util
from pathlib import Path

from tests.service.runtime.container.image import ROOT

_SPEC = importlib.util.spec_from_file_location("sbom", ROOT / "helm/image/sbom.py")
assert _SPEC
assert _SPEC.loader
sbom = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(sbom)


def test_each_jar_is_a_component_with_version_and_hash(tmp_path: Path):
    """Check names as Spark's jars have them; one without a version is listed too."""
    (tmp_path / "jars").mkdir()
    for name in (
        "spark-core_2.13-4.3.0.jar",
        "netty-tcnative-2.0.76.Final-linux-x86_64.jar",
        "x.jar",
    ):
        (tmp_path / "jars" / name).write_bytes(b"jar")
    content = hashlib.sha256(b"jar").hexdigest()

    found = list(sbom.find_jars(tmp_path))

    assert [(one["name"], one.get("version")) for one in found] == [
        ("netty-tcnative", "2.0.76.Final-linux-x86_64"),
        ("spark-core_2.13", "4.3.0"),
        ("x", None),
    ]
    assert {one["hashes"][0]["content"] for one in found} == {content}


def test_components_are_added_and_none_is_lost():
    """Check that what the Python packages' own tool wrote stays."""
    whole = sbom.extend_bom({"specVersion": "1.6", "components": [{"name": "a"}]}, [{"name": "b"}])

    assert whole == {"specVersion": "1.6", "components": [{"name": "a"}, {"name": "b"}]}


def test_debian_packages_are_named_with_their_versions():
    """Check against this machine's own packages; elsewhere than on Debian there are none."""
    found = {one["name"]: one for one in sbom.debian_packages()}

    for name, one in found.items():
        assert one["purl"].startswith(f"pkg:deb/debian/{name}@"), one
    assert not found or found["dpkg"]["version"]
