# SPDX-License-Identifier: MIT
"""Comparisons, sweeps and plans: what the command line finds; settings of policies, resuming, interruptions."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from common import INCAST, LONG, PYTHON, ROOT, SANITIZED, command_line, has, interrupted, read

import collwire as cw

POLICIES = ["none", "dcqcn:scaled{rate_ai=50Mbps}", "window{k=0.5}"]
SIZES = {"workload.bytes": ["50KB", "100KB", "200KB"]}
SLOW = {"workload.bytes": [f"{size}MB" for size in range(16, 22)]}
JOB = {"name": "job", "topology": {"dims": [
    {"kind": "switch", "size": 4, "link": {"rate": "2400Gbps", "delay": "250ns"}},
    {"kind": "leaf_spine", "size": 2, "ranks_per_leaf": 8, "spines": 8, "link": {"rate": "200Gbps"}, "trunk": {"rate": "200Gbps"}}]},
       "workload": {"kind": "llm", "layers": 4, "hidden": 256, "heads": 4, "sequence": 128, "vocabulary": 1024, "global_batch": 16,
                    "gpu": "a100"}}

COMPARE = """
import json, sys, threading, time
import collwire as cw
threading.Thread(target=lambda: (time.sleep(1.5), print("running", flush=True)), daemon=True).start()
try:
    cw.compare(json.loads(sys.argv[1]), ["none", "dcqcn", "swift", "hpcc"])
    print("completed")
except cw.Cancelled as ended:
    print(json.dumps(ended.result and [ended.result.status, len(ended.result.rows)]))
"""
SWEEP = """
import json, os, sys
import collwire as cw
out = f"{sys.argv[3]}/{os.getpid()}"
sweep = cw.sweep(json.loads(sys.argv[1]), json.loads(sys.argv[2]), out=out, jobs=1)
try:
    for point in sweep:
        print("running", flush=True)
    print("completed")
except KeyboardInterrupt: # cw.Cancelled, unless Ctrl-C came within the body of the loop
    print(json.dumps([len(sweep.points), len(cw.load(out).points)]))
"""
KILLED = """
import json, sys
import collwire as cw
sweep = cw.sweep(json.loads(sys.argv[1]), json.loads(sys.argv[2]), out=sys.argv[3], jobs=1)
for point in sweep:
    if sweep._command:
        print(sweep._command._process.pid, flush=True)
"""


def state_of(process):
    """The state of a process, "Z" = it has ended and nobody has waited for it; "" = there is none."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


