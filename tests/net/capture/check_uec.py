#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check captures of Ultra Ethernet at the receiver of an incast, as tshark shows them with the plugin.

usage: check_uec.py SOURCE_DIR      the executable is in $COLLWIRE

1. No frame is malformed, none has a bad checksum, all are of types that the plugin reads.
2. Retransmissions, NACKs, grants and trimmed packets are as many as metrics.json counts.
3. An ACK tells what has arrived until then: every PSN up to the cumulative one, of those after it
   exactly the bits of the bitmap in its range, and the received bytes.
4. Grants never decrease, and no sender asks for less than its debt.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

FIELDS = ("frame.number", "frame.interface_name", "ip.src", "ip.dst", "udp.srcport", "uec.type", "uec.psn", "uec.cack", "uec.ack_psn",
          "uec.sack.psn", "uec.sack.bitmap", "uec.received", "uec.flags.retransmit", "uec.trimmed", "uec.credit",
          "uec.credit_target", "udp.length", "uec.dpdcid", "_ws.malformed", "ip.checksum.status", "uec.nack.code")
DATA, ACK, NACK, CONTROL = "13", "8", "10", "11"
HEADERS = 8 + 16 + 44  # UDP, packet delivery, semantic
RUNS = (("nscc", "mixed", []), ("rccc", "reps", []), ("nscc_rccc", "oblivious", []),
        ("nscc", "bitmap", ["--set", "switch.trimming.enabled=false"]))
# Without delay of the receiver's link a frame has arrived at the time of its last bit in the capture.
SCENARIO = {
    "name": "uec",
    "topology": {"dims": [{"kind": "leaf_spine", "size": 8, "ranks_per_leaf": 4, "spines": 4,
                           "link": {"rate": "100Gbps", "delay": "0ns"}, "trunk": {"rate": "100Gbps", "delay": "200ns"}}]},
    "switch": {"queue_limit": {"bytes": "20KB"}, "trimming": {"enabled": True}},
    "transport": {"kind": "uec", "mtu": "1024B", "entropies": 16},
    "workload": {"kind": "incast", "senders": [1, 2, 4, 5, 6, 7], "receiver": 0, "bytes": "100KB"},
    "capture": [{"at": "rank0", "file": "rank0.pcapng", "snaplen": "128B"}]}


def frames(source, path):
    plugin = os.path.join(source, "net", "capture", "wireshark", "collwire_uec.lua")
    command = ["tshark", "-n", "-o", "ip.check_checksum:TRUE", "-X", f"lua_script:{plugin}", "-r", path, "-T", "fields"]
    for field in FIELDS:
        command += ["-e", field]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        yield dict(zip(FIELDS, line.split("\t")))


class Receiver:
    """What has arrived of one flow."""

    def __init__(self):
        self.order, self.size, self.granted = [], {}, 0

    def data(self, f):
        psn = int(f["uec.psn"])
        if psn not in self.size:
            self.order.append(psn)
            self.size[psn] = int(f["udp.length"]) - HEADERS

    def bytes(self, n):
        return sum(self.size[psn] for psn in self.order[:n])

    def tells(self, f, n):
        """Whether the ACK is that of a receiver to which the first n packets have come."""
        arrived, expected = set(self.order[:n]), int(f["uec.cack"]) + 1 & 0xffffffff
        base, bits = int(f["uec.sack.psn"]), int(f["uec.sack.bitmap"], 16)
        first = base if base < 1 << 31 else base - (1 << 32)
        told = {first + i for i in range(64) if bits >> i & 1}
        return (expected not in arrived and all(psn in arrived for psn in range(expected)) and
                told == {psn for psn in arrived if expected < psn and first <= psn < first + 64} and
                int(f["uec.received"]) == self.bytes(n) // 256)

    def ack(self, f):
        # An ACK may have waited behind others while more packets came.
        assert any(self.tells(f, n) for n in range(len(self.order), max(0, len(self.order) - 10), -1)), (f, self.order)

    def grant(self, f):
        assert int(f["uec.credit"]) >= self.granted, f
        self.granted = int(f["uec.credit"])


def check(source, policy, spray, more):
    with tempfile.TemporaryDirectory() as out:
        with open(os.path.join(out, "s.json"), "w", encoding="utf-8") as file:
            json.dump(SCENARIO, file)
        subprocess.run([os.environ["COLLWIRE"], "run", os.path.join(out, "s.json"), "--quiet", "--out", os.path.join(out, "o"),
                        "--set", f"cc.kind={policy}", "--set", f"transport.spray={spray}", *more], check=True)
        with open(os.path.join(out, "o", "metrics.json"), encoding="utf-8") as file:
            metrics = json.load(file)
        receivers, count, ports = collections.defaultdict(Receiver), collections.Counter(), set()
        for f in frames(source, os.path.join(out, "o", "rank0.pcapng")):
            assert not f["_ws.malformed"] and f["ip.checksum.status"] == "1", f
            assert f["uec.type"] in (DATA, ACK, NACK, CONTROL), f
            if f["frame.interface_name"].endswith(" drops"):
                continue
            inward = f["ip.dst"] == "10.0.0.1"
            receiver = receivers[f["ip.src"] if inward else f["ip.dst"]]
            if inward and f["uec.type"] == DATA:
                ports.add(f["udp.srcport"])
                count["trimmed" if f["uec.trimmed"] else "data"] += 1
                count["again"] += f["uec.flags.retransmit"] in ("1", "True") and not f["uec.trimmed"]
                if not f["uec.trimmed"]:
                    receiver.data(f)
            elif f["uec.type"] == ACK:
                receiver.ack(f)
                count["acks"] += 1
            elif f["uec.type"] == NACK:
                count["nacks"] += 1
                assert f["uec.nack.code"] in ("1", "2"), f
            elif not inward:
                receiver.grant(f)
                count["grants"] += 1
    counts, trims = metrics["uec"], metrics["trims"]["packets"]
    told = (policy, count, counts, trims)
    assert count["nacks"] == counts["nacks"] == count["trimmed"] == trims, told
    assert count["grants"] == counts["grants"] and (counts["grants"] > 0) == ("rccc" in policy), told
    assert trims == 0 or count["again"] > 0, told
    assert all(r.bytes(None) == 100000 for r in receivers.values()) and len(receivers) == 6, told
    assert len(ports) > 32, told  # 6 flows of 16 entropies


def main():
    if not shutil.which("tshark"):
        sys.exit(77)
    for policy, spray, more in RUNS:
        check(sys.argv[1], policy, spray, more)


if __name__ == "__main__":
    main()
