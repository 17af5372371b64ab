"""Drafts a policy from what the catalog has seen: a first file to correct, never one to trust."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec
import yaml
from sqlalchemy import Connection, Engine, select

from lineage.catalog import tables
from lineage.names import joined, split_joined

_LONGEST_COMMENT = 200
_HEAD = """\
# A draft, made from what was seen. Read every line: what is not right here is wrong in every alert.
# The reference of this file is docs/policy.md; `lineward policy check FILE` says whether it is well
# formed.
"""


class Seen(msgspec.Struct, frozen=True):
    """What the catalog knows of one dataset."""

    key: int
    namespace: str
    name: str
    is_written: bool
    readers: int  # jobs that read it
    owner: str | None  # of its own facet, else of the jobs that write it
    owner_reason: str | None


def suggest(engine: Engine) -> str:
    """A policy as YAML text with a reason beside each line; `lineage.policy.parse` takes it."""
    with engine.connect() as connection:
        seen = list(_seen(connection))
        edges = connection.execute(
            select(tables.edge.c.upstream_key, tables.edge.c.downstream_key).distinct()
        ).all()
    return draft(seen, [(upstream, downstream) for upstream, downstream in edges])


def draft(seen: Iterable[Seen], edges: Iterable[tuple[int, int]]) -> str:
    """The text of the draft for these datasets and (upstream, downstream) edges."""
    datasets = sorted(seen, key=lambda one: (one.namespace, one.name))
    feeding = {upstream for upstream, _ in edges}
    owners = sorted({one.owner for one in datasets if one.owner})
    return "\n".join(
        [
            _HEAD,
            *_section("owners", _owner_lines(owners)),
            *_section("sources", _source_lines(datasets)),
            *_section("datasets", _dataset_lines(datasets, feeding)),
        ]
    )


def _owner_lines(owners: Iterable[str]) -> Iterator[str]:
    for owner in owners:
        yield f"  - name: {_quoted(owner)}  # named by an ownership facet, or a job namespace"
        yield '    # slack: "#channel"'


def _source_lines(datasets: Iterable[Seen]) -> Iterator[str]:
    """Never written by anything we see: it comes from outside, or its job has no listener."""
    never_written = [one for one in datasets if not one.is_written]
    for namespace, members in _by_namespace(never_written).items():
        if not _is_outside(namespace):
            yield from (_source(one, "if a job of yours writes it, delete this") for one in members)
        elif len(members) > 1:
            text = _quoted(joined(namespace, "*"))
            yield f"  - {text}  # {len(members)} datasets are read here and none is written"
        else:
            yield from (_source(one, "only ever read") for one in members)


def _source(one: Seen, why: str) -> str:
    return f"  - {_match(one)}  # read by {_jobs(one.readers)}, never written: {why}"


def _dataset_lines(datasets: Iterable[Seen], feeding: set[int]) -> Iterator[str]:
    """Ends of the lineage get a tier, from which all that they are made of inherits; owners too."""
    for one in datasets:
        is_end = one.is_written and one.key not in feeding
        if not one.is_written or not (is_end or one.owner):
            continue
        yield f"  - match: {_match(one)}"
        if is_end:
            yield f"    tier: {'important' if one.readers else 'optional'}  # {_end(one)}"
        if one.owner:
            yield f"    owner: {_quoted(one.owner)}  # {_comment(one.owner_reason or '')}"


def _end(one: Seen) -> str:
    if one.readers:
        return f"nothing is made of it, and {_jobs(one.readers)} read it: critical if people wait"
    return "nothing is made of it and no job reads it: who does?"


def _section(name: str, lines: Iterable[str]) -> list[str]:
    listed = list(lines)
    return [f"{name}:", *listed, ""] if listed else [f"{name}: []  # none seen", ""]


def _by_namespace(datasets: Iterable[Seen]) -> dict[str, list[Seen]]:
    groups: dict[str, list[Seen]] = defaultdict(list)
    for one in datasets:
        groups[one.namespace].append(one)
    return groups


def _is_outside(namespace: str) -> bool:
    """Brokers and servers of tables: one namespace holds what one system sends us."""
    scheme = namespace.partition(":")[0]
    return "://" in namespace and scheme not in {"s3", "gs", "abfss", "wasbs", "hdfs", "file"}


def _match(one: Seen) -> str:
    """Joined where that can only mean this dataset, else namespace and name apart."""
    text = joined(one.namespace, one.name)
    if split_joined(text) == (one.namespace, one.name):
        return _quoted(text)
    return f"{{namespace: {_quoted(one.namespace)}, name: {_quoted(one.name)}}}"


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def _quoted(text: str) -> str:
    """As one YAML scalar in double quotes: names come from outside, and may hold anything."""
    return yaml.safe_dump(text, default_style='"', allow_unicode=False, width=1_000_000).strip()


def _comment(text: str) -> str:
    """In one line: what stands behind a line break would no longer be a comment."""
    return text.encode("unicode_escape").decode()[:_LONGEST_COMMENT]


def _seen(connection: Connection) -> Iterator[Seen]:
    dataset = tables.dataset
    rows = connection.execute(
        select(dataset.c.dataset_key, dataset.c.namespace, dataset.c.name).where(
            dataset.c.dataset_key == dataset.c.canonical_key, dataset.c.retired_at.is_(None)
        )
    )
    written, readers, owners = _writers(connection), _readers(connection), _owners(connection)
    for key, namespace, name in rows:
        owner, reason = owners.get(key) or _owner_by_job(written.get(key))
        yield Seen(key, namespace, name, key in written, readers.get(key, 0), owner, reason)


def _writers(connection: Connection) -> dict[int, set[str]]:
    """Job namespaces that write each dataset."""
    write = tables.dataset_write
    rows = connection.execute(select(write.c.dataset_key, write.c.job_namespace).distinct())
    writers: dict[int, set[str]] = defaultdict(set)
    for key, job_namespace in rows:
        writers[key].add(job_namespace)
    return writers


def _readers(connection: Connection) -> dict[int, int]:
    """How many jobs read each dataset."""
    read = tables.dataset_read
    rows = connection.execute(
        select(read.c.dataset_key, read.c.job_namespace, read.c.job_name).distinct()
    )
    readers: dict[int, int] = defaultdict(int)
    for key, _, _ in rows:
        readers[key] += 1
    return readers


def _owners(connection: Connection) -> Mapping[int, tuple[str, str]]:
    """The owner that a dataset's own facet names; of several, the first by name."""
    ownership = tables.ownership
    rows = connection.execute(
        select(ownership.c.subject_key, ownership.c.owner)
        .where(ownership.c.subject == "dataset")
        .order_by(ownership.c.owner.desc())
    )
    return {key: (owner, "its ownership facet says so") for key, owner in rows if owner}


def _owner_by_job(namespaces: set[str] | None) -> tuple[str | None, str | None]:
    """Jobs are often named by team; `default` and several teams at once say nothing."""
    if namespaces is None or len(namespaces) != 1 or (only := next(iter(namespaces))) == "default":
        return None, None
    return (only, f"only jobs of {only!r} write it") if only else (None, None)
