#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""When messages over TCP end: as an application at either end sees it, whatever the receiver's ACK timer does.

A message ends when its last byte has arrived in order and its ACK is back, without the time for which the
receiver held the ACK: between the delivery and one RTT after it, in an empty network. A program's send ends
when its last byte is in the send buffer. Connections of collectives and programs are open before the start.

usage: check_tcp_ends.py, with the executable in $COLLWIRE.
"""
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def call(folder, made, *sets, options=()):
    """Exit code, messages and metrics of a run, with ranks that start together."""
    made = {"noise": {"preset": "none"}, **made}
    path = os.path.join(folder, "scenario.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    out = os.path.join(folder, "out")
    options = [*options, *(word for one in sets for word in ("--set", one))]
    done = subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out, *options], capture_output=True, check=False)
    if done.returncode == 2:
        return 2, done.stderr.decode(), None
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return done.returncode, done.stderr.decode(), json.load(file)


def network(ranks, rate="100Gbps", delay="1us"):
    return {"topology": {"dims": [{"kind": "switch", "size": ranks, "link": {"rate": rate, "delay": delay}}]}}


def flow(size, **transport):
    return {"name": "one", **network(2), "transport": {"kind": "tcp", **transport},
            "workload": {"kind": "flows", "flows": [{"src": 0, "dst": 1, "bytes": size}]}}


def lone_flows(folder):
    """Odd and even numbers of segments: the last one waits for the timer of 40 ms, or does not."""
    before = 0
    for size in (1, 1448, 2896, 1000000, 9000000, 10000000, 10002000, 20000000):
        _, _, metrics = call(folder, flow(size))
        one = metrics["flows"][0]
        back = one["fct_ns"] - one["delivered_ns"]
        # two links of 1 us and two transmissions of an ACK of 90 bytes on the wire
        expect(f"{size} B end {back} ns after their delivery, an ACK's way", 2000 <= back <= 2000 + 2 * 8 + 200)
        expect(f"{size} B: the run ends with the message", metrics["sim_time_ns"] == one["fct_ns"])
        expect(f"{size} B take longer than less", one["fct_ns"] > before)
        before = one["fct_ns"]
        quick = call(folder, flow(size, delayed_ack={"segments": 1}))[2]["flows"][0]["fct_ns"]
        expect(f"{size} B: {one['fct_ns']} ns, with an ACK a segment {quick} ns",
               abs(quick - one["fct_ns"]) < 0.01 * quick + 100)


def incasts(folder):
    """Policies of loss tie where the buffer holds everything, for odd and even last segments."""
    for size in (1000000, 1004256):
        times = {}
        for policy in ("cubic", "newreno", "dctcp"):
            made = {"name": "incast", **network(9), "transport": {"kind": "tcp"}, "cc": {"kind": policy},
                    "workload": {"kind": "incast", "receiver": 8, "bytes": size}}
            times[policy] = call(folder, made)[2]["flows_summary"]["fct_ns"]["max"]
        low, high = min(times.values()), max(times.values())
        expect(f"8 senders of {size} B tie: {times}", high < 1.01 * low and high < 1000000)


def timer_waited_for(folder):
    """A sender whose window waits for a held ACK: the wait is the timer's, and an ACK a segment saves it."""
    made = flow(100000, initial_window=1)
    slow = call(folder, made)[2]
    fast = call(folder, made, 'transport.delayed_ack={"segments": 1}')[2]
    part = slow["slowest"]["parts"].get("ack_delay_ns", 0)
    saved = slow["flows"][0]["fct_ns"] - fast["flows"][0]["fct_ns"]
    said = [r for r in slow["reasons"] if r["kind"] == "ack_delay"]
    expect(f"the timer of 40 ms is waited for once: {part} ns", part == 40000000)
    expect(f"stated {[r['saving_ns'] for r in said]}, saved {saved} ns",
           len(said) == 1 and abs(said[0]["saving_ns"] - saved) < 0.01 * saved)
    expect("the message's own account has it", slow["flows"][0]["time"]["ack_delay_ns"] == part)
    expect("with an ACK a segment nothing is said", not any(r["kind"] == "ack_delay" for r in fast["reasons"]))


def goal(folder, text, *sets):
    with open(os.path.join(folder, "p.goal"), "w", encoding="utf-8") as file:
        file.write(text)
    made = {"name": "goal", **network(2), "transport": {"kind": "tcp"}, "workload": {"kind": "goal", "file": "p.goal"}}
    return call(folder, made, *sets)


