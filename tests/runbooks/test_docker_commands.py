"""Commands of the runbooks for Docker and for a VolumeSnapshot, compared with the installation."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from runbooks.library import page_markdown
from tests.runbooks.pasted import blocks, simple

ROOT = Path(__file__).resolve().parents[2]


def _installed() -> list[str]:
    """Return the words of the `docker run` of the page on one machine."""
    page = (ROOT / "docs" / "one-machine.md").read_text("utf-8")
    (command,) = re.findall(r"(?m)^docker run (?:.*\\\n)*.*$", page)
    return shlex.split(command.replace("\\\n", " "))


@pytest.mark.parametrize("name", ["asking", "restoring"])
def test_a_second_container_has_volumes_settings_and_image_of_the_first(name: str):
    """Compare with the installation; the image's entry point would start `lineward`.

    Mutants: `docker exec`, which a stopped container rejects; without `--entrypoint`.
    """
    installed = _installed()
    (words,) = [each for each in simple(page_markdown(name)) if each[:2] == ["docker", "run"]]

    def option(words: list[str], flag: str) -> str:
        return words[words.index(flag) + 1]

    assert option(words, "--volumes-from") == option(installed, "--name")
    assert option(words, "--env-file") == option(installed, "--env-file")
    assert option(words, "--entrypoint") == "bash"
    assert words[-1] == installed[-2]


def test_a_changed_setting_of_docker_needs_a_new_container():
    """Find `docker rm`: only `docker run` reads the settings."""
    section = page_markdown("asking").partition("## Change a setting")[2].partition("\n## ")[0]
    lines = [words[:3] for words in simple(section)]

    assert lines == [
        ["sudo", "systemctl", "restart"],
        ["docker", "stop", "lineward"],
        ["docker", "rm", "lineward"],
    ]
    page = (ROOT / "docs" / "one-machine.md").read_text("utf-8")
    assert "`docker stop lineward` and `docker rm lineward`, and the same `docker run`" in page


def test_an_upgrade_begins_with_a_backup_in_each_installation():
    """Find the link in the first step, and a row for systemd and for Docker."""
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    section = page.partition("\n## Upgrading\n")[2].partition("\n## ")[0]

    assert section.lstrip().startswith("1. [Back up the catalog](#back-up-the-catalog).")
    assert "| `systemctl stop lineward` |" in section
    assert "| `docker stop lineward`, then `docker rm lineward`" in section


def test_a_snapshot_becomes_the_second_volume_of_the_helper_pod():
    """Compare the claim of the page with the volume, the mount and the path of the copy."""
    page = page_markdown("restoring")
    documents = [yaml.safe_load(each) for each in re.findall(r"(?ms)<<EOF\n(.*?)^EOF$", page)]
    (claim,) = [each for each in documents if each["kind"] == "PersistentVolumeClaim"]
    name = claim["metadata"]["name"]

    assert claim["spec"]["dataSource"] == {
        "apiGroup": "snapshot.storage.k8s.io",
        "kind": "VolumeSnapshot",
        "name": "$SNAPSHOT",
    }
    assert f"`{{name: backup, persistentVolumeClaim: {{claimName: {name}}}}}` to `volumes`" in page
    assert "`{name: backup, mountPath: /backup}` to `volumeMounts`" in page
    assert any(block.startswith("cp /backup/data/catalog.db* ") for block in blocks(page, "sh"))
    assert f"delete pvc {name}" in page
