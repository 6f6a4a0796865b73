#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The result files of a run are one atomic set: one owner, complete or absent, other files untouched.

usage: check_results.py SCENARIOS FINDINGS, with the executable in $COLLWIRE.
"""
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.environ["COLLWIRE"]
SCENARIOS, FINDINGS = sys.argv[1:3]
INCAST = os.path.join(SCENARIOS, "incast.json")
LONG = 250  # seconds, below the limit of the whole test: only a hang takes so long
CAPTURE = 'capture=[{"at":"rank8","file":"r.pcap"}]'
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def collwire(*args, **more):
    done = subprocess.run([COLLWIRE, *args], capture_output=True, text=True, timeout=LONG, check=False,
                          **more)
    return done.returncode, done.stdout, done.stderr


def run(out, *args, scenario=INCAST, **more):
    return collwire("run", scenario, "--out", out, "--quiet", *args, **more)


def files(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names)


def contents(folder):
    out = {}
    for name in files(folder):
        with open(os.path.join(folder, name), "rb") as f:
            out[name] = f.read()
    return out


def whole(out, what):
    """run.json lists exactly the existing files, with their sizes and hashes."""
    there = contents(out)
    listed = json.loads(there["run.json"])
    expect(len(listed["id"]) == 32, f"{what}: an id")
    expect(sorted([f["name"] for f in listed["files"]] + ["run.json"]) == sorted(there),
           f"{what}: {files(out)} against {listed['files']}")
    for f in listed["files"]:
        expect(f["bytes"] == len(there[f["name"]]) and
               f["sha256"] == hashlib.sha256(there[f["name"]]).hexdigest(), f"{what}: {f['name']}")
    return listed


def replaced(tmp):
    """Results of another scenario are not replaced without a line on stderr; those of the same one are."""
    out = os.path.join(tmp, "replaced")

    def lines(*args, command="run", quiet=()):
        done = collwire(command, INCAST, "--out", out, *quiet, *args)
        expect(done[0] == 0, f"{args}: {done[2]}")
        return [line for line in done[2].splitlines() if ": replaced " in line]

    expect(lines() == [], "nothing to replace")
    expect(lines() == [], "the same scenario")
    expect(lines("--plain") == [], "the same scenario, run in another way")
    told = lines("--set", "cc.kind=dcqcn")
    expect(len(told) == 1 and f"{out}: replaced results of incast (none) of 2" in told[0], f"a policy: {told}")
    told = lines("--set", "name=other")
    expect(len(told) == 1 and "replaced results of incast (dcqcn) of" in told[0], f"a name: {told}")
    expect(lines("--set", "name=incast", quiet=("--quiet",)) == [], "with --quiet")
    with open(os.path.join(out, "run.json"), encoding="utf-8") as f:
        mark = json.load(f)["scenario"]
    expect(mark["name"] == "incast" and mark["policy"] == "none" and len(mark["sha256"]) == 64, f"{mark}")
    shutil.rmtree(out)
    expect(lines("--cc", "none,dcqcn", command="compare") == [], "a comparison")
    told = lines()
    expect(len(told) == 1 and "replaced a comparison of" in told[0], f"a comparison: {told}")


def memory(tmp):
    """validate and run agree on limits.memory at the very limit, however often they are asked."""
    out = os.path.join(tmp, "memory")

    def code(command, limit):
        more = ["--out", out] if command == "run" else []
        done = collwire(command, INCAST, "--quiet", "--set", f"limits.memory={limit}B", *more)
        return done[0]

    low, high = 1000000, 100000000  # refused, accepted
    while high - low > 1000:
        middle = (low + high) // 2
        low, high = (low, middle) if code("validate", middle) == 0 else (middle, high)
    for limit, want in ((low - 1000, 2), (high + 1000, 0)):
        # a run that was accepted may still end at the limit, with its results
        got = [code("validate", limit) for _ in range(6)] + [2 if code("run", limit) == 2 else 0 for _ in range(6)]
        expect(got == [want] * 12, f"limits.memory {limit}: {got}")


def control_characters(tmp):
    """Names of folders that the user has given reach the terminal without their control characters."""
    out = os.path.join(tmp, "red\x1b[31m")
    for words in (("run", INCAST), ("compare", INCAST, "--cc", "none,dcqcn"),
                  ("sweep", INCAST, "--vary", "seed=1,2")):
        code, stdout, _ = collwire(*words, "--out", out + words[0])
        expect(code == 0 and "results: " in stdout and "\x1b" not in stdout, f"{words[0]}: {stdout[-200:]!r}")


def differs(tmp):
    """A difference of two runs of one question is explained; of different ones, with a warning."""
    a, b, c = (os.path.join(tmp, f"differs-{x}") for x in "abc")
    run(a)
    run(b, "--set", "cc.kind=dcqcn", "--set", "switch.buffer=2MB")
    run(c, "--set", "workload.bytes=2MB")
    warning = "the runs are of different scenarios: workload differ"
    expect(warning not in collwire("explain", b, "--against", a)[2], "policies and buffers of one question")
    expect(warning in collwire("explain", c, "--against", a)[2], "another workload")


def sets(tmp):
    """A set replaces the previous one completely; ids differ, measurements do not."""
    out = os.path.join(tmp, "sets")
    code, _, stderr = run(out, "--set", CAPTURE, "--set", "report.sample=10us")
    first = whole(out, "first")
    expect(code == 0 and files(out) == ["metrics.json", "qpmap.csv", "r.pcap", "run.json",
                                        "series.csv"], f"{files(out)} {stderr}")
    before = contents(out)["metrics.json"]
    code, _, _ = run(out, "--set", CAPTURE, "--set", "report.sample=10us")
    again = whole(out, "again")
    expect(again["id"] != first["id"] and contents(out)["metrics.json"] == before, "same metrics")
    expect(first["id"].encode() not in before, "metrics.json holds no id")
    code, _, _ = run(out)
    whole(out, "without")
    expect(files(out) == ["metrics.json", "run.json"], f"stale side files: {files(out)}")
    code, _, _ = run(out, "--set", 'capture=[{"at":"rank8","file":"deep/er//./r.pcap"}]')
    expect(code == 0 and "deep/er/r.pcap" in files(out), f"folders inside: {files(out)}")
    whole(out, "folders inside")
    code, _, stderr = run(out, "--set", "switch.bufer=1MB")
    expect(code == 2 and "deep/er/r.pcap" in files(out), "a wrong input leaves the earlier set")


def one_owner(tmp):
    """A second run into the same directory gets an error, and the set of the first run is complete."""
    out = os.path.join(tmp, "owner")
    two = os.path.join(FINDINGS, "two_runs.json")
    first = subprocess.Popen([COLLWIRE, "run", two, "--out", out, "--quiet"])
    while not os.path.exists(os.path.join(out, ".collwire", "lock")) and first.poll() is None:
        time.sleep(0.001)
    code, _, stderr = run(out, "--set", 'workload.bytes="19MB"', scenario=two)
    alone = first.poll() is not None
    expect(alone or (code == 2 and "another collwire is writing there" in stderr),
           f"second run: {code}, {stderr!r}")
    expect(first.wait() == 0, "first run")
    whole(out, "two runs")
    code, _, stderr = collwire("compare", two, "--cc", "none,window,none", "--out", out + "-c")
    expect(code == 2 and "named twice" in stderr and not os.path.exists(out + "-c"),
           f"a policy twice: {code}, {stderr!r}")


def foreign(tmp):
    """No other file is replaced, no symbolic link followed, no scenario overwritten."""
    victim = os.path.join(tmp, "victim")
    with open(victim, "w", encoding="utf-8") as f:
        f.write("precious")
    for name in ("metrics.json", "run.json", "r.pcap", "qpmap.csv"):
        for kind in ("link", "file"):
            out = os.path.join(tmp, f"{kind}-{name}")
            os.mkdir(out)
            place = os.path.join(out, name)
            if kind == "link":
                os.symlink(victim, place)
            else:
                shutil.copy(victim, place)
            code, _, stderr = run(out, "--set", CAPTURE)
            expect(code == 2 and name in stderr and files(out) == [name], f"{kind} {name}: {stderr!r}")
            with open(place, encoding="utf-8") as f:
                expect(f.read() == "precious", f"{kind} {name} is untouched")
    out = os.path.join(tmp, "linked")
    os.mkdir(out)
    os.symlink(tmp, os.path.join(out, ".collwire"))
    code, _, stderr = run(out)
    expect(code == 2 and ".collwire" in stderr, f"a link as staging folder: {stderr!r}")
    here = os.path.join(tmp, "here")
    os.mkdir(here)
    shutil.copy(INCAST, os.path.join(here, "d.json"))
    code, _, stderr = collwire("run", "d.json", "--out", ".", "--set",
                               'capture=[{"at":"rank0","file":"d.json"}]', cwd=here)
    expect(code == 2 and files(here) == ["d.json"], f"the scenario itself: {code}, {stderr!r}")
    code, _, _ = collwire("run", "d.json", "--out", ".", "--quiet", cwd=here)
    expect(code == 0 and files(here) == ["d.json", "metrics.json", "run.json"], "beside the scenario")
    for name in ("./metrics.json", "metrics.json/x", "a//./run.json/../b", "/tmp/x", ".collwire/x"):
        code, _, stderr = run(os.path.join(tmp, "n"), "--set",
                              f'capture=[{{"at":"rank0","file":"{name}"}}]')
        expect(code == 2 and "capture[0].file" in stderr, f"{name}: {code}, {stderr!r}")
    for names in (("a.pcap", "./a.pcap"), ("a", "a/b")):
        code, _, stderr = run(os.path.join(tmp, "n"), "--set", "capture=" + json.dumps(
            [{"at": "rank0", "file": name} for name in names]))
        expect(code == 2 and "capture[" in stderr, f"{names}: {code}, {stderr!r}")


def full_disk(tmp):
    """A capture that cannot be written ends the run with its results so far, marked."""
    out = os.path.join(tmp, "full")

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
    code, _, stderr = run(out, "--set", CAPTURE, preexec_fn=small_files)
    there = contents(out)
    metrics = json.loads(there["metrics.json"])
    expect(code == 1 and "r.pcap" in stderr and "File too large" in stderr, f"full: {stderr!r}")
    expect(metrics["status"] == "incomplete" and "r.pcap" in metrics["reason"] and
           metrics["flows"][0]["delivered_bytes"] > 0, f"full: {metrics['reason']}")
    whole(out, "full disk")
    expect("r.pcap" not in there, "a capture that is not whole is no result")
    before = contents(out)

    def no_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    code, stdout, stderr = collwire("run", INCAST, "--out", out, "--seed", "7", "--set",
                                    "switch.buffer=500KB", preexec_fn=no_files)
    expect(code == 1 and "metrics.json" in stderr, f"no room for metrics: {code}, {stderr!r}")
    expect(contents(out) == before, "the earlier set stands")
    fresh = collwire("run", INCAST, "--out", out + "2", "--seed", "7", "--set", "switch.buffer=500KB")
    table = stdout.splitlines()
    expect(table[:2] == fresh[1].splitlines()[:2], "the table is of this run, not of the earlier one")


def killed(tmp):
    """kill -9 at any time: the next command finds either the old set or the new one."""
    out = os.path.join(tmp, "killed")
    args = ["--set", CAPTURE, "--set", "report.sample=1us", "--set", "workload.bytes=2MB"]
    run(out, *args, "--seed", "1")
    old = contents(out)["metrics.json"]
    run(out + "-new", *args, "--seed", "2")
    new = contents(out + "-new")["metrics.json"]
    began = time.time()
    run(out + "-new", *args, "--seed", "2")
    length = time.time() - began
    ends = set()
    # On a busy machine a run takes longer than the one that was measured: then later kills follow.
    for i in range(68):
        if i >= 60 and len(ends) == 2:
            break
        process = subprocess.Popen([COLLWIRE, "run", INCAST, "--out", out, "--quiet", "--seed", "2",
                                    *args])
        time.sleep(length * (1.2 * i / 60 if i < 60 else 1.5 * 2**(i - 60)))
        process.kill()
        process.wait()
        recover(out)
        whole(out, f"killed {i}")
        now = contents(out)["metrics.json"]
        expect(now in (old, new), f"killed {i}: neither old nor new")
        ends.add("old" if now == old else "new")
        if now == new:
            run(out, *args, "--seed", "1")
    expect(ends == {"old", "new"}, f"kills came before and after the end: {ends}")


def recover(out):
    """A command that opens the directory and fails before any change: its capture conflicts with a file."""
    with open(os.path.join(out, "mine"), "w", encoding="utf-8") as f:
        f.write("mine")
    code, _, stderr = run(out, "--set", 'capture=[{"at":"rank0","file":"mine"}]')
    expect(code == 2 and "mine" in stderr, f"recover: {code}, {stderr!r}")
    os.unlink(os.path.join(out, "mine"))


def process_fields(process):
    """The fields of /proc/PROCESS/stat from the state on, or None if the process has ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else fields


