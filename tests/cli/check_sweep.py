#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sweeps: points and their figures, resuming after kill -9, shards, faults of the store, bad input, tables.

usage: check_sweep.py SCENARIOS [KILLS], with the executable in $COLLWIRE.
"""
import csv
import io
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib

COLLWIRE = os.environ["COLLWIRE"]
SCENARIOS = sys.argv[1]
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
INCAST = os.path.join(SCENARIOS, "incast.json")
SMALL = ["--vary", "switch.buffer=1MB,2MB", "--vary", "workload.bytes=50KB,100KB", "--cc", "none,dcqcn", "--seeds", "2"]
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def sweep(*args, scenario=INCAST, **more):
    done = subprocess.run([COLLWIRE, "sweep", *([scenario] if scenario else []), *args], capture_output=True, text=True,
                          timeout=200, check=False, **more)
    return done.returncode, done.stdout, done.stderr


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def table(out):
    return list(csv.DictReader(io.StringIO(read(out, "sweep.csv"))))


def stored(out, *columns):
    """The rows of the store by hash; of all columns but the time of the machine."""
    base = sqlite3.connect(os.path.join(out, "results.sqlite"))
    base.row_factory = sqlite3.Row
    rows = {row["hash"]: dict(row) for row in base.execute("select * from points")}
    base.close()
    return {key: {name: value for name, value in row.items() if (name in columns if columns else name != "wall_s")}
            for key, row in rows.items()}


def points(tmp):
    """The grid, its order, its figures, and the metrics in the store."""
    out = os.path.join(tmp, "points")
    code, stdout, stderr = sweep(*SMALL, "--out", out)
    expect(code == 0 and "report-template.html is missing" in stderr and "16 of 16 points: 16 completed" in stdout, f"{code} {stdout} {stderr}")
    expect(max(map(len, stdout.splitlines()[:-1])) <= 80, f"a line is too long: {stdout}")
    rows = table(out)
    wanted = [(b, w, c, s) for b in ("1000000", "2000000") for w in ("50000", "100000") for c in ("none", "dcqcn") for s in "12"]
    found = [(r["switch.buffer_bytes"], r["workload.bytes"], r["policy"], r["seed"]) for r in rows]
    expect(found == wanted, f"the order of points: {found}")
    expect(sorted(os.listdir(out)) == ["results.sqlite", "run.json", "sweep.csv", "sweep.json"], os.listdir(out))
    alone = os.path.join(tmp, "alone")
    subprocess.run([COLLWIRE, "run", INCAST, "--set", "switch.buffer=2MB", "--set", "workload.bytes=100KB", "--set",
                    'cc={"kind":"dcqcn"}', "--seed", "2", "--set", "capture=[]", "--out", alone, "--quiet"], check=True)
    metrics = json.loads(read(alone, "metrics.json"))
    expect(int(rows[-1]["sim_time_ns"]) == metrics["sim_time_ns"] and
           int(rows[-1]["max_queue_bytes"]) == metrics["queues"]["max_bytes"], f"figures of a point: {rows[-1]}")
    base = sqlite3.connect(os.path.join(out, "results.sqlite"))
    packed, size, hops, wall = base.execute("select metrics, metrics_bytes, packet_hops, wall_s from points "
                                            "order by position desc limit 1").fetchone()
    text = zlib.decompress(packed).decode()
    expect(hops == json.loads(read(alone, "run.json"))["packet_hops"] and 0 < wall < 10, f"cost: {hops} {wall}")
    expect(len(text) == size and json.loads(text) == metrics, "the metrics in the store are those of the run")
    view = base.execute('select "switch.buffer", policy, sim_time_ns from runs').fetchall()
    expect(len(view) == 16 and view[0] == ("1MB", "none", float(rows[0]["sim_time_ns"])), f"the view: {view[:1]}")
    base.close()
    code, stdout, _ = sweep(*SMALL, "--out", out, "--dry-run")
    expect(code == 0 and stdout.startswith("16 points: 16 finished, 0 to run, about 0:00:00"), f"--dry-run: {stdout}")
    code, stdout, _ = sweep(*SMALL, "--out", out, "--list")
    expect(code == 0 and stdout.count("finished") == 16, f"--list: {stdout}")
    code, stdout, _ = sweep("--list", "--out", out, scenario=None)
    expect(code == 0 and stdout.count("completed") == 16, f"--list of a store: {stdout}")
    code, stdout, _ = sweep(*SMALL, "--out", out, "--quiet", "--format", "csv")
    expect(code == 0 and stdout == read(out, "sweep.csv"), "--format csv")
    return out


def resuming(tmp, done):
    """More values run only what is new; another version of a file that is named is another point."""
    before = stored(done, "wall_s")
    more = [word.replace("1MB,2MB", "1MB,2MB,3MB") for word in SMALL]
    code, _, _ = sweep(*more, "--out", done, "--quiet")
    after = stored(done, "wall_s")
    expect(code == 0 and len(after) == 24 and all(after[key] == before[key] for key in before), "only new points run")
    expect(len(table(done)) == 24, "the table has all of them")
    code, _, _ = sweep(*SMALL, "--out", done, "--quiet")
    expect(code == 0 and len(table(done)) == 16 and len(stored(done)) == 24, "the others are kept, but not in the table")
    flows = os.path.join(tmp, "flows.csv")
    scenario = os.path.join(tmp, "flows.json")
    with open(scenario, "w", encoding="utf-8") as file:
        json.dump({"name": "f", "topology": {"dims": [{"kind": "switch", "size": 4}]},
                   "workload": {"kind": "flows", "file": "flows.csv"}}, file)
    counts = []
    for size in (1000, 1000, 2000, 1000):
        with open(flows, "w", encoding="utf-8") as file:
            file.write(f"src,dst,bytes,start_ns\n0,1,{size},0\n")
        code, _, stderr = sweep("--vary", "switch.buffer=1MB,2MB", "--out", os.path.join(tmp, "flows"), "--quiet",
                                scenario=scenario)
        expect(code == 0, f"flows: {stderr}")
        counts.append(len(stored(os.path.join(tmp, "flows"))))
    expect(counts == [2, 2, 4, 4], f"a changed file is another point: {counts}")


def children_of(pid):
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(read("/proc", entry, "stat").rsplit(")", 1)[1].split()[1]) == pid:
                found.append(int(entry))
        except (OSError, IndexError):
            pass  # it has ended
    return found


def alive(pid):
    try:
        return read("/proc", str(pid), "stat").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


LONG = ["--vary", "workload.bytes=" + ",".join(f"{kb}KB" for kb in range(1000, 2500, 100)),
        "--vary", "switch.buffer=2MB,4MB", "--cc", "none,dcqcn", "--jobs", "2", "--quiet"]


def killing(tmp):
    """kill -9 at random moments: workers end too, finished points stay and never run again."""
    rng = random.Random(7)
    out, whole = os.path.join(tmp, "killed"), os.path.join(tmp, "whole")
    began = time.monotonic()
    expect(sweep(*LONG, "--out", whole)[0] == 0, "an uninterrupted sweep")
    takes = time.monotonic() - began
    finished, kept = {}, []
    for _ in range(KILLS):
        process = subprocess.Popen([COLLWIRE, "sweep", INCAST, *LONG, "--out", out])
        time.sleep(rng.uniform(0, takes / 2))
        workers = children_of(process.pid)
        process.kill()
        process.wait()
        end = time.monotonic() + 5
        while any(map(alive, workers)) and time.monotonic() < end:
            time.sleep(0.01)
        expect(not any(map(alive, workers)), "workers end with their parent")
        if not os.path.exists(os.path.join(out, "results.sqlite")):
            continue
        try:
            now = stored(out, "wall_s", "status")
        except sqlite3.OperationalError:
            now = {}  # killed before the tables were made
        expect(all(now.get(key) == row for key, row in finished.items()), "finished points stay and do not run again")
        finished = now
        kept.append(len(now))
    code, _, stderr = sweep(*LONG, "--out", out)
    expect(code == 0, f"resumed: {code} {stderr}")
    now = stored(out, "wall_s", "status")
    expect(all(now[key] == row for key, row in finished.items()), "the last run does only the rest")
    expect(stored(out) == stored(whole) and len(now) == 60, "the store equals an uninterrupted one")
    expect(read(out, "sweep.csv") == read(whole, "sweep.csv"), "so does the table")
    print(f"killed after {kept} of 60 points")
    return whole


def interrupted(tmp):
    out = os.path.join(tmp, "interrupted")
    process = subprocess.Popen([COLLWIRE, "sweep", INCAST, "--vary", "workload.bytes=100KB,20GB,30GB", "--out", out,
                                "--quiet", "--jobs", "2"], stderr=subprocess.PIPE, text=True)
    while not os.path.exists(os.path.join(out, "results.sqlite")) or not stored_or_none(out):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    expect(process.wait(timeout=10) == 130, "Ctrl-C")
    rows = table(out)
    expect([r["workload.bytes"] for r in rows] == ["100000"], f"what had finished is in the table: {rows}")
    process = subprocess.Popen([COLLWIRE, "sweep", INCAST, "--vary", "workload.bytes=100KB,20GB", "--out", out, "--quiet",
                                "--jobs", "2"], stderr=subprocess.PIPE, text=True)
    child = []
    while not child or time.monotonic() < wait:
        fresh = children_of(process.pid)
        if fresh != child:
            child, wait = fresh, time.monotonic() + 0.5  # the workers that check the points have ended
    os.kill(child[0], signal.SIGKILL)
    expect(process.wait(timeout=20) == 1, "a killed worker")
    expect("killed by signal 9" in process.stderr.read(), "its signal is named")
    rows = table(out)
    expect([r["status"] for r in rows] == ["completed", "failed"], f"a killed worker is a failed row: {rows}")
    code, stdout, _ = sweep("--vary", "workload.bytes=100KB,20GB", "--out", out, "--dry-run")
    expect("1 finished, 1 to run" in stdout, f"it is to run again: {stdout}")


def stored_or_none(out):
    try:
        return stored(out)
    except sqlite3.OperationalError:
        return None


def shards(tmp, whole):
    parts = [os.path.join(tmp, f"part{i}") for i in (1, 2)]
    for i, part in enumerate(parts):
        expect(sweep(*LONG, "--shard", f"{i + 1}/2", "--out", part)[0] == 0, f"shard {i + 1}")
        expect(len(table(part)) == 30, "half of the points")
    merged = os.path.join(tmp, "merged")
    code, stdout, stderr = sweep("--merge", *parts, "--out", merged, scenario=None)
    expect(code == 0 and "60 points added" in stdout, f"--merge: {stdout} {stderr}")
    for name in ("sweep.csv", "sweep.json"):
        expect(read(merged, name) == read(whole, name), f"{name} of two shards equals that of one run")
    expect(stored(merged) == stored(whole), "and the store")
    expect("60 finished" in sweep(*LONG, "--out", merged, "--dry-run")[1], "a merged store resumes")
    code, _, stderr = sweep("--merge", parts[0], os.path.join(tmp, "none"), "--out", merged + "2", scenario=None)
    expect(code == 2 and "there is no store" in stderr and not os.path.exists(merged + "2"), f"--merge: {stderr}")


def faults(tmp, whole):
    """Stores that cannot be used: one message, exit 2, and the file is as it was."""
    def broken(name, change, words, hold=None):
        out = os.path.join(tmp, name)
        shutil.copytree(whole, out)
        path = os.path.join(out, "results.sqlite")
        change(path)
        with open(path, "rb") as file:
            before = file.read()
        held = hold(path) if hold else None  # last: closing any descriptor of the file would unlock it
        code, _, stderr = sweep(*SMALL, "--out", out, "--quiet")
        if held:
            held.close()
        with open(path, "rb") as file:
            same = file.read() == before
        expect(code == 2 and words in stderr and same, f"{name}: {code} {stderr!r} same: {same}")

    def version(path):
        base = sqlite3.connect(path)
        base.execute("update meta set value = '0.0.1' where key = 'version'")
        base.commit()
        base.execute("pragma wal_checkpoint(truncate)")
        base.close()

    def locked(path):
        base = sqlite3.connect(path, isolation_level=None)
        base.execute("begin immediate")
        return base

    def overwrite(at, count):
        def change(path):
            with open(path, "r+b") as file:
                file.seek(at)
                file.write(b"\xa5" * count)
        return change

    def text(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("this is a text, and it is longer than the header of a database. " * 20)

    def foreign(path):
        os.unlink(path)
        base = sqlite3.connect(path)
        base.execute("create table t (x)")
        base.commit()
        base.close()

    broken("version", version, "is of collwire 0.0.1")
    broken("locked", lambda path: None, "is locked by another program", locked)
    broken("damaged", overwrite(8192, 6000), "is damaged")
    broken("header", overwrite(0, 64), "is damaged")
    broken("text", text, "is damaged")
    broken("foreign", foreign, "is not a store of collwire")
    full = os.path.join(tmp, "full")
    code, _, stderr = sweep(*SMALL, "--out", full, "--quiet",
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (120000, 120000)))
    kept = stored(full, "wall_s", "status")
    expect(code == 1 and "the same command runs the rest" in stderr and 0 < len(kept) < 16, f"full: {code} {stderr} {kept}")
    code, _, stderr = sweep(*SMALL, "--out", full, "--quiet")
    now = stored(full, "wall_s", "status")
    expect(code == 0 and len(table(full)) == 16 and all(now[key] == row for key, row in kept.items()),
           f"after a full disk: {code} {stderr}")
    full_disk(tmp)
    out = os.path.join(tmp, "owner")
    process = subprocess.Popen([COLLWIRE, "sweep", INCAST, "--vary", "workload.bytes=20GB,30GB", "--out", out, "--quiet"])
    while not os.path.exists(os.path.join(out, "results.sqlite")):
        time.sleep(0.01)
    code, _, stderr = sweep("--vary", "workload.bytes=1KB,2KB", "--out", out, "--quiet")
    expect(code == 2 and "another collwire is writing there" in stderr, f"two sweeps: {code} {stderr}")
    workers = children_of(process.pid)
    process.kill()
    process.wait()
    while any(map(alive, workers)):
        time.sleep(0.01)
    code, _, stderr = sweep("--vary", "workload.bytes=1KB,2KB", "--out", out, "--quiet")
    expect(code == 0, f"workers hold no lock: {stderr}")


def full_disk(tmp):
    """A disk of 100 KB, where this user may mount one."""
    disk = os.path.join(tmp, "disk")
    os.mkdir(disk)
    script = f"mount -t tmpfs -o size=100k none {disk} || exit 77; {COLLWIRE} sweep {INCAST} {' '.join(SMALL)} --out {disk}/out"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script + " --quiet"], capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or done.returncode == 77:
        print("no disk of 100 KB can be mounted here")
    else:
        expect(done.returncode == 1 and "the disk is full" in done.stderr, f"full disk: {done.returncode} {done.stderr}")


def bad_input(tmp):
    out = os.path.join(tmp, "bad")
    for args, words in ((["--vary", "switch.bufer=1MB,2MB"], ['switch.bufer: unknown key; did you mean "buffer"?']),
                        (["--vary", "switch.buffer="], ["the list of values is empty"]),
                        (["--vary", "switch.buffer=1MB,,2MB"], ["a value is empty"]),
                        (["--vary", "switch.buffer=1MB,1MB"], ["named twice"]),
                        (["--vary", "switch.buffer"], ["is not PATH=VALUE"]),
                        (["--vary", "switch.buffer=1MB,10KB,1GBx,30KB"],
                         ["exceed the buffer 10.0 KB", "exceed the buffer 30.0 KB", '"1GBx" is not a size',
                          "(switch.buffer=1GBx, seed=1)"]),
                        (["--vary", "workload.bytes=1MB,1000KB"], ["two points are the same scenario"]),
                        (["--vary", "seed=1,2", "--vary", "seed=3"], ["varied twice"]),
                        (["--vary", "seed=1,2", "--seeds", "2"], ["the seed is varied already"]),
                        (["--vary", "switch.buffer=1MB,2MB;workload.bytes=1MB"], ["advances with it"]),
                        (["--vary", "workload.receiver=8,9,10", "--seeds", "2"], ["rank 9", "rank 10", "and 1 more"]),
                        (["--cc", "none,dctpc"], ['did you mean "dctcp"?']),
                        (["--shard", "3/2"], ["is not I/N"]), (["--shard", "0/2"], ["is not I/N"]),
                        (["--shard", "a"], ["is not I/N"]),
                        (["--sizes", "1KB:1MB"], ["the scenario must have one job, a collective"]),
                        (["--vary", "x=" + ",".join(map(str, range(2000))), "--vary",
                          "y=" + ",".join(map(str, range(2000)))], ["the limit is 1000000 (also with --shard)"]),
                        (["--merge"], ["--out DIR"])):
        code, stdout, stderr = sweep(*args, *([] if "--merge" in args else ["--out", out]))
        expect(code == 2 and stdout == "" and all(word in stderr for word in words) and not os.path.exists(out),
               f"{args}: {code} {stderr!r}")
    code, _, stderr = sweep("--vary", "switch.buffer=1MB", scenario="-")
    expect(code == 2 and "it takes a file" in stderr, f"stdin: {stderr}")
    capturing = ["--set", 'capture=[{"at":"rank8","file":"rank8.pcap"}]', "--vary", "switch.buffer=1MB,2MB"]
    code, _, stderr = sweep(*capturing, "--out", out + "-captures", "--quiet")
    base = sqlite3.connect(os.path.join(out + "-captures", "results.sqlite"))
    found = [json.loads(zlib.decompress(row[0]))["scenario"]["capture"] for row in base.execute("select metrics from points")]
    base.close()
    expect(code == 0 and found == [[], []] and not any(".pcap" in name for name in os.listdir(out + "-captures")),
           f"points write no captures: {found} {stderr}")
    code, _, stderr = sweep("--vary", "limits.sim_time=30us,1s", "--out", out, "--quiet")
    expect(code == 1 and [r["status"] for r in table(out)] == ["incomplete", "completed"], "a point that is incomplete")
    code, _, stderr = sweep("--vary", "limits.sim_time=30us,1s", "--out", out, "--dry-run")
    expect(code == 0, "it has finished")


def sizes(tmp):
    """The table of nccl-tests agrees with the runs; lists that advance together."""
    ring = os.path.join(SCENARIOS, "collectives/allreduce-1d.json")
    out = os.path.join(tmp, "sizes")
    code, stdout, stderr = sweep("--sizes", "4KB:64KB:4", "--cc", "none,swift", "--out", out, scenario=ring)
    lines = [line.split() for line in stdout.splitlines()]
    numbers = [line for line in lines if len(line) == 4 and line[0].isdigit()]
    expect(code == 0 and [n[0] for n in numbers] == 2 * ["4000", "16000", "64000"], f"--sizes: {stdout} {stderr}")
    for row, (size, took, algbw, busbw) in zip(table(out), numbers):
        ns = int(row["collective_ns"])
        expect(abs(float(took) * 1000 - ns) <= 5 and abs(float(algbw) - int(size) / ns) < 6e-4 and
               abs(float(busbw) - int(row["busbw_bps"]) / 8e9) < 6e-4, f"--sizes: {row} {took} {algbw} {busbw}")
    zipped = os.path.join(tmp, "zipped")
    code, _, stderr = sweep("--vary", "workload.bytes=50KB,100KB;switch.buffer=2MB,1MB", "--vary",
                            'switch.ecn={"kmin":"10KB","kmax":"40KB"},auto', "--out", zipped, "--quiet")
    found = [(r["workload.bytes"], r["switch.buffer_bytes"], r["switch.ecn"]) for r in table(zipped)]
    ecn = '{"kmin":"10KB","kmax":"40KB"}'
    expect(code == 0 and found == [("50000", "2000000", ecn), ("50000", "2000000", "auto"), ("100000", "1000000", ecn),
                                   ("100000", "1000000", "auto")], f"zipped: {found} {stderr}")


def columns(tmp):
    """Quantities of one kind are numbers, with the unit in the name of the column; the policy has one name."""
    out = os.path.join(tmp, "columns")
    code, _, stderr = sweep("--vary", "topology.dims[0].link.delay=0.5us,0", "--vary", "topology.dims[0].link.rate=0.1Tbps,50Gbps",
                            "--vary", "workload.senders=2,4", "--vary", "switch.buffer=1MiB,auto", "--vary",
                            "cc.kind=none,dcqcn;workload.priority=0,1", "--out", out, "--dry-run")
    expect(code == 2 and "workload.priority" in stderr, f"an unknown key: {stderr}")
    code, _, stderr = sweep("--vary", "topology.dims[0].link.delay=0.5us,1234ps", "--vary", "topology.dims[0].link.rate=0.1Tbps,50Gbps",
                            "--vary", "workload.senders=2,4", "--vary", "cc.kind=none,dcqcn", "--out", out, "--quiet")
    rows = table(out)
    names = ["topology.dims[0].link.delay_ns", "topology.dims[0].link.rate_bps", "workload.senders", "policy"]
    expect(code == 0 and list(rows[0])[:6] == names + ["seed", "status"], f"columns: {list(rows[0])[:6]} {stderr}")
    expect([rows[0][n] for n in names] == ["500", "100000000000", "2", "none"], f"numbers: {rows[0]}")
    expect([rows[-1][n] for n in names] == ["1.234", "50000000000", "4", "dcqcn"], f"numbers: {rows[-1]}")
    # the store has earlier axes too: both ways of naming the policy are one column
    code, _, _ = sweep("--cc", "none,dcqcn", "--out", out, "--quiet")
    expect(code == 0 and [r["policy"] for r in table(out)] == ["none", "dcqcn"] and
           read(out, "sweep.csv").split("\n", 1)[0].split(",").count("policy") == 1, f"one column: {table(out)}")


def binary_sizes(tmp):
    """Sizes as nccl-tests writes them are binary, and the last one is a point."""
    ring = os.path.join(SCENARIOS, "collectives/allreduce-1d.json")
    for text, wanted in (("1K:3K", [1024, 2048, 3072]), ("8:64:4", [8, 32, 64]), ("1KiB:0.001MB", None),
                         ("1KB:2KiB", [1000, 2000, 2048])):
        out = os.path.join(tmp, "sizes-" + text.replace(":", "-"))
        code, _, stderr = sweep("--sizes", text, "--cc", "none", "--out", out, "--quiet", scenario=ring)
        if wanted is None:
            expect(code == 2 and "is not FROM:TO" in stderr, f"{text}: {code} {stderr}")
        else:
            expect(code == 0 and [int(r["workload.bytes"]) for r in table(out)] == wanted, f"{text}: {stderr}")


def best_by_job(out):
    """The best point and the effects are those of each job, from the table itself, and never of the run's end."""
    code, stdout, stderr = sweep("--vary", "workload[1].bytes=1MB,4MB", "--vary", "workload[0].bytes=1MB,8MB", "--cc", "none,dcqcn",
                                 "--out", out, "--why", scenario=os.path.join(SCENARIOS, "start/two-jobs.json"))
    expect(code == 0 and stderr.count("error") == 0, f"a sweep of two jobs: {stderr}")
    effects = json.loads(read(out, "sweep.json"))["effects"]
    expect([e["job"] for e in effects] == ["train", "checkpoint"], f"effects by job: {effects}")
    for effect in effects:
        own = [r for r in table(out) if r["job"] == effect["job"]]
        times = [int(r["sim_time_ns"]) for r in own]
        expect([effect[which]["ns"] for which in ("shortest", "longest")] == [min(times), max(times)] and effect["points"] == 8,
               f"{effect} {times}")
        for axis, ratio in effect["axes"].items():
            lines = {}
            for r in own:
                lines.setdefault(tuple(r[a] for a in effect["axes"] if a != axis), []).append(int(r["sim_time_ns"]))
            expect(abs(ratio - max(max(line) / min(line) for line in lines.values())) < 1e-6, f"{axis}: {ratio} {lines}")
        expect(f"job {effect['job']}: shortest" in stdout, stdout)
    expect("job None" not in stdout and "in the job that ends last" in stdout, f"whose causes: {stdout}")


