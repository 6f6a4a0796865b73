# SPDX-License-Identifier: MIT
"""Tests the conclusions of studies/training-policy/README.md with one or two seeds each: their signs, not their figures.

Usage: check_training_policy.py [ROOT OF THE PROJECT]      COLLWIRE is the binary.
"""
import importlib.util
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
BINARY = pathlib.Path(os.environ.get("COLLWIRE", "collwire")).resolve()
SPEC = importlib.util.spec_from_file_location("study", ROOT / "studies/training-policy/run.py")
study = importlib.util.module_from_spec(SPEC)
sys.path.insert(0, str(ROOT / "studies"))
SPEC.loader.exec_module(study)
failures = []


def result(scenario, way, seed=1, extra=()):
    with tempfile.TemporaryDirectory() as folder:
        return study.runner.execute(BINARY, study.run(scenario, [*study.WAYS[way], *extra], seed), study.summary, folder)


def claim(what, holds, seen):
    print(f"{'ok  ' if holds else 'FAIL'} {what}: {seen}")
    if not holds:
        failures.append(what)


def queues():
    for scenario, share in (("incast", 8), ("alltoall", 4), ("degraded", 6)):
        ours = result(scenario, "tally")
        for way in ("window", "hpcc", "swift"):
            other = result(scenario, way)
            claim(f"{scenario}: the largest queue is below 1/{share} of that under {way}", share * ours["queue"] < other["queue"],
                  f"{ours['queue']} B, {other['queue']} B")
        claim(f"{scenario}: no pause", ours["paused_ns"] == 0, ours["paused_ns"])


def times():
    for scenario, least, most in (("llm", 0, 0.75), ("lossy", 0, 0.95), ("allreduce-1d", 0.99, 1.01), ("incast", 1, 1.15),
                                  ("allreduce-tree", 1, 1.2)):
        ratio = result(scenario, "tally")["time_ns"] / result(scenario, "window")["time_ns"]
        claim(f"{scenario}: time by that of window from {least} to {most}", least <= ratio <= most, f"{ratio:.3f}")
    for scenario in ("two-jobs", "llm"):
        claim(f"{scenario}: spraying is faster", result(scenario, "uec")["time_ns"] < result(scenario, "tally")["time_ns"], "uec, tally")


def hints():
    exact = result("incast", "tally")
    for error in ("10 %", "25 %", "50 %"):
        wrong = result("incast", "tally", extra=study.ERRORS[error])
        claim(f"incast, counts wrong by up to {error}: time and queue within a tenth and a quarter",
              abs(wrong["time_ns"] / exact["time_ns"] - 1) < 0.1 and abs(wrong["queue"] / exact["queue"] - 1) < 0.25,
              f"{wrong['time_ns'] / exact['time_ns']:.3f}, {wrong['queue'] / exact['queue']:.3f}")
    missing = result("incast", "no hints")
    claim("incast, no hints: as fast, with ten times the queue",
          missing["time_ns"] <= exact["time_ns"] and missing["queue"] > 10 * exact["queue"], f"{missing['queue']} B")
    ours, paths = result("llm", "tally"), result("llm", "no paths")
    claim("llm: the gain is that of paths", ours["time_ns"] < 0.75 * paths["time_ns"], f"{ours['time_ns'] / paths['time_ns']:.3f}")


queues()
times()
hints()
sys.exit(len(failures) > 0)
