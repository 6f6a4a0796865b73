#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Networks and flows in files of other simulators: each gives the same metrics as its links or flows written by hand here, and a file
that is not understood is one error with its line. All files are of our own making. Cost: 1 s.
usage: check_networks.py, with the executable in $COLLWIRE."""
import json
import os
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.path.abspath(os.environ.get("COLLWIRE", "build/collwire"))
failures = []

HTSIM = """# a fat tree of two tiers
Nodes 16
tiers 2
Podsize 16

Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 4
Downlink_Latency_ns 700
Switch_Latency_ns 200
Oversubscribed 2

Tier 1
Downlink_speed_Gbps 50
Radix_Down 8
Bundle 2
Downlink_Latency_ns 1000
Switch_Latency_ns 300
"""
HTSIM3 = """Nodes 16
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 2000
"""
NS3 = """5 2 5
4 2
0 4 100Gbps 0.001ms 0
1 4 100Gbps 1us 0.000000
3 2 25Gbps 1000ns 0
2 4 400Gbps 0.005ms 0
2 4 400Gbps 0.005ms 0
"""
SIMAI = """14 4 2 4 22 H100
8 9 10 11 12 13
""" + "".join(f"{g} {8 + g // 4} 2880Gbps 0.000025ms 0\n{g} {10 + g // 4} 400Gbps 0.0005ms 0\n" for g in range(8)) + """10 12 400Gbps 0.0005ms 0
10 13 400Gbps 0.0005ms 0
11 12 400Gbps 0.0005ms 0
11 13 400Gbps 0.0005ms 0
12 10 400Gbps 0.0005ms 0
13 11 400Gbps 0.0005ms 0
"""
FLOWS = "3\n0 3 3 100 1000000 0\n1 3 3 101 1000000 0.000001\n\n2 3 3 100 500000 0.00001\n"
FCT = "0b000001 0b000301 10000 100 1000000 0 95000 82000\n0b000101 0b000301 10000 100 500000 1000 50000 41000\n"


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def write(folder, name, text):
    with open(os.path.join(folder, name), "wb" if isinstance(text, bytes) else "w", **({} if isinstance(text, bytes) else {"encoding": "utf-8", "newline": ""})) as out:
        out.write(text)
    return os.path.join(folder, name)


def ran(folder, dim, workload):
    job = write(folder, "job.json", json.dumps({"name": "n", "topology": {"dims": [dim]}, "workload": workload}))
    out = os.path.join(folder, "out")
    done = subprocess.run([COLLWIRE, "run", job, "--out", out], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        return done, None
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return done, json.load(file)


def graph(size, file="net", **more):
    return {"kind": "graph", "size": size, "file": file, **more}


def incast(size):
    return {"kind": "flows", "flows": [{"src": s, "dst": (3 * s + 1) % size, "bytes": f"{200 + s}KB"} for s in range(size) if (3 * s + 1) % size != s]}


def link(a, b, rate, delay):
    return {"a": a, "b": b, "rate": rate, "delay": delay}


def by_hand():
    """The same networks as links: (what, file, size, further settings, switches, links)."""
    two = [link(f"rank{r}", f"sw{r // 4}", "100Gbps", "800ns") for r in range(16)]
    two += [link(f"sw{t}", f"sw{4 + s}", "50Gbps", "1250ns") for t in range(4) for s in range(2) for _ in range(2)]
    three = [link(f"rank{r}", f"sw{r // 2}", "100Gbps", "1us") for r in range(16)]
    three += [link(f"sw{t}", f"sw{8 + t // 2 * 2 + m}", "100Gbps", "1us") for t in range(8) for m in range(2)]
    three += [link(f"sw{8 + m}", f"sw{16 + c}", "100Gbps", "2us") for m in range(8) for c in range(m % 2, 4, 2)]
    ns3 = [link("rank0", "sw0", "100Gbps", "1us"), link("rank1", "sw0", "100Gbps", "1us"), link("rank2", "sw1", "25Gbps", "1us"),
           link("sw1", "sw0", "400Gbps", "5us"), link("sw1", "sw0", "400Gbps", "5us")]
    simai = []
    for g in range(8):
        simai += [link(f"rank{g}", f"sw{g // 4}", "2880Gbps", "25ns"), link(f"rank{g}", f"sw{2 + g // 4}", "400Gbps", "500ns")]
    simai += [link(f"sw{a}", f"sw{b}", "400Gbps", "500ns") for a, b in ((2, 4), (2, 5), (3, 4), (3, 5), (4, 2), (5, 3))]
    ring = [link(f"rank{r}", f"rank{(r + 1) % 4}", "100Gbps", "1us") for r in range(4)]
    text = "4 0 4\n\n" + "".join(f"{r} {(r + 1) % 4} 100Gbps 0.001ms 0\n" for r in range(4))
    return (("htsim of two tiers", HTSIM, 16, {}, 6, two), ("htsim of three tiers", HTSIM3, 16, {}, 20, three), ("ns-3", NS3, 3, {}, 2, ns3),
            ("SimAI", SIMAI, 8, {}, 6, simai), ("a ring without switches", text, 4, {"transit": True}, 0, ring),
            ("CRLF", NS3.replace("\n", "\r\n"), 3, {}, 2, ns3), ("words over lines", NS3.replace(" 4\n", "\n4\n", 1).replace("Gbps ", "Gbps\n"), 3, {}, 2, ns3))


def check_networks(folder):
    for what, text, size, more, switches, links in by_hand():
        write(folder, "net", text)
        write(folder, "own.json", json.dumps({"switches": switches, "links": links}))
        done, theirs = ran(folder, graph(size, **more), incast(size))
        own_done, own = ran(folder, graph(size, "own.json", **more), incast(size))
        expect(own is not None and theirs is not None, f"{what}: {done.stderr}{own_done.stderr}")
        if own is not None and theirs is not None:
            same = [key for key in own if key not in ("scenario", "run", "hash") and own[key] != theirs.get(key)]
            expect(all("own.json" in json.dumps(own[key]) for key in same), f"{what}: other {same}")
    write(folder, "net", NS3)
    done, _ = ran(folder, graph(3), incast(3))
    expect("ids of hosts are not their ranks" in done.stderr, f"ids that are no ranks: {done.stderr}")
    write(folder, "net", SIMAI.replace("\n1 10 400", "\n1 11 400"))
    done, _ = ran(folder, graph(8), incast(8))
    expect(done.stderr.count("share switch 2 beside their NVSwitches") == 1, f"a switch beside NVSwitches: {done.stderr}")
    write(folder, "net", HTSIM + "Queue_Down 100\n")
    done, _ = ran(folder, graph(16), incast(16))
    expect(done.returncode == 0 and "queue_limit" in done.stderr, f"queues: {done.stderr}")


def check_flows(folder):
    star, rows = {"kind": "switch", "size": 4}, "src,dst,bytes,start_ns,measured_ns\n"
    pairs = (("a list of ns-3", FLOWS, rows + "0,3,1000000,0,\n1,3,1000000,1000,\n2,3,500000,10000,\n"),
             ("a list of conweave", FLOWS.replace(" 100 ", " ").replace(" 101 ", " "), rows + "0,3,1000000,0,\n1,3,1000000,1000,\n2,3,500000,10000,\n"),
             ("what ns-3 measured", FCT, rows + "0,3,1000000,0,95000\n1,3,500000,1000,50000\n"),
             ("with ids", FCT.replace("0b000001", "0").replace("0b000101", "1").replace("0b000301", "3"), rows + "0,3,1000000,0,95000\n1,3,500000,1000,50000\n"))
    for what, text, csv in pairs:
        write(folder, "flows", text)
        write(folder, "flows.csv", csv)
        done, theirs = ran(folder, star, {"kind": "flows", "file": "flows"})
        own_done, own = ran(folder, star, {"kind": "flows", "file": "flows.csv"})
        expect(own is not None and theirs is not None and all(own[key] == theirs[key] for key in ("time_ns", "flows", "summary", "measured") if key in own),
               f"{what}: {done.stderr}{own_done.stderr}")
    for what, text, word in (("fewer flows", FLOWS.replace("3\n", "4\n", 1), "4 flows are announced, and 3 follow"),
                             ("a negative size", FLOWS.replace("1000000", "-1", 1), "line 2: bytes"), ("no time", FLOWS.replace("0.000001", "nan"), "line 3: start"),
                             ("a word too many", FLOWS.replace("0.000001", "0.1 7"), "line 3: a flow is"), ("cut off", FCT[:70], "line 2: a flow that ended is"),
                             ("a huge number", FLOWS.replace("3\n", "99999999999999999999999\n", 1), "is not a number of flows"),
                             ("more flows", FLOWS.replace("3\n", "2\n", 1), "is not read"), ("two groups", FLOWS.replace("0 3 3 ", "0 3 1 "), "several priority groups")):
        write(folder, "flows", text)
        done, _ = ran(folder, star, {"kind": "flows", "file": "flows"})
        expect(done.returncode == (0 if word in ("is not read", "several priority groups") else 2) and word in done.stderr, f"{what}: {done.stderr}")


WRONG = (
    ("an unknown word", HTSIM + "Colour 7\n", 16, "line 20: \"Colour\" is not a word"), ("twice", HTSIM + "Bundle 2\n", 16, "line 20: Bundle is given twice"),
    ("a tier too many", HTSIM + "Tier 2\n", 16, "tier 2: is above"), ("no tier", HTSIM.split("Tier 1")[0], 16, "tier 1: is missing"),
    ("a negative number", HTSIM.replace("Radix_Up 4", "Radix_Up -4"), 16, "line 9: Radix_Up"), ("no number", HTSIM.replace("Radix_Up 4", "Radix_Up nan"), 16, "line 9: Radix_Up"),
    ("a huge tree", HTSIM.replace("Nodes 16", "Nodes 4000000000"), 16, "line 2: Nodes"), ("too long", HTSIM.replace("Nodes 16", "Nodes " + "0" * 60 + "16"), 16, "is too long"),
    ("oversubscription", HTSIM.replace("Oversubscribed 2\n", ""), 16, "tier 0: Oversubscribed"), ("ports", HTSIM.replace("Radix_Down 8", "Radix_Down 16"), 16, "tier 0: Radix_Up is not a bundle"),
    ("no delay", HTSIM.replace("Downlink_Latency_ns 700\n", ""), 16, "tier 0: needs"), ("no value", HTSIM.replace("Podsize 16", "Podsize"), 16, "line 4: Podsize has 0 values"),
    ("other ranks", HTSIM, 8, "has 16 hosts, and the sizes of all dimensions multiply to 8 ranks: give \"size\": 16"),
    ("five words", NS3.replace("5 2 5", "5 2 5 1 1"), 3, "line 1: 5 words"), ("no node", NS3.replace("0 4 1", "0 5 1"), 3, "line 3: \"5\" is not a node from 0 to 4"),
    ("a switch twice", NS3.replace("4 2\n", "4 4\n"), 3, "line 2: node 4 is listed twice"), ("fewer links", NS3.replace("5 2 5", "5 2 6"), 3, "the file ends before the links"),
    ("a link cut off", NS3[:-4], 3, "a link is"), ("losses", NS3.replace("0.000000", "0.01"), 3, "line 4: the error rate must be 0"), ("NaN", NS3.replace("0.000000", "nan"), 3, "line 4: \"nan\""),
    ("no unit", NS3.replace("25Gbps", "25"), 3, "line 5: rate"), ("switches only", "2 2 1\n0 1\n0 1 1Gbps 1us 0\n", 3, "1 to 262144 hosts"),
    ("many links", "3 1 18446744073709551615\n2\n0 2 1Gbps 1us 0\n", 2, "the file ends before"), ("many nodes", "18446744073709551615 1 1\n", 2, "hosts"),
    ("to itself", NS3.replace("0 4 100", "0 0 100"), 3, "both ends are the same node"), ("NUL", NS3.encode() + b"\0", 3, ""), ("UTF-16", NS3.encode("utf-16"), 3, ""),
    ("nothing", "", 3, ""), ("blanks", " \n\n", 3, ""))


def check_wrong(folder):
    for what, text, size, word in WRONG:
        write(folder, "net", text)
        begin = time.monotonic()
        done, _ = ran(folder, graph(size), incast(size))
        lines = [line for line in done.stderr.splitlines() if "warning" not in line]
        expect(done.returncode == 2 and word in done.stderr and len(lines) == 1 and done.stdout == "", f"{what}: {done.returncode}, {done.stdout}{done.stderr}")
        expect(time.monotonic() - begin < 10, f"{what}: {time.monotonic() - begin:.1f} s")
    done, _ = ran(folder, graph(3, "gone"), incast(3))
    expect(done.returncode == 2 and "gone" in done.stderr, f"no file: {done.stderr}")
    write(folder, "net", NS3 + "and more\n")
    done, _ = ran(folder, graph(3), incast(3))
    expect(done.returncode == 0 and "is not read" in done.stderr, f"more than announced: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_networks(folder)
        check_flows(folder)
        check_wrong(folder)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
