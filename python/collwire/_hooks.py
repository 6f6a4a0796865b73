# SPDX-License-Identifier: MIT
"""Calls of hooks written in Python: which thread is in one, and since when.

The library has no way to end a hook that sleeps, so what waits for a run has to know that it waits for a hook. Frames of
Python show that without a cost for each call.
"""
from __future__ import annotations

import ctypes as c
import sys
import threading
from types import FrameType
from typing import Any, Callable, Dict, Optional

ACTIVE: Dict[int, Any] = {}  # thread -> the simulation that it runs


def over() -> bool:
    """True if the simulation of this thread is ending, and calls no hooks any more."""
    simulation = ACTIVE.get(threading.get_ident())
    return simulation is not None and simulation._hooks_over  # pylint: disable=protected-access


def guarded(failed: Callable[[BaseException], None], hook: Callable[..., Any], *arguments: Any) -> Any:
    """Call a hook; an exception goes to `failed`, since the library is written in C and cannot pass it on."""
    try:
        return hook(*arguments)
    except BaseException as error:  # pylint: disable=broad-except
        failed(error)
        return None


def _of(frame: Optional[FrameType]) -> Optional[FrameType]:
    while frame is not None and frame.f_code is not guarded.__code__:
        frame = frame.f_back
    return frame


def inside() -> bool:
    """True if a hook has called the caller."""
    return _of(sys._getframe()) is not None  # pylint: disable=protected-access


def running(thread: Optional[int]) -> Optional[FrameType]:
    """The call of a hook in which a thread is; equal frames are one call."""
    return _of(sys._current_frames().get(thread or 0))  # pylint: disable=protected-access


def raise_in(thread: int, error: type) -> None:
    """Raise an exception in another thread, when it executes Python next: a sleeping one does not notice."""
    if thread != threading.get_ident():
        c.pythonapi.PyThreadState_SetAsyncExc(c.c_ulong(thread), c.py_object(error))
