# SPDX-License-Identifier: MIT
"""The results of a run: metrics as objects and tables, files, the page of charts."""
from __future__ import annotations

import html
import json
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union, cast

from collwire import _charts as charts
from collwire import _library as lib
from collwire import _program as program
from collwire._errors import Error, Message
from collwire._metric_tables import NAMES, Tables, machine_tables_of, tables_of
from collwire._result_set import write_set
from collwire._tables import Record, Row, csv_rows, flat, frame, has_pandas
from collwire.metrics import Metrics

if TYPE_CHECKING:
    import pandas


class Report:
    """The page of charts of `collwire report`: one HTML file that makes no request. Jupyter shows it inline."""

    def __init__(self, text: str) -> None:
        self.html = text

    def save(self, file: Union[str, "os.PathLike[str]"]) -> None:
        """Write the page to a file."""
        pathlib.Path(file).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="720" style="border:0"></iframe>'


def report_of(folder: Union[str, "os.PathLike[str]"]) -> Report:
    """The page of a folder of results."""
    page = pathlib.Path(folder) / "report.html"
    if not page.exists():
        program.must(["report", os.fspath(folder)])
    return Report(page.read_text(encoding="utf-8"))


class Result:
    """What a run has found. `files` has the texts of its files by name, as `collwire run` writes them.

    `status` is "completed", "incomplete" (`reason` says why) or "interrupted" (the results so far); `errors` are of
    captures that could not be written. Names of metrics, with their units, are those of docs/metrics.md.
    """

    def __init__(
        self,
        files: Mapping[str, str],
        *,
        policy: str = "",
        status: Optional[str] = None,
        wall_s: float = float("nan"),
        packet_hops: float = float("nan"),
        warnings: Sequence[Message] = (),
    ) -> None:
        self.files: Dict[str, str] = dict(files)
        self.warnings: List[Message] = list(warnings)
        self.errors: List[Message] = []
        self.wall_s = wall_s
        self.packet_hops = packet_hops
        self._policy, self._status = policy, status
        self._metrics: Optional[Metrics] = None
        self._rows: Optional[List[Row]] = None
        self._tables: Optional[Tables] = None

    # ---- values ----

    @property
    def metrics(self) -> Metrics:
        """All of metrics.json; keys are attributes too: result.metrics.pfc.paused_ns. Their types are in collwire.metrics."""
        if self._metrics is None:
            try:
                found = json.loads(self.files["metrics.json"], object_hook=Record)
            except ValueError as error:
                raise Error(f"the text is not that of a metrics.json: {error}") from None
            if not isinstance(found, Record) or not str(found.get("schema", "")).startswith("collwire.metrics/"):
                raise Error("the text is not that of a metrics.json")
            self._metrics = cast(Metrics, found)
        return self._metrics

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return str(self.metrics["name"])

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.metrics["seed"])

    @property
    def policy(self) -> str:
        """The policy, or the policies joined by "+"."""
        return self._policy or _policy_of(self.metrics.get("scenario", {}))

    @property
    def status(self) -> str:
        """ "completed", "incomplete" or "interrupted"."""
        return str(self._status or self.metrics["status"])

    @property
    def completed(self) -> bool:
        """True if all work was done."""
        return self.status == "completed"

    @property
    def reason(self) -> Optional[str]:
        """Why the run is not complete."""
        return self.metrics.get("reason")

    @property
    def sim_time_ns(self) -> int:
        """The simulated time at the end."""
        return int(self.metrics["sim_time_ns"])

    @property
    def explain(self) -> List[str]:
        """Sentences that say where the time went, the most important first (docs/explain.md)."""
        return list(self.metrics["explain"])

    # ---- tables ----

    @property
    def rows(self) -> List[Row]:
        """The run as a row with the columns of compare.csv, followed by a row for each job where there are several."""
        if self._rows is None:
            text = lib.take_text(lib.metrics_rows(self.files["metrics.json"].encode(), self.policy.encode()))
            if not text:
                raise Error("the text is not that of a metrics.json")
            self._rows = [_row(row) for row in json.loads(text)["rows"]]
        return self._rows

    def frame(self) -> "pandas.DataFrame":
        """`rows` as a DataFrame; units stand at the ends of the columns' names."""
        return frame(self.rows)

    @property
    def tables(self) -> List[str]:
        """The names of the run's tables that have rows: of its metrics, of run.json ("run"), and CSV files (docs/python.md)."""
        return list(self._all_tables()) + [name for name in self.files if name.endswith(".csv")]

    def _all_tables(self) -> Tables:
        if self._tables is None:
            about = json.loads(self.files.get("run.json", "{}"))
            self._tables = {**tables_of(self.metrics), **machine_tables_of(about)}
        return self._tables

    def records(self, table: str) -> List[Row]:
        """A table as a list of flat dictionaries: {"fct_ns": {"p99": 1}} is {"fct_ns.p99": 1}. Empty if the run has no such rows."""
        if table in self.files and table.endswith(".csv"):
            return csv_rows(self.files[table])
        found = self._all_tables()
        if table not in found and table not in NAMES:
            raise KeyError(f'there is no table "{table}"; there are {", ".join(self.tables)}')
        return [dict(row) for row in found.get(table, [])]

    def table(self, table: str) -> "pandas.DataFrame":
        """A table as a DataFrame, a row a record."""
        return frame(self.records(table))

    @property
    def flows(self) -> Union["pandas.DataFrame", List[Row]]:
        """The table "flows" as a DataFrame where pandas is installed, else as a list of dictionaries."""
        return self.table("flows") if has_pandas() else self.records("flows")

    @property
    def collectives(self) -> Union["pandas.DataFrame", List[Row]]:
        """The table "collectives" as a DataFrame where pandas is installed, else as a list of dictionaries."""
        return self.table("collectives") if has_pandas() else self.records("collectives")

    # ---- files and charts ----

    def save(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        """Write the files of the run into a folder, as a set of results that `collwire` reads and may replace."""
        texts = {name: text for name, text in self.files.items() if name != "run.json"}
        write_set(pathlib.Path(folder), texts, json.loads(self.files.get("run.json", "{}")))

    def report(self) -> Report:
        """The page of charts (docs/report.md)."""
        with tempfile.TemporaryDirectory() as folder:
            self.save(folder)
            return report_of(folder)

    def chart(self, what: str = "path") -> charts.Chart:
        """A chart that Jupyter shows inline: "path", where the time went; "slowdown" or "fct", shares of messages."""
        return charts.of_result(self.metrics, self.records, what)

    def __repr__(self) -> str:
        return f"<Result {self.name} ({self.policy}, seed {self.seed}): {self.status}, {self.sim_time_ns / 1e3:.1f} us>"

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.explain[:3])
        chart = self.chart() if self.metrics.get("slowest") else None
        return f"<p><b>{html.escape(repr(self)[8:-1])}</b></p>{chart.svg if chart else ''}<ul>{items}</ul>"


def _row(row: Mapping[str, Any]) -> Row:
    """A row of the library as one of compare.csv."""
    made = {("policy" if key == "cc" else key): value for key, value in row.items() if key != "explain"}
    return flat(made)


def _policy_of(scenario: Mapping[str, Any]) -> str:
    cc = scenario.get("cc", {})
    kinds = [one.get("kind", "") for one in (cc if isinstance(cc, list) else [cc]) if isinstance(one, Mapping)]
    return "+".join(dict.fromkeys(kinds))
