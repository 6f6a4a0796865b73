# SPDX-License-Identifier: MIT
"""Sweeps over values of keys, resumable: `collwire sweep` and its store (docs/sweeps.md)."""
from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pathlib
import sqlite3
import threading
import time
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from collwire import _charts as charts
from collwire import _program as program
from collwire._arguments import one_of
from collwire._errors import Cancelled, Error, StateError
from collwire._handle import Owned
from collwire._results_folder import Folder, scenario_file
from collwire._tables import Row, axis, frame, number
from collwire.comparison import RunsProgress, arguments_of, policy_list, prefixed, scenario_list, show, vary_options
from collwire.result import Report, Result, report_of
from collwire.simulation import ScenarioLike

if TYPE_CHECKING:
    import pandas

_RETIRED = 0x7FFFFFFFFFFFFFFF  # the position of points that the present sweep does not have
_NOT_METRICS = ("hash", "position", "varied", "failure", "jobs", "reasons", "wall_s", "packet_hops", "metrics_bytes", "metrics")


@dataclass(frozen=True)
class Point:
    """A point of a sweep: the varied values as they were given, the status, and the metrics of its row."""

    values: Dict[str, Any]
    status: str
    row: Row
    failure: Optional[str] = None
    store: str = field(default="", repr=False)
    hash: str = field(default="", repr=False)

    @property
    def completed(self) -> bool:
        """True if all work was done."""
        return self.status == "completed"

    def result(self) -> Result:
        """The whole metrics of the point, from the store."""
        with _open(self.store) as base:
            found = base.execute("SELECT metrics FROM points WHERE hash = ?", (self.hash,)).fetchone()
        if not found or found[0] is None:
            raise Error(f"the store has no metrics of {self.values}")
        policy = str(self.values.get("policy", ""))
        return Result({"metrics.json": zlib.decompress(found[0]).decode("utf-8")}, policy=policy)


class _open:
    """A connection that only reads, closed at the end."""

    def __init__(self, file: str) -> None:
        self._base = sqlite3.connect(f"{pathlib.Path(file).absolute().as_uri()}?mode=ro", uri=True, timeout=30)
        self._base.row_factory = sqlite3.Row

    def __enter__(self) -> sqlite3.Connection:
        return self._base

    def __exit__(self, *_: Any) -> None:
        self._base.close()


