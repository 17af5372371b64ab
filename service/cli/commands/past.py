"""Output of `lineward lineage --at`: each edge with the run that had made it so by then."""

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.text import Text

from service.cli.terminal import elsewhere, escape_markup, local, state, tree
from service.queries.edge_runs import EdgeRun, Touched
from service.queries.lineage_at import PastLineage, PastNode


def past_drawing(answer: PastLineage) -> RenderableType:
    """Return both trees as they were, one below the other."""
    head = Text.assemble(
        escape_markup(answer.dataset, "bold"), escape_markup(f"  as of {local(answer.at)}")
    )
    return Group(
        Text.assemble(head, "  ", escape_markup(answer.dataset_namespace, "dim")),
        tree("upstream datasets", answer.upstream, _label),
        tree("downstream datasets", answer.downstream, _label),
    )


def _label(node: PastNode) -> Text:
    head = Text.assemble(escape_markup(node.dataset), elsewhere(node))
    return Text("\n").join([head, _run(node)])


def _run(node: PastNode) -> Text:
    by = f"by {', '.join(node.job_names)}"
    if node.run is None:
        return escape_markup(f"  {by}; no run known from that time", "dim")
    facts = "".join(f", {fact}" for fact in _facts(node.run))
    head = escape_markup(f"  {by}, run {node.run.root_run_id} ", "dim")
    text = Text.assemble(head, state(node.run.status), escape_markup(facts, "dim"))
    if node.run.spark_conf:
        conf = ", ".join(f"{key}={value}" for key, value in node.run.spark_conf.items())
        text = Text("\n").join([text, escape_markup(f"    conf {conf}", "dim")])
    return text


def _facts(run: EdgeRun) -> Iterable[str]:
    yield f"wrote {local(run.written_at)}"
    if run.written_again_at:
        yield f"written again without it {local(run.written_again_at)}"
    for verb, touched in (("read", run.read), ("wrote", run.wrote)):
        yield from _touched(verb, touched)
    if run.code_version:
        yield f"code {run.code_version}"
    if run.job_version:
        yield f"job version {run.job_version}"
    if run.engine_version:
        yield f"engine {run.engine_version}"
    yield from (f"{key}={value}" for key, value in run.parameters.items())


def _touched(verb: str, touched: Touched | None) -> Iterable[str]:
    if touched and touched.version:
        yield f"{verb} version {touched.version}"
    if touched and touched.partition:
        yield f"{verb} {touched.partition}"
    if touched and touched.checksum:
        yield f"{verb} checksum {touched.checksum}"
    if touched and touched.rows is not None:
        yield f"{verb} {touched.rows:,} rows"
