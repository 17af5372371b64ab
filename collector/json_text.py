"""Checks of a body as JSON text: its nesting, numbers and repeated keys.

An error names the JSON path of the byte at which reading ended.
"""

import json
import re
from collections.abc import Iterable
from gc import is_tracked
from typing import Any

import msgspec

from collector.errors import InvalidEventError, TooManyError

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()
_OFFSET = re.compile(r"\(byte (\d+)\)")
# The closing quote is optional, or each escaped quote of an endless string would be tried as an
# opening one: quadratic in the body.
STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NUMBER = re.compile(STRING.pattern + rb"|-?[0-9][0-9.eE+-]*", re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[{}\[\],:]')


def check_values(body: bytes, max_values: int) -> None:
    """Reject more JSON values than may be decoded: each becomes an object of up to 240 bytes.

    A value follows a comma or an opening bracket: what is counted is never less than there are.
    Those inside of strings count too.

    Raises:
        TooManyError: more than `max_values`.
    """
    if len(body) > max_values and sum(body.count(mark) for mark in (b",", b"[", b"{")) > max_values:
        detail = f"$: more than {max_values} JSON values: send fewer or smaller events"
        raise TooManyError(detail, path="$")


def decode_json(body: bytes, max_depth: int) -> object:
    """Return the value of a JSON text as its reader will see it.

    Raises:
        InvalidEventError: no JSON (RFC 8259) in UTF-8, a number that no float or integer holds, or
            nested deeper than `max_depth`.
    """
    try:
        value = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        _check_brackets(body, max_depth)
        raise _unreadable(body, error) from error
    check_depth(value, max_depth)
    return value


def check_depth(value: object, max_depth: int) -> None:
    """Reject a decoded value that is nested too deep.

    Raises:
        InvalidEventError: nested deeper than `max_depth`.
    """
    # An object that the garbage collector does not track has no container in it: the walk passes
    # by a column or a field of an event at the price of one call.
    level: list[Any] = [value] if is_tracked(value) else []
    for _ in range(max_depth - 1):
        level = [child for each in level for child in _children(each) if is_tracked(child)]
        if not level:
            return
    if any(isinstance(child, dict | list) for each in level for child in _children(each)):
        raise _too_deep(max_depth)


def _children(container: Any) -> Iterable[Any]:  # noqa: ANN401 - any value of JSON
    return container.values() if type(container) is dict else container


def _check_brackets(body: bytes, max_depth: int) -> None:
    """Reject nesting in a text that the decoder could not read; linear in the body for any input.

    The decoder stops at Python's limit of recursion; an incomplete text may be too deep as well.

    Raises:
        InvalidEventError: nested deeper than `max_depth`.
    """
    if body.count(b"{") + body.count(b"[") <= max_depth:
        return
    brackets = STRING.sub(b"", body).translate(None, _NOT_BRACKETS)
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in b"{[" else -1
        if depth > max_depth:
            raise _too_deep(max_depth)


def _too_deep(max_depth: int) -> InvalidEventError:
    return InvalidEventError(f"$: nested deeper than {max_depth}", path="$", reason="too_deep")


def _unreadable(body: bytes, error: Exception) -> InvalidEventError:
    """Return the rejection of a text that the decoder could not read; name the path."""
    if isinstance(error, UnicodeDecodeError):
        path = path_at(body, _first_bad_byte(body))
        detail = f"{path}: not UTF-8: send the event as UTF-8 JSON"
        return InvalidEventError(detail, path=path, reason="not_utf8")
    if isinstance(error, msgspec.ValidationError):
        path = path_at(body, _first_bad_number(body))
        return InvalidEventError(f"{path}: {str(error).split(' - at ')[0]}", path=path)
    found = _OFFSET.search(str(error))
    path = path_at(body, int(found[1]) if found else len(body))
    return InvalidEventError(f"{path}: {error}", path=path, reason="not_json")


def _first_bad_byte(body: bytes) -> int:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return error.start
    return len(body)


def _first_bad_number(body: bytes) -> int:
    """Return the offset of the first number that the decoder rejects."""
    for token in _NUMBER.finditer(body):
        if token[0][:1] == b'"':
            continue
        try:
            _decoder.decode(token[0])
        except msgspec.ValidationError:
            return token.start()
    return len(body)


def may_repeat_keys(body: bytes, value: object) -> bool:
    """Return whether an object of the body may repeat a key; the decoded value has each key once.

    Encoded again, it is the body itself where the Spark listener wrote that; else it has as many
    quotation marks as a body without repeats. Where marks are written as numbers, which could make
    up for those of a repeat, only a count decides.
    """
    again = _encoder.encode(value)
    if again == body:
        return False
    return body.count(b'"') != again.count(b'"') or b"\\u0022" in body


def count_repeated_keys(body: bytes) -> int:
    """Count the keys that an object of the body repeats: slow, and exact."""
    repeats = 0

    def count(pairs: list[tuple[str, object]]) -> None:
        nonlocal repeats
        repeats += len(pairs) - len({key for key, _ in pairs})

    json.loads(body, object_pairs_hook=count, parse_int=str, parse_float=str)
    return repeats


def path_at(body: bytes, offset: int) -> str:
    """Return the JSON path of the value that holds byte `offset`.

    Works on malformed text too: what comes after the offset is not looked at.

    Args:
        body: the text.
        offset: 0-based; past the end means the end.
    """
    frames: list[str | int] = []
    text = ""
    for token in _TOKEN.finditer(body):
        if token.start() >= offset:
            break
        text = _step(frames, token[0], text)
    return "$" + "".join(f"[{frame}]" if isinstance(frame, int) else frame for frame in frames)


def _step(frames: list[str | int], token: bytes, text: str) -> str:
    """Follow one token; returns the last string seen, which a colon makes a key."""
    if token == b"{":
        frames.append("")
    elif token == b"[":
        frames.append(0)
    elif token in b"}]" and frames:
        frames.pop()
    elif token == b":" and frames:
        frames[-1] = f".{text}"
    elif token == b"," and frames:
        last = frames[-1]
        frames[-1] = last + 1 if isinstance(last, int) else ""
    elif token[:1] == b'"':
        return token.strip(b'"').decode(errors="replace")[:80]
    return text
