#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what tshark finds in captures of random lossy TCP runs with the metrics of the same runs.

usage: check_tcp_wireshark.py SEED|FIRST-LAST ...      the executable is in $COLLWIRE

Every run draws loss of up to 5 %, rates, delays, sizes, short queues, sprayed paths and the settings
of the transport. All data has one source, and the capture is taken there. Checked:
1. tshark dissects every frame without errors; all checksums are right; no ACK of unseen data.
2. Segments that tshark calls retransmissions of any class (also "out of order", its word for a
   retransmission within its estimate of the RTT) are as many as tcp.retransmitted_segments.
3. Its duplicate ACKs are as many as tcp.duplicate_acks.
4. Its classes follow from the rules of the User's Guide, section 7.5, applied here again.
5. MSS, window scale, windows, SACK permission, timestamps, relative times and the initial RTT that it
   shows are those of the settings and of the capture's bytes.
"""
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import check_capture
from check_tcp import ACK, FIN, RST, SYN, options, parse

EXPERT_ERROR = 0x800000
CLASSES = ("spurious_retransmission", "fast_retransmission", "out_of_order", "retransmission")
FIELDS = (
    "frame.number", "tcp.stream", "_ws.malformed", "ip.checksum.status", "tcp.checksum.status",
    "_ws.expert.severity", "_ws.expert.message", "tcp.analysis.duplicate_ack",
    "tcp.analysis.ack_lost_segment", "tcp.analysis.lost_segment", "tcp.analysis.reused_ports",
    "tcp.analysis.initial_rtt", "tcp.time_relative", "tcp.time_delta", "tcp.seq", "tcp.ack", "tcp.len",
    "tcp.window_size", "tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.sack_perm",
    "tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr", "tcp.options.sack_le",
    "tcp.options.sack_re", "tcp.analysis.keep_alive",
    "tcp.analysis.keep_alive_ack",
    *(f"tcp.analysis.{name}" for name in CLASSES))
# tshark: without an RTT sample, a segment within 3 ms of the highest one counts as out of order.
OUT_OF_ORDER_NS = 3_000_000
FAST_NS = 20_000_000
# Losses of ACKs are on the first link: a capture shows what a link carries, also what it then loses.
OTHERS = ("rank1->*", "rank2->*", "rank3->*")


def scenario(seed):
    rng = random.Random(seed)
    def pick(*values):
        return rng.choice(values)
    mss = pick(64, 200, 536, 1000, 1448, 1448, 1448, 4000, 8948)
    transport = {"kind": "tcp", "mss": f"{mss}B", "sack": rng.random() < 0.75,
                 "timestamps": rng.random() < 0.75, "connections": pick("pooled", "per_message"),
                 "rto_min": pick("1ms", "10ms", "200ms"), "rto_initial": pick("10ms", "1s"),
                 "retries": 100, "syn_retries": 100}
    optional = {
        "initial_window": (1, 2, 3, 40), "tail_loss_probe": (False,), "probe_slack": ("0ns", "100us"),
        "receive_window": (f"{mss}B", f"{2 * mss}B", f"{7 * mss + 1}B", "100KB", "1MB"),
        "slow_start_after_idle": (False,), "pacing": (True,), "segmentation_offload": ("8KB", "64KB"),
        "quick_ack": (1, 16, 1000), "sack_compression": ("100us", "1ms"), "timer_tick": ("1ms", "4ms"),
        "ecn": ("on",), "delayed_ack": tuple({"segments": n, "timeout": t} for n in (1, 3, 8)
                                             for t in ("1ms", "40ms", "500ms"))}
    for key, values in optional.items():
        if rng.random() < 0.25:
            transport[key] = rng.choice(values)
    if transport["connections"] == "pooled" and rng.random() < 0.3:
        transport["connections_per_pair"] = pick(2, 3)
    if rng.random() < 0.1:
        transport.update(read_stop="5ms", read_resume=pick("6ms", "300ms"))
    link = {"rate": pick("5Mbps", "100Mbps", "1Gbps", "10Gbps"), "delay": pick("1us", "100us", "2ms", "20ms")}
    if rng.random() < 0.3:
        link["reverse"] = {"rate": pick("3Mbps", "50Mbps")}
    sprayed = rng.random() < 0.3
    dim = {"kind": "switch", "size": 4, "link": link}
    if sprayed:
        dim = {"kind": "leaf_spine", "size": 4, "ranks_per_leaf": 2, "spines": 3, "link": link}
    flows = [{"src": 0, "dst": rng.randrange(1, 4),
              "bytes": max(1, int(mss * 10 ** rng.uniform(0, 2.7))), "start": f"{rng.randrange(3000)}us"}
             for _ in range(pick(1, 1, 2, 5))]
    if transport["connections"] == "per_message":
        flows += [{**flows[0], "bytes": pick(1, mss, 3 * mss), "start": f"{rng.randrange(100)}ms"}
                  for _ in range(pick(1, 10))]
    made = {
        "name": f"wire-{seed}", "seed": seed, "topology": {"dims": [dim]}, "transport": transport,
        "switch": {"ecn": {"enabled": False}}, "cc": {"kind": pick("newreno", "cubic")},
        "workload": {"kind": "flows", "flows": flows},
        "faults": [{"at": at, "one_way": True, "loss": round(rng.uniform(0, 0.05), 4)}
                   for at in pick(("rank0->*",), OTHERS, ("rank0->*", *OTHERS), ("*->rank1",))],
        "capture": [{"at": "rank0", "file": "rank0.pcap", "snaplen": "65535B"}],
        "limits": {"stall": "1000s"},
    }
    if "ecn" in transport:
        made["switch"]["ecn"] = {"kmin": f"{20 * mss}B", "kmax": f"{20 * mss}B"}
    if sprayed:
        made["switch"]["routing"] = {"kind": "spray"}
    if rng.random() < 0.5:
        made["switch"]["queue_limit"] = {"packets": pick(3, 10, 40)}
    return made


def tshark(path):
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=/t",
               "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE",
               "-o", "tcp.calculate_timestamps:TRUE"]
    for field in FIELDS:
        command += ["-e", field]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return [dict(zip(FIELDS, line.split("\t"))) for line in run.stdout.splitlines()]


def check_row(row, frame):
    assert not row["_ws.malformed"], f"frame {frame} is malformed"
    assert row["ip.checksum.status"] in ("1", "Good"), f"frame {frame}: IPv4 checksum"
    assert row["tcp.checksum.status"] in ("1", "Good"), f"frame {frame}: TCP checksum"
    levels = [int(x, 0) for x in row["_ws.expert.severity"].split(",") if x]
    assert all(x < EXPERT_ERROR for x in levels), f"frame {frame}: {row['_ws.expert.message']}"
    assert not row["tcp.analysis.ack_lost_segment"], f"frame {frame}: ACK of unseen data"


def after(a, b):
    """a > b for sequence numbers."""
    return 0 < (a - b) % 2**32 < 2**31


class Side:
    """One direction of a connection."""

    def __init__(self):
        self.next_seq = None   # highest sequence number and when it was seen
        self.next_at = 0
        self.last_ack = None   # last acknowledgement number, window field and time
        self.window = None
        self.ack_at = 0
        self.duplicates = 0
        self.keep_alive = False  # the last segment


class Analysis:
    """tshark's classes of segments and its duplicate ACKs."""

    def __init__(self):
        self.sides = {}
        self.rtt_ns = 0        # of the handshake, once it is complete
        self.syn_at = 0
        self.answered = False

    def handshake(self, p):
        if p.flags & SYN:
            self.answered |= bool(p.flags & ACK)
            self.syn_at = self.syn_at if p.flags & ACK else p.at
        elif self.answered and self.rtt_ns == 0:
            self.rtt_ns = p.at - self.syn_at

    def segment(self, p, own, other):
        """The class of a segment with data, SYN or FIN; None if it is new."""
        if own.next_seq is None:
            return None
        back = after(own.next_seq, p.seq)
        if own.keep_alive:
            return None
        if p.payload > 1 and p.seq == (own.next_seq - 1) % 2**32:
            back = False
        end = (p.seq + p.payload + bool(p.flags & (SYN | FIN))) % 2**32
        if p.payload and other.last_ack is not None and not after(end, other.last_ack):
            return "spurious_retransmission"
        if not back:
            return None
        if other.duplicates >= 2 and other.last_ack == p.seq and p.at - other.ack_at < FAST_NS:
            return "fast_retransmission"
        near = p.at - own.next_at < (self.rtt_ns or OUT_OF_ORDER_NS)
        if near and own.next_seq != end:
            return "out_of_order"
        return "retransmission"

    def packet(self, p):
        """(class or None, is a duplicate ACK) of the next packet."""
        self.handshake(p)
        own = self.sides.setdefault(p.src, Side())
        other = self.sides.setdefault(p.dst, Side())
        special = p.flags & (SYN | FIN | RST)
        duplicate = (p.payload == 0 and p.window > 0 and p.window == own.window and not special and
                     p.seq == own.next_seq and p.ack == own.last_ack and not other.keep_alive)
        own.keep_alive = (own.next_seq is not None and p.payload <= 1 and not special and
                          p.seq == (own.next_seq - 1) % 2**32)
        if duplicate:
            own.duplicates += 1
        if p.flags & ACK and p.ack != own.last_ack:
            own.duplicates = 0
        kind = self.segment(p, own, other) if p.payload or special & (SYN | FIN) else None
        end = (p.seq + p.payload + bool(special & (SYN | FIN))) % 2**32
        if own.next_seq is None or after(end, own.next_seq):
            own.next_seq, own.next_at = end, p.at
        if p.flags & ACK:
            own.last_ack, own.ack_at = p.ack, p.at
        own.window = p.window
        return kind, duplicate


