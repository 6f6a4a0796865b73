#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Equal senders into one full queue (`switch.ties`): each gets its share in the mean over seeds, for RoCE and TCP, where the first to
arrive would have nearly all; and what two to eight ConnectX-5 carry there beside what was measured (docs/nic.md). The draws are the same for
any number of threads. Cost: 8 s. usage: check_ties.py, with the executable in $COLLWIRE."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
failures = []


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        failures.append(what)


def run(folder, senders, seed, more, *options):
    """Gb/s of each sender, in 5.2 MB of tail drop without PFC and ECN, as the ConnectX-5 had them."""
    scenario = {"name": "full", "topology": {"dims": [{"kind": "switch", "size": senders + 1, "link": {"rate": "100Gbps", "delay": "1us"}}]},
                "switch": {"pfc": {"enabled": False}, "ecn": {"enabled": False}, "buffer": "5200KB", "lossy_alpha": 8, **more.pop("switch", {})},
                "workload": {"kind": "incast", "receiver": senders, "bytes": "10GB"}, "explain": {"try": 0}, "seed": seed, **more}
    path, out = os.path.join(folder, "full.json"), os.path.join(folder, "out")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scenario, file)
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out, *options], check=True, capture_output=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        text = file.read()
    metrics = json.loads(text)
    return [flow["delivered_bytes"] * 8 / metrics["sim_time_ns"] for flow in metrics["flows"]], text


def shares(folder, senders, seeds, **more):
    """The means over seeds, by an equal share; and the sum of all."""
    runs = [run(folder, senders, seed, dict(more))[0] for seed in range(1, seeds + 1)]
    means = [statistics.mean(column) for column in zip(*runs)]
    return [mean / sum(means) * senders for mean in means], sum(means)


def main():
    none = {"cc": {"kind": "none"}, "duration": "10ms"}
    with tempfile.TemporaryDirectory() as folder:
        for senders, seeds in ((2, 5), (8, 5), (32, 10)):
            drawn, _ = shares(folder, senders, seeds, **none)
            expect(f"{senders} RoCE senders: {min(drawn):.3f} to {max(drawn):.3f} of an equal share", min(drawn) > 0.96 and max(drawn) < 1.04)
            first, _ = shares(folder, senders, 1, switch={"ties": "first"}, **none)
            expect(f"the first to arrive has {max(first):.1f} equal shares of {senders}", min(first) < 0.1)
        for policy in ("cubic", "dctcp"):
            drawn, total = shares(folder, 8, 12, cc={"kind": policy}, transport={"kind": "tcp"}, duration="60ms")
            expect(f"8 TCP senders with {policy}: {min(drawn):.2f} to {max(drawn):.2f}, {total:.1f} Gb/s", min(drawn) > 0.8)
        for senders in (2, 8):
            drawn, total = shares(folder, senders, 3, nic="connectx5", cc={"kind": "dcqcn", "preset": "nic"}, duration="40ms")
            expect(f"{senders} ConnectX-5: {total:.1f} Gb/s (two: measured 73.9), {min(drawn):.3f} to {max(drawn):.3f}",
                   55 < total < 85 and min(drawn) > 0.95)
        _, total = shares(folder, 2, 1, **none)
        expect(f"two ideal NICs, with one NAK per gap: {total:.1f} Gb/s", total < 10)
        same = {run(folder, 8, 7, dict(none), "--threads", threads)[1] for threads in ("1", "2", "3")}
        expect("one to three threads draw alike", len(same) == 1)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