def send_buffer(folder):
    """A send ends at once where the buffer has room, else when what is before its end less the buffer is acknowledged."""
    text = ("num_ranks 2\nrank 0 {{\n a: send {size}b to 1\n b: calc 1000\n b requires a\n}}\n"
            "rank 1 {{\n recv {size}b from 0\n}}\n")
    for size, buffer in ((10000, "auto"), (28000, "auto"), (1000000, "1MB"), (1000000, "200KB")):
        _, _, metrics = goal(folder, text.format(size=size), f"transport.send_buffer={buffer}")
        at = metrics["ranks"][0]["finish_ns"] - 1000
        full = buffer == "200KB"
        # the first 800 KB are acknowledged: at the line rate 66 us, and up to 5 RTTs of slow start
        expect(f"a send of {size} B into a buffer of {buffer} ends after {at} ns", 66000 < at < 130000 if full else at == 0)
    _, _, metrics = goal(folder, text.format(size=1000000), "transport.kind=roce")
    expect("over RoCE it ends at the last ACK", metrics["ranks"][0]["finish_ns"] > 80000)
    _, _, limited = call(folder, flow(10000000, send_buffer="20KB"))
    # 13 segments of 1448 B fit into 20 KB: so many leave in an RTT of 4.3 us at most
    least = 10000000 / (13 * 1448) * 4000
    expect(f"in flight is at most the buffer: {limited['flows'][0]['fct_ns']} ns, at least {least:.0f}",
           limited["flows"][0]["fct_ns"] > least)


def matching(folder):
    """Sends and receives of a GOAL file match in the order of the file, whenever they start."""
    text = ("num_ranks 2\nrank 0 {\n a: send 1000b to 1\n b: send 2000b to 1\n c: calc 50000\n a requires c\n}\n"
            "rank 1 {\n d: recv 1000b from 0\n e: recv 2000b from 0\n f: calc 1000\n f requires e\n}\n")
    code, _, metrics = goal(folder, text)
    expect("the second receive ends with the second send, which starts first",
           code == 0 and metrics["ranks"][1]["compute_ns"] == 1000 and 50000 < metrics["ranks"][1]["finish_ns"] < 60000)
    code, messages, _ = goal(folder, text.replace("recv 2000b", "recv 2001b"))
    expect(f"sizes that differ are an error: {messages.strip()}",
           code == 2 and "receives 2001 bytes" in messages and "has 2000" in messages)


def relayed(folder):
    """The send of a message that is relayed ends with its first leg, on any number of threads."""
    grid = network(2)
    grid["topology"]["dims"].append({"kind": "switch", "size": 8, "link": {"rate": "10Gbps", "delay": "1us"}})
    grid["switch"] = {"routing": {"relay": True}}
    # two sends and two computations of each rank to the far one, which leave one after the other
    ranks = "\n".join(f"rank {r} {{\n a: send 100000b to {(r + 3) % 16}\n b: send 1b to {(r + 3) % 16}\n b requires a\n"
                      f" c: calc 1000\n c requires b\n d: recv 100000b from {(r - 3) % 16}\n"
                      f" e: recv 1b from {(r - 3) % 16}\n}}" for r in range(16))
    with open(os.path.join(folder, "p.goal"), "w", encoding="utf-8") as file:
        file.write(f"num_ranks 16\n{ranks}\n")
    for kind in ("roce", "tcp", "uec"):
        made = {"name": "relay", **grid, "transport": {"kind": kind, **({"send_buffer": "1MB"} if kind == "tcp" else {})},
                "workload": {"kind": "goal", "file": "p.goal"}}
        _, _, metrics = call(folder, made)
        first = [f for f in metrics["flows"] if f["bytes"] == 100000 and f["start_ns"] == 0]
        far = {f["src"]: f for f in first if abs(f["src"] - f["dst"]) == 1}  # the fast dimension first
        ends = {r: f["start_ns"] + (0 if kind == "tcp" else f["fct_ns"]) for r, f in far.items()}
        seconds = {f["src"]: f["start_ns"] for f in metrics["flows"] if f["bytes"] == 1 and f["src"] in ends
                   and abs(f["src"] - f["dst"]) == 1}
        starts = {r: min(f["start_ns"] for f in metrics["flows"] if f["bytes"] == 1 and f["src"] == r) for r in seconds}
        expect(f"{kind}: the second sends of {len(starts)} ranks start with the ends of their first legs",
               len(far) == 16 and starts == {r: ends[r] for r in starts} and len(starts) == 16)
        for threads in ("2", "7"):
            expect(f"{kind}: the same on {threads} threads", call(folder, made, options=("--threads", threads))[2] == metrics)


def established(folder):
    """Collectives need no handshake in the run; raw flows do, unless they are told so."""
    made = {"name": "ring", **network(4, delay="100us"), "transport": {"kind": "tcp"},
            "workload": {"kind": "collective", "op": "all_gather", "bytes": 4000, "algorithm": "ring"}}
    ends = {mode: call(folder, made, f"transport.connections={mode}")[2]["collectives"][0]["duration_ns"]
            for mode in ("auto", "established", "pooled")}
    rtt = 400000
    expect(f"a ring's connections are open before: {ends}",
           ends["auto"] == ends["established"] and abs(ends["pooled"] - ends["auto"] - rtt) < 0.01 * rtt)
    base = call(folder, flow(1448))[2]["flows"][0]["fct_ns"]
    open_ = call(folder, flow(1448, connections="established"))[2]["flows"][0]["fct_ns"]
    expect(f"a flow has a handshake ({base} ns) unless it is established ({open_} ns)", 3900 < base - open_ < 4500)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in (lone_flows, incasts, timer_waited_for, send_buffer, matching, relayed, established):
            test(folder)
    return len(FAILED) > 0


if __name__ == "__main__":
    sys.exit(main())
