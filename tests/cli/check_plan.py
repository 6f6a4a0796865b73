#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire plan: layouts over packets, growth of the network, results that are kept, refusals.

usage: check_plan.py, with the executable in $COLLWIRE.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


JOB = {"kind": "llm", "layers": 4, "hidden": 256, "heads": 4, "sequence": 128, "vocabulary": 1024, "global_batch": 16,
       "gpu": "a100"}
SERVERS = {"dims": [{"kind": "switch", "size": 4, "link": {"rate": "2400Gbps", "delay": "250ns"}},
                    {"kind": "leaf_spine", "size": 2, "ranks_per_leaf": 8, "spines": 8,
                     "link": {"rate": "200Gbps", "delay": "1us"}, "trunk": {"rate": "200Gbps", "delay": "1us"}}]}


def write(folder, topology=None, job=None, name="job.json", **more):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "plan", "topology": topology or SERVERS, "workload": {**JOB, **(job or {})}, **more}, file)
    return path


def plan(path, *args, code=0):
    got = subprocess.run([COLLWIRE, "plan", path, *args], capture_output=True, text=True, check=False)
    assert got.returncode == code, (args, got.returncode, got.stderr)
    return got


def plans(path, *args):
    return json.loads(plan(path, *args, "--format", "json").stdout)["plans"]


def whole(folder, path, p):
    """The time of a plan's job in a run of its own."""
    with open(path, encoding="utf-8") as file:
        made = json.load(file)
    for key in ("tensor", "pipeline", "data", "expert", "context", "virtual_stages", "zero", "micro_batch", "recompute"):
        made["workload"][key] = p[key]
    made["workload"]["schedule"] = "interleaved" if p["virtual_stages"] > 1 else "1f1b"
    made["topology"]["dims"][-1]["size"] = p["gpus"] // 4
    run, out = os.path.join(folder, "run.json"), os.path.join(folder, "out")
    with open(run, "w", encoding="utf-8") as file:
        json.dump(made, file)
    subprocess.run([COLLWIRE, "run", run, "--quiet", "--out", out], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)["programs"][0]["total_ns"]


def check_packets(folder):
    """A job within the budget runs whole, and takes as long as in a run of its own."""
    path = write(folder, job={"tensor": 3, "micro_batch": 7})  # its own degrees do not matter
    found = plans(path, "--gpus", "8", "--best", "3")
    expect("three layouts, the fastest first", len(found) == 3 and found == sorted(found, key=lambda p: p["time_ns"]))
    for p in found:
        product = p["tensor"] * p["pipeline"] * p["data"] * p["expert"] * p["context"]
        expect(f"{product} GPUs by {p['by']}", product == 8 and p["gpus"] == 8 and p["by"] == "packets")
        expect("as long as a run of its own", abs(p["time_ns"] - whole(folder, path, p)) <= 1)
    closed = plans(path, "--gpus", "8", "--packets-budget", "0")
    expect("closed forms alone", all(p["by"] == "closed_form" for p in closed) and len(closed) == 10)
    small = plans(path, "--gpus", "8", "--best", "2", "--packets-budget", "30000")
    expect(f"a budget below the whole job: {[p['by'] for p in small]}", any(p["by"] == "packets-shrunk" for p in small))
    for p in small:
        if p["by"] == "packets-shrunk":
            wanted = p["closed_form"]["total_ns"] * p["run"]["packets_ns"] / p["run"]["closed_form_ns"]
            expect("extrapolated by the closed form", abs(p["time_ns"] - wanted) <= 1)
    near = plans(path, "--gpus", "8", "--packets-budget", "0", "--within", "5%")
    expect("within 5 % of the fastest", 0 < len(near) < 10 and all(p["time_ns"] <= 1.05 * closed[0]["time_ns"] for p in near))


def check_growth(folder):
    """Numbers of GPUs double; a switch is a server, and servers are joined."""
    path = write(folder)
    found = plans(path, "--gpus", "8..32", "--packets-budget", "0")
    expect("8, 16 and 32 GPUs", [p["gpus"] for p in found] == sorted(p["gpus"] for p in found)
           and {p["gpus"] for p in found} == {8, 16, 32})
    one = write(folder, topology={"dims": [{"kind": "switch", "size": 4, "link": {"rate": "2400Gbps", "delay": "250ns"}}]})
    text = plan(one, "--gpus", "4..8", "--packets-budget", "0").stdout
    expect("the default fabric is said", "joined by a leaf_spine of one port of 400 Gbit/s a GPU" in text)
    expect("why the first is faster", "is faster than" in text and "in closed form the second spends" in text)
    fabric = os.path.join(folder, "fabric.json")
    with open(fabric, "w", encoding="utf-8") as file:
        json.dump(SERVERS["dims"][1] | {"link": {"rate": "10Gbps", "delay": "1us"}}, file)
    fast = plans(one, "--gpus", "8", "--packets-budget", "0")[0]
    slow = plans(one, "--gpus", "8", "--packets-budget", "0", "--fabric", fabric)[0]
    expect("a slower fabric", slow["time_ns"] > fast["time_ns"])
    machine = write(folder, topology={"machine": "dgx_h100", "nodes": 1}, job={"heads": 8, "gpu": "h100"})
    expect("servers of a machine", plans(machine, "--gpus", "16", "--best", "1")[0]["by"] == "packets")


