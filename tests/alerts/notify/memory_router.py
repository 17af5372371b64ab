"""Teams, their channels, and an outbox in memory: routing without a catalog."""

from collections import defaultdict

import msgspec

from alerts.incidents.detected_fault import service_fault
from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import IncidentCommand, StepInput
from alerts.notify.channels.page_actions import action_of
from alerts.notify.context import RoutingContext, is_muting, next_due_at
from alerts.notify.escalation import escalate_now
from alerts.notify.incident_summary import IncidentSummary, OwnerImpact
from alerts.notify.message import Impacted, MessageRoot
from alerts.notify.notification_plan import NotificationPlan
from alerts.notify.planning import collect_result, plan_confirmed, plan_due, plan_step
from alerts.notify.settings import RoutingSettings
from lineage.policy.model import EscalationStep, Owner, Policy
from lineage.process.clock import SECOND_MICROS

SHOP = Owner("shop", "#shop", "shop.key", (EscalationStep(15, owner="boss"),))
POLICY = Policy(
    owners=(
        SHOP,
        Owner("pay", "#pay", "pay.key"),
        Owner("chat", "#chat"),
        Owner("keys", pagerduty_key_file="keys.key"),
        Owner("mute"),
        Owner("boss", "#boss", "boss.key"),
        Owner("platform", "#platform", "platform.key"),
    )
)
SETTINGS = RoutingSettings(public_url="https://lineward.test", tickets="webhook:tickets")


def theirs(name="marts/x", count=1, keys=frozenset()):
    """Return the impact on a downstream owner."""
    return OwnerImpact(
        (Impacted("db", name, "critical", "late", 9 * SECOND_MICROS),), count, (), keys
    )


def summary(incident, **given):  # noqa: ANN003
    """Return the summary of an incident, as the detector would."""
    fields = {
        "what": f"{incident.root.kind} {chr(incident.root.key % 128)}",
        "root": MessageRoot("job", chr(incident.root.key % 128), "jobs"),
        "runbook": "job-failed",
        "correlation_id": f"c-{incident.id}",
    }
    return IncidentSummary(incident=incident, **(fields | given))


def outage(part="collector"):
    """Return a fault of Lineward itself."""
    return service_fault("ingestion", part, 0)


class MemoryRouter:
    """Router that keeps incidents, states and notifications in memory."""

    def __init__(self, policy=POLICY, **set_) -> None:  # noqa: ANN003
        self.policy = policy
        self.settings = msgspec.structs.replace(SETTINGS, **set_)
        self.incidents = ()
        self.states = {}
        self.post = []
        self.without_recipient = []
        self.taken_steps = []
        self.events = []
        self.is_alerted = False

    def at(self, seconds, *found, unknown="", commands=(), **painted):  # noqa: ANN002, ANN003
        """Route the step of this second; return `channel kind`, sorted."""
        now = StepInput(seconds * SECOND_MICROS, found, frozenset(map(ord, unknown)), commands)
        done = advance(self.incidents, now)
        self.incidents = done.incidents
        self.events += done.events
        summaries = {own.id: summary(own, **painted) for own in done.changed}
        return self._take(plan_step(done, summaries, self.states, self.context, now.at))

    def opened(self, *found, at=0, **painted):  # noqa: ANN002, ANN003
        """Open incidents after 30 s."""
        self.at(at, *found)
        return self.at(at + 30, *found, **painted)

    def route_due(self, seconds):
        """Route what is due."""
        at = seconds * SECOND_MICROS
        due = [(next_due_at(each, self.context), each) for each in self.states.values()]
        ready = [each for when, each in due if when is not None and when <= at]
        return self._take(plan_due(ready, self.context, at))

    def confirm(self, seconds):
        """Confirm every open incident, as Alertmanager does."""
        live = [each for each in self.states.values() if each.ended_at is None]
        return self._take(plan_confirmed(live, self.context, seconds * SECOND_MICROS))

    def do(self, seconds, action, *found, until=None, by="ada"):  # noqa: ANN002
        """Apply a person's command to the only incident."""
        end = None if until is None else until * SECOND_MICROS
        return self.at(seconds, *found, commands=(IncidentCommand(self.one.id, action, by, end),))

    def escalate(self, seconds, by="ada"):
        """Take the next step of the only incident on request."""
        plan = NotificationPlan(self.states[self.one.id], seconds * SECOND_MICROS)
        assert escalate_now(plan, self.context, by)
        return self._take(collect_result([plan]))

    @property
    def one(self):
        """Return the only incident that is not resolved."""
        (incident,) = [each for each in self.incidents if each.state != "resolved"]
        return incident

    @property
    def context(self):
        """Return the context that the router would load."""
        outages = {each.incident_id for each in self.states.values() if is_muting(each)}
        return RoutingContext(self.policy, self.settings, frozenset(outages), self.is_alerted)

    def last_message(self, channel):
        """Return the last message to a channel."""
        return [each.message for each in self.post if each.channel == channel][-1]

    @property
    def page_counts(self):
        """Return how many times each key paged, by the rules of PagerDuty, by incident."""
        is_open, counts = defaultdict(bool), defaultdict(int)
        for each in self.post:
            if each.channel.startswith("pagerduty:"):
                alert = each.channel, each.message.incident_id
                action = action_of(each.message.kind)
                counts[alert] += action == "trigger" and not is_open[alert]
                is_open[alert] = {"trigger": True, "resolve": False}.get(action, is_open[alert])
        return {alert: count for alert, count in counts.items() if count}

    def _take(self, result):
        for each in result.notifications:
            self._reject_overtaken(each)
            self.post.append(each)
        self.states |= {each.incident_id: each for each in result.states}
        self.without_recipient += result.without_recipient
        self.taken_steps += result.taken_steps
        return sorted(f"{each.channel} {each.message.kind}" for each in result.notifications)

    def _reject_overtaken(self, outgoing):
        """Reject a revision that is not newer, as the outbox does."""
        own = outgoing.message
        before = [
            each.message.revision
            for each in self.post
            if (each.channel, each.message.incident_id) == (outgoing.channel, own.incident_id)
        ]
        assert own.revision > max(before, default=0)
        if outgoing.channel.startswith("pagerduty:"):
            action_of(own.kind)
