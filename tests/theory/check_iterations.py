#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Iterations of transformers against measured ones: Korthikanti et al., Reducing Activation Recomputation in Large
Transformer Models, MLSys 2023, table 5, on A100s of 80 GB, eight in a server joined by NVLink, without fused attention.

usage: check_iterations.py NAME ...|all   with the executable in $COLLWIRE

Collectives take their closed forms: inside a server at 230 GB/s, as NCCL's bus bandwidth on such servers, between servers
at 25 GB/s a GPU (HDR InfiniBand). The paper's times are 7 to 19 % longer than these sums of kernels: optimizers' and
gradients' small kernels, host time and stragglers are not in them. One efficiency of 0.5 for all products is between
2 % and 43 % too long."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
# layers, hidden, heads, tensor, pipeline, virtual stages, GPUs, global batch, micro-batch, recompute, seconds
MEASURED = {
    "22B": (48, 6144, 64, 8, 1, 1, 8, 4, 4, "selective", 1.10),
    "22B-full": (48, 6144, 64, 8, 1, 1, 8, 4, 4, "full", 1.42),
    "175B": (96, 12288, 96, 8, 8, 3, 64, 64, 1, "selective", 13.75),
    "175B-full": (96, 12288, 96, 8, 8, 3, 64, 64, 1, "full", 18.13),
    "530B": (105, 20480, 128, 8, 35, 3, 280, 280, 1, "selective", 37.83),
    "530B-full": (105, 20480, 128, 8, 35, 3, 280, 280, 1, "full", 49.05),
    "1T": (128, 25600, 160, 8, 64, 1, 512, 512, 1, "selective", 71.49),
    "1T-full": (128, 25600, 160, 8, 64, 1, 512, 512, 1, "full", 94.42),
}
LEAST, MOST = -0.20, 0.0  # of the error: what is left out only shortens


def scenario(row, efficiency):
    """The job on a switch in each server and one between them."""
    layers, hidden, heads, tensor, stages, chunks, gpus, batch, micro, recompute, _ = row
    dims = [{"kind": "switch", "size": 8, "link": {"rate": "1840Gbps", "delay": "500ns"}}]
    if gpus > 8:
        dims.append({"kind": "switch", "size": gpus // 8, "link": {"rate": "200Gbps", "delay": "1us"}})
    return {"name": "measured", "network": "analytical", "topology": {"dims": dims},
            "workload": {"kind": "llm", "layers": layers, "hidden": hidden, "heads": heads, "sequence": 2048,
                         "vocabulary": 51200, "global_batch": batch, "micro_batch": micro, "tensor": tensor,
                         "pipeline": stages, "virtual_stages": chunks,
                         "schedule": "interleaved" if chunks > 1 else "1f1b", "recompute": recompute,
                         "dropout": "true", "attention": "unfused" if efficiency == "auto" else "fused",
                         "efficiency": efficiency, "gpu": "a100"}}


def seconds(row, folder, efficiency="auto"):
    """Time of an iteration."""
    path, out = pathlib.Path(folder, "scenario.json"), pathlib.Path(folder, "out")
    path.write_text(json.dumps(scenario(row, efficiency)), encoding="utf-8")
    done = subprocess.run([COLLWIRE, "run", path, "--out", out, "--quiet"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"run ends with {done.returncode}: {done.stderr}")
    metrics = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    return metrics["programs"][0]["total_ns"] / 1e9


def main():
    """One line for each iteration."""
    names = list(MEASURED) if sys.argv[1:] == ["all"] else sys.argv[1:]
    failed = not names
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            want, got = MEASURED[name][-1], seconds(MEASURED[name], folder)
            flat = seconds(MEASURED[name], folder, 0.5)
        error = got / want - 1
        good = LEAST <= error <= MOST
        failed = failed or not good
        print(f"{name}: {got:.2f} s, measured {want:.2f} s, {100 * error:+.0f} %; with efficiency 0.5 {flat:.2f} s, "
              f"{100 * (flat / want - 1):+.0f} %{'' if good else ' FAILED'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
