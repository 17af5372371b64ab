"""Names for what never was. No digits: those would be folded as dates and partitions are."""

import random
from collections.abc import Iterator
from itertools import product

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


def names(chance: random.Random) -> Iterator[str]:
    """4,320 names of two words, each once, in an order of the seed's."""
    found = [f"{first}_{second}" for first, second in product(_FIRST, _SECOND)]
    chance.shuffle(found)
    yield from found
