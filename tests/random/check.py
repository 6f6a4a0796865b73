#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random scenarios (generate.py) against properties that hold for all of them.

usage: check.py [--aimed|--features] [--hybrid] [--no-ideals] [--jobs N] [--keep FOLDER] SEED|FIRST-LAST|FOLDER ...
with the executable in $COLLWIRE. A scenario that `validate` calls valid runs to exit 0 or 1; one that
is refused ends with 2, a message that names a path, and writes nothing. Metrics keep the invariants
of invariants.py, and are the same bytes by the reference engine, of their own resolved scenario with two to seven threads
(all files), and without captures and samples (or a second time, where the scenario has none). --no-ideals leaves out slowdown >= 1 and
efficiency <= 1. --aimed: scenarios of aimed.py, in which ACKs, timers and rates meet in every order. --features: of features.py, in which
libraries, shapes of networks, sizes and kinds of jobs meet. --hybrid: each on the hybrid network, without captures and samples, which
make all of it packets.
A FOLDER has a scenario.json that --keep kept, and the files that it names.
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "net", "capture")]
# pylint: disable=wrong-import-position
import aimed
import features
import generate
import invariants
import pcapng

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
SANITIZER_EXIT = 99
SECONDS = 60
REPAIRS = 6
REQUIRED = {"kind", "size", "bytes", "op", "dims", "topology", "workload", "at", "file", "ranks_per_leaf",
            "spines", "gpus_per_server", "global_links", "src", "dst", "cdf", "load", "duration"}
OPTIONS = argparse.Namespace(ideals=True, keep=None, aimed=False, features=False, hybrid=False)


class Finding(Exception):
    """A property that does not hold for a scenario."""


def call(*args):
    """Exit code and messages of a command, which must end by itself."""
    options = f"exitcode={SANITIZER_EXIT}:abort_on_error=0:allocator_may_return_null=1"
    environment = dict(os.environ, ASAN_OPTIONS=options, UBSAN_OPTIONS=options + ":print_stacktrace=1")
    try:
        done = subprocess.run([COLLWIRE, *map(str, args)], capture_output=True, timeout=SECONDS,
                              env=environment, check=False)
    except subprocess.TimeoutExpired as late:
        raise Finding(f"{args[0]} takes more than {SECONDS} s") from late
    stderr = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 2) or "runtime error:" in stderr or "Sanitizer" in stderr:
        lines = [line for line in stderr.splitlines() if line.strip()]
        raise Finding(f"{args[0]} ends with {done.returncode}: " + " | ".join(lines[:8])[:900])
    return done.returncode, stderr


def refused(stderr, out, code):
    """Messages like "collwire: workload.bytes: must be ..", and no results."""
    if code != 2 or not re.search(r"^collwire: [^ ].*", stderr, re.M):
        raise Finding(f"exit {code} without a message: {stderr!r}")
    if not re.search(r"(^|\s)[$a-z_]+(\[\d+\]|\.[A-Za-z_0-9]+)*: ", stderr):
        raise Finding(f"the message names no place: {stderr!r}")
    if out.exists() and any(path.name != ".collwire" for path in out.iterdir()):
        raise Finding("refused, but something was written")


def run(scenario, out, *args):
    code, stderr = call("run", scenario, "--out", out, "--quiet", *args)
    if code == 2:
        return code, stderr, None
    with open(out / "metrics.json", "rb") as f:
        return code, stderr, f.read()


def without(metrics, *keys):
    return json.dumps({key: value for key, value in metrics.items() if key not in keys})


def first_difference(a, b):
    keys = [key for key in a if json.dumps(a.get(key)) != json.dumps(b.get(key))]
    for key in keys[:1]:
        return f"{keys}: {json.dumps(a[key])[:200]} .. {json.dumps(b.get(key))[:200]}"
    return "the order of keys"


def captures(out, machine):
    for capture in machine.get("captures", []):
        n = len(pcapng.read(out / capture["file"]).packets)
        if n != capture["packets"]:
            raise Finding(f"{capture['file']} holds {n} packets, run.json says {capture['packets']}")


