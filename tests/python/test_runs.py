# SPDX-License-Identifier: MIT
"""Runs: the bytes of the command line, also from many threads; tables; logging, progress; Ctrl-C and cancel()."""
import concurrent.futures
import csv
import io
import json
import logging
import pathlib
import tempfile
import threading
import time
import unittest
from unittest import mock

from common import INCAST, LONG, SANITIZED, SCENARIOS, command_line, has, interrupted, read

import collwire as cw
from collwire import _charts, _tables

INTERRUPT = """
import json, sys
import collwire as cw
shown = []
def progress(p):
    if not shown:
        print("running", flush=True)
    shown.append(p)
try:
    cw.run(json.loads(sys.argv[1]), progress=progress)
    print("completed")
except cw.Cancelled as ended:
    r = ended.result
    print(json.dumps([r.status, r.metrics["status"], r.sim_time_ns, len(r.explain), isinstance(ended, KeyboardInterrupt)]))
"""


class Bytes(unittest.TestCase):
    def test_the_bytes_of_the_command_line(self):
        for scenario in (INCAST, SCENARIOS / "collectives/allreduce-1d.json"):
            with tempfile.TemporaryDirectory() as folder:
                command_line("run", scenario, "--set", "cc.kind=dcqcn", "--seed", "3", "--quiet", "--out", folder)
                result = cw.run(scenario, set={"cc.kind": "dcqcn"}, seed=3)
                self.assertEqual(result.files["metrics.json"], pathlib.Path(folder, "metrics.json").read_text())
                self.assertEqual((result.status, result.policy, result.seed), ("completed", "dcqcn", 3))

    def test_text_dictionary_and_file(self):
        texts = {cw.run(form).files["metrics.json"] for form in (INCAST, str(INCAST), read(INCAST), INCAST.read_text())}
        self.assertEqual(len(texts), 1)

    def test_a_hundred_runs_in_threads(self):
        policies = ["none", "dcqcn", "swift", "hpcc"]
        want = {cc: cw.run(INCAST, set={"cc.kind": cc}).files["metrics.json"] for cc in policies}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            got = list(pool.map(lambda i: cw.run(INCAST, set={"cc.kind": policies[i % 4]}).files["metrics.json"], range(100)))
        self.assertEqual(len(set(want.values())), 4)
        for i, text in enumerate(got):
            self.assertEqual(text, want[policies[i % 4]])

    def test_threads_of_the_library(self):
        scenario = SCENARIOS / "collectives/allreduce-2d-32.json"
        self.assertEqual(cw.run(scenario, threads=2).files["metrics.json"], cw.run(scenario).files["metrics.json"])

    def test_captures(self):
        with tempfile.TemporaryDirectory() as folder:
            result = cw.run(INCAST, set={"capture": [{"at": "rank8", "file": "rank8.pcap"}]}, captures=pathlib.Path(folder, "c"))
            self.assertEqual(result.errors, [])
            self.assertGreater(pathlib.Path(folder, "c/rank8.pcap").stat().st_size, 10000)


class Tables(unittest.TestCase):
    def test_rows_are_those_of_the_comparison(self):
        with tempfile.TemporaryDirectory() as folder:
            command_line("compare", INCAST, "--cc", "dcqcn", "--quiet", "--out", folder)
            want = next(csv.DictReader(io.StringIO(pathlib.Path(folder, "compare.csv").read_text())))
        row = cw.run(INCAST, set={"cc.kind": "dcqcn"}).rows[0]
        self.assertEqual(list(row), list(want))
        for key, value in want.items():
            self.assertEqual(row[key] is None, value == "", key)
            if isinstance(row[key], (int, float)):
                self.assertAlmostEqual(row[key], float(value), places=5, msg=key)

    def test_rows_of_jobs(self):
        result = cw.run(SCENARIOS / "mixed-tcp-roce.json")
        self.assertEqual([row["job"] for row in result.rows][:1], [None])
        self.assertEqual(len(result.rows), 1 + len(result.metrics.jobs))

    def test_lists_of_records(self):
        result = cw.run(INCAST, set={"cc.kind": "dcqcn"})
        self.assertLessEqual({"flows", "links", "jobs", "pfc.ports", "queues.switches"}, set(result.tables))
        flows = result.records("flows")
        self.assertEqual(len(flows), 8)
        self.assertEqual(flows[0]["time.sending_ns"], result.metrics.flows[0].time.sending_ns)
        self.assertNotIn(dict, {type(value) for row in flows for value in row.values()})
        with self.assertRaisesRegex(KeyError, "pfc.ports"):
            result.records("flow")
        with self.assertRaisesRegex(AttributeError, "sim_time_ns"):
            result.metrics.sim_time

    def test_csv_files_are_tables(self):
        result = cw.run(INCAST, set={"report.sample": "50us"})
        self.assertIn("series.csv", result.tables)
        rows = result.records("series.csv")
        self.assertTrue(rows and all(isinstance(row["t_ns"], (int, float)) for row in rows), rows[:1])

    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_frames(self):
        result = cw.run(INCAST, set={"cc.kind": "dcqcn"})
        frame = result.frame()
        self.assertEqual(frame["sim_time_ns"][0], result.sim_time_ns)
        self.assertEqual(str(frame["fct_p99_ns"].dtype), "int64")
        self.assertEqual(result.table("flows")["bytes"].sum(), 8000000)
        self.assertEqual(str(result.table("flows")["slowdown"].dtype), "float64")

    def test_without_pandas(self):
        with mock.patch.object(_tables.importlib, "import_module", side_effect=ImportError):
            with self.assertRaisesRegex(cw.Error, r"collwire\[pandas\]"):
                cw.run(INCAST).frame()

    def test_saved_and_loaded(self):
        result = cw.run(INCAST, set={"cc.kind": "swift"})
        with tempfile.TemporaryDirectory() as folder:
            result.save(folder)
            for path in (folder, pathlib.Path(folder, "metrics.json")):
                again = cw.load(path)
                self.assertEqual((again.metrics, again.policy, again.status), (result.metrics, "swift", "completed"))
            self.assertIn("swift", command_line("explain", folder) + result.policy)
            command_line("run", INCAST, "--quiet", "--out", folder)
            self.assertEqual(cw.load(folder).policy, "none")
        with self.assertRaisesRegex(cw.Error, "no results"):
            cw.load("/tmp/nowhere")
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("a.json", "{"), ("b.json", "[]"), ("c.json", '{"name": "x"}'), ("d.json", "\\udc80"), ("results.sqlite", "no" * 5000)):
                pathlib.Path(folder, name).write_text(text)
                with self.assertRaisesRegex(cw.Error, name):
                    len(cw.load(pathlib.Path(folder, name)).rows)


