"""Namespaces, sources and tags, as Marquez answers them."""

from litestar import get
from litestar.params import FromPath

from service.api.routes.marquez.parameters import DEFAULT_LIMIT, Offset, PageLimit, decode_segments
from service.api.routes.request import AnyRequest, session
from service.queries.marquez_api import namespaces as answers
from service.queries.marquez_api.paging import PageRange
from service.queries.marquez_api.shapes import Namespace, Namespaces, Source, Sources, Tags


@get("/api/v1/namespaces", access="datasets", is_cut=True, sync_to_thread=True)
def get_namespaces(
    request: AnyRequest, *, limit: PageLimit = DEFAULT_LIMIT, offset: Offset = 0
) -> Namespaces:
    """List the namespaces of datasets and of jobs, by name."""
    with session(request) as asked:
        return answers.namespaces_page(asked.reader, asked.visibility, PageRange(limit, offset))


@get("/api/v1/namespaces/{namespace:str}", access="datasets", is_cut=True, sync_to_thread=True)
def get_namespace(request: AnyRequest, namespace: FromPath[str]) -> Namespace:
    """Return a namespace."""
    with session(request) as asked:
        return answers.namespace_of_name(asked.reader, asked.visibility, decode_segments(namespace))


@get("/api/v1/sources", access="datasets", is_cut=True, sync_to_thread=True)
def get_sources(
    request: AnyRequest, *, limit: PageLimit = DEFAULT_LIMIT, offset: Offset = 0
) -> Sources:
    """List the namespaces of datasets, as where these lie."""
    with session(request) as asked:
        return answers.sources_page(asked.reader, asked.visibility, PageRange(limit, offset))


@get("/api/v1/sources/{source:str}", access="datasets", is_cut=True, sync_to_thread=True)
def get_source(request: AnyRequest, source: FromPath[str]) -> Source:
    """Return a namespace of datasets, as where these lie."""
    with session(request) as asked:
        return answers.source_of_name(asked.reader, asked.visibility, decode_segments(source))


@get("/api/v1/tags", access="datasets", is_cut=True, sync_to_thread=True)
def get_tags(request: AnyRequest, *, limit: PageLimit = DEFAULT_LIMIT, offset: Offset = 0) -> Tags:
    """List the tags of datasets, by name."""
    with session(request) as asked:
        return answers.tags_page(asked.reader, asked.visibility, PageRange(limit, offset))
