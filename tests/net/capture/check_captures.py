# SPDX-License-Identifier: MIT
"""Captures of every port in random scenarios, as pcap and pcapng, with and without gzip.

tshark, capinfos and scapy read all of them: no malformed packet, no bad checksum. The counts of packets
by interface, direction, mark, pause, notification, retransmission and reason of a drop equal
metrics.json.

usage: check_captures.py N SEED SCENARIO...     N random scenarios from a seed on, and those named"""
import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pcapng

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests/random"))
import generate  # pylint: disable=wrong-import-position

COLLWIRE = os.environ["COLLWIRE"]
FORMATS = ("all.pcap", "all.pcap.gz", "all.pcapng", "all.pcapng.gz")
FEWEST, MOST = 200, 30000  # packets of a random scenario
FIELDS = ("frame.interface_name", "frame.packet_flags_direction", "ip.checksum.status", "tcp.checksum.status",
          "_ws.malformed", "_ws.expert.message", "_ws.col.Info")
BAD = re.compile(r"malformed|invalid packet length|bad checksum|\[Checksum incorrect|Unreassembled", re.I)


def differ(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: {got}, not {want}")


def run(scenario, folder):
    """Returns the metrics, run.json and the captures of a run; None if it has no result, or
    too few or too many packets."""
    captures = [{"at": "*", "file": name} for name in FORMATS]
    command = [COLLWIRE, "run", scenario, "--out", folder, "--quiet", "--set", f"capture={json.dumps(captures)}",
               "--set", "report={}", "--set", "limits.events=300000", "--set", "network=packet"]
    code = subprocess.run(command, capture_output=True, timeout=300, check=False).returncode
    if code < 0 or code > 2:
        raise AssertionError(f"exit {code}")
    if code == 2:
        return None
    made = []
    for name in ("metrics.json", "run.json"):
        with open(folder / name, encoding="utf-8") as f:
            made.append(json.load(f))
    packets = made[1]["captures"][2]["packets"]
    return made if FEWEST <= packets <= MOST else None


def check_bytes(folder):
    """The same packets in all four files."""
    for name in FORMATS[::2]:
        with open(folder / name, "rb") as plain, gzip.open(folder / (name + ".gz")) as packed:
            differ(name + ".gz", packed.read() == plain.read(), True)
    shown = pcapng.read(folder / "all.pcapng")
    sent = [(p.ns, p.length, p.data) for p in shown.packets if not p.interface.endswith(" drops")]
    differ("pcap and pcapng", sorted(sent) == sorted((p.ns, p.length, p.data) for p in
                                                     pcapng.read(folder / "all.pcap").packets), True)
    return shown


def check_links(shown, metrics, machine):
    counts = collections.Counter(p.interface for p in shown.packets)
    links = collections.Counter()  # parallel links have the same name
    for link in metrics["links"]:
        links[link["at"]] += link["packets"]
    for name, packets in links.items():
        differ(name, counts.pop(name, 0), packets)
    differ("drops", counts.pop("* drops", 0), metrics["drops"]["packets"])
    differ("other interfaces", +counts, {})
    differ("packets", sum(link["packets"] for link in metrics["links"]), machine["packet_hops"])
    differ("directions", {p.outbound for p in shown.packets}, {True})
    ids = collections.Counter((p.interface, p.ident) for p in shown.packets if not p.interface.endswith(" drops"))
    differ("packets with the number of another on their link", [key for key, n in ids.items() if n > 1], [])


def check_drops(shown, metrics):
    reasons, places = collections.Counter(), collections.Counter()
    for p in shown.packets:
        if not p.interface.endswith(" drops"):
            continue
        place, reason = re.match(r"dropped at (\S+): (\w+) \(", p.comments[0]).groups()
        reasons[reason] += 1
        places[place] += 1
        if p.facts:
            differ("flag of a drop", "dropped" in p.facts.flags, True)
    differ("reasons", dict(reasons), {k: n for k, n in metrics["drops"]["by_reason"].items() if n})
    for row in metrics["drops"]["by_place"]:
        differ(f"drops at {row['at']}", places[row["at"]], row["packets"])
    return reasons


def check_marks(shown, metrics):
    marked = collections.Counter()
    for p in shown.packets:
        if p.facts and "marked" in p.facts.flags:
            place = [re.match(r"CE marked at (\S+): queue \d+ B, probability", c) for c in p.comments]
            marked[[m.group(1) for m in place if m][0]] += 1
            differ("CE", p.data[15] & 3, 3)
    if metrics["status"] == "completed":
        differ("marks", sum(marked.values()), metrics["ecn"]["marked_packets"])
        counted = collections.Counter()  # parallel links have the same name
        for port in metrics["queues"]["ports"]:
            counted[port["at"]] += port["marked_packets"]
        for name, marks in counted.items():
            differ(f"marks at {name}", marked[name], marks)
    return marked


def check_pauses(shown, metrics):
    sent = collections.Counter()
    for p in shown.packets:
        if p.data[12:14] == b"\x88\x08" and not p.interface.endswith(" drops"):
            quanta = sum(p.data[18:34])
            sent["XOFF" if quanta else "XON"] += 1
            differ("comment of a pause", p.comments[0].split()[0], "XOFF" if quanta else "XON")
    if metrics["status"] == "completed":
        differ("XOFF", sent["XOFF"], metrics["pfc"]["pause_frames"])
        differ("XON", sent["XON"], metrics["pfc"]["resume_frames"])
    return sent


def check_transport(shown, metrics):
    """Each packet counts once, on the first of its links."""
    first = {}
    for p in shown.packets:
        if p.facts and not p.interface.endswith(" drops"):
            first.setdefault(p.ident, p)
    kinds = collections.Counter(p.facts.kind for p in first.values())
    again = sum("retransmission" in p.facts.flags for p in first.values())
    if metrics["status"] == "completed":
        if metrics["uec"] is None:  # its ACKs echo marks; they count as those of transport.cnp per_ack
            differ("CNPs", kinds["cnp"], metrics["cnps"])
        differ("retransmissions", again, metrics["recovery"]["retransmitted_packets"])
    return kinds, again


def tshark(path, home):
    command = ["tshark", "-r", path, "-n", "-T", "fields", "-E", "separator=\t", "-o", "ip.check_checksum:TRUE", "-o",
               "tcp.check_checksum:TRUE"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ, HOME=str(home)))
    return [line.split("\t") for line in done.stdout.splitlines()]


