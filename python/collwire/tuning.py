# SPDX-License-Identifier: MIT
"""Settings that make a goal best, over seeds, scenarios and faults: `collwire tune` (docs/tune.md)."""
from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from collwire._arguments import one_of, utf8
from collwire._results_folder import scenario_file
from collwire._tables import Row, flat, frame
from collwire.comparison import RunsProgress, scenario_list, search_document, search_options
from collwire.simulation import ScenarioLike

if TYPE_CHECKING:
    import pandas


class Tuning:
    """The best settings, and what they gain on seeds that were not used. `document` has all that the program prints."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document: Dict[str, Any] = dict(document)
        self.rows: List[Row] = [flat(gain) for gain in document["gains"]]

    @property
    def settings(self) -> Dict[str, Any]:
        """The best value of each key, as `set` of run() takes them."""
        return {key["path"]: key["best"] for key in self.document["keys"]}

    @property
    def gain(self) -> Optional[float]:
        """The share by which the first goal of the first scenario is better on unused seeds; None = it was not measured."""
        gain = self.document["gain"]
        return None if gain is None else float(gain)

    def frame(self) -> "pandas.DataFrame":
        """The gains as a DataFrame: a row for each scenario and goal."""
        return frame(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def _texts(name: str, option: str, values: Union[str, Sequence[str]]) -> List[str]:
    several = [values] if isinstance(values, str) else one_of(name, values, (list, tuple), "a str or a list of them")
    return [f"--{option}={utf8(name, value).decode()}" for value in several]


def _key(path: str, values: Union[str, Sequence[Any]]) -> str:
    """PATH=FROM..TO, or PATH=VALUE,VALUE."""
    several = [values] if isinstance(values, str) else one_of("vary", values, (list, tuple), "a range, or a list of values")
    return f"{path}={','.join(value if isinstance(value, str) else json.dumps(value) for value in several)}"


def tune(
    scenario: Union[ScenarioLike, Sequence[ScenarioLike]],
    vary: Mapping[str, Union[str, Sequence[Any]]],
    *,
    goal: Union[str, Sequence[str]] = "time",
    guard: Union[str, Sequence[str]] = (),
    faults: Optional[int] = None,
    seeds: Optional[int] = None,
    budget: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    out: Union[None, str, "os.PathLike[str]"] = None,
    jobs: Optional[int] = None,
    progress: RunsProgress = None,
) -> Tuning:
    """Find the settings of the keys in `vary` that make the goal best, for a scenario or for several at once.

    A key has a range, {"switch.ecn.kmin": "20KB..1MB"}, or a list of values. With `out` runs are kept, and the same tuning
    goes on after an interruption.
    """
    keys = one_of("vary", vary, Mapping, "a mapping of keys to ranges or lists")
    arguments = search_options("tune", {"faults": faults, "seeds": seeds, "budget": budget, "jobs": jobs}, set, out, progress)
    arguments += [f"--vary={_key(utf8('vary', path).decode(), values)}" for path, values in keys.items()]
    arguments += [*_texts("goal", "goal", goal), *_texts("guard", "guard", guard)]
    with contextlib.ExitStack() as files:
        names = [files.enter_context(scenario_file(one)) for one in scenario_list(scenario)]
        document = search_document([*arguments, *names], progress, "the tuning")
    return Tuning(document)
