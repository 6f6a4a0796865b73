#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line as a user sees it: wrong inputs, faults, signals, and equal bytes for equal runs.

usage: check_cli.py SCENARIOS, with the executable in $COLLWIRE.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.environ["COLLWIRE"]
SCENARIOS = sys.argv[1]
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def collwire(*args, stdin=None):
    done = subprocess.run([COLLWIRE, *args], capture_output=True, text=True, input=stdin,
                          timeout=100, check=False)
    return done.returncode, done.stdout, done.stderr


def scenario(name):
    return os.path.join(SCENARIOS, name + ".json")


def metrics(out):
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as f:
        return json.load(f)


def measured(out):
    return {k: v for k, v in metrics(out).items() if k not in ("scenario", "series")}


def bad_inputs(tmp):
    """Each input gives one error with its path and exit code 2, and nothing is written."""
    random = os.path.join(tmp, "random.json")
    with open(random, "wb") as f:
        f.write(bytes((i * 7919 + 13) % 251 for i in range(1000)))
    sets = {
        "switch.bufer=1MB": "switch.bufer: unknown key; did you mean \"buffer\"?",
        "topology.dims[0].link.rate=100GB": "topology.dims[0].link.rate",
        "cc.kind=dcqnc": "did you mean \"dcqcn\"?",
        "topology.dims[0].size=0": "topology.dims[0].size",
        "workload.bytes=1000000000000000000": "workload.bytes",
        "workload.start=-1us": "workload.start",
        "workload.receiver=99": "workload.receiver",
        "switch.buffer=200KB": "exceed the buffer",
        'capture=[{"at":"rank77","file":"x.pcap"}]': "rank77",
        'capture=[{"at":"rank0","file":"x.pcap","filter":"udp prt 1"}]': "capture[0].filter",
        'capture=[{"at":"rank0","file":"../x.pcap"}]': "capture[0].file",
        "limits.stall=5": "limits.stall",
        "network=ideal": "network",
    }
    for setting, words in sets.items():
        out = os.path.join(tmp, "bad")
        code, stdout, stderr = collwire("run", scenario("incast"), "--set", setting, "--out", out)
        expect(code == 2 and words in stderr and stdout == "" and not os.path.exists(out),
               f"--set {setting}: exit {code}, {stderr!r}")
    spines = collwire("run", scenario("congestion/permutation"), "--set", "topology.dims[0].spines=0",
                      "--out", os.path.join(tmp, "bad"))
    expect(spines[0] == 2 and "spines" in spines[2], f"spines 0: {spines}")
    for args, words in (((random,), "random.json"), ((tmp,), "directory"),
                        ((os.path.join(tmp, "none.json"),), "cannot be opened"),
                        ((scenario("incast"), "--out", "/proc/nowhere"), "/proc/nowhere"),
                        ((), "one scenario")):
        code, stdout, stderr = collwire("run", *args)
        expect(code == 2 and words in stderr and stdout == "", f"run {args}: {code}, {stderr!r}")
    code, _, stderr = collwire("run", "-", stdin='{"nam": 1, "topology": {"dims": []}}')
    expect(code == 2 and len(stderr.splitlines()) >= 3, f"all errors at once: {stderr!r}")
    for command, words in (("runn", "did you mean \"run\"?"), ("swep", "unknown command")):
        code, _, stderr = collwire(command, "x")
        expect(code == 2 and words in stderr, f"{command}: {code}, {stderr!r}")