def check_tshark(folder, shown):
    rows = tshark(folder / "all.pcapng.gz", folder)
    differ("packets of tshark", len(rows), len(shown.packets))
    for row, p in zip(rows, shown.packets):
        differ("interface of tshark", row[0], p.interface)
        bad = BAD.search(" ".join(row[4:]))
        if bad or row[2] not in ("", "1") or row[3] not in ("", "1"):
            raise AssertionError(f"tshark: {row}")
    differ("packets of a pcap", len(tshark(folder / "all.pcap", folder)),
           sum(not p.interface.endswith(" drops") for p in shown.packets))


# Debian's scapy belongs to Debian's Python.
SCAPY = "import sys; from scapy.utils import RawPcapReader; print(*[sum(1 for _ in RawPcapReader(f)) for f in sys.argv[1:]])"
PYTHON = sys.executable if subprocess.run([sys.executable, "-c", "import scapy"], capture_output=True,
                                          check=False).returncode == 0 else "/usr/bin/python3"


def check_readers(folder, shown):
    done = subprocess.run([PYTHON, "-c", SCAPY] + [str(folder / name) for name in FORMATS], capture_output=True, text=True,
                          check=True)
    counts = dict(zip(FORMATS, map(int, done.stdout.split())))
    for name in FORMATS:
        info = subprocess.run(["capinfos", "-M", "-c", "-o", folder / name], capture_output=True, text=True, check=True)
        differ(f"{name}: order", re.search(r"Strict time order:\s+(\w+)", info.stdout).group(1), "True")
        count = int(re.search(r"Number of packets:\s+(\d+)", info.stdout).group(1))
        differ(f"{name}: scapy", counts[name], count)
        if "ng" in name:
            differ(f"{name}: capinfos", count, len(shown.packets))


def check(scenario, out):
    """Returns counts of what the captures of a scenario show, or None if it is not suitable."""
    made = run(scenario, out)
    if made is None:
        return None
    metrics, machine = made
    shown = check_bytes(out)
    check_links(shown, metrics, machine)
    seen = collections.Counter()
    seen.update({f"dropped: {reason}": n for reason, n in check_drops(shown, metrics).items()})
    seen["marks"] = sum(check_marks(shown, metrics).values())
    seen.update(check_pauses(shown, metrics))
    kinds, seen["retransmissions"] = check_transport(shown, metrics)
    seen.update(kinds)
    seen["INT"] = sum(p.facts is not None and p.data[36:38] == b"\x12\xb7" and p.facts.kind == "ack" and p.length > 62
                      for p in shown.packets)
    seen["TCP"] = sum(p.facts is not None and p.data[23] == 6 for p in shown.packets)
    check_tshark(out, shown)
    check_readers(out, shown)
    return seen


def check_named(name, scenario, folder):
    try:
        return check(scenario, folder / "out")
    except AssertionError as error:
        sys.exit(f"{name}: {error}")


def main():
    want, done, seed, total = int(sys.argv[1]), 0, int(sys.argv[2]), collections.Counter()
    while done < want:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            generate.write(generate.scenario(seed, folder), folder)
            seen = check_named(f"seed {seed}", folder / "scenario.json", folder)
        seed += 1
        if seen is not None:
            done += 1
            total += seen
    for path in map(pathlib.Path, sys.argv[3:]):
        with tempfile.TemporaryDirectory() as folder:
            total += check_named(path.parent.name, path, pathlib.Path(folder)) or collections.Counter()
    for needed in ("data", "ack", "cnp", "XOFF", "XON", "marks", "retransmissions", "TCP", "INT", "dropped: link_loss",
                   "dropped: lossy_threshold", "dropped: queue_limit"):
        if total[needed] == 0:
            sys.exit(f"no scenario shows {needed}")
    print(f"{done} random scenarios and {len(sys.argv) - 3} others: " +
          ", ".join(f"{n} {what}" for what, n in sorted(total.items())))


main()
