"""Differences between two schemas, as the catalog stores them."""

import msgspec


class SchemaField(msgspec.Struct, frozen=True):
    """Column of a schema."""

    name: str
    type: str | None = None


class Retyped(msgspec.Struct, frozen=True):
    """Column whose type changed."""

    name: str
    before: str | None
    after: str | None


class SchemaChange(msgspec.Struct, frozen=True):
    """Change of a schema; all lists are empty if only the order of the columns differs."""

    added: list[SchemaField]
    removed: list[SchemaField]
    retyped: list[Retyped]


class _Stored(msgspec.Struct):
    name: str | None = None
    type: str | None = None


def fields_of(text: str | None) -> list[SchemaField]:
    """Return the columns of a `schema_version`; none where it is not known.

    Columns without a name are left out: earlier releases stored those that producers sent.
    """
    stored = msgspec.json.decode(text, type=list[_Stored | None]) if text else []
    return [SchemaField(one.name, one.type) for one in stored if one and one.name is not None]


def schema_change(before: list[SchemaField], after: list[SchemaField]) -> SchemaChange:
    """Return the columns added, removed and retyped in the second schema."""
    old, new = ({field.name: field.type for field in fields} for fields in (before, after))
    both = [name for name in new if name in old and old[name] != new[name]]
    return SchemaChange(
        added=[SchemaField(name, kind) for name, kind in new.items() if name not in old],
        removed=[SchemaField(name, kind) for name, kind in old.items() if name not in new],
        retyped=[Retyped(name, old[name], new[name]) for name in both],
    )


def describe_changes(change: SchemaChange) -> list[str]:
    """Describe a change: `added email (string)`, `removed at`, `id was int and is bigint`."""
    return [
        *(f"added {field.name}{_typed(field)}" for field in change.added),
        *(f"removed {field.name}" for field in change.removed),
        *(f"{one.name} was {one.before} and is {one.after}" for one in change.retyped),
    ] or ["the order of its fields"]


def _typed(field: SchemaField) -> str:
    return f" ({field.type})" if field.type else ""
