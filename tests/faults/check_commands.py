#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command ends well when a system call fails, or when a signal comes in mid work.

What this alone proves, of each command that the program lists (commands.py has a row for each, and a command without one
fails): a write, open or rename that fails is an error with a word, and leaves the files of before or all new ones; SIGINT
and SIGTERM end it with 130 and the word "interrupted"; so does stdout that is full.

usage: check_commands.py SHIM [FAULTS], the preloaded library (fail_nth.c), and how many calls of each kind fail in each command
(the default is 4; 0 = all), with the executable in $COLLWIRE.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import commands

SHIM = sys.argv[1]
FAULTS = int(sys.argv[2]) if len(sys.argv) > 2 else 4
LONG = {"name": "long", "topology": {"dims": [{"kind": "switch", "size": 16}]},
        "workload": {"kind": "collective", "op": "all_to_all", "bytes": "100GB", "algorithm": "direct"}}
LARGE = {**commands.LLM, "topology": {"dims": [{"kind": "switch", "size": 8}]}, "workload": {
    **commands.LLM["workload"], "layers": 32, "hidden": 8192, "heads": 64, "sequence": 4096, "vocabulary": 65536, "global_batch": 64, "data": 8,
    "gpu": "h100"}}
# Commands whose work is in simulations: long ones, which are interrupted when they have run for a while.
WORKING = {"run": ["long.json", "--out", "out/a", "--quiet"], "run table": ["long.json", "--out", "out/a"],
           "compare": ["long.json", "--cc", "none,dcqcn", "--out", "out/a"], "compare json": ["long.json", "--cc", "none", "--format", "json", "--out", "out/a"],
           "sweep": ["long.json", "--vary", "seed=1,2", "--out", "out/a"], "gpcnet": ["net.json", "--out", "out/a"],
           "gpcnet json": ["net.json", "--format", "json"], "plan": ["large.json", "--gpus", "8", "--packets-budget", "1e15", "--out", "out/a"],
           "plan json": ["large.json", "--gpus", "8", "--packets-budget", "1e15", "--format", "json"]}


class Place:
    """A copy of the inputs, in which one command runs."""

    def __init__(self, base):
        self.tmp = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.folder = pathlib.Path(self.tmp.name) / "work"
        shutil.copytree(base, self.folder, symlinks=True)

    def __enter__(self):
        return self.folder

    def __exit__(self, *_):
        self.tmp.cleanup()


def counted(base, command, call):
    """How many calls of a kind the command makes itself."""
    read, write = os.pipe()
    with Place(base) as folder:
        done = commands.call(command, folder, LD_PRELOAD=SHIM, FAIL_CALL=call, FAIL_NTH="0", FAIL_COUNT=str(write))
        files = commands.tree(folder)
    os.close(write)
    with os.fdopen(read) as pipe:
        counts = [int(text) for text in pipe.read().split()]
    assert done.returncode == 0, f"{command} fails without a fault: {done.stderr!r}"
    return counts[-1], files  # that of the process which ends last


def mixture(command, before, after, new):
    """What is wrong with the files after an error; None if they are those of before, or all of a whole run."""
    strange = [name for name in after if name not in before and name not in new and name != "out/was/.collwire.lock"]
    if command in commands.SETS:
        return None  # check_faults.py looks into sets
    if command == "extcap":  # installs files one by one, and says which; they name their folder
        return f"leaves {strange}" if strange else None
    if command == "plan":
        rows = after.get("out/plan/packets.jsonl", b"").splitlines()
        known = new["out/plan/packets.jsonl"].splitlines()
        return None if not strange and all(row in known for row in rows) else f"{rows} {strange}"
    if command in ("fit", "tune", "diagnose"):  # they keep runs one by one, and their other files are whole or not there, or in a set that is not complete yet
        strange = [name for name in strange if "/.collwire/" not in name]
        store = f"out/{command}/{command}.jsonl"
        rows, known = after.get(store, b"").splitlines(), new[store].splitlines()
        torn = [name for name in after if name in new and name not in (store, f"out/{command}/run.json") and after[name] not in (new[name], before.get(name))]
        return None if not strange and not torn and all(row in known for row in rows[:-1]) else f"{rows} {torn} {strange}"
    if strange:
        return f"leaves {strange}"
    changed = {name for name in new if new[name] != before.get(name)}
    missing = [name for name in changed if after.get(name) != new[name]]
    if missing and len(missing) < len(changed):
        return f"has {len(changed) - len(missing)} of {len(changed)} files"
    torn = [name for name in missing if after.get(name) != before.get(name)]
    return f"tears {torn}" if torn else None


def lines(data):
    """The lines, in no order: runs of a plan end as they like."""
    return sorted(data.splitlines())


def fails(base, command, call, nth, new):
    with Place(base) as folder:
        before = commands.tree(folder)
        done = commands.call(command, folder, LD_PRELOAD=SHIM, FAIL_CALL=call, FAIL_NTH=str(nth))
        after = commands.tree(folder)
    what = f"{command}: {call} {nth} fails: exit {done.returncode}, {done.stderr[-300:]!r}"
    if done.returncode not in (0, 1, 2):
        return what
    if done.returncode != 0 and not done.stderr:
        return what + " without a word"
    lost = [name for name in new if lines(after.get(name, b"")) != lines(new[name]) and ".config" not in name and ".local" not in name and not name.endswith("/run.json")]
    if done.returncode == 0 and command not in commands.SETS and lost:
        return what + f" without {lost}"
    wrong = mixture(command, before, after, new)
    return f"{what}; {wrong}" if wrong else None


