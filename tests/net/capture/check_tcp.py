#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check captures of TCP with tshark and with code that is independent of the simulator.

Runs collwire on small scenarios with listed losses, ECN, a short queue and several settings of the
transport, captures sender and receiver, and checks:
1. tshark dissects every frame; IPv4 and TCP checksums are right, payload included.
2. Options are those of RFC 7323 and 2018, byte by byte; lengths agree with the IP header.
3. Sequence numbers: the handshake, every byte of the messages exactly as often as the metrics count
   segments, ACKs and SACK blocks only of bytes that the receiver has seen, echoed timestamps.
4. Retransmissions, losses, ECN marks and echoes are as the metrics count them.
"""
import collections
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_capture  # noqa: E402

FIN, SYN, RST, PSH, ACK, ECE, CWR = 1, 2, 4, 8, 16, 64, 128
FIELDS = ("_ws.malformed", "ip.checksum.status", "tcp.checksum.status", "_ws.expert.severity",
          "_ws.expert.message", "tcp.analysis.retransmission", "tcp.analysis.out_of_order")
# tshark calls a retransmission within an RTT estimate of its own "out of order"
EXPERT_ERROR = 0x800000
LOSSES = [5, 40, 41, 43, 200]

Packet = collections.namedtuple(
    "Packet", "at src dst sport dport seq ack flags window options payload ecn length")


def parse(s, ns, length, frame):
    """A TCP packet from the bytes of a whole frame."""
    total = struct.unpack_from("!H", frame, 16)[0]
    src, dst = frame[26:30], frame[30:34]
    sport, dport, seq, ack, offset, flags, window = struct.unpack_from("!HHIIBBH", frame, 34)
    tcp = frame[34:14 + total]
    pseudo = src + dst + struct.pack("!BBH", 0, 6, len(tcp)) + tcp + b"\0" * (len(tcp) % 2)
    head = offset >> 4 << 2
    assert check_capture.ones_sum(pseudo) == 0xFFFF, f"TCP checksum of sequence number {seq}"
    assert check_capture.ones_sum(frame[14:34]) == 0xFFFF, "IPv4 checksum"
    assert frame[23] == 6 and frame[12:14] == b"\x08\x00" and frame[14] == 0x45
    assert length == max(60, 14 + total) == len(frame), "length of the frame"
    assert not any(tcp[head:]), "the payload is not zeros"
    return Packet(s * 10**9 + ns, src, dst, sport, dport, seq, ack, flags, window, tcp[20:head],
                  len(tcp) - head, frame[15] & 3, length)


def options(packet):
    """Options as {kind: data}, without padding."""
    found, at = {}, 0
    while at < len(packet.options):
        kind = packet.options[at]
        if kind == 1:
            at += 1
            continue
        size = packet.options[at + 1]
        found[kind] = packet.options[at + 2:at + size]
        at += size
    return found


def tshark(path):
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=/t",
               "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    for field in FIELDS:
        command += ["-e", field]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [dict(zip(FIELDS, line.split("\t"))) for line in run.stdout.splitlines()]
    for i, row in enumerate(rows, 1):
        assert not row["_ws.malformed"], f"frame {i} is malformed"
        assert row["ip.checksum.status"] in ("1", "Good"), f"frame {i}: IPv4 checksum"
        assert row["tcp.checksum.status"] in ("1", "Good"), f"frame {i}: TCP checksum"
        levels = [int(x, 0) for x in row["_ws.expert.severity"].split(",") if x]
        assert all(x < EXPERT_ERROR for x in levels), f"frame {i}: {row['_ws.expert.message']}"
    return rows


def check_syn(packet, settings, ecn, reply):
    ts, sack = settings.get("timestamps", True), settings.get("sack", True)
    want = b"\x02\x04" + struct.pack("!H", settings.get("mss", 1448))
    want += b"\x04\x02" if sack else b"\x01\x01"
    want += b"\x08\x0a" + packet.options[8:16] if ts else b"\x01\x01"
    want += b"\x01\x03\x03" + packet.options[-1:]
    assert packet.options == want, f"options of the SYN: {packet.options.hex()}"
    assert packet.options[-1] <= 14
    assert ts is False or reply or packet.options[12:16] == b"\0\0\0\0", "echo of the first SYN"
    flags = SYN | (ACK if reply else 0) | (ECE if ecn else 0) | (CWR if ecn and not reply else 0)
    assert packet.flags == flags, f"flags of the SYN: {packet.flags:#x}"
    assert packet.payload == 0 and packet.ecn == 0


def check_connection(packets, flow, settings, ecn):
    """All packets of one connection, both directions, in the order of a capture at the sender."""
    forward = [p for p in packets if p.dport == 5001]
    back = [p for p in packets if p.dport != 5001]
    syn, answer = forward[0], back[0]
    check_syn(syn, settings, ecn, False)
    check_syn(answer, settings, ecn, True)
    assert answer.ack == (syn.seq + 1) % 2**32
    first, reply = (syn.seq + 1) % 2**32, (answer.seq + 1) % 2**32
    sent = collections.Counter()
    highest, acked = 0, 0
    given = {options(p).get(8, b"")[:4] for p in (syn, answer)}
    seen = collections.Counter()
    for p in packets[2:]:
        data = p.dport == 5001
        at = ((p.seq if data else p.ack) - first) % 2**32
        opts = options(p)
        assert set(opts) <= {8, 5}, f"options {sorted(opts)}"
        assert len(p.options) % 4 == 0 and (8 in opts) == settings.get("timestamps", True)
        if 8 in opts:
            assert p.options[:4] == b"\x01\x01\x08\x0a"
            given.add(opts[8][:4])
            assert opts[8][4:] in given, "echo of a timestamp that was not sent"
        assert p.flags & ACK and not p.flags & (SYN | RST)
        if data:
            assert (p.ack - reply) % 2**32 <= 1
            seen["cwr"] += bool(p.flags & CWR)
            seen["ect"] += p.ecn == 2
            assert p.ecn == (2 if ecn and p.payload else 0), f"ECN field {p.ecn}"
            if p.payload:
                sent[at] += 1
                seen["psh"] += bool(p.flags & PSH)
                highest = max(highest, at + p.payload)
        else:
            assert p.payload == 0 and p.ecn == 0
            assert at <= highest + (1 if p.flags & FIN or flow["closed"] else 0), "ACK of unsent data"
            assert at >= acked, "the cumulative ACK goes back"
            acked = at
            seen["ece"] += bool(p.flags & ECE)
            blocks = opts.get(5, b"")
            assert len(blocks) % 8 == 0 and len(blocks) <= (24 if 8 in opts else 32)
            assert settings.get("sack", True) or not blocks
            for left, right in struct.iter_unpack("!II", blocks):
                left, right = (left - first) % 2**32, (right - first) % 2**32
                assert left < right <= highest, f"SACK block {left}..{right}"
                seen["sack"] += left > acked
                seen["dsack"] += right <= acked
    assert acked in (flow["bytes"], flow["bytes"] + 1), f"{acked} of {flow['bytes']} bytes"
    assert highest == flow["bytes"]
    assert sum(sent.values()) == flow["packets"], f"{sum(sent.values())} segments"
    assert sum(sent.values()) - len(sent) == flow["retransmitted_packets"]
    assert seen["psh"] >= 1
    return sent, seen


CASES = {
    "losses": {},
    "losses twice": {"fault": {"packets": LOSSES, "times": 2}},
    "no timestamps": {"transport": {"timestamps": False}},
    "no SACK": {"transport": {"sack": False, "rto_min": "10ms"}},
    "small segments": {"transport": {"mss": "536B", "initial_window": 3}},
    "connection per message": {"transport": {"connections": "per_message"}},
    "marks, DCTCP": {"fault": None, "cc": "dctcp", "ecn": {"kmin": "10KB", "kmax": "10KB", "at": "arrival"}},
    "marks, classic": {"fault": None, "transport": {"ecn": "on"},
                       "ecn": {"kmin": "20KB", "kmax": "20KB", "at": "arrival"}},
}


def scenario(case):
    fault = case.get("fault", {"packets": LOSSES})
    made = {
        "name": "tcp",
        "topology": {"dims": [{"kind": "switch", "size": 3, "link": {
            "rate": "100Mbps", "delay": "1ms", "reverse": {"rate": "50Mbps"}}}]},
        "switch": {"queue_limit": {"packets": 2000}, "ecn": {"enabled": False}},
        "transport": {"kind": "tcp", **case.get("transport", {})},
        "cc": {"kind": case.get("cc", "newreno")},
        "workload": {"kind": "flows", "flows": [
            {"src": 0, "dst": 2, "bytes": 700001},
            {"src": 1, "dst": 2, "bytes": 300000, "start": "5ms"}]},
        "faults": [{"at": "rank0->dim0.sw0", "one_way": True, **fault}] if fault else [],
        "capture": [{"at": f"rank{r}", "file": f"rank{r}.pcap", "snaplen": "65535B"} for r in range(3)],
    }
    if "ecn" in case:
        made["switch"]["ecn"] = case["ecn"]
    return made


def capture(out, rank):
    path = os.path.join(out, f"rank{rank}.pcap")
    rows = tshark(path)
    packets = [parse(*record) for record in check_capture.records(path)]
    assert len(rows) == len(packets)
    return rows, packets


def check(case, out):
    made = scenario(case)
    path = os.path.join(out, "scenario.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    subprocess.run([os.environ["COLLWIRE"], "run", path, "--quiet", "--out", out], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        metrics = json.load(file)
    settings = dict(made["transport"])
    settings["mss"] = int(str(settings.get("mss", "1448B")).rstrip("B"))
    ecn = "ecn" in case
    _, at_receiver = capture(out, 2)
    arrived = collections.Counter(p.src for p in at_receiver)
    total = collections.Counter()
    for rank, flow in enumerate(sorted(metrics["flows"], key=lambda f: f["src"])):
        rows, packets = capture(out, rank)
        flow["closed"] = settings.get("connections") == "per_message"
        sent, seen = check_connection(packets, flow, settings, ecn)
        total += seen
        assert all(at % settings["mss"] == 0 for at in sent), "segments of another size"
        fins = sum(bool(p.flags & FIN) for p in packets)
        # the run ends with the last message, before the sender's FIN
        assert fins == (0 if not flow["closed"] else 1 if rank == 0 else 2), f"{fins} FINs"
        again = sum(bool(row["tcp.analysis.retransmission"] or row["tcp.analysis.out_of_order"])
                    for row in rows)
        assert again == flow["retransmitted_packets"], f"tshark sees {again} retransmissions"
        lost = metrics["drops"]["by_reason"]["link_loss"] if rank == 0 else 0
        source = bytes((10, 0, 0, rank + 1))
        here = sum(p.src == source for p in packets)
        late = here - lost - arrived[source]  # in flight when the last message ends
        assert 0 <= late <= flow["closed"], f"{here} - {lost} packets, {arrived[source]} arrive"
    fault = case.get("fault", {"packets": LOSSES})
    want = len(fault["packets"]) * fault.get("times", 1) if fault else 0
    assert metrics["drops"]["by_reason"]["link_loss"] == want, "listed losses"
    assert metrics["tcp"]["retransmitted_segments"] >= want
    assert metrics["tcp"]["connections"] == 2
    assert metrics["drops"]["packets"] == want, "only listed losses"
    assert (total["sack"] > 0) == (bool(fault) and settings.get("sack", True))
    marked = sum(p.ecn == 3 for p in at_receiver)
    assert marked == metrics["ecn"]["marked_packets"], f"{marked} CE marks"
    assert [marked > 0, total["ece"] > 0, total["ect"] > 0] == [ecn] * 3, f"{marked} marks, {total}"
    assert total["cwr"] == 0 or ecn
    assert total["cwr"] > 0 or settings.get("ecn") != "on"
    return len(at_receiver), total


def main():
    if not shutil.which("tshark"):
        print("skipped: no tshark")
        return 77
    failed = False
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as out:
            try:
                frames, total = check(case, out)
                print(f"{name}: {frames} frames at the receiver, {dict(total)}")
            except (AssertionError, subprocess.CalledProcessError) as error:
                failed = True
                print(f"{name}: {error}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
