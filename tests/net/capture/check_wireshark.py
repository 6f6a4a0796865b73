#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what net/capture/wireshark/collwire.lua shows in tshark with captures that are decoded here, and with metrics.

usage: check_wireshark.py SOURCE_DIR      the executable is in $COLLWIRE

Every run captures all ports of its switches. Checked:
1. No error of Lua, and nothing on stderr.
2. Packet by packet: every collwire.* field, and the Info column of CNP, PFC and NAK frames, are those of the
   packet's bytes, comments and facts, which are decoded here.
3. The fields agree with metrics.json: messages, collectives, marks, CNPs, XOFF frames, retransmissions, drops by
   reason.
4. The display filter of each row of qpmap.csv shows the packets of its flow, and no other packet.
5. The filters of the profile are valid, and collwire_summary.lua counts what the comments and metrics.json do.
6. Frames, comments and facts that are cut or damaged give no error of Lua.
7. All events of all kinds, all causes of retransmissions occur in some run, and telemetry of both kinds.
"""
import collections
import csv
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import pcapng

SOURCE, COLLWIRE = sys.argv[1], os.environ["COLLWIRE"]
PROFILE = os.path.join(SOURCE, "net", "capture", "wireshark", "profiles", "collwire")
LUA = os.path.join(SOURCE, "net", "capture", "wireshark", "collwire.lua")
SUMMARY = os.path.join(SOURCE, "net", "capture", "wireshark", "collwire_summary.lua")
SWITCH4 = {"kind": "switch", "size": 4, "link": {"rate": "100Gbps", "delay": "1us"}}
FABRIC = {"topology": {"dims": [{"kind": "leaf_spine", "size": 4, "ranks_per_leaf": 2, "spines": 1}]},
          "capture": [{"at": "leaf*,spine0", "file": "all.pcapng"}]}
INCAST = {"kind": "incast", "senders": [0, 1, 2], "receiver": 3, "bytes": "300KB"}
RING = {"kind": "collective", "op": "all_reduce", "bytes": "256KB", "algorithm": "ring", "chunks": 2, "repeat": 2}
MARKS = {"kmin": "20KB", "kmax": "80KB", "pmax": 0.2}
LOSS = [{"at": "rank0->*", "one_way": True, "loss": 0.03}]
EVENTS = {"ACK", "CNP", "XOFF", "XOFF renewed", "XOFF by a fault", "XON", "NAK (sequence error)", "CE",
          "drop", "retransmission", "held", "trigger", "NAK", "timeout", "segment found lost", "tail loss probe",
          "INT", "PINT"}

RUNS = {
    "go-back-n": {"cc": {"kind": "dcqcn"}, "faults": LOSS, "switch": {"buffer": "400KB", "ecn": MARKS},
                  "workload": INCAST},
    "selective-repeat": {"cc": {"kind": "dcqcn"}, "faults": LOSS, "workload": INCAST,
                         "transport": {"recovery": "selective_repeat"}},
    "lossy": {"switch": {"buffer": "200KB", "pfc": {"enabled": False}}, "workload": INCAST},
    "int": {**FABRIC, "cc": {"kind": "hpcc"}, "workload": INCAST},
    "pint": {**FABRIC, "cc": {"kind": "hpcc", "preset": "pint"}, "workload": INCAST},
    "pauses": {**FABRIC, "switch": {"buffer": "200KB"}, "workload": INCAST},
    "storm": {"faults": [{"at": "dim0.sw0->rank3", "storm": "10us", "storm_end": "900us"}], "switch": {"buffer": "400KB"},
              "workload": INCAST},
    "collective": {"cc": {"kind": "dcqcn"}, "workload": RING},
    "training": {"workload": {
        "kind": "training", "parallelism": "DATA", "iterations": 1,
        "layers": [{"name": name, "fwd": {"compute": "2us"}, "ig": {"compute": "2us"},
                    "wg": {"compute": "2us", "op": "all_reduce", "bytes": "64KB"}} for name in ("fc0", "fc1")]}},
    "tcp-lossy": {"transport": {"kind": "tcp"}, "switch": {"ties": "first", "queue_limit": {"packets": 10}}, "workload": INCAST},
    "tcp": {"transport": {"kind": "tcp"}, "cc": {"kind": "dctcp"}, 
            "switch": {"queue_limit": {"packets": 20}, "ecn": {"kmin": "5KB", "kmax": "20KB"}}, "workload": INCAST},
    "two-transports": {"transport": [{"kind": "roce"}, {"kind": "tcp"}],
                       "workload": [INCAST, {**INCAST, "transport": "tcp", "bytes": "50KB"}]},
}

DAMAGED = ("go-back-n", "int", "tcp")

KINDS = {"data": "data", "ack": "ACK", "cnp": "CNP"}
FLAGS = ("retransmission", "marked", "dropped", "held", "triggered")
PRESENT = (*FLAGS, "first_link")
FIELDS = ("kind", "event", "flow", "rank", "src", "dst", "message", "job", "communicator", "collective", "op", "layer",
          "step", "chunk", "phase", "window", "rate", "policy", *PRESENT, "retransmission.cause", "nak.arrived", "mark.at",
          "mark.queue", "mark.probability", "drop.at", "drop.reason", "drop.queue", "drop.limit", "pfc.from", "pfc.to",
          "pfc.class", "pfc.quanta", "pfc.ingress", "pfc.port", "pfc.bytes", "pfc.limit", "pfc.flow", "pause")
INT_FIELDS = ("hops", "path", "longest", "hop", "rate", "time", "bytes", "queue", "pint", "util")
ALL_FIELDS = (*(f"collwire.{field}" for field in FIELDS), *(f"collwire_int.{field}" for field in INT_FIELDS))
NUMBERS = ("mark.probability", "pause", "int.util")  # compared as numbers, not as text
ROCE_PORT, UDP, TCP, ACKNOWLEDGE, CNP = 4791, 17, 6, 17, 0x81
NAK_SEQUENCE = 0x60
UNITS = {"ns": 1, "us": 1000, "ms": 10**6}


def tshark(path, *arguments, plugins=(LUA,)):
    loaded = [word for plugin in plugins for word in ("-X", f"lua_script:{plugin}")]
    run = subprocess.run(["tshark", "-n", *loaded, "-r", path, *arguments], check=True, capture_output=True, text=True)
    noise = [line for line in run.stderr.splitlines() if "Running as user" not in line]
    assert not noise, noise
    return run.stdout.splitlines()


def shown(path):
    """For every packet its Info column and {field: list of values}."""
    # later versions of tshark take _ws.col.info before plugins have changed it
    infos = tshark(path, "-o", 'gui.column.format:"Info","%i"')
    command = ["-T", "fields", "-E", "separator=/t", "-E", "aggregator=~"]
    for field in ALL_FIELDS:
        command += ["-e", field]
    rows = tshark(path, *command)
    assert len(rows) == len(infos)
    for info, line in zip(infos, rows):
        values = line.split("\t")
        row = {re.sub("^collwire[._]", "", field): value.split("~") for field, value in zip(ALL_FIELDS, values) if value}
        yield info, row


class Frame:
    """What the headers of a frame say."""

    def __init__(self, frame):
        self.pfc = frame[12:14] == b"\x88\x08"
        self.roce = self.tcp = False
        if self.pfc:
            vector, *quanta = struct.unpack_from(">9H", frame, 16)
            self.pauses = [(cls, quanta[cls]) for cls in range(8) if vector >> cls & 1]
            self.trailer = b""
            return
        self.trailer = frame[14 + int.from_bytes(frame[16:18], "big"):]
        self.ce = frame[15] & 3 == 3
        self.src, self.dst = (".".join(str(b) for b in frame[at:at + 4]) for at in (26, 30))
        self.sport, self.dport = struct.unpack_from(">HH", frame, 34)
        self.tcp = frame[23] == TCP
        if frame[23] == UDP and self.dport == ROCE_PORT:
            self.roce, self.opcode = True, frame[42]
            self.qp, self.psn = (int.from_bytes(frame[at:at + 3], "big") for at in (47, 51))
            self.syndrome = frame[54] if self.opcode == ACKNOWLEDGE else None


def scaled(value, unit):
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value} {unit}"


def want_facts(want, facts, interface):
    flow, rank = f"{facts.src}.{facts.flow}", facts.src if facts.kind == "data" else facts.dst
    want.update({"flow": flow, "src": facts.src, "dst": facts.dst, "rank": rank})
    if "message" in facts.flags:
        want.update({"message": facts.number, "job": facts.job})
    if "collective" in facts.flags:
        want.update({key: getattr(facts, key) for key in ("communicator", "collective", "step", "chunk", "phase")})
    want.update({key: value for key, value in (("op", facts.op), ("layer", facts.name)) if value})
    want.update({key: getattr(facts, key) for key in ("window", "rate") if key in facts.flags})
    parts = [scaled(getattr(facts, key), unit) for key, unit in (("rate", "b/s"), ("window", "B")) if key in facts.flags]
    if parts and facts.kind == "data":
        want["policy"] = ", ".join(parts)
    want.update({key: 1 for key in FLAGS if key in facts.flags})
    if interface.startswith(f"rank{rank}->"):
        want["first_link"] = 1


# A comment, and the fields of the groups of its expression.
COMMENTS = (
    (r"(?:CE marked at|acknowledges a packet marked at|reports the CE mark of) (\S+): queue (\d+) B, probability (\S+)",
     ("mark.at", "mark.queue", "mark.probability")),
    (r"dropped at (\S+): (\w+) \(.*?\)(?:, queue (\d+) B)?(?:, limit (\d+) B)?",
     ("drop.at", "drop.reason", "drop.queue", "drop.limit")),
    (r"XOFF of class \d(?: renewed)?: ingress from (\S+) holds (\d+) B(?:, limit (\d+) B)?"
     r"(?:, after flow (\d+\.\d+) PSN \d+)?", ("pfc.ingress", "pfc.bytes", "pfc.limit", "pfc.flow")),
    (r"XON of class \d: ingress from (\S+) holds (\d+) B", ("pfc.ingress", "pfc.bytes")),
    (r"XO(?:FF|N) of class \d by a fault", ()),
    (r"triggered XOFF on (\S+): ingress held (\d+) B(?:, limit (\d+) B)?", ("pfc.port", "pfc.bytes", "pfc.limit")),
    (r"held ([\d.]+) us by a pause of class \d at \S+", ("pause",)),
    (r"retransmission(?: after a (NAK|timeout)| of a (segment found lost)| as a (tail loss probe))?",
     ("retransmission.cause",) * 3),
    (r"asks for PSN \d+: PSN (\d+) has arrived", ("nak.arrived",)),
)


def want_comments(want, comments):
    for comment in comments:
        match = next((m, fields) for m, fields in ((re.fullmatch(e, comment), f) for e, f in COMMENTS) if m)
        for value, field in zip(match[0].groups(), match[1]):
            if value is not None:
                assert field not in want or field in ("pfc.bytes", "pfc.limit"), (field, comments)
                want.setdefault(field, []).append(str(float(value) / 1e6) if field == "pause" else value)


def want_int(want, trailer):
    """The telemetry behind the IP packet: net/capture/int_trailer.c."""
    if len(trailer) == 1:
        want.update({"int.pint": [str(trailer[0])], "int.util": [str(1.05 ** (trailer[0] - 142))]})
    if len(trailer) < 10:
        return
    head, hops = int.from_bytes(trailer[:2], "big"), trailer[0] >> 4
    words = [int.from_bytes(trailer[2 + 8 * k:10 + 8 * k], "big") for k in range(hops)]
    queues = [80 * (word & 0x1FFFF) for word in words]
    want.update({"int.hops": [str(hops)], "int.path": [f"0x{head & 0xFFF:04x}"],
                 "int.longest": [str(max(queues, default=0))]})
    if hops:
        want.update({"int.hop": [str(k + 1) for k in range(hops)], "int.queue": [str(queue) for queue in queues],
                     "int.rate": [str(25 << (word >> 61)) for word in words],
                     "int.time": [str(word >> 37 & 0xFFFFFF) for word in words],
                     "int.bytes": [str(128 * (word >> 17 & 0xFFFFF)) for word in words]})


def want_events(frame, facts, comments):
    flags, events = facts.flags if facts else set(), []
    if frame.pfc:
        kind = re.search(r" renewed(?=:)| by a fault$|$", comments[0])[0]
        return [("XOFF" if quanta else "XON") + kind for _, quanta in frame.pauses]
    if frame.roce and frame.opcode == CNP:
        events.append("CNP")
    elif frame.roce and frame.syndrome == NAK_SEQUENCE:
        events.append("NAK (sequence error)")
    elif (frame.roce and frame.opcode == ACKNOWLEDGE) or (frame.tcp and facts and facts.kind == "ack"):
        events.append("ACK")
    for event, here in (("retransmission", "retransmission" in flags), ("CE", frame.ce), ("held", "held" in flags),
                        ("trigger", "triggered" in flags), ("drop", "dropped" in flags)):
        events += [event] if here else []
    return events


def wanted(packet, frame):
    facts, want = packet.facts, {}
    if frame.roce:
        assert {CNP: "cnp", ACKNOWLEDGE: "ack"}.get(frame.opcode, "data") == facts.kind
    if facts:
        want_facts(want, facts, packet.interface)
    want["kind"] = "PFC" if frame.pfc else KINDS[facts.kind]
    want = {key: [str(value)] for key, value in want.items()}
    events = want_events(frame, facts, packet.comments)
    if events:
        want["event"] = events
    if frame.pfc:
        want["pfc.from"], want["pfc.to"] = ([end] for end in packet.interface.split("->"))
        want["pfc.class"] = [str(cls) for cls, _ in frame.pauses]
        want["pfc.quanta"] = [str(quanta) for _, quanta in frame.pauses]
    want_comments(want, packet.comments)
    if frame.roce:
        want_int(want, frame.trailer)
    return want


def check_info(info, packet, frame, link_bps):
    facts, comments = packet.facts, packet.comments
    if frame.pfc:
        (_, quanta), = frame.pauses
        times = f"; {quanta} quanta = {quanta * 512e6 / link_bps:.3g} us at {link_bps // 10**9} Gb/s" if quanta else ""
        assert info == comments[0] + times, info
        return
    flow = f", flow {facts.src}.{facts.flow}, rank{facts.src}->rank{facts.dst}"
    if frame.roce and frame.opcode == CNP:
        marks = [f", {comment}" for comment in comments if comment.startswith("reports")]
        assert f"CNP QP=0x{frame.qp:06x}{flow}{''.join(marks)}" in info, info
    elif frame.roce and frame.syndrome == NAK_SEQUENCE:
        arrived, = (comment.partition(": ")[2] for comment in comments if comment.startswith("asks"))
        assert f"NAK (sequence error) QP=0x{frame.qp:06x} PSN={frame.psn}: {arrived}{flow}" in info, info
    assert all(comment in info for comment in comments if frame.ce and comment.startswith("CE")), info
    for flag, text in (("retransmission", "retransmission"), ("dropped", "dropped at "), ("held", r"held \d"),
                       ("triggered", "triggered XOFF on")):
        assert bool(re.search(r"(\[|, )" + text, info)) == (flag in facts.flags), info


def same(field, want, got):
    if field in NUMBERS:
        return len(want) == len(got) and all(abs(float(x) - float(y)) < 1e-9 for x, y in zip(want, got))
    return want == [{"True": "1"}.get(x, x) for x in got] if field in PRESENT else want == got


def check_packets(path, capture):
    """Check every packet; return [(packet, Frame, facts, fields)]."""
    packets, rates = capture.packets, {interface["name"]: interface.get("rate") for interface in capture.interfaces}
    rows = list(shown(path))
    assert len(rows) == len(packets), (len(rows), len(packets))
    seen = []
    for number, ((info, got), packet) in enumerate(zip(rows, packets), 1):
        frame = Frame(packet.data)
        want = wanted(packet, frame)
        for field in {*want, *got}:
            assert field in want and field in got and same(field, want[field], got[field]), \
                f"packet {number}: {field} is {got.get(field)}, not {want.get(field)}"
        check_info(info, packet, frame, rates[packet.interface])
        seen.append((packet, frame, packet.facts, got))
    return seen


def check_messages(seen, metrics):
    """A message is known by its number among those of its source; flows[] has them in this order."""
    messages = collections.defaultdict(list)
    for flow in sorted(metrics["flows"], key=lambda flow: flow["id"]):
        messages[flow["src"]].append(flow)
    assert metrics["flows"]
    for _, _, facts, _ in seen:
        if facts and "message" in facts.flags:
            flow = messages[facts.src][facts.number]
            assert (flow["dst"], flow["job"]) == (facts.dst, facts.job), (flow, facts)


def check_collectives(seen, metrics):
    """The runs here have one communicator, whose collectives metrics.json lists in order."""
    found = {(facts.communicator, facts.collective, facts.op, facts.name)
             for _, _, facts, _ in seen if facts and "collective" in facts.flags}
    assert found == {(0, i, c["op"], c["name"]) for i, c in enumerate(metrics["collectives"])}, found


def check_metrics(seen, metrics):
    counts, drops = collections.Counter(), collections.Counter()
    for packet, frame, _, got in seen:
        counts["xoff"] += frame.pfc and got["event"][0].startswith("XOFF")
        if "dropped" in got:
            drops[got["drop.reason"][0]] += 1
            # of packets that a rank has sent, and that have not arrived
            counts["retransmissions"] += "retransmission" in got and got["drop.at"][0].startswith("rank")
        elif packet.outbound:
            counts["marks"] += "marked" in got
            counts["cnps"] += frame.roce and frame.opcode == CNP
        elif "first_link" in got:
            counts["retransmissions"] += "retransmission" in got
    assert counts["marks"] == metrics["ecn"]["marked_packets"], counts
    # every XOFF that a packet has triggered, by the packet where it leaves the same switch
    assert sum("triggered" in got for _, _, _, got in seen) == sum("pfc.flow" in got for _, _, _, got in seen)
    assert counts["xoff"] == metrics["pfc"]["pause_frames"], counts
    assert counts["cnps"] == metrics["cnps"] or not any(frame.roce for _, frame, _, _ in seen), counts
    assert counts["retransmissions"] == sum(flow["retransmitted_packets"] for flow in metrics["flows"]), counts
    assert drops == collections.Counter({k: n for k, n in metrics["drops"]["by_reason"].items() if n}), drops


def check_qpmap(path, out, seen):
    with open(os.path.join(out, "qpmap.csv"), encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    names = {row["name"] for row in rows}
    assert len(names) == len(rows)
    assert all(row["name"].split(".")[0] == row["src"] for row in rows)
    assert names == {f"{facts.src}.{facts.flow}" for _, _, facts, _ in seen if facts}
    differ = " || ".join(["_ws.lua.error", *(f"(({f}) && !({c})) || (!({f}) && ({c}))"
                         for f, c in ((row["filter"], f'collwire.flow == "{row["name"]}"') for row in rows))])
    found = tshark(path, "-Y", differ)
    assert not found, found[0]


def paused_ports(packets):
    """[port, class, XOFFs, packets held, us, longest us, us that are open at the end] of each port."""
    rows = collections.defaultdict(lambda: [0, [], None])
    for packet in packets:
        for comment in packet.comments:
            pause = re.match(r"(XOFF|XON) of class (\d)( renewed)?( by a fault)?", comment)
            held = re.match(r"held ([\d.]+) us by a pause of class (\d) at (\S+)", comment)
            if pause:
                name, cls, renewed, fault = pause.groups()
                row = rows["->".join(reversed(packet.interface.split("->"))), cls]
                row[0] += name == "XOFF" and not renewed
                row[2] = None if name == "XON" else row[2] if renewed or fault or row[2] else packet.ns
            elif held:
                rows[held[3], held[2]][1].append(float(held[1]))
    end = packets[-1].ns
    return sorted([port, cls, str(xoffs), str(len(us)), *(f"{n:.1f}" for n in (sum(us), max(us, default=0))),
                   f"{(end - since) / 1e3:.1f}" if since else "-"] for (port, cls), (xoffs, us, since) in rows.items())


def check_pauses(path, packets):
    """Check the packets and pauses of a summary; return the rows of its other tables."""
    lines = tshark(path, "-q", "-X", "lua_script1:print", plugins=(SUMMARY,))
    assert lines[0] == (f"{len(packets)} packets, from {packets[0].ns / 1e9:.9f} s to {packets[-1].ns / 1e9:.9f} s"), lines
    rows = {}
    for line in lines[1:]:
        if line.startswith(" "):
            table.append(re.split("  +", line.strip()))
        elif line:
            rows[line.split(" (")[0].removesuffix(": none")] = table = []
    pauses, *others = (rows[name][1:] for name in ("Pauses", "Drops", "CE marks", "Retransmissions"))
    assert sorted(pauses) == paused_ports(packets), (pauses, paused_ports(packets))
    return pauses, others


def check_open(path, capture):
    """Pauses that have not ended where a capture ends."""
    half, whole = path + ".half", capture.packets
    capture.packets = whole[:len(whole) // 2]
    pcapng.write(half, capture)
    pauses, _ = check_pauses(half, capture.packets)
    assert any(row[-1] != "-" for row in pauses), pauses
    capture.packets = whole


def check_summary(path, packets, metrics):
    _, others = check_pauses(path, packets)
    drops, marks, resent = (sum(int(row[-1]) for row in table) for table in others)
    assert drops == sum(metrics["drops"]["by_reason"].values()), others
    assert marks == metrics["ecn"]["marked_packets"], others
    assert resent == sum(flow["retransmitted_packets"] for flow in metrics["flows"]), others
    causes = collections.Counter()
    for row in others[2]:
        causes[f"{row[0]} {row[1]}"] += int(row[2])
    ids = {(p.ident, f"{p.facts.src}.{p.facts.flow} {c.removeprefix('retransmission ')}") for p in packets
           for c in p.comments if c.startswith("retransmission")}
    assert causes == collections.Counter(cause for _, cause in ids), causes


def damaged(value, rng):
    """Some bytes, cut or changed; often as they were."""
    value, kind = bytearray(value), rng.random()
    if value and kind < 0.3:
        del value[rng.randrange(len(value)):]
    elif value and kind < 0.6:
        for _ in range(3):
            value[rng.randrange(min(len(value), 64))] = rng.randrange(1, 127)
    return bytes(value)


def check_damaged(path, capture, seed):
    rng, other = random.Random(seed), path + ".damaged"
    for packet in capture.packets:
        packet.data = damaged(packet.data[:90], rng)
        packet.options = [(code, damaged(value, rng) if code == pcapng.COMMENT else
                           value[:1] + damaged(value[1:], rng) if code == pcapng.VERDICT else value)
                          for code, value in packet.options]
    pcapng.write(other, capture)
    for shown_too in ("", " || collwire.flow == \"none\""):  # without the plugin's tree, and with it
        errors = tshark(other, "-Y", "_ws.lua.error" + shown_too, "-T", "fields", "-e", "frame.number", "-e",
                        "_ws.expert.message")
        assert not errors, errors[0]


def check(name, made, out):
    scenario = {"name": name, "topology": {"dims": [SWITCH4]},
                "capture": [{"at": "dim0.sw0", "file": "all.pcapng"}], **made}
    path = os.path.join(out, "scenario.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump(scenario, file)
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="ascii") as file:
        metrics = json.load(file)
    path = os.path.join(out, "all.pcapng")
    capture = pcapng.read(path)
    seen = check_packets(path, capture)
    check_messages(seen, metrics)
    check_collectives(seen, metrics)
    check_metrics(seen, metrics)
    check_qpmap(path, out, seen)
    check_summary(path, capture.packets, metrics)
    if name == "pauses":
        check_open(path, capture)
    if name == "pint":
        check_profile(path)
        assert tshark(path, "-c", "1", plugins=(LUA, LUA)), "loaded twice"
    if name in DAMAGED:
        check_damaged(path, capture, name)
    events = collections.Counter(event for _, _, _, got in seen for field in ("event", "retransmission.cause")
                                 for event in got.get(field, ()))
    events.update(kind for kind, field in (("INT", "int.hop"), ("PINT", "int.pint"))
                  for _, _, _, got in seen if field in got)
    print(f"{name}: {len(seen)} packets, {dict(events)}")
    return events


def check_profile(path):
    """Every filter of the profile's buttons, colours and columns; tshark fails if one of them is not valid."""
    filters = []
    for line in open(os.path.join(PROFILE, "dfilter_buttons"), encoding="ascii"):
        filters += [] if line.startswith("#") else [re.split('","', line)[2].replace(r"\x22", '"')]
    for line in open(os.path.join(PROFILE, "colorfilters"), encoding="ascii"):
        filters += [] if line.startswith("#") else [line.split("@")[2]]
    with open(os.path.join(PROFILE, "preferences"), encoding="ascii") as file:
        filters += re.findall(r"%Cus:(.*):0:R", file.read())
    assert len(filters) > 20
    tshark(path, "-c", "1", "-Y", " || ".join(f"({each})" for each in filters))


def main():
    events = collections.Counter()
    for name, made in RUNS.items():
        with tempfile.TemporaryDirectory() as out:
            events += check(name, made, out)
    assert set(events) == EVENTS, set(events) ^ EVENTS


main()
