# SPDX-License-Identifier: MIT
"""The functions of libcollwire (include/collwire/collwire.h), by ctypes. Python's lock is free during a call."""
from __future__ import annotations

import ctypes as c
import ctypes.util
import os
import pathlib
from typing import Any, Callable, List, Optional, Sequence, Tuple

from collwire._arguments import utf8
from collwire._errors import LibraryError, Message, ScenarioError, message_of
from collwire._handle import Handle

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


def _function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    function = getattr(LIBRARY, f"collwire_{name}")
    function.restype, function.argtypes = result, list(arguments)
    return function  # type: ignore[no-any-return]


_ptr, _text = c.c_void_p, c.c_char_p

free = _function("free", None, _ptr)
version_text = _function("version", _text)
messages_new = _function("messages_new", _ptr)
messages_free = _function("messages_free", None, _ptr)
messages_count = _function("messages_count", c.c_size_t, _ptr)
messages_text = _function("messages_text", _text, _ptr, c.c_size_t)
messages_is_warning = _function("messages_is_warning", c.c_int, _ptr, c.c_size_t)
policies_new = _function("policies_new", _ptr, c.POINTER(LoaderStruct))
policies_add = _function("policies_add", c.c_int, _ptr, _text, _ptr)
policies_name = _function("policies_name", _text, _ptr, c.c_size_t)
policies_schema = _function("policies_schema", _ptr, _ptr)
scenario_load = _function("scenario_load", _ptr, _text, c.POINTER(SettingStruct), c.c_size_t, _ptr, _ptr)
scenario_parse = _function("scenario_parse", _ptr, _text, _text, c.POINTER(SettingStruct), c.c_size_t, _ptr, _ptr)
scenario_free = _function("scenario_free", None, _ptr)
scenario_name = _function("scenario_name", _text, _ptr)
scenario_seed = _function("scenario_seed", c.c_uint64, _ptr)
scenario_policy = _function("scenario_policy", _ptr, _ptr)
scenario_json = _function("scenario_json", _text, _ptr)
scenario_capture = _function("scenario_capture", _text, _ptr, c.c_size_t)
sim_new = _function("sim_new", _ptr, _ptr, c.c_uint64, _ptr)
sim_free = _function("sim_free", None, _ptr)
sim_describe = _function("sim_describe", _ptr, _ptr)
sim_advice = _function("sim_advice", _ptr, _ptr)
sim_cost = _function("sim_cost", None, _ptr, c.POINTER(CostStruct))
sim_open_captures = _function("sim_open_captures", c.c_int, _ptr, _text, _text, _ptr)
sim_run = _function("sim_run", c.c_int, _ptr, c.POINTER(RunStruct), _ptr)
sim_cancel = _function("sim_cancel", None, _ptr)
sim_file = _function("sim_file", _text, _ptr, c.c_size_t)
sim_result = _function("sim_result", _ptr, _ptr, _text)
sim_summary = _function("sim_summary", None, _ptr, c.POINTER(SummaryStruct))
comparison_new = _function("comparison_new", _ptr)
comparison_free = _function("comparison_free", None, _ptr)
comparison_add = _function("comparison_add", c.c_int, _ptr, _text, _text)
comparison_result = _function("comparison_result", _ptr, _ptr, _text, _text)
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
        self.handle = Handle("a list of messages", messages_new(), messages_free)
        self.warnings: List[Message] = []

    def __enter__(self) -> Any:
        return self.handle.__enter__()

    def take(self) -> Tuple[List[Message], List[Message]]:
        """Errors and warnings; ends the use of this object."""
        errors: List[Message] = []
        with self.handle as pointer:
            for i in range(messages_count(pointer)):
                message = message_of(messages_text(pointer, i).decode("utf-8", "replace"))
                (self.warnings if messages_is_warning(pointer, i) else errors).append(message)
        self.handle.close()
        return errors, self.warnings

    def __exit__(self, kind: Optional[type], value: Optional[BaseException], trace: Any) -> None:
        self.handle.__exit__()
        errors, warnings = self.take()
        if errors and value is None:
            raise ScenarioError(errors, warnings)


def settings_array(settings: Sequence[Tuple[str, str]]) -> Tuple[Any, int]:
    """Pairs of path and value as the library takes them."""
    pairs = [SettingStruct(utf8("set", path), utf8(path, value)) for path, value in settings]
    return (SettingStruct * len(pairs))(*pairs), len(pairs)
