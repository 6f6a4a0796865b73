#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trials: what `collwire run`, `compare` and `explain` try, what they put into the results, what they cost, and how they end.

usage: check_try.py SCENARIOS, with the executable in $COLLWIRE.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

os.environ.pop("COLLWIRE_SHARE", None)  # the charts of this build
COLLWIRE, SCENARIOS = os.path.abspath(os.environ["COLLWIRE"]), os.path.abspath(sys.argv[1])
INCAST = f"{SCENARIOS}/incast.json"
DCQCN = ("--set", "cc.kind=dcqcn")
failures = []


def expect(condition, what):
    print("ok  " if condition else "FAIL", what)
    if not condition:
        failures.append(what)


def collwire(*args, cwd=None):
    return subprocess.run([COLLWIRE, *args, "--progress", "never"], capture_output=True, text=True, cwd=cwd, check=False)


def load(folder, name="metrics.json"):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def raw(folder):
    with open(os.path.join(folder, "metrics.json"), "rb") as file:
        return file.read()


def tried(metrics):
    return [reason for reason in metrics["reasons"] if reason["tried"]]


def a_run(folder):
    """The first reason was tried, and the run with its settings takes what it says; nothing else of the results changes."""
    out, again, quiet = (os.path.join(folder, name) for name in ("out", "again", "quiet"))
    done = collwire("run", INCAST, *DCQCN, "--out", out)
    metrics = load(out)
    first = metrics["reasons"][0]
    expect(done.returncode == 0 and first["tried"] and first["kind"] == "cuts" and metrics["trials"] == "completed", f"{first}")
    expect(metrics["explain"][0] == first["sentence"] and "tried, " in first["sentence"], f"it comes first: {metrics['explain'][:1]}")
    collwire("run", INCAST, *DCQCN, "--out", again, "--quiet", *[word for one in first["set"] for word in ("--set", one)])
    saved = metrics["jobs"][0]["time_ns"] - load(again)["jobs"][0]["time_ns"]
    expect(first["saved_ns"] == saved > 0, f"saved {first['saved_ns']}, by hand {saved}")
    collwire("run", INCAST, *DCQCN, "--out", quiet, "--quiet")
    plain = load(quiet)
    expect(not tried(plain) and plain["trials"] is None and "not tried" in plain["explain"][0], f"quiet: {plain['explain'][0]}")
    same = {key for key in metrics if key not in ("explain", "reasons", "trials")}
    expect(all(metrics[key] == plain[key] for key in same), "the other metrics are those of a run without trials")
    collwire("explain", quiet, "--try")
    expect(raw(quiet) == raw(out), "explain --try gives the bytes that the run gives")
    text = collwire("explain", out).stdout
    expect(f"--set '{first['set'][0]}'" in text, f"explain prints the settings: {text[:300]}")
    files = {file["name"] for file in load(out, "run.json")["files"]}
    expect(files == {"metrics.json"}, f"files: {files}")


def numbers(folder):
    out = os.path.join(folder, "n")
    for args, n in ((("--try", "1"), 1), (("--set", "explain.try=0"), 0), (("--set", "explain.try=2", "--quiet"), 2)):
        collwire("run", INCAST, *DCQCN, "--out", out, *args)
        expect(len(tried(load(out))) == n, f"{args}: {len(tried(load(out)))} tried")
    three = load(out)
    for args in (("--threads", "2", "--together"), ("--jobs", "1"), ("--plain",)):
        collwire("run", INCAST, *DCQCN, "--out", out, "--quiet", "--set", "explain.try=2", *(args if args[0] != "--jobs" else ()))
        expect(load(out)["reasons"] == three["reasons"] and load(out)["explain"] == three["explain"], f"{args}: the same")


def dear(folder):
    """Above 20 million packet-hops trials are on the hybrid network; where that takes as long, one line says what they would cost."""
    out = os.path.join(folder, "dear")
    collwire("run", INCAST, *DCQCN, "--out", out, "--quiet")
    metrics = load(out)
    metrics["packet_hops"] = 21000000
    with open(os.path.join(out, "metrics.json"), "w", encoding="utf-8") as file:
        json.dump(metrics, file, indent=1)
    text = " ".join(collwire("explain", out).stdout.split())
    expect("no cause was tried, since a run has 21 million packet-hops" in text and "--try 3" in text, text[-300:])
    done = collwire("run", f"{SCENARIOS}/start/ring.json", "--set", "workload.bytes=1600MB", "--out", out)
    text, metrics = " ".join(done.stdout.split()), load(out)
    expect("tried on the hybrid network, " in text and "no cause was tried" not in text, f"run: {text[-400:]}")
    expect(metrics["trials"] == "completed" and tried(metrics), "it has tried on the hybrid network")
    done = collwire("run", INCAST, *DCQCN, "--set", "workload.bytes=2600MB", "--out", out)
    text, metrics = " ".join(done.stdout.split()), load(out)
    expect("no cause was tried, since a run has" in text and "--try 3" in text, f"run: {text[-400:]}")
    expect(metrics["trials"] is None and not tried(metrics), "where messages meet it has tried nothing")


