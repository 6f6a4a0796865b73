#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Regression tests: scenarios that once crashed, hung or gave wrong figures.

usage: check_findings.py FINDINGS, a folder of scenarios, with the executable in $COLLWIRE.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.environ["COLLWIRE"]
FINDINGS = sys.argv[1]
SANITIZED = os.environ.get("COLLWIRE_SANITIZED") == "ON"  # such a build needs terabytes of addresses
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def path(name):
    return os.path.join(FINDINGS, name)


def run(name, out, *args):
    done = subprocess.run([COLLWIRE, "run", path(name), "--out", out, "--quiet", *args],
                          capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stderr


def metrics(out):
    with open(os.path.join(out, "metrics.json"), "rb") as f:
        return f.read()


def both_engines(tmp, name, code, *args):
    """Exit `code` (None = 0 or 1), and the same bytes from the reference engine."""
    fast, plain = os.path.join(tmp, name), os.path.join(tmp, name + "-plain")
    for out, more in ((fast, ()), (plain, ("--plain",))):
        got, stderr = run(name, out, *args, *more)
        expect(got == code or (code is None and got in (0, 1)), f"{name} {more}: exit {got}, {stderr!r}")
    if not failures:
        expect(metrics(fast) == metrics(plain), f"{name} {args}: the reference engine differs")
        return json.loads(metrics(fast))
    return None


def crashes(tmp):
    """Each of these crashed although `validate` accepted it."""
    for name in ("segv_planes_shared_nic.json", "seg.json", "event_past.json", "case6873.json",
                 "router_at2.json", "plain_differs_zero_wire.json", "tcp_probe.json"):
        both_engines(tmp, name, 0)
    both_engines(tmp, "event_past2.json", 1)  # messages fail past their last retry, as they should
    m = both_engines(tmp, "router_at.json", 1)
    if m:
        expect(m["status"] == "incomplete" and m["reason"], "router_at.json ends with a reason")
    code, stderr = run("static_route_via_rank.json", os.path.join(tmp, "none"))
    expect(code == 2 and "routes[0]: rank8 is a rank" in stderr, f"a route: {code}, {stderr!r}")
    both_engines(tmp, "circular_route.json", 1)
    code, stderr = run("relay_in_one_dimension.json", os.path.join(tmp, "none"))
    expect(code == 2 and "topology.dims[0].switch.routing.relay" in stderr,
           f"relay: {code}, {stderr!r}")
    for name in ("poisson_unjoined.json", "case6974.json"):
        code, stderr = run(name, os.path.join(tmp, "none"))
        expect(code == 2 and "differ in more than one dimension" in stderr, f"{name}: {code}, {stderr!r}")


def link_comes_back(tmp):
    """A queue pair opened while its rank was cut off gets a port on the right path later: the message is
    delayed by at most one retransmission timer."""
    m = both_engines(tmp, "router_at2.json", 0)
    if m:
        flow = m["flows"][0]
        rto_ns, up_ns = 67.1e6, 1e6
        expect(flow["status"] == "completed" and up_ns < flow["fct_ns"] < up_ns + rto_ns + 1e5,
               f"router_at2: {flow}")


def event_limit(tmp):
    """limits.events counts only events that both engines have, so both end at the same time."""
    for events in (1, 100, 1000, 12345):
        for name in ("seg.json", "event_past.json", "two_runs.json"):
            both_engines(tmp, name, None, "--set", f"limits.events={events}", "--set", "capture=[]")


def samples_are_no_events(tmp):
    """limits.events ends a run at the same time with and without samples, after all events of that time."""
    for events in (1, 10, 1000, 12345):
        texts = []
        for sample in ("0ns", "1ns", "777ns"):
            out = os.path.join(tmp, "events")
            code, stderr = run("two_runs.json", out, "--set", f"limits.events={events}", "--set",
                               "capture=[]", "--set", f"report.sample={sample}")
            expect(code == 1, f"limits.events {events}, report.sample {sample}: {code}, {stderr!r}")
            m = json.loads(metrics(out))
            texts.append(json.dumps({k: v for k, v in m.items() if k not in ("scenario", "series", "thinned")}))
        expect(len(set(texts)) == 1, f"limits.events {events}: samples change the metrics")


def last_event_ends_the_work(tmp):
    """A run that completes with the last event that limits.events allows is reported as completed."""
    scenario = os.path.join(tmp, "last.json")
    with open(scenario, "w", encoding="utf-8") as f:
        json.dump({"name": "last", "topology": {"dims": [{"kind": "switch", "size": 1}]},
                   "workload": {"kind": "collective", "op": "barrier", "start": "1us"}}, f)
    for engine in ((), ("--plain",)):
        code, stderr = run(scenario, os.path.join(tmp, "last"), "--set", "limits.events=1", *engine)
        expect(code == 0, f"last event {engine}: {code}, {stderr!r}")


def sampling_is_bounded(tmp):
    """A series has at most 2 million values for any step: every other sample is dropped when needed."""
    for name, step in (("sampling_explosion.json", None), ("two_runs.json", "1ps")):
        out = os.path.join(tmp, "sampled")
        args = ["--set", f"report.sample={step}"] if step else []
        began = time.time()
        code, stderr = run(name, out, *args)
        expect(code == 0 and time.time() - began < 60, f"{name}: {code}, {stderr!r}")
        series = json.loads(metrics(out))["series"]
        lines = [line for group in ("queue_bytes", "rate_bps", "cwnd_bytes", "paused")
                 for line in series[group].values()]
        lines += [line for flow in series["observe"].values() for line in flow.values()]
        n, t = len(series["t_ns"]), series["t_ns"]
        expect(all(len(line) == n for line in lines), f"{name}: series of equal length")
        expect(0 < n * len(lines) <= 2000000, f"{name}: {n} samples of {len(lines)} values")
        expect(t[0] == 0 and all(abs(t[k] - k * t[1]) <= k for k in range(n)),
               f"{name}: equal steps from 0")


def samples_of_nothing(tmp):
    """The number of sample times is limited too while there is nothing to sample."""
    scenario, out = os.path.join(tmp, "nothing.json"), os.path.join(tmp, "nothing")
    with open(scenario, "w", encoding="utf-8") as f:
        json.dump({"name": "nothing", "report": {"sample": "1ps"},
                   "topology": {"dims": [{"kind": "fully_connected", "size": 2}]},
                   "workload": {"kind": "flows", "flows": [
                       {"src": 0, "dst": 1, "bytes": 1000, "start": "200us"}]}}, f)
    began = time.time()
    code, stderr = run(scenario, out)
    expect(code == 0 and time.time() - began < 30, f"samples of nothing: {code}, {stderr!r}")
    expect(len(json.loads(metrics(out))["series"]["t_ns"]) <= 2000000, "2 million times at most")


def unlisted_flows_wait(tmp):
    """Messages that did not complete are listed as waiting, even if report.flows_max omits the list of
    messages."""
    for flows_max in (0, 1, 10000):
        out = os.path.join(tmp, "unlisted")
        run("two_runs.json", out, "--set", f"report.flows_max={flows_max}", "--set", "capture=[]",
            "--set", "limits.sim_time=10us")
        m = json.loads(metrics(out))
        expect(m["status"] == "incomplete" and any("bytes delivered" in w for w in m["waiting"]),
               f"flows_max {flows_max}: {m['status']}, {m['waiting']}")


def late_flow_is_null(tmp):
    """Samples from before a queue pair was opened are null, also after samples have been dropped."""
    scenario, out = os.path.join(tmp, "late.json"), os.path.join(tmp, "late")
    with open(scenario, "w", encoding="utf-8") as f:
        json.dump({"name": "late", "topology": {"dims": [{"kind": "switch", "size": 3}]},
                   "workload": {"kind": "flows", "flows": [
                       {"src": 0, "dst": 1, "bytes": "1MB"},
                       {"src": 1, "dst": 2, "bytes": "1MB", "start": "30us"}]},
                   "report": {"sample": "37ps"}}, f)
    code, stderr = run(scenario, out)
    series = json.loads(metrics(out))["series"]
    late = series["rate_bps"]["1"]
    expect(code == 0 and len(late) > 1000, f"late: {code} {stderr!r}")
    expect(all((rate is None) == (t < 30000) for t, rate in zip(series["t_ns"], late) if t != 30000),
           "late: null before its start, and never after")
    expect(None not in series["rate_bps"]["0"], "a flow from the beginning has all samples")


def flow_file_blanks(tmp):
    """A size is one word: "1 MB" is an error, and not read as 1 byte."""
    scenario = os.path.join(tmp, "f.json")
    with open(scenario, "w", encoding="utf-8") as f:
        json.dump({"name": "f", "topology": {"dims": [{"kind": "switch", "size": 4}]},
                   "workload": {"kind": "flows", "file": os.path.abspath(path("flows_space.csv"))}}, f)
    code, stderr = run(scenario, os.path.join(tmp, "f"))
    expect(code == 2 and "line 2: bytes is not a size" in stderr and "line 3" in stderr,
           f"flows_space.csv: {code}, {stderr!r}")


def fifos(tmp):
    """Where a file is read, a FIFO, a directory, a device or a socket is an error at once, and nothing waits for
    a writer. What comes through a pipe is read from stdin."""
    folder = os.path.join(tmp, "fifos")
    os.mkdir(folder)
    os.mkfifo(os.path.join(folder, "fifo"))
    os.mkdir(os.path.join(folder, "directory"))
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.join(folder, "socket"))
    os.symlink("/dev/zero", os.path.join(folder, "device"))
    servers = {"machine": "1gpu_h100_400", "nodes": 2}
    library = {"kind": "collective", "op": "all_reduce", "bytes": "1MB"}
    switch = {"dims": [{"kind": "switch", "size": 2}]}
    flows = {"kind": "flows", "flows": [{"src": 0, "dst": 1, "bytes": 1}]}
    for name in ("fifo", "directory", "socket", "device"):
        for suffix in (".jsonl", ".yml", ".0.et", ".1.et"):
            os.symlink(name, os.path.join(folder, name + suffix))
        uses = {
            "flows": {"workload": {"kind": "flows", "file": name}},
            "cdf": {"workload": {"kind": "poisson", "cdf": name, "load": 0.5, "duration": "1us"}},
            "goal": {"workload": {"kind": "goal", "file": name}},
            "program": {"workload": {"kind": "program", "file": name}},
            "lines": {"workload": {"kind": "program", "file": name + ".jsonl"}},
            "training": {"workload": {"kind": "training", "file": name}},
            "chakra": {"workload": {"kind": "chakra", "prefix": name}},
            "groups": {"workload": {"kind": "chakra", "prefix": name, "comm_groups": name}},
            "graph": {"topology": {"dims": [{"kind": "graph", "size": 2, "file": name}]}},
            "astra": {"topology": {"astra": name}},
            "yaml": {"topology": {"astra": name + ".yml"}},
            "plugin": {"plugins": [name]},
            "xml": {"topology": servers, "workload": {**library, "library": {"kind": "xml", "file": name}}},
            "traces": {"topology": servers, "workload": {**library, "library": {"kind": "xml", "traces": name}}},
            "layers": {"workload": {"kind": "cnn", "model": "custom", "shapes": name}},
            "system": {"workload": {"kind": "training", "system": name, "parallelism": "DATA", "layers": [{"name": "l"}]}},
        }
        special = os.path.join(folder, name)
        given = os.path.join(folder, name + "-given")  # a folder that a command reads
        os.mkdir(given)
        for inside in ("a.sqlite", "a.json", "a.log", "results.sqlite"):
            os.symlink(special, os.path.join(given, inside))
        # a folder's files of other kinds are passed over, and code is not loaded
        elsewhere = {"nsys": "has no file that ends in", "kineto": "has no file that ends in", "inspector": "has no file that ends in", "report": "has no results", "plugin": "is code"}
        commands = [("validate", special), ("replay", special, "-o", os.path.join(folder, "flows.csv")), ("partition", special, "--parts", "2"),
                    ("library", "nccl", "--machine", "dgx_h100", "--nodes", "2", "--against", special),
                    *(("import", kind, given, "-o", os.path.join(folder, "imported.json")) for kind in ("nsys", "kineto", "inspector")),
                    ("report", given)]
        for use, part in uses.items():
            scenario = os.path.join(folder, f"{use}.json")
            with open(scenario, "w", encoding="utf-8") as f:
                json.dump({"name": "f", "topology": switch, "workload": flows, **part}, f)
            commands.append(("validate", scenario))
        for command in commands:
            done = subprocess.run([COLLWIRE, *command], capture_output=True, text=True, timeout=10, check=False,
                                  cwd=folder)
            expect(done.returncode == 2 and done.stderr, f"{command}: {done.returncode}, {done.stderr!r}")
            use = os.path.basename(command[1]).removesuffix(".json") if command[0] == "validate" else command[1] if command[0] == "import" else command[0]
            if name == "fifo":
                expect(elsewhere.get(use, "it is a pipe") in done.stderr, f"{command}: {done.stderr!r}")
    with open(path("seg.json"), encoding="utf-8") as f:
        text = f.read()
    done = subprocess.run([COLLWIRE, "validate", "-"], input=text, capture_output=True, text=True, timeout=10,
                          check=False)
    expect("seg: valid" in done.stdout and done.returncode == 0, "a scenario through a pipe")
    process = subprocess.Popen([COLLWIRE, "validate", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    began = time.time()
    code = process.wait(timeout=10)
    expect(code == 130 and time.time() - began < 1, f"Ctrl-C while waiting for a pipe: {code}")
    expect("interrupted while reading the scenario" in process.stderr.read(), "it says so")
    process.stdin.close()


def long_validation(tmp):
    """The routes of 67,583 switches and ranks take long: progress is shown, and Ctrl-C ends it at once."""
    del tmp
    process = subprocess.Popen([COLLWIRE, "validate", path("ls64k.json"), "--progress", "always"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    began = time.time()
    stderr = process.communicate(timeout=10)[1]
    expect(process.returncode == 130 and time.time() - began < 1,
           f"Ctrl-C while validating: {process.returncode}")
    expect("building the network, 2 s" in stderr, f"progress while validating: {stderr!r}")


def memory(tmp):
    """A run above the memory limit is refused; a run that exhausts memory ends with its results so far."""
    out = os.path.join(tmp, "memory")
    code, stderr = run("two_runs.json", out, "--set", "limits.memory=2MB")
    expect(code == 2 and "limits.memory" in stderr and "of which" in stderr and
           not os.path.exists(out), f"limits.memory: {code}, {stderr!r}")
    done = subprocess.run([COLLWIRE, "validate", path("two_runs.json"), "--set", "limits.memory=2MB"],
                          capture_output=True, text=True, timeout=100, check=False)
    expect(done.returncode == 2 and "limits.memory" in done.stderr and "valid" not in done.stdout,
           f"validate, limits.memory: {done.returncode}, {done.stderr!r}")
    code, stderr = run("two_runs.json", out, "--set", "capture=[]")
    resolved = json.loads(metrics(out))["scenario"]["limits"]["memory"]
    with open(os.path.join(out, "run.json"), encoding="utf-8") as f:
        limit = json.load(f)["memory_limit_bytes"]
    expect(code == 0 and resolved == "auto" and limit > 1e8, f"resolved {resolved}, limit {limit}")
    if SANITIZED:
        return
    limited = subprocess.run(["sh", "-c", f'ulimit -v 200000; exec "$0" run "$1" --out {out} --quiet '
                              '--set "capture=[]"', COLLWIRE, path("two_runs.json")],
                             capture_output=True, text=True, timeout=100, check=False)
    expect(limited.returncode == 0, f"200 MB of address space: {limited.returncode} {limited.stderr}")


def memory_ends(tmp):
    """120,000 flows: refused where less is allowed than they need; in 160 MB of address space they end with results."""
    if SANITIZED:
        return
    flows, scenario = os.path.join(tmp, "many.csv"), os.path.join(tmp, "many.json")
    with open(flows, "w", encoding="utf-8") as f:
        f.writelines(f"{i % 64},{(i + 1 + i // 64 % 63) % 64},{1 + i % 9973},{i * 30}\n"
                     for i in range(120000))
    with open(scenario, "w", encoding="utf-8") as f:
        json.dump({"name": "many", "topology": {"dims": [{"kind": "switch", "size": 64}]},
                   "workload": {"kind": "flows", "file": "many.csv"}}, f)
    out = os.path.join(tmp, "many")
    line = f'ulimit -v {{space}}; exec "$0" run "$1" --out {out} --quiet --set limits.memory='
    for space, limit, code, words in ((160000, "80MB", 2, "queue pairs"), (160000, "10GB", 1, ""),
                                      (180000, "10GB", 1, "")):
        shutil.rmtree(out, ignore_errors=True)
        command = line.format(space=space) + limit
        done = subprocess.run(["sh", "-c", command, COLLWIRE, scenario], capture_output=True,
                              text=True, timeout=100, check=False)
        expect(done.returncode == code and words in done.stderr,
               f"{space} {limit}: {done.returncode} {done.stderr!r}")
        expect(os.path.exists(out) == (code == 1), f"limits.memory {limit}: {out}")
    m = json.loads(metrics(out))
    expect(m["status"] == "incomplete" and "out of memory" in m["reason"] and
           m["flows_summary"]["count"] > 0, f"so far: {m['status']} {m['reason']}")


def escaped(tmp):
    """Names from files reach the terminal without control characters."""
    name = os.path.join(tmp, "escape.json")
    with open(name, "w", encoding="utf-8") as f:
        f.write('{"\\u001b]0;x\\u0007": 1, "name": "\\u001b[2J"}')
    code, stderr = run(name, os.path.join(tmp, "e"))
    expect(code == 2 and "\x1b" not in stderr and "\x07" not in stderr and "\\x1b]0;x\\x07" in stderr,
           f"escapes: {stderr!r}")
    for code_point in ("202e", "2066", "200f", "061c"):
        with open(name, "w", encoding="utf-8") as f:
            f.write('{"a' + chr(int(code_point, 16)) + 'b": 1}')
        code, stderr = run(name, os.path.join(tmp, "e"))
        expect(code == 2 and chr(int(code_point, 16)) not in stderr and f"a\\u{code_point}b" in stderr,
               f"escapes: {stderr!r}")
    done = subprocess.run([COLLWIRE, "\x1b[2J\u202e"], capture_output=True, text=True, timeout=10, check=False)
    expect(done.returncode == 2 and "\\x1b[2J\\u202e" in done.stderr and "\x1b" not in done.stderr,
           f"an unknown command: {done.stderr!r}")


def names(tmp):
    """A byte order mark is named; a name that no folder can have is an error of `validate` too."""
    name, out = os.path.join(tmp, "name.json"), os.path.join(tmp, "name")
    with open(name, "wb") as f:
        f.write(b'\xef\xbb\xbf{"name": "a"}')
    code, stderr = run(name, out)
    expect(code == 2 and "byte order mark" in stderr, f"a byte order mark: {stderr!r}")
    for length in (200, 201, 5000):
        with open(name, "w", encoding="utf-8") as f:
            json.dump({"name": "n" * length, "topology": {"dims": [{"kind": "switch", "size": 2}]},
                       "workload": {"kind": "flows", "flows": [{"src": 0, "dst": 1, "bytes": 1}]}}, f)
        done = [subprocess.run([COLLWIRE, command, name], capture_output=True, text=True, timeout=60, check=False,
                               cwd=tmp) for command in ("validate", "run")]
        expect([d.returncode for d in done] == ([0, 0] if length <= 200 else [2, 2]),
               f"a name of {length} letters: {[d.stderr[-200:] for d in done]}")
        expect(length <= 200 or all("the maximum is 200" in d.stderr for d in done), f"{length} letters")


def trimmed_class_of_tcp(tmp):
    """A transport that brings its own class into one that is trimmed, and does not take trimmed packets, is refused."""
    name, out = os.path.join(tmp, "trim.json"), os.path.join(tmp, "trim")
    with open(name, "w", encoding="utf-8") as f:
        json.dump({"name": "trim", "topology": {"dims": [{"kind": "switch", "size": 4}]},
                   "switch": {"trimming": {"enabled": True}, "pfc": {"enabled": False}},
                   "transport": [{"kind": "roce", "recovery": "selective_repeat", "ack_class": "control"},
                                 {"kind": "tcp", "class": 3}],
                   "workload": [{"kind": "incast", "receiver": 0, "bytes": "1MB", "transport": "tcp"},
                                {"kind": "permutation", "shift": 1, "bytes": "1MB", "transport": "roce"}]}, f)
    code, stderr = run(name, out)
    expect(code == 2 and "class 3 also carries packets" in stderr and not os.path.exists(out), f"trimming: {code} {stderr!r}")


def parts_held(tmp):
    """A message over several connections ends with the part that ends last, although the end of another one,
    whose ACK the receiver held back for longer, is known later: the run is not over before its flow is."""
    m = both_engines(tmp, "tcp_parts_held.json", 0)
    if m:
        last = max(f["start_ns"] + f["fct_ns"] for f in m["flows"])
        expect(last <= m["sim_time_ns"] + 1, f"the run ends at {m['sim_time_ns']} ns, a flow at {last} ns")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for part in (crashes, link_comes_back, event_limit, samples_are_no_events,
                     last_event_ends_the_work, sampling_is_bounded, samples_of_nothing,
                     unlisted_flows_wait, late_flow_is_null, flow_file_blanks, fifos, long_validation,
                     memory, memory_ends, escaped, names, trimmed_class_of_tcp, parts_held):
            part(tmp)
    print("failed" if failures else "all as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
