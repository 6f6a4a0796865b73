#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One run by several processes under mpirun: the files of one process, what is refused, and what remains when a
process dies, is interrupted or has no room. usage: check_processes.py SCENARIOS BUILD"""
import filecmp
import glob
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.path.abspath(os.environ.get("COLLWIRE", "build/collwire"))
INCAST = os.path.join(sys.argv[1], "incast.json")
MODULE = sorted(glob.glob(os.path.join(sys.argv[2], "lib*", "**", "collwire", "processes_mpi.so"), recursive=True))
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
LONG = ["--set", "workload.bytes=20GB", "--together"]
# Many connections, of which each process has its own.
PAIRS = {"name": "pairs", "topology": {"dims": [{"kind": "switch", "size": 64}]},
         "workload": {"kind": "collective", "op": "all_to_all", "bytes": "64MB", "repeat": 50}}
# Phases that queue for a dimension: nearly every window has a single event.
QUEUED = os.path.join(sys.argv[1], "collectives", "allreduce-2d-32.json")
ENV = {key: value for key, value in os.environ.items() if not key.startswith(("OMPI_COMM", "PMI", "SLURM"))}
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def own(text):
    return [line for line in text.splitlines() if line.startswith("collwire:")]


def call(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=ENV, **more)
    return done.returncode, done.stdout, own(done.stderr)


def mpirun(*parts, **more):
    """Each part is (number of processes, words of collwire)."""
    words = []
    for n, args in parts:
        words += ([":"] if words else []) + ["-n", str(n), COLLWIRE, *args]
    return call([*MPIRUN, *words], **more)


def metrics(out):
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as f:
        return json.load(f)


def same_files(tmp):
    one, more = os.path.join(tmp, "one"), os.path.join(tmp, "more")
    settings = ["--set", "report.sample=1us"]
    code, table, _ = call([COLLWIRE, "run", INCAST, "--out", one, *settings])
    for n in (1, 2, 5):
        got, text, said = mpirun((n, ["run", INCAST, "--out", more, *settings]))
        expect((got, said) == (code, []), f"{n} processes: exit {got}, {said}")
        expect(text.replace(more, one) == table, f"{n} processes: the table of one\n{text}")
        names = sorted(os.listdir(one))
        expect(names == sorted(os.listdir(more)), f"{n} processes: {os.listdir(more)}")
        names = [name for name in names if name != "run.json"]
        expect(filecmp.cmpfiles(one, more, names, shallow=False)[1:] == ([], []), f"{n} processes: other bytes")


def hybrid(tmp):
    """On the hybrid network process 0 runs, and the others wait."""
    one, more = os.path.join(tmp, "hybrid"), os.path.join(tmp, "hybrid3")
    settings = ["--network", "hybrid", "--check", "2"]
    code, table, _ = call([COLLWIRE, "run", INCAST, "--out", one, *settings])
    got, text, said = mpirun((3, ["run", INCAST, "--out", more, *settings]))
    expect((got, said) == (code, []), f"hybrid: exit {got}, {said}")
    expect(text.replace(more, one) == table, f"hybrid: the table of one\n{text}")
    expect(metrics(one) == metrics(more), "hybrid: other bytes")


def refused(tmp):
    out, copy = os.path.join(tmp, "refused"), os.path.join(tmp, "copy")
    run = ["run", INCAST, "--out", out]
    shutil.copy(COLLWIRE, copy)
    os.makedirs(os.path.join(tmp, "lib"), exist_ok=True)
    if not os.path.exists(os.path.join(tmp, "lib", "collwire")):
        os.symlink(os.path.dirname(MODULE[0]), os.path.join(tmp, "lib", "collwire"))
    with open(copy, "ab") as f:
        f.write(b"another build")
    cases = [
        ("another seed", mpirun((1, run), (2, [*run, "--seed", "9"])), ("process 1", "process 2", "scenario")),
        ("other threads", mpirun((2, run), (1, [*run, "--threads", "2"])), ("process 2", "--threads")),
        ("another program", call([*MPIRUN, "-n", "1", COLLWIRE, *run, ":", "-n", "1", copy, *run]),
         ("process 1", "program")),
        ("no such file", mpirun((2, ["run", "nothere.json"])), ("nothere.json",)),
        ("no such file in one", mpirun((2, run), (1, ["run", "nothere.json"])), ("process 2 of 3", "nothere.json")),
        ("a wrong value in one", mpirun((1, run), (1, [*run, "--set", "workload.bytes=x"])), ("process 1", "workload.bytes")),
        ("too much memory in one", mpirun((1, run), (1, [*run, "--set", "limits.memory=1KB"])), ("limits.memory",)),
        ("an unknown option", mpirun((3, ["run", "--bogus"])), ("--bogus",)),
        ("another command", mpirun((2, ["list"])), ("list",)),
        ("stdin", mpirun((2, ["run", "-"])), ("stdin",)),
        ("more processes than parts", mpirun((12, run)), ("12 of them", "parts")),
    ]
    for what, (code, text, said), words in cases:
        expect(code == 2 and text == "", f"{what}: exit {code}, {text}")
        expect(all(word in " ".join(said) for word in words), f"{what}: {said}")
        expect(len(said) == (2 if " in one" in what else 1), f"{what}: once: {said}")
        expect(not os.path.exists(out), f"{what}: nothing is written")
    place = os.path.join(tmp, "file")
    with open(place, "w", encoding="utf-8") as f:
        f.write("mine")
    code, _, said = mpirun((3, ["run", INCAST, "--out", place]))
    expect(code == 2 and len(said) == 1, f"process 0 cannot write: {code}, {said}")


def alone(tmp):
    """Launchers without the module, of another MPI, and what is none."""
    out = os.path.join(tmp, "alone")
    bare = os.path.join(tmp, "bare", "bin", "collwire")
    os.makedirs(os.path.dirname(bare))
    shutil.copy(COLLWIRE, bare)
    words = [bare, "run", INCAST, "--quiet", "--out", out]
    slurm = {"SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "4", "PMI_RANK": "0"}
    for more, code, lines in ((slurm, 2, 1), ({**slurm, "PMI_RANK": "3"}, 2, 0), ({"PMIX_RANK": "0"}, 2, 1),
                              ({"PMI_SIZE": "1", "PMI_RANK": "0"}, 0, 0), ({"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, 0, 0),
                              ({**slurm, "COLLWIRE_PROCESSES": "1"}, 0, 0), ({}, 0, 0)):
        done = subprocess.run(words, capture_output=True, text=True, env={**ENV, **more}, timeout=60, check=False)
        said = own(done.stderr)
        expect(done.returncode == code and len(said) == lines, f"{more}: {done.returncode}, {done.stderr}")
        expect(os.path.exists(out) == (code == 0), f"{more}: files")
        shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([COLLWIRE, "run", INCAST, "--out", out], capture_output=True, text=True, timeout=60,
                          env={**ENV, "PMI_SIZE": "4", "PMI_RANK": "0"}, check=False)
    expect(done.returncode == 2 and len(own(done.stderr)) == 1 and not os.path.exists(out),
           f"another MPI: {done.returncode}, {done.stderr}")


def processes_of(parent, n):
    """The processes of a job by their number, once all of them simulate."""
    until = time.time() + 60
    while time.time() < until:
        found = {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8") as f:
                    fields = f.read().rsplit(")", 1)[1].split()
                with open(f"/proc/{entry}/environ", "rb") as f:
                    there = dict(e.split(b"=", 1) for e in f.read().split(b"\0") if b"=" in e)
            except (OSError, IndexError):
                continue
            ticks = int(fields[11]) + int(fields[12])
            if int(fields[1]) == parent and fields[0] != "Z" and ticks >= 0.5 * os.sysconf("SC_CLK_TCK"):
                found[int(there.get(b"OMPI_COMM_WORLD_RANK", b"-1"))] = int(entry)
        if sorted(found) == list(range(n)):
            return found
        time.sleep(0.05)
    return None


def job(out, n, *more, scenario=INCAST):
    words = LONG if scenario == INCAST else LONG[-1:]
    process = subprocess.Popen([*MPIRUN, *more, "-n", str(n), COLLWIRE, "run", scenario, "--quiet", "--out", out, *words],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    return process, processes_of(process.pid, n)


def deaths(tmp):
    """kill -9 of a process ends the job, and of process 0 leaves what was there."""
    out, pairs = os.path.join(tmp, "killed"), os.path.join(tmp, "pairs.json")
    with open(pairs, "w", encoding="utf-8") as f:
        json.dump(PAIRS, f)
    call([COLLWIRE, "run", INCAST, "--quiet", "--out", out])
    before = metrics(out)
    drawn = random.Random(1)
    for rank, scenario in ((0, INCAST), (1, INCAST), (1, pairs)):
        process, there = job(out, 3 if scenario == INCAST else 2, scenario=scenario)
        expect(there is not None, f"all processes simulate: {there}")
        time.sleep(drawn.uniform(0, 0.5))
        os.kill(there[rank], signal.SIGKILL)
        process.communicate(timeout=60)
        expect(process.returncode != 0, f"killed {rank}: exit {process.returncode}")
        now = metrics(out)
        expect(now == before or rank != 0 and now["status"] in ("interrupted", "incomplete"), f"killed {rank}: files")


def silence(tmp):
    """A process that does not go on, here by SIGSTOP: the others leave, and process 0 writes what it has, without the
    flows of the other one."""
    out = os.path.join(tmp, "silent")
    process, there = job(out, 2, scenario=os.path.join(tmp, "pairs.json"))
    expect(there is not None, f"both processes simulate: {there}")
    os.kill(there[1], signal.SIGSTOP)
    process.communicate(timeout=60)
    now = metrics(out)
    expect(process.returncode != 0 and now["status"] == "incomplete" and
           now.get("reason", "").startswith("process 1 does not answer any more"),
           f"silent: exit {process.returncode}, {now['status']}, {now.get('reason')}")


def one_instead(tmp):
    """Where processes would take longer than one, process 0 goes on alone after a twentieth of a second, and says so."""
    alone_out, out = os.path.join(tmp, "queued1"), os.path.join(tmp, "queued2")
    call([COLLWIRE, "run", QUEUED, "--quiet", "--out", alone_out])
    for n in (2, 3):
        code, _, said = mpirun((n, ["run", QUEUED, "--quiet", "--out", out]))
        with open(os.path.join(out, "run.json"), encoding="utf-8") as f:
            run = json.load(f)
        threads = run["threads"]
        expect((code, said) == (0, []), f"one instead of {n}: exit {code}, {said}")
        expect(threads["processes"] == 1 and f"{n} processes took longer" in (threads["note"] or ""), f"one: {threads}")
        expect(run["wall_s"] < 10, f"one: {run['wall_s']} s")
        expect(filecmp.cmp(os.path.join(alone_out, "metrics.json"), os.path.join(out, "metrics.json"), False),
               "one: other metrics")


def interruptions(tmp):
    out = os.path.join(tmp, "interrupted")
    process, _ = job(out, 3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=90)
    lines = own(said)  # the first process says it, as one process alone does; the code is mpirun's
    expect(process.returncode != 0 and len(lines) == 1 and lines[0].startswith("collwire: interrupted: "),
           f"Ctrl-C: {process.returncode}, {said}")
    expect(os.path.exists(os.path.join(out, "metrics.json")) and metrics(out)["status"] == "interrupted",
           "Ctrl-C: the results so far")


def no_room(tmp):
    out = os.path.join(tmp, "full")

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    code, _, said = call([*MPIRUN, "--mca", "btl", "self,tcp", "-n", "1", "sh", "-c", 'ulimit -f 2; exec "$@"', "sh", COLLWIRE, "run",
                          INCAST, "--quiet", "--out", out, ":", "-n", "2", COLLWIRE, "run", INCAST, "--quiet", "--out", out])
    _, _, alone_said = call([COLLWIRE, "run", INCAST, "--quiet", "--out", out + "1"], preexec_fn=small_files)
    expect(code == 1 and len(said) == len(alone_said) and "metrics.json" in " ".join(said), f"full: {code}, {said}, {alone_said}")
    expect(not os.path.exists(os.path.join(out, "metrics.json")), "full: nothing is written")


def main():
    if not MODULE:
        print("built without MPI")
        return 77
    with tempfile.TemporaryDirectory() as tmp:
        for part in (same_files, hybrid, refused, alone, deaths, silence, one_instead, interruptions, no_room):
            began = time.time()
            part(tmp)
            print(f"{part.__name__}: {time.time() - began:.1f} s", flush=True)
    print("failed" if failures else "all as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
