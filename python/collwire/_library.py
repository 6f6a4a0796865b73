# SPDX-License-Identifier: MIT
"""The functions of libcollwire (include/collwire/collwire.h), by ctypes. Python's lock is free during a call."""
from __future__ import annotations

import ctypes as c
import ctypes.util
import operator
import os
import pathlib
from typing import Any, Callable, List, Optional, Sequence, Tuple

from collwire._errors import LibraryError, Message, ScenarioError, StateError, message_of

NATIVE = pathlib.Path(__file__).resolve().parent / "_native"  # of a wheel: lib/, bin/ and share/


def _candidates() -> List[str]:
    named = os.environ.get("COLLWIRE_LIBRARY")
    if named:
        return [named]
    bundled = sorted(str(path) for path in (NATIVE / "lib").glob("libcollwire.so*"))
    found = ctypes.util.find_library("collwire")
    return bundled + ([found] if found else []) + ["libcollwire.so.0"]


def _load() -> c.CDLL:
    whys = []
    for name in _candidates():
        try:
            return c.CDLL(name)
        except OSError as error:
            whys.append(f"{name}: {error}")
    raise LibraryError("libcollwire is not found; COLLWIRE_LIBRARY may name it: " + "; ".join(whys))


LIBRARY = _load()

SYMBOL = c.CFUNCTYPE(c.c_void_p, c.c_void_p, c.c_char_p, c.c_char_p, c.c_void_p, c.c_size_t)


class SettingStruct(c.Structure):
    """struct collwire_setting"""

    _fields_ = [("path", c.c_char_p), ("value", c.c_char_p)]


class LoaderStruct(c.Structure):
    """struct collwire_loader"""

    _fields_ = [("ctx", c.c_void_p), ("symbol", SYMBOL), ("activity", c.c_void_p)]


class ProgressStruct(c.Structure):
    """struct collwire_progress"""

    _fields_ = [("done", c.c_double), ("now_ps", c.c_int64), ("packet_hops", c.c_uint64), ("events", c.c_uint64)]


PROGRESS = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(ProgressStruct))


class RunStruct(c.Structure):
    """struct collwire_run"""

    _fields_ = [
        ("bytes", c.c_size_t),
        ("ctx", c.c_void_p),
        ("progress", PROGRESS),
        ("progress_s", c.c_double),
        ("memory_low", c.c_void_p),
        ("pace_ps", c.c_double),
        ("plain", c.c_int),
        ("threads", c.c_uint),
        ("tiles", c.c_uint),
        ("processes", c.c_void_p),
    ]


class CostStruct(c.Structure):
    """struct collwire_cost"""

    _fields_ = [
        ("bytes", c.c_size_t),
        ("memory_bytes", c.c_uint64),
        ("memory_limit_bytes", c.c_uint64),
        ("output_bytes", c.c_uint64),
        ("packet_hops", c.c_double),
        ("wall_s", c.c_double),
    ]


class SummaryStruct(c.Structure):
    """struct collwire_summary"""

    _fields_ = [
        ("bytes", c.c_size_t),
        ("status", c.c_int),
        ("reason", c.c_char_p),
        ("sim_time_ps", c.c_int64),
        ("wall_s", c.c_double),
        ("packet_hops", c.c_double),
        ("ended_by_machine", c.c_int),
        ("threads", c.c_uint),
        ("threads_note", c.c_char_p),
    ]


class _Handle(c.c_void_p):
    """An object of the library as an argument. NULL, which a closed object has, does not reach the library."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        if not value:
            raise StateError("this has been closed, or has been run")
        return c.c_void_p.from_param(value)


class _Text(c.c_char_p):
    """A text as an argument, which C reads up to the first NUL."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        if isinstance(value, bytes) and b"\0" in value:
            raise ScenarioError([Message("", "a text with a NUL character")])
        return c.c_char_p.from_param(value)


def encoded(text: str, what: str) -> bytes:
    """A text for the library; raises ScenarioError for what no text of a scenario can be."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    try:
        made = text.encode()
    except UnicodeEncodeError as error:
        raise ScenarioError([Message("", f"{what} is no Unicode text: {error.reason}")]) from error
    if b"\0" in made:
        raise ScenarioError([Message("", f"{what} has a NUL character")])
    return made


def count(value: Any, what: str, least: int, most: int) -> int:
    """An integer argument within its bounds."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {type(value).__name__}") from None
    if not least <= number <= most:
        raise ValueError(f"{what} must be from {least} to {most}, not {number}")
    return number