class Comparisons(unittest.TestCase):
    def test_rows_and_statistics_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            command_line("compare", INCAST, "--cc", ",".join(POLICIES), "--seeds", "2", "--quiet", "--out", folder)
            found = cw.compare(INCAST, POLICIES, seeds=2)
            want = read(folder, "compare.json")
            self.assertEqual(found.document, want)
            self.assertEqual(found.names, POLICIES)
            self.assertEqual(found.best, next(r["cc"] for r in want["statistics"] if r["best"]))
            rows = list(csv.DictReader(pathlib.Path(folder, "compare.csv").read_text().splitlines()))
            self.assertEqual([str(row["sim_time_ns"]) for row in found.rows], [row["sim_time_ns"] for row in rows])
            self.assertEqual(cw.load(folder).document, want)
        self.assertEqual(found.statistics[0]["sim_time_ns.mean"], want["statistics"][0]["sim_time_ns"]["mean"])
        self.assertIn("<svg", found.chart().svg)
        self.assertIn("<table", found._repr_html_())
        self.assertIn("<html", found.report().html)

    def test_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            command_line("compare", INCAST, "--cc", "none,dcqcn", "--draws", "3", "--quiet", "--out", folder)
            found = cw.compare(INCAST, ["none", "dcqcn"], draws=3)
            want = read(folder, "compare.json")
        self.assertEqual(found.document, want)
        row = found.rows[1]
        self.assertEqual((row["draws.median"], row["draws.n"]), (want["rows"][1]["draws"]["median"], 3))
        self.assertIsNone(found.rows[0]["draws.median"])
        self.assertEqual(found.statistics[1]["draws.p90"], row["draws.p90"])
        self.assertEqual([one["moves"] for one in found.assumptions], [one["moves"] for one in want["assumptions"]])
        ratios = sorted(one["sim_time_ns.dcqcn"] / one["sim_time_ns.none"] for one in found.draws)
        self.assertAlmostEqual(ratios[1], row["draws.median"])
        self.assertIn("<table", found._repr_html_())
        with self.assertRaisesRegex(cw.ArgumentError, "draws"):
            cw.compare(INCAST, ["none", "dcqcn"], draws="3")

    def test_runs_of_a_comparison(self):
        found = cw.compare(INCAST, POLICIES, seeds=2)
        self.assertEqual(len(found.results()), 6)
        run = found.result("window{k=0.5}", seed=2)
        self.assertEqual((run.policy, run.seed), ("window{k=0.5}", 2))
        self.assertEqual(run.metrics.scenario.cc.k, 0.5)
        with self.assertRaisesRegex(KeyError, "window"):
            found.result("swift")

    def test_tables_of_all_runs(self):
        found = cw.compare(INCAST, ["none", "swift"], seeds=2)
        rows = found.records("flows")
        self.assertEqual([(row["name"], row["seed"]) for row in rows[::8]], [("none", 1), ("none", 2), ("swift", 1), ("swift", 2)])
        own = found.result("swift", seed=2).records("flows")
        self.assertEqual([row["fct_ns"] for row in rows[24:]], [row["fct_ns"] for row in own])
        path = [row for row in found.records("critical_path") if row["of"] == "slowest" and row["name"] == "swift"]
        self.assertEqual({row["critical_path.name"] for row in path if row["seed"] == 2}, {found.result("swift", 2).metrics.slowest.name})

    def test_values_of_a_key(self):
        found = cw.compare(read(INCAST), ["none"], vary={"switch.buffer": ["1MB", "4MB"]}, set={"workload.bytes": "100KB"})
        self.assertEqual([row["name"] for row in found.rows], ["1MB, none", "4MB, none"])
        self.assertEqual([row["switch.buffer_bytes"] for row in found.rows], [1000000, 4000000])
        self.assertEqual(found.result("4MB, none").metrics.scenario.switch.buffer, "4MB")

    def test_several_scenarios(self):
        other = {**read(INCAST), "name": "other"}
        found = cw.compare([INCAST, other], ["none"])
        self.assertEqual([row["scenario"] for row in found.rows], ["incast", "other"])
        self.assertEqual(found.result("none", scenario="other").name, "other")

    def test_errors(self):
        with self.assertRaises(cw.ScenarioError) as caught:
            cw.compare(INCAST, ["none", "dcqn"])
        self.assertIn("dcqn", str(caught.exception))

    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_frames(self):
        found = cw.compare(INCAST, ["none", "swift"])
        self.assertEqual(list(found.frame()["policy"]), ["none", "swift"])
        self.assertEqual(str(found.statistics_frame()["sim_time_ns.ratio"].dtype), "float64")

    def test_progress_and_control_c(self):
        seen = []
        cw.compare(INCAST, ["none", "dcqcn", "swift"], set={"workload.bytes": "20MB"}, progress=seen.append)
        self.assertTrue(all(p.total == 3 for p in seen))
        text, seconds = interrupted(COMPARE, json.dumps(LONG), within=1.5)
        self.assertIn(json.loads(text.splitlines()[-1]), (None, ["interrupted", 4]))
        if not SANITIZED:
            self.assertLess(seconds, 1.5)


