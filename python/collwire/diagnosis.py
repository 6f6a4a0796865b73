# SPDX-License-Identifier: MIT
"""The cause that would give what was measured on a network: `collwire diagnose` (docs/diagnose.md)."""
from __future__ import annotations

import contextlib
import csv
import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from collwire._arguments import file_name, one_of
from collwire._results_folder import scenario_file
from collwire._tables import Row, flat, frame
from collwire.comparison import RunsProgress, search_document, search_options
from collwire.simulation import ScenarioLike

if TYPE_CHECKING:
    import pandas

COLUMNS = ("quantity", "place", "value", "unit", "spread")
Measured = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]", Mapping[str, Any]]]]


class Diagnosis:
    """Whether the network is healthy, and the causes, the best first. `document` has all that the program prints."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document: Dict[str, Any] = dict(document)
        self.causes: List[Dict[str, Any]] = list(document["causes"])
        self.rows: List[Row] = [flat({name: cause[name] for name in ("kind", "at", "explains", "fit", "tie", "words", "next")}) for cause in self.causes]

    @property
    def healthy(self) -> bool:
        """Whether the network gives what was measured, within its spread."""
        return bool(self.document["healthy"])

    @property
    def unexplained(self) -> float:
        """The share of the gap between healthy and measured that the first cause leaves."""
        return float(self.document["unexplained"])

    def frame(self) -> "pandas.DataFrame":
        """The causes as a DataFrame: a row for each."""
        return frame(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@contextlib.contextmanager
def _files(measured: Measured) -> Iterator[List[str]]:
    """The files of what was measured; rows of values are one of them."""
    given = [measured] if isinstance(measured, (str, os.PathLike)) else list(one_of("measured", measured, (list, tuple), "a file, or a list of files or of values"))
    rows = [one for one in given if isinstance(one, Mapping)]
    names = [os.path.abspath(file_name("measured", one)) for one in given if not isinstance(one, Mapping)]
    with tempfile.TemporaryDirectory() as folder:
        if rows:
            names.append(os.path.join(folder, "measured.csv"))
            with open(names[-1], "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, restval="", extrasaction="raise")
                writer.writeheader()
                writer.writerows(rows)
        yield names


def diagnose(
    measured: Measured,
    network: ScenarioLike,
    *,
    job: Optional[ScenarioLike] = None,
    seeds: Optional[int] = None,
    budget: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    out: Union[None, str, "os.PathLike[str]"] = None,
    jobs: Optional[int] = None,
    progress: RunsProgress = None,
) -> Diagnosis:
    """Find the cause that would make a network, described as it should be, give what was measured.

    `measured` is a file or a list of files (CSV, a table of nccl-tests, traces) and of values, {"quantity": "time", "value": 5, "unit": "ms"}.
    The network has the job that was measured, or `job` has it. With `out` runs are kept.
    """
    arguments = search_options("diagnose", {"seeds": seeds, "budget": budget, "jobs": jobs}, set, out, progress)
    with contextlib.ExitStack() as files:
        names = files.enter_context(_files(measured))
        arguments += [f"--network={files.enter_context(scenario_file(network))}"]
        arguments += [f"--job={files.enter_context(scenario_file(job))}"] if job is not None else []
        document = search_document([*arguments, *names], progress, "the diagnosis")
    return Diagnosis(document)