class Sweep(Owned):
    """Every combination of values, run by processes; iterate over it, or call run().

    Iterating yields the points as they end, those of an earlier sweep in the same folder first. Ctrl-C, cancel() or the
    end of a loop by `break` stops the sweep; what has ended stays in the store, and the same sweep in the same folder
    runs the rest.
    """

    def __init__(
        self, scenarios: Sequence[ScenarioLike], arguments: Sequence[str], folder: Folder, progress: RunsProgress = None
    ) -> None:
        self._own()
        self._what = f"the sweep in {folder.path}"
        self._scenarios, self._arguments = list(scenarios), list(arguments)
        self._folder, self._shown = folder, show(progress)
        self._command: Optional[program.Command] = None
        self._cancelled = False
        self._running = threading.Lock()  # of the loop that runs it
        self._done: Optional[program.Done] = None
        self.progress: Optional[program.RunsDone] = None

    # ---- running ----

    def __iter__(self) -> Iterator[Point]:
        seen: Dict[str, str] = {}
        if self._done is not None or not self._scenarios:
            yield from self.points
            return
        self._check_owner()
        if not self._running.acquire(blocking=False):
            raise StateError(f"{self._what} is running in another loop; its points can be read")
        interrupted = False
        files = contextlib.ExitStack()
        before = {point.hash: point.status for point in self.points} if self.store.exists() else {}
        try:
            names = [files.enter_context(scenario_file(scenario)) for scenario in self._scenarios]
            self._command = program.Command([*self._arguments, *names, f"--out={self.folder.absolute()}"])
            if self._cancelled:
                self._command.interrupt()
            while True:
                running = self._command.running
                yield from self._new(seen, before, not running)
                if not running:
                    break
                self._note()
                time.sleep(0.05)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self._end()
            files.close()
            self._running.release()
        if interrupted:
            raise Cancelled(f"the sweep was interrupted; {len(self.points)} points are in {self.folder}")
        done = self._done
        if done is not None and done.returncode not in (0, 1) and not self._cancelled:
            program.raise_of(done)
        if not self.store.exists() and done is not None and not self._cancelled:
            program.raise_of(done)

    def _new(self, seen: Dict[str, str], before: Mapping[str, str], ended: bool) -> Iterator[Point]:
        """Points that have ended since the last look. What an earlier sweep had failed is run again."""
        for point in self.points if self.store.exists() else []:
            again = before.get(point.hash) == "failed" and not ended and seen.get(point.hash) is None
            if seen.get(point.hash) == point.status or again and point.status == "failed":
                continue
            seen[point.hash] = point.status
            yield point

    def _note(self) -> None:
        now = self._command.progress if self._command else None
        if now is not None and now != self.progress:
            self.progress = now
            if self._shown:
                self._shown(now)

    def _end(self) -> None:
        if self._command is None or self._foreign():
            return
        self._command.interrupt()
        self._done = self._command.wait()
        self._command = None

    def run(self) -> "Sweep":
        """Run all points; returns the sweep."""
        for _ in self:
            pass
        return self

    def cancel(self) -> None:
        """Stop the sweep from another thread, or from within a loop over it; what has ended stays."""
        self._check_owner()
        self._cancelled = True
        command = self._command
        if command is not None:
            command.interrupt()

    # ---- results ----

    @property
    def folder(self) -> pathlib.Path:
        """Where the store is; a temporary folder unless `out` named one."""
        return self._folder.path

    @property
    def store(self) -> pathlib.Path:
        """The store, an SQLite database (docs/sweeps.md)."""
        return self.folder / "results.sqlite"

    @property
    def points(self) -> List[Point]:
        """The points that have ended, in the order of the grid."""
        try:
            with _open(str(self.store)) as base:
                columns = [row[1] for row in base.execute("PRAGMA table_info(points)") if row[1] not in ("metrics",)]
                named = ", ".join(f'"{column}"' for column in columns)
                found = base.execute(f"SELECT {named} FROM points WHERE position < ? ORDER BY position", (_RETIRED,)).fetchall()
        except sqlite3.OperationalError:  # not made yet
            return []
        except sqlite3.DatabaseError as error:
            raise Error(f"{self.store}: is not a store of a sweep: {error}") from None
        return [self._point(row) for row in found]

    def _point(self, row: sqlite3.Row) -> Point:
        values = {path: number(value) for path, value in json.loads(row["varied"]).items()}
        metrics = {key: row[key] for key in row.keys() if key not in _NOT_METRICS and key != "status"}
        axes = dict(axis(path, value) for path, value in values.items())
        return Point(values, row["status"], {**axes, "status": row["status"], **metrics}, row["failure"], str(self.store), row["hash"])

    @property
    def rows(self) -> List[Row]:
        """The rows of sweep.csv: numeric axes with the unit in the name, the status, then every metric."""
        file = self.folder / "sweep.csv"
        if not file.exists():
            return [point.row for point in self.points]
        return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(io.StringIO(file.read_text(encoding="utf-8")))]

    def frame(self) -> "pandas.DataFrame":
        """The rows as a DataFrame."""
        return frame(self.rows)

    def records(self, table: str) -> List[Row]:
        """A table of all points that have results (Result.records); the first columns are the axes."""
        found: List[Row] = []
        for point in self.points:
            if point.status == "failed":
                continue
            axes = dict(axis(path, value) for path, value in point.values.items())
            found += [{**axes, **record} for record in prefixed(point.result().records(table), table, axes)]
        return found

    def table(self, table: str) -> "pandas.DataFrame":
        """The same as a DataFrame."""
        return frame(self.records(table))

    @property
    def axes(self) -> List[str]:
        """The columns of the varied values, in order."""
        first = self.rows[0] if self.rows else {}
        return [key for key in first if key not in ("job",)][: list(first).index("status")] if "status" in first else []

    def dataset(self) -> Any:
        """The metrics of completed points over the axes, as a Dataset of xarray, which has to be installed."""
        axes = [axis for axis in self.axes if axis != "job"]
        if not axes:
            raise Error("no point has been run")
        table = frame([row for row in self.rows if row["status"] == "completed" and not row.get("job")])
        table = table.drop(columns=[column for column in ("status", "job") if column in table.columns])
        try:
            return table.set_index(axes).to_xarray()
        except ImportError:
            raise Error("xarray is not installed (pip install 'collwire[xarray]')") from None

    def chart(self, metric: str = "sim_time_ns", x: Optional[str] = None) -> charts.Chart:
        """Lines of a metric over an axis, the first one of numbers unless `x` names it; means over seeds."""
        rows = [row for row in self.rows if row.get(metric) is not None and not row.get("job")]
        numeric = [a for a in self.axes if a not in ("seed", "policy") and all(isinstance(row[a], (int, float)) for row in rows)]
        if x is None and not numeric:
            raise Error("no axis has numbers")
        x = x or numeric[0]
        others = [a for a in self.axes if a not in (x, "seed")]
        sums: Dict[str, Dict[float, List[float]]] = {}
        for row in rows:
            name = ", ".join(_shown(a, row[a]) for a in others) or metric
            sums.setdefault(name, {}).setdefault(float(row[x]), []).append(float(row[metric]))
        series: Dict[str, Sequence[Tuple[float, float]]] = {
            name: [(place, sum(values) / len(values)) for place, values in sorted(points.items())] for name, points in sums.items()
        }
        return charts.lines(f"{metric} over {x}", series, x, metric)

    def report(self) -> Report:
        """The page of charts (docs/report.md)."""
        return report_of(self.folder)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<Sweep in {self.folder}: {len(self.points)} points>"


