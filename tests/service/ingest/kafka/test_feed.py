from pathlib import Path
from threading import Event
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from lineage.process.environment import InvalidSettingError
from service.ingest.kafka.feed import Feed
from service.ingest.kafka.settings import KafkaSettings, client_settings
from service.runtime.roles import role_commands
from service.runtime.settings import Settings as Shared
from tests.service.commandline import lineward
from tests.service.ingest.ship.written import Memory, event, events

_TRANSPORT, _FATAL = -195, -150  # librdkafka's codes


class Topic:
    """Consumer of one partition that is given to the next one from the committed offset on."""

    def __init__(self, bodies: list[bytes]) -> None:
        self.bodies = bodies
        self.committed = 0
        self.troubles: list[KafkaError] = []
        self._place = 0

    def consume(self, num_messages: int, timeout: float) -> list[Any]:  # noqa: ARG002
        """Return the waiting messages, or the error."""
        if self.troubles:
            return [_Message(None, 0, self.troubles.pop(0))]
        begin, self._place = self._place, min(len(self.bodies), self._place + num_messages)
        return [_Message(self.bodies[n], n) for n in range(begin, self._place)]

    def commit(self, *, offsets: list[Any], asynchronous: bool) -> list[Any]:
        """Remember it."""
        assert not asynchronous
        self.committed = offsets[0].offset
        return offsets

    def reassigned(self) -> "Topic":
        """Return the consumer of another process."""
        self._place = self.committed
        return self


class _Message:
    """Message."""

    def __init__(self, body: bytes | None, offset: int, error: KafkaError | None = None) -> None:
        self.value, self.offset, self.error = lambda: body, lambda: offset, lambda: error
        self.topic, self.partition = lambda: "openlineage.events", lambda: 0


class Hasty(Feed):
    """Run the mutant: commit before the collector has answered."""

    def _land(self, events):
        self._commit(events)
        super()._land(events)


@pytest.mark.parametrize(("kind", "lost"), [(Feed, 0), (Hasty, 200)])
def test_an_offset_is_committed_only_after_the_answer(kind: type[Feed], lost: int):
    """Lose nothing by dying between two batches; with the commit first, lose a batch."""
    topic, before, after = Topic(events(0, 500)), Memory(dies_after=1), Memory()
    kind(topic, before).run(Event())  # type: ignore[arg-type]
    next_one = kind(topic.reassigned(), after)  # type: ignore[arg-type]
    while next_one.take():
        continue

    assert len(set(events(0, 500)) - set(before.bodies) - set(after.bodies)) == lost


def test_poison_is_committed_like_any_other():
    """Commit it, so that it does not return and block the messages behind it."""
    topic, memory = Topic([event(0), b"\x00nonsense", b"", event(1)]), Memory()

    assert Feed(topic, memory).take() == 4  # type: ignore[arg-type]

    assert memory.bodies == [event(0), b"\x00nonsense", event(1)]
    assert topic.committed == 4


def test_trouble_passes_by_itself(capsys):
    """Log a broker that is away once; land what comes after it."""
    topic, memory = Topic(events(0, 2)), Memory()
    topic.troubles = [KafkaError(_TRANSPORT)] * 3
    feed = Feed(topic, memory)  # type: ignore[arg-type]
    while not feed.take():
        continue

    assert memory.bodies == events(0, 2)
    assert capsys.readouterr().out.count("kafka_trouble") == 1


def test_a_client_that_cannot_go_on_ends_the_process():
    """Start a new one in its place."""
    topic = Topic([])
    topic.troubles = [KafkaError(_FATAL, "fenced", True)]  # noqa: FBT003 - its signature

    with pytest.raises(KafkaException):
        Feed(topic, Memory()).run(Event())  # type: ignore[arg-type]


def test_a_file_adds_settings_but_not_ours(tmp_path: Path):
    """Accept TLS and SASL settings, and reject one that changes the commit."""
    file = tmp_path / "client.properties"
    settings = KafkaSettings(bootstrap="b:9092", config_file=file)
    file.write_text("# theirs\n\nsasl.password = a=b \n")
    given = client_settings(settings)
    file.write_text("\nenable.auto.commit=true\n")

    assert given["sasl.password"] == "a=b"
    assert (given["bootstrap.servers"], given["enable.auto.commit"]) == ("b:9092", "false")
    with pytest.raises(InvalidSettingError, match=r"client.properties:2: enable.auto.commit"):
        client_settings(settings)


def test_a_setting_that_is_wrong_ends_the_role_without_its_value(tmp_path: Path):
    """Exit code 2; a password is in no log."""
    file = tmp_path / "client.properties"
    file.write_text("sasl.passwort=sesame\n")
    variables = {"LINEWARD_KAFKA_BOOTSTRAP": "127.0.0.1:1", "LINEWARD_KAFKA_CONFIG_FILE": str(file)}
    done = lineward("kafka", **variables)
    unset = lineward("kafka")

    assert (done.returncode, unset.returncode) == (2, 2)
    assert "sesame" not in done.stdout + done.stderr
    assert "LINEWARD_KAFKA_BOOTSTRAP" in unset.stderr


def test_up_runs_it_where_a_broker_is_named():
    """Wait there only."""
    with_it, without = Shared(kafka_bootstrap="b:9092"), Shared()
    beside = {one.role for one in role_commands(with_it)} - {
        one.role for one in role_commands(without)
    }

    assert beside == {"kafka"}
    assert role_commands(with_it)[0].role == "collector"
