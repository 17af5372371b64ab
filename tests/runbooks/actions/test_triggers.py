import msgspec
import pytest

from alerts.operator_actions.audit import Entry
from alerts.root_cause.kinds import FAULT_KINDS
from lineage.policy import load_policy
from lineage.policy.actions import ActionName, ActionRule, KindName
from lineage.policy.model import Policy
from lineage.policy.reading import PolicyError
from runbooks.actions import triggers
from runbooks.actions.calling import add_durable_entry
from runbooks.actions.registry import ACTIONS
from runbooks.actions.triggers import Due, Occasion, Past, due_actions, past_actions

HOUR = 3_600_000_000
AGAIN = ActionRule(
    kind="failed",
    match="jobs/etl*",
    do="resubmit",
    with_={"namespace": "spark", "name": "{job_name}"},
    dry_run=False,
    most_per_hour=2,
)
FAILED = Occasion(
    incident="inc-1",
    kind="failed",
    namespace="jobs",
    name="etl_orders",
    at=10 * HOUR,
    job_namespace="jobs",
    job_name="etl_orders",
)


def _policy(*rules: ActionRule) -> Policy:
    return Policy(actions=rules)


def test_a_rule_is_due_with_the_values_of_the_incident():
    """Insert the incident's name at the rule's placeholder."""
    arguments = {"namespace": "spark", "name": "etl_orders"}
    asked = Due("resubmit", arguments, is_dry=False, who="policy for inc-1")
    assert due_actions(_policy(AGAIN), FAILED, []) == [asked]


@pytest.mark.parametrize(
    "change", [{"kind": "missing"}, {"name": "load_orders"}, {"namespace": "other"}]
)
def test_an_incident_of_another_kind_or_root_is_not_due(change):
    """Match by kind, and by the pattern over the root's whole name."""
    assert due_actions(_policy(AGAIN), msgspec.structs.replace(FAILED, **change), []) == []


def test_an_action_runs_once_per_incident_for_any_number_of_rules():
    """Run it never again, an hour or a day later: it did not help."""
    assert len(due_actions(_policy(AGAIN, AGAIN), FAILED, [])) == 1
    assert due_actions(_policy(AGAIN), FAILED, [Past("inc-1", "resubmit", 0)]) == []
    assert len(due_actions(_policy(AGAIN), FAILED, [Past("inc-1", "reinfer", 0)])) == 1


def test_actions_per_hour_are_bounded_over_all_incidents():
    """Allow two within the hour: a storm needs a person; older ones do not count."""
    recent = [Past(f"inc-{n}", "resubmit", 10 * HOUR - n) for n in (2, 3)]
    older = [Past("inc-4", "resubmit", 9 * HOUR)]

    assert due_actions(_policy(AGAIN), FAILED, recent) == []
    assert len(due_actions(_policy(AGAIN), FAILED, recent[:1] + older)) == 1


def test_without_the_bound_a_storm_would_restart_everything(monkeypatch):
    """Run the mutant."""
    monkeypatch.setattr(triggers, "_is_allowed", lambda *_: True)
    recent = [Past(f"inc-{n}", "resubmit", 10 * HOUR - n) for n in (2, 3)]

    assert len(due_actions(_policy(AGAIN), FAILED, recent)) == 1


def test_a_rule_with_an_unknown_value_is_not_due():
    """Wait for a run that is not known yet; reject an unknown placeholder."""
    asks_run = ActionRule(kind="failed", match="*", do="reinfer", with_={"run": "{run}"})

    assert due_actions(_policy(asks_run), FAILED, []) == []
    known = msgspec.structs.replace(FAILED, run="r-1")
    assert [one.arguments for one in due_actions(_policy(asks_run), known, [])] == [{"run": "r-1"}]
    for strange in ("{__class__}", "{at}", "{}", "{run.real}"):
        with pytest.raises(ValueError, match="stands for nothing"):
            ActionRule(kind="failed", match="*", do="reinfer", with_={"run": strange})


def test_a_rule_only_plans_by_default():
    """Plan only: users read the result in the audit log before they automate an action."""
    rule = ActionRule(kind="lost", match="*", do="requeue-rejected")

    assert (rule.dry_run, rule.most_per_hour) == (True, 3)


def test_past_actions_are_read_from_the_audit_log(world):
    """Count all rows of this incident, those of others in the last hour, and none of people."""

    def add(at, who, action="act resubmit", via="policy", answer="done"):
        add_durable_entry(
            world.engine,
            Entry(at=at, who=who, via=via, action=action, detail="{}", answer=answer),
        )

    add(HOUR, "policy for inc-1", answer=None)
    add(HOUR + 1, "policy for inc-1")
    add(HOUR, "policy for inc-2")
    add(10 * HOUR - 1, "policy for inc-3", answer="rejected: it runs")
    add(10 * HOUR - 1, "ann", via="cli")
    add(10 * HOUR - 1, "policy for inc-4", action="suppress")

    with world.engine.connect() as connection:
        found = past_actions(connection, "inc-1", 10 * HOUR)
    assert sorted(found, key=lambda one: one.incident) == [
        Past("inc-1", "resubmit", HOUR),
        Past("inc-3", "resubmit", 10 * HOUR - 1),
    ]


def test_a_policy_may_name_every_action_and_kind_and_no_other(tmp_path):
    """Compare the lists in the policy's own package, which imports neither.

    Only a person removes a collector.
    """
    assert set(ActionName.__args__) == set(ACTIONS) - {"remove-collector"}
    assert set(KindName.__args__) == {kind.id for kind in FAULT_KINDS}
    file = tmp_path / "lineward.yaml"
    file.write_text(
        "actions:\n  - {kind: failed, match: 'jobs/*', do: resubmit, with: {name: x}}\n"
    )
    assert load_policy(file).actions[0].with_ == {"name": "x"}
    file.write_text("actions:\n  - {kind: failed, match: 'jobs/*', do: reboot}\n")
    with pytest.raises(PolicyError, match="reboot"):
        load_policy(file)
