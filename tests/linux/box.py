# SPDX-License-Identifier: MIT
"""Runs a measured case of Linux TCP (tests/data/linux-tcp) in the simulator.

The measured network is a box between two hosts: a list of losses, then a queue with a fixed limit
and an ECN threshold, then a link of known rate and delay; the way back has only a delay. Here it is
rank 0 - switch - rank 1, with the losses on the first link and the queue at the switch.
"""
import json
import os
import re
import struct
import subprocess
import tempfile

MSS, PACKET = 1448, 1500
# a last message keeps the run alive for so long, in ms
END_MS = {"a": 1000.0, "b": 2400.0, "c": 2500.0, "d": 20000.0, "h": 15000.0, "i": 5000.0}
WRITE_MS = 0.01  # the application writes to one connection after the other
FAST = "400Gbps"  # the links of the box that take no time
QUICK, AUTO = 1464, 739  # packets acknowledged one by one: 16 MB receive buffer; autotuning


def parameters(text):
    """The box_parameters of a case as a dict; `flow` is a list."""
    box = {"flow": [], "sysctl": {}}
    for word in text.split():
        key, value = word.split("=", 1)
        if key == "flow":
            policy, parts = value.split("/")
            times = [part.split(":") for part in parts.split(",")] if ":" in parts else \
                [(parts.split(":")[0], "-1")]
            box["flow"].append((policy, [(float(t), int(b)) for t, b in times]))
        elif key == "sysctl":
            name, setting = value.split(":")
            box["sysctl"][name] = setting
        elif key == "route":
            name, setting = value.split(",")
            box[name] = setting
        elif key == "drop":
            box[key] = value
        else:
            box[key] = float(value)
    return box


def losses(box):
    """The entry of `faults`, or None."""
    where = {"at": "rank0->dim0.sw0"}
    if "every" in box:
        return where | {"every": int(box["every"])}
    if "blackidx" in box:
        return where | {"blackout": {"packet": int(box["blackidx"]),
                                     "for": f"{box['blackdur']:g}ms"}}
    if "drop" not in box:
        return None
    packets, times = [], 1
    for part in box["drop"].split(","):
        if "x" in part:
            part, times = part.split("x")[0], int(part.split("x")[1])
        first, last = (part.split("-") + [part])[:2]
        packets += range(int(first), int(last) + 1)
    return where | {"packets": packets, "times": times}


POLICY = {"reno": "newreno", "cubic": "cubic"}


def quick_acks(case, box):
    """Packets acknowledged one by one: as long as the receive window grows."""
    if box.get("delack") == 1 or "rcvbuf" in box:
        return 0
    return AUTO if "auto" in case else QUICK


def scenario(case, box, shift_ms=0.0):
    """Returns (scenario, graph file). `shift_ms` moves all starts against the timer ticks."""
    flows, n = [], int(box.get("nflow", 1))
    for i, (_, parts) in enumerate(box["flow"] * n):
        for t, size in parts:
            t += i * WRITE_MS
            t += box["dly"] + box["rdly"] if t > 1 else 0  # time 0 is after the handshake
            flows.append({"src": 0, "dst": 1, "bytes": size if size > 0 else 10**12,
                          "start": f"{t + shift_ms:.4f}ms"})
    several = len(box["flow"]) * n > 1
    transport = {
        "kind": "tcp", "wire_overhead": {"data": "52B", "ack": "52B"}, "class": 0,
        "timer_tick": "4ms", "sack_compression": "1ms", "receive_window": "16MB",
        "quick_ack": quick_acks(case, box),
        "sack": box["sysctl"].get("tcp_sack", "1") != "0",
        "slow_start_after_idle": box["sysctl"].get("tcp_slow_start_after_idle", "1") != "0",
        "rto_min": box.get("rto_min", "200ms"),
    }
    if "_tso" in case:
        transport["segmentation_offload"] = "64KB"
    if "rcvbuf" in box:
        transport["receive_window"] = f"{int(box['rcvbuf'])}B"
    if "rstop" in box:
        transport["read_stop"] = f"{box['rstop'] + shift_ms:g}ms"
        transport["read_resume"] = f"{box['rstart'] + shift_ms:g}ms"
    if box.get("ecn"):
        transport["ecn"] = "on"
    cc = {"kind": POLICY[box["flow"][0][0]]}
    if "nohystart" in case or box.get("hystart") == 0:
        cc["hystart"] = "off"
    switch = {"buffer": "4GB", "lossy_alpha": 1000, "pfc": {"enabled": False}}
    if "qpk" in box:
        switch["queue_limit"] = {"packets": int(box["qpk"]) - 1}
    if "qby" in box:
        switch["queue_limit"] = {"bytes": int(box["qby"]) - PACKET}
    if "ecnk" in box:
        step = int(box["ecnk"]) * PACKET
        switch["ecn"] = {"enabled": True, "kmin": step, "kmax": step, "at": "arrival"}
    jobs = [{"kind": "flows", "connections": "own" if several else "pair", "flows": flows}]
    endless = any(size < 0 for _, parts in box["flow"] for _, size in parts)
    if not endless:  # a last message keeps the run alive, so that the final state is sampled
        jobs.append({"kind": "flows", "name": "end", "flows": [
            {"src": 0, "dst": 1, "bytes": 1, "start": f"{END_MS[case[0]]:g}ms"}]})
    doc = {
        "name": case.replace("+", "_"), "seed": 1,
        "topology": {"dims": [{"kind": "graph", "size": 2, "file": "box.json"}]},
        "transport": transport, "cc": cc, "switch": switch,
        "workload": jobs,
        "limits": {"stall": "1000s"},
    }
    if endless:
        doc["duration"] = f"{max(box['maxr'] / 10, box.get('rstart', 0)) + 400:g}ms"
    fault = losses(box)
    if fault:
        doc["faults"] = [fault]
    graph = {"switches": 1, "links": [
        {"a": "rank0", "b": "sw0", "rate": FAST, "delay": "0ns"},
        {"a": "sw0", "b": "rank1", "rate": f"{int(box['rate'])}bps", "delay": f"{box['dly']:g}ms",
         "reverse": {"rate": FAST, "delay": f"{box['rdly']:g}ms"}}]}
    return doc, graph


