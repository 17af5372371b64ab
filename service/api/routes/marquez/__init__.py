"""Marquez 0.51's read API: its paths and parameters."""

from service.api.routes.marquez import datasets, events, jobs, namespaces, search

MARQUEZ_ROUTES = (
    namespaces.get_namespaces,
    namespaces.get_namespace,
    namespaces.get_sources,
    namespaces.get_source,
    namespaces.get_tags,
    jobs.get_jobs,
    jobs.get_namespace_jobs,
    jobs.get_job,
    jobs.get_job_runs,
    jobs.get_job_run,
    jobs.get_run_facets,
    datasets.get_namespace_datasets,
    datasets.get_namespace_dataset,
    datasets.get_versions,
    datasets.get_version,
    search.get_search,
    search.get_search_of_jobs,
    search.get_search_of_datasets,
    events.get_events,
    events.get_event_counts,
)

__all__ = ["MARQUEZ_ROUTES"]