def same_bytes(tmp):
    """A second run, captures and sampling do not change the measurements."""
    runs = {
        "a": [], "b": [],
        "captured": ["--set", 'capture=[{"at":"dim0.sw0","file":"sw.pcap"}]'],
        "sampled": ["--set", "report.sample=1us"],
    }
    texts = {}
    for name, args in runs.items():
        out = os.path.join(tmp, name)
        code, _, stderr = collwire("run", scenario("incast"), "--set", "cc.kind=dcqcn", "--quiet",
                                   "--out", out, *args)
        expect(code == 0, f"{name}: exit {code} {stderr}")
        texts[name] = json.dumps(measured(out))
    with open(os.path.join(tmp, "a", "metrics.json"), "rb") as a, \
            open(os.path.join(tmp, "b", "metrics.json"), "rb") as b:
        expect(a.read() == b.read(), "the same scenario twice gives the same bytes")
    expect(texts["captured"] == texts["a"], "a capture changes nothing")
    expect(texts["sampled"] == texts["a"], "sampling changes nothing")
    series = metrics(os.path.join(tmp, "sampled"))["series"]
    lengths = {len(v) for group in ("queue_bytes", "rate_bps", "cwnd_bytes", "paused")
               for v in series[group].values()}
    expect(lengths == {len(series["t_ns"])}, f"series of equal length: {lengths}")
    expect(max(series["queue_bytes"]["dim0.sw0->rank8"]) <=
           metrics(os.path.join(tmp, "sampled"))["queues"]["max_bytes"], "samples below the maximum")
    code, _, _ = collwire("run", scenario("incast"), "--seed", "2", "--quiet", "--set",
                          "cc.kind=dcqcn", "--out", os.path.join(tmp, "c"))
    expect(json.dumps(measured(os.path.join(tmp, "c"))) != texts["a"], "another seed differs")


def unfinished(tmp):
    """A lost packet without recovery stalls: the run reports it, lists what waits, and exits with code 1."""
    out = os.path.join(tmp, "stall")
    code, stdout, _ = collwire("run", scenario("incast"), "--out", out, "--set",
                               "switch.pfc.enabled=false", "--set", "switch.buffer=200KB", "--set",
                               "transport.recovery=none")
    m = metrics(out)
    expect(code == 1 and m["status"] == "incomplete" and m["reason"].startswith("stalled"),
           f"stall: {code} {m['status']} {m['reason']}")
    expect(any("rank0 -> rank8" in w for w in m["waiting"]), f"who waits: {m['waiting']}")
    expect("stalled" in stdout, "the table is followed by the reason")
    left_out = len(m["waiting"]) - 6 + max(0, len(m["explain"]) - 5)
    said = re.sub(r"\n    ", " ", stdout)  # sentences without their line breaks
    expect(len(m["waiting"]) > 6 and all((f"\n  {w}\n" in said) == (i < 6) for i, w in enumerate(m["waiting"])) and
           f"\n  {left_out} more: collwire explain {out}\n" in said, f"six of those that wait are printed: {stdout}")
    expect(f"\n  {m['explain'][0]}\n" in said, "and then the causes")
    code, _, _ = collwire("run", scenario("incast"), "--quiet", "--out", out, "--set",
                          "limits.sim_time=100us")
    expect(code == 1 and "100 us" in metrics(out)["reason"], "sim_time limit")
    expect(metrics(out)["sim_time_ns"] == 100000, "the limit is exact")
    code, _, _ = collwire("run", scenario("incast"), "--quiet", "--out", out, "--set",
                          "duration=100us")
    m = metrics(out)
    expect(code == 0 and m["status"] == "completed" and m["flows"][0]["status"] == "running" and
           m["flows"][0]["fct_ns"] is None, "a planned horizon completes")


