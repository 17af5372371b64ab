"""Similar names of datasets: never enough to join them, enough to ask a person."""

import re

from lineage.names.names import Name

_DB = re.compile(r"\.db(?=[/.])")
_STEPS = re.compile(r"[/.]+")
_OTHER = re.compile(r"[^a-z0-9]")
_URI = re.compile(r"([a-z0-9+.-]+)://([^/]*)(.*)", re.DOTALL)
_PORT = re.compile(r":[0-9]*$")
_AZURE = ("abfs", "abfss", "wasb", "wasbs")
_DBFS = "/dbfs/"
_PARTS = 2


def near_key(name: str) -> str | None:
    """Return the last two parts of a name, letters and digits only: a key of similar names.

    One part alone says too little, and has none.
    """
    parts = [_OTHER.sub("", part) for part in _STEPS.split(_DB.sub("", name.lower()))]
    named = [part for part in parts if part]
    return ".".join(named[-_PARTS:]) if len(named) >= _PARTS else None


def case_key(name: Name) -> Name:
    """Return what names have in common that differ in letter case alone."""
    return name[0].casefold(), name[1].casefold()


def place_key(name: Name) -> Name | None:
    """Return what names have in common that differ in the namespace's scheme or port alone.

    Also for an Azure container's two hosts, and for a folder of DBFS as its mount shows it. None
    for what is no place.
    """
    namespace, path = name
    if namespace == "dbfs":
        return "dbfs", path.strip("/")
    if namespace == "file" and path.startswith(_DBFS):
        return "dbfs", path.removeprefix(_DBFS).strip("/")
    found = _URI.fullmatch(namespace)
    if not found:
        return None
    scheme, authority, rest = found.groups()
    if scheme in _AZURE:
        container, _, host = authority.partition("@")
        authority = f"{container}@{host.partition('.')[0]}"
    return _PORT.sub("", authority).casefold() + rest, path.strip("/")
