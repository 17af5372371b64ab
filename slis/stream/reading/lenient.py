"""Lenient reader of JSON into a struct: parts of another type than declared are left out.

Most objects are as declared, and msgspec reads them at once. Any other is read again, part by part:
a part of another type is null, and what is beside it is kept.
"""

from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import fields

from slis.stream.reading.openlineage import JSON_NULL

S = TypeVar("S", bound=Struct)

_NULL = b"null"
# Also of what has another type.
_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def read_lenient(text: bytes | Raw, kind: type[S]) -> tuple[S | None, bool]:
    """Return the struct, None where the text is no object, and whether all of it had its type."""
    try:
        return _decoder(kind).decode(text), True
    except _ERRORS:
        pass
    reader = _Reader()
    try:
        return reader.read(_utf8(bytes(text)), kind), reader.is_whole
    except _ERRORS:
        return None, False


def _utf8(text: bytes) -> bytes:
    """Return the text; bytes that are no UTF-8 become replacement characters."""
    return text.decode(errors="replace").encode()


def text_of(raw: Raw) -> str | None:
    """Return the text of a JSON string, the JSON of any other value, None of null or nothing."""
    if raw is JSON_NULL:
        return None
    text = bytes(raw)
    if text == _NULL:
        return None
    return (
        msgspec.json.decode(text, type=str) if text[:1] == b'"' else text.decode(errors="replace")
    )


@cache
def _decoder(kind: type[Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


class _Reader:
    """Reader of one text, part by part.

    Attributes:
        is_whole: whether each part had its type so far.
    """

    def __init__(self) -> None:
        """Read nothing yet."""
        self.is_whole = True

    def read(self, text: bytes, kind: Any) -> Any:  # noqa: ANN401 - any type of a field
        """Return the value.

        Raises:
            msgspec.DecodeError: the text has another type.
            RecursionError: the text is nested too deeply.
        """
        if kind is str:
            return text_of(Raw(text))
        if isinstance(kind, type) and issubclass(kind, Struct):
            return self._read_struct(text, kind)
        if get_origin(kind) is list:
            items = msgspec.json.decode(text, type=list[Raw])
            return [self._read_part(one, get_args(kind)[0]) for one in items]
        if get_origin(kind) is dict:
            members = msgspec.json.decode(text, type=dict[str, Raw])
            return {key: self._read_part(one, get_args(kind)[1]) for key, one in members.items()}
        if get_origin(kind) in {Union, UnionType}:
            return None if text == _NULL else self.read(text, _given(kind))
        return msgspec.json.decode(text, type=kind)

    def _read_struct(self, text: bytes, kind: type[S]) -> S:
        members = msgspec.json.decode(text, type=dict[str, Raw])
        given = [
            (one, members[one.encode_name]) for one in fields(kind) if one.encode_name in members
        ]
        return kind(**{one.name: self._read_part(raw, one.type) for one, raw in given})

    def _read_part(self, raw: Raw, kind: Any) -> Any:  # noqa: ANN401 - as `read`
        try:
            return self.read(bytes(raw), kind)
        except _ERRORS:
            self.is_whole = False
            return None


def _given(kind: Any) -> Any:  # noqa: ANN401 - a type
    return next(one for one in get_args(kind) if one is not NoneType)
