#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An event that never returns (spin.c): a signal, the wall limit and the watchdog end the run with its results.

usage: check_spin.py LIBRARY DATA [--long]
with the executable in $COLLWIRE. --long also waits for the watchdog's 30 s of CPU time.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.environ["COLLWIRE"]
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print(f"failed: {what}", file=sys.stderr)


def started(tmp, name, *options):
    environment = dict(os.environ, LD_PRELOAD=sys.argv[1], SPIN_AFTER="500")
    return subprocess.Popen([COLLWIRE, "run", os.path.join(sys.argv[2], "spin.json"), "--out", os.path.join(tmp, name),
                             *options], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check(tmp, name, process, code, status, seconds):
    began = time.time()
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        expect(False, f"{name}: does not end within {seconds} s")
        return
    expect(process.returncode == code, f"{name}: {process.returncode} after {time.time() - began:.1f} s, {stderr!r}")
    if status is None:
        expect(not os.path.exists(os.path.join(tmp, name, "metrics.json")), f"{name}: nothing is written")
        expect("has not returned" in stderr and "nothing was written" in stderr, f"{name}: {stderr!r}")
        return
    with open(os.path.join(tmp, name, "metrics.json"), encoding="utf-8") as f:
        metrics = json.load(f)
    expect(metrics["status"] == status[0], f"{name}: {metrics['status']}")
    expect(status[1] in (metrics.get("reason") or ""), f"{name}: {metrics.get('reason')!r}")
    expect(metrics["flows_summary"]["count"] > 0 and metrics["sim_time_ns"] > 0, f"{name}: results so far")
    expect(status[0] in stdout, f"{name}: {stdout!r}")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        process = started(tmp, "signal")
        time.sleep(1.5)
        process.send_signal(signal.SIGTERM)
        check(tmp, "signal", process, 130, ("interrupted", ""), 30)
        process = started(tmp, "wall", "--set", "limits.wall=1s")
        check(tmp, "wall", process, 1, ("incomplete", "wall clock limit"), 30)
        if "--long" in sys.argv:
            process = started(tmp, "watchdog")
            check(tmp, "watchdog", process, 1, ("incomplete", "an event has not returned"), 250)
    print("failed" if failures else "all as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
