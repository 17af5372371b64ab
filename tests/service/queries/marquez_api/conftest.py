"""API over the warehouse: open, and guarded."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine

from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service.api.access.estate import NOW, Estate
from tests.service.queries.marquez_api import warehouse


@pytest.fixture
def client(catalog: Engine, tmp_path: Path) -> Iterator[TestClient[Any]]:
    """Serve the API without access control, half a day after the warehouse's runs."""
    warehouse.fill(catalog)
    url = catalog.url.render_as_string(hide_password=False)
    app = create_app(Settings(catalog_url=url, data_dir=tmp_path), clock=lambda: NOW)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def estate(catalog: Engine, tmp_path: Path) -> Estate:
    """Serve the API with tokens: `boss` sees all, `shop` one namespace of datasets."""
    guarded = Estate(catalog, tmp_path)
    warehouse.fill(catalog)
    return guarded
