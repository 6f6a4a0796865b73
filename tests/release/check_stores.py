# SPDX-License-Identifier: MIT
"""Results and scenarios of an earlier version stay readable: reports, charts and explanations of its folders, and its scenarios.

usage: check_stores.py DATA_DIR        (tests/data/release-0.2.0)
"""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)


def collwire(folder, *words):
    environment = {name: value for name, value in os.environ.items() if name != "COLLWIRE_SHARE"}  # the charts beside the program
    return subprocess.run([COLLWIRE, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def page(folder, name):
    """The data in the page that `report` writes of a folder."""
    done = collwire(folder, "report", name)
    expect(done.returncode == 0, f"report {name}: {done.returncode} {done.stderr}")
    file = folder / name / "report.html"
    return file.read_text() if file.exists() else ""


def check_sweep(folder):
    """The rows of the store, as the old program wrote them beside it, are those that today's program finds in it."""
    with open(folder / "store" / "sweep.csv", encoding="utf-8") as file:
        old = [float(row["sim_time_ns"]) for row in csv.DictReader(file)]
    expect(len(old) == 4, f"{len(old)} rows in sweep.csv")
    text = page(folder, "store")
    for value in old:
        expect(f"{value:.0f}" in text, f"the report of the store has no {value:.0f}")
    done = collwire(folder, "plot", "store", "--chart", "sweep.lines=sim_time_ns", "-o", "chart.csv")
    expect(done.returncode == 0, f"plot of the store: {done.stderr}")
    if done.returncode == 0:
        with open(folder / "chart.csv", encoding="utf-8") as file:
            new = [float(row["mean"]) for row in csv.DictReader(file)]
        expect(sorted(new) == sorted(old), f"plot: {sorted(new)}, not {sorted(old)}")


def check_extension(folder):
    """A sweep over a store of other tables is refused in one sentence, and the store stays as it was."""
    before = (folder / "store" / "results.sqlite").read_bytes()
    done = collwire(folder, "sweep", "incast.json", "--vary", "workload.bytes=50KB,100KB", "--cc", "none", "--out", "store")
    if done.returncode == 0:
        return  # the tables are the same again
    lines = [line for line in done.stderr.splitlines() if "warning" not in line]
    expect(done.returncode == 2 and len(lines) == 1 and "choose another --out" in lines[0], f"sweep into the store: {done.returncode} {done.stderr}")
    expect((folder / "store" / "results.sqlite").read_bytes() == before, "a sweep that was refused has changed the store")


def check_runs(folder):
    metrics = json.loads((folder / "run" / "metrics.json").read_text())
    expect(f"{metrics['sim_time_ns']:.0f}" in page(folder, "run"), "the report of the run has not its time")
    page(folder, "compare")
    done = collwire(folder, "explain", "run")
    expect(done.returncode == 0 and metrics["explain"][0].split(" ")[0] in done.stdout, f"explain run: {done.stdout}{done.stderr}")
    done = collwire(folder, "explain", "run", "--against", "compare/incast/none")
    other = json.loads((folder / "compare" / "incast" / "none" / "metrics.json").read_text())
    ratio = metrics["sim_time_ns"] / other["sim_time_ns"]
    expect(done.returncode == 0 and f"{ratio:.2f} times" in done.stdout, f"explain --against: {done.stdout}{done.stderr}")


def check_scenarios(data):
    files = sorted((data / "scenarios").glob("*.json"))
    expect(len(files) >= 10, f"only {len(files)} scenarios")
    for file in files:
        done = collwire(data, "validate", file)
        expect(done.returncode == 0, f"{file.name}: {done.stderr}")


def main():
    data = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / "results"
        shutil.copytree(data / "results", folder)
        shutil.copyfile(data / "scenarios" / "incast.json", folder / "incast.json")
        check_sweep(folder)
        check_extension(folder)
        check_runs(folder)
    check_scenarios(data)
    for text in failures:
        print("FAILED:", text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
