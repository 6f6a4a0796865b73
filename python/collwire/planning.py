# SPDX-License-Identifier: MIT
"""Layouts of a job of kind `llm` that fit so many GPUs, the fastest first: `collwire plan` (docs/plan.md)."""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Union

from collwire import _program as program
from collwire._arguments import file_name, one_of, real, whole
from collwire._errors import Cancelled
from collwire._results_folder import scenario_file
from collwire._tables import Row, flat, frame
from collwire.comparison import RunsProgress, count_option, show
from collwire.simulation import ScenarioLike, settings_of

if TYPE_CHECKING:
    import pandas


class Plan:
    """The layouts that fit, for each number of GPUs the fastest first. `document` has all that the program prints."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document: Dict[str, Any] = dict(document)
        self.rows: List[Row] = [flat(layout) for layout in document["plans"]]

    def frame(self) -> "pandas.DataFrame":
        """The layouts as a DataFrame."""
        return frame(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def plan(
    scenario: ScenarioLike,
    gpus: Union[int, str],
    *,
    best: Optional[int] = None,
    within: Optional[str] = None,
    fabric: Union[None, str, "os.PathLike[str]"] = None,
    packets_budget: Optional[float] = None,
    set: Optional[Mapping[str, Any]] = None,
    out: Union[None, str, "os.PathLike[str]"] = None,
    jobs: Optional[int] = None,
    progress: RunsProgress = None,
) -> Plan:
    """Find the layouts of the scenario's job on `gpus` GPUs: a number, or "64..1024" for 64, 128, .. 1024.

    `packets_budget` are the packet-hops of a layout's run, 0 for closed forms alone. With `out` runs are kept, and the
    same plan goes on after an interruption.
    """
    number = gpus if isinstance(gpus, str) else whole("gpus", gpus, 0, 2**32 - 1)
    arguments = ["plan", f"--gpus={number}", "--format=json", *count_option("best", 0 if best is None else best, 0)]
    arguments += [f"--within={one_of('within', within, str, 'a str')}"] if within is not None else []
    arguments += [f"--fabric={os.path.abspath(file_name('fabric', fabric))}"] if fabric is not None else []
    arguments += [f"--packets-budget={real('packets_budget', packets_budget):.0f}"] if packets_budget is not None else []
    arguments += [f"--set={path}={value}" for path, value in settings_of(set, None)]
    arguments += [f"--out={os.path.abspath(file_name('out', out))}"] if out is not None else []
    arguments += count_option("jobs", 0 if jobs is None else jobs, 0)
    arguments += ["--progress=always"] if progress else []
    with scenario_file(scenario) as file:
        try:
            done = program.Command([*arguments, file]).wait(show(progress))
        except KeyboardInterrupt:
            raise Cancelled("the plan was interrupted") from None
    if done.returncode not in (0, 1) or not done.stdout.strip():
        program.raise_of(done)
    return Plan(json.loads(done.stdout))
