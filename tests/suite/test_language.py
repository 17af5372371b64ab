"""Check that words and openings are found wherever they stand."""

import subprocess

import pytest

from tests.suite.language import find, main

# What stands for BAD and PHRASE below: the check reads this file too.
WORD = "told"
PHRASE = "all_right"

PLACES = {
    "docs/one.md": "# One\n\nThe owner is BAD at once.\n",
    "service/one.html": "<p>{{ owner }} was BAD</p>\n",
    "helm/values.yaml": "a: 1 # who is BAD\n",
    "scripts/one.sh": "# BAD once\n",
    "service/message.py": 'text = f"{owner} was BAD"\n',
    "service/docstring.py": '"""Owners that were BAD."""\n',
    "service/comment.py": "a = 1  # BAD once\n",
    "service/variable.py": "BAD_owner = 1\n",
    "service/constant.py": "_CAPS = 1\n",
    "service/attribute.py": "def send(self):\n    self.BAD = 1\n",
    "service/parameter.py": "def send(BAD):\n    pass\n",
    "service/function.py": "def is_BAD():\n    pass\n",
    "service/class.py": "class BADOwner:\n    pass\n",
    "service/import.py": "from a import b as BAD\n",
    "tests/test_one.py": "def test_owner_is_BAD():\n    pass\n",
}
NAMES = {
    "docs/one.md": '`BAD` of `a\nBAD b`, BAD_at, refused_total\n```json\n{"BAD": 1}\n```\n',
    "docs/two.md": "https://example.org/BAD and [link](BAD.md)\n",
    "service/one.html": '<p>{{ "BAD" }} {{ incident.BAD }}</p>\n',
    "service/key.py": 'a = {"BAD": row.BAD, "b": "SELECT BAD_at FROM refused_owner"}\n',
    "service/error.py": "except_ = 'Connection refused by the server'\n",
    "tests/golden.json": '{"a": "it was BAD once"}\n',
    "requirements/dev.txt": "BAD\n",
    "lineage/catalog/migrations/versions/0001_first.py": '"""The BAD one."""\n',
}
OPENINGS = {
    "module": '"""What one does."""\n',
    "class": 'class A:\n    """The one."""\n',
    "function": 'def a():\n    """Of each dataset its age."""\n',
    "test": 'def test_age_is_shown():\n    """It is shown."""\n',
    "method": 'class A:\n    async def a(self):\n        """Whether it is."""\n',
}


def planted(folder, files):
    """Write files into a folder, and return what the check finds there."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        words = {"BAD": WORD, "CAPS": WORD.upper(), "PHRASE": PHRASE.replace("_", " ")}
        for placeholder, word in words.items():
            content = content.replace(placeholder, word)  # noqa: PLW2901 - a placeholder at a time
        (folder / path).write_text(content, "utf-8")
    return find(files, folder)


@pytest.mark.parametrize("path", PLACES)
def test_word_is_found_in_each_kind_of_place(tmp_path, path):
    """Report the file, the line, the words to use, and the reason."""
    (found,) = planted(tmp_path, {path: PLACES[path]})

    assert found.startswith(f"{path}:")
    assert f"{WORD} ==> notified; reported; stated  | one word for three things" in found.lower()


def test_line_of_a_word_is_its_own(tmp_path):
    """Count lines from the beginning of the file, in a docstring and in a document too."""
    files = {"a.py": '"""Names.\n\nOwners are BAD.\n"""\n', "b.md": "a\n\n`c\nd`\nBAD\n"}

    assert [each.partition(": ")[0] for each in planted(tmp_path, files)] == ["a.py:3", "b.md:5"]


def test_names_in_use_elsewhere_are_not_words(tmp_path):
    """Leave keys of JSON, columns, metrics, links, errors of systems, and files of others."""
    assert planted(tmp_path, NAMES) == []


def test_phrase_is_found_in_text_and_names(tmp_path):
    """Find several words, in names too."""
    files = {"a.md": "Datasets: PHRASE.\n", "b.py": f"is_{PHRASE} = True\n"}

    found = [each.partition(" ==>")[0] for each in planted(tmp_path, files)]
    assert found == [f"{path}:1: {PHRASE.replace('_', ' ')}" for path in files]


def test_text_with_odd_characters_is_checked(tmp_path):
    """Keep the lines apart at characters that no file can hold, and at other ends of lines."""
    files = {"a.py": 'a = "x \\ud800 y \\0 z\\x0b \\x85 BAD \\r BAD"\n'}

    assert len(planted(tmp_path, files)) == 1


@pytest.mark.parametrize("kind", OPENINGS)
def test_opening_of_a_docstring_is_found(tmp_path, kind):
    """Report docstrings that begin with neither a verb nor a noun."""
    (found,) = planted(tmp_path, {"service/one.py": OPENINGS[kind]})

    assert 'docstring begins with "' in found


def test_module_that_begins_with_a_verb_is_found(tmp_path):
    """Allow a verb that is a noun here, in functions, and in the modules of tests."""
    text = '"""Match faults to incidents."""\n'
    files = {
        "service/module.py": text,
        "service/noun.py": '"""Match of faults to incidents."""\n',
        "service/function.py": f"def match():\n    {text}",
        "tests/test_one.py": text,
    }

    assert planted(tmp_path, files) == [
        'service/module.py:1: module begins with "match", verb: begin with the noun'
    ]


def test_opening_of_a_name_is_found(tmp_path):
    """Allow an article, since the name of a test is a sentence; no question word."""
    content = (
        "def test_what_is_late_is_shown():\n    pass\n\n\ndef test_a_run_is_shown():\n    pass\n"
    )

    assert planted(tmp_path, {"tests/test_one.py": content}) == [
        'tests/test_one.py:1: test begins with "what", question word: say what happens'
    ]


def test_files_that_git_knows_are_checked(tmp_path, capsys):
    """Print what is wrong below the given paths, and fail with a summary."""
    planted(tmp_path, {"docs/a.md": "BAD\n", "docs/b.md": "good\n", "unknown.md": "BAD\n"})
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "docs"], cwd=tmp_path, check=True)

    assert main([], tmp_path) == "1 to rewrite: see CONTRIBUTING.md"
    assert capsys.readouterr().out.startswith(f"docs/a.md:1: {WORD} ==>")
    assert main(["docs/b.md"], tmp_path) is None
    assert capsys.readouterr().out == ""
