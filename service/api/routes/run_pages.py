"""Pages of one run, and of the differences between two runs."""

from litestar.params import FromPath

from service.api.routes.pages import page, render
from service.api.routes.session import AnyRequest, session
from service.explorer.run import facts_of
from service.queries.diff import diff
from service.queries.runs import run
from service.queries.schema_changes import describe_changes


@page("/runs/{run_id:str}", access="run", is_cut=True)
def get_run_page(request: AnyRequest, run_id: FromPath[str]) -> str:
    """Show every run with this id: status, facts, datasets read and written."""
    with session(request) as asked:
        view = run(asked.reader, run_id, asked.visibility)
    return render(request, "run", view=view, run_id=run_id, facts_of=facts_of)


@page("/runs/{first:str}/diff/{second:str}", access="diff")
def get_diff_page(request: AnyRequest, first: FromPath[str], second: FromPath[str]) -> str:
    """Show the differences in code, engine, settings and datasets."""
    with session(request) as asked:
        view = diff(asked.reader, first, second)
    return render(request, "diff", view=view, describe_changes=describe_changes)
