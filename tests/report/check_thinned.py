#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Series that would be too large: ports are kept before flows, and metrics.json, the summary and the page say what
was left out.

- Many short flows: the ports have every sample, and those that are kept are the values of a run with fewer samples.
- Few flows and many samples: the step doubles.
- Series that are as wanted say nothing.

usage: check_thinned.py ROOT, with the executable in $COLLWIRE.
"""
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE, ROOT = os.path.abspath(os.environ["COLLWIRE"]), os.path.abspath(sys.argv[1])
LEAF = {"kind": "leaf_spine", "size": 64, "ranks_per_leaf": 16, "spines": 1, "trunks": 4,
        "link": {"rate": "25Gbps", "delay": "1.1us"}, "trunk": {"rate": "100Gbps", "delay": "750ns"}}
# Messages of a web search over a leaf-spine fabric, a queue pair each
MANY = {"name": "many", "topology": {"dims": [LEAF]}, "cc": {"kind": "hpcc", "preset": "hpcc_sim"},
        "transport": {"mtu": "1000B", "qp": "per_message"},
        "workload": [{"kind": "poisson", "cdf": os.path.join(ROOT, "scenarios/cdf/websearch.txt"), "load": 0.5,
                      "duration": "6ms"}],
        "report": {"flows_max": 200000, "sample": "5us", "sample_at": ["leaf*->rank*"]}}
FEW = {"name": "few", "topology": {"dims": [{"kind": "switch", "size": 3}]},
       "workload": {"kind": "incast", "receiver": 2, "bytes": "2MB"}, "report": {"sample": "1ns"}}
LIMIT = 2000000  # SERIES_MAX_VALUES


def run(scenario, folder, *words):
    out = os.path.join(folder, scenario["name"] + "".join(words))
    done = subprocess.run([COLLWIRE, "run", "-", "--out", out, *words], input=json.dumps(scenario), text=True,
                          capture_output=True, timeout=200, check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file), " ".join(done.stdout.split()), out


def values(series):
    lines = [*series["queue_bytes"].values(), *series["paused"].values(), *series["rate_bps"].values(),
             *series["cwnd_bytes"].values(), *[line for pair in series["observe"].values() for line in pair.values()]]
    return sum(map(len, lines)) + len(series["t_ns"])


def page(out):
    template = os.path.join(ROOT, "report/web/built")
    subprocess.run([COLLWIRE, "report", out], check=True, capture_output=True, timeout=100,
                   env=dict(os.environ, COLLWIRE_SHARE=template))
    with open(os.path.join(out, "report.html"), encoding="utf-8") as file:
        return file.read()


def check_many(folder):
    metrics, summary, _ = run(MANY, folder)
    series, thinned = metrics["series"], metrics["thinned"]
    times = series["t_ns"]
    assert times == list(range(0, 5000 * len(times), 5000)) and times[-1] > metrics["sim_time_ns"] - 5000, times[-2:]
    assert thinned["step_ns"] == thinned["asked_ns"] == 5000, thinned
    assert thinned["queue_pairs"] == metrics["flows_summary"]["count"], thinned
    assert thinned["queue_pairs"] - thinned["queue_pairs_left_out"] == len(series["rate_bps"]) > 0, thinned
    assert len(series["queue_bytes"]) == 64 and values(series) <= LIMIT, values(series)
    words = f"series leave out {thinned['queue_pairs_left_out']} of {thinned['queue_pairs']} queue pairs"
    assert words in summary, summary
    coarse = run(dict(MANY, name="coarse", report=dict(MANY["report"], sample="160us")), folder)[0]
    assert "thinned" not in coarse and len(coarse["series"]["rate_bps"]) > len(series["rate_bps"])
    for place, line in coarse["series"]["queue_bytes"].items():
        assert series["queue_bytes"][place][::32] == line[:len(times[::32])], place
    for pair, line in series["rate_bps"].items():
        assert line[::32] == coarse["series"]["rate_bps"][pair][:len(times[::32])], pair


def check_few(folder):
    metrics, summary, out = run(FEW, folder)
    series, thinned = metrics["series"], metrics["thinned"]
    step = series["t_ns"][1]
    assert thinned == {"asked_ns": 1, "step_ns": step, "queue_pairs": 2, "queue_pairs_left_out": 0}, thinned
    assert step > 1 and LIMIT / 2.1 < values(series) <= LIMIT, (step, values(series))
    assert len(series["rate_bps"]) == 2, series["rate_bps"].keys()
    words = f"series are of every {step}.00 ns, not of every 1.00 ns: fewer places (report.sample_at), or a longer report.sample"
    assert words in summary, summary
    assert words.partition(":")[0] in page(out)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_many(folder)
        check_few(folder)
        metrics, summary, _ = run(dict(FEW, name="whole", report={"sample": "1us"}), folder)
        assert "thinned" not in metrics and "series" not in summary, summary
    print("ok")


if __name__ == "__main__":
    main()