def relative_files(folder):
    """Files that the scenario names are found from any folder; a trial that is not valid is no error of the run."""
    links = [{"a": f"rank{i}", "b": "sw0", "rate": "25Gbps" if i == 3 else "100Gbps"} for i in range(4)]
    scenario = {"name": "graph", "topology": {"dims": [{"kind": "graph", "size": 4, "file": "graph.json"}]},
                "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB", "algorithm": "ring"}}
    for name, content in (("graph.json", {"switches": 1, "links": links}), ("job.json", scenario)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(content, file)
    collwire("run", "job.json", "--out", "slow", "--quiet", cwd=folder)
    out = os.path.join(folder, "slow")
    done = collwire("explain", out, "--verify", cwd="/")
    expect(done.returncode == 0 and tried(load(out))[0]["kind"] == "slow_link", f"a graph file: {done}")
    metrics = load(out)
    metrics["reasons"][0]["set"] = ["no.such=1"]
    with open(os.path.join(out, "metrics.json"), "w", encoding="utf-8") as file:
        json.dump(metrics, file, indent=1)
    done = collwire("explain", out, "--try", "1")
    refused = [r for r in load(out)["reasons"] if r["set"] == ["no.such=1"]][0]
    expect(done.returncode == 0 and not refused["tried"] and "not valid" in refused["sentence"], f"refused: {refused['sentence']}")


def earlier_version(folder):
    """The scenario in a result of up to 0.3.0 names a key that has left."""
    out = os.path.join(folder, "earlier")
    collwire("run", INCAST, *DCQCN, "--out", out, "--quiet")
    metrics = load(out)
    metrics["scenario"]["engine"] = {"fast_forward": "off"}
    with open(os.path.join(out, "metrics.json"), "w", encoding="utf-8") as file:
        json.dump(metrics, file, indent=1)
    done = collwire("explain", out, "--try", "1")
    expect(done.returncode == 0 and len(tried(load(out))) == 1, f"an earlier result: {done}")


def a_comparison(folder):
    """The first cause of the worst row, and the best change of the best one."""
    out = os.path.join(folder, "compared")
    done = collwire("compare", INCAST, "--cc", "none,dcqcn,window", "--out", out)
    worst = tried(load(f"{out}/incast/dcqcn"))
    text = " ".join(done.stdout.split())
    expect(done.returncode == 0 and len(worst) == 1 and worst[0]["kind"] == "cuts", f"the worst: {[r['kind'] for r in worst]}")
    expect("Longest row (dcqcn): dcqcn cut" in text and "Best change (" in text, text[-900:])
    expect(worst[0]["saved_ns"] / load(f"{out}/incast/dcqcn")["jobs"][0]["time_ns"] > 0.5, f"{worst[0]['saved_ns']}")
    done = collwire("explain", out, "--try", "1")
    rows = {row["cc"]: row for row in load(out, "compare.json")["rows"]}
    expect(done.returncode == 0 and "incast/dcqcn\n" in done.stdout and "tried" in rows["dcqcn"]["explain"][0], f"all rows: {done}")
    with open(os.path.join(out, "report.html"), encoding="utf-8") as file:
        expect("with no policy: tried, " in file.read(), "the report has what was tried")
    collwire("compare", INCAST, "--cc", "none,dcqcn", "--out", out, "--quiet")
    expect(not tried(load(f"{out}/incast/dcqcn")), "quiet: nothing was tried")


def mistakes(folder):
    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    for args in (["--try", "0"], ["--try=x"], ["--try", "101"], ["--verify", "0"]):
        done = collwire("explain", os.path.join(folder, "again"), *args)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1, f"{args}: {done.stderr}")
    done = collwire("run", INCAST, "--set", "explain.try=-1", "--out", os.path.join(folder, "bad"))
    expect(done.returncode == 2 and "explain.try" in done.stderr, f"a number below 0: {done.stderr}")
    expect(collwire("explain", empty, "--try").returncode == 2, "a folder without results")
    out = os.path.join(folder, "cut")
    collwire("run", INCAST, "--out", out, "--quiet", "--set", "limits.events=1000")
    done = collwire("explain", out, "--try")
    expect(done.returncode == 2 and "did not complete" in done.stderr, f"an incomplete run: {done}")


def interrupted(folder):
    """Ctrl-C during trials keeps the run's results, and says that trials are missing."""
    out = os.path.join(folder, "long")
    args = [COLLWIRE, "run", INCAST, *DCQCN, "--set", "workload.bytes=512MB", "--set", "explain.try=3", "--out", out]
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        running.stdout.readline()  # the table is printed before the trials begin
        while running.stdout.readline().strip():
            pass
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        text = running.communicate()
    metrics = load(out)
    expect(running.returncode == 130 and metrics["status"] == "completed" and metrics["trials"] == "interrupted",
           f"{running.returncode} {metrics['trials']} {text[1]}")


with tempfile.TemporaryDirectory() as place:
    a_run(place)
    numbers(place)
    dear(place)
    relative_files(place)
    earlier_version(place)
    a_comparison(place)
    mistakes(place)
    interrupted(place)
sys.exit(len(failures) > 0)
