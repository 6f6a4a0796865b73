#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures of runs of collwire, replayed: the flows of the run, and a run of them under another policy."""
import collections
import csv
import io
import json
import os
import struct
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
    "flows over a fabric": {"workload": {"kind": "flows", "flows": FLOWS}, "topology": FABRIC,
                            "places": ["leaf0", "leaf1"]},
    "flows, losses": {"workload": {"kind": "flows", "flows": FLOWS},
                      "faults": [{"at": f"rank{r}->dim0.sw0", "one_way": True, "every": 13} for r in range(8)]},
    "flows, packets sprayed": {"workload": {"kind": "flows", "flows": FLOWS}, "topology": FABRIC,
                               "switch": {"routing": {"kind": "spray"}},
                               "transport": {"recovery": "selective_repeat", "reorder": 256},
                               "places": ["rank0", "rank1", "rank2", "rank3", "rank4", "rank5", "rank6", "rank7"]},
    "incast, go-back-N": {"workload": {"kind": "incast", "receiver": 3, "bytes": "500KB"}, "switch": LOSS,
                          "waits": True},
    "all-reduce": {"workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB", "chunks": 4,
                                "algorithm": "halving_doubling"}, "waits": True},
    "all-to-all": {"workload": {"kind": "collective", "op": "all_to_all", "bytes": "800KB", "algorithm": "direct"},
                   "waits": True},
    "TCP flows": {"workload": {"kind": "flows", "flows": FLOWS}, "transport": {"kind": "tcp"}, "cc": "cubic"},
    "TCP flows, losses": {"workload": {"kind": "flows", "flows": FLOWS}, "transport": {"kind": "tcp"}, "cc": "cubic",
                          "faults": [{"at": "rank5->dim0.sw0", "one_way": True, "every": 50}]},
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


def merged(paths):
    """One pcap of several, in the order of time."""
    records = []
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        head, at = data[:24], 24
        while at < len(data):
            s, ns, kept, _ = struct.unpack_from("<IIII", data, at)
            records.append((s, ns, data[at:at + 16 + kept]))
            at += 16 + kept
    records.sort(key=lambda record: record[:2])
    return head + b"".join(record[2] for record in records)


def replay(path, out):
    run = subprocess.run([COLLWIRE, "replay", path, "-o", out], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    with open(out, encoding="utf-8") as file:
        return [{key: int(value) for key, value in row.items()} for row in csv.DictReader(io.StringIO(file.read()))]


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
    places = case.get("places", ["dim0.sw0"])
    scenario = {"name": "run", "topology": case.get("topology", SWITCH), "workload": case["workload"],
                "switch": case.get("switch", {}),
                "transport": {**({} if case.get("transport", {}).get("kind") else {"mtu": f"{MTU}B"}),
                              **case.get("transport", {})},
                "cc": {"kind": case.get("cc", "none")}, "faults": case.get("faults", []),
                "capture": [{"at": at, "file": f"{i}.pcap", "snaplen": "128B"} for i, at in enumerate(places)]}
    out = os.path.join(folder, "out")
    metrics = run_json(scenario, out)
    path, flows = os.path.join(folder, "all.pcap"), os.path.join(folder, "flows.csv")
    with open(path, "wb") as file:
        file.write(merged([os.path.join(out, f"{i}.pcap") for i in range(len(places))]))
    rows = replay(path, flows)
    compare(rows, metrics["flows"], case.get("waits", False))
    again = {"name": "again", "topology": scenario["topology"], "workload": {"kind": "flows", "file": "flows.csv"},
             "cc": {"kind": "dcqcn"}}
    result = run_json(again, os.path.join(folder, "again"))
    assert result["status"] == "completed"
    assert collections.Counter(map(key, result["flows"])) == collections.Counter(map(key, metrics["flows"]))
    for row, flow in zip(rows, sorted(result["flows"], key=lambda f: f["id"])):
        assert key(row) == key(flow) and row["start_ns"] == flow["start_ns"]
    return len(rows)


def main():
    failed = False
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
