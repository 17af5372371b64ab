"""Settings of a process: one frozen struct, read once from the environment."""

import difflib
import os
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import msgspec.inspect

from lineage.process.expected_values import describe_expected

PREFIX = "LINEWARD_"
# The release after this one no longer accepts the old name.
OLD_NAMES: Final = {"LINEWARD_READER_SECRET_FILE": "LINEWARD_SENDER_SECRET_FILE"}
# Variables without effect. The release after this one rejects them.
REMOVED: Final = frozenset({"LINEWARD_KUBERNETES_LISTENER_CONFIG_MAPS"})
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class InvalidSettingError(ValueError):
    """Error: an unknown variable or an invalid value. The process names it and does not start."""


def variables() -> dict[str, str]:
    """Return the process's environment, as `read` sees it."""
    return dict(os.environ)


def read(
    struct: type[_Struct],
    *,
    section: str = "",
    environ: Mapping[str, str] | None = None,
    shared: Collection[str] = (),
) -> _Struct:
    """Fill `struct` from variables named `LINEWARD_` + section + field, in capitals.

    Args:
        struct: a frozen struct whose every field has a safe default.
        section: e.g. `COLLECTOR_`; an unknown variable of the section is rejected.
        environ: instead of the process's own.
        shared: variables of the section that another struct has.

    Raises:
        InvalidSettingError: an unknown variable of the section, or a value out of range.
    """
    values = variables() if environ is None else environ
    prefix = PREFIX + section
    fields = {
        f"{prefix}{field.name.upper()}": field.name for field in msgspec.structs.fields(struct)
    }
    values = _with_new_names(values, fields)
    if section:
        _reject_unknown(prefix, values, {*fields, *shared})
    given = {field: values[name] for name, field in fields.items() if name in values}
    for field, value in given.items():
        _check(struct, field, value, f"{prefix}{field.upper()}")
    return msgspec.convert(given, struct, strict=False, dec_hook=_decode)


def _with_new_names(values: Mapping[str, str], fields: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables with those of old names under their new ones."""
    old = {name: OLD_NAMES[name] for name in values if OLD_NAMES.get(name) in fields}
    for name, new in old.items():
        # On the standard error, as every interpreter prints it: a command may print JSON.
        message = f"{name} is an old name: set {new}, or the next release ignores it"
        warnings.warn(message, FutureWarning, stacklevel=3)
    return {new: values[name] for name, new in old.items()} | dict(values)


def _reject_unknown(prefix: str, values: Mapping[str, str], known: Collection[str]) -> None:
    service_links = _service_links(values)
    for name in values:
        if name in REMOVED and name.startswith(prefix):
            message = f"{name} has no effect: remove it, or the next release rejects it"
            warnings.warn(message, FutureWarning, stacklevel=3)
        elif name.startswith(service_links) or not name.startswith(prefix):
            continue
        elif name not in known:
            raise InvalidSettingError(f"{name}: no such setting; {_hint(name, prefix, known)}")


def _service_links(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the beginnings of variables that Kubernetes sets in a pod, for each Service."""
    # https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
    ends = ("_SERVICE_HOST", "_SERVICE_PORT")
    hosts = [name.removesuffix(ends[0]) for name in values if name.endswith(ends[0])]
    services = [name for name in hosts if f"{name}{ends[1]}" in values]
    return tuple(name + end for name in services for end in ("_SERVICE_", "_PORT"))


def _hint(name: str, prefix: str, known: Collection[str]) -> str:
    # The prefix would make all names similar.
    ends = [each.removeprefix(prefix) for each in sorted(known)]
    if near := difflib.get_close_matches(name.removeprefix(prefix), ends, n=1):
        return f"did you mean {prefix}{near[0]}?"
    return f"known are {', '.join(sorted(known))}"


def _check(struct: type[msgspec.Struct], field: str, value: str, name: str) -> None:
    try:
        msgspec.convert({field: value}, struct, strict=False, dec_hook=_decode)
    except msgspec.ValidationError as error:
        reason = str(error).split(" - at ")[0]
        expected = describe_expected(_kind_of(struct, field), reason)
        reason = reason if expected is None else f"expected {expected}"
        message = f"{name}: {reason}, got {value[:80]!r}"
        raise InvalidSettingError(message) from error


def _kind_of(struct: type[msgspec.Struct], field: str) -> Any:  # noqa: ANN401 - msgspec's types of types
    info: Any = msgspec.inspect.type_info(struct)
    return next(one.type for one in info.fields if one.name == field)


def _decode(kind: type, value: object) -> object:
    """Return types that msgspec leaves to us."""
    if kind is Path:
        if not value:
            message = "the path is empty"  # and would be the working folder
            raise ValueError(message)
        return Path(str(value))
    raise NotImplementedError(kind)