def check_shown(row, p, stream, settings, frame):
    """Values that tshark shows for a packet, against the packet's bytes and the settings."""
    opts = options(p)
    if p.flags & SYN:
        assert row["tcp.options.mss_val"] == str(settings["mss"]), f"frame {frame}: MSS"
        assert bool(row["tcp.options.sack_perm"]) == settings["sack"], f"frame {frame}: SACK permitted"
        shift = int(row["tcp.options.wscale.shift"])
        stream.setdefault("shift", shift)
        assert stream["shift"] == shift == opts[3][0], f"frame {frame}: window scale"
        stream.setdefault("base", {}).setdefault(p.src, p.seq)
    scale = 0 if p.flags & SYN else stream["shift"]
    assert int(row["tcp.window_size"]) == p.window << scale, f"frame {frame}: window"
    assert bool(row["tcp.options.timestamp.tsval"]) == settings["timestamps"], f"frame {frame}: timestamps"
    if settings["timestamps"]:
        shown = (row["tcp.options.timestamp.tsval"], row["tcp.options.timestamp.tsecr"])
        assert shown == (str(int.from_bytes(opts[8][:4], "big")), str(int.from_bytes(opts[8][4:], "big")))
    if row["tcp.analysis.initial_rtt"]:
        shown = round(float(row["tcp.analysis.initial_rtt"]) * 1e9)
        assert shown == stream["rtt"], f"frame {frame}: initial RTT"
    assert int(row["tcp.len"]) == p.payload
    assert int(row["tcp.seq"]) == (p.seq - stream["base"][p.src]) % 2**32, f"frame {frame}: relative number"
    since, gap = p.at - stream.setdefault("start", p.at), p.at - stream.get("last", p.at)
    assert round(float(row["tcp.time_relative"]) * 1e9) == since, f"frame {frame}: relative time"
    assert round(float(row["tcp.time_delta"]) * 1e9) == gap, f"frame {frame}: time since the last"
    stream["last"] = p.at


