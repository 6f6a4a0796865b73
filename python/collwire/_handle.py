# SPDX-License-Identifier: MIT
"""What belongs to this process and has an end: pointers of the library, processes, temporary folders.

All of them keep one contract, so that no state of an object leads to a freed pointer, or to a thing of another process:

- a pointer is lent by `with handle as pointer`, which raises StateError once the handle is closed;
- close() may come at any time and from any thread: what was lent is freed when the last use of it has ended;
- after fork() the things of the parent are refused in the child, which neither frees, signals nor removes them;
- nothing of this kind is copied or pickled, since two objects would free it.
"""
from __future__ import annotations

import os
import threading
from typing import Any, Callable, Optional

from collwire._errors import StateError


class Owned:
    """The base of objects that belong to the process that made them."""

    _what = "the object"  # in messages
    _pid = 0

    def _own(self) -> None:
        """This process is the owner."""
        self._pid = os.getpid()

    def _foreign(self) -> bool:
        """True in a child that was forked from the owner."""
        return self._pid != os.getpid()

    def _check_owner(self) -> None:
        if self._foreign():
            raise StateError(f"{self._what} belongs to process {self._pid}, from which this one was forked; make another one here")

    def __reduce_ex__(self, _protocol: Any) -> Any:  # which copy, deepcopy and pickle call
        raise StateError(f"{self._what} cannot be copied or pickled; make another one, or keep its results")


class Handle(Owned):
    """A pointer of the library, freed once. `over` is a handle that has to live as long as this one.

    A handle that `forks` is only memory, which a forked child may use and free as its own.
    """

    def __init__(
        self, what: str, pointer: Optional[int], free: Callable[[Any], None], over: Optional["Handle"] = None, forks: bool = False
    ) -> None:
        self._what, self._pointer, self._free, self._over, self._forks = what, pointer, free, over, forks
        self._lock = threading.RLock()  # a signal handler may use the handle too
        self._uses, self._closed = 0, not pointer
        self._own()
        if over is not None:
            over.__enter__()

    def _check_owner(self) -> None:
        if not self._forks:
            super()._check_owner()

    def __enter__(self) -> int:
        self._check_owner()
        with self._lock:
            if self._closed or not self._pointer:
                raise StateError(f"{self._what} is closed")
            self._uses += 1
            return self._pointer

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._uses -= 1
            self._free_unused()

    def close(self) -> None:
        """No more uses; the pointer is freed now, or when those that have begun are over."""
        if self._foreign() and not self._forks:
            return  # the lock may be held by a thread that this process does not have
        with self._lock:
            self._closed = True
            self._free_unused()

    def _free_unused(self) -> None:
        if self._closed and self._uses == 0 and self._pointer:
            pointer, self._pointer = self._pointer, None
            self._free(pointer)
        if self._closed and self._uses == 0 and self._over is not None:
            over, self._over = self._over, None
            over.__exit__()

    def __del__(self) -> None:
        if hasattr(self, "_closed"):
            self.close()
