"""Client that reports each job: Spark, long Spark applications, Airflow or dbt."""

import random
from typing import Final

import msgspec

from lab.gameday.model import Client, Estate, SimulatedJob

_AIRFLOW, _DBT = 0.25, 0.45  # up to these shares of the jobs that are made of others
_LONG: Final = 0.5  # share of hourly and streaming jobs that are queries of one application
_LEAST_LAYER: Final = 2  # what lands and cleans files is Spark


def with_clients(estate: Estate) -> Estate:
    """Return the estate with a client for each job; those without a listener are Spark."""
    chance = random.Random(f"{estate.seed} clients")  # noqa: S311 - made up, no secret
    jobs = [_reported_by(job, _client(estate, job, chance)) for job in estate.jobs]
    return msgspec.structs.replace(estate, jobs=tuple(jobs))


def _client(estate: Estate, job: SimulatedJob, chance: random.Random) -> Client:
    drawn = chance.random()
    if job.reporting != "listener" or not job.outputs:
        return "spark"
    if job.cadence in {"hourly", "streaming"}:
        return "application" if drawn < _LONG else "spark"
    if job.cadence == "quarter" or estate.datasets[job.outputs[0]].layer < _LEAST_LAYER:
        return "spark"
    return "airflow" if drawn < _AIRFLOW else "dbt" if drawn < _DBT else "spark"


def _reported_by(job: SimulatedJob, client: Client) -> SimulatedJob:
    """Airflow always knows the time that a run is for, dbt never."""
    if client not in {"airflow", "dbt"}:
        return msgspec.structs.replace(job, client=client)
    is_airflow = client == "airflow"
    return msgspec.structs.replace(job, client=client, is_twofold=False, is_orchestrated=is_airflow)
