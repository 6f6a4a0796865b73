#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every write, open, rename, sync, unlink and allocation of a short run fails once, and signals come at
every one of them: afterwards the directory holds the old set or a new one, never a mixture, and nothing
crashes.

usage: check_faults.py SHIM [EVERY], the preloaded library and how many calls to go on by (1 = each
call), with the executable in $COLLWIRE.
"""
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

COLLWIRE = os.environ["COLLWIRE"]
SHIM = sys.argv[1]
EVERY = int(sys.argv[2]) if len(sys.argv) > 2 else 1

SCENARIO = {
    "name": "faults", "seed": 1,
    "topology": {"dims": [{"kind": "switch", "size": 3}]},
    "cc": {"kind": "dcqcn"},
    "workload": [{"kind": "incast", "receiver": 0, "bytes": "20KB"},
                 {"kind": "training", "parallelism": "DATA", "layers": [{"name": "fc", "wg": {
                     "op": "all_reduce", "bytes": "10KB"}}]}],
    "capture": [{"at": "rank0", "file": "a.pcap"}, {"at": "rank1", "file": "in/b.pcapng.gz"}],
    "report": {"sample": "2us", "timeline": True},
}
# Calls caused by environment variables, such as leak checks, must not be counted.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("ASAN")}


class Mixture(Exception):
    """The directory holds neither the old set nor a new one."""


def run(scenario, out, seed, **shim):
    env = dict(ENVIRONMENT)
    if shim:
        env.update(LD_PRELOAD=SHIM, **{k: str(v) for k, v in shim.items()})
    return subprocess.run([COLLWIRE, "run", scenario, "--out", out, "--seed", str(seed), "--quiet"],
                          env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, check=False,
                          pass_fds=[shim["FAIL_COUNT"]] if "FAIL_COUNT" in shim else [])


def check_set(out):
    """The metrics of a complete set, as bytes."""
    there = {}
    for at, _, names in os.walk(out):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as f:
                there[os.path.relpath(path, out)] = f.read()
    if "run.json" not in there:
        raise Mixture(f"no run.json among {sorted(there)}")
    listed = json.loads(there.pop("run.json"))["files"]
    if sorted(f["name"] for f in listed) != sorted(there):
        raise Mixture(f"{sorted(there)} against {[f['name'] for f in listed]}")
    for f in listed:
        if hashlib.sha256(there[f["name"]]).hexdigest() != f["sha256"]:
            raise Mixture(f"{f['name']} has another hash")
    return there["metrics.json"]


def one(scenario, base, old, new, call, nth, how):
    """Test one fault; returns None or a description of the failure."""
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "o")
        shutil.copytree(base, out)
        done = run(scenario, out, 2, FAIL_CALL=call, FAIL_NTH=nth, FAIL_WITH=how)
        what = f"{call} {nth} with {how or 'an error'}: exit {done.returncode}, {done.stderr!r}"
        allowed = {signal.SIGKILL: (0, -9), signal.SIGINT: (0, 1, 130)}.get(how, (0, 1, 2))
        if done.returncode not in allowed:
            return what
        if done.returncode in (1, 2) and not done.stderr:
            return what + " without a word"
        with open(os.path.join(out, "mine"), "w", encoding="utf-8") as f:
            f.write("mine")  # not a result: the next command opens the directory and is refused
        after = subprocess.run([COLLWIRE, "run", scenario, "--out", out, "--set",
                                'capture=[{"at":"rank0","file":"mine"}]'], capture_output=True,
                               timeout=60, check=False)
        os.unlink(os.path.join(out, "mine"))
        if after.returncode != 2:
            return f"{what}; next command: {after.returncode} {after.stderr!r}"
        try:
            metrics = check_set(out)
        except Mixture as mixture:
            return f"{what}; {mixture}"
        if metrics in (old, new):
            return None
        status = json.loads(metrics)["status"]
        return None if status in ("incomplete", "interrupted") else f"{what}; metrics of neither"


def calls_of(scenario, base, call):
    read, write = os.pipe()
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "o")
        shutil.copytree(base, out)
        done = run(scenario, out, 2, FAIL_CALL=call, FAIL_NTH=0, FAIL_COUNT=write)
    os.close(write)
    with os.fdopen(read) as pipe:
        counted = int(pipe.read().split()[-1])
    if done.returncode != 0:
        raise SystemExit(f"the run fails without a fault: {done.stderr!r}")
    return counted


def main():
    wrong, total = [], 0
    with tempfile.TemporaryDirectory() as tmp, ThreadPoolExecutor(2) as pool:
        scenario, base = os.path.join(tmp, "s.json"), os.path.join(tmp, "base")
        with open(scenario, "w", encoding="utf-8") as f:
            json.dump(SCENARIO, f)
        for seed, out in ((1, base), (2, base + "2")):
            done = run(scenario, out, seed)
            if done.returncode != 0:
                raise SystemExit(f"the scenario does not run: {done.stderr!r}")
        old, new = check_set(base), check_set(base + "2")
        kinds = [(call, 0) for call in ("write", "open", "rename", "sync", "unlink", "malloc")]
        kinds += [(call, number) for number in (signal.SIGINT, signal.SIGKILL)
                  for call in ("wait", "write", "open", "rename", "sync", "unlink")]
        for call, how in kinds:
            began, n = time.time(), calls_of(scenario, base, call)
            if n == 0:  # the preloaded library does not take the place of the C library's function
                raise SystemExit(f"no call of {call} is counted: {SHIM} has no effect")
            step = EVERY if call == "malloc" else max(1, EVERY // 20)
            chosen = range(1, n + 1, step)
            found = [w for w in pool.map(lambda k: one(scenario, base, old, new, call, k, how),
                                         chosen) if w]
            total += len(chosen)
            wrong += found
            print(f"{call} with {how or 'an error'}: {len(chosen)} of {n} calls, {len(found)} wrong, "
                  f"{time.time() - began:.0f} s", flush=True)
            for what in found[:5]:
                print("  " + what[:600])
    print(f"{total - len(wrong)} passed, {len(wrong)} failed")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