def _shown(axis_name: str, value: Any) -> str:
    return charts.value_text(axis_name, value) if isinstance(value, (int, float)) else str(value)


def sweep(
    scenario: Union[ScenarioLike, Sequence[ScenarioLike]],
    vary: Optional[Mapping[Any, Sequence[Any]]] = None,
    *,
    policies: Optional[Sequence[str]] = None,
    seeds: int = 1,
    sizes: Optional[str] = None,
    set: Optional[Mapping[str, Any]] = None,
    seed: Optional[int] = None,
    out: Union[None, str, "os.PathLike[str]"] = None,
    jobs: Optional[int] = None,
    threads: int = 1,
    why: bool = False,
    progress: RunsProgress = None,
) -> Sweep:
    """A sweep over every combination of the values of `vary` (by path), policies, sizes and seeds; nothing runs yet.

    Iterate over what is returned, or call its run(). A tuple of paths in `vary` advances together. `sizes` is as for
    `collwire sweep --sizes`. With `out` the sweep is resumable: points that are in its store are not run again.
    """
    named = policy_list(policies)
    if not all(isinstance(policy, str) for policy in named):
        raise Error("a sweep runs in other processes, so it takes policies by name; cw.compare() also takes those written in Python")
    arguments = ["sweep", *arguments_of(set, seed, seeds, jobs, threads), "--quiet"]
    arguments += vary_options(vary)
    arguments += ["--cc=" + ",".join(str(policy) for policy in named)] if named else []
    arguments += [f"--sizes={one_of('sizes', sizes, str, 'a str')}"] if sizes else []
    arguments += ["--why"] if one_of("why", why, bool, "a bool") else []
    arguments += ["--progress=always"]
    return Sweep(scenario_list(scenario), arguments, Folder(out), progress)


def load_sweep(folder: pathlib.Path) -> Sweep:
    """The results of a sweep in a folder."""
    return Sweep([], [], Folder(folder))
