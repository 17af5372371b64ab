"""Datasets and their versions, as Marquez answers them."""

from litestar import get
from litestar.params import FromPath

from service.api.routes.marquez.parameters import DEFAULT_LIMIT, Offset, PageLimit, decode_segments
from service.api.routes.request import AnyRequest, session
from service.queries.marquez_api import datasets as answers
from service.queries.marquez_api.datasets import version_of_id, versions_page
from service.queries.marquez_api.paging import PageRange
from service.queries.marquez_api.shapes import (
    Datasets,
    DatasetVersion,
    DatasetVersions,
    MarquezDataset,
)

_IN_NAMESPACE = "/api/v1/namespaces/{dataset_namespace:str}/datasets"
_ONE = f"{_IN_NAMESPACE}/{{dataset:str}}"


@get(_IN_NAMESPACE, access="datasets", is_cut=True, sync_to_thread=True)
def get_namespace_datasets(
    request: AnyRequest,
    dataset_namespace: FromPath[str],
    *,
    limit: PageLimit = DEFAULT_LIMIT,
    offset: Offset = 0,
) -> Datasets:
    """List the datasets of a namespace, by name."""
    with session(request) as asked:
        namespace, page = decode_segments(dataset_namespace), PageRange(limit, offset)
        return answers.datasets_page(asked.reader, asked.visibility, namespace, page)


@get(_ONE, access="dataset", is_cut=True, sync_to_thread=True)
def get_namespace_dataset(
    request: AnyRequest, dataset_namespace: FromPath[str], dataset: FromPath[str]
) -> MarquezDataset:
    """Return a dataset, by any of its names."""
    with session(request) as asked:
        names = decode_segments(dataset_namespace), decode_segments(dataset)
        return answers.dataset_of_name(asked.reader, asked.visibility, *names)


@get(f"{_ONE}/versions", access="history", is_cut=True, sync_to_thread=True)
def get_versions(
    request: AnyRequest,
    dataset_namespace: FromPath[str],
    dataset: FromPath[str],
    *,
    limit: PageLimit = DEFAULT_LIMIT,
    offset: Offset = 0,
) -> DatasetVersions:
    """List the versions of a dataset, newest first."""
    with session(request) as asked:
        names, page = (
            (decode_segments(dataset_namespace), decode_segments(dataset)),
            PageRange(limit, offset),
        )
        return versions_page(asked.reader, asked.visibility, *names, page)


@get(f"{_ONE}/versions/{{version:str}}", access="history", is_cut=True, sync_to_thread=True)
def get_version(
    request: AnyRequest,
    dataset_namespace: FromPath[str],
    dataset: FromPath[str],
    version: FromPath[str],
) -> DatasetVersion:
    """Return one version of a dataset."""
    with session(request) as asked:
        names = decode_segments(dataset_namespace), decode_segments(dataset)
        return version_of_id(asked.reader, asked.visibility, *names, decode_segments(version))
