"""Language check of `make check`: words and openings of `language.toml`, by codespell.

    python -m tests.suite.language [PATH...]

Without a path it checks all files that git knows, from the root of the repository.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.suite.texts import Text, is_checked, openings_of, texts_of

_DATA: Final = tomllib.loads(Path(__file__).with_name("language.toml").read_text("utf-8"))
_WORD: Final = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_HIT: Final = re.compile(r"(?m)^\S+:(\d+): (.+)$")
_STATUSES: Final = (0, 65)  # of codespell: nothing found, something found


def find(paths: Iterable[str], root: Path) -> list[str]:
    """Return what is wrong in files, by their paths from `root`: one line each."""
    contents = {path: (root / path).read_text("utf-8") for path in paths if is_checked(path)}
    texts = [text for path, content in contents.items() for text in texts_of(path, content)]
    wrong = [*_find_words(texts), *_find_openings(contents)]
    return list(dict.fromkeys(f"{path}:{line}: {what}" for path, line, what in sorted(wrong)))


def _find_words(texts: list[Text]) -> Iterator[tuple[str, int, str]]:
    with tempfile.TemporaryDirectory() as folder:
        dictionary, lines = Path(folder, "dictionary"), Path(folder, "lines")
        entries = {**_DATA["words"], **_DATA["phrases"]}
        _write(dictionary, (f"{word}->{fix}" for word, fix in entries.items()))
        _write(lines, (text.text.replace("\0", " ") for text in texts))
        for hit in _HIT.finditer(_codespell(dictionary, lines)):
            text = texts[int(hit[1]) - 1]
            yield text.path, text.line, hit[2]


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", "backslashreplace")


def _codespell(dictionary: Path, lines: Path) -> str:
    phrases = "|".join(re.escape(each) for each in _DATA["phrases"])
    words = ["-D", str(dictionary), "-r", rf"\b(?i:{phrases})\b|{_WORD}"]
    command = ["codespell", *words, "--ignore-regex", "|".join(_DATA["terms"]), str(lines)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.stderr or ended.returncode not in _STATUSES:
        raise RuntimeError(ended.stderr or f"codespell ended with {ended.returncode}")
    return ended.stdout


def _find_openings(contents: dict[str, str]) -> Iterator[tuple[str, int, str]]:
    reasons = {kind: _reasons(groups) for kind, groups in _DATA["openings"].items()}
    for path, content in contents.items():
        if not path.endswith(".py"):
            continue
        for found in openings_of(path, content):
            if why := reasons[found.kind].get(found.word):
                yield path, found.line, f'{found.kind} begins with "{found.word}", {why}'


def _reasons(groups: dict[str, Any]) -> dict[str, str]:
    return {word: reason for reason, words in groups.items() for word in words}


def _tracked(paths: list[str], root: Path) -> list[str]:
    command = ["git", "ls-files", "--", *paths]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if (root / path).is_file()]


def main(paths: list[str], root: Path) -> str | None:
    """Print what is wrong below `paths`, or in all files that git knows; return a summary."""
    found = find(_tracked(paths, root), root)
    sys.stdout.writelines(f"{each}\n" for each in found)
    return f"{len(found)} to rewrite: see CONTRIBUTING.md" if found else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path.cwd()))
