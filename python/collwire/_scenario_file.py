# SPDX-License-Identifier: MIT
"""What the class Scenario can do beyond holding keys: files, JSON, checks and runs."""
from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Type, TypeVar, Union

from collwire._errors import ScenarioError, message_of
from collwire._object import Object

T = TypeVar("T", bound="ScenarioFile")


class ScenarioFile(Object):
    """A scenario as a file. Files that it names are relative to the folder that it was loaded from."""

    @classmethod
    def load(cls: Type[T], file: Union[str, "os.PathLike[str]"]) -> T:
        """The scenario of a file. Raises ScenarioError if it is not JSON or has unknown keys; validate() checks all the rest."""
        path = pathlib.Path(file)
        try:
            scenario = cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, AttributeError) as error:
            from collwire.simulation import Simulation  # which depends on this module

            Simulation(path).close()  # names all errors with their paths
            raise ScenarioError([message_of(str(error))]) from error
        object.__setattr__(scenario, "_folder", str(path.resolve().parent))
        return scenario

    @property
    def folder(self) -> str:
        """The folder of the files that the scenario names: that of its own file, else the current one."""
        return str(getattr(self, "_folder", "."))

    def to_json(self) -> str:
        """The text of the scenario's file."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def save(self, file: Union[str, "os.PathLike[str]"]) -> None:
        """Write the scenario to a file."""
        pathlib.Path(file).write_text(self.to_json(), encoding="utf-8")

    def _repr_json_(self) -> Any:
        return self.to_dict()
