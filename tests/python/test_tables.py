# SPDX-License-Identifier: MIT
"""Tables of metrics: every number of metrics.json of many kinds of runs is in one, at the place that its path says; every
table has the columns that docs/metrics.md names, and is named in docs/python.md; the values have the types of collwire.metrics."""
import collections
import functools
import re
import tempfile
import typing
import unittest

from common import INCAST, ROOT, SCENARIOS, has

import collwire as cw
from collwire import _metric_tables as tables
from collwire import metrics as types

# Runs that together have most of the objects of metrics.json.
RUNS = [
    (INCAST, {"cc.kind": "dcqcn", "report.sample": "50us"}),
    (INCAST, {"report.flows_max": 0, "limits.sim_time": "100us"}),
    (SCENARIOS / "start/llm.json", {"workload.layers": 2}),
    (SCENARIOS / "start/dlrm.json", {}),
    (SCENARIOS / "start/parameter-server.json", {}),
    (SCENARIOS / "start/faults.json", {}),
    (SCENARIOS / "start/allreduce-2d.json", {}),
    (SCENARIOS / "mixed-tcp-roce.json", {}),
    (SCENARIOS / "fabric2026/trimming-incast.json", {}),
    (SCENARIOS / "fabric2026/uec-incast.json", {}),
    (SCENARIOS / "fabric2026/slow-receiver.json", {}),
    (SCENARIOS / "fabric2026/slow-receiver-credits.json", {}),
    (SCENARIOS / "fabric2026/clear-to-send.json", {}),
]
# Numbers that are in no table, and why.
NOT_IN_TABLES = {
    "scenario": "the scenario itself, as the run was given it",
    "series.t_ns": "the first column of each table of the series",
}


@functools.lru_cache(maxsize=None)
def runs():
    """The results of all RUNS."""
    return [cw.run(scenario, set=settings) for scenario, settings in RUNS]