def faults(tmp):
    long_run = os.path.join(tmp, "long")
    process = subprocess.Popen([COLLWIRE, "run", scenario("congestion/permutation"), "--out", long_run,
                                "--quiet", "--set", "workload.bytes=100GB"])
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    code = process.wait(timeout=30)
    expect(code == 130 and metrics(long_run)["status"] == "interrupted", f"Ctrl-C: exit {code}")
    expect(metrics(long_run)["flows"][0]["delivered_bytes"] > 0, "results so far are kept")
    code, _, stderr = collwire("run", scenario("congestion/permutation"), "--out", long_run, "--progress", "always",
                               "--set", "workload.bytes=100GB", "--set", "limits.wall=1.2s")
    m = metrics(long_run)
    expect(code == 1 and m["reason"] == "wall clock limit of 1.2 s reached", f"wall: {m['reason']}")
    line = r" +\d+\.\d %  [\d.]+ .s simulated, \d+\.\d\d M packet-hops/s, ETA \d+:\d\d:\d\d +"
    expect(any(re.fullmatch(line, text) for text in stderr.splitlines()), f"progress: {stderr!r}")
    expect(re.match(r"estimate: up to [\d.]+ MB of memory for the run, most of it for packets in flight",
                    stderr) and ", about " in stderr, f"estimate: {stderr!r}")
    with open(os.path.join(long_run, "run.json"), encoding="utf-8") as f:
        run = json.load(f)
    expect(1 < run["wall_s"] < 5 and run["cpu_s"] < 1.2 * run["wall_s"], f"times: {run}")
    process = subprocess.Popen([COLLWIRE, "compare", scenario("congestion/permutation"), "--cc", "none,window,dcqcn",
                                "--jobs", "2", "--out", long_run, "--quiet", "--set",
                                "workload.bytes=100GB"])
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    code = process.wait(timeout=30)
    with open(os.path.join(long_run, "compare.json"), encoding="utf-8") as f:
        states = [row["status"] for row in json.load(f)["rows"]]
    expect(code == 130 and states == ["interrupted", "interrupted", "failed"],
           f"Ctrl-C of a comparison: exit {code}, {states}")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([COLLWIRE, "list"], stdout=full, stderr=subprocess.PIPE, check=False)
    expect(done.returncode == 1, f"stdout that cannot be written: exit {done.returncode}")


def limited(out):
    """run.json contains the memory limit of the run."""
    code, _, _ = collwire("run", scenario("incast"), "--quiet", "--out", out, "--set", "limits.memory=1GB")
    with open(os.path.join(out, "run.json"), encoding="utf-8") as f:
        limit = json.load(f)["memory_limit_bytes"]
    expect(code == 0 and limit == 1000000000, f"memory_limit_bytes: {limit}")


def default_places(tmp):
    """Without --out results are written to out/NAME and out/NAME-compare."""
    for words, path in ((["run"], "out/incast/metrics.json"),
                        (["compare", "--cc", "none"], "out/incast-compare/compare.json")):
        done = subprocess.run([COLLWIRE, words[0], os.path.abspath(scenario("incast")), *words[1:]], cwd=tmp,
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 0 and f"results: {path}" in done.stdout and
               os.path.exists(os.path.join(tmp, path)), f"{words}: {done.stdout}")


def streams(tmp):
    out = os.path.join(tmp, "stream")
    done = subprocess.run([COLLWIRE, "run", scenario("incast"), "--out", out, "--set",
                           'capture=[{"at":"rank8","file":"-"}]'], capture_output=True, check=False)
    magic = done.stdout[:4].hex()
    expect(done.returncode == 0 and magic == "4d3cb2a1", f"pcap on stdout: {magic}")
    expect(b"completed" in done.stderr, "the table then goes to stderr")
    with open(scenario("incast"), encoding="utf-8") as f:
        code, stdout, stderr = collwire("run", "-", "--out", out + "-stdin", "--format", "json", stdin=f.read())
    expect(code == 0 and json.loads(stdout)["rows"][0]["status"] == "completed", "a scenario on stdin")
    expect(stderr == "", f"no progress when stderr is no terminal: {stderr!r}")