def check_kept(folder):
    """With --out a second plan runs nothing; an interrupted one keeps what it has."""
    path, out = write(folder), os.path.join(folder, "kept")
    first = plans(path, "--gpus", "8", "--best", "4", "--out", out)
    with open(os.path.join(out, "packets.jsonl"), encoding="utf-8") as file:
        lines = file.readlines()
    expect("a line for each run", len(lines) == 4)
    with open(os.path.join(out, "packets.jsonl"), "w", encoding="utf-8") as file:  # times that no run gives, and a cut line
        file.writelines(json.dumps(json.loads(line) | {"ps": 10**12 + i}) + "\n" for i, line in enumerate(lines))
        file.write('{"hash": "12')
        file.write('\n{"hash": "%s", "ps": 1e300}' % json.loads(lines[0])["hash"])  # no time of a simulation
    os.mkfifo(os.path.join(out, "packets-9-of-9.jsonl"))  # has no end, and is passed over
    second = plans(path, "--gpus", "8", "--best", "4", "--out", out)
    expect("kept results are used", sorted(p["time_ns"] for p in second) == [10**9, 10**9, 10**9, 10**9] and first != second)
    out = os.path.join(folder, "parts")  # two parts run four layouts, and a third command none
    for part in ("1/2", "2/2"):
        plans(path, "--gpus", "8", "--best", "4", "--out", out, "--shard", part)
    counts = [len(open(os.path.join(out, f"packets-{i}-of-2.jsonl"), encoding="utf-8").readlines()) for i in (1, 2)]
    whole = plans(path, "--gpus", "8", "--best", "4", "--out", out)
    expect("parts are joined", counts == [2, 2] and whole == first and not os.path.exists(os.path.join(out, "packets.jsonl")))
    fast, wide = plans(path, "--gpus", "8", "--packets-budget", "0"), plans(path, "--gpus", "8", "--packets-budget", "0", "--set", "workload.global_batch=2048")
    expect("a key is changed", fast[0]["time_ns"] < wide[0]["time_ns"])
    slow = write(folder, job={"layers": 16, "hidden": 1024, "global_batch": 256})
    out = os.path.join(folder, "cut")
    process = subprocess.Popen([COLLWIRE, "plan", slow, "--gpus", "8", "--jobs", "1", "--out", out, "--format", "json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    while process.poll() is None and not open(children, encoding="utf-8").read():  # until a run has begun
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    text, said = process.communicate(timeout=60)
    expect(f"interrupted: exit {process.returncode}, with what is known",
           process.returncode == 130 and len(json.loads(text)["plans"]) == 10 and "collwire: interrupted: " in said)
    out = os.path.join(folder, "link")  # the file of results is a link to another file, or a folder
    os.mkdir(out)
    other = os.path.join(folder, "other")
    for make in (lambda name: os.symlink(other, name), os.mkdir):
        make(os.path.join(out, "packets.jsonl"))
        done = subprocess.run([COLLWIRE, "plan", path, "--gpus", "8", "--best", "1", "--out", out], capture_output=True, text=True, check=False)
        expect("results that cannot be kept", done.returncode == 2 and "collwire: --out: " in done.stderr and not os.path.exists(other))
        (os.unlink if os.path.islink(os.path.join(out, "packets.jsonl")) else os.rmdir)(os.path.join(out, "packets.jsonl"))


def check_refusals(folder):
    def no(path, part, *args):
        expect(f"refused: {part}", part in plan(path, *args, code=2).stderr)

    path = write(folder)
    no(path, "--gpus: is required")
    no(path, "--shard: needs --out", "--gpus", "8", "--shard", "1/2")
    no(path, '--gpus: "8..4" is not N or A..B', "--gpus", "8..4")
    no(path, "--gpus: 6 are not whole servers of 4 GPUs", "--gpus", "6")
    no(path, '--within: "x" is not a number', "--gpus", "8", "--within", "x")
    no(path, "no degrees multiply to 40", "--gpus", "40")
    no(path, "28 ranks are not a multiple of ranks_per_leaf 8", "--gpus", "28")
    no(path, "none.json", "--gpus", "8", "--fabric", "none.json")
    no(write(folder, job={"kind": "collective", "op": "barrier"}), "plan takes a scenario with one job, of kind llm", "--gpus", "8")
    large = write(folder, job={"layers": 8, "hidden": 16384, "heads": 64, "sequence": 2048})
    no(large, "8 GPUs are the least, by doubling, with one that fits", "--gpus", "4")


def check_impossible(folder):
    """A grid of switches joins only ranks that share one: some layouts need other paths."""
    link = {"rate": "400Gbps", "delay": "1us"}
    grid = {"dims": [{"kind": "switch", "size": 4, "link": link}, {"kind": "switch", "size": 4, "link": link}]}
    got = plan(write(folder, topology=grid), "--gpus", "16", "--best", "20", "--format", "json", "--packets-budget", "1e6")
    left = json.loads(got.stdout)["plans"]
    expect(f"{len(left)} layouts can run, and one line says why others cannot: {got.stderr.strip()}",
           left and got.stderr.count("\n") == 1 and "layouts cannot run on this network: workload" in got.stderr)
    # with relays all can
    got = plan(write(folder, topology=grid, switch={"routing": {"relay": True}}), "--gpus", "16", "--best", "20", "--format",
               "json", "--packets-budget", "1e6")
    expect(f"with relays all can: {got.stderr.strip()}", got.stderr == "" and len(json.loads(got.stdout)["plans"]) > len(left))


def check_machine(folder):
    """Too few descriptors, or too small a stack, end with one line."""
    path = write(folder)
    for limit, code, said in (("-n 4", 1, "Too many open files"), ("-s 64", 2, "a stack of 64 KB is too small")):
        got = subprocess.run(["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", COLLWIRE, "plan", path, "--gpus", "8"],
                             capture_output=True, text=True, check=False)
        expect(f"{said}: {got.returncode}, {got.stderr}", got.returncode == code and said in got.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_packets(folder)
        check_growth(folder)
        check_kept(folder)
        check_refusals(folder)
        check_impossible(folder)
        check_machine(folder)
    sys.exit(1 if FAILED else 0)


main()