class Shown(unittest.TestCase):
    def test_axes_have_round_numbers_that_enclose_the_values(self):
        for values, ticks in (
            ([7.64, 7.646], [0, 2, 4, 6, 8]),
            ([0.125, 1.0], [0, 0.2, 0.4, 0.6, 0.8, 1]),
            ([-30.0, 55.0], [-40, -20, 0, 20, 40, 60]),
            ([0.0], [0, 1]),
            ([1e6, 16e6], [1e6, 2e6, 5e6, 10e6, 20e6]),
            ([3.0, 9e3], [1, 10, 100, 1000, 10000]),
        ):
            axis = _charts._Axis(values, 0, 100)
            self.assertEqual([round(tick, 9) for tick in axis.ticks], ticks)
            self.assertTrue(all(0 <= axis.at(value) <= 100 for value in values))

    def test_charts_and_reports_make_no_request(self):
        result = cw.run(INCAST, set={"cc.kind": "dcqcn"})
        page = result.report()
        self.assertIn("<html", page.html)
        self.assertIn("srcdoc=", page._repr_html_())
        for picture in (result.chart(), result.chart("slowdown"), result.chart("fct")):
            svg = picture._repr_svg_()
            self.assertTrue(svg.startswith("<svg") and svg.endswith("</svg>"))
            self.assertEqual(svg.count("http"), 1) # the name of the language
            self.assertEqual(picture._repr_html_(), svg) # nbconvert empties an SVG
        self.assertIn("<svg", result._repr_html_())
        with self.assertRaisesRegex(KeyError, "path, slowdown, fct"):
            result.chart("pie")

    def test_logging(self):
        with self.assertLogs("collwire", logging.INFO) as log:
            cw.run(INCAST)
        self.assertIn("begins", log.output[0])
        self.assertRegex(log.output[-1], r"incast: completed after .* packet-hops")

    def test_progress(self):
        seen = []
        result = cw.run(LONG, set={"workload.bytes": "16MB"}, progress=seen.append)
        self.assertTrue(result.completed)
        self.assertTrue(all(0 <= p.done <= 1 for p in seen))
        self.assertEqual([p.events for p in seen], sorted(p.events for p in seen))
        self.assertTrue(seen)


class Ended(unittest.TestCase):
    def test_control_c_within_a_second(self):
        text, seconds = interrupted(INTERRUPT, json.dumps(LONG), within=1)
        status, written, time_ns, sentences, is_interrupt = json.loads(text.splitlines()[-1])
        self.assertEqual((status, written, is_interrupt), ("interrupted", "interrupted", True))
        self.assertGreater(time_ns, 0)
        self.assertGreater(sentences, 0)
        if not SANITIZED:
            self.assertLess(seconds, 1)

    def test_cancel_from_another_thread(self):
        simulation = cw.Simulation(LONG)
        threading.Timer(0.3, simulation.cancel).start()
        begin = time.monotonic()
        result = simulation.run()
        self.assertEqual((result.status, result.metrics.status, result.completed), ("interrupted", "interrupted", False))
        self.assertLess(time.monotonic() - begin, 30 if SANITIZED else 2)
        simulation.cancel() # too late, and no error
        with self.assertRaises(ValueError):
            simulation.run()

    def test_cancel_before_the_run(self):
        with cw.Simulation(LONG) as simulation:
            simulation.cancel()
            self.assertEqual(simulation.run().status, "interrupted")

    def test_progress_ends_a_run(self):
        self.assertEqual(cw.run(LONG, progress=lambda p: False).status, "interrupted")

    def test_an_exception_in_progress(self):
        def progress(_p):
            raise RuntimeError("mine")

        with self.assertRaisesRegex(RuntimeError, "mine"):
            cw.run(LONG, progress=progress)

    def test_limits_are_incomplete(self):
        result = cw.run(INCAST, set={"limits.sim_time": "100us"})
        self.assertEqual(result.status, "incomplete")
        self.assertTrue(result.reason)


if __name__ == "__main__":
    unittest.main()