class Packet:
    """A captured packet: time in ms, whether it is data's direction, and header fields."""
    __slots__ = ("t", "out", "port", "seq", "ack", "flags", "size", "sacks", "window")


def packets(path):
    data = open(path, "rb").read()
    at, found = 24, []
    while at < len(data):
        s, ns, kept, size = struct.unpack_from("<IIII", data, at)
        at += 16
        ip = at + 14
        p = Packet()
        p.t = s * 1e3 + ns / 1e6
        p.out = data[ip + 12:ip + 16] == b"\x0a\x00\x00\x01"
        total, = struct.unpack_from(">H", data, ip + 2)
        tcp = ip + 20
        sport, dport, p.seq, p.ack, offset, p.flags, p.window = struct.unpack_from(">HHIIBBH", data,
                                                                                   tcp)
        p.port = sport if p.out else dport
        head = (offset >> 4) * 4
        p.size = total - 20 - head
        p.sacks = head > 32 and not p.flags & 2
        found.append(p)
        at += kept
    return found


class Run:
    """A run: metrics, series, and the packets at rank 0 with times from the first data packet."""

    def __init__(self, binary, case, text, sample="20us", shift_ms=0.0, capture=True, keep=None):
        self.box = parameters(text)
        doc, graph = scenario(case, self.box, shift_ms)
        self.faults = (doc.get("faults") or [{"packets": []}])[0]
        if sample:
            doc["report"] = {"sample": sample, "sample_at": ["dim0.sw0->rank1"]}
        if capture:
            doc["capture"] = [{"at": "rank0", "file": "a.pcap", "stamp": "first_bit",
                               "snaplen": "128B"}]
        with tempfile.TemporaryDirectory() as temporary:
            where = keep or temporary
            os.makedirs(where, exist_ok=True)
            json.dump(graph, open(f"{where}/box.json", "w"))
            json.dump(doc, open(f"{where}/s.json", "w"))
            done = subprocess.run([binary, "run", f"{where}/s.json", "--out", f"{where}/out",
                                   "--quiet"], capture_output=True, text=True)
            if done.returncode not in (0, 1):
                raise SystemExit(f"{case}: {done.stderr}")
            self.metrics = json.load(open(f"{where}/out/metrics.json"))
            self.packets = packets(f"{where}/out/a.pcap") if capture else []
        self.finish()

    def finish(self):
        first = next((p.t for p in self.packets if p.out and p.size > 0), 0.0)
        self.t0 = first
        for p in self.packets:
            p.t -= first
        self.start = {}
        for p in self.packets:
            if p.out and p.flags & 2:
                self.start[p.port] = p.seq + 1
        last = max((p.port for p in self.packets), default=0)
        workload = self.metrics["scenario"]["workload"]
        if isinstance(workload, list) and len(workload) > 1:
            self.packets = [p for p in self.packets if p.port != last]
        self.data = [p for p in self.packets if p.out and p.size > 0]
        self.acks = [p for p in self.packets if not p.out and not p.flags & 2]
        seen, index = {}, {}
        for p in self.data:
            key = (p.port, p.seq)
            p_first = key not in seen
            if p_first:
                seen[key] = index[p.port] = index.get(p.port, 0) + 1
        self.number = seen  # (port, seq) -> packet from 1

    def k(self, p):
        return self.number[(p.port, p.seq)]

    def acked(self, p):
        """Packets before the ACK number, for connections of full packets."""
        return ((p.ack - self.start[p.port]) % 2**32 + MSS - 1) // MSS

    def state(self, field, flow="0"):
        series = self.metrics["series"]["observe"][flow]
        if field == "ssthresh_pkts":  # the policy's threshold; infinite before the first loss
            if field not in series:
                series[field] = [(b or 0) // MSS for b in series["ssthresh_bytes"]]
        return series[field]

    def times(self):
        return [t / 1e6 - self.t0 for t in self.metrics["series"]["t_ns"]]
