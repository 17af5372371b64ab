"""Draft of a policy from what the catalog has seen: a first file to correct, not to trust."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from sqlalchemy import Connection, Engine, select

from lineage.catalog import tables
from lineage.policy.patterns import pattern_of_both, pattern_yaml, quote_yaml
from lineage.policy.prefixes import DatasetGroup, SeenDataset, group_by_prefix
from lineage.policy.public_holidays import Fit, fit
from lineage.process.clock import DAY_MICROS

_LONGEST_COMMENT = 200
_MOST_ENDS = 50
_DOUBT = "if a job of yours writes it, delete this"
_HEAD = """\
# A draft, made from what was seen. Read every line: what is not right here is wrong in every alert.
# docs/policy.md explains each field; `lineward policy check FILE` finds errors.
"""


def suggest_policy(engine: Engine) -> str:
    """Write a draft policy as YAML with a reason beside each line, for `parse_policy`."""
    with engine.connect() as connection:
        seen = list(_seen(connection))
        edges = connection.execute(
            select(tables.edge.c.upstream_key, tables.edge.c.downstream_key).distinct()
        ).all()
    return draft(seen, [(upstream, downstream) for upstream, downstream in edges])


def draft(seen: Iterable[SeenDataset], edges: Iterable[tuple[int, int]]) -> str:
    """Write the draft for these datasets and (upstream, downstream) edges."""
    datasets = sorted(seen, key=lambda one: (one.namespace, one.name))
    feeding = {upstream for upstream, _ in edges}
    owners = sorted({one.owner for one in datasets if one.owner})
    return "\n".join(
        [
            _HEAD,
            *_section("owners", _owner_lines(owners)),
            *_section("sources", _source_lines(datasets)),
            *_section("calendars", _calendar_lines(datasets)),
            *_section("datasets", [*_dataset_lines(datasets), *_calendar_rules(datasets)]),
            *_end_lines(datasets, feeding),
            "...\n",  # marks the file as whole
        ]
    )


def _owner_lines(owners: Iterable[str]) -> Iterator[str]:
    for owner in owners:
        yield f"  - name: {quote_yaml(owner)}  # named by an ownership facet, or a job namespace"
        yield '    # slack: "#channel"'


def _source_lines(datasets: Sequence[SeenDataset]) -> Iterator[str]:
    """Yield datasets without an observed writer: sources, or outputs of jobs without a listener."""
    for group in group_by_prefix(datasets, _source_sign):
        one, *others = group.members
        if not _source_sign(one):
            continue
        if others:
            count = len(group.members)
            yield f"  - {_matched(group)}  # {count} datasets are read here and none is written"
        else:
            why = "only ever read" if _is_outside(one.namespace) else _DOUBT
            jobs = _jobs(one.readers)
            yield f"  - {_matched(group)}  # read by {jobs}, never written: {why}"


def _source_sign(one: SeenDataset) -> str | None:
    return None if one.is_written else "source"


def _dataset_lines(datasets: Sequence[SeenDataset]) -> Iterator[str]:
    """Return owners by the widest prefix below which all written datasets have the same one."""
    written = [one for one in datasets if one.is_written]
    for group in group_by_prefix(written, lambda one: one.owner):
        one, *others = group.members
        if one.owner:
            reasons = sorted({each.owner_reason or "" for each in group.members})
            many = f"{len(group.members)} datasets: " if others else ""
            yield f"  - match: {_matched(group)}"
            yield f"    owner: {quote_yaml(one.owner)}  # {_comment(many + '; '.join(reasons))}"


def _calendar_lines(datasets: Sequence[SeenDataset]) -> Iterator[str]:
    """Return countries whose public holidays explain days without a write."""
    by_name: dict[str, list[Fit]] = defaultdict(list)
    for one in datasets:
        if one.holidays:
            by_name[_calendar(one.holidays)].append(one.holidays)
    for name, fits in sorted(by_name.items()):
        best = max(fits, key=lambda fit: fit.kept)
        many = "1 dataset" if len(fits) == 1 else f"{len(fits)} datasets"
        alike = f"; {', '.join(best.alike)} fits too" if best.alike else ""
        days = f"{best.kept} of {best.holidays} public holidays"
        why = f"{many} without a write on public holidays (best: {days}){alike}"
        yield f"  - name: {quote_yaml(name)}  # {_comment(why)}"
        yield f"    public_holidays: [{quote_yaml(best.country)}]"
        if best.days_later:
            yield f"    days_later: {best.days_later}"


def _calendar_rules(datasets: Sequence[SeenDataset]) -> Iterator[str]:
    def sign(one: SeenDataset) -> str | None:
        return _calendar(one.holidays) if one.holidays else None

    for group in group_by_prefix(datasets, sign):
        if name := sign(group.members[0]):
            yield f"  - match: {_matched(group)}"
            yield f"    calendar: {quote_yaml(name)}"


def _calendar(fit: Fit) -> str:
    later = ", a day later" if fit.days_later else ""
    return f"holidays of {fit.country}{later}"


def _end_lines(datasets: Sequence[SeenDataset], feeding: set[int]) -> Iterator[str]:
    """Return comments alone: no event says which end of the lineage is critical."""

    def sign(one: SeenDataset) -> str | None:
        return "end" if one.is_written and one.key not in feeding else None

    groups = [one for one in group_by_prefix(datasets, sign) if sign(one.members[0])]
    if groups:
        yield "# Ends of the lineage: which are critical? Their upstream datasets inherit the tier."
    for group in groups[:_MOST_ENDS]:
        readers = sum(one.readers for one in group.members)
        count = len(group.members)
        many = "nothing downstream" if count == 1 else f"{count} datasets end here"
        yield f"#  - match: {_matched(group)}"
        yield f"#    tier: important  # {many}; read by {_jobs(readers)}"
    if len(groups) > _MOST_ENDS:
        yield f"#  and {len(groups) - _MOST_ENDS} more"


def _matched(group: DatasetGroup) -> str:
    one = group.members[0]
    name = one.name if group.prefix is None else f"{group.prefix}*"
    return pattern_yaml(pattern_of_both(one.namespace, name))


def _section(name: str, lines: Iterable[str]) -> list[str]:
    listed = list(lines)
    return [f"{name}:", *listed, ""] if listed else [f"{name}: []  # none seen", ""]


def _is_outside(namespace: str) -> bool:
    """Return whether it is a broker or a server of tables, which holds what one system sends."""
    scheme = namespace.partition(":")[0]
    return "://" in namespace and scheme not in {"s3", "gs", "abfss", "wasbs", "hdfs", "file"}


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def _comment(text: str) -> str:
    """Return the text as one line, so that all of it stays in the comment."""
    return text.encode("unicode_escape").decode()[:_LONGEST_COMMENT]


def _seen(connection: Connection) -> Iterator[SeenDataset]:
    dataset = tables.dataset
    rows = connection.execute(
        select(dataset.c.dataset_key, dataset.c.namespace, dataset.c.name).where(
            dataset.c.dataset_key == dataset.c.canonical_key, dataset.c.retired_at.is_(None)
        )
    )
    written, readers, owners = _writers(connection), _readers(connection), _owners(connection)
    fits = dict(_fits(connection))
    for key, namespace, name in rows:
        owner, reason = owners.get(key) or _owner_by_job(written.get(key))
        is_written, jobs = key in written, readers.get(key, 0)
        yield SeenDataset(key, namespace, name, is_written, jobs, owner, reason, fits.get(key))


def _fits(connection: Connection) -> Iterator[tuple[int, Fit]]:
    """Return holidays that explain the days without a write, by dataset."""
    write = tables.dataset_write
    day = write.c.written_at // DAY_MICROS
    days = connection.execute(
        select(write.c.dataset_key, day).distinct().order_by(write.c.dataset_key)
    )
    for key, rows in groupby(days, key=lambda row: row[0]):
        if found := fit(day for _, day in rows):
            yield key, found


def _writers(connection: Connection) -> dict[int, set[str]]:
    """Job namespaces that write each dataset."""
    write = tables.dataset_write
    rows = connection.execute(select(write.c.dataset_key, write.c.job_namespace).distinct())
    writers: dict[int, set[str]] = defaultdict(set)
    for key, job_namespace in rows:
        writers[key].add(job_namespace)
    return writers


def _readers(connection: Connection) -> dict[int, int]:
    """Count the jobs that read each dataset."""
    read = tables.dataset_read
    rows = connection.execute(
        select(read.c.dataset_key, read.c.job_namespace, read.c.job_name).distinct()
    )
    readers: dict[int, int] = defaultdict(int)
    for key, _, _ in rows:
        readers[key] += 1
    return readers


def _owners(connection: Connection) -> Mapping[int, tuple[str, str]]:
    """Return the owner in a dataset's own facet; of several, the first by name."""
    ownership = tables.ownership
    rows = connection.execute(
        select(ownership.c.subject_key, ownership.c.owner)
        .where(ownership.c.subject == "dataset")
        .order_by(ownership.c.owner.desc())
    )
    return {key: (owner, "its ownership facet says so") for key, owner in rows if owner}


def _owner_by_job(namespaces: set[str] | None) -> tuple[str | None, str | None]:
    """Return the owner by the namespace of its jobs, and why; `default` or several say nothing."""
    if namespaces is None or len(namespaces) != 1 or (only := next(iter(namespaces))) == "default":
        return None, None
    return (only, f"only jobs of {only!r} write it") if only else (None, None)
