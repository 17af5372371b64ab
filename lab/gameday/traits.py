"""Traits that an estate draws: names, the client of each job, declared tiers and limits.

Names have no digits: those would be folded as dates and partitions are.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

import msgspec

from lab.gameday.model import Client, Estate, SimulatedDataset, SimulatedJob
from lineage.states import CRITICAL, IMPORTANT, Tier

TEAMS = (
    *("platform", "payments", "orders", "catalog", "search", "fraud", "growth", "ledger"),
    *("delivery", "returns", "support", "pricing", "loyalty", "supply", "stock", "media"),
    *("identity", "billing", "travel", "energy", "risk", "claims", "planning", "research"),
    *("devices", "maps", "hiring", "partners", "quality", "weather", "routing", "forecast"),
)
_FIRST = (
    *("amber", "azure", "birch", "bold", "brisk", "calm", "cedar", "civic", "clear", "coral"),
    *("crisp", "dusty", "early", "ember", "fair", "fern", "fleet", "frost", "gentle", "golden"),
    *("grand", "hazel", "humble", "ivory", "jade", "keen", "late", "lemon", "lively", "lunar"),
    *("maple", "mellow", "misty", "noble", "north", "ochre", "olive", "opal", "pearl", "plain"),
    *("quiet", "rapid", "rosy", "ruby", "rustic", "sandy", "silver", "solar", "stark", "steady"),
    *("stone", "sunny", "swift", "tidal", "topaz", "urban", "velvet", "vivid", "warm", "wild"),
)
_SECOND = (
    *("accounts", "addresses", "articles", "balances", "baskets", "bookings", "budgets", "calls"),
    *("carts", "cases", "channels", "clicks", "contacts", "contracts", "coupons", "credits"),
    *("customers", "deposits", "devices", "discounts", "events", "fees", "flows", "funnels"),
    *("goals", "grants", "holdings", "invoices", "items", "journeys", "leads", "lines"),
    *("margins", "members", "metrics", "notes", "offers", "orders", "parcels", "payouts"),
    *("plans", "points", "prices", "profiles", "quotas", "ratings", "readings", "refunds"),
    *("requests", "returns", "reviews", "routes", "sales", "scores", "segments", "sessions"),
    *("shifts", "slots", "spans", "stays", "stocks", "tables", "tickets", "totals"),
    *("trades", "trips", "units", "users", "views", "visits", "vouchers", "wallets"),
)

_AIRFLOW, _DBT = 0.25, 0.45  # up to these shares of the jobs that are made of others
_LONG: Final = 0.5  # share of hourly and streaming jobs that are queries of one application
_LEAST_LAYER: Final = 2  # what lands and cleans files is Spark


def two_word_names(chance: random.Random) -> Iterator[str]:
    """Return 4,320 names of two words, each once, in an order of the seed's."""
    found = [f"{first}_{second}" for first, second in product(_FIRST, _SECOND)]
    chance.shuffle(found)
    yield from found


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
    """Return the job as this client reports it: Airflow knows a nominal time, dbt never does."""
    if client not in {"airflow", "dbt"}:
        return msgspec.structs.replace(job, client=client)
    is_airflow = client == "airflow"
    return msgspec.structs.replace(job, client=client, is_twofold=False, is_orchestrated=is_airflow)


def with_tiers(estate: Estate, chance: random.Random) -> Estate:
    """Declare a few datasets critical, with their upstream; of the others some important."""
    deep = [each.number for each in _scheduled(estate.datasets) if each.layer >= 3]  # noqa: PLR2004
    wanted = max(2, round(0.03 * len(estate.datasets)))
    declared: dict[int, Tier] = dict.fromkeys(_some(chance, deep, wanted), CRITICAL)
    held = _declared(estate, declared).tiers
    rest = [each.number for each in _scheduled(estate.datasets) if held[each.number] != CRITICAL]
    declared |= dict.fromkeys(_some(chance, rest, round(0.2 * len(rest))), IMPORTANT)
    return _declared(estate, declared)


def with_limits(estate: Estate, chance: random.Random, *, all_of_them: bool) -> Estate:
    """Declare limits of some critical datasets; the others' are learned."""
    limits = {"daily": "27h", "weekday": "27h", "hourly": "90m", "quarter": "35m"}
    datasets = [
        msgspec.structs.replace(each, limit=limits.get(each.cadence))
        if all_of_them or (each.declared == CRITICAL and chance.random() < 0.4)  # noqa: PLR2004
        else each
        for each in estate.datasets
    ]
    return msgspec.structs.replace(estate, datasets=tuple(datasets))


def _scheduled(datasets: Sequence[SimulatedDataset]) -> Iterator[SimulatedDataset]:
    return (each for each in datasets if each.cadence != "adhoc")


def _some(chance: random.Random, numbers: Sequence[int], count: int) -> list[int]:
    return chance.sample(numbers, min(count, len(numbers)))


def _declared(estate: Estate, tiers: dict[int, Tier]) -> Estate:
    datasets = [
        msgspec.structs.replace(each, declared=tiers.get(each.number)) for each in estate.datasets
    ]
    return msgspec.structs.replace(estate, datasets=tuple(datasets))
