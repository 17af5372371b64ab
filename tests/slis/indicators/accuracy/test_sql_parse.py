"""Batches of texts for the parser: one that breaks it stops no other."""

import pyarrow as pa

from slis.indicators.accuracy import sql_parse


def test_a_text_that_breaks_the_parser_has_a_problem_and_the_others_names(monkeypatch):
    """Store the problem: otherwise the same text would come first in each turn."""
    sound = sql_parse.statements

    def statements(text, dialect):
        if text == "broken":
            raise AttributeError(text)
        return sound(text, dialect)

    monkeypatch.setattr(sql_parse, "statements", statements)
    texts = [
        {"sql_key": 1, "dialect": "spark", "text": "broken"},
        {"sql_key": 2, "dialect": "spark", "text": "INSERT INTO a.b SELECT * FROM c.d"},
    ]

    [parsed] = sql_parse._parse(iter([pa.RecordBatch.from_pylist(texts)]))  # noqa: SLF001

    broken, named = parsed.to_pylist()
    assert broken["problem"] == "AttributeError: could not be parsed"
    assert named["names"] == '[{"reads":["c.d"],"writes":["a.b"]}]'
