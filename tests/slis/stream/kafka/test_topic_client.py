"""Answers of the client: records, ends and failures."""

import itertools
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError

from lineage.input_log.records import Record, headers_of
from lineage.input_log.settings import read_log
from slis.stream.failures.causes import is_of_machine
from slis.stream.kafka.client import LogReadError, open_consumer, read_ranges
from slis.stream.kafka.plan import BatchPlan, Range
from slis.stream.kafka.range_reader import as_rows

EOF, RESET, NO_BROKER = -191, -140, -187  # librdkafka's codes
PARTS = (Range(0, 5, 7, 10, 1 << 20), Range(1, 0, 1, 12, 1 << 20))
PLAN = BatchPlan(10, PARTS)


def message(partition, offset, *, error=None, headers=None, body=b"{}"):
    """Make a message of the client."""
    if headers is None:
        headers = headers_of(Record(kind="run", collector="c", received_at=3, origin="http"))
    values = {"partition": partition, "offset": offset, "headers": headers, "value": body}
    values |= {"error": error and KafkaError(error), "timestamp": (1, 9)}
    return SimpleNamespace(**{name: lambda v=value: v for name, value in values.items()})


class Client:
    """Stand-in for the client: one answer per call, and then none."""

    def __init__(self, *answers) -> None:  # noqa: ANN002 - lists of messages
        self.assigned = None
        self.asked = []
        self._answers = itertools.chain(answers, itertools.repeat([]))

    def assign(self, partitions):
        """Remember where it began."""
        self.assigned = [(one.topic, one.partition, one.offset) for one in partitions]

    def unassign(self):
        """Drop the assignment."""
        self.assigned = None

    def consume(self, num_messages, timeout):
        """Give the next answer."""
        assert self.assigned == [("t", 0, 5), ("t", 1, 0)]
        assert timeout <= 1
        self.asked.append(num_messages)
        return next(self._answers)


def read(client, seconds=1.0):
    """Read the plan by a clock that goes on by so much each time."""
    ticks = itertools.count(0.0, seconds)
    return read_ranges(client, "t", PLAN, PARTS, lambda: next(ticks))


def test_ranges_are_read_to_their_ends_and_no_more_is_waited_for():
    """Read partitions in any order; the client waits for as many records as it is asked for."""
    client = Client(
        [message(1, 0), message(-1, -1, error=NO_BROKER)],
        [message(0, 5), message(0, 6, headers=[])],
    )
    readers = read(client)

    assert [[row[0] for row in one.rows] for one in readers] == [[11], [13]]
    assert [(one.kind, one.received_at) for one in readers[0].reports] == [("foreign", 9_000)]
    assert client.asked == [3, 2]
    assert client.assigned is None


def test_the_end_of_a_partition_ends_its_range():
    """End it by Kafka's word: no record comes where Kafka's own notes have the last offsets."""
    readers = read(Client([message(1, 0), message(0, 5), message(0, 7, error=EOF)]))

    assert [one.summary().next_offset for one in readers] == [7, 1]


@pytest.mark.parametrize(
    ("client", "message_of"),
    [
        (Client(), "gave no record of t for 30 s"),
        (Client([message(0, 5, error=RESET)]), "cannot be read"),
    ],
    ids=["silent", "deleted meanwhile"],
)
def test_an_unreadable_record_is_no_fault_of_an_event(client, message_of):
    """Blame the machine: no range is halved, and no event is set aside."""
    with pytest.raises(LogReadError, match=message_of) as raised:
        read(client)

    assert is_of_machine(raised.value)
    assert is_of_machine(RuntimeError(f"Job aborted: LogReadError: {raised.value}"))


def test_a_machine_without_the_settings_reports_them_without_values(tmp_path):
    """Fail on an executor without the file, and on a client that does not know a setting."""
    file = tmp_path / "client.properties"
    variables = {"LINEWARD_LOG": "kafka://b:9092/t", "LINEWARD_LOG_CONFIG_FILE": str(file)}
    with pytest.raises(LogReadError, match=r"client.properties"):
        open_consumer(read_log(variables))
    file.write_text("sasl.passwort=sesame\n")
    with pytest.raises(LogReadError) as raised:
        open_consumer(read_log(variables))

    assert "sesame" not in str(raised.value)


def test_rows_of_a_range_report_the_records_taken():
    """Give them to the driver with the events."""
    [first, _] = read(Client([message(1, 0), message(0, 5), message(0, 6, headers=[])]))
    batches = [batch.to_pylist() for batch in as_rows(first)]

    kinds = [row["kind"] for rows in batches for row in rows]
    assert kinds == ["run", "report", "range"]