def comparing(tmp):
    out = os.path.join(tmp, "compare")
    code, stdout, _ = collwire("compare", scenario("incast"), "--cc", "none,window,dcqcn:paper",
                               "--seeds", "2", "--out", out)
    with open(os.path.join(out, "compare.json"), encoding="utf-8") as f:
        rows = json.load(f)["rows"]
    expect(code == 0 and len(rows) == 6, f"compare: exit {code}, {len(rows)} rows")
    expect({r["cc"] for r in rows} == {"none", "window", "dcqcn:paper"}, "policies as written")
    expect("window" in stdout and "dcqcn:paper  " in stdout and "ms, seeds 1-2" in stdout, "table and its seeds")
    for row in rows:
        name = f"{row['cc'].replace(':', '-')}-seed{row['seed']}"
        m = metrics(os.path.join(out, "incast", name))
        expect(m["seed"] == row["seed"] and m["scenario"]["cc"]["kind"] == row["cc"].split(":")[0],
               f"{name} is what its row says")
    none, window = rows[0], rows[2]
    expect(none["pause_frames"] > 0 and window["max_queue_bytes"] < none["max_queue_bytes"],
           "a window keeps the queue shorter")
    with open(os.path.join(out, "compare.csv"), encoding="utf-8") as f:
        expect(len(f.readlines()) == 7, "a CSV line a row and a header")
    code, _, stderr = collwire("compare", scenario("incast"), "--cc", "none,bbr", "--out",
                               os.path.join(tmp, "nothing"))
    expect(code == 2 and "bbr" in stderr and "--cc-plugin" in stderr and not os.path.exists(os.path.join(tmp, "nothing")),
           f"unknown policy: {code}, {stderr!r}")
    code, _, _ = collwire("compare", scenario("incast"), "--cc", "none,window", "--out", out,
                          "--set", "limits.sim_time=10us")
    expect(code == 1, "a row that did not complete")


def importing(tmp):
    """Files of ASTRA-sim become a scenario; errors in them give exit code 2 and write nothing."""
    files = {
        "net.json": '{"dimensions-count":1,"topologies-per-dim":["Ring"],"units-count":[4],'
                    '"links-count":[2],"link-latency":[500],"link-bandwidth":[50]}',
        "sys.txt": "endpoint-delay: 10\nall-reduce-implementation: ring\n",
        "work.txt": "DATA\n1\na -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 4 5\n",
        "short.txt": "DATA\n2\na -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 4 5\n",
    }
    paths = {name: os.path.join(tmp, name) for name in files}
    for name, text in files.items():
        with open(paths[name], "w") as file:
            file.write(text)
    three = [paths["net.json"], paths["sys.txt"], paths["work.txt"]]
    code, stdout, stderr = collwire("import", "astra", *three, "--passes", "2")
    expect(code == 0 and stderr == "", f"import: {code}, {stderr!r}")
    job = json.loads(stdout)["workload"]
    expect(job["kind"] == "training" and job["iterations"] == 2 and len(job["layers"]) == 1,
           f"import: {job}")
    out = os.path.join(tmp, "imported.json")
    code, nothing, _ = collwire("import", "astra", *three, "--passes", "2", "-o", out)
    with open(out) as file:
        expect(code == 0 and nothing == f"scenario: {out}\n" and file.read() == stdout, "import -o")
    os.unlink(out)
    for scale in ("0", "1000000"):
        code, stdout, _ = collwire("import", "astra", *three, "--compute-scale", scale)
        expect(code == 0 and json.loads(stdout)["workload"]["compute_scale"] == int(scale), "scale")
    for args, words in (((*three[:2], paths["short.txt"]), "short.txt, line 4"),
                        ((*three[:2], "none.txt"), "none.txt"),
                        (three[:2], "import takes"),
                        ((*three, "--passes", "0"), "--passes"),
                        ((*three, "--compute-scale", "x"), "--compute-scale")):
        code, stdout, stderr = collwire("import", "astra", *args, "-o", out)
        expect(code == 2 and words in stderr and stdout == "" and not os.path.exists(out),
               f"import {args}: {code}, {stderr!r}")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        limited(os.path.join(tmp, "limited"))
        for part in (bad_inputs, same_bytes, unfinished, faults, default_places, streams, comparing,
                     importing):
            part(tmp)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
