"""Dataset: its details, and the reasons for its state."""

from datetime import datetime

from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row, convert_rows
from lineage.process.clock import instant_text, to_micros
from lineage.states import (
    BAD,
    COVERAGE,
    FACTS,
    FAILING,
    FRESHNESS,
    GOOD,
    LEARNING,
    repeats_message,
    reports_failed_run,
)
from service.queries.dataset_lookup import KnownDataset
from service.queries.datasets import states_of
from service.queries.descriptions import (
    MOST_TAGS,
    NO_DESCRIPTIONS,
    describe_datasets,
    tags_of_dataset,
)
from service.queries.runs import last_run
from service.queries.shapes import DatasetDetail, ResolvedAlias, SliState, Why
from service.queries.slis import sli_name
from service.queries.timestamps import Evaluated, iso, iso_of, short_duration
from service.queries.visibility import EVERYTHING, Visibility, sql_filter

_KNOWN = """
SELECT p.tier, p.tier_origin, p.tier_reason, p.owner, p.owner_origin, p.is_source,
  d.first_seen_at, d.last_seen_at, a.last_written_at, a.last_read_at, d.retired_at, l.explanation
FROM dataset d
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
LEFT JOIN dataset_limit l ON l.dataset_key = d.dataset_key
WHERE d.dataset_key = :key
"""
_STATES = """
SELECT sli, state, reason, evidence, since, age_seconds, limit_seconds, limit_origin
FROM dataset_state WHERE dataset_key = :key ORDER BY sli
"""
_MOST_ALIASES = 100
_ALIASES = """
SELECT d.namespace AS dataset_namespace, d.name AS dataset, d.rule FROM dataset_alias d
JOIN dataset of ON of.dataset_key = d.dataset_key
WHERE of.canonical_key = :key AND {seen}
UNION ALL SELECT d.namespace, d.name, 'file' FROM dataset d
WHERE d.canonical_key = :key AND d.folder_key IS NOT NULL AND d.dataset_key <> :key AND {seen}
AND NOT EXISTS (SELECT 1 FROM dataset_alias a WHERE a.alias_key = d.dataset_key)
ORDER BY 1, 2, 3 LIMIT :most
"""
LEARNED = "learned"  # origin of a limit
_CONTENT = "The reported content"
_NOT_WRITTEN_SINCE = "The last run failed, and no run has written the dataset since."


# SLIs and reasons whose evidence names only the dataset and its own runs. All other evidence may
# name another dataset.
_OWN_SLIS = (COVERAGE.id, FRESHNESS.id)
_OWN_REASONS = (
    *(None, "pipeline_lag", "ingestion_gap", "silent", "late", "never_reported", "no_inputs"),
    "lost_run",
)


def load_dataset(
    reader: CatalogReader,
    named: KnownDataset,
    evaluated: Evaluated,
    visibility: Visibility = EVERYTHING,
) -> DatasetDetail:
    """Return the details of a dataset that the token may see."""
    key, namespace, name = named
    (known,) = reader.rows(_KNOWN, {"key": key})
    is_reason_shown = visibility.is_whole or known.tier_origin == "declared"
    aliases = _aliases(reader, key, visibility)
    tags = tags_of_dataset(reader, key, visibility)
    cut = [f"the first {_MOST_ALIASES} aliases"] if len(aliases) > _MOST_ALIASES else []
    cut += [f"the first {MOST_TAGS} tags"] if len(tags) > MOST_TAGS else []
    return DatasetDetail(
        dataset_namespace=namespace,
        dataset=name,
        tier=known.tier,
        tier_origin=known.tier_origin,
        tier_reason=known.tier_reason if is_reason_shown else None,
        owner=known.owner,
        owner_origin=known.owner_origin,
        is_source=bool(known.is_source),
        state=states_of(reader, [key], evaluated)[0],
        first_seen_at=iso_of(known.first_seen_at),
        last_seen_at=iso_of(known.last_seen_at),
        last_written_at=iso(known.last_written_at),
        last_read_at=iso(known.last_read_at),
        retired_at=iso(known.retired_at),
        limit_explanation=known.explanation,
        states=[_state(row, visibility) for row in reader.rows(_STATES, {"key": key})],
        aliases=aliases[:_MOST_ALIASES],
        last_run=last_run(reader, key, visibility),
        evaluated_at=evaluated.at,
        stale=evaluated.stale,
        partial=bool(cut),
        partial_reason="; ".join(cut) or None,
        description=describe_datasets(reader, [key], visibility)
        .get(key, NO_DESCRIPTIONS)
        .description,
        tags=tags[:MOST_TAGS],
    )


def _aliases(reader: CatalogReader, key: int, visibility: Visibility) -> list[ResolvedAlias]:
    """Return the aliases: one more than are listed, if there are more."""
    condition, names = sql_filter(reader, visibility, table="dataset_alias")
    values = {"key": key, "most": _MOST_ALIASES + 1, **names}
    return convert_rows(ResolvedAlias, reader.rows(_ALIASES.format(seen=condition), values))


