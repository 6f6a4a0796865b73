#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training out of core (`cnn` jobs with `out_of_core`): runs against the plan, methods against each other, KARMA's trend.

What Wahib et al. (SC 2020) report of a 16 GB V100 with PCIe 3.0 holds here: the same speed for all batches
that fit, a slow decline beyond, and swaps interleaved with recomputation faster than either alone.

usage: check_out_of_core.py, with the executable in $COLLWIRE.
"""
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def scenario(ranks, batch, capacity="16GB", **job):
    """V100 16 GB in single precision, 60 % of its 15.7 Tflop/s."""
    return {"name": "karma",
            "topology": {"dims": [{"kind": "switch", "size": ranks, "link": {"rate": "100Gbps", "delay": "500ns"}}]},
            "transport": {"wire_overhead": {"data": "0B", "ack": "1B"}}, "memory": {"capacity": capacity},
            "workload": {"kind": "cnn", "model": "resnet50", "strategy": "data" if ranks > 1 else "serial", "batch": batch,
                         "out_of_core": True, "peak_tflops": 15.7, "efficiency": 0.6, **job}}


def run(folder, made):
    path, out = os.path.join(folder, "scenario.json"), os.path.join(folder, "out")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        metrics = json.load(file)
    return metrics["programs"][0] | {"memory": metrics["memory"]["max_bytes"], "reasons": metrics["reasons"]}


def uses(program):
    return {use["name"]: use for use in program["uses"]}


def check_plan(folder):
    """A rank that is alone takes what is planned, and no more memory than it has."""
    for model, batch, capacity, more in (
            ("resnet50", 512, 16e9, {}), ("resnet50", 1024, 16e9, {"iterations": 3}),
            ("resnet50", 512, 16e9, {"out_of_core_method": "swap"}), ("resnet152", 512, 16e9, {}),
            ("vgg16", 128, 8e9, {"swap_weights": "true", "iterations": 3}), ("vgg16", 8, 2e9, {"iterations": 2}),
            ("resnet50", 512, 16e9, {"host_capacity": "2GB"})):
        p = run(folder, scenario(1, batch, f"{capacity:.0f}B", model=model, **more))
        what = f"{model}, batch {batch}, {more}"
        expect(f"{what}: {p['total_ns']} ns, planned {p['projected_ns']}",
               abs(p["total_ns"] - p["projected_ns"]) <= 1e-3 * p["total_ns"])
        expect(f"{what}: {p['memory'] / 1e9:.2f} GB", p["memory"] <= capacity)
        swap = uses(p)["swap"]
        idle = p["total_ns"] - p["compute_ns"]
        expect(f"{what}: all waiting, {idle} ns, is for the host", abs(swap["exposed_ns"] - idle) <= 5)


def check_trend(folder):
    speed = {method: [run(folder, scenario(1, batch, out_of_core_method=method))["samples_per_s"]
                      for batch in (64, 128, 256, 384, 512, 768)] for method in ("auto", "swap", "recompute")}
    print(speed)
    auto, fits = speed["auto"], 3  # 384 is 1.1 times the memory, and its swaps can be hidden
    expect("the same speed for batches that fit", max(auto[:fits]) <= 1.01 * min(auto[:fits]))
    expect("with every method", all(speed[m][:fits] == auto[:fits] for m in speed))
    expect("a decline beyond", all(a > b for a, b in zip(auto[fits:], auto[fits + 1:])) and
           auto[fits + 1] < min(auto[:fits]))
    expect("of less than a tenth at twice the memory", auto[-1] >= 0.9 * auto[fits - 1])
    for method in ("swap", "recompute"):
        expect(f"auto is at least as fast as {method}", all(a >= b for a, b in zip(auto, speed[method])))
        expect("and faster far beyond the memory", all(a > b for a, b in zip(auto[fits + 1:], speed[method][fits + 1:])))
    expect("swap alone loses most there", all(a < b for a, b in zip(speed["swap"][fits + 1:], speed["recompute"][fits + 1:])))


def check_data(folder):
    """Gradients are reduced behind the passes; what they take is hidden, or comes after the plan."""
    alone = run(folder, scenario(1, 512))
    for more in ({}, {"overlap": False}, {"swap_weights": "true"}):
        p = run(folder, scenario(4, 4 * 512, **more))
        sent = 4 * 2 * 3 / 4 * 4 * 25557032  # a ring sends all but a part of all gradients twice
        expect(f"data, {more}: bytes of gradients", abs(uses(p)["gradients"]["bytes"] / sent - 1) < 1e-3)
        least, most = p["projected_compute_ns"], p["projected_ns"]
        expect(f"data, {more}: {least} <= {p['total_ns']} <= {most}", least <= p["total_ns"] <= 1.001 * most)
        if not more.get("swap_weights"):
            expect("each rank swaps what one alone does", uses(p)["swap"]["bytes"] == 4 * uses(alone)["swap"]["bytes"])
    p = run(folder, scenario(4, 4 * 512, overlap=False))
    expect("without overlap the plan and the all-reduce", abs(p["total_ns"] / p["projected_ns"] - 1) < 1e-3)


def check_saving(folder):
    """A link of twice the rate saves what is said, and no more."""
    for ranks, batch, more in ((1, 512, {"out_of_core_method": "swap"}), (1, 4, {"model": "vgg16", "swap_weights": "true"}), (4, 512, {"out_of_core_method": "swap"})):
        made = scenario(ranks, batch * ranks, **more)
        before = run(folder, made)
        said = [r for r in before["reasons"] if r["kind"] == "swap"]
        after = run(folder, made | {"workload": made["workload"] | {"swap_rate": "192Gbps"}})
        saved = before["total_ns"] - after["total_ns"]
        expect(f"{ranks} ranks, {more}: {saved} saved",
               len(said) == 1 and said[0]["set"] == ["workload.swap_rate=192Gbps"] and saved > 0)
    kept = run(folder, scenario(1, 64))
    expect("nothing is said where all is kept", not any(r["kind"] == "swap" for r in kept["reasons"]) and
           (kept["swapped_layers"], kept["recomputed_layers"], kept["kept_layers"]) == (0, 0, 56))


def refused(folder, made, part):
    path = os.path.join(folder, "scenario.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    got = subprocess.run([COLLWIRE, "validate", path], capture_output=True, text=True, check=False)
    expect(f"refused: {part}", got.returncode == 2 and part in got.stderr and got.stderr.count("collwire:") == 1)


def check_refusals(folder):
    refused(folder, scenario(1, 4096), "workload.out_of_core: layer conv2_shortcut alone needs")
    refused(folder, scenario(1, 512, out_of_core=False), "`out_of_core` moves them to the host")
    refused(folder, scenario(4, 512, strategy="filter"), "is for the strategies serial and data, not filter")
    refused(folder, scenario(1, 512, swap_rate="0bps"), "workload.swap_rate: ")
    refused(folder, scenario(1, 512, host_capacity="1MB", out_of_core_method="swap"), "workload.host_capacity: the outputs")
    refused(folder, scenario(1, 1024, out_of_core_method="recompute"), "recompute alone does not fit into the 16.0 GB")
    refused(folder, scenario(1, 512, out_of_core_method="both"), "workload.out_of_core_method: ")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_plan(folder)
        check_trend(folder)
        check_data(folder)
        check_saving(folder)
        check_refusals(folder)
    sys.exit(1 if FAILED else 0)


main()
