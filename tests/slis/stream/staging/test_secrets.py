"""Secrets of events are in no table of the catalog; the raw bodies in the lake have them."""

import json

from sqlalchemy import select

from lineage.catalog import tables
from tests.slis.stream.spools import run_event

_SECRET = "hunter2SECRETCANARY"  # noqa: S105 - none of ours
_EVENTS = [
    {"outputs": [{"namespace": "jdbc:mysql://(host=db,user=u,password=%s)/shop", "name": "t"}]},
    {"outputs": [{"namespace": "jdbc:db2://h:50000/S:user=u;password=%s;", "name": "s.t"}]},
    {"outputs": [{"namespace": "https://u:p@h/x?X-Amz-Signature=%s", "name": "y"}]},
    {"inputs": [{"namespace": "etl", "name": "https://h/in.csv?sig=%s"}]},
    {"message": "login failed: password=%s"},
    {"message": "GET https://u:%s@h/x: 401, Authorization: Bearer %s"},
    {"message": "-----BEGIN RSA PRIVATE KEY-----\n%s"},
    {"message": "x " * 977 + "cannot connect to jdbc:mysql://etl:%s@h/db"},
    {"job": "sync postgres://u:%s@h/db"},
    {"facets": {"tags": {"tags": [{"key": "url", "value": "https://h/?token=%s"}]}}},
    {"facets": {"symlinks": {"identifiers": [{"namespace": "jdbc:x://u:%s@h", "name": "t"}]}}},
    {
        "facets": {
            "columnLineage": {
                "fields": {
                    "a": {
                        "inputFields": [
                            {"namespace": "jdbc:td://h/PASSWORD=%s", "name": "t", "field": "b"}
                        ]
                    }
                }
            }
        }
    },
]


# A login in each text of an event that the catalog stores.
_LOGIN = "https://u:%s@h/x"
_TWICE = ["https://u:%s@h/x", "https://u:%sb@h/x"]  # the same text, once both are redacted
_SQL = "CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:mysql://u:%s@h/db', password '%s')"
_RUN_FACETS = {
    "parent": {
        "run": {"runId": "https://u:%s@h/parent"},
        "job": {"namespace": _LOGIN, "name": _LOGIN},
        "root": {"run": {"runId": "https://u:%s@h/root"}, "job": {"namespace": "n", "name": "r"}},
    },
    "processing_engine": {
        "name": _LOGIN,
        "version": _LOGIN,
        "openlineageAdapterVersion": _LOGIN,
    },
    "spark_applicationDetails": {"applicationId": _LOGIN},
}
_JOB_FACETS = {
    "sourceCodeLocation": dict.fromkeys(
        ("type", "url", "path", "tag", "branch", "version", "repoUrl"), _LOGIN
    ),
    "sql": {"query": _SQL, "dialect": _LOGIN},
    "jobType": {"processingType": "BATCH", "integration": _LOGIN, "jobType": _LOGIN},
    "ownership": {"owners": [{"name": one, "type": _LOGIN} for one in _TWICE]},
    "tags": {"tags": [{"key": "version", "value": _LOGIN}]},
}
_HOW = dict.fromkeys(("type", "subtype", "description"), _LOGIN)
_OUTPUT_FACETS = {
    "ownership": {"owners": [{"name": one, "type": _LOGIN} for one in _TWICE]},
    "tags": {"tags": [{"key": one, "value": _LOGIN} for one in _TWICE]},
    "version": {"datasetVersion": _LOGIN},
    "schema": {"fields": [{"name": one, "type": _LOGIN} for one in _TWICE]},
    "lifecycleStateChange": {"lifecycleStateChange": _LOGIN},
    "checksum": {"type": _LOGIN, "value": _LOGIN},
    "dataQualityAssertions": {
        "assertions": [
            {"assertion": one, "success": True, "column": _LOGIN, "name": _LOGIN} for one in _TWICE
        ]
    },
    "columnLineage": {
        "fields": {
            _LOGIN: {
                "inputFields": [
                    {"namespace": "n", "name": "in", "field": one, "transformations": [_HOW]}
                    for one in _TWICE
                ]
            }
        }
    },
}


def _full_event(at):
    event = run_event("COMPLETE", at, run="https://u:%s@h/run", job="full", outputs=["full"])
    event["producer"] = _LOGIN
    event["run"]["facets"] |= _RUN_FACETS
    event["job"]["facets"] = _JOB_FACETS
    event["outputs"][0]["facets"] = _OUTPUT_FACETS
    return json.loads(json.dumps(event).replace("%s", _SECRET))


def _event(at, number, given):
    message = given.get("message")
    facets = {"errorMessage": {"message": message, "programmingLanguage": "X"}} if message else {}
    kind = "FAIL" if message else "COMPLETE"
    event = run_event(kind, at, run=f"r{number}", job=f"job{number}", outputs=[f"out{number}"])
    event["run"]["facets"] |= facets
    if "job" in given:
        event["job"]["name"] = given["job"]
    if "facets" in given:
        event["outputs"][0]["facets"] = given["facets"]
    event |= {side: given[side] for side in ("inputs", "outputs") if side in given}
    return json.loads(json.dumps(event).replace("%s", f"{_SECRET}{number}X"))


def _contents(catalog):
    with catalog.connect() as connection:
        for table in tables.metadata.sorted_tables:
            yield from (repr(tuple(row)) for row in connection.execute(select(table)))


def test_no_table_of_the_catalog_holds_a_secret_of_an_event(lander, catalog, at):
    lander.land(*(_event(at(9), number, given) for number, given in enumerate(_EVENTS)))

    found = list(_contents(catalog))

    with catalog.connect() as connection:
        assert len(connection.execute(select(tables.run)).all()) == len(_EVENTS)
    assert [row for row in found if _SECRET in row] == []


def test_no_column_of_the_catalog_holds_a_login_of_an_event(lander, catalog, at):
    """Read every column; a list of columns (mutant) would miss the next one."""
    lander.land(_full_event(at(9)))

    found = list(_contents(catalog))

    assert [row for row in found if _SECRET in row] == []
    with catalog.connect() as connection:
        (run,) = connection.execute(select(tables.run)).all()
        (sql,) = connection.execute(select(tables.sql_text)).all()
    assert (run.run_id, run.job_name) == ("https://[redacted]@h/run", "full")
    assert sql.text == (
        "CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:mysql://[redacted]@h/db',"
        " password '[redacted]')"
    )


def test_redacted_rows_still_refer_to_each_other(lander, catalog, at):
    """Redact a run id with a login alike in the run and in its child; keep a UUID."""
    parent = "https://u:%s@h/parent".replace("%s", _SECRET)
    uuid = "0191f3b4-5a7c-7d3e-8f10-aabbccddeeff"
    child = run_event("COMPLETE", at(9), run=uuid, job="child", outputs=["out"])
    child["run"]["facets"] |= {
        "parent": {"run": {"runId": parent}, "job": {"namespace": "jobs", "name": "parent"}}
    }
    lander.land(run_event("COMPLETE", at(9), run=parent, job="parent", outputs=["mart"]), child)

    with catalog.connect() as connection:
        runs = {run.job_name: run for run in connection.execute(select(tables.run))}

    assert runs["child"].run_id == uuid
    assert runs["child"].parent_run_id == runs["parent"].run_id
