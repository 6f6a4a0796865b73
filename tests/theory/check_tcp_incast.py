#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TCP incast: scenarios/tcp/incast.json over numbers of senders.

usage: check_tcp_incast.py SCENARIO        the executable is in $COLLWIRE

Blocks of 256 KB are split over the senders of a 1 Gbps port with 32 or 64 KB of queue, as in
Vasudevan et al., SIGCOMM 2009. Their figures: beyond a few senders the goodput collapses by an order of
magnitude with a minimal timeout of 200 ms, and stays within reach of the line with 1 ms. The
connections are open and have learned their windows from one block before. Checked:
1. With rto_min 200ms a block without a timeout takes less than 100 ms (a delayed ACK may be waited for),
   one with a timeout at least 200 ms: the collapse is that of timeouts. The goodput of 32 and 64
   senders is less than a tenth of the line.
2. Where it is, 1ms brings ten times as much on average, and at least twice: with 64 senders and 32 KB
   not even one segment of each fits, and delayed ACKs take 40 ms.
3. Tail loss probes (RFC 8985) repair the loss of a tail, but neither of a whole window nor of a single
   segment; with and without probe_slack 32 and 64 senders stay below a fifth of the line.
The scenario itself, one block over fresh connections, ends as its description says.
"""
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile

BLOCK, LINE, SEEDS, BLOCKS, APART_S = 256000, 1e9, 3, 6, 20


def scenario_of(path, senders):
    with open(path, encoding="utf-8") as file:
        made = json.load(file)
    receiver = made["workload"]["receiver"]
    made["workload"] = {"kind": "flows", "connections": "pair", "flows": [
        {"src": i, "dst": receiver, "bytes": BLOCK // senders, "start": f"{b * APART_S * 1000000 + 3 * i}us"}
        for b in range(BLOCKS) for i in range(senders)]}
    return made


def blocks_of(point):
    """Seconds and timeouts of each block but the first."""
    path, senders, queue, seed, sets = point
    with tempfile.TemporaryDirectory() as out:
        scenario = os.path.join(out, "scenario.json")
        with open(scenario, "w", encoding="utf-8") as file:
            json.dump(scenario_of(path, senders), file)
        words = {"seed": seed, "switch.queue_limit.bytes": queue, "limits.stall": "100s",
                 "transport.slow_start_after_idle": "false", **dict(sets)}
        command = [os.environ["COLLWIRE"], "run", scenario, "--quiet", "--out", out]
        for key, value in words.items():
            command += ["--set", f"{key}={value}"]
        subprocess.run(command, check=True, capture_output=True)
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
            metrics = json.load(file)
    blocks = []
    for b in range(1, BLOCKS):
        parts = [f for f in metrics["flows"] if f["start_ns"] // (APART_S * 10**9) == b]
        end = max(f["start_ns"] + f["fct_ns"] for f in parts)
        assert len(parts) == senders and end < (b + 1) * APART_S * 10**9, "blocks overlap"
        blocks.append((end * 1e-9 - b * APART_S, sum(f["timeouts"] for f in parts)))
    return blocks


def goodput(pool, scenario, senders, queue, **sets):
    """Share of the line over the blocks of all seeds, and the blocks."""
    sets = [(f"transport.{key}", value) for key, value in sets.items()]
    runs = pool.map(blocks_of, [(scenario, senders, queue, seed, sets) for seed in range(1, SEEDS + 1)])
    blocks = sum(runs, [])
    return len(blocks) * BLOCK * 8 / sum(seconds for seconds, _ in blocks) / LINE, blocks


def check_scenario(path):
    """The goodput of the scenario with 200 ms, and with 1 ms."""
    shares = []
    for least in ("200ms", "1ms"):
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([os.environ["COLLWIRE"], "run", path, "--quiet", "--out", out, "--set",
                            f"transport.rto_min={least}"], check=True, capture_output=True)
            with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
                metrics = json.load(file)
        shares.append(BLOCK * 8 / (metrics["sim_time_ns"] * 1e-9) / LINE)
    print(f"the scenario: {shares[0]:.3f} of the line, with 1 ms {shares[1]:.3f}")
    return [] if shares[0] < 0.02 and shares[1] > 10 * shares[0] else ["the scenario does not collapse"]


def main():
    scenario = sys.argv[1]
    failed, gains = check_scenario(scenario), []
    with multiprocessing.Pool(2) as pool:
        for queue in ("32KB", "64KB"):
            for senders in (4, 8, 16, 32, 64):
                slow, blocks = goodput(pool, scenario, senders, queue, rto_min="200ms")
                fast, _ = goodput(pool, scenario, senders, queue, rto_min="1ms")
                probed, _ = goodput(pool, scenario, senders, queue, tail_loss_probe="true")
                eager, _ = goodput(pool, scenario, senders, queue, tail_loss_probe="true", probe_slack="0ns")
                timeouts = statistics.fmean(n for _, n in blocks)
                print(f"{queue}, {senders:2} senders: 200 ms {slow:.3f} of the line ({timeouts:.1f} timeouts a "
                      f"block), 1 ms {fast:.3f}, 200 ms and probes {probed:.3f}, without slack {eager:.3f}")
                if any((n == 0 and seconds > 0.1) or (n > 0 and seconds < 0.2) for seconds, n in blocks):
                    failed.append(f"{queue}, {senders}: timeouts do not explain the times")
                if senders >= 32 and max(slow, probed / 2, eager / 2) > 0.1:
                    failed.append(f"{queue}, {senders}: no collapse")
                if slow < 0.1:
                    gains.append(fast / slow)
    if not gains or min(gains) < 2 or statistics.median(gains) < 10:
        failed.append(f"1 ms brings {min(gains, default=0):.1f} times the goodput")
    print("\n".join(failed) or f"rto_min 1ms: {min(gains):.1f} .. {max(gains):.1f} times the goodput")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
