"""Teams, their channels, and an outbox in memory: decisions without a catalog."""

from collections import defaultdict

import msgspec

from alerts.incidents.estate import MICROS
from alerts.incidents.incident import service_fault
from alerts.incidents.life import step
from alerts.incidents.steps import Command, Now
from alerts.notify.channels.pagerduty.payload import action_of
from alerts.notify.context import Scene, is_outage, next_at
from alerts.notify.incident_summary import Picture, Theirs
from alerts.notify.message import Impacted, Root
from alerts.notify.planning import by_time, letters, released
from alerts.notify.routing_settings import RoutingSettings
from lineage.policy.model import EscalationStep, Owner, Policy

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
    """What a downstream owner has."""
    return Theirs((Impacted("db", name, "critical", "late", 9 * MICROS),), count, (), keys)


def picture(incident, **given):  # noqa: ANN003
    """Of an incident, as the watch would have it."""
    fields = {
        "what": f"{incident.root.kind} {chr(incident.root.key % 128)}",
        "root": Root("job", chr(incident.root.key % 128), "jobs"),
        "runbook": "job-failed",
        "correlation_id": f"c-{incident.id}",
    }
    return Picture(incident=incident, **(fields | given))


def outage(part="collector"):
    """Lineward itself is down."""
    return service_fault("ingestion", part, 0)


class Town:
    """Lives walk on, and every letter is kept as the outbox would keep it."""

    def __init__(self, policy=POLICY, **set_) -> None:  # noqa: ANN003
        self.policy = policy
        self.settings = msgspec.structs.replace(SETTINGS, **set_)
        self.incidents = ()
        self.tellings = {}
        self.post = []
        self.gaps = []
        self.escalated = []
        self.events = []
        self.is_alerted = False

    def at(self, seconds, *found, unknown="", commands=(), **painted):  # noqa: ANN002, ANN003
        """What this second's step makes people hear: `channel kind`, sorted."""
        now = Now(seconds * MICROS, found, frozenset(map(ord, unknown)), commands)
        done = step(self.incidents, now)
        self.incidents = done.incidents
        self.events += done.events
        pictures = {own.id: picture(own, **painted) for own in done.changed}
        return self._take(letters(done, pictures, self.tellings, self.scene, now.at))

    def opened(self, *found, at=0, **painted):  # noqa: ANN002, ANN003
        """Held for 30 s."""
        self.at(at, *found)
        return self.at(at + 30, *found, **painted)

    def turn(self, seconds):
        """What time brings."""
        at = seconds * MICROS
        due = [(next_at(each, self.scene), each) for each in self.tellings.values()]
        ready = [each for when, each in due if when is not None and when <= at]
        return self._take(by_time(ready, self.scene, at))

    def called(self, seconds):
        """Alertmanager names every incident that is open."""
        live = [each for each in self.tellings.values() if each.ended_at is None]
        return self._take(released(live, self.scene, seconds * MICROS))

    def do(self, seconds, action, *found, until=None, by="ada"):  # noqa: ANN002
        """A person's command, of the only incident."""
        end = None if until is None else until * MICROS
        return self.at(seconds, *found, commands=(Command(self.one.id, action, by, end),))

    @property
    def one(self):
        """The only incident that is not over."""
        (incident,) = [each for each in self.incidents if each.state != "resolved"]
        return incident

    @property
    def scene(self):
        """As the desk would find it."""
        outages = {each.incident_id for each in self.tellings.values() if is_outage(each)}
        return Scene(self.policy, self.settings, frozenset(outages), self.is_alerted)

    def said(self, channel):
        """The last message to a channel."""
        return [each.message for each in self.post if each.channel == channel][-1]

    @property
    def rings(self):
        """How often each key rang, by the rules of PagerDuty, for each incident known there."""
        is_open, counts = defaultdict(bool), defaultdict(int)
        for each in self.post:
            if each.channel.startswith("pagerduty:"):
                alert = each.channel, each.message.incident_id
                action = action_of(each.message.kind)
                counts[alert] += action == "trigger" and not is_open[alert]
                is_open[alert] = {"trigger": True, "resolve": False}.get(action, is_open[alert])
        return {alert: count for alert, count in counts.items() if count}

    def _take(self, decided):
        for each in decided.letters:
            self._refuse_overtaken(each)
            self.post.append(each)
        self.tellings |= {each.incident_id: each for each in decided.tellings}
        self.gaps += decided.gaps
        self.escalated += decided.escalated
        return sorted(f"{each.channel} {each.message.kind}" for each in decided.letters)

    def _refuse_overtaken(self, letter):
        """The outbox takes no revision twice, and none that is older."""
        own = letter.message
        before = [
            each.message.revision
            for each in self.post
            if (each.channel, each.message.incident_id) == (letter.channel, own.incident_id)
        ]
        assert own.revision > max(before, default=0)
        if letter.channel.startswith("pagerduty:"):
            action_of(own.kind)
