#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire explain --verify: runs without the causes of a run, their times, and what it leaves in the folder.

usage: check_verify.py SCENARIOS, with the executable in $COLLWIRE.
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
failures = []


def expect(condition, what):
    print("ok  " if condition else "FAIL", what)
    if not condition:
        failures.append(what)


def collwire(*args, cwd=None):
    return subprocess.run([COLLWIRE, *args], capture_output=True, text=True, cwd=cwd, check=False)


def load(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def verified_run(folder):
    """The stated saving beside that of a run with the named settings; the run's other files stay."""
    out, again = os.path.join(folder, "out"), os.path.join(folder, "again")
    collwire("run", f"{SCENARIOS}/incast.json", "--set", "cc.kind=dcqcn", "--out", out, "--quiet")
    before = load(out, "metrics.json")
    done = collwire("explain", out, "--verify", "2", "--progress", "never")
    causes = load(out, "verified.json")["causes"]
    expect(done.returncode == 0 and causes[0]["kind"] == "cuts" and len(causes) <= 2, f"verify: {done}")
    sets = [word for setting in causes[0]["remedy"] for word in ("--set", setting)]
    collwire("run", f"{SCENARIOS}/incast.json", "--out", again, "--quiet", *sets)
    time_ns = load(again, "metrics.json")["slowest"]["total_ns"]
    expect(causes[0]["time_ns"] == time_ns, f"the run without the cause takes {time_ns}: {causes[0]}")
    expect(causes[0]["saved_ns"] == before["slowest"]["total_ns"] - time_ns, "what is saved is the difference")
    files = {file["name"] for file in load(out, "run.json")["files"]}
    expect(files == {"metrics.json", "verified.json"} and load(out, "metrics.json") == before, f"files: {files}")
    text = collwire("explain", out).stdout
    expect("[verified:" in text.split("\n\n")[0], f"explain prints what was verified: {text[:300]}")
    collwire("run", f"{SCENARIOS}/incast.json", "--set", "cc.kind=dcqcn", "--out", out, "--quiet")
    expect(not os.path.exists(os.path.join(out, "verified.json")), "a new run removes what was verified of the old one")


def earlier_version(folder):
    """The scenario in a result of up to 0.3.0 names a key that has left."""
    out = os.path.join(folder, "earlier")
    collwire("run", f"{SCENARIOS}/incast.json", "--set", "cc.kind=dcqcn", "--out", out, "--quiet")
    metrics = load(out, "metrics.json")
    metrics["scenario"]["engine"] = {"fast_forward": "off"}
    with open(os.path.join(out, "metrics.json"), "w", encoding="utf-8") as file:
        json.dump(metrics, file, indent=1)
    done = collwire("explain", out, "--verify", "1", "--progress", "never")
    expect(done.returncode == 0 and load(out, "verified.json")["causes"][0]["time_ns"] is not None, f"verify an earlier result: {done}")


def relative_files(folder):
    """Files that the scenario names are found from any folder."""
    links = [{"a": f"rank{i}", "b": "sw0", "rate": "25Gbps" if i == 3 else "100Gbps"} for i in range(4)]
    scenario = {"name": "graph", "topology": {"dims": [{"kind": "graph", "size": 4, "file": "graph.json"}]},
                "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB", "algorithm": "ring"}}
    for name, content in (("graph.json", {"switches": 1, "links": links}), ("job.json", scenario)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(content, file)
    collwire("run", "job.json", "--out", "slow", "--quiet", cwd=folder)
    done = collwire("explain", os.path.join(folder, "slow"), "--verify", cwd="/")
    expect(done.returncode == 0 and "slow_link" in done.stdout, f"a graph file: {done}")


def verified_comparison(folder):
    """compare.json and the report take what was verified of the runs."""
    out = os.path.join(folder, "compared")
    collwire("compare", f"{SCENARIOS}/incast.json", "--cc", "none,dcqcn,hpcc", "--out", out, "--quiet")
    before = load(out, "compare.json")
    done = collwire("explain", out, "--verify", "1", "--progress", "never")
    after = load(out, "compare.json")
    rows = {row["cc"]: row for row in after["rows"]}
    expect(done.returncode == 0 and "incast/dcqcn\n" in done.stdout, f"verify a comparison: {done}")
    expect("verified" not in rows["none"] or rows["none"]["verified"] == [], "none names no cause")
    for cc, kind in (("dcqcn", "cuts"), ("hpcc", "target")):
        cause = rows[cc].get("verified", [{}])[0]
        expect(cause.get("kind") == kind and cause == load(f"{out}/incast/{cc}", "verified.json")["causes"][0],
               f"{cc}: {cause}")
        expect(abs(cause["stated_ns"] - cause["saved_ns"]) <= 0.1 * cause["saved_ns"], f"{cc}: as stated")
    for row in after["rows"]:
        row.pop("verified", None)
    expect(after == before, "nothing else of compare.json has changed")
    with open(os.path.join(out, "report.html"), encoding="utf-8") as file:
        expect("[verified:" in file.read(), "the report has the true savings")


def mistakes(folder):
    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    for args in (["--verify", "0"], ["--verify=x"], ["--verify", "101"]):
        done = collwire("explain", os.path.join(folder, "again"), *args)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1, f"{args}: {done.stderr}")
    expect(collwire("explain", empty, "--verify").returncode == 2, "a folder without results")
    none = os.path.join(folder, "none")
    collwire("run", f"{SCENARIOS}/incast.json", "--out", none, "--quiet")
    done = collwire("explain", none, "--verify")
    expect(done.returncode == 0 and done.stdout.startswith("No cause"), f"a run without causes: {done}")


def interrupted(folder):
    out = os.path.join(folder, "long")
    collwire("run", f"{SCENARIOS}/incast.json", "--set", "cc.kind=dcqcn", "--out", out, "--quiet",
             "--set", "workload.bytes=512MB")
    with subprocess.Popen([COLLWIRE, "explain", out, "--verify"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        text = running.communicate()
    expect(running.returncode == 130, f"interrupted: {running.returncode} {text}")
    collwire("run", f"{SCENARIOS}/incast.json", "--out", out, "--quiet", "--set", "limits.events=1000")
    done = collwire("explain", out, "--verify")
    expect(done.returncode == 2 and "did not complete" in done.stderr, f"an incomplete run: {done}")


with tempfile.TemporaryDirectory() as place:
    verified_run(place)
    earlier_version(place)
    relative_files(place)
    verified_comparison(place)
    mistakes(place)
    interrupted(place)
sys.exit(len(failures) > 0)
