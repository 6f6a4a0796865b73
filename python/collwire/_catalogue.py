# SPDX-License-Identifier: MIT
"""The policies that scenarios may name: the built-in ones, those of plugins and those written in Python."""
from __future__ import annotations

import ctypes as c
import itertools
import os
import threading
from typing import Any, Callable, Dict, List, Optional, Union

from collwire import _library as lib
from collwire._arguments import file_name
from collwire._errors import Message, ScenarioError
from collwire._handle import Handle

LOCK = threading.RLock()  # a scenario is read, or a policy added
# A fork waits for it, so that the child has a whole catalogue, and no lock of a thread that it does not have.
os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)
PLUGIN_FILES: List[str] = []  # which the program `collwire` loads too
_kept: List[Any] = []  # libraries and structs stay where they are
_exports: Dict[str, Callable[[], int]] = {}  # file -> the address of its struct cc_plugin


def _symbol(_ctx: Optional[int], path: bytes, name: bytes, why: int, room: int) -> Optional[int]:
    try:
        own = _exports.get(os.fsdecode(path))
        if own is not None:
            return own()
        _kept.append(c.CDLL(os.fsdecode(path)))
        return c.addressof(c.c_char.in_dll(_kept[-1], name.decode()))
    except Exception as error:  # pylint: disable=broad-except
        text = str(error).encode()[: room - 1] + b"\0"
        c.memmove(why, text, len(text))
        return None


_SYMBOL = lib.SYMBOL(_symbol)
_LOADER = lib.LoaderStruct(None, _SYMBOL, None)
# It is kept until the process ends, since scenarios and runs may be alive until then.
HANDLE = Handle("the catalogue of policies", lib.policies_new(c.byref(_LOADER)), lambda _pointer: None, forks=True)


def add_exported(file: str, address: Callable[[], int]) -> None:
    """Add the policies whose struct cc_plugin a function of this program returns, under the name of a file."""
    with LOCK:
        _exports[os.path.realpath(file)] = address
        with HANDLE as catalogue, lib.Messages() as messages:
            lib.policies_add(catalogue, os.fsencode(file), messages)


def add_plugin(file: Union[str, "os.PathLike[str]"]) -> None:
    """Load a plugin (docs/plugins.md): a shared library with policies, which scenarios may then name.

    Raises ScenarioError if the plugin or one of its policies is not sound. A plugin runs with the rights of the user.
    """
    name = file_name("plugin", file)
    if not os.path.exists(name):
        raise ScenarioError([Message("plugin", f"{name}: there is no such file")])
    with LOCK, HANDLE as catalogue, lib.Messages() as messages:
        lib.policies_add(catalogue, os.fsencode(name), messages)
    PLUGIN_FILES.append(os.path.abspath(name))


def policies() -> List[str]:
    """The names of all policies that a scenario may name."""
    with LOCK, HANDLE as catalogue:
        names = (lib.policies_name(catalogue, i) for i in itertools.count())
        return [name.decode() for name in itertools.takewhile(lambda name: name is not None, names)]


def schema() -> str:
    """The JSON Schema of scenarios, with the policies of plugins."""
    with LOCK, HANDLE as catalogue:
        return lib.take_text(lib.policies_schema(catalogue))
