#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Published figures of training loops (docs/training.md): the third exercise of ASTRA-sim's tutorials, and Themis's gain
for a transformer of 10^12 weights; and the workloads are what studies/models/make.py makes.

usage: check_models.py ROOT, with the executable in $COLLWIRE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "studies/models"))
# pylint: disable=wrong-import-position
import make

# Compute and total in ns, as published, of the tutorials' own layers.
EXERCISE = {"vgg16-dgx2": (751019, 5632316), "vgg16-tpu": (1831809, 5489225),
            "gpt3-dgx2": (575821446, 787767340), "gpt3-tpu": (1404442611, 1655238425)}
THEMIS = ("inter-dimension-scheduling=offlineGreedy", "intra-dimension-scheduling=smallestFirst")
wrong = 0


def claim(what, holds):
    global wrong
    wrong += not holds
    print(f"{'ok' if holds else 'WRONG'}   {what}")


def training(scenario, *settings):
    with tempfile.TemporaryDirectory() as out:
        words = [word for setting in settings for word in ("--set", f"workload.system.{setting}")]
        subprocess.run([os.environ["COLLWIRE"], "run", ROOT / "scenarios" / scenario, "--quiet", "--out", out, *words],
                       check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
            return json.load(file)["training"]


def main():
    for name, (compute, total) in EXERCISE.items():
        got = training(f"reproduce/exercise3/{name}.json")
        claim(f"{name}: compute {got['compute_ns'] / 1e6:.3f} ms, published {compute / 1e6:.3f}",
              got["compute_ns"] == compute)
        claim(f"{name}: total {got['total_ns'] / 1e6:.3f} ms, published {total / 1e6:.3f}",
              got["total_ns"] == total)
    few = "preferred-dataset-splits=16"  # of 64, which takes four times as long
    before, after = (training("reproduce/themis/transformer-1t.json", few, *more) for more in ((), THEMIS))
    gain = before["total_ns"] / after["total_ns"]
    claim(f"Themis, transformer of 10^12 weights: {gain:.2f} times as fast, published 1.25 on average, 1.53 at most",
          1.25 < gain < 1.6 and before["compute_ns"] == after["compute_ns"])
    for name, model in make.SHARED.items():
        claim(f"{name}: the file is what the script makes",
              (ROOT / "scenarios/models" / model.workload).read_text(encoding="utf-8") == model.text())
    return 1 if wrong else 0


sys.exit(main())
