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

from collwire.simulation import ScenarioLike, scenario_text


class Folder:
    """A folder for results: one that is named, or a temporary one that lives as long as this object."""

    def __init__(self, named: Union[None, str, "os.PathLike[str]"]) -> None:
        if named is not None:
            self.path = pathlib.Path(named)
            return
        made = tempfile.mkdtemp(prefix="collwire")
        weakref.finalize(self, shutil.rmtree, made, ignore_errors=True)
        self.path = pathlib.Path(made, "results")


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
