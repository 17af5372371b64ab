"""Raw events and their counts, as Marquez answers them."""

from typing import Annotated, Literal

from litestar import get
from litestar.params import FromQuery, QueryParameter

from lineage.errors import InvalidRequestError
from lineage.process.clock import LAST_EVENT_MICROS
from service.api.routes.marquez.parameters import DEFAULT_LIMIT, Offset, PageLimit
from service.api.routes.request import AnyRequest, session
from service.queries.marquez_api.events import (
    TimeWindow,
    counts_of_day,
    counts_of_week,
    events_page,
)
from service.queries.marquez_api.paging import PageRange
from service.queries.marquez_api.shapes import EventCounts, Events
from service.queries.timestamps import parse_instant

_Time = Annotated[str | None, QueryParameter(description="Timestamp with time zone.")]
_Direction = Annotated[Literal["asc", "desc", "ASC", "DESC"], QueryParameter(name="sortDirection")]


# Whole events may hold anything that a producer sends: for tokens with the role `admin` alone.
@get("/api/v1/events/lineage", access="events", sync_to_thread=True)
def get_events(  # noqa: PLR0913 - each is a parameter of the query
    request: AnyRequest,
    *,
    before: _Time = None,
    after: _Time = None,
    sort_direction: _Direction = "desc",
    limit: PageLimit = DEFAULT_LIMIT,
    offset: Offset = 0,
) -> Events:
    """List run events as they were sent, without secrets, by the producers' clocks."""
    window = TimeWindow(
        after=parse_instant(after, "after") if after else 0,
        before=parse_instant(before, "before") if before else LAST_EVENT_MICROS,
        is_newest_first=sort_direction.lower() == "desc",
    )
    settings = request.app.state.settings
    with session(request) as asked:
        return events_page(asked.reader, settings, window, PageRange(limit, offset))


@get("/api/v1/stats/lineage-events", access="slis", sync_to_thread=True)
def get_event_counts(
    request: AnyRequest,
    period: FromQuery[Literal["DAY", "WEEK"]],
    timezone: FromQuery[str | None] = None,
) -> list[EventCounts]:
    """Count starts and ends of runs, by hour or by day."""
    if period == "WEEK" and not timezone:
        raise InvalidRequestError("timezone: name one, such as Europe/London, for a WEEK")
    with session(request) as asked:
        if period == "DAY":
            return counts_of_day(asked.reader, asked.now)
        return counts_of_week(asked.reader, asked.now, str(timezone))