def children_of(parent):
    """The processes whose parent is `parent`."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        fields = process_fields(entry)
        if fields and int(fields[1]) == parent:
            found.append(int(entry))
    return found


def until_simulating(process):
    """Wait until the process simulates, or has ended. It does when it has had half a second of processor
    time, which is many times that of its start; how long that takes depends on the load."""
    while (fields := process_fields(process)) is not None:
        if int(fields[11]) + int(fields[12]) >= 0.5 * os.sysconf("SC_CLK_TCK"):
            return
        time.sleep(0.01)


def children(tmp):
    """A run of a comparison that dies is a failed row with its signal; no old result is shown."""
    out = os.path.join(tmp, "children")
    code, _, _ = collwire("compare", INCAST, "--cc", "none,window", "--out", out)
    expect(code == 0, "compare")
    process = subprocess.Popen([COLLWIRE, "compare", INCAST, "--cc", "none,window", "--out", out,
                                "--jobs", "1", "--set", "workload.bytes=20GB", "--format", "json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for number in (signal.SIGKILL, signal.SIGABRT):
        there = []
        while not there:
            there = children_of(process.pid)
        child = there[0]
        until_simulating(child)
        os.kill(child, number)
        while os.path.exists(f"/proc/{child}"):
            time.sleep(0.01)
    stdout, stderr = process.communicate(timeout=LONG)
    rows = json.loads(stdout)["rows"]
    expect(process.returncode == 1, f"exit {process.returncode}")
    expect([r["status"] for r in rows] == ["failed", "failed"], f"{rows}")
    expect("killed by signal 9" in rows[0]["failure"] and "killed by signal 6" in rows[1]["failure"]
           and "killed by signal 9" in stderr, f"{rows} {stderr}")
    figures = {key: value for key, value in rows[0].items()
               if key not in ("scenario", "cc", "seed", "job", "status", "failure", "explain")}
    expect(len(figures) > 10 and not any(v is not None for v in figures.values()),
           f"no stale figure: {figures}")
    ignoring = ("import signal,subprocess,sys\n"
                "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                "sys.exit(subprocess.run(sys.argv[1:], restore_signals=False).returncode)\n")
    # The wrapper cannot wait for its child either, so only the results are checked, not its exit code.
    subprocess.run([sys.executable, "-c", ignoring, COLLWIRE, "compare", INCAST, "--cc", "none,window",
                    "--quiet", "--out", out + "-ignored"], timeout=LONG, check=False)
    expect("compare.json" in files(out + "-ignored"), "SIGCHLD ignored by the parent")
    process = subprocess.Popen([COLLWIRE, "compare", INCAST, "--cc", "none,window", "--quiet",
                                "--set", "workload.bytes=20GB", "--jobs", "2", "--out", out + "-int"])
    there = []
    while len(there) < 2 and process.poll() is None:
        there = children_of(process.pid)
    for child in there:
        until_simulating(child)
    process.send_signal(signal.SIGINT)
    expect(process.wait(timeout=LONG) == 130, "Ctrl-C of a comparison")
    for policy in ("none", "window"):
        there = contents(os.path.join(out + "-int", "incast", policy))
        expect(json.loads(there["metrics.json"])["status"] == "interrupted", f"{policy} so far")


def signals(tmp):
    """SIGHUP ends a run as SIGINT does; a signal ignored by `nohup` remains ignored."""
    out = os.path.join(tmp, "hup")
    long = ["--set", "workload.bytes=20GB"]
    for number, ignored, code in ((signal.SIGHUP, False, 130), (signal.SIGTERM, False, 130),
                                  (signal.SIGINT, True, 1), (signal.SIGHUP, True, 1)):
        limit = ["--set", "limits.wall=2s"] if ignored else []
        process = subprocess.Popen([COLLWIRE, "run", INCAST, "--out", out, "--quiet", *long, *limit],
                                   preexec_fn=lambda: ignored and
                                   signal.signal(number, signal.SIG_IGN))
        until_simulating(process.pid)
        process.send_signal(number)
        expect(process.wait(timeout=LONG) == code, f"{number} ignored {ignored}: {process.returncode}")
        whole(out, f"{number}")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for part in (sets, replaced, memory, control_characters, differs, one_owner, foreign, full_disk, killed, children, signals):
            began = time.time()
            part(tmp)
            print(f"{part.__name__}: {time.time() - began:.1f} s")
    print("failed" if failures else "all as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