def explain_states(
    reader: CatalogReader,
    named: KnownDataset,
    evaluated: Evaluated,
    visibility: Visibility = EVERYTHING,
) -> Why:
    """Return the states of a dataset as sentences with evidence, most severe first."""
    known = load_dataset(reader, named, evaluated, visibility)
    sentences = [*verdicts(known), *_whose(known), *_sayings(known)]
    return Why(known.dataset_namespace, known.dataset, known.state, sentences, known.states)


def verdicts(known: DatasetDetail) -> list[str]:
    """Return its states, and the cadence that it is judged by."""
    texts = [*_doubt(known), *_failing(known), *(_sentence(state) for state in known.states)]
    return [*texts, *_learned(known)]


def _learned(known: DatasetDetail) -> list[str]:
    """Return the learned limit; a declared one, or that of a stream, takes its place."""
    if not known.limit_explanation:
        return []
    text = f"{known.limit_explanation.rstrip('.')}."
    origins = (state.limit_origin for state in known.states if state.limit_origin is not None)
    origin = next(origins, LEARNED)
    if origin != LEARNED:
        return [f"Learned, but not used because the {origin} limit applies: {text}"]
    return [text if text.startswith("Updated ") else f"Its cadence: {text}"]


def _state(row: Row, visibility: Visibility) -> SliState:
    is_own = row.sli in _OWN_SLIS and row.reason in _OWN_REASONS
    evidence = row.evidence
    if evidence and not (visibility.is_whole or (is_own and not repeats_message(evidence))):
        evidence = "not shown: may name datasets that this token may not see"
    return SliState(
        sli=row.sli,
        name=sli_name(row.sli),
        state=row.state,
        reason=row.reason,
        evidence=evidence,
        since=iso_of(row.since),
        age_seconds=row.age_seconds,
        limit_seconds=row.limit_seconds,
        limit_origin=row.limit_origin,
    )


def _doubt(known: DatasetDetail) -> list[str]:
    if known.retired_at:
        return [f"The dataset was retired at {_spoken(known.retired_at)}: no SLI counts it."]
    if known.evaluated_at is None:
        return ["No evaluation has run yet: the state is unknown."]
    if known.stale:
        at = _spoken(known.evaluated_at)
        return [
            f"The last evaluation was at {at}; the states below are of that time, and unknown now."
        ]
    if not known.states:
        return ["No SLI covers the dataset: it is a source without a limit, or it is new."]
    return []


def _failing(known: DatasetDetail) -> list[str]:
    return [_NOT_WRITTEN_SINCE] if known.state == FAILING else []


def _sentence(state: SliState) -> str:
    """Return the state of one SLI, when it began, its reason, its age and its limit."""
    name = state.name.replace("_", " ").capitalize()
    subject = _CONTENT if state.sli == FACTS else f"{name} ({state.sli})"
    # The evaluation that found it: a dataset was late before it was found to be.
    when = ", detected at" if state.state == BAD else " since"
    verdict = f"{subject} is {state.state}{when} {_spoken(state.since)}"
    return f"{verdict}{_because(state)}.{_age(state)}"


def _because(state: SliState) -> str:
    """Return the reason and the evidence: a failed run is no reason for a good state."""
    evidence = (state.evidence or "").rstrip(".")
    if state.reason:
        # In a sentence of its own: the reason may be newer than the state.
        shown = f" ({state.reason}): {evidence}" if evidence else f": {state.reason}"
        return f". Latest reason{shown}"
    if not evidence:
        return ""
    is_good = state.state in {GOOD, LEARNING}
    return f"{', although ' if is_good and reports_failed_run(evidence) else ': '}{evidence}"


def _spoken(instant: str) -> str:
    """Format a timestamp in the same way as evidence."""
    return instant_text(to_micros(datetime.fromisoformat(instant)))


def _age(state: SliState) -> str:
    if state.age_seconds is None:
        return ""
    age = f" The newest write is {short_duration(state.age_seconds)} old"
    if state.limit_seconds is None:
        return f"{age}; the limit is not set yet."
    return f"{age}; the {state.limit_origin} limit is {short_duration(state.limit_seconds)}."


def _whose(known: DatasetDetail) -> list[str]:
    owner = f"Its owner is {known.owner}." if known.owner else "The dataset has no owner."
    if not known.tier:
        return [owner]
    origin = f" ({known.tier_reason})" if known.tier_reason else ""
    return [f"Its tier is {known.tier}, {known.tier_origin}{origin}.", owner]


def _sayings(known: DatasetDetail) -> list[str]:
    """Return its description and its tags in words."""
    names = ", ".join(dict.fromkeys(tag.key for tag in known.tags))
    return [
        *([f"Its description: {known.description.rstrip('.')}."] if known.description else []),
        *([f"Its tags: {names}."] if names else []),
    ]
