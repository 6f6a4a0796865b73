#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures of runs of collwire, replayed: the flows of the run, and a run of them under another policy."""
import collections
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
RATE, MTU = 100e9, 1000  # of the links, and of RoCE
PACKET_NS = (1448 + 100) * 8e9 / RATE  # of the largest packet, TCP's, with all headers

SWITCH = {"dims": [{"kind": "switch", "size": 8}]}
FABRIC = {"dims": [{"kind": "leaf_spine", "size": 8, "ranks_per_leaf": 4, "spines": 2}]}
FLOWS = [{"src": i, "dst": (3 * i + 1) % 8, "bytes": size, "start": f"{start}ns"} for i, size, start in [
    (0, 1, 0), (1, 999, 100), (2, 1000, 5000), (3, 1001, 5001), (4, 123457, 20000), (5, 2_000_000, 0), (6, 64, 77777),
    (7, 30_000, 1_234_567)]]
LOSS = {"pfc": {"enabled": False}, "buffer": "200KB"}

CASES = {
    "flows": {"workload": {"kind": "flows", "flows": FLOWS}},
    "flows of some ranks": {"workload": {"kind": "flows", "flows": FLOWS[5:6]}},
    "TCP flows of some ranks": {"workload": {"kind": "flows", "flows": FLOWS[6:7]}, "transport": {"kind": "tcp"},
                                "cc": "cubic"},
    "flows over a fabric": {"workload": {"kind": "flows", "flows": FLOWS}, "topology": FABRIC,
                            "at": "leaf*"},
    "flows, losses": {"workload": {"kind": "flows", "flows": FLOWS},
                      "faults": [{"at": f"rank{r}->dim0.sw0", "one_way": True, "every": 13} for r in range(8)],
                      "drops": True},
    "flows, packets sprayed": {"workload": {"kind": "flows", "flows": FLOWS}, "topology": FABRIC,
                               "switch": {"routing": {"kind": "spray"}},
                               "transport": {"recovery": "selective_repeat", "reorder": 256},
                               "at": "rank*"},
    "incast, go-back-N": {"workload": {"kind": "incast", "receiver": 3, "bytes": "500KB"}, "switch": LOSS,
                          "waits": True, "drops": True},
    "all-reduce": {"workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB", "chunks": 4,
                                "algorithm": "halving_doubling"}, "waits": True},
    "all-to-all": {"workload": {"kind": "collective", "op": "all_to_all", "bytes": "800KB", "algorithm": "direct"},
                   "waits": True},
    "TCP flows": {"workload": {"kind": "flows", "flows": FLOWS}, "transport": {"kind": "tcp"}, "cc": "cubic"},
    "TCP flows, losses": {"workload": {"kind": "flows", "flows": FLOWS}, "transport": {"kind": "tcp"}, "cc": "cubic",
                          "faults": [{"at": "rank5->dim0.sw0", "one_way": True, "every": 50}], "drops": True},
    "TCP all-reduce": {"workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB", "algorithm": "ring"},
                       "transport": {"kind": "tcp"}, "cc": "dctcp", "waits": True},
}


