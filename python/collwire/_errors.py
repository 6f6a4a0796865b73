# SPDX-License-Identifier: MIT
"""The exceptions of this package."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Sequence

if TYPE_CHECKING:
    from collwire.result import Result

_PATH = re.compile(r"^((?:--)?[A-Za-z_$][^\s:]*): (.*)$", re.DOTALL)


class Message(NamedTuple):
    """An error or a warning: `path` is the key of the scenario, "" where there is none."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def message_of(text: str) -> Message:
    """A line of the library, such as "switch.ecn.kmin: 900KB exceeds kmax 400KB", as path and message."""
    found = _PATH.match(text)
    return Message(found.group(1), found.group(2)) if found else Message("", text)


class Error(Exception):
    """The base of all errors of this package, but for Cancelled."""


class LibraryError(Error, ImportError):
    """libcollwire cannot be loaded."""


class ScenarioError(Error, ValueError):
    """A scenario, a setting or a policy is wrong. `errors` has all that is wrong, `warnings` what is odd."""

    def __init__(self, errors: Sequence[Message], warnings: Sequence[Message] = ()) -> None:
        self.errors: List[Message] = list(errors)
        self.warnings: List[Message] = list(warnings)
        super().__init__("\n".join(str(error) for error in self.errors))


class ArgumentError(ScenarioError, TypeError):
    """An argument of a call has a wrong type, as threads=2.0."""


class StateError(Error, ValueError):
    """An object is used in a state that does not allow it: it is closed, has run, is copied, or belongs to a parent process."""


class ProgramError(Error, RuntimeError):
    """The program `collwire` is missing or has failed; `returncode` is its exit code, if it ran."""

    def __init__(self, text: str, returncode: Optional[int] = None) -> None:
        self.returncode = returncode
        super().__init__(text)


class Cancelled(KeyboardInterrupt):
    """Ctrl-C has ended a run. `result` has the results so far, whose `status` is "interrupted"; None if there are none.

    It is a KeyboardInterrupt, so `except Exception` in a loop over runs does not swallow it.
    """

    def __init__(self, text: str, result: Optional["Result"] = None) -> None:
        self.result = result
        super().__init__(text)
