"""Declaration of a job's reads and writes, by a run's event log and SQL, as OpenLineage events.

JobEvents, and no RunEvents: a run that reported nothing has reported nothing, and its coverage
stays bad until its listener speaks again. What is inferred must not praise itself in an SLI either:
it is posted as history. It declares edges, in this graph and in that of a Marquez beside us.
"""

from typing import Annotated, Final

import attr
import msgspec
from msgspec import Meta
from openlineage.client.event_v2 import InputDataset, Job, JobEvent, OutputDataset
from openlineage.client.generated.base import JobFacet
from openlineage.client.serde import Serde

from lineage import origins
from lineage.names.names import Name
from lineage.process.clock import from_micros
from lineage.states import EVENT_LOG, SQL_TEXT
from runbooks.actions.action import ActionContext, ActionPlan, Done
from runbooks.actions.errors import FailedActionError, RejectedActionError
from runbooks.actions.evidence import Inferred, infer

FACET: Final = "lineward_inferred"
PRODUCER: Final = "https://github.com/lineward"
_MOST_SHOWN: Final = 10


class Reinfer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Run, or a root run with all that it began."""

    run: Annotated[str, Meta(min_length=1, max_length=300)]


@attr.define
class InferredJobFacet(JobFacet):
    """Mark of a JobEvent: nobody reported this, it was inferred from that run."""

    runId: str = attr.field(default="")  # noqa: N815 - the way of OpenLineage
    oracles: list[str] = attr.field(factory=list)


def plan(asked: Reinfer, context: ActionContext) -> ActionPlan:
    """Plan the edges to declare.

    Raises:
        InvalidActionError: no such run.
        RejectedActionError: neither log nor SQL has evidence of it.
        FailedActionError: the lake was compacted meanwhile.
    """
    found = _found(asked, context)
    outputs = {edge.downstream for edge in found.edges}
    shown = [
        f"{_shown(edge.upstream)} is read for {_shown(edge.downstream)} ({edge.oracle})"
        for edge in found.edges[:_MOST_SHOWN]
    ]
    more = len(found.edges) - len(shown)
    by_oracle = {
        oracle: sum(e.oracle == oracle for e in found.edges) for oracle in (EVENT_LOG, SQL_TEXT)
    }
    does = f"declare {len(found.edges):,} edges into {len(outputs):,} datasets for {found.job[1]}"
    unread = ", ".join(found.unread[:_MOST_SHOWN])
    cautions = ["declared edges are expected of the job from then on; its coverage stays as it is"]
    cautions += [f"names in its SQL that fit no one dataset: {unread}"] if unread else []
    return ActionPlan(
        does=(does, *shown, *([f"… and {more:,} more"] if more else [])),
        figures={"edges": len(found.edges), "events": len(outputs), **by_oracle},
        cautions=tuple(cautions),
    )


def perform(asked: Reinfer, context: ActionContext) -> Done:
    """Post one event an output; the same again is the same to the byte, and nothing new.

    Raises:
        as `plan`.
    """
    bodies = events(_found(asked, context))
    rejected = context.collector.post(bodies, origins.HISTORY)
    if rejected:
        raise FailedActionError(f"the collector rejected {len(rejected)} of them: {rejected[0]}")
    return Done(did=(f"posted {len(bodies):,} JobEvents",), figures={"events": len(bodies)})


def events(found: Inferred) -> list[bytes]:
    """Return a JobEvent for each output, with its own inputs: one event would mix them."""
    by_output: dict[Name, list[Name]] = {}
    oracles: dict[Name, set[str]] = {}
    for edge in found.edges:
        by_output.setdefault(edge.downstream, []).append(edge.upstream)
        oracles.setdefault(edge.downstream, set()).add(edge.oracle)
    return [
        _event(found, output, inputs, sorted(oracles[output]))
        for output, inputs in by_output.items()
    ]


def _event(found: Inferred, output: Name, inputs: list[Name], oracles: list[str]) -> bytes:
    facet = InferredJobFacet(runId=found.run_id, oracles=oracles, producer=PRODUCER)
    namespace, name = found.job
    event = JobEvent(
        eventTime=from_micros(found.ended_at).isoformat(),
        producer=PRODUCER,
        job=Job(namespace=namespace, name=name, facets={FACET: facet}),
        inputs=[InputDataset(*one) for one in inputs],
        outputs=[OutputDataset(*output)],
    )
    return Serde.to_json(event).encode()


def _found(asked: Reinfer, context: ActionContext) -> Inferred:
    found = infer(asked.run, context)
    if not found.edges:
        message = (
            f"neither an event log nor SQL shows the inputs of run {asked.run}: set"
            " LINEWARD_PIPELINE_EVENT_LOGS, and try again five minutes after the run has ended"
        )
        raise RejectedActionError(message)
    return found


def _shown(name: Name) -> str:
    return "/".join(name)
