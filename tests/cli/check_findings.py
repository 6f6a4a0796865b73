#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scenarios that once crashed, hung or gave wrong figures: what each must do now.

usage: check_findings.py FINDINGS, a folder of scenarios, with the executable in $COLLWIRE.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.environ["COLLWIRE"]
FINDINGS = sys.argv[1]
SANITIZED = os.environ.get("COLLWIRE_SANITIZED") == "ON"  # such a build needs terabytes of addresses
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def path(name):
    return os.path.join(FINDINGS, name)


def run(name, out, *args):
    done = subprocess.run([COLLWIRE, "run", path(name), "--out", out, "--quiet", *args],
                          capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stderr


def metrics(out):
    with open(os.path.join(out, "metrics.json"), "rb") as f:
        return f.read()


def both_engines(tmp, name, code, *args):
    """Exit `code` (None = 0 or 1), and the same bytes from the reference engine."""
    fast, plain = os.path.join(tmp, name), os.path.join(tmp, name + "-plain")
    for out, more in ((fast, ()), (plain, ("--plain",))):
        got, stderr = run(name, out, *args, *more)
        expect(got == code or (code is None and got in (0, 1)), f"{name} {more}: exit {got}, {stderr!r}")
    if not failures:
        expect(metrics(fast) == metrics(plain), f"{name} {args}: the reference engine differs")
        return json.loads(metrics(fast))
    return None


def crashes(tmp):
    """Each ended with a signal although `validate` called it valid."""
    for name in ("segv_planes_shared_nic.json", "seg.json", "event_past.json", "case6873.json",
                 "router_at2.json", "plain_differs_zero_wire.json"):
        both_engines(tmp, name, 0)
    both_engines(tmp, "event_past2.json", 1)  # messages fail past their last retry, as they should
    m = both_engines(tmp, "router_at.json", 1)
    if m:
        expect(m["status"] == "incomplete" and m["reason"], "router_at.json ends with a reason")
    for name in ("poisson_unjoined.json", "case6974.json"):
        code, stderr = run(name, os.path.join(tmp, "none"))
        expect(code == 2 and "no dimension joins rank" in stderr, f"{name}: {code}, {stderr!r}")


def link_comes_back(tmp):
    """A queue pair that was opened while its rank was cut off finds its port later, and not by a
    neighbour that is not on the way: the message is late by a retransmission timer at most."""
    m = both_engines(tmp, "router_at2.json", 0)
    if m:
        flow = m["flows"][0]
        rto_ns, up_ns = 67.1e6, 1e6
        expect(flow["status"] == "completed" and up_ns < flow["fct_ns"] < up_ns + rto_ns + 1e5,
               f"router_at2: {flow}")


def event_limit(tmp):
    """limits.events counts what both engines have in common, so both end at the same time."""
    for events in (1, 100, 1000, 12345):
        for name in ("seg.json", "event_past.json", "two_runs.json"):
            both_engines(tmp, name, None, "--set", f"limits.events={events}", "--set", "capture=[]")


def samples_are_no_events(tmp):
    """limits.events ends a run at the same time with and without samples, at the end of an instant."""
    for events in (1, 10, 1000, 12345):
        texts = []
        for sample in ("0ns", "1ns", "777ns"):
            out = os.path.join(tmp, "events")
            code, stderr = run("two_runs.json", out, "--set", f"limits.events={events}", "--set",
                               "capture=[]", "--set", f"report.sample={sample}")
            expect(code == 1, f"limits.events {events}, report.sample {sample}: {code}, {stderr!r}")
            m = json.loads(metrics(out))
            texts.append(json.dumps({k: v for k, v in m.items() if k not in ("scenario", "series")}))
        expect(len(set(texts)) == 1, f"limits.events {events}: samples change the metrics")


def last_event_ends_the_work(tmp):
    """A run whose work is done by the last event that limits.events allows is completed."""
    scenario = os.path.join(tmp, "last.json")
    with open(scenario, "w", encoding="utf-8") as f:
        json.dump({"name": "last", "topology": {"dims": [{"kind": "switch", "size": 1}]},
                   "workload": {"kind": "collective", "op": "barrier", "start": "1us"}}, f)
    both_engines(tmp, scenario, 0, "--set", "limits.events=1")


def sampling_is_bounded(tmp):
    """2 million values at most, whatever the step: every other sample is dropped as often as needed."""
    for name, step in (("sampling_explosion.json", None), ("two_runs.json", "1ps")):
        out = os.path.join(tmp, "sampled")
        args = ["--set", f"report.sample={step}"] if step else []
        began = time.time()
        code, stderr = run(name, out, *args)
        expect(code == 0 and time.time() - began < 60, f"{name}: {code}, {stderr!r}")
        series = json.loads(metrics(out))["series"]
        lines = [line for group in ("queue_bytes", "rate_bps", "cwnd_bytes", "paused")
                 for line in series[group].values()]
        lines += [line for flow in series["observe"].values() for line in flow.values()]
        n, t = len(series["t_ns"]), series["t_ns"]
        expect(all(len(line) == n for line in lines), f"{name}: series of equal length")
        expect(0 < n * len(lines) <= 2000000, f"{name}: {n} samples of {len(lines)} values")
        expect(t[0] == 0 and all(abs(t[k] - k * t[1]) <= k for k in range(n)),
               f"{name}: equal steps from 0")


        for part in (crashes, link_comes_back, event_limit, samples_are_no_events,
                     last_event_ends_the_work, sampling_is_bounded, samples_of_nothing,
                     late_flow_is_null, flow_file_blanks, fifos, long_validation, memory,
                     memory_ends, escaped):
            part(tmp)
    print("failed" if failures else "all as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
