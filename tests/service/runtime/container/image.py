"""Reads the Dockerfile and its context, for the tests of both."""

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
_INSTALL = "helm/image/install.sh"


def instructions() -> list[tuple[str, str]]:
    """Return each instruction of the Dockerfile with its value, on one line."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    parts = [line.split(maxsplit=1) for line in lines if line.strip()]
    return [(name, " ".join(value.split())) for name, value in parts]


def values(name: str) -> list[str]:
    """Return the values of one kind of instruction, in the order of the Dockerfile."""
    return [value for found, value in instructions() if found == name]


def install_steps() -> list[list[str]]:
    """Return the commands that fill the image, as the Dockerfile runs them."""
    return [run.split() for run in values("RUN") if run.startswith(_INSTALL)]


def entrypoint() -> list[str]:
    """Return the words of ENTRYPOINT."""
    [words] = values("ENTRYPOINT")
    return list(json.loads(words))


def context_files() -> list[str]:
    """Return the files of the repository that .dockerignore lets into the build."""
    kept = [
        line.removeprefix("!").strip()
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [
        file
        for file in listed.stdout.splitlines()
        if any(file == one or file.startswith(f"{one}/") for one in kept)
    ]