def _function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    function = getattr(LIBRARY, f"collwire_{name}")
    function.restype, function.argtypes = result, list(arguments)
    return function  # type: ignore[no-any-return]


_ptr, _own, _text, _said = c.c_void_p, _Handle, _Text, c.c_char_p  # _own: a handle of ours; _said: a text of the library

free = _function("free", None, _ptr)
version_text = _function("version", _said)
messages_new = _function("messages_new", _ptr)
messages_free = _function("messages_free", None, _own)
messages_count = _function("messages_count", c.c_size_t, _own)
messages_text = _function("messages_text", _said, _own, c.c_size_t)
messages_is_warning = _function("messages_is_warning", c.c_int, _own, c.c_size_t)
policies_new = _function("policies_new", _ptr, c.POINTER(LoaderStruct))
policies_add = _function("policies_add", c.c_int, _own, _text, _own)
policies_name = _function("policies_name", _said, _own, c.c_size_t)
policies_schema = _function("policies_schema", _ptr, _own)
scenario_load = _function("scenario_load", _ptr, _text, c.POINTER(SettingStruct), c.c_size_t, _own, _own)
scenario_parse = _function("scenario_parse", _ptr, _text, _text, c.POINTER(SettingStruct), c.c_size_t, _own, _own)
scenario_free = _function("scenario_free", None, _own)
scenario_name = _function("scenario_name", _said, _own)
scenario_seed = _function("scenario_seed", c.c_uint64, _own)
scenario_policy = _function("scenario_policy", _ptr, _own)
scenario_json = _function("scenario_json", _said, _own)
scenario_capture = _function("scenario_capture", _said, _own, c.c_size_t)
sim_new = _function("sim_new", _ptr, _own, c.c_uint64, _own)
sim_free = _function("sim_free", None, _ptr)
sim_describe = _function("sim_describe", _ptr, _own)
sim_advice = _function("sim_advice", _ptr, _own)
sim_cost = _function("sim_cost", None, _own, c.POINTER(CostStruct))
sim_open_captures = _function("sim_open_captures", c.c_int, _own, _text, _text, _own)
sim_run = _function("sim_run", c.c_int, _own, c.POINTER(RunStruct), _own)
sim_cancel = _function("sim_cancel", None, _own)
sim_file = _function("sim_file", _said, _own, c.c_size_t)
sim_result = _function("sim_result", _ptr, _own, _text)
sim_summary = _function("sim_summary", None, _own, c.POINTER(SummaryStruct))
comparison_new = _function("comparison_new", _ptr)
comparison_free = _function("comparison_free", None, _own)
comparison_add = _function("comparison_add", c.c_int, _own, _text, _text)
comparison_result = _function("comparison_result", _ptr, _own, _text, _text)
metrics_rows = _function("metrics_rows", _ptr, _text, _text)


def version() -> str:
    """The version of libcollwire, as "1.2.3"."""
    return str(version_text().decode())


def take_text(pointer: Optional[int]) -> str:
    """A text that the library hands over, which is freed; "" for NULL."""
    if not pointer:
        return ""
    text = c.string_at(pointer).decode("utf-8", "replace")
    free(pointer)
    return text


class Messages:
    """What the library reports of one call; a context, which raises a ScenarioError at its end if there was an error."""

    def __init__(self) -> None:
        self.handle: Any = messages_new()
        self.warnings: List[Message] = []

    def __enter__(self) -> Any:
        return self.handle

    def take(self) -> Tuple[List[Message], List[Message]]:
        """Errors and warnings; ends the use of this object."""
        errors: List[Message] = []
        for i in range(messages_count(self.handle)):
            message = message_of(messages_text(self.handle, i).decode("utf-8", "replace"))
            (self.warnings if messages_is_warning(self.handle, i) else errors).append(message)
        messages_free(self.handle)
        self.handle = None
        return errors, self.warnings

    def __exit__(self, kind: Optional[type], value: Optional[BaseException], trace: Any) -> None:
        errors, warnings = self.take()
        if errors and value is None:
            raise ScenarioError(errors, warnings)


def settings_array(settings: Sequence[Tuple[str, str]]) -> Tuple[Any, int]:
    """Pairs of path and value as the library takes them."""
    pairs = [SettingStruct(encoded(path, "a path"), encoded(value, f"the value of {path}")) for path, value in settings]
    return (SettingStruct * len(pairs))(*pairs), len(pairs)
