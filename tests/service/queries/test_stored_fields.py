"""Earlier releases stored columns without a name: no answer or page fails on one."""

import pytest
from litestar.testing import TestClient

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.api.app import create_app
from service.queries.schema_changes import SchemaField, fields_of
from service.runtime.settings import Settings
from tests.service.explorer import estate
from tests.service.queries.test_stored_times import PATHS

STORED = (
    '[{"name":"id","type":"int"},{"type":"struct"}]',
    '[{"name":"id","type":"int"},null]',
    '[{"name":null,"type":"x"},{"name":"id","type":"int"},{}]',
)


@pytest.mark.parametrize("text", STORED)
def test_a_stored_column_without_a_name_is_left_out(text):
    """Show fields that have a name."""
    assert fields_of(text) == [SchemaField("id", "int")]


@pytest.mark.parametrize("text", STORED)
def test_every_answer_and_page_is_200_with_any_fields(catalog, text):
    """Answer 200 in the API and the explorer."""
    estate.fill(catalog)
    with write_transaction(catalog) as connection:
        connection.execute(tables.schema_version.update().values(fields=text))
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))

    with TestClient(
        create_app(settings, lambda: estate.NOW), base_url="http://127.0.0.1"
    ) as client:
        found = {path: client.get(path).status_code for path in PATHS}

    assert set(found.values()) == {200}, found
