# SPDX-License-Identifier: MIT
# Check the INT trailer in captures of a run, using tshark and the project's dissector. On a link the
# last record of a packet has the time of its first bit, and the records of two packets differ by the
# bytes that the link carried in between. At the receiver data and ACKs have one record per switch.
import csv
import json
import os
import subprocess
import sys
import tempfile

SOURCE, COLLWIRE = sys.argv[1], os.environ["COLLWIRE"]
LINKS = {"leaf0->spine0": 1, "spine0->leaf1": 2, "leaf1->rank7": 3}
SCENARIO = {
    "name": "int",
    "topology": {"dims": [{"kind": "leaf_spine", "size": 8, "ranks_per_leaf": 4, "spines": 2}]},
    "transport": {"mtu": "1000B"},
    "cc": {"kind": "hpcc"},
    "workload": {"kind": "incast", "senders": [0, 1, 2, 3], "receiver": 7, "bytes": "300KB"},
    "capture": [{"at": at, "file": f"{i}.pcap", "snaplen": "65535B", "stamp": "first_bit"}
                for i, at in enumerate(LINKS)] + [{"at": "rank7", "file": "rank7.pcap", "snaplen": "65535B"}],
}
FIELDS = ["frame.time_epoch", "frame.len", "infiniband.bth.opcode", "collwire_int.hops",
          "collwire_int.time", "collwire_int.bytes", "collwire_int.queue"]
ACKNOWLEDGE, WIRE = "17", 24  # FCS, preamble and gap beyond the captured frame
GRAIN, WRAP = 128, 128 << 20


def dissect(path):
    lua = os.path.join(SOURCE, "net", "capture", "wireshark", "collwire.lua")
    command = ["tshark", "-r", path, "-X", f"lua_script:{lua}", "-T", "fields", "-E", "separator=;"]
    for field in FIELDS:
        command += ["-e", field]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [dict(zip(FIELDS, row)) for row in csv.reader(out.splitlines(), delimiter=";")]


def nanoseconds(text):
    whole, _, part = text.partition(".")
    return int(whole) * 10**9 + int(part.ljust(9, "0")[:9])


def last(row, field):
    return int(row[field].split(",")[-1])


def check_link(rows, records):
    data = [r for r in rows if r["infiniband.bth.opcode"] != ACKNOWLEDGE]
    assert len(data) > 100
    before = None
    for row in data:
        assert int(row["collwire_int.hops"]) == records
        later = nanoseconds(row["frame.time_epoch"]) - last(row, "collwire_int.time")
        assert later % 2**24 in (0, 1), row  # INT rounds down, captures to the nearest
        sent = last(row, "collwire_int.bytes")
        if before is not None:
            carried = (sent - before[0]) % WRAP
            assert abs(carried - before[1]) < GRAIN, (carried, before)
        before = (sent, int(row["frame.len"]) + WIRE)
    return max(last(row, "collwire_int.queue") for row in data)


with tempfile.TemporaryDirectory() as out:
    scenario = os.path.join(out, "int.json")
    with open(scenario, "w", encoding="ascii") as file:
        json.dump(SCENARIO, file)
    subprocess.run([COLLWIRE, "run", scenario, "--quiet", "--out", out], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="ascii") as file:
        metrics = json.load(file)
    ports = {port["at"]: port for port in metrics["queues"]["ports"]}
    for i, (at, records) in enumerate(LINKS.items()):
        seen = check_link(dissect(os.path.join(out, f"{i}.pcap")), records)
        longest = ports[at]["max_bytes"]
        assert longest - 3000 <= seen <= longest, (at, seen, longest)
    rows = dissect(os.path.join(out, "rank7.pcap"))
    acks = [r for r in rows if r["infiniband.bth.opcode"] == ACKNOWLEDGE]
    assert len(rows) == 2 * len(acks) > 0
    assert all(int(r["collwire_int.hops"]) == 3 for r in rows)
print("INT of", len(rows), "packets at the receiver and of three links is right")
