#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `validate` says before a run: each warning where it must appear and where it must not, and the values of
settings that are "auto". A run prints none of them, but that a
capture is large.

usage: check_validate.py SCENARIOS, with the executable in $COLLWIRE.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

SCENARIOS = sys.argv[1]
LOSSY = ("switch.pfc.enabled=false", "transport.recovery=selective_repeat")

# scenario, settings, words of the warning; each pair of lines: where it appears, and where it does not.
WARNINGS = (
    # PFC stops an ingress at 198 KB of 2 MB; with 16 MB at more than kmin
    ("incast", ("cc.kind=dcqcn",), "PFC before ECN: dim0.sw0 stops an ingress that holds 198 KB, marking begins at 400 KB", True),
    ("incast", ("cc.kind=dcqcn", "switch.buffer=16MB"), "PFC before ECN", False),
    ("incast", ("cc.kind=swift",), "PFC before ECN", False),
    # lossy queues of 238 KB never reach 400 KB
    ("incast", (*LOSSY, "cc.kind=dcqcn", "switch.queue_limit.bytes=238KB"),
     "dcqcn gets no mark at dim0.sw0: a queue ends at 238 KB, marking begins at 400 KB", True),
    ("incast", (*LOSSY, "cc.kind=dcqcn", "switch.queue_limit.bytes=500KB"), "gets no mark", False),
    # eight ingresses of a small alpha fill less than kmin together
    ("incast", ("cc.kind=dcqcn", "switch.pfc.alpha=0.001", "switch.ecn={\"kmin\":\"1MB\",\"kmax\":\"2MB\"}"),
     "dcqcn gets no mark at dim0.sw0: PFC lets a queue grow to", True),
    ("incast", ("cc.kind=dcqcn", "switch.pfc.alpha=0.02"), "gets no mark", False),
    # 100 Gb/s times 4.68 us, and three packets more where an acknowledgement covers four
    ("incast", ("cc={\"kind\":\"window\",\"k\":0.5}",), "the window of policy window is", True),
    ("incast", ("cc={\"kind\":\"window\",\"k\":1}",), "the window of policy", False),
    ("incast", ("cc={\"kind\":\"window\",\"bytes\":\"60KB\"}", "transport.ack_interval=4"), "an acknowledgement for 4 packets", True),
    ("incast", ("cc={\"kind\":\"window\",\"bytes\":\"60KB\"}",), "the window of policy", False),
    ("incast", ("cc={\"kind\":\"dcqcn\",\"window_bytes\":\"20KB\"}",), "the window of policy dcqcn is 20.0 KB", True),
    ("incast", ("cc={\"kind\":\"dcqcn\",\"window_bytes\":\"1MB\"}",), "the window of policy", False),
    ("tcp/bottleneck", ("transport.receive_window=10KB",), "the receive window is", True),
    ("tcp/bottleneck", (), "the receive window", False),
    ("incast", ("transport.mtu=1024B",), "headers are 7.4 % of the bytes of a full packet, which has 1.02 KB of payload", True),
    ("incast", ("transport.mtu=2048B",), "headers are", False),
    ("incast", ("switch.pfc.headroom=10KB",), "10.0 KB is less than the 37.8 KB that cable, MTU and response need", True),
    ("incast", ("switch.pfc.headroom=38KB",), "is less than", False),
    ("incast", ("switch.pfc.headroom=10KB", "switch.pfc.enabled=false", "transport.recovery=selective_repeat"), "is less than", False),
    ("congestion/victim", (), "the trunks of leaf0 (and 2 more switches) carry 100 Gb/s of the 400 Gb/s of its ranks, 4:1", True),
    ("collectives/rail", (), "the trunks", False),
    # 8 MB through 100 Gb/s take 640 us at least
    ("incast", ("switch.pfc.enabled=false",), "rto is 67.1 ms, and the run takes 640 us at least", True),
    ("incast", ("switch.pfc.enabled=false", "transport.rto=500us"), "rto is", False),
    ("incast", (), "rto is", False),
    ("incast", (*LOSSY, "transport.rto_low=1ms"), "rto_low is 1.00 ms", True),
    ("incast", (*LOSSY, "transport.rto_low=100us"), "rto_low is", False),
    ("incast", ("cc.kind=dcqcn", "workload.bytes=10KB"), "cnp_interval is 50.0 us, and the run takes 6.40 us at least", True),
    ("incast", ("cc.kind=dcqcn", "workload.bytes=10KB"), "rate_timer is 55.0 us", True),
    ("incast", ("cc.kind=dcqcn", "workload.bytes=10KB"), "alpha_timer is 55.0 us", True),
    ("incast", ("cc.kind=dcqcn",), "_timer is", False),
    ("incast", ("cc.kind=dcqcn",), "cnp_interval is", False),
    ("tcp/incast", (), "rto_min is 200 ms, and the run takes 2.05 ms at least", True),
    ("tcp/incast", ("transport.rto_min=1ms",), "rto_min is", False),
    ("tcp/incast", (), "delayed_ack.timeout is 40.0 ms", True),
    ("tcp/incast", ("transport.delayed_ack.timeout=1ms",), "delayed_ack.timeout is", False),
    ("models/resnet50-64", ("switch.pfc.enabled=false",), "and the run takes", False),  # it computes: not known
)

