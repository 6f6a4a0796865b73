#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Costs of network stacks on the cores of hosts (`host`) against closed forms and measured throughputs (docs/host.md).

check_host.py [--table] checks; with --table it prints the tables of the page.
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
DATA = os.path.join(ROOT, "tests", "data", "merlin", "flows.json")
SCENARIOS = os.path.join(ROOT, "scenarios", "host")
MSS = 8948
SEGMENT = 64000 // MSS * MSS  # whole packets of 64 KB
failures = []


def expect(what, ours, want, within):
    if abs(ours - want) > within * want:
        failures.append(f"{what}: {ours:.4f}, expected {want:.4f} within {within:.2%}")


def run(scenario):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenario, file)
        done = subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", os.path.join(folder, "out")],
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        with open(os.path.join(folder, "out", "metrics.json"), encoding="utf-8") as file:
            return json.load(file)


def scenario(flows=None, **keys):
    made = {"name": "host", "topology": {"dims": [{"kind": "switch", "size": 4,
                                                   "link": {"rate": "400Gbps", "delay": "1us"}}]},
            "transport": {"kind": "tcp", "mss": f"{MSS}B", "receive_window": "8MB", "connections": "established"},
            "cc": {"kind": "none"}, "switch": {"buffer": "64MB", "pfc": {"enabled": False}},
            "workload": {"kind": "flows", "flows": [{"src": a, "dst": b, "bytes": "100MB"} for a, b in flows or []]}}
    return made | keys


def rates(metrics):
    """Gb/s of each flow."""
    return [f["bytes"] * 8 / f["delivered_ns"] for f in metrics["flows"]]


# A thread handles seven packets of 8948 B at once: 1/rate of their bytes, 100 ns each, and 1 us.
COSTS = {"rate": "40Gbps", "packet": "100ns", "call": "1us", "segment": "64KB"}
CLOSED = SEGMENT * 8 / (SEGMENT * 8 / 40 + SEGMENT / MSS * 100 + 1000)


def costs(direction):
    return {f"{direction}_{key}": value for key, value in COSTS.items()}


def check_rates():
    """One core: 1 / (cost per packet / size + cost per byte); shared by two flows; two cores; one thread."""
    for direction, pairs in (("receive", [(0, 1), (2, 1)]), ("send", [(0, 1), (0, 2)])):
        host = costs(direction)
        expect(f"{direction}: one core", rates(run(scenario(pairs[:1], host=host | {"cores": 1})))[0], CLOSED, 0.002)
        for what, more, share in (("two flows share a core", {"cores": 1}, 2), ("two cores", {"cores": 2}, 1),
                                  ("one thread", {"threads": 1}, 2)):
            for rate in rates(run(scenario(pairs, host=host | more))):
                expect(f"{direction}: {what}", rate, CLOSED / share, 0.002)


def check_calls():
    """A call takes several segments of a packet each: their way through the stack counts for each, the call once. At the sender
    each message is a call of its own."""
    host = {"rate": "40Gbps", "packet": "100ns", "call": "1us", "pass": "300ns", "segment": "0B", "most": "64KB"}
    for direction in ("receive", "send"):
        want = SEGMENT * 8 / (SEGMENT * 8 / 40 + SEGMENT / MSS * (100 + 300) + 1000)
        made = scenario([(0, 1)], host={f"{direction}_{key}": value for key, value in host.items()})
        expect(f"{direction}: segments of a call", rates(run(made))[0], want, 0.003)
    made = scenario(host={"send_rate": "40Gbps", "send_call": "1us", "send_segment": "64KB"})
    made["workload"] = {"kind": "flows", "connections": "pair", "flows": [{"src": 0, "dst": 1, "bytes": "8000B"} for _ in range(2000)]}
    end = max(f["start_ns"] + f["delivered_ns"] for f in run(made)["flows"])
    expect("a call for each message", 2000 * 8000 * 8 / end, 8000 * 8 / (8000 * 8 / 40 + 1000), 0.005)


def check_peers():
    """A thread for each peer: two senders have one each; with a thread of the rank they share it."""
    host = costs("receive") | {"threads": 1}
    for owner, share in (("peer", 1), ("rank", 2)):
        for rate in rates(run(scenario([(0, 1), (2, 1)], host=host | {"threads_of": owner}))):
            expect(f"threads of a {owner}", rate, CLOSED / share, 0.002)


