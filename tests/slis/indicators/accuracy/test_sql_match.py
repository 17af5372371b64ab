"""M4 by SQL: the datasets of a text's names, and names without a finding."""

from typing import NamedTuple

from slis.evaluation import catalog_frames
from slis.indicators.accuracy import sql_match as module
from slis.indicators.accuracy.schemas import ASKED, KNOWN_NAMES, LEADS, STATEMENTS, TOUCHED
from slis.indicators.accuracy.sql_match import asked_names, mentioned_names, sql_evidence
from tests.slis.sli_frames import frame

# By key: namespace and name. The last two datasets have one name.
_DATASETS = {
    1: ("wh", "core.t"),
    2: ("wh", "raw.a"),
    3: ("wh", "raw.b"),
    4: ("wh", "core.v"),
    5: ("pg", "raw.a"),
    6: ("pg", "shop.public.c"),
    7: ("x", "far.d"),
    8: ("y", "far.d"),
    9: ("wh", "raw.empty"),
    10: ("wh", "core.u"),
}


# The view `core.v` is known to be made of `raw.b`.
_LEADS = [{"upstream_key": 3, "downstream_key": 4}]
_SHOWN = {"shown_namespace": "shown", "shown_name": "name"}
_KNOWN = [
    {"dataset_key": key, "namespace": namespace, "spelled": name, "holds_data": key != 9, **_SHOWN}
    for key, (namespace, name) in _DATASETS.items()
]


class Run(NamedTuple):
    """Run with the names in its text and in its events, and the finding."""

    reads: tuple[str, ...]
    found: frozenset[tuple[int, int]]
    touches: tuple[int, ...] = (2,)
    outputs: tuple[int, ...] = (1,)
    writes: tuple[str, ...] = ("core.t",)

    def touched(self) -> list[tuple[str, int]]:
        """Return direction and dataset."""
        return [*(("read", one) for one in self.touches), *(("write", one) for one in self.outputs)]


def _is(*edges: tuple[int, int]):
    return frozenset(edges)


_MEANT = {
    "it reads it": Run(("raw.a",), _is((1, 2))),
    "more parts, and less": Run(("spark_catalog.raw.a", "a"), _is((1, 2))),
    "one is not read": Run(("raw.a", "raw.b"), _is((1, 2), (1, 3))),
    "nothing is read": Run(("raw.b",), _is((1, 3)), touches=()),
    "it is far": Run(("public.c",), _is((1, 6)), touches=()),
    "no target is named": Run(("raw.a",), _is((1, 2)), writes=()),
}
_SILENT = {
    "a view over what it reads": Run(("core.v",), _is()),
    "a view that is known": Run(("raw.b", "core.v"), _is((1, 3)), touches=(3,)),
    "two fit": Run(("far.d",), _is(), touches=()),
    "none fits": Run(("raw.nobody",), _is(), touches=()),
    "it never held data": Run(("raw.empty",), _is(), touches=()),
    "a name of one part": Run(("b",), _is(), touches=()),
    "itself": Run(("core.t",), _is(), touches=()),
    "another target": Run(("raw.a",), _is(), writes=("core.other",)),
    "which of its outputs": Run(("raw.a",), _is(), writes=(), outputs=(1, 10)),
    "of its own making": Run(("core.u",), _is(), touches=(), outputs=(1, 10)),
}


def _find_edges(spark, runs):
    """Return the (downstream, upstream) keys of each run, all runs in one plan."""
    of_run = [{"run_key": at, "root_run_id": name} for at, name in enumerate(runs)]
    texts = [
        {**row, "sql_key": 1, "place": 0, "reads": list(run.reads), "writes": list(run.writes)}
        for row, run in zip(of_run, runs.values(), strict=True)
    ]
    touched = [
        {"run_key": at, "direction": side, "dataset_key": key, "namespace": "wh", "name": "n"}
        for at, run in enumerate(runs.values())
        for side, key in run.touched()
    ]
    ran, touching = frame(spark, STATEMENTS, texts), frame(spark, TOUCHED, touched)
    known = mentioned_names(frame(spark, KNOWN_NAMES, _KNOWN), ran)
    asked = frame(spark, ASKED, catalog_frames.frame_rows(asked_names(ran, touching, known)))
    rows = sql_evidence(asked, touching, known, frame(spark, LEADS, _LEADS)).collect()
    found = {(row.root_run_id, row.downstream_key, row.upstream_key) for row in rows}
    return {name: {(lower, upper) for run, lower, upper in found if run == name} for name in runs}


def test_a_name_means_one_dataset_and_silence_is_preferred_to_a_false_alarm(spark):
    """Prefer what the run reads, then one near it, then any; skip ambiguous names."""
    runs = {**_MEANT, **_SILENT}

    assert _find_edges(spark, runs) == {name: run.found for name, run in runs.items()}


def test_a_view_over_what_is_read_would_raise_a_false_alarm(spark, monkeypatch):
    """Run the mutant of the test above, which does not ask whether the text names all reads."""

    def careless(asked, fitting, _reads):
        one = ["run_key", "root_run_id", "downstream_key", "name"]
        return asked.join(fitting, one, "left_anti")

    monkeypatch.setattr(module, "_unread", careless)
    name = "a view over what it reads"

    assert _find_edges(spark, {name: _SILENT[name]}) == {name: {(1, 4)}}