# scenario, settings, values in short form, and those that only --print has
AUTOS = (
    ("incast", (), ("switch.pfc.headroom 37.8 KB", "switch.pfc.xon_offset 8.32 KB"),
     ("switch.ecn off", "switch.int off", "switch.queue_limit none", "transport.class 3")),
    ("incast", ("cc.kind=dcqcn",), ("switch.ecn.kmin 400 KB", "switch.ecn.kmax 1.60 MB"), ("cc.window_bytes window_bdp",)),
    ("incast", LOSSY, ("transport.rto_low 100 us", "transport.rto_high 165 us"), ()),
    ("incast", ("cc.kind=hpcc",), ("switch.int on, exact",), ("cc.idle_restart never", "cc.rate_ai from expected_flows")),
    ("tcp/incast", (), ("transport.receive_window 6.29 MB",), ("transport.connections established", "transport.ecn off")),
    ("fabric2026/uec-incast", (), ("transport.rto 40.9 us",), ()),
    ("fabric2026/credits", (), ("switch.credit",), ()),
    ("collectives/allreduce-2d-32", (), ("topology.dims[0].switch.pfc.headroom 18.5 KB", "switch.pfc.xon_offset 2.12 KB"), ()),
)


def run(command, name, sets, *more):
    words = [word for item in sets for word in ("--set", item)]
    done = subprocess.run([os.environ["COLLWIRE"], command, os.path.join(SCENARIOS, name + ".json"), *words, *more],
                          check=False, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def unwrapped(text):
    return re.sub(r"\n  ", " ", text)


def check_warnings():
    for name, sets, words, wanted in WARNINGS:
        code, stdout, stderr = run("validate", name, sets)
        lines = [line for line in unwrapped(stdout).splitlines() if line.startswith("warning: ")]
        assert code == 0 and stdout.splitlines()[0].endswith(": valid"), (name, sets, stderr)
        assert any(words in line for line in lines) == wanted, (name, sets, words, stdout)
        assert all(re.match(r"warning: [a-z_.]+: .", line) for line in lines), lines
        wrapped = [line for line in stdout.splitlines() if not re.match(r"estimate: |[\d.e+]+ packets|up to |about ", line)]
        assert max(map(len, wrapped)) <= 80, stdout


def check_values():
    for name, sets, short, printed in AUTOS:
        code, stdout, stderr = run("validate", name, sets)
        line = next(line for line in unwrapped(stdout).splitlines() if line.startswith("auto: "))
        assert code == 0 and all(text in line for text in short), (short, stdout, stderr)
        assert not any(text in line for text in printed), (printed, line)
        code, stdout, stderr = run("validate", name, sets, "--print")
        lines = [text for text in stderr.splitlines() if text.startswith("auto: ")]
        json.loads(stdout)  # the scenario alone is on stdout
        for text in (*short, *printed):
            assert any(line.startswith("auto: " + text) for line in lines), (text, lines)


def check_values_hold():
    """The stated values are those of the run: given as settings they change nothing but the scenario."""
    sets = ("switch.pfc.enabled=false", "transport.recovery=selective_repeat", "switch.buffer=500KB")
    _, _, stderr = run("validate", "incast", sets, "--print")
    values = dict(line.split()[1:2] + ["".join(line.split()[2:])] for line in stderr.splitlines() if line.startswith("auto: "))
    given = [f"{key}={values[key]}" for key in ("transport.rto_low", "transport.rto_high")]
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for number, more in enumerate(((), given)):
            out = os.path.join(folder, str(number))
            run("run", "incast", (*sets, *more), "--quiet", "--out", out)
            with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
                metrics = json.load(file)
            results.append({key: metrics[key] for key in ("sim_time_ns", "flows", "recovery")})
    assert results[0] == results[1] and results[0]["recovery"]["retransmitted_packets"] > 0, results


def check_never():
    """Where a warning says that no packet is marked, a run marks none."""
    for name, sets, words, wanted in WARNINGS:
        if not wanted or "gets no mark" not in words:
            continue
        with tempfile.TemporaryDirectory() as folder:
            run("run", name, sets, "--quiet", "--out", folder)
            with open(os.path.join(folder, "metrics.json"), encoding="utf-8") as file:
                metrics = json.load(file)
            assert metrics["ecn"]["marked_packets"] == 0 and metrics["queues"]["max_bytes"] > 100000, (name, sets)


def check_silence():
    """A run prints no warning of these, and --quiet prints nothing."""
    with tempfile.TemporaryDirectory() as folder:
        code, stdout, stderr = run("run", "incast", ("cc.kind=dcqcn", "switch.pfc.headroom=20KB"), "--out", folder)
        assert code == 0 and "warning" not in stdout + stderr and "auto:" not in stdout + stderr, stdout + stderr
    assert run("validate", "incast", ("cc.kind=dcqcn",), "--quiet") == (0, "", "")


def check_captures():
    """Captures above 1 GB name the snaplen that keeps all headers, also in front of a run; its size is that of a run."""
    def capture(snaplen, suffix=""):
        return f'capture=[{{"at":"rank*,dim0.sw0","file":"a.pcapng{suffix}","snaplen":"{snaplen}"}}]'
    words = 'capture[0].snaplen: the capture takes about'
    for size, snaplen, suffix, wanted in (("70MB", "65535B", "", True), ("70MB", "65535B", ".gz", False),
                                          ("70MB", "128B", "", False), ("30MB", "65535B", "", False)):
        sets = (f"workload.bytes={size}", capture(snaplen, suffix))
        code, stdout, stderr = run("validate", "incast", sets)
        assert code == 0 and (words in stderr) == wanted and words not in stdout, (sets, stderr)
    assert '"128B" keeps all headers' in run("validate", "incast", ("workload.bytes=70MB", capture("65535B")))[2]
    with tempfile.TemporaryDirectory() as folder:
        sets = ("workload.bytes=70MB", capture("65535B"), "capture[0].to=1us", "limits.sim_time=2us")
        assert words in run("run", "incast", sets, "--out", folder)[2]
        for snaplen in ("128B", "65535B"):
            _, stdout, _ = run("validate", "incast", ("report.flows_max=0", capture(snaplen)))
            run("run", "incast", (capture(snaplen),), "--quiet", "--out", folder)
            about, unit = re.search("up to (.*) (.B) of output", stdout).groups()
            about, real = float(about) * {"KB": 1e3, "MB": 1e6}[unit], os.path.getsize(os.path.join(folder, "a.pcapng"))
            assert 1 / 1.5 < about / real < 1.5, (snaplen, about, real)


def check_large():
    """65,536 ranks on a fat tree: 0.8 s of CPU time, against 6 s where each rank's switch is searched from alone."""
    large = os.path.join(os.path.dirname(SCENARIOS.rstrip("/")), "tests", "bench", "ft65536.json")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    code, stdout, stderr = run("validate", large[:-len(".json")], ())
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert code == 0 and "estimate: " in stdout, stderr
    assert took < 4 or os.environ.get("COLLWIRE_SANITIZED", "OFF") == "ON", took


# bench, settings: sizes that are simulated in a second or two
SIZES = (
    ("ft16384", ("workload.bytes=20KB",)),  # short messages
    ("ft16384", ("workload.bytes=60KB",)),  # messages that fill the links
    ("perm1024", ("workload.bytes=1MB",)),  # more than ECN marks let be in flight
    ("perm1024", ("workload.bytes=1MB", "cc.kind=swift")),  # more than a window
    ("analytical-65536", ("topology.dims[1].size=32", "topology.dims[2].size=32")),
)


def check_memory():
    """The memory that a run takes beside the network, which validate builds too, is within 1.5 times the estimate."""
    bench = os.path.join(os.path.dirname(SCENARIOS.rstrip("/")), "tests", "bench")
    def peak(command, name, *more):
        process = subprocess.Popen([os.environ["COLLWIRE"], command, os.path.join(bench, name + ".json"), *more],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        stdout = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, status
        return usage.ru_maxrss * 1024, stdout
    for name, settings in SIZES:
        sets = [word for item in settings for word in ("--set", item)]
        before, stdout = peak("validate", name, *sets)
        with tempfile.TemporaryDirectory() as folder:
            after, _ = peak("run", name, *sets, "--quiet", "--out", folder)
        about = float(re.search("estimate: up to ([0-9.]*) MB", stdout).group(1)) * 1e6
        assert 1 / 1.5 < about / (after - before) < 1.5, (name, sets, about, after - before)


def check_several():
    """Of several scenarios the errors of all are reported, each with its file, by all commands that take several."""
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, key, value in (("good", "name", "good"), ("rate", "topology", {"dims": [{"kind": "switch", "size": 9, "link": {"rate": "100G"}}]}),
                                 ("size", "workload", {"kind": "incast", "receiver": 0, "bytes": "64Mb"})):
            with open(os.path.join(SCENARIOS, "incast.json"), encoding="utf-8") as file:
                scenario = {**json.load(file), "name": name, key: value}
            files[name] = os.path.join(folder, name + ".json")
            with open(files[name], "w", encoding="utf-8") as file:
                json.dump(scenario, file)
        wanted = [f'collwire: {files["rate"]}: topology.dims[0].link.rate: "100G"', f'collwire: {files["size"]}: workload.bytes: "64Mb"',
                  f"collwire: {folder}/none.json: cannot be opened"]
        for command in ("validate", "compare", "sweep"):
            done = subprocess.run([os.environ["COLLWIRE"], command, *files.values(), f"{folder}/none.json", *(("--out", f"{folder}/out") if command != "validate" else ())],
                                  check=False, capture_output=True, text=True)
            lines = done.stderr.splitlines()
            assert done.returncode == 2 and len(lines) == 3 and all(map(str.startswith, lines, wanted)), (command, done.stderr)
            assert ("good: valid" in done.stdout) == (command == "validate") and not os.path.exists(f"{folder}/out"), done.stdout
        done = subprocess.run([os.environ["COLLWIRE"], "validate", files["rate"]], check=False, capture_output=True, text=True)
        assert done.stderr.startswith("collwire: topology.dims[0]"), done.stderr  # one scenario needs no name
        done = subprocess.run([os.environ["COLLWIRE"], "validate", "--print", files["good"], files["good"]], check=False, capture_output=True, text=True)
        assert done.returncode == 2 and "--print takes one" in done.stderr and not done.stdout, done.stderr


check_several()
check_large()
if os.environ.get("COLLWIRE_SANITIZED", "OFF") != "ON":
    check_memory()
check_warnings()
check_captures()
check_values()
check_values_hold()
check_never()
check_silence()
print(f"{len(WARNINGS)} warnings, {len(AUTOS)} sets of values")
