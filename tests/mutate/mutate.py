#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutations: small wrong changes of the sources, each of which must fail a test.

usage: mutate.py SOURCE SCRATCH [--check] [--random N [--seed S]] [--only WORD] [--least SHARE] [--tests REGEX]

Each mutation of mutations.py (or N random ones of the same files) is applied alone to a copy of SOURCE in
SCRATCH, which is built and tested: golden runs first, since they need only the executable, then unit
tests, those of theory and of generated files, those of the file's own folder before others, until one fails. SCRATCH may stay for the next time.
The share that was killed and all survivors are printed; exit 1 below SHARE (default 0.9).

A mutation of the list whose old text is not found exactly once, or that does not compile, is an error,
so the list stays current. --check looks the texts up and ends. Random ones that do not compile are left out of the count; among them are
some that change nothing that a user could see.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutations import FILES, MUTATIONS  # noqa: E402

LEFT_OUT = {".git", "out", "__pycache__"}
GOLDEN_S, TEST_S = 30, 120
LABELS = "^(unit|generated|theory)$"
LIST = "^mutate_list_is_current$"  # the check of this list, which every mutation of it fails


def run(words, cwd, seconds, **environment):
    """True, False, or None after a timeout, which ends the command and all that it started."""
    process = subprocess.Popen(words, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL, start_new_session=True,
                               env={**os.environ, **environment})
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


class Scratch:
    """A copy of the sources, and its build."""

    def __init__(self, source, folder):
        self.source, self.root = os.path.abspath(source), os.path.abspath(folder)
        self.tree, self.build = os.path.join(self.root, "tree"), os.path.join(self.root, "build")
        self.copy()
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja",
                        "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1"], check=True,
                       stdout=subprocess.DEVNULL)

    def copy(self):
        """Files that differ are copied, files that went are removed."""
        kept = set()
        for folder, names, files in os.walk(self.source):
            names[:] = [n for n in names if n not in LEFT_OUT and not n.startswith("build")]
            inside = os.path.relpath(folder, self.source)
            os.makedirs(os.path.join(self.tree, inside), exist_ok=True)
            for name in files:
                old, new = os.path.join(folder, name), os.path.join(self.tree, inside, name)
                kept.add(os.path.normpath(new))
                if not os.path.exists(new) or read(old) != read(new):
                    shutil.copyfile(old, new)
        for folder, _, files in os.walk(self.tree):
            for name in files:
                path = os.path.normpath(os.path.join(folder, name))
                if path not in kept:
                    os.remove(path)

    def make(self, *targets):
        return run(["ninja", "-C", self.build, *targets], self.tree, 600)

    def golden(self):
        return run([sys.executable, "-B", os.path.join(self.tree, "tests", "golden",
                                                       "check_golden.py"), "--first"],
                   self.tree, GOLDEN_S, COLLWIRE=os.path.join(self.build, "collwire"))

    def tests(self, regex):
        """Tests as (name, target or None of scripts), in the order of CTest. Those in C of a folder are one program."""
        listed = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1", "-L", LABELS, "-R", regex, "-E", LIST],
                                capture_output=True, text=True, check=True).stdout
        programs = [(test["name"], re.search(r"/tests/([a-z]+)/run$", test["command"][0])) for test in json.loads(listed)["tests"]]
        return [(name, found and "test_" + found[1]) for name, found in programs]

    def test(self, name):
        return run(["ctest", "--test-dir", self.build, "-R", f"^{name}$"], self.tree, TEST_S)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def nearest_first(tests, path):
    """Tests of the file's folder, then those of whole runs, then the rest."""
    folder = path.split("/")[0]

    def rank(test):
        name = test[0]
        near = name.startswith((folder, "generated"))
        return 0 if near else 1 if name.startswith(("sim", "cli", "report")) else 2

    return sorted(tests, key=rank)


def killer(scratch, path, tests):
    """The first test that fails, "" of none; None where it does not build."""
    if not scratch.make("collwire"):
        return None
    if not scratch.golden():
        return "golden"
    for name, target in nearest_first(tests, path):
        if target and not scratch.make(target):
            return None
        if not scratch.test(name):
            return name
    return ""