def same(scenario, folder, code, text, made):
    """The reference engine, and a run without captures and samples, give the same results."""
    metrics = invariants.load(text)
    if "wall" in made["limits"] or "memory" in (metrics["reason"] or ""):
        return
    got, _, plain = run(scenario, folder / "plain", "--plain")
    if got != code or plain != text:
        raise Finding(f"--plain: exit {got}, not {code}; " +
                      ("" if plain is None else first_difference(metrics, json.loads(plain))))
    threads = 2 + len(text) % 6
    resolved = folder / "resolved.json"  # what metrics.json says that was run
    resolved.write_text(json.dumps(metrics["scenario"]), encoding="utf-8")
    if made.get("capture"):  # whose files name the scenario as it was given
        resolved = scenario
    got, said, shared = run(resolved, folder / "threads", "--threads", threads, "--together")
    if got != code or shared != text:
        raise Finding(f"the resolved scenario with --threads {threads}: exit {got}, not {code}; " +
                      (said if shared is None else first_difference(metrics, json.loads(shared))))
    for path in (folder / "out").iterdir():
        if path.is_file() and path.name not in ("run.json", "metrics.json"):
            if path.read_bytes() != (folder / "threads" / path.name).read_bytes():
                raise Finding(f"the resolved scenario with --threads {threads}: {path.name} differs")
    watched = made.get("capture") or made.get("report")
    kept = {key: value for key, value in made.get("report", {}).items() if key in ("flows_max", "collectives_max")}
    more = ("--set", "capture=[]", "--set", f"report={json.dumps(kept)}") if watched else ()
    got, _, again = run(scenario, folder / "again", *more)
    again = json.loads(again) if again else {}
    keys = ("scenario", "series", "thinned") if watched else ()
    if got != code or without(again, *keys) != without(metrics, *keys):
        raise Finding(f"{'unwatched' if watched else 'a second time'}: exit {got}, not {code}; " +
                      first_difference(metrics, again))


def repaired(made, messages):
    """Remove the keys that errors name; False if none can be removed."""
    changed = False
    for path in re.findall(r"^collwire: (?!warning)([^ ]+): ", messages, re.M):
        keys = [int(a) if a else b for a, b in re.findall(r"\[(\d+)\]|([^.\[\]]+)", path)]
        while len(keys) > 1:
            at = made
            try:
                for key in keys[:-1]:
                    at = at[key]
                if keys[-1] in REQUIRED:
                    raise KeyError(keys[-1])
                del at[keys[-1]]
                changed = True
                break
            except (KeyError, IndexError, TypeError):
                keys.pop()
    return changed


def check(seed, folder):
    """The run's end as a word; raises Finding. A refused scenario is repaired by its errors."""
    if isinstance(seed, str):
        shutil.copytree(seed, folder, dirs_exist_ok=True)
        return check_one(json.loads((folder / "scenario.json").read_text(encoding="utf-8")), folder)
    made = (aimed if OPTIONS.aimed else features if OPTIONS.features else generate).scenario(seed, folder)
    if OPTIONS.hybrid and made.get("network") != "analytical":
        made["network"] = "hybrid"
        made.pop("capture", None)
        for key in ("sample", "sample_at"):
            made.get("report", {}).pop(key, None)
        generate.write(made, folder)
    for attempt in range(REPAIRS + 1):
        end, why = check_one(made, folder)
        if end != "refused" or attempt == REPAIRS or not repaired(made, why):
            return ("repaired, " if attempt else "") + end, why
        generate.write(made, folder)
    return None


def check_one(made, folder):
    scenario, out = folder / "scenario.json", folder / "out"
    valid, messages = call("validate", scenario, "--quiet")
    code, stderr, text = run(scenario, out)
    # a sanitizer's own memory differs from run to run, so near limits.memory both answers are right
    near = os.environ.get("COLLWIRE_SANITIZED") == "ON" and "limits.memory" in messages + stderr
    if ((valid == 0) != (code != 2) and not near) or valid == 1:
        raise Finding(f"validate ends with {valid}, run with {code}: {messages} {stderr}")
    if code == 2:
        refused(stderr, out, code)
        return "refused", stderr
    metrics = invariants.load(text)
    failures = invariants.Check(metrics, code, OPTIONS.ideals).all()
    if failures:
        raise Finding(f"{len(failures)} do not hold: " + "; ".join(failures[:4]))
    with open(out / "run.json", encoding="utf-8") as f:
        captures(out, json.load(f))
    same(scenario, folder, code, text, made)
    return metrics["status"], metrics["reason"] or ""


def one(seed):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            return seed, *check(seed, folder)
        except Finding as finding:
            what = str(finding)
        except (ValueError, KeyError, TypeError, OSError) as error:
            what = f"{type(error).__name__}: {error}"
        if OPTIONS.keep:
            shutil.copytree(folder, pathlib.Path(OPTIONS.keep) / os.path.basename(str(seed)), dirs_exist_ok=True)
        return seed, "FAILED", what


def seeds_of(words):
    for word in words:
        if os.path.isdir(word):
            yield word
            continue
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--aimed", action="store_true")
    parser.add_argument("--features", action="store_true")
    parser.add_argument("--hybrid", action="store_true")
    parser.add_argument("--no-ideals", dest="ideals", action="store_false")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("seeds", nargs="+")
    parser.parse_args(namespace=OPTIONS)
    ends = collections.Counter()
    with multiprocessing.Pool(OPTIONS.jobs) as pool:
        for seed, end, why in pool.imap_unordered(one, seeds_of(OPTIONS.seeds), chunksize=4):
            ends[end] += 1
            if end == "FAILED" or OPTIONS.verbose:
                print(f"seed {seed}: {end} {why.strip()}", flush=True)
    print(", ".join(f"{n} {end}" for end, n in sorted(ends.items())))
    return bool(ends["FAILED"])


if __name__ == "__main__":
    sys.exit(main())
