#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/validation.md: measured collectives and RDMA transfers beside the simulator.

The points, machines and assumptions were committed before any was simulated.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]
import charts  # noqa: E402
import model  # noqa: E402
import page  # noqa: E402
import study  # noqa: E402
import tables  # noqa: E402
from sweeps import Failed  # noqa: E402

COLUMNS = ("id", "way", "simulated_us")


def points():
    return json.loads((HERE / "points.json").read_text())


def simulate(binary, point, machine):
    """How a point ran, and its time in us with its base time."""
    scenario, base_us = model.scenario(point, machine)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "scenario.json"
        file.write_text(json.dumps(scenario))
        done = subprocess.run(
            [str(binary), "run", str(file), "--quiet", "--out", f"{folder}/out"], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise Failed(f"{point['id']}: {done.stderr}")
        metrics = json.loads((pathlib.Path(folder) / "out/metrics.json").read_text())
    return point["id"], model.way(point, metrics), round(model.time_us(metrics) + base_us, 3)


def rows(binary, jobs, most_bytes):
    machines = json.loads((HERE / "machines.json").read_text())
    wanted = [point for point in points() if point["bytes"] <= most_bytes]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        made = pool.map(lambda point: simulate(binary, point, machines[point["machine"]]), wanted)
        return [dict(zip(COLUMNS, row)) for row in made]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collwire", type=pathlib.Path, default=os.environ.get("COLLWIRE", ROOT / "build/collwire"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--page", action="store_true", help="the page from data.csv, without runs")
    parser.add_argument(
        "--check",
        action="store_true",
        help="points up to 1 MiB must have the times of data.csv, and the page must be theirs; writes nothing",
    )
    options = parser.parse_args()
    binary, data = pathlib.Path(options.collwire).resolve(), HERE / "data.csv"
    if options.check:
        stored = {row["id"]: row for row in tables.read(data)}
        different = [row for row in rows(binary, options.jobs, 1 << 20) if stored.get(row["id"]) != row]
        print("\n".join(f"{row}, not {stored.get(row['id'])}" for row in different))
        charts.enabled = False
        same = (ROOT / "docs/validation.md").read_text() == page.text(points(), tables.read(data))
        print("" if same else "docs/validation.md is not what data.csv makes: run.py --page")
        return 0 if same and not different else 1
    study.needs_matplotlib()
    if not options.page:
        tables.write(data, rows(binary, options.jobs, 1 << 60))
    (ROOT / "docs/validation.md").write_text(page.text(points(), tables.read(data)))
    return 0


if __name__ == "__main__":
    sys.exit(study.reported(main))