def check_compute():
    """A computation loses the time of its core that the stack takes, and nothing where there is a second core."""
    nodes = [{"rank": 0, "id": 1, "kind": "send", "to": 1, "bytes": "100MB"},
             {"rank": 1, "id": 1, "kind": "recv", "from": 0},
             {"rank": 1, "id": 2, "kind": "compute", "time": "10ms"}]
    times = {}
    for cores in (1, 2):
        host = costs("receive") | {"cores": cores, "compute": True}
        metrics = run(scenario(host=host, workload={"kind": "program", "nodes": nodes}))
        times[cores] = metrics["ranks"][1]["finish_ns"], metrics["ranks"][1]["compute_ns"]
    packets = -(-100_000_000 // MSS)
    stack_ns = 100_000_000 * 8 / 40 + packets * 100 + -(-packets // 7) * 1000
    expect("compute on a shared core", times[1][0], 10e6 + stack_ns, 0.002)
    expect("compute on a core of its own", times[2][1], 10e6, 1e-9)


def check_staged():
    """RDMA through memory of the host crosses the bus three times."""
    rdma = {"transport": {"kind": "roce"}, "nic": {"bus_rate": "300Gbps"}, "switch": {"buffer": "64MB"}}
    direct = rates(run(scenario([(0, 1)], **rdma)))[0]
    staged = rates(run(scenario([(0, 1)], **rdma, host={"rdma": "staged"})))[0]
    expect("bus without staging", direct, 300 * 1024 / (1024 + 4 * 24), 0.01)
    expect("bus with staging", staged, direct / 3, 0.005)


def check_linux(table):
    """Preset linux: some 42 Gb/s a core (Cai et al.), and more cores as far as the link goes."""
    host = {"preset": "linux"}
    link = {"topology": {"dims": [{"kind": "switch", "size": 9, "link": {"rate": "100Gbps", "delay": "1us"}}]},
            "cc": {"kind": "cubic"}}
    one = rates(run(scenario([(1, 0)], host=host, **link)))[0]
    expect("one core of preset linux", one, 42, 0.02)
    small = scenario([(1, 0)], host=host, **link)
    small["transport"]["mss"] = "1448B"
    rows = [("one flow, MTU 9000", one), ("one flow, MTU 1500", rates(run(small))[0])]
    for flows, cores in ((8, 1), (8, 2), (8, 4)):
        metrics = run(scenario([(1 + i, 0) for i in range(flows)], host=host | {"cores": cores}, **link))
        total = flows * 0.8 / max(f["delivered_ns"] for f in metrics["flows"]) * 1e9
        rows.append((f"{flows} flows to a host of {cores} cores", total))
        if cores < 3:
            expect(f"{flows} flows on {cores} cores", total, cores * one, 0.03)
    if table:
        for what, rate in rows:
            print(f"| {what} | {rate:.1f} |")


SOCKET_MS, SOCKET_SEEDS = 20, 40


def socket_rates(degree, seed):
    """GB/s of the flow of each sender."""
    with open(os.path.join(SCENARIOS, "socket-incast.json"), encoding="utf-8") as file:
        made = json.load(file)
    del made["$schema"]
    made |= {"seed": seed, "duration": f"{SOCKET_MS}ms"}
    made["workload"]["flows"] = [{"src": s, "dst": 0, "bytes": "125MB"} for s in range(1, degree + 1) for _ in range(8)]
    sums = {}
    for f in run(made)["flows"]:
        sums[f["src"]] = sums.get(f["src"], 0) + f["delivered_bytes"] / (SOCKET_MS * 1e6)
    return list(sums.values())


def check_merlin(table):
    """A thread for each pair of ranks: the fastest is the measured stream, the mean that of a flow in the measured incast of two.
    Higher degrees are predictions, as ranges over threads."""
    with open(DATA, encoding="utf-8") as file:
        data = json.load(file)
    fastest, mean = data["stream"]["gigabytes_per_s"], data["incast_2"]["gigabytes_per_s"] / 2
    slowest = 2 * mean - fastest
    for degree in (1, 2, 3, 4):
        drawn = [socket_rates(degree, seed) for seed in range(1, SOCKET_SEEDS + 1)]
        flows, totals = [rate for one in drawn for rate in one], sorted(sum(one) for one in drawn)
        expect(f"incast of {degree}: fastest flow", max(flows), fastest, 0.02)
        expect(f"incast of {degree}: slowest flow", min(flows), slowest, 0.02)
        # The mean of n draws of a uniform distribution has a standard deviation of its width / sqrt(12 n).
        expect(f"incast of {degree}", sum(flows) / len(flows), mean, 3 * (fastest - slowest) / (12 * len(flows)) ** 0.5 / mean)
        if table:
            low, high = totals[len(totals) // 10], totals[-1 - len(totals) // 10]
            print(f"| incast of {degree} | {sum(totals) / len(totals):.2f} | {low:.2f} to {high:.2f} |")


def message_time(kind, size):
    with open(os.path.join(SCENARIOS, "message-size.json"), encoding="utf-8") as file:
        made = json.load(file)
    del made["$schema"]
    parts = 4 if kind == "tcp4" else 1
    made["workload"]["flows"] = [{"src": 0, "dst": 1, "bytes": max(1, size // parts)} for _ in range(parts)]
    if not kind.startswith("tcp"):
        made["transport"] = {"kind": "roce", "mtu": "4096B"}
        made["switch"] = {}
        made["host"] = {"rdma": kind}
    return max(f["delivered_ns"] for f in run(made)["flows"]) / 1000


def check_sizes(table):
    """RDMA is faster for every size; four connections of TCP overtake staged RDMA for large messages only."""
    kinds, found = ("tcp", "tcp4", "staged", "direct"), {}
    for power in (6, 10, 14, 17, 20, 23, 26):
        found[1 << power] = row = [message_time(kind, 1 << power) for kind in kinds]
        if table:
            print(f"| {1 << power} B | " + " | ".join(f"{us:.1f}" for us in row) + " |")
        if not row[3] <= row[2] or not row[3] < row[0]:
            failures.append(f"{1 << power} B: RDMA is not the fastest: {row}")
    if not found[64][1] > found[64][2] or not found[1 << 26][1] < found[1 << 26][2]:
        failures.append(f"four connections and staged RDMA do not cross: {found}")


def check_off():
    """Without `host`, and with one without costs, nothing changes."""
    plain = scenario([(0, 1), (2, 1)], cc={"kind": "cubic"})
    with_host = copy.deepcopy(plain) | {"host": {"ranks": 2, "cores": 1}}
    first, second = run(plain), run(with_host)
    for metrics in (first, second):
        del metrics["scenario"]
    if first != second:
        failures.append("a host without costs changes a run")


def main():
    table = "--table" in sys.argv[1:]
    check_rates()
    check_calls()
    check_peers()
    check_compute()
    check_staged()
    check_off()
    check_linux(table)
    check_merlin(table)
    check_sizes(table)
    for failure in failures:
        print("FAILED", failure)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
