"""Password of the catalog, read from a file."""

import pytest
from sqlalchemy import make_url

from collector import settings as collector_settings
from lineage.process.environment import InvalidSettingError
from lineage.process.setting_files import add_password
from service.runtime import settings as service_settings
from slis import settings as pipeline_settings

URL = "postgresql+psycopg://lineward@db:5432/catalog?connect_timeout=2"


def test_each_role_reads_the_password_from_the_file(tmp_path, monkeypatch):
    """Read a password with special characters of a URL, as each role does."""
    (tmp_path / "password").write_text("p@:/ä%\n")
    monkeypatch.setenv("LINEWARD_CATALOG_URL", URL)
    monkeypatch.setenv("LINEWARD_CATALOG_PASSWORD_FILE", str(tmp_path / "password"))
    urls = (
        service_settings.read_settings().catalog,
        pipeline_settings.read_place().catalog,
        collector_settings.read_collector_settings().place.catalog_url,
    )

    for url in urls:
        assert url is not None
        assert make_url(url) == make_url(URL).set(password="p@:/ä%")  # noqa: S106 - of the test


def test_no_file_leaves_the_url_alone():
    """Check a URL, and no URL, without a file."""
    assert add_password(URL, None) == URL
    assert add_password(None, None) is None


@pytest.mark.parametrize(
    ("url", "content", "message"),
    [
        (None, "x", "expected a user and no password"),
        ("postgresql+psycopg://db/catalog", "x", "expected a user and no password"),
        ("postgresql+psycopg://me:secret@db/catalog", "x", "expected a user and no password"),
        (URL, "\n", "is empty"),
        (URL, None, "cannot read"),
    ],
)
def test_a_wrong_password_file_is_named(tmp_path, url, content, message):
    """Check the message, which never has the URL."""
    file = tmp_path / "password"
    if content is not None:
        file.write_text(content)

    with pytest.raises(InvalidSettingError, match=message) as raised:
        add_password(url, file)

    assert str(raised.value).startswith("LINEWARD_CATALOG_PASSWORD_FILE: ")
    assert "secret" not in str(raised.value)