def scenarios_and_jobs(tmp):
    """Several scenarios are an axis; a scenario of several jobs has a row for each, as in a comparison."""
    jobs = os.path.join(SCENARIOS, "collectives/allreduce-two-jobs-128.json")
    out = os.path.join(tmp, "jobs")
    code, stdout, stderr = sweep(INCAST, "--set", "limits.sim_time=1ms", "--cc", "none,swift", "--out", out, "--jobs", "2", scenario=jobs)
    rows = table(out)
    names = [(r["scenario"], r["policy"], r["job"]) for r in rows]
    expected = [("allreduce-two-jobs-128", policy, job) for policy in ("none", "swift") for job in ("", "even", "odd")]
    expect(names == expected + [("incast", "none", ""), ("incast", "swift", "")], f"rows: {names} {stderr}")
    expect("4 of 4 points" in stdout and "incast" in stdout and "job odd" in stdout, f"tables: {stdout}")
    compared = os.path.join(tmp, "jobs-compared")
    subprocess.run([COLLWIRE, "compare", jobs, INCAST, "--set", "limits.sim_time=1ms", "--cc", "none,swift", "--out", compared, "--quiet"],
                   check=False)
    known = {(r["scenario"], r["policy"], r["job"]): r for r in csv.DictReader(io.StringIO(read(compared, "compare.csv")))}
    same = all(known[name][key] == row[key] for name, row in zip(names, rows) for key in ("status", "sim_time_ns", "collective_ns", "busbw_bps", "fct_max_ns"))
    expect(same, "the figures of runs and jobs are those of compare")
    best_by_job(out + "3")
    code, _, stderr = sweep(INCAST, "--out", out + "2")
    expect(code == 2 and 'has the name of another scenario, "incast"' in stderr and not os.path.exists(out + "2"), f"twice: {stderr}")
    code, _, stderr = sweep(scenario=None)
    expect(code == 2 and "takes one or more scenario files" in stderr, f"none: {stderr}")


