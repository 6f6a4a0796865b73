#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TCP by the command line: the same bytes twice, by the reference engine and without captures; closed
windows; resets.

usage: check_tcp.py FIRST-LAST        seeds of tests/net/capture/check_tcp_wireshark.py; the executable is in
$COLLWIRE
"""
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "net", "capture"))
# pylint: disable=wrong-import-position
import check_capture
import check_tcp
import check_tcp_wireshark


def run(made, folder, name, *options):
    """Exit code, metrics as bytes, capture at rank 0 as bytes, and what was printed."""
    path, out = os.path.join(folder, "scenario.json"), os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    done = subprocess.run([os.environ["COLLWIRE"], "run", path, "--out", out, *options],
                          capture_output=True, text=True, check=False)
    files = []
    for file in ("metrics.json", "rank0.pcap"):
        try:
            with open(os.path.join(out, file), "rb") as data:
                files.append(data.read())
        except FileNotFoundError:
            files.append(b"")
    return done.returncode, *files, done.stdout


def same(seed):
    """What differs between runs of one scenario; None if nothing does."""
    made = check_tcp_wireshark.scenario(seed)
    with tempfile.TemporaryDirectory() as folder:
        code, metrics, capture, _ = run(made, folder, "a")
        if code != 0 or not capture:
            return f"seed {seed}: exit {code}"
        for name, options in (("again", ()), ("plain", ("--plain",))):
            if run(made, folder, name, *options)[:3] != (code, metrics, capture):
                return f"seed {seed}: {name}"
        bare = json.loads(run(made, folder, "bare", "--set", "capture=[]")[1])
        whole = json.loads(metrics)
        keys = [key for key in whole if key != "scenario" and whole[key] != bare[key]]
    return f"seed {seed}: without the capture: {keys}" if keys else None


def base(**more):
    return {"name": "tcp", "topology": {"dims": [
        {"kind": "switch", "size": 2, "link": {"rate": "1Gbps", "delay": "1ms"}}]},
            "transport": {"kind": "tcp", **more.pop("transport", {})},
            "workload": {"kind": "flows", "flows": [{"src": 0, "dst": 1, "bytes": "1MB"}]},
            "capture": [{"at": "rank0", "file": "rank0.pcap", "snaplen": "65535B"}], **more}


def packets(folder):
    return [check_tcp.parse(*record)
            for record in check_capture.records(os.path.join(folder, "a", "rank0.pcap"))]


def reset(folder):
    """After the last of the retries: RST on the wire, a failed flow, exit 1, and the reason in words."""
    made = base(transport={"retries": 3}, faults=[{"at": "rank1->*", "one_way": True, "down": "20ms"}])
    code, metrics, _, text = run(made, folder, "a")
    metrics, seen = json.loads(metrics), packets(folder)
    assert code == 1 and metrics["status"] == "incomplete"
    assert metrics["flows"][0]["status"] == "failed" and metrics["flows_summary"]["failed"] == 1
    assert metrics["tcp"]["resets"] == 1 and metrics["tcp"]["timeouts"] == 4
    text = " ".join(text.split())
    assert "retry limit exceeded" in text and "its retries are used up" in text
    assert [bool(p.flags & check_tcp.RST) for p in seen].count(True) == 1
    assert seen[-1].flags & check_tcp.RST
    gaps = [b.at - a.at for a, b in zip(seen[-4:], seen[-3:])]  # 3 repetitions and the reset
    assert all(1.9 < b / a < 2.1 for a, b in zip(gaps, gaps[1:])), f"timeouts {gaps}"


def no_answer(folder):
    """SYNs are repeated syn_retries times, with doubled timeouts; no connection is reset."""
    made = base(transport={"syn_retries": 3}, faults=[{"at": "rank0->*", "one_way": True, "down": "0ns"}])
    code, metrics, _, text = run(made, folder, "a")
    seen = [p for p in packets(folder) if p.flags & check_tcp.SYN]
    assert code == 1 and len(seen) == 4 and "retry limit exceeded" in text
    gaps = [round((b.at - a.at) / 1e9) for a, b in zip(seen, seen[1:])]
    assert gaps == [1, 2, 4], f"SYNs after {gaps} s"
    assert json.loads(metrics)["flows"][0]["delivered_bytes"] == 0


def closed_window(folder, lost):
    """The receiver stops reading; probes find the window open again, also if its update is lost."""
    made = base(transport={"receive_window": "100KB", "read_stop": "10ms", "read_resume": "3s"})
    if lost:  # the update is the only packet of the receiver at that time
        made["faults"] = [{"at": "rank1->*", "one_way": True, "down": "2999ms", "up": "3001ms"}]
    code, metrics, _, _ = run(made, folder, "a")
    metrics, seen = json.loads(metrics), packets(folder)
    assert code == 0 and metrics["flows"][0]["delivered_bytes"] == 1000000
    closed = [p for p in seen if p.dport != 5001 and p.window == 0]
    probes = metrics["tcp"]["window_probes"]
    assert closed and probes >= 3 and metrics["tcp"]["timeouts"] == 0
    assert len(closed) in (probes, probes + 1), f"{len(closed)} closed windows, {probes} probes"
    end = max(p.at for p in closed)
    assert all(p.payload == 0 for p in seen if p.dport == 5001 and closed[0].at < p.at <= end)
    update = next(p.at for p in seen if p.dport != 5001 and p.at > end and p.window > 0) / 1e9
    assert (update > 3.005) == lost, f"the window opens at {update} s"


def main():
    first, _, last = sys.argv[1].partition("-")
    failed = 0
    with multiprocessing.Pool(2) as pool:
        for difference in pool.imap(same, range(int(first), int(last) + 1)):
            if difference:
                failed += 1
                print(difference)
    for check, *args in ((reset,), (no_answer,), (closed_window, False), (closed_window, True)):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(folder, *args)
            except AssertionError:
                failed += 1
                print(f"{check.__name__}{tuple(args)}:")
                traceback.print_exc(file=sys.stdout)
    print(f"{failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