def numbers(value, path=""):
    """The numbers of a JSON value with their paths, in which a list is written "[]"."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item, f"{path}[]")
    elif isinstance(value, (int, float)):
        yield path, value


def place(path):
    """The table and column of a number, by its path alone."""
    if path.startswith("series."):
        _, kind, _, *name = path.split(".")[0:3] + [""]
        return f"series.{kind}", kind
    training = re.match(r"(jobs\[\]\.)?training(?=[.\[])", path)
    if training:  # one object where one job trains, else with the jobs
        path = "training[]" + path[training.end():]
    table, bracket, column = path.rpartition("[]")
    if not bracket:
        return "summary", path
    if not column and path.endswith("[]"):  # a list of numbers, or a column of a histogram
        owner, _, last = table.rpartition(".")
        table, column = (owner, last) if owner.endswith("_histogram") else (table, last)
    return table.replace("[]", ""), column.lstrip(".")


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runs = runs()

    def test_every_number_is_in_a_table(self):
        for run, (scenario, _) in zip(self.runs, RUNS):
            want = collections.defaultdict(list)
            for path, value in numbers(run.metrics):
                if not any(path == left_out or path.startswith(f"{left_out}.") or path.startswith(f"{left_out}[") for left_out in NOT_IN_TABLES):
                    want[place(path)].append(value)
            self.assertGreater(len(want), 50)
            for (table, column), values in want.items():
                with self.subTest(scenario=scenario.name, table=table, column=column):
                    got = [row[column] for row in run.records(table) if isinstance(row.get(column), (int, float))]
                    self.assertEqual(got, values)

    def test_rows_have_no_nesting(self):
        for run in self.runs:
            for table in run.tables:
                for row in run.records(table):
                    self.assertNotIn(True, [isinstance(value, (list, dict)) for value in row.values()], (table, row))

    def test_inner_tables_name_their_records(self):
        run = next(run for run in self.runs if "collectives.phases" in run.tables)
        collectives, phases = run.records("collectives"), run.records("collectives.phases")
        self.assertEqual(len(phases), sum(len(one["phases"]) for one in run.metrics["collectives"]))
        for phase in phases:
            owner = collectives[phase["collectives.row"]]
            self.assertEqual((owner["name"], owner["job"]), (phase["collectives.name"], phase["collectives.job"]))
            self.assertGreaterEqual(phase["start_ns"], owner["start_ns"])

    def test_the_critical_path(self):
        for run in self.runs:
            rows = [row for row in run.records("critical_path") if row["of"] == "slowest"]
            self.assertEqual(sum(row["ns"] for row in rows), run.metrics["slowest"]["total_ns"] if rows else 0)
            for row in rows:
                self.assertEqual(row["ns"], run.metrics["slowest"]["parts"][f"{row['cause']}_ns"])
                self.assertAlmostEqual(row["share"], row["ns"] / run.metrics["slowest"]["total_ns"])
        self.assertTrue(any(row["of"] == "collectives.phases" for run in self.runs for row in run.records("critical_path")))

    def test_series_are_long(self):
        run = self.runs[0]
        rows = run.records("series.queue_bytes")
        self.assertEqual({row["at"] for row in rows}, set(run.metrics["series"]["queue_bytes"]))
        self.assertEqual(len(rows), len(run.metrics["series"]["t_ns"]) * len(run.metrics["series"]["queue_bytes"]))
        observed = run.records("series.observe")
        self.assertLessEqual({"t_ns", "qp", "name", "observe"}, set(observed[0]))
        self.assertIsInstance(observed[0]["qp"], int)

    def test_known_tables_may_be_empty(self):
        self.assertEqual(self.runs[0].records("collectives.phases"), [])
        with self.assertRaisesRegex(KeyError, 'no table "collective"'):
            self.runs[0].records("collective")
        for run in self.runs:
            names = {name for name in run.tables if not name.endswith(".csv") and not name.startswith("run.")}
            self.assertLessEqual(names, tables.NAMES)

    def test_figures_of_the_machine(self):
        row = self.runs[0].records("run")[0]
        self.assertGreater(row["events"], 1000)
        self.assertGreater(row["packet_hops"], 0)

    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_frames_of_flows_and_collectives(self):
        self.assertEqual(list(self.runs[0].flows["src"]), [flow["src"] for flow in self.runs[0].metrics["flows"]])
        self.assertTrue(any(len(run.collectives) for run in self.runs))

    def test_a_run_that_is_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            self.runs[0].save(folder)
            loaded = cw.load(folder)
            for table in self.runs[0].tables:
                if not table.startswith("run"):
                    self.assertEqual(loaded.records(table), self.runs[0].records(table))

    def test_the_page_names_every_table(self):
        page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        for name in tables.NAMES:
            self.assertRegex(page, rf"`{re.escape(name)}`", name)


class Types(unittest.TestCase):
    """The values of runs have the types of the generated classes."""

    def check(self, value, kind, path):
        if kind is typing.Any:
            return
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Union:
            if value is not None:
                self.check(value, arguments[0], path)
        elif origin is list:
            self.assertIsInstance(value, list, path)
            for item in value:
                self.check(item, arguments[0], f"{path}[]")
        elif origin is dict:
            self.assertIsInstance(value, dict, path)
            for item in value.values():
                self.check(item, arguments[1], f"{path}.*")
        elif isinstance(kind, type) and issubclass(kind, dict):
            self.assertIsInstance(value, dict, path)
            hints = typing.get_type_hints(kind, vars(types))
            for key, item in value.items() if hints else []:
                if key != "class":
                    self.assertIn(key, hints, path)
                    self.check(item, hints[key], f"{path}.{key}")
        else:
            self.assertIsInstance(value, (int, float) if kind is float else kind, path)

    def test_values(self):
        for run, (scenario, _) in zip(runs(), RUNS):
            with self.subTest(scenario=scenario.name):
                self.check(run.metrics, types.Metrics, "")

    def test_every_class_has_values(self):
        self.assertGreater(len([name for name in vars(types) if isinstance(getattr(types, name), type)]), 60)


if __name__ == "__main__":
    unittest.main()