def why(tmp):
    """--why: the reasons of points, and where the first one changes along an axis."""
    out = os.path.join(tmp, "why")
    ring = os.path.join(SCENARIOS, "collectives/allreduce-1d.json")
    words = ("--sizes", "1K:4M:64", "--cc", "none,swift", "--out", out)
    plain = sweep(*words, scenario=ring)[1]
    expect("reason_1" not in table(out)[0] and "along" not in plain, "without --why")
    code, stdout, stderr = sweep(*words, "--why", scenario=ring)
    rows = table(out)
    found = [(r["first_cause"], r["policy"], int(r["workload.bytes"])) for r in rows]
    last = {size: cause for cause, policy, size in found if policy == "none"}
    expect(code == 0 and set(last) == {1024, 65536, 4194304} and last[1024] == "latency" and last[4194304] == "transmission",
           f"causes: {found} {stderr}")
    expect(f"along workload.bytes: up to 64KiB latency, from 4MiB on transmission" in stdout, f"sentence: {stdout}")
    base = sqlite3.connect(os.path.join(out, "results.sqlite"))
    for row, (packed,) in zip(rows, base.execute("select metrics from points order by position")):
        metrics = json.loads(zlib.decompress(packed))
        known = metrics["explain"][:3]
        expect([row[f"reason_{i + 1}"] for i in range(len(known))] == known, f"sentences: {row['reason_1']}")
    base.close()


def main():
    with tempfile.TemporaryDirectory() as tmp:
        done = points(tmp)
        resuming(tmp, done)
        whole = killing(tmp)
        interrupted(tmp)
        shards(tmp, whole)
        faults(tmp, whole)
        bad_input(tmp)
        sizes(tmp)
        columns(tmp)
        binary_sizes(tmp)
        scenarios_and_jobs(tmp)
        why(tmp)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
