"""First page with a silent collector, whose losses are unknown."""

import re
from contextlib import closing

import pytest
from litestar.testing import TestClient
from sqlalchemy import delete, insert, update

from collector.spool_file import open_spool
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.process.clock import to_micros
from service.api.app import create_app
from service.runtime.settings import Settings
from slis.evaluation.dataset_states import mark_worst
from tests.service import shop as small
from tests.service.explorer.estate import NOW


def _verdict(folder, seconds_ago):
    """Return tone, text and objection of a verdict for a collector with this heartbeat."""
    settings = Settings(data_dir=folder)
    with closing(open_spool(settings.spool, 2**20)) as spool:
        heartbeat = to_micros(NOW) - seconds_ago * 1_000_000
        spool.execute("INSERT INTO heartbeat VALUES (1, ?)", (heartbeat,))
    with TestClient(create_app(settings, lambda: NOW), base_url="http://127.0.0.1") as client:
        page = client.get("/").text
    (answer,) = re.findall(r'<div class="verdict (.*?)</div>', page, re.DOTALL)
    tone, words = answer.partition('"')[0], re.findall(r"</span> (.*?)</h1>", answer)
    return tone, *words, re.findall("<li>(.*collector.*?)</li>", answer)


@pytest.mark.parametrize(
    ("seconds_ago", "verdict"),
    [
        (5, ("good", "No known problems", [])),
        (6, ("unknown", "Unknown", ["the collector is down: events may be lost"])),
    ],
)
def test_a_silent_collector_makes_the_state_unknown(embedded, tmp_path, seconds_ago, verdict):
    """Show a shop without a fault as unknown when the collector is silent."""
    small.fill(embedded, evaluated_at=NOW)
    keys = map(small.dataset_key, small.NAMES)
    good = [small.state_row(one, "M1", "good", None) for one in keys]
    with write_transaction(embedded) as connection:
        connection.execute(update(tables.sli_now).values(good=tables.sli_now.c.total))
        connection.execute(delete(tables.dataset_state))
        connection.execute(insert(tables.dataset_state), good)
        mark_worst(connection)

    assert _verdict(tmp_path, seconds_ago) == verdict
