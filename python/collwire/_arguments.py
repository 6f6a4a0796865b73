# SPDX-License-Identifier: MIT
"""Values that callers give, as the library takes them. C would wrap a number and end a text at its first NUL, so both are refused."""
from __future__ import annotations

import operator
import os
from typing import Any, Union

from collwire._errors import ArgumentError, Message, ScenarioError


def _wrong(name: str, why: str) -> ScenarioError:
    return ScenarioError([Message(name, why)])


def wrong_type(name: str, value: Any, expected: str) -> ArgumentError:
    return ArgumentError([Message(name, f"a value of type {type(value).__name__} is given, {expected} is expected")])


def whole(name: str, value: Any, least: int, most: int) -> int:
    """A whole number within a range. What is no integer, as 2.0 or "2", is refused: it may be a mistake of the caller."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise wrong_type(name, value, "a whole number") from None
    if not least <= number <= most:
        raise _wrong(name, f"{_short(number)} is not from {least} to {most}")
    return number


def real(name: str, value: Any) -> float:
    """A number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong_type(name, value, "a number")
    try:
        return float(value)
    except OverflowError:
        raise _wrong(name, f"{_short(int(value))} is too large") from None


def _short(number: int) -> str:
    # Python 3.11 converts no number of more than 4,300 digits into a text
    return str(number) if number.bit_length() < 200 else f"a number of {number.bit_length()} bits"


def utf8(name: str, value: Any) -> bytes:
    """A text, as UTF-8."""
    if not isinstance(value, str):
        raise wrong_type(name, value, "a str")
    if "\0" in value:
        raise _wrong(name, f"the text has a NUL character, at position {value.index(chr(0))}")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise _wrong(name, f"the text has half of a surrogate pair, at position {error.start}") from None


def file_name(name: str, value: Union[str, "os.PathLike[str]"]) -> str:
    """The name of a file or a folder, without a NUL. Bytes that are no UTF-8 are kept, as os.listdir() returns them."""
    try:
        text = os.fspath(value)
    except TypeError:
        raise wrong_type(name, value, "a str or a path") from None
    if not isinstance(text, str):
        raise wrong_type(name, text, "a str or a path")
    if not text:
        raise _wrong(name, "the name is empty")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise _wrong(name, f"the text has half of a surrogate pair, at position {error.start}") from None
    if "\0" in text:
        raise _wrong(name, f"the name has a NUL character, at position {text.index(chr(0))}")
    return text


def one_of(name: str, value: Any, kinds: Any, expected: str) -> Any:
    """A value of one of some types."""
    if not isinstance(value, kinds):
        raise wrong_type(name, value, expected)
    return value
