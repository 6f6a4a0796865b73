# SPDX-License-Identifier: MIT
"""What the studies share: runs of committed scenarios, kept once made, and tables in a page.

A run is a scenario with overrides and a seed. A finished one is kept under a hash of simulator,
scenario, its files, overrides and seed, so that a second call makes only what is missing.
"""
import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import typing

from tables import markdown, mean  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parents[1]


def cc(kind, **values):
    return "cc=" + json.dumps({"kind": kind, **values}, separators=(",", ":"))


class Run(typing.NamedTuple):
    scenario: str
    overrides: tuple
    seed: int

    def command(self, binary):
        sets = [word for override in self.overrides for word in ("--set", override)]
        return [str(binary), "run", f"scenarios/{self.scenario}.json", *sets, "--seed", str(self.seed)]

    def inputs(self):
        """The texts that decide it: the scenario, and the workloads that it names."""
        file = ROOT / "scenarios" / f"{self.scenario}.json"
        text = file.read_text()
        jobs = json.loads(text)["workload"]
        named = [job["file"] for job in (jobs if isinstance(jobs, list) else [jobs]) if "file" in job]
        return [text, *((file.parent / name).read_text() for name in named)]


class Cache:
    """`summary`: what is kept of a run, a dictionary made of its metrics.json and run.json."""

    def __init__(self, binary, folder, summary):
        self.binary, self.folder, self.summary = binary, folder, summary
        self.simulator = hashlib.sha256(binary.read_bytes()).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)

    def file(self, run):
        key = json.dumps([self.simulator, *run.inputs(), run.overrides, run.seed])
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"

    def get(self, run):
        file = self.file(run)
        return json.loads(file.read_text()) if file.exists() else None

    def make(self, run):
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            result = {"command": shlex.join(run.command("collwire")),
                      **execute(self.binary, run, self.summary, scratch)}
            ready = pathlib.Path(scratch) / "summary.json"
            ready.write_text(json.dumps(result))
            ready.replace(self.file(run))


def execute(binary, run, summary, folder):
    done = subprocess.run([*run.command(binary), "--quiet", "--out", folder], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(run.command(binary))}\n{done.stderr}")
    return summary(*(json.loads((pathlib.Path(folder) / name).read_text())
                     for name in ("metrics.json", "run.json")))


# 97.5 % point of Student's t by number of runs
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


def interval(values):
    """Half of the 95 % confidence interval of their mean."""
    n, centre = len(values), mean(values)
    return STUDENT[n] * math.sqrt(sum((v - centre) ** 2 for v in values) / (n - 1) / n)


def spread(values, digits):
    """Mean and interval."""
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{mean(values):.{digits}f} ± {interval(values):.{digits}f}"


def fill(page, name, text):
    pattern = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(page):
        sys.stderr.write(f"no marker for table {name}\n")
    return pattern.sub(lambda m: f"{m[1]}{text}\n{m[2]}", page)


def cells_of(page, name):
    """{(first word of the row, column): cell} of a table of the page."""
    table = re.search(rf"<!-- table: {re.escape(name)} -->\n(.*?)\n<!-- end -->", page, re.DOTALL)[1]
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    return {(row[0], column): cell for row in rows for column, cell in zip(head, row)}


def main(name, doc, tables, summary, time_of, texts, ways):
    """The command line of the study `name`, whose page is studies/NAME/README.md.

    `tables`: by name the runs that each needs. `time_of(result)`: a run's time in ns, for progress.
    `texts(chosen tables, cache, page)`: by name the text between a table's markers, None where runs are missing.
    `ways`: by name the overrides of the runs that --way makes; the cells of other ways stay.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--collwire", type=pathlib.Path, help="the binary",
                        default=os.environ.get("COLLWIRE", ROOT / "build/collwire"))
    parser.add_argument("--out", type=pathlib.Path, help="folder of finished runs",
                        default=ROOT / f"out/study-{name}")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--only", choices=sorted(tables), action="append", help="this table (repeatable)")
    parser.add_argument("--way", choices=sorted(ways), action="append", help="run this way only (repeatable)")
    parser.add_argument("--show", action="store_true", help="print every run as a command line, run nothing")
    options = parser.parse_args()
    chosen = [table for table in tables if not options.only or table in options.only]
    named = {tuple(ways[way]) for way in options.way or ways}
    wanted = list(dict.fromkeys(run for table in chosen for run in tables[table] if not options.way or run.overrides in named))
    if options.show:
        print("\n".join(shlex.join(run.command("build/collwire")) for run in wanted))
        return 0

    cache = Cache(pathlib.Path(options.collwire).resolve(), options.out, summary)
    missing = [run for run in wanted if not cache.file(run).exists()]
    print(f"{len(wanted)} runs, {len(wanted) - len(missing)} of them finished before", flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tasks = {pool.submit(cache.make, run): run for run in missing}
        try:
            for count, task in enumerate(concurrent.futures.as_completed(tasks), 1):
                if task.exception():
                    failed += 1
                    print(task.exception(), file=sys.stderr)
                else:
                    result = cache.get(tasks[task])
                    print(f"[{count}/{len(missing)}] {time_of(result) / 1e6:.3f} ms: {result['command']}",
                          flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            return 130

    file = ROOT / f"studies/{name}/README.md"
    page = file.read_text()
    for table, text in texts(chosen, cache, page).items():
        if text:
            page = fill(page, table, text)
    file.write_text(page)
    return 1 if failed else 0