class Sweeps(unittest.TestCase):
    def test_points_and_rows_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            theirs, ours = pathlib.Path(folder, "a"), pathlib.Path(folder, "b")
            command_line("sweep", INCAST, "--vary", "workload.bytes=50KB,100KB,200KB", "--cc", "none,dcqcn", "--quiet", "--out", theirs)
            sweep = cw.sweep(INCAST, SIZES, policies=["none", "dcqcn"], out=ours)
            points = list(sweep)
            self.assertEqual(sorted((p.values["workload.bytes"], p.values["policy"]) for p in points),
                             sorted((size, cc) for size in SIZES["workload.bytes"] for cc in ("none", "dcqcn")))
            self.assertEqual((theirs / "sweep.csv").read_bytes(), (ours / "sweep.csv").read_bytes())
            self.assertEqual(sweep.axes, ["workload.bytes", "policy", "seed"])
            self.assertEqual([row["workload.bytes"] for row in sweep.rows], [50000, 50000, 100000, 100000, 200000, 200000])
            for point in points: # before sweep.csv is there, a row is made from the store
                row = next(row for row in sweep.rows if all(row[axis] == point.row[axis] for axis in sweep.axes))
                self.assertEqual({key: value for key, value in point.row.items() if value is not None and key != "jain"},
                                 {key: value for key, value in row.items() if value is not None and key != "jain"})
            self.assertEqual(points[0].result().sim_time_ns, points[0].row["sim_time_ns"])
            self.assertEqual(len(cw.load(ours).points), 6)
            flows = sweep.records("flows")
            self.assertEqual(len(flows), 6 * 8)
            self.assertEqual({(row["workload.bytes"], row["bytes"]) for row in flows}, {(size, size) for size in (50000, 100000, 200000)})
            self.assertEqual(len(cw.load(ours / "results.sqlite").points), 6)
            self.assertIn("<svg", sweep.chart().svg)
            self.assertIn("<html", sweep.report().html)

    def test_units_of_axes(self):
        from collwire._tables import axis
        for given, want in ((("switch.buffer", "2MB"), ("switch.buffer_bytes", 2000000)), (("workload.bytes", "1KiB"), ("workload.bytes", 1024)),
                            (("link.delay", "1.5us"), ("link.delay_ns", 1500)), (("link.rate", "100Gbps"), ("link.rate_bps", 10**11)),
                            (("cc.kind", "none"), ("cc.kind", "none")), (("seed", 3), ("seed", 3))):
            self.assertEqual(axis(*given), want)

    def test_axes_that_advance_together(self):
        sweep = cw.sweep(INCAST, {("switch.buffer", "workload.bytes"): [("1MB", "50KB"), ("2MB", "100KB")]}).run()
        self.assertEqual([(row["switch.buffer_bytes"], row["workload.bytes"]) for row in sweep.rows], [(10**6, 50000), (2 * 10**6, 10**5)])

    def test_values_that_are_json(self):
        sweep = cw.sweep(INCAST, {"switch.ecn": [{"kmin": "10KB", "kmax": "40KB"}, "auto"]}).run()
        self.assertEqual([row["status"] for row in sweep.rows], ["completed", "completed"])

    def test_resumes(self):
        with tempfile.TemporaryDirectory() as folder:
            for point in cw.sweep(LONG, SLOW, set={"workload.algorithm": "direct"}, out=folder, jobs=1):
                break # which ends the sweep
            kept = len(cw.load(folder).points)
            self.assertGreaterEqual(kept, 1)
            self.assertLess(kept, 6)
            begin = time.monotonic()
            again = cw.sweep(LONG, SLOW, set={"workload.algorithm": "direct"}, out=folder, jobs=1)
            first = next(iter(again))
            self.assertEqual(first.row, point.row)
            if not SANITIZED:
                self.assertLess(time.monotonic() - begin, 2)

    def test_cancel_within_the_loop(self):
        sweep, seen = cw.sweep(LONG, SLOW, jobs=1), 0
        for _ in sweep:
            seen += 1
            sweep.cancel()
        self.assertLess(seen, 6)

    def test_cancel_from_another_thread(self):
        sweep = cw.sweep(LONG, SLOW, jobs=1)
        threading.Timer(0.5, sweep.cancel).start()
        self.assertLess(len(list(sweep)), 6)

    def test_control_c(self):
        with tempfile.TemporaryDirectory() as folder:
            text, seconds = interrupted(SWEEP, json.dumps(LONG), json.dumps(SLOW), folder, within=1.5)
            kept, loaded = json.loads(text.splitlines()[-1])
            self.assertGreaterEqual(kept, 1)
            self.assertLess(kept, 6)
            self.assertEqual(loaded, kept)
            if not SANITIZED:
                self.assertLess(seconds, 1.5)

    def test_the_program_ends_with_python(self):
        """SIGKILL of Python: the program and its runs end, and the store has what had ended."""
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([sys.executable, "-u", "-c", KILLED, json.dumps(LONG), json.dumps(SLOW), folder], stdout=subprocess.PIPE,
                                       text=True, env=dict(os.environ, PYTHONPATH=str(PYTHON), ASAN_OPTIONS="detect_leaks=0"))
            program = int(process.stdout.readline())
            process.kill()
            process.wait()
            process.stdout.close()
            until = time.monotonic() + (60 if SANITIZED else 15)
            while pathlib.Path(f"/proc/{program}").exists() and state_of(program) != "Z" and time.monotonic() < until:
                time.sleep(0.05)
            self.assertIn(state_of(program), ("", "Z"))
            kept = len(cw.load(folder).points)
            self.assertGreaterEqual(kept, 1)
            self.assertLess(kept, 6)

    def test_errors(self):
        with self.assertRaises(cw.ScenarioError) as caught:
            cw.sweep(INCAST, {"workload.bytes": ["1X"], "switch.bufer": ["1MB"]}).run()
        self.assertIn("bufer", str(caught.exception))

    @unittest.skipUnless(has("xarray"), "xarray is not installed")
    def test_dataset(self):
        data = cw.sweep(INCAST, SIZES, policies=["none", "dcqcn"]).run().dataset()
        self.assertEqual(dict(data.sizes), {"workload.bytes": 3, "policy": 2, "seed": 1})


class Plans(unittest.TestCase):
    def test_layouts_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "job.json")
            file.write_text(json.dumps(JOB))
            want = json.loads(command_line("plan", file, "--gpus", "8..16", "--packets-budget", "0", "--format", "json"))
        found = cw.plan(JOB, "8..16", packets_budget=0)
        self.assertEqual(found.document["plans"], want["plans"])
        self.assertEqual({row["gpus"] for row in found.rows}, {8, 16})
        self.assertEqual(len(found), len(want["plans"]))

    def test_errors(self):
        with self.assertRaises(cw.ScenarioError):
            cw.plan(INCAST, 8)


if __name__ == "__main__":
    unittest.main()
