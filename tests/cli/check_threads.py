#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--threads on the command line: numbers that are refused, what run.json and warnings say, the same files for any
number of threads in run, compare and sweep, and interruptions. usage: check_threads.py FOLDER_OF_BENCH"""
import filecmp
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
BENCH = sys.argv[1]
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def call(*args):
    done = subprocess.run([COLLWIRE, *args], capture_output=True, timeout=120, check=False)
    return done.returncode, done.stderr.decode()


def bench(name):
    return os.path.join(BENCH, name + ".json")


def threads_of(out):
    with open(os.path.join(out, "run.json"), encoding="utf-8") as f:
        return json.load(f)["threads"]


def same(one, other):
    names = sorted(n for n in os.listdir(one) if n not in ("run.json", ".collwire"))
    there = sorted(n for n in os.listdir(other) if n not in ("run.json", ".collwire"))
    return names == there and not filecmp.cmpfiles(one, other, names, shallow=False)[1]


def numbers(tmp):
    for word in ("0", "65", "two", "-1", ""):
        code, said = call("run", bench("ring16"), "--threads", word, "--out", os.path.join(tmp, "none"))
        expect(code == 2 and "--threads" in said, f"--threads '{word}' is refused")
        expect(not os.path.exists(os.path.join(tmp, "none")), "nothing is written")


def notes(tmp):
    """A run that cannot be shared out, or only among fewer threads, says why and gives the same results."""
    out, one = os.path.join(tmp, "notes"), os.path.join(tmp, "one")
    small = ["--set", "workload.bytes=20KB", "--quiet"]
    cases = ((["--set", "transport.qp=per_message", "--set", "capture=[{\"at\":\"rank0->*\",\"file\":\"a.pcapng\"}]"],
              4, 1, "captures"),
             (["--plain"], 2, 1, "reference engine"), (["--set", "network=analytical"], 2, 1, "closed form"),
             ([], 30, 16, "16 parts"))
    for more, wanted, used, words in cases:
        first = call("run", bench("ring16"), *small, *more, "--out", one)
        code, said = call("run", bench("ring16"), *small, *more, "--threads", str(wanted), "--out", out)
        expect((code, first[0]) == (0, 0), f"{more}: exit {code}")
        got = threads_of(out)
        expect(got["used"] <= used and words in (got["note"] or ""), f"{more}: {got}")
        expect("warning: --threads: " in said and words in said, f"{more}: warns: {said}")
        expect(same(one, out), f"{more}: the same files")
    layer = ["--set", "limits.sim_time=30us", "--quiet", "--out", out]
    _, said = call("run", bench("llama-layer"), "--threads", "64", *layer)
    expect("processors" in said or said == "", f"64 servers: {said}")


CAPTURES = [{"at": "rank0,leaf0,rank5", "file": "a.pcapng"}, {"at": "leaf1", "file": "b.pcap.gz"},
            {"at": "*", "file": "c.pcapng", "trigger": "start at queue > 20KB", "ring": "200KB"},
            {"at": "spine0", "file": "d.pcapng", "trigger": "stop at drop", "filter": "udp"}]


def captures(tmp):
    """Captures of several parts are the same bytes."""
    one, more = os.path.join(tmp, "captures1"), os.path.join(tmp, "captures")
    base = ["run", bench("hoti128"), "--set", "workload.bytes=200KB", "--set", "capture=" + json.dumps(CAPTURES),
            "--quiet"]
    code, said = call(*base, "--out", one)
    expect(code == 0 and os.path.getsize(os.path.join(one, "c.pcapng")) > 100000, f"captures: {code} {said}")
    for threads in (2, 3):
        call(*base, "--threads", str(threads), "--out", more)
        expect(threads_of(more)["used"] == threads and same(one, more), f"captures with {threads} threads")


def commands(tmp):
    for command, more in (("compare", ["--cc", "none,dcqcn,dctcp"]),
                          ("sweep", ["--vary", "workload.bytes=10KB,20KB"])):
        outs = []
        for threads in ("1", "2"):
            outs.append(os.path.join(tmp, command + threads))
            code, said = call(command, bench("a2a16"), *more, "--set", "workload.bytes=40KB", "--threads", threads,
                              "--quiet", "--out", outs[-1])
            expect(code == 0, f"{command} --threads {threads}: {code} {said}")
        for name in ("compare.json", "sweep.csv"):
            paths = [os.path.join(out, name) for out in outs]
            if os.path.exists(paths[0]):
                expect(filecmp.cmp(*paths, shallow=False), f"{command}: {name}")


def interrupted(tmp):
    out = os.path.join(tmp, "interrupted")
    process = subprocess.Popen([COLLWIRE, "run", bench("perm128"), "--set", "workload.bytes=1GB", "--threads", "2",
                                "--quiet", "--out", out])
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    expect(process.wait(timeout=10) == 130, f"Ctrl-C: {process.returncode}")
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as f:
        metrics = json.load(f)
    expect(metrics["status"] == "interrupted", "the results so far, marked")
    expect(metrics["sim_time_ns"] > 0 and metrics["flows_summary"]["running"] == 128, "128 flows are running")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for part in (numbers, notes, captures, commands, interrupted):
            part(tmp)
    print("failed" if failures else "all as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