# ---- random mutations ----

SWAPS = [("==", "!="), ("<=", "<"), (">=", ">"), (" < ", " <= "), (" > ", " >= "), (" + ", " - "),
         (" - ", " + "), ("&&", "||"), ("||", "&&"), ("+=", "="), ("-=", "+="), (" * ", " / "),
         (" ? ", " ? !"), ("++;", "--;"), ("true", "false"), ("false", "true"), (" 1)", " 2)"), ("(!", "(")]


def random_of(source, count, seed):
    """Mutations by swapping an operator, a constant, or a word of a text."""
    draw, found = random.Random(seed), []
    for path in FILES:
        text = read(os.path.join(source, path)).decode()
        at = 0
        for line in text.splitlines(keepends=True):
            code = line.split("//")[0]
            if not code.lstrip().startswith(("#", "*", "//")):
                for old, new in SWAPS:
                    for match in re.finditer(re.escape(old), code):
                        found.append((path, at + match.start(), old, new))
                for match in re.finditer(r'"((?:[^"\\]|\\.)*)"', code):
                    if len(match.group(1)) > 2:
                        found.append((path, at + match.start(), match.group(), '"x' + match.group()[1:]))
                for match in re.finditer(r"(?<=[^\w.])([2-9]|\d{2,})(?=[^\w.x])", code):
                    found.append((path, at + match.start(), match.group(1), str(int(match.group(1)) + 1)))
            at += len(line)
    return draw.sample(found, min(count, len(found)))


# ---- the run ----


def mutated(source, mutation):
    """(path, mutated text, description) of a mutation."""
    text = read(os.path.join(source, mutation[0])).decode()
    if isinstance(mutation[1], int):
        path, at, old, new = mutation
        line = text.count("\n", 0, at) + 1
        return path, text[:at] + new + text[at + len(old):], f"{path}:{line} {old!r} -> {new!r}"
    path, old, new = mutation
    if text.count(old) != 1:
        sys.exit(f"mutations.py: {path}: {old!r} is found {text.count(old)} times")
    return path, text.replace(old, new), f"{path}: {old!r} -> {new!r}"


def prepare(args):
    scratch = Scratch(args.source, args.scratch)
    if not scratch.make():
        sys.exit("the sources do not build")
    tests = scratch.tests(args.tests) # CTest knows the command of a test when its program is built
    if not scratch.golden() or not run(["ctest", "--test-dir", scratch.build, "-L", LABELS, "-R",
                                        args.tests, "-E", LIST, "-j2"], scratch.tree, 3600):
        sys.exit("a test fails without any mutation")
    return scratch, tests


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("scratch")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--least", type=float, default=0.9)
    parser.add_argument("--tests", default=".")
    args = parser.parse_args()
    wanted = random_of(args.source, args.random, args.seed) if args.random else MUTATIONS
    plan = [one for one in (mutated(args.source, m) for m in wanted) if args.only in one[2]]
    if args.check:
        sys.exit(0)
    begin = time.monotonic()
    scratch, tests = prepare(args)
    print(f"{len(plan)} mutations; the copy is built and green after {time.monotonic() - begin:.0f} s",
          flush=True)
    survivors, invalid = [], []
    begin = time.monotonic()
    for number, (path, text, what) in enumerate(plan, 1):
        whole, target = read(os.path.join(args.source, path)), os.path.join(scratch.tree, path)
        write(target, text.encode())
        by = killer(scratch, path, tests)
        write(target, whole)
        if by is None:
            invalid.append(what)
        elif by == "":
            survivors.append(what)
        print(f"{number:3} {'does not build' if by is None else by or 'SURVIVES':24} {what}", flush=True)
    count = len(plan) - len(invalid)
    share = 1 - len(survivors) / max(count, 1)
    print(f"\n{count} mutations, {count - len(survivors)} killed: {100 * share:.1f} %, "
          f"{(time.monotonic() - begin) / max(len(plan), 1):.1f} s each")
    for what in survivors:
        print("survives:", what)
    if invalid and not args.random:
        print("does not build:", *invalid, sep="\n  ")
    sys.exit(share < args.least or bool(invalid and not args.random))


if __name__ == "__main__":
    main()
