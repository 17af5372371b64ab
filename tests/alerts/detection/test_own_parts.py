"""Parts of Lineward: each root of an incident about Lineward itself is one."""

import inspect
import re
from typing import get_args

from sqlalchemy import insert

from alerts.detection.self_monitoring import EvaluationStatus, RoleFailure, find_own_faults
from alerts.incidents.detected_fault import service_fault
from alerts.own_parts import OWN_ROOTS, ROLES
from alerts.root_cause.faults import label_of_root
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.states import UNAUTHORIZED_ACCESS
from service.runtime.roles import role_commands
from tests.alerts.detection.catalog_builder import micros
from tests.alerts.detection.conftest import NOON

_ACCESS = {"sli": UNAUTHORIZED_ACCESS.id, "tier": "all", "good": 0.0, "total": 1.0, "unknown": 0.0}
_EVENT = {"spool_seq": 7, "origin": "http", "kind": "run", "bytes": 9, "error": "odd"}


def test_each_role_of_up_is_a_part():
    """Find the roles in the code, as settings decide which of them run."""
    roles = re.findall(r'role="(\w+)"', inspect.getsource(role_commands))

    assert sorted(roles) == sorted(ROLES)


def test_each_fault_of_lineward_has_a_part_as_its_root(catalog):
    """Let every part fail at once; each kind of such a fault occurs."""
    hour, at = micros(NOON), {"received_at": micros(NOON), "failed_at": micros(NOON)}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.event_set_aside), _EVENT | at)
        connection.execute(insert(tables.served_hour), _ACCESS | {"hour": hour})
        failures = dict.fromkeys(ROLES, RoleFailure(micros(NOON), "failing"))
        status = EvaluationStatus(now=micros(NOON + 600), began_at=micros(NOON))
        found = list(find_own_faults(connection, status, None, failures))

    kinds = get_args(inspect.get_annotations(service_fault)["kind"])
    assert {each.root.kind for each in found} == set(kinds)
    assert sorted(label_of_root(each.root) for each in found) == sorted(OWN_ROOTS)
