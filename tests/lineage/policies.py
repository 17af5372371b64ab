"""Rows of `dataset_policy`, as the resolved policy writes them."""

from lineage.catalog import tables

_NOTHING = {column.name: None if column.nullable else False for column in tables.dataset_policy.c}


def policy_row(
    key: int, tier: str = "critical", owner: str | None = None, **other: object
) -> dict[str, object]:
    """Return the decision for a dataset of this declared tier, without other facts."""
    known = {"dataset_key": key, "tier": tier, "tier_origin": "declared", "owner": owner}
    return {**_NOTHING, **known, **other}