def check(seed, out):
    made = scenario(seed)
    path = os.path.join(out, "scenario.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    subprocess.run([os.environ["COLLWIRE"], "run", path, "--quiet", "--out", out], check=True,
                   capture_output=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        metrics = json.load(file)
    capture = os.path.join(out, "rank0.pcap")
    rows, packets = tshark(capture), [parse(*record) for record in check_capture.records(capture)]
    assert len(rows) == len(packets)
    settings = {**made["transport"], "mss": int(made["transport"]["mss"][:-1])}
    streams = collections.defaultdict(list)
    for row, p in zip(rows, packets):
        check_row(row, int(row["frame.number"]))
        streams[row["tcp.stream"]].append((row, p))
    counts, duplicates = collections.Counter(), 0
    for parts in streams.values():
        analysis, stream = Analysis(), {}
        for row, p in parts:
            frame = int(row["frame.number"])
            kind, duplicate = analysis.packet(p)
            stream["rtt"] = analysis.rtt_ns
            check_shown(row, p, stream, settings, frame)
            shown = [name for name in CLASSES if row[f"tcp.analysis.{name}"]]
            # fast and spurious ones are retransmissions as well
            word = next((name for name in CLASSES if name in shown), None)
            assert word == kind, f"frame {frame}: tshark: {word}, by the rules: {kind}"
            assert duplicate == bool(row["tcp.analysis.duplicate_ack"]), f"frame {frame}: duplicate ACK"
            # tshark calls a single byte that is sent again a keep-alive
            if p.payload == 1 and row["tcp.analysis.keep_alive"]:
                counts["keep_alive"] += 1
            counts[kind if p.payload else "control"] += kind is not None
            if p.src == packets[0].src:  # not of SYNs that come again, nor what is still on the link
                assert not row["tcp.analysis.lost_segment"], f"frame {frame}: a gap"
            else:
                # and an ACK that repeats the last one after a keep-alive a keep-alive ACK
                duplicates += ((duplicate or bool(row["tcp.analysis.keep_alive_ack"])) and
                               p.at <= metrics["sim_time_ns"])
    again = sum(counts[name] for name in (*CLASSES, "keep_alive"))
    tcp = metrics["tcp"]
    assert again == tcp["retransmitted_segments"], f"{again} of {tcp['retransmitted_segments']} repeated"
    assert duplicates == tcp["duplicate_acks"], f"{duplicates} of {tcp['duplicate_acks']} duplicate ACKs"
    return counts, duplicates, len(rows), metrics


def main():
    if not shutil.which("tshark"):
        print("skipped: no tshark")
        return 77
    failed, total, duplicates, frames = 0, collections.Counter(), 0, 0
    for word in sys.argv[1:]:
        first, _, last = word.partition("-")
        for seed in range(int(first), int(last or first) + 1):
            with tempfile.TemporaryDirectory() as out:
                try:
                    counts, repeated, n, _ = check(seed, out)
                    total += counts
                    duplicates += repeated
                    frames += n
                except (AssertionError, subprocess.CalledProcessError) as error:
                    failed += 1
                    print(f"seed {seed}: {error}")
    print(f"{frames} frames, {dict(total)}, {duplicates} duplicate ACKs; {failed} runs failed")
    if len(sys.argv) > 1 and "-" in sys.argv[1]:
        assert failed or all(total[name] > 0 for name in CLASSES), "a class never occurred"
        assert failed or duplicates > 0
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
