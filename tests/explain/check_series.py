#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What explanations say of a flow agrees with its series: after the last cut the sampled rate or window is the stated
one; the time for which PFC stopped it is not more than its port was paused; and the parts of the path add up.

usage: check_reasons_series.py ROOT [all], with the executable in $COLLWIRE.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

COLLWIRE, ROOT = os.environ["COLLWIRE"], sys.argv[1]
STEP_NS = 5000
LOSSY = ["switch.pfc.enabled=false", "switch.buffer=1MB", "transport.rto=500us"]
RUNS = [("scenarios/incast.json", []), ("scenarios/collectives/rail.json", [])]
if sys.argv[2:] == ["all"]:
    RUNS += [("scenarios/dlrm/dlrm-16.json", ["workload.iterations=1"]), ("scenarios/collectives/alltoall-32.json", LOSSY),
             ("scenarios/dlrm/dlrm-64.json", [])]
UNITS = {"b/s": 1, "Kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9,
         "ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
CUT = re.compile(r"cut rank(\d+)->rank(\d+) (\d+) times? between ([\d.]+ \S+) and ([\d.]+ \S+), to ([\d.]+ [A-Za-z/]+)")


def value(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def run(path, sets, policy, folder):
    out = os.path.join(folder, "out")
    options = [word for one in [*sets, f"cc.kind={policy}", f"report.sample={STEP_NS}ns", "report.sample_at=[\"rank0\"]"]
               for word in ("--set", one)]
    done = subprocess.run([COLLWIRE, "run", os.path.join(ROOT, path), "--quiet", "--out", out, *options],
                          capture_output=True, text=True, check=False)
    if done.returncode == 2:  # a policy that needs what the scenario does not have
        return None
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def cut_differs(metrics, found):
    """None if the series do not show the flow, else what differs or "". Some sample around the last cut has the stated rate or window, within what a step changes."""
    src, dst, _, first, last, left = found.groups()
    kind = "rate_bps" if left.endswith("b/s") else "cwnd_bytes"
    step = metrics["series"]["t_ns"][1]
    at, stated = value(last), value(left)
    if value(first) > at:
        return f"first cut {first}, last {last}"
    near = []
    for flow in {f["qp"] for f in metrics["flows"] if (f["src"], f["dst"]) == (int(src), int(dst))}:
        line = metrics["series"][kind].get(str(flow))
        if line is None:
            return None  # more queue pairs than series
        lo, hi = max(0, int(at / step) - 1), int(at / step) + 3
        near += [v for v in line[lo:hi] if v is not None]
    if not near:
        return None
    if not min(near) * 0.8 <= stated <= max(near) * 1.25:
        return f"{kind} {stated:.0f} stated, sampled {near}"
    return ""


def paused_agrees(metrics):
    ports = {}
    for port in metrics["pfc"]["ports"]:
        rank = port["at"].split("->")[0]
        ports[rank] = ports.get(rank, 0) + port["paused_ns"]
    for place in metrics["slowest"]["places"]:
        if place["cause"] == "paused":
            limit = ports.get(place["at"].split("->")[0], 0)
            if place["ns"] > limit + 1000:
                return f"{place['at']} stopped for {place['ns']} ns, its ports for {limit}"
    return None


def main():
    failed, cuts, stops = 0, 0, 0
    listed = subprocess.run([COLLWIRE, "list", "cc"], capture_output=True, text=True, check=True).stdout
    policies = re.findall(r"^  ([a-z_]+) ", listed, re.M) or [w.split()[0] for w in listed.splitlines()[2:] if w]
    with tempfile.TemporaryDirectory() as folder:
        for path, sets in RUNS:
            for policy in policies:
                metrics = run(path, sets, policy, folder)
                if metrics is None or metrics["slowest"] is None:
                    continue
                slowest, wrong = metrics["slowest"], []
                if sum(slowest["parts"].values()) != slowest["total_ns"]:
                    wrong.append("parts do not add up")
                for reason in metrics["reasons"]:
                    found = CUT.search(reason["sentence"])
                    if found:
                        wrong.append(cut_differs(metrics, found))
                        cuts += wrong[-1] is not None
                stops += slowest["parts"].get("paused_ns", 0) > 0
                wrong.append(paused_agrees(metrics))
                for what in filter(None, wrong):
                    failed += 1
                    print(f"{path} {policy}: {what}")
    print(f"{cuts} cuts, {stops} paths with pauses compared")
    sys.exit(failed > 0 or cuts < 4 or stops < 3)


main()
