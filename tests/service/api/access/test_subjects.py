"""Subjects of requests in the audit log."""

import pytest

from tests.service import shop


@pytest.mark.postgres_nightly
@pytest.mark.parametrize(
    ("path", "subject"),
    [
        (f"/api/v1/diff?first={shop.RUN_ID}&second=x", f"first={shop.RUN_ID} second=x"),
        ("/api/v1/diff?job=etl&job_namespace=jobs", "job=etl job_namespace=jobs"),
        (f"/runs/{shop.RUN_ID}/diff/x", f"first={shop.RUN_ID} second=x"),
        (
            "/api/v1/lineage?dataset=orders&at=2026-11-20T12:00:00Z",
            "dataset=orders at=2026-11-20T12:00:00Z",
        ),
        ("/api/v1/slis?token=secret", ""),
    ],
)
def test_the_log_has_the_subject_and_its_time(estate, path, subject):
    """Record both runs of a comparison and the time of a past, and no unknown parameter."""
    estate.get(path, "boss")

    assert estate.rows("SELECT subject FROM access_audit") == [(subject,)]