def run_json(scenario, out):
    path = os.path.join(os.path.dirname(out), "scenario.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scenario, file)
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def replay(path, out):
    run = subprocess.run([COLLWIRE, "replay", path, "-o", out], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    drops = re.search(r"(\d+)  drops", run.stderr)
    with open(out, encoding="utf-8") as file:
        return [{key: int(value or 0) for key, value in row.items()} for row in csv.DictReader(io.StringIO(file.read()))], \
            int(drops[1]) if drops else 0


def key(flow):
    return flow["src"], flow["dst"], flow["bytes"]


def by_key(flows):
    grouped = collections.defaultdict(list)
    for flow in flows:
        grouped[key(flow)].append(flow)
    for group in grouped.values():
        group.sort(key=lambda flow: flow["start_ns"])
    return grouped


def compare(rows, flows, waits):
    """Bytes are exact; starts are within a packet time where messages do not wait for others at their NIC."""
    made, sent = by_key(rows), by_key(flows)
    assert collections.Counter(map(key, rows)) == collections.Counter(map(key, flows)), \
        f"{len(rows)} flows, and the run had {len(flows)}"
    first = min(flow["start_ns"] for flow in flows)
    for group in sent:
        for row, flow in zip(made[group], sent[group]):
            late = row["start_ns"] - (flow["start_ns"] - first)
            assert late >= -PACKET_NS, f"{flow}: starts {-late} ns early"
            limit = PACKET_NS if not waits else flow["fct_ns"]
            assert late <= limit, f"{flow}: starts {late} ns late"


def check(case, folder):
    at, names = case.get("at", "dim0.sw0,rank*"), ("all.pcapng.gz", "all.pcap")
    scenario = {"name": "run", "topology": case.get("topology", SWITCH), "workload": case["workload"],
                "switch": case.get("switch", {}),
                "transport": {**({} if case.get("transport", {}).get("kind") else {"mtu": f"{MTU}B"}),
                              **case.get("transport", {})},
                "cc": {"kind": case.get("cc", "none")}, "faults": case.get("faults", []),
                "capture": [{"at": at, "file": names[0]}, {"at": at, "file": names[1], "snaplen": "100B"}]}
    out = os.path.join(folder, "out")
    metrics = run_json(scenario, out)
    flows = os.path.join(folder, "flows.csv")
    rows, drops = replay(os.path.join(out, names[0]), flows)
    assert (rows, 0) == replay(os.path.join(out, names[1]), os.path.join(folder, "pcap.csv")), "pcap and pcapng differ"
    assert drops == metrics["drops"]["packets"] and (drops > 0) == case.get("drops", False), f"{drops} drops"
    compare(rows, metrics["flows"], case.get("waits", False))
    again = {"name": "again", "topology": scenario["topology"], "workload": {"kind": "flows", "file": "flows.csv"},
             "cc": {"kind": "dcqcn"}}
    result = run_json(again, os.path.join(folder, "again"))
    assert result["status"] == "completed"
    assert collections.Counter(map(key, result["flows"])) == collections.Counter(map(key, metrics["flows"]))
    for row, flow in zip(rows, sorted(result["flows"], key=lambda f: f["id"])):
        assert key(row) == key(flow) and row["start_ns"] == flow["start_ns"]
    return len(rows)


# Captures at the receivers, where the durations of messages are those of the simulation: on the same network the
# ratio is 1 but for a packet; with links of half the rate, 2.
MEASURED = {
    "one flow": ([(0, 5, "2MB")], {}, 1),
    "several flows": ([(0, 5, "2MB"), (1, 6, "300KB"), (2, 7, "1MB")], {}, 1),
    "one flow, over a fabric": ([(0, 5, "1MB")], {"topology": FABRIC}, 1),
    "one flow, TCP": ([(0, 5, "2MB")], {"transport": {"kind": "tcp"}, "cc": {"kind": "cubic"}}, 1),
    "one flow under a policy": ([(0, 5, "2MB")], {"cc": {"kind": "swift"}}, 1),
    "incast": ([(i, 5, "1MB") for i in range(4)], {}, 1),
    "links of half the rate": ([(0, 5, "2MB"), (1, 6, "1MB")], {"slower": 2}, 2),
}


def check_measured(flows, case, want, folder):
    """What a capture measures, beside what the same network, or a slower one, takes."""
    workload = {"kind": "flows", "flows": [{"src": src, "dst": dst, "bytes": size} for src, dst, size in flows]}
    base = {"name": "run", "topology": case.get("topology", SWITCH), "transport": case.get("transport", {}),
            "cc": case.get("cc", {"kind": "none"})}
    at = ",".join(f"rank{dst}" for dst in sorted({dst for _, dst, _ in flows}))
    run_json({**base, "workload": workload, "capture": [{"at": at, "file": "all.pcapng.gz"}]}, os.path.join(folder, "out"))
    rows, _ = replay(os.path.join(folder, "out", "all.pcapng.gz"), os.path.join(folder, "flows.csv"))
    assert all(row["measured_ns"] > 0 for row in rows), rows
    topology = json.loads(json.dumps(base["topology"]))
    topology["dims"][0]["link"] = {"rate": f"{100 // case.get('slower', 1)}Gbps"}
    again = {**base, "topology": topology, "workload": {"kind": "flows", "file": "flows.csv"}}
    result = run_json(again, os.path.join(folder, "again"))
    found, listed = result["flows"], sorted(rows, key=lambda row: (row["start_ns"], row["src"]))
    assert len(found) == len(rows)
    for row, flow in zip(listed, sorted(found, key=lambda flow: (flow["start_ns"], flow["src"]))):
        assert (key(row), row["measured_ns"]) == (key(flow), flow["measured_ns"]), (row, flow)
        error = abs(flow["simulated_ns"] - want * row["measured_ns"])
        limit = want * 8 * PACKET_NS + (0.02 * row["measured_ns"] if len(flows) > 3 else 0)  # incast: who is first
        assert error <= limit, f"{flow['simulated_ns']} ns, measured {row['measured_ns']} ns: off by {error}, limit {limit}"
        assert abs(flow["measured_ratio"] / (flow["simulated_ns"] / flow["measured_ns"]) - 1) < 1e-4, flow
        assert flow["simulated_ns"] < flow["delivered_ns"], flow
    check_summary(result["measured"], found, os.path.join(folder, "again"))
    return result["measured"]["ratio"]


def check_summary(summary, flows, out):
    """The sums, the percentiles, measured.csv, and what `run` prints."""
    ratios = sorted(flow["measured_ratio"] for flow in flows)
    assert summary["count"] == len(flows) and summary["ratios"]["p50"] == ratios[(len(ratios) * 50 + 99) // 100 - 1]
    assert summary["ratios"]["p99"] == summary["ratios"]["max"] == ratios[-1] and summary["ratios"]["min"] == ratios[0]
    for name in ("measured_ns", "simulated_ns"):
        assert abs(summary[name] - sum(flow[name] for flow in flows)) <= len(flows), summary
    assert abs(summary["ratio"] - summary["simulated_ns"] / summary["measured_ns"]) < 1e-4, summary
    with open(os.path.join(out, "measured.csv"), encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [(int(row["src"]), int(row["measured_ns"]), int(row["simulated_ns"])) for row in table] == \
        [(flow["src"], flow["measured_ns"], flow["simulated_ns"]) for flow in flows], table
    path = os.path.join(os.path.dirname(out), "scenario.json")
    shown = subprocess.run([COLLWIRE, "run", path, "--out", out], check=True, capture_output=True, text=True).stdout
    assert f"flow{'s' * (len(flows) > 1)} of a capture: measured" in shown and f"ratio {summary['ratio']:.2f}" in shown, shown
    assert shown.count("->rank") >= len(flows) and "simulated  ratio" in shown, shown


def check_unmeasured(folder):
    """Without the column, and for a message of one packet, there is nothing to compare."""
    for rows in ("src,dst,bytes,start_ns\n0,1,500000,0\n", "src,dst,bytes,start_ns,measured_ns\n0,1,100,0,\n0,2,5,0,0\n"):
        with open(os.path.join(folder, "flows.csv"), "w", encoding="utf-8") as file:
            file.write(rows)
        result = run_json({"name": "none", "topology": SWITCH, "workload": {"kind": "flows", "file": "flows.csv"}},
                          os.path.join(folder, "none"))
        assert "measured" not in result and all("measured_ns" not in flow for flow in result["flows"]), result
        assert not os.path.exists(os.path.join(folder, "none", "measured.csv"))


def main():
    failed = False
    for name, (flows, case, want) in MEASURED.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(f"measured, {name}: ratio {check_measured(flows, case, want, folder):.4f}")
            except (AssertionError, subprocess.CalledProcessError) as error:
                failed = True
                print(f"measured, {name}: {error}")
    with tempfile.TemporaryDirectory() as folder:
        check_unmeasured(folder)
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(f"{name}: {check(case, folder)} flows")
            except (AssertionError, subprocess.CalledProcessError) as error:
                failed = True
                print(f"{name}: {error}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
