# SPDX-License-Identifier: MIT
"""The command line of a study: sweeps, their data in a file, and the page made from it.

A study is a folder beside this file: design.py (`sweeps(reduced)`, `measures(metrics)`), page.md with what is said in
words, figures.py and facts.py with what is put into it. Its page is NAME/README.md, its data NAME/data.csv.
"""
import argparse
import os
import pathlib
import shlex
import sys
import time

import charts
import tables
from sweeps import ROOT, Failed


def collect(sweeps, measures, out):
    """A row for each point of all sweeps."""
    rows = []
    for sweep in sweeps:
        if sweep.name.startswith("timeline"):
            continue
        for level, way, seed, metrics in sweep.results(out):
            rows.append({"sweep": sweep.name, "level": level, "way": way, "seed": seed, **measures(metrics)})
    return rows


def run(sweeps, options):
    total = sum(sweep.points() for sweep in sweeps)
    begin, done = time.monotonic(), 0
    for sweep in sweeps:
        done += sweep.points()
        sweep.run(options.collwire, options.out, options.jobs, options.shard)
        print(f"[{done}/{total} points, {time.monotonic() - begin:.0f} s] {sweep.name}", flush=True)


def needs_matplotlib():
    """Says before the runs what would fail after them."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise Failed(
            "the charts need Matplotlib for this Python: sh cmake/setup.sh --studies, or PYTHON=/usr/bin/python3"
        )


def judge(claims, rows):
    """Prints every claim and whether the rows show it; how many they do not."""
    failed = 0
    for sentence, holds, seen in claims(rows):
        failed += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {sentence}: {seen}")
    return failed


def reported(work, *what):
    """What `work(*what)` returns, an exit code; what a user has to know is one message and the code 2."""
    try:
        return work(*what)
    except (Failed, OSError) as error:
        print(f"study: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("study: interrupted; the same command goes on from here", file=sys.stderr)
        return 130


def main(*what):
    return reported(study, *what)


def study(name, doc, design, claims, text):
    """`claims(rows)`: (sentence, whether it holds, what was seen); `text(rows)`: the text of docs/PAGE.md, and draws its pictures."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument(
        "--collwire", type=pathlib.Path, help="the program", default=os.environ.get("COLLWIRE", ROOT / "build/collwire")
    )
    parser.add_argument("--out", type=pathlib.Path, help="folder of the stores")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--only", action="append", help="this sweep (repeatable); no page")
    parser.add_argument(
        "--reduced", action="store_true", help="only what the claims need, in minutes: checks them, no page"
    )
    parser.add_argument("--shard", metavar="I/N", help="every Nth point, for several machines; no page")
    parser.add_argument("--merge", nargs="+", metavar="DIR", help="join the stores of shards into --out first")
    parser.add_argument("--page", action="store_true", help="the page from data.csv, without runs")
    parser.add_argument(
        "--check", action="store_true", help="whether data.csv shows the claims and makes the page; writes nothing"
    )
    parser.add_argument("--show", action="store_true", help="print every sweep as a command line, run nothing")
    options = parser.parse_args()
    options.collwire = pathlib.Path(options.collwire).resolve()
    options.out = (options.out or ROOT / "out" / f"study-{name}{'-reduced' if options.reduced else ''}").resolve()
    sweeps = design.sweeps(options.reduced)
    unknown = sorted(set(options.only or ()) - {sweep.name for sweep in sweeps})
    if unknown:
        raise Failed(f"--only: no sweep {', '.join(unknown)}; there are {', '.join(sweep.name for sweep in sweeps)}")
    sweeps = [sweep for sweep in sweeps if not options.only or sweep.name in options.only]
    if options.show:
        for sweep in sweeps:
            for words, folder in sweep.commands("build/collwire", f"out/study-{name}"):
                print(shlex.join([*words, "--out", str(folder)]))
        return 0

    if not (options.check or options.reduced or options.only or options.shard):
        needs_matplotlib()
    data, page = ROOT / "studies" / name / "data.csv", ROOT / "studies" / name / "README.md"
    charts.PICTURES = data.parent / "pictures"
    if not options.page and not options.check:
        for sweep in sweeps if options.merge else []:
            sweep.merge(options.collwire, options.merge, options.out)
        run(sweeps, options)
        if options.only or options.shard:
            return 0
        rows = collect(sweeps, design.measures, options.out)
        if options.reduced:
            return 1 if judge(claims, rows) else 0
        tables.write(data, rows)
        if hasattr(design, "timeline"):
            tables.write(data.with_name("timeline.csv"), list(design.timeline(options.out)))
    rows = tables.read(data)
    failed = judge(claims, rows)
    charts.enabled = not options.check
    made = text(rows)
    if options.check:
        if page.read_text() != made:
            failed += 1
            print(f"FAIL {page.relative_to(ROOT)} is not what data.csv makes: run.py --page")
    else:
        page.write_text(made)
    return 1 if failed else 0
