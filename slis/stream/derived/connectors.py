"""Pairs of a connector: Debezium and Kafka Connect copy each table into one topic, or back.

Their runs name all tables and all topics, so that most edges from each to each would be false. A
topic is called after its table: `shop.public.orders`, also in a bucket or a metastore.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from sqlalchemy import Connection, text

from slis.stream.derived.retracted_edges import remove_edges
from slis.stream.reading.problems import MOST_EDGES

IS_CONNECTOR: Final = "coalesce(r.integration, '') IN ('DEBEZIUM', 'KAFKA_CONNECT')"
_SEPARATORS = re.compile(r"[./]")
_COMPARED_PARTS = 3  # database, schema, table
_TOUCHED = text(f"""
    SELECT DISTINCT t.run_key, t.direction, t.dataset_key, d.name
    FROM t_run r JOIN t_touched t ON t.run_key = r.run_key
    JOIN dataset d ON d.dataset_key = t.dataset_key WHERE {IS_CONNECTOR}
""")  # noqa: S608 - our own words
_STORE = text(
    "INSERT INTO t_pair (run_key, upstream_key, downstream_key) VALUES (:run, :up, :down)"
)
# Edges from before a matching input was known. Two tasks of a connector may have one root run: the
# edges of the other task stay. SQLite keeps the order of a CROSS JOIN: `edge_run`, which has a row
# for each run, is asked by its key only.
_OUTDATED = text("""
    SELECT DISTINCT e.upstream_key, e.downstream_key, e.job_key, e.root_run_id
    FROM (SELECT DISTINCT run_key FROM t_pair) AS c
    CROSS JOIN t_touched o CROSS JOIN t_job j CROSS JOIN edge g CROSS JOIN edge_run e
    WHERE o.run_key = c.run_key AND o.direction = 'write'
        AND j.dataset_key = o.dataset_key AND j.job_name = o.job_name
        AND j.job_namespace = o.job_namespace
        AND g.downstream_key = o.dataset_key AND g.job_key = j.job_key
        AND e.upstream_key = g.upstream_key AND e.downstream_key = g.downstream_key
        AND e.job_key = g.job_key AND e.root_run_id = o.root_run_id
        AND NOT EXISTS (SELECT 1 FROM t_pair p WHERE p.run_key = c.run_key
            AND p.upstream_key = g.upstream_key AND p.downstream_key = g.downstream_key)
        AND NOT EXISTS (SELECT 1 FROM run q
            CROSS JOIN run_io i CROSS JOIN dataset x CROSS JOIN run_io w CROSS JOIN dataset y
            WHERE q.root_run_id = o.root_run_id AND q.run_key <> c.run_key
                AND i.run_key = q.run_key AND i.direction = 'read'
                AND x.dataset_key = i.dataset_key AND x.canonical_key = g.upstream_key
                AND w.run_key = q.run_key AND w.direction = 'write'
                AND y.dataset_key = w.dataset_key AND y.canonical_key = g.downstream_key)
""")
_Names = Mapping[int, str]


def store_pairs(connection: Connection) -> bool:
    """Store the input-output pairs of the batch's connectors; return whether there are any."""
    sides: defaultdict[int, dict[str, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    for run, direction, key, name in connection.execute(_TOUCHED):
        sides[run][direction][key] = name
    found = [
        {"run": run, "up": upstream, "down": downstream}
        for run, names in sides.items()
        for upstream, downstream in islice(
            match_by_endings(names["read"], names["write"]), MOST_EDGES
        )
    ]
    if found:
        connection.execute(_STORE, found)
        outdated = connection.execute(_OUTDATED).mappings()
        remove_edges(connection, [dict(edge) for edge in outdated])
    return bool(found)


def match_by_endings(inputs: _Names, outputs: _Names) -> Iterator[tuple[int, int]]:
    """Yield each output with the inputs whose names end like its own, in as many parts as possible.

    An output that is called like no input may be made of each of them.
    """
    by_ending: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for key, name in inputs.items():
        for ending in _endings(name):
            by_ending[ending].append(key)
    for key, name in outputs.items():
        alike = next((by_ending[each] for each in _endings(name) if each in by_ending), inputs)
        for upstream in alike:
            yield upstream, key


def _endings(name: str) -> list[tuple[str, ...]]:
    """Return the last parts of a name, the longest ending first."""
    parts = tuple(_SEPARATORS.split(name.casefold()))[-_COMPARED_PARTS:]
    return [parts[start:] for start in range(len(parts))]
