#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measured behaviour of NICs and switches under congestion beside the simulator: docs/congestion.md.

usage: check_congestion.py ROOT short|long|write        the executable is in $COLLWIRE

tests/data/congestion/values.csv has the values of eleven public sources. Each case below is the scenario of a configuration, made from what
its source tells and the shipped defaults; nothing is chosen to make a row fit. The scenarios, the tests of order and what is not modelled were
committed before the runs of the page. short runs the cases that take little time and compares their rows with the page; long runs all; write
writes the page.
"""
import collections
import csv
import json
import multiprocessing
import os
import statistics
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import congestion_page as page  # noqa: E402

KIB, MIB = 1 << 10, 1 << 20
SEEDS = (1, 2, 3)
NIC_DCQCN = {"kind": "dcqcn", "preset": "nic"}
LOSSY = {"pfc": {"enabled": False}}


# ---- running ----

def run(scenario, seed=1, until_ms=None, files=None, captures=None):
    """The metrics of a run, and what `captures` (file of the capture: function of its path) make of it."""
    scenario = {"name": "congestion", **scenario, "seed": seed}
    if until_ms is not None:
        scenario["duration"] = f"{until_ms}ms"
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {**(files or {}), "scenario.json": scenario}.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                json.dump(content, file)
        done = subprocess.run([os.environ["COLLWIRE"], "run", os.path.join(folder, "scenario.json"), "--quiet", "--out",
                               os.path.join(folder, "out")], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        with open(os.path.join(folder, "out", "metrics.json"), encoding="utf-8") as file:
            metrics = json.load(file)
        read = {name: reader(os.path.join(folder, "out", name)) for name, reader in (captures or {}).items()}
    return (metrics, read) if captures else metrics


def window(scenario, from_ms, to_ms, seed=1, files=None):
    """Two runs of the same seed, of which the second goes on: what happens between is their difference."""
    return tuple(run(scenario, seed, ms, files) for ms in (from_ms, to_ms))


def gain(pair, value):
    return value(pair[1]) - value(pair[0])


def goodput(pair, job=None):
    """Gb/s of payload delivered in a window, of one job or of all."""
    def delivered(metrics):
        return sum(f["delivered_bytes"] for f in metrics["flows"] if job is None or f["job"] == job)
    return gain(pair, delivered) * 8 / gain(pair, lambda m: m["sim_time_ns"])


def packets_sent(metrics, job=None):
    return sum(f["packets"] for f in metrics["flows"] if job is None or f["job"] == job)


def one_switch(ranks, rate, delay=None):
    link = {"rate": f"{rate}Gbps"} | ({"delay": delay} if delay else {})
    return {"dims": [{"kind": "switch", "size": ranks, "link": link}]}


def flows(pairs, size, **keys):
    return {"kind": "flows", "flows": [{"src": a, "dst": b, "bytes": size} for a, b in pairs], **keys}


# ---- sonic25347, sonic23240 ----

SONIC_MS = (10, 20)


def sonic_scenario(topology, jobs):
    return {"topology": topology,
            "switch": {"buffer": "62.8MB", "lossy_alpha": 1, "pfc": {"alpha": 1}, "ecn": {"enabled": False},
                       "classes": {"3": {"weight": 20, "lossless": True}, "4": {"weight": 10, "lossless": True},
                                   "0": {"weight": 10}, "1": {"weight": 10}}},
            "transport": {"kind": "roce", "rto": "5s", "retry_limit": 254, "ack_class": "control"}, "cc": {"kind": "none"},
            "workload": jobs, "limits": {"stall": "100s"}, "report": {"flows_max": 1000000},
            "capture": [{"at": "rank0,rank1,rank2", "file": "sent.pcap", "snaplen": "54B"},
                        {"at": "rank3", "file": "arrived.pcap", "snaplen": "54B"}]}


def frames(path):
    """Data frames of a capture: (time in ns, source, class, PSN and destination queue pair, frame bytes, whether it arrives at rank 3)."""
    with open(path, "rb") as file:
        raw = file.read()
    assert struct.unpack_from("<I", raw)[0] == 0xa1b23c4d, "nanoseconds"
    at = 24
    while at < len(raw):
        second, nano, kept, size = struct.unpack_from("<IIII", raw, at)
        frame = raw[at + 16:at + 16 + kept]
        at += 16 + kept
        if len(frame) >= 54 and frame[12:14] == b"\x08\0" and frame[23] == 17 and frame[42] < 0x10:  # RC data, neither ACK nor CNP
            yield second * 10**9 + nano, frame[26:30], frame[15] >> 2, frame[47:54], size


def latencies(sent, arrived):
    """By source and DSCP: frames sent and received in the window, bytes received, and latencies, in us, in the window and in all.

    Queues are first in, first out: a frame that was sent twice has arrived as the first of the two that was not sent before the last match.
    """
    found = collections.defaultdict(lambda: {"sent": 0, "received": 0, "bytes": 0, "late": [], "all": [], "match": 0, "times": {}})
    for time, source, dscp, key, _ in sent:
        flow = found[source, dscp]
        flow["times"].setdefault(key, collections.deque()).append(time)
        flow["sent"] += SONIC_MS[0] * 1e6 <= time < SONIC_MS[1] * 1e6
    for time, source, dscp, key, size in arrived:
        flow = found[source, dscp]
        while flow["times"][key][0] < flow["match"]:
            flow["times"][key].popleft()
        flow["match"] = flow["times"][key].popleft()
        flow["all"].append((time - flow["match"]) / 1e3)
        if SONIC_MS[0] * 1e6 <= time < SONIC_MS[1] * 1e6:
            flow["received"] += 1
            flow["bytes"] += size + 4  # captures leave out the FCS
            flow["late"].append((time - flow["match"]) / 1e3)
    return found


SONIC_CAPTURES = {"sent.pcap": lambda path: list(frames(path)), "arrived.pcap": lambda path: list(frames(path))}


def sonic(case):
    """Three senders into one port of 400 Gb/s: two lossless flows, and two lossy ones that share a sender."""
    second = {"same": (4, 128 * KIB), "mixed": (4, 4 * KIB), "single": (3, 128 * KIB)}[case]
    plan = [(0, 3, 128 * KIB), (1, *second), (2, 0, 128 * KIB), (2, 1, 128 * KIB)]
    jobs = [flows([(rank, 3)] * (8000 if size > 4 * KIB else 60000), size, **{"class": number, "connections": "pair"})
            for rank, number, size in plan]
    metrics, read = run(sonic_scenario(one_switch(4, 400), jobs), 1, SONIC_MS[1], captures=SONIC_CAPTURES)
    found = latencies(read["sent.pcap"], read["arrived.pcap"])
    dscp = {3: 26, 4: 32, 0: 0, 1: 8}
    hosts = sorted({source for source, _ in found})
    of = [found[hosts[rank], dscp[number]] for rank, number, _ in plan]
    seconds = (SONIC_MS[1] - SONIC_MS[0]) / 1e3
    return {"rates": [f["bytes"] * 8 / 1e9 / seconds for f in of], "shares": [f["bytes"] / sum(g["bytes"] for g in of) for f in of],
            "mean": [statistics.fmean(f["late"]) for f in of], "min": [min(f["all"]) for f in of], "max": [max(f["all"]) for f in of],
            "loss": [1 - f["received"] / f["sent"] for f in of], "lossless": metrics["drops"]["by_reason"]["headroom"],
            "completed": sum(f["status"] == "completed" for f in metrics["flows"] if f["job"] == 2)}


def case_sonic_same():
    made = sonic("same")
    return {f"sonic25347-00{n + 1}": made["rates"][n] for n in range(4)}


def case_sonic_mixed():
    made = sonic("mixed")
    rows = {f"sonic25347-{5 + n:03d}": made["shares"][n] for n in range(4)}
    for first, what in ((9, "mean"), (13, "min"), (17, "max")):
        rows |= {f"sonic25347-{first + n:03d}": made[what][n] for n in range(4)}
    return rows | {"sonic25347-021": made["lossless"], "sonic25347-022": made["loss"][2], "sonic25347-023": made["completed"]}


def case_sonic_single():
    made = sonic("single")
    rows = {}
    for first, what in ((24, "mean"), (28, "max")):
        rows |= {f"sonic25347-{first + n:03d}": made[what][n] for n in range(4)}
    return rows | {"sonic25347-032": made["rates"][0], "sonic25347-033": made["loss"][2]}


def idle_ns(topology, **switch):
    """Mean time of frames through an empty switch, last bit to last bit."""
    scenario = sonic_scenario(topology, [flows([(0, 3)], 128 * KIB, **{"class": 3})])
    scenario["switch"] |= switch
    _, read = run(scenario, captures=SONIC_CAPTURES)
    (flow,) = latencies(read["sent.pcap"], read["arrived.pcap"]).values()
    return statistics.fmean(flow["all"]) * 1e3


def case_sonic_idle():
    """Two pairs both ways, each at the line rate in one flow or in two: six flows, none of which waits."""
    return {f"sonic23240-00{n + 1}": idle_ns(one_switch(4, 400)) for n in range(6)}


def case_sonic_bench():
    """Not a prediction: cables of 2 m, and the words of docs/switches.md for a switch of 400 Gb/s."""
    topology = one_switch(4, 400, "10ns")
    topology["dims"][0]["link"]["fec"] = "rs544"
    return {"bench": idle_ns(topology, latency="fabric_2026")}


# ---- simllm_cx5 ----

def cx5(qps, senders=2):
    return {"topology": one_switch(senders + 1, 100, "515ns"), "nic": "connectx5", "cc": NIC_DCQCN,
            "switch": {**LOSSY, "ecn": {"enabled": False}, "queue_limit": {"bytes": "5.2MB"}},
            "transport": {"kind": "roce", "rto": "67109us"},
            "workload": flows([(rank, senders) for rank in range(senders) for _ in range(qps)], "10GB")}


def case_cx5_incast():
    pairs = [window(cx5(1), 10, 60, seed) for seed in SEEDS]
    mean = statistics.fmean
    return {"simllm_cx5-001": mean(goodput(pair) for pair in pairs),
            "simllm_cx5-002": mean(100 * gain(pair, lambda m: m["drops"]["packets"]) / gain(pair, packets_sent) for pair in pairs),
            "simllm_cx5-004": mean(gain(pair, lambda m: m["cnps"]) / 2 / 0.05 for pair in pairs)}


def counted(path):
    """Data packets by source and destination queue pair."""
    found = collections.Counter()
    for _, source, _, key, _ in frames(path):
        found[source, key[:3]] += 1
    return found


def case_cx5_streams():
    """Eight queue pairs of two senders: losses of each, counted where they leave and where they arrive."""
    spread, even = [], []
    for seed in SEEDS:
        scenario = cx5(4)
        scenario["capture"] = [{"at": "rank0,rank1", "file": "sent.pcap", "snaplen": "54B"},
                               {"at": "rank2", "file": "arrived.pcap", "snaplen": "54B"}]
        _, read = run(scenario, seed, 60, captures={"sent.pcap": counted, "arrived.pcap": counted})
        lost = [1 - read["arrived.pcap"][key] / count for key, count in read["sent.pcap"].items()]
        assert len(lost) == 8
        spread.append(100 * (max(lost) - min(lost)))
        even.append(max(abs(one / statistics.fmean(lost) - 1) for one in lost) <= 0.15)
    return {"simllm_cx5-003": statistics.fmean(spread), "order-4": all(even)}


def case_cx5_alone():
    pair = window(cx5(1, 1), 10, 60)
    return {"simllm_cx5-005": 100 * gain(pair, lambda m: m["drops"]["packets"]) / gain(pair, packets_sent)}


# ---- hpft_lab ----

RDMA, TCP = {"kind": "roce", "mtu": "1024B"}, {"kind": "tcp"}
SR = {"recovery": "selective_repeat"}


def lab(meters, roce, dcqcn, switch, classes):
    """Four functions of a sender, 20 Gb/s each, to four of a receiver of 100 Gb/s, through one metered port: 16 RDMA flows and 16 of TCP."""
    delay = "6667ns"  # three links each way: 40 us there and back
    network = {"switches": 2, "links": [{"a": f"rank{n}", "b": "sw0", "rate": "20Gbps"} for n in range(4)] +
               [{"a": f"rank{n}", "b": "sw1"} for n in range(4, 8)] + [{"a": "sw0", "b": "sw1"}]}
    pairs = [(n, n + 4) for n in range(4) for _ in range(4)]
    scenario = {"topology": {"dims": [{"kind": "graph", "size": 8, "file": "net.json", "link": {"rate": "100Gbps", "delay": delay}}]},
                "switch": switch, "meters": [{"at": "dim0.sw0->dim0.sw1", **m} for m in meters], "nic": "bluefield3", "transport": [{**RDMA, **roce}, TCP],
                "cc": [{"transport": "roce", **NIC_DCQCN, **dcqcn}, {"transport": "tcp", "kind": "cubic"}],
                "workload": [flows(pairs, "100GB", transport="roce", **{"class": classes[0]}),
                             flows(pairs, "100GB", transport="tcp", **{"class": classes[1]})]}
    return scenario, {"net.json": network}


def policer(roce):
    """A meter that drops what is beyond the rate that passes it, 21 Gb/s, with the burst that ships."""
    scenario, files = lab([{"rate": "21Gbps"}], roce, {}, {**LOSSY, "ecn": {"enabled": False}}, (0, 0))
    rdma, tcp, lost = [], [], []
    for seed in SEEDS:
        pair = window(scenario, 500, 1500, seed, files)
        rdma.append(goodput(pair, 0))
        tcp.append(goodput(pair, 1))
        some = {"filter": "udp dst port 4791", "snaplen": "54B", "from": "500ms", "to": "600ms"}
        taken = [{"at": "rank0,rank1,rank2,rank3", "file": "sent.pcap", **some}, {"at": "rank4,rank5,rank6,rank7", "file": "arrived.pcap", **some}]
        _, read = run({**scenario, "capture": taken}, seed, 600, files, {"sent.pcap": counted, "arrived.pcap": counted})
        lost.append(100 - 100 * sum(read["arrived.pcap"].values()) / sum(read["sent.pcap"].values()))
    return [statistics.fmean(values) for values in (rdma, tcp, lost)]


def case_hpft_policer():
    back, repeat, wide = policer({}), policer(SR), policer({**SR, "window_packets": 1024})
    rows = {}
    for first, values in ((72, back), (75, repeat), (78, wide)):
        rows |= {f"hpft_lab-{first + n:03d}": values[n] for n in range(3)}
    return rows | {"order-3": repeat[0] < back[0]}


def quota(roce, dcqcn):
    """A quota of 20 Gb/s that only marks: a meter of half of it for each kind, with the burst that ships; nothing else marks."""
    meters = [{"rate": "10Gbps", "class": cls, "excess": "mark"} for cls in (3, 0)]
    scenario, files = lab(meters, roce, dcqcn, {**LOSSY, "ecn": {"enabled": False}}, (3, 0))
    return [goodput(window(scenario, 500, 1500, seed, files), 0) for seed in SEEDS]


def case_hpft_quota():
    slow = {"rate_timer": "1200us", "rate_ai": "1Mbps", "rate_hai": "10Mbps"}
    fast = {"rate_timer": "75us", "rate_ai": "50Mbps", "rate_hai": "500Mbps"}
    default = quota({}, {})
    return {"hpft_lab-081": statistics.fmean(quota({}, slow)), "hpft_lab-082": [min(default), max(default)],
            "hpft_lab-083": statistics.fmean(quota({}, fast)), "hpft_lab-084": statistics.fmean(quota(SR, {}))}


def sn5600(roce, ecn):
    """16 RDMA flows of a port of 200 Gb/s into one of 100: goodput over the line, and what is sent again over what is sent."""
    topology = {"dims": [{"kind": "graph", "size": 2, "file": "net.json", "link": {"rate": "100Gbps", "delay": "10us"}}]}
    network = {"switches": 1, "links": [{"a": "rank0", "b": "sw0", "rate": "200Gbps"}, {"a": "rank1", "b": "sw0"}]}
    scenario = {"topology": topology, "nic": "bluefield3", "cc": NIC_DCQCN, "transport": {**RDMA, **roce},
                "switch": {**LOSSY, "buffer": "spectrum4"} | ({} if ecn else {"ecn": {"enabled": False}}),
                "workload": flows([(0, 1)] * 16, "100GB")}
    pairs = [window(scenario, 50, 150, seed, {"net.json": network}) for seed in SEEDS]
    return (statistics.fmean(goodput(pair) / 100 for pair in pairs),
            statistics.fmean(gain(pair, lambda m: m["recovery"]["retransmitted_packets"]) / gain(pair, packets_sent) for pair in pairs))


def case_hpft_order():
    (back, again), (repeat, repeated) = sn5600({}, False), sn5600(SR, False)
    marked = [sn5600(roce, True)[0] for roce in ({}, SR)]
    return {"order-1": bool(back < 0.5 and again > 0.5 and repeat >= 0.5 and repeated < 0.5),
            "order-2": abs(marked[0] / marked[1] - 1) <= 0.15,
            "order-1-detail": [back, again, repeat, repeated], "order-2-detail": marked}


# ---- shs_gpcnet ----

def case_gpcnet():
    """64 NICs of 200 Gb/s in a dragonfly whose routers and groups are those of scenarios/congestion/impact-dragonfly.json."""
    scenario = {"name": "gpcnet", "topology": {"dims": [{"kind": "dragonfly", "size": 72, "ranks_per_router": 2, "routers_per_group": 4,
                                                        "global_links": 2, "link": {"rate": "200Gbps"}}]},
                "transport": {"kind": "uec"}, "workload": {"kind": "permutation", "bytes": "1MB"}}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scenario.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenario, file)
        done = subprocess.run([os.environ["COLLWIRE"], "gpcnet", path, "--seeds", "3", "--jobs", "1", "--format", "json", "--quiet"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    rows = {}
    for index, test in enumerate(json.loads(done.stdout)["policies"][0]["tests"]):
        for n, (how, what) in enumerate((("isolated", "mean"), ("congested", "mean"), ("isolated", "p99"), ("congested", "p99"))):
            rows[f"shs_gpcnet-{4 * index + n + 1:03d}"] = test[how][what]
    for n in range(5, 9):
        rows[f"shs_gpcnet-{n:03d}"] /= 4  # a NIC here, four ranks of the machine
    return rows


# ---- perftest130 ----

def case_perftest():
    """Two senders of 4 MiB messages into one port without PFC, the rest as it ships: the range of a sender over seeds and tenths."""
    scenario = {"topology": one_switch(3, 100), "nic": "connectx5", "cc": NIC_DCQCN, "switch": LOSSY,
                "workload": flows([(0, 2), (1, 2)], "100GB")}
    rates = []
    for seed in SEEDS:
        runs = [run(scenario, seed, ms) for ms in range(20, 120, 20)]
        for before, after in zip(runs, runs[1:]):
            rates += [(b["delivered_bytes"] - a["delivered_bytes"]) / MIB / 0.02 for a, b in zip(before["flows"], after["flows"])]
    return {f"perftest130-{n:03d}": [min(rates), max(rates)] for n in range(1, 9)}


# ---- TCP: terabit_tcp, daqiri_spark ----

def tcp_goodput(mss, host, count=1, size="10GB", pairs=1, window_ms=(20, 60)):
    """Gb/s of connections between two hosts on one cable of 100 Gb/s, in a window."""
    scenario = {"topology": {"dims": [{"kind": "fully_connected", "size": 2, "link": {"rate": "100Gbps"}}]},
                "host": {"preset": "linux", **host}, "cc": {"kind": "cubic"},
                "transport": {"kind": "tcp", "mss": f"{mss}B", "connections": "established", "connections_per_pair": pairs},
                "workload": flows([(0, 1)] * count, size, connections="pair"), "report": {"flows_max": 1000000}}
    return goodput(window(scenario, *window_ms))


def case_terabit():
    off = {"send_segment": "0B", "receive_segment": "0B"}
    return {"terabit_tcp-001": tcp_goodput(1448, off), "terabit_tcp-002": tcp_goodput(1448, {}),
            "terabit_tcp-003": tcp_goodput(8948, {}), "terabit_tcp-004": tcp_goodput(8948, {})}


def case_daqiri_tcp():
    rows, number = {}, 11
    for size, amount in ((1000, 40000), (8000, 20000), (MIB, 200)):  # more than 20 ms take
        for pairs in (1, 2, 4):
            rows[f"daqiri_spark-{number:03d}"] = tcp_goodput(8948, {}, amount * pairs, size, pairs, (10, 20))
            number += 1
    return rows


# ---- moc_roce: NCCL over one NIC ----

def nccl(machine, workload):
    scenario = {"topology": {"machine": machine, "nodes": 2}, "nic": {"preset": "connectx7", "bus_rate": "210Gbps"},
                "transport": {"kind": "roce", "mtu": "4096B"}, "cc": NIC_DCQCN, "workload": workload}
    return run(scenario)


def case_moc_nccl():
    reduced = nccl("1gpu_h100_400", {"kind": "collective", "op": "all_reduce", "bytes": "1GiB", "library": {"kind": "nccl"}})
    size = 256 * MIB
    both = nccl("1gpu_h100_400", flows([(0, 1), (1, 0)], size))
    four = nccl({"like": "dgx_h100", "gpus": 4, "nics": 1},
                flows([(n, n + 4) for n in range(4)] + [(n + 4, n) for n in range(4)], size))
    rate = [size / max(f["delivered_ns"] for f in metrics["flows"]) for metrics in (both, four)]
    return {"moc_roce-017": reduced["collectives"][0]["busbw_bps"] / 8e9, "moc_roce-018": rate[0], "moc_roce-019": rate[1]}


# ---- meta24 ----

def case_meta():
    """1,000 flows of one packet from a leaf to another over 16 spines by hash: the largest over the mean load of a link."""
    scenario = {"topology": {"dims": [{"kind": "leaf_spine", "size": 64, "ranks_per_leaf": 32, "spines": 16}]},
                "workload": flows([(n // 32, 32 + n % 32) for n in range(1000)], 4096)}
    ratios = []
    for seed in range(1, 11):
        loads = [link["bytes"] for link in run(scenario, seed)["links"] if link["at"].startswith("leaf0->spine")]
        assert len(loads) == 16
        ratios.append(max(loads) / statistics.fmean(loads))
    return {"meta24-001": statistics.fmean(ratios)}


CASES = {name[5:]: function for name, function in list(globals().items()) if name.startswith("case_")}
SHORT = ("sonic_same", "sonic_idle", "cx5_incast", "cx5_alone", "terabit", "meta")


def measure(name):
    return CASES[name]()


def main():
    root, mode = sys.argv[1:]
    names = SHORT if mode == "short" else list(CASES)
    predicted = {}
    if mode == "short":
        for name in names:
            predicted |= measure(name)
    else:
        with multiprocessing.Pool(int(os.environ.get("JOBS", "1"))) as pool:
            for name, rows in zip(names, pool.imap(measure, names, chunksize=1)):
                predicted |= rows
                print(name, json.dumps(rows), flush=True)
    with open(os.path.join(root, "tests/data/congestion/values.csv"), encoding="utf-8", newline="") as file:
        values = list(csv.DictReader(file))
    page.check_or_write(root, values, predicted, mode)


if __name__ == "__main__":
    main()
