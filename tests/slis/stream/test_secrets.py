"""Secrets of events are in no table of the catalog; the raw bodies in the lake have them."""

import json

from spools import run_event
from sqlalchemy import select

from lineage.catalog import tables

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


def _event(at, number, told):
    message = told.get("message")
    facets = {"errorMessage": {"message": message, "programmingLanguage": "X"}} if message else {}
    kind = "FAIL" if message else "COMPLETE"
    event = run_event(kind, at, run=f"r{number}", job=f"job{number}", outputs=[f"out{number}"])
    event["run"]["facets"] |= facets
    if "job" in told:
        event["job"]["name"] = told["job"]
    if "facets" in told:
        event["outputs"][0]["facets"] = told["facets"]
    event |= {side: told[side] for side in ("inputs", "outputs") if side in told}
    return json.loads(json.dumps(event).replace("%s", f"{_SECRET}{number}X"))


def _contents(catalog):
    with catalog.connect() as connection:
        for table in tables.metadata.sorted_tables:
            yield from (repr(tuple(row)) for row in connection.execute(select(table)))


def test_no_table_of_the_catalog_holds_a_secret_of_an_event(lander, catalog, at):
    lander.land(*(_event(at(9), number, told) for number, told in enumerate(_EVENTS)))

    found = list(_contents(catalog))

    with catalog.connect() as connection:
        assert len(connection.execute(select(tables.run)).all()) == len(_EVENTS)
    assert [row for row in found if _SECRET in row] == []
