# SPDX-License-Identifier: MIT
"""Folders of results, and files of scenarios for the program."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import tempfile
import weakref
from typing import Any, Iterator, Mapping, Union

from collwire._arguments import file_name
from collwire._handle import Owned
from collwire.simulation import ScenarioLike, scenario_text


class Folder(Owned):
    """A folder for results: one that is named, or a temporary one that lives as long as this object.

    A copy is the same folder. A temporary one is not pickled, since it would not outlive this object.
    """

    _what = "a temporary folder of results (out= names one that stays)"

    def __init__(self, named: Union[None, str, "os.PathLike[str]"]) -> None:
        self._own()
        self._named = named is not None
        if named is not None:
            self.path = pathlib.Path(file_name("out", named))
            return
        made = tempfile.mkdtemp(prefix="collwire")
        weakref.finalize(self, _remove, made, os.getpid())
        self.path = pathlib.Path(made, "results")

    def __copy__(self) -> "Folder":
        return self

    def __deepcopy__(self, _memo: Any) -> "Folder":
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (Folder, (str(self.path),)) if self._named else super().__reduce_ex__(protocol)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # and not a child that was forked, whose parent still uses it
        shutil.rmtree(folder, ignore_errors=True)


def _names_file(value: Any, folder: pathlib.Path) -> bool:
    """True if a text within a scenario is the name of a file in the folder."""
    if isinstance(value, Mapping):
        return any(_names_file(item, folder) for item in value.values())
    if isinstance(value, list):
        return any(_names_file(item, folder) for item in value)
    try:
        return isinstance(value, str) and value != "" and (folder / value).is_file()
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def scenario_file(scenario: ScenarioLike) -> Iterator[str]:
    """The name of a file with the scenario. It stands in its folder if it names files there, else in a temporary one."""
    text, where = scenario_text(scenario)
    if text is None:
        yield os.path.abspath(where)
        return
    try:
        beside = _names_file(json.loads(text), pathlib.Path(where))
    except ValueError:
        beside = False
    with tempfile.TemporaryDirectory(prefix="collwire") as folder:
        if not beside:
            file = pathlib.Path(folder) / "scenario.json"
            file.write_text(text, encoding="utf-8")
            yield str(file)
            return
        handle, name = tempfile.mkstemp(prefix=".collwire-", suffix=".json", dir=where)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
            yield os.path.abspath(name)
        finally:
            os.unlink(name)