def interrupted(base, command, nth, number):
    with Place(base) as folder:
        before = commands.tree(folder)
        done = commands.call(command, folder, LD_PRELOAD=SHIM, FAIL_CALL="malloc", FAIL_NTH=str(nth), FAIL_WITH=str(number))
        left = [name for name in commands.tree(folder) if name not in before and (".part" in name or "XXXX" in name or "/.collwire-" in name)]
    good = done.returncode == 130 and b"interrupted" in done.stdout + done.stderr and not left
    good = good or command == "run" and done.returncode == 0  # all its work was in the batch of events that it ends
    return None if good else f"{command}: signal {number} at malloc {nth}: exit {done.returncode}, {done.stderr[-300:]!r}, {left}"


def working(base, row, number):
    with Place(base) as folder:
        child = subprocess.Popen([commands.COLLWIRE, row.split()[0], *WORKING[row]], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, env=commands.clean())
        simulates = f"/proc/{child.pid}/task/{child.pid}/children"
        limit = time.monotonic() + 30
        while child.poll() is None and time.monotonic() < limit and not row.startswith("run") and not pathlib.Path(simulates).read_text():
            time.sleep(0.01)
        time.sleep(0.3)
        child.send_signal(number)
        try:
            text, _ = child.communicate(timeout=60)
        finally:
            child.kill()
    good = child.returncode == 130 and b"interrupted" in text
    return None if good else f"{row}: signal {number} in mid work: exit {child.returncode}, {text[-300:]!r}"


def full_stdout(base, command):
    with Place(base) as folder:
        prints = commands.call(command, folder).stdout
    with Place(base) as folder, open("/dev/full", "wb") as full:
        done = subprocess.run([commands.COLLWIRE, command, *commands.ROWS[command]], cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False,
                              stdin=subprocess.DEVNULL, env={**commands.clean(), "HOME": str(folder / "out")})
    good = not prints or done.returncode in (1, 2) and b"stdout" in done.stderr
    return None if good else f"{command}: stdout is full: exit {done.returncode}, {done.stderr!r}"


def in_the_way(base, command, name, make, says, must_leave=True):
    """A place that cannot be replaced: refused before anything is written."""
    with Place(base) as folder:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        make(folder / name)
        before = commands.tree(folder)
        done = commands.call(command, folder)
        after = commands.tree(folder)
    good = done.returncode == 2 and says in done.stderr and (before == after or not must_leave)
    return None if good else f"{command}: {name} in the way: exit {done.returncode}, {done.stderr!r}, {sorted(set(after) - set(before))}"


def cases(base):
    """All that is to be tried, as functions that return what is wrong."""
    for number in (signal.SIGINT, signal.SIGTERM):
        for row in WORKING:
            yield lambda row=row, number=number: working(base, row, number)
    for command in commands.ROWS:
        yield lambda command=command: full_stdout(base, command)
        n, new = counted(base, command, "malloc")
        assert n > 20, f"{command}: {n} allocations are counted: {SHIM} has no effect"
        for number in (signal.SIGINT, signal.SIGTERM):
            for nth in (n // 3, n // 2) if command != "gpcnet" else (n // 3,):
                yield lambda command=command, nth=nth, number=number: interrupted(base, command, nth, number)
        for call in ("write", "open", "rename"):
            n = counted(base, command, call)[0]
            most = 2 if FAULTS and command == "gpcnet" else FAULTS  # one takes seconds
            for nth in range(1, n + 1) if FAULTS == 0 else sorted({1 + i * (n - 1) // max(1, most - 1) for i in range(most)} if n else ()):
                yield lambda command=command, call=call, nth=nth, new=new: fails(base, command, call, nth, new)
    link = lambda path: path.symlink_to(path.parent / "../../small.json")  # noqa: E731
    yield lambda: in_the_way(base, "export", "out/traces.2.et", pathlib.Path.mkdir, b"traces.2.et")
    yield lambda: in_the_way(base, "export", "out/traces.json", pathlib.Path.mkdir, b"traces.json")
    yield lambda: in_the_way(base, "export", "out/traces.1.et.part", link, b"traces.1.et.part")
    yield lambda: in_the_way(base, "plan", "out/plan/packets.jsonl", pathlib.Path.mkdir, b"packets.jsonl")
    yield lambda: in_the_way(base, "plan", "out/plan/packets.jsonl", link, b"symbolic link")
    yield lambda: in_the_way(base, "plan", "out/plan/packets.jsonl", os.mkfifo, b"packets.jsonl")
    yield lambda: in_the_way(base, "plan", "out/plan", lambda path: path.write_text("mine"), b"out/plan")


def main():
    commands.check_table()
    with tempfile.TemporaryDirectory() as tmp, ThreadPoolExecutor(2) as pool:
        base = pathlib.Path(tmp) / "base"
        base.mkdir()
        commands.prepare(base)
        for name, scenario in (("long", LONG), ("large", LARGE)):
            (base / f"{name}.json").write_text(commands.json.dumps(scenario), encoding="utf-8")
        found = list(pool.map(lambda case: case(), cases(base)))
    wrong = [text for text in found if text]
    print("\n".join(wrong))
    print(f"{len(found) - len(wrong)} passed, {len(wrong)} failed")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
