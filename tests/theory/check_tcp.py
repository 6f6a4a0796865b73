#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TCP against closed forms.

usage: check_tcp.py        the executable is in $COLLWIRE

1. Slow start on an empty path: IW * 2^k segments in round k (RFC 5681, 6928), so n segments take
   1 + k rounds, k the least with IW * (2^k - 1) >= n; exact to the transmission of the segments.
2. NewReno under periodic loss: a loss after every 1/p segments, window from W/2 to W, one segment more
   per RTT. 3/8 W^2 segments per period, hence sqrt(3 / (2 b p)) segments per RTT with b = 1: growth
   counts acknowledged bytes, not ACKs (RFC 3465), also with delayed ACKs (Mathis et al., CCR 27(3),
   1997). 10 %.
3. CUBIC (RFC 9438, section 4.2): after a loss W(t) = C (t - K)^3 + W_max with K = cbrt(W_max (1 - beta) /
   C), from the end of recovery; and in the Reno-friendly region (4.3) beta W_max + 3 (1 - beta) / (1 +
   beta) segments per RTT. Tolerance: two RTTs (one until the cut is seen, one between samples), one
   segment, and 2 %; K to 1 %.
4. DCTCP (Alizadeh et al., SIGCOMM 2010, section 3.3): the queue of N synchronised flows stays between
   K + N and K + N - 0.5 sqrt(2 N (C RTT + K)) packets. The amplitude of unsynchronised flows is
   smaller; the form is an approximation for small alpha: 30 %.
5. Shares: two flows of equal RTT at one queue get half each, on average over phases: 10 %. Under the same
   random loss, rates of NewReno flows are as 1 / RTT (2.), those of CUBIC as RTT^-1/4 (RFC 9438,
   section 5.1: window ~ RTT^3/4): exponents within 0.15. At a shared queue with RED the exponent of
   NewReno is between 1 and 2 (Lakshman & Madhow, ToN 5(3), 1997).
"""
import json
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "net", "capture"))
# pylint: disable=wrong-import-position
import check_capture

MSS = 1448
FRAME = MSS + 66 + 24  # with headers, preamble, FCS and gap


def run(made, out):
    path = os.path.join(out, "scenario.json")
    made.setdefault("name", "tcp")
    made.setdefault("limits", {"stall": "1000s"})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    done = subprocess.run([os.environ["COLLWIRE"], "run", path, "--quiet", "--out", out],
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def star(ranks, rate, delay, policy, **more):
    return {"topology": {"dims": [{"kind": "switch", "size": ranks, "link": {"rate": rate, "delay": delay}}]},
            "transport": {"kind": "tcp", "receive_window": "256MB", **more.pop("transport", {})},
            "cc": policy if isinstance(policy, dict) else {"kind": policy}, **more}


def flows(*listed, size="100GB"):
    return {"kind": "flows", "flows": [{"src": src, "dst": dst, "bytes": size, "start": start}
                                       for src, dst, start in listed]}


def near(what, got, want, tolerance):
    print(f"{what}: {got:.4g}, theory {want:.4g} ({100 * (got / want - 1):+.1f} %)")
    assert abs(got / want - 1) <= tolerance, f"{what}: {got:.4g} instead of {want:.4g}"


def slow_start(policy):
    rtt, gbps = 0.04, 10
    for window, n in ((10, 10), (10, 11), (10, 70), (10, 71), (10, 310), (2, 500), (3, 93), (3, 94), (1, 1)):
        with tempfile.TemporaryDirectory() as out:
            made = star(2, f"{gbps}Gbps", "10ms", policy,
                        transport={"initial_window": window, "delayed_ack": {"segments": 1}},
                        workload=flows((0, 1, "0ns"), size=f"{n * MSS}B"),
                        capture=[{"at": "rank0->*", "file": "s.pcap"}])
            metrics = run(made, out)
            times = [s + ns * 1e-9 for s, ns, length, _ in
                     check_capture.records(os.path.join(out, "s.pcap")) if length > 500]
        rounds, left = [], n
        while left > 0:
            rounds.append(min(left, window * 2 ** len(rounds)))
            left -= rounds[-1]
        seen = [sum(k + 1 <= at / rtt < k + 2 for at in times) for k in range(len(rounds))]
        assert seen == rounds, f"segments per round: {seen}, not {rounds}"
        ideal, sending = (len(rounds) + 1) * rtt, 4 * n * FRAME * 8 / (gbps * 1e9)
        took = metrics["flows"][0]["fct_ns"] * 1e-9
        assert ideal <= took <= ideal + sending + 1e-6, f"{n} segments take {took}, not {ideal}"
    print(f"slow start ({policy}): rounds and times are exact")


def periodic_loss(every, acks):
    """Segments per RTT after the first 40 s, in which the window of slow start has come down."""
    rtt, ends, seen = 0.02, (40, 100), []
    for seconds in ends:
        with tempfile.TemporaryDirectory() as out:
            made = star(2, "10Gbps", "5ms", "newreno", workload=flows((0, 1, "0ns")),
                        duration=f"{seconds}s",
                        transport={"delayed_ack": {"segments": acks, "timeout": "1ms"}},
                        faults=[{"at": "rank0->*", "one_way": True, "every": every}])
            metrics = run(made, out)
        assert metrics["tcp"]["timeouts"] == 0
        seen.append((metrics["drops"]["packets"], metrics["flows"][0]["delivered_bytes"] / MSS))
    losses, segments = (seen[1][i] - seen[0][i] for i in range(2))
    assert losses >= 3, f"{losses} loss periods"
    near(f"newreno, p = 1/{every}, {acks} segments per ACK, {losses} periods: segments per RTT",
         segments / ((ends[1] - ends[0]) / rtt), math.sqrt(3 * every / 2), 0.1)


def cubic_curve(delay_ms, packet, seconds, friendly):
    """One loss; window_pkts of the series against the curve."""
    c, beta, rtt = 0.4, 0.7, 4 * delay_ms * 1e-3
    with tempfile.TemporaryDirectory() as out:
        made = star(2, "10Gbps", f"{delay_ms}ms", {"kind": "cubic", "preset": "rfc9438", "hystart": "off"},
                    workload=flows((0, 1, "0ns")), duration=f"{seconds}s",
                    transport={"delayed_ack": {"segments": 1}},
                    faults=[{"at": "rank0->*", "one_way": True, "packets": [packet]}],
                    report={"sample": f"{4 * delay_ms}ms"})
        metrics = run(made, out)
    series = metrics["series"]
    times, values = [t * 1e-9 for t in series["t_ns"]], series["observe"]["0"]
    states, windows = values["state"], values["window_pkts"]
    assert metrics["tcp"]["timeouts"] == 0 and metrics["drops"]["packets"] == 1
    first = max(i for i, s in enumerate(states) if s == 3) + 1  # after fast recovery
    w_max = values["w_max_pkts"][first]
    peak = max(w for i, w in enumerate(windows) if i < first)
    assert peak <= w_max <= 2 * peak, f"W_max {w_max} after a window of {peak}"
    k = (w_max * (1 - beta) / c) ** (1 / 3)
    assert abs(values["k_us"][first] * 1e-6 / k - 1) < 0.01
    alpha, worst = 3 * (1 - beta) / (1 + beta), 0
    for at, window in list(zip(times, windows))[first + 2:]:
        curves = []
        for t in (at - times[first] - 2 * rtt, at - times[first] + 2 * rtt):
            curve = c * (t - k) ** 3 + w_max
            reno = beta * w_max + alpha * t / rtt
            if reno > w_max:  # section 4.3: alpha = 1 from there on
                reno = w_max + (t - w_max * (1 - beta) / alpha * rtt) / rtt
            assert not friendly or reno > curve or t <= 0, "not the Reno-friendly region"
            assert friendly or reno < curve or t < 3 * rtt, "the Reno-friendly region"
            curves.append(max(curve, reno))
        off = max(min(curves) - 1 - window, window - max(curves) - 1, 0) / window
        worst = max(worst, off)
    print(f"cubic, RTT {1e3 * rtt:.0f} ms, W_max {w_max:.0f}, K {k:.2f} s: off by {100 * worst:.2f} % at most "
          f"over {times[-1] - times[first]:.1f} s")
    assert worst < 0.02


def dctcp(n, mark):
    gbps, rtt = 10, 100e-6
    with tempfile.TemporaryDirectory() as out:
        made = star(n + 1, f"{gbps}Gbps", "25us", "dctcp", duration="60ms",
                    transport={"delayed_ack": {"segments": 1}},
                    switch={"ecn": {"kmin": f"{mark * (FRAME - 24)}B", "kmax": f"{mark * (FRAME - 24)}B",
                                    "pmax": 1, "at": "arrival"}},
                    workload=flows(*((i, n, f"{7 * i}us") for i in range(n))),
                    report={"sample": "5us", "sample_at": [f"dim0.sw0->rank{n}"]})
        metrics = run(made, out)
    assert metrics["drops"]["packets"] == 0 and metrics["tcp"]["timeouts"] == 0
    series = metrics["series"]
    queue = [q / (FRAME - 24) for t, q in zip(series["t_ns"], series["queue_bytes"][f"dim0.sw0->rank{n}"])
             if t > 20e6]
    bdp = gbps * 1e9 * rtt / 8 / FRAME
    amplitude = 0.5 * math.sqrt(2 * n * (bdp + mark))
    # peaks and troughs of single periods: the mean of the extremes of intervals of a period's length
    period = math.sqrt(2 * (bdp + mark) / n) / 2 * (rtt + mark * FRAME * 8 / (gbps * 1e9))
    step = max(1, round(1.5 * period / 5e-6))
    parts = [queue[i:i + step] for i in range(0, len(queue) - step, step)]
    high, low = (statistics.fmean(f(part) for part in parts) for f in (max, min))
    near(f"dctcp, N = {n}, K = {mark}: amplitude in packets", high - low, amplitude, 0.3)
    near(f"dctcp, N = {n}, K = {mark}: peak", high, mark + n, 0.1)


def graph(folder, delays):
    """Ranks 0 and 1 at their own delays from a switch, and a receiver."""
    with open(os.path.join(folder, "graph.json"), "w", encoding="utf-8") as file:
        json.dump({"switches": 1, "links": [
            {"a": f"rank{i}", "b": "sw0", "delay": f"{ms * 1000:.0f}us"} for i, ms in enumerate(delays)]}, file)
    return {"dims": [{"kind": "graph", "size": len(delays), "file": "graph.json", "link": {"rate": "1Gbps"}}]}


# RED on the queue of the bottleneck, dropping: at a queue that drops only when it is full, simulated
# flows without jitter are subject to phase effects (Floyd & Jacobson, CCR 21(2), 1991).
def red(low, high, share):
    return {"ecn": {"kmin": f"{low * FRAME}B", "kmax": f"{high * FRAME}B", "pmax": share, "at": "arrival",
                    "enabled": True, "not_ect": "drop"}}


def equal_share(policy):
    shares = []
    for seed in range(6):
        with tempfile.TemporaryDirectory() as out:
            made = star(3, "100Mbps", "5ms", policy, duration="120s", seed=seed, switch=red(40, 400, 0.1),
                        workload=flows((0, 2, "0ns"), (1, 2, f"{200 + 37 * seed}ms")))
            metrics = run(made, out)
            assert metrics["drops"]["packets"] > 10
            a, b = (f["delivered_bytes"] for f in metrics["flows"])
        shares.append(a / (a + b))
    print(f"{policy}: shares {min(shares):.2f} .. {max(shares):.2f}")
    near(f"{policy}: share of the first of two flows", statistics.fmean(shares), 0.5, 0.1)


def rtt_exponent(policy, delays, loss=0.0):
    """The rate as a power of the RTT, from two flows whose RTTs are as 1 : 4."""
    rates = [0, 0]
    for seed in range(1 if loss else 4):
        with tempfile.TemporaryDirectory() as out:
            made = star(3, "1Gbps", "1ms", policy, seed=seed, duration="1000s" if loss else "200s",
                        workload=flows((0, 2, "0ns"), (1, 2, f"{130 * seed}ms")),
                        transport={"delayed_ack": {"segments": 1}})
            made["topology"] = graph(out, delays)
            if loss:
                made["faults"] = [{"at": "dim0.sw0->rank2", "one_way": True, "loss": loss}]
            else:
                made["topology"]["dims"][0]["link"]["rate"] = "100Mbps"
                made["switch"] = red(10, 100, 0.1)
            metrics = run(made, out)
            for i, flow in enumerate(metrics["flows"]):
                rates[i] += flow["delivered_bytes"]
    return math.log(rates[0] / rates[1]) / math.log(4)


def newreno_rtt():
    a = rtt_exponent("newreno", (11, 47, 1), 0.002)
    print(f"newreno under loss: rate ~ RTT^-{a:.2f}, theory 1")
    assert abs(a - 1) < 0.15
    a = rtt_exponent("newreno", (11, 47, 1))
    print(f"newreno at a queue: rate ~ RTT^-{a:.2f}, theory 1 .. 2")
    assert 1 <= a <= 2


def cubic_rtt():
    a = rtt_exponent({"kind": "cubic", "preset": "rfc9438"}, (47, 191, 1), 0.0001)
    print(f"cubic under loss: rate ~ RTT^-{a:.2f}, theory 1/4")
    assert abs(a - 0.25) < 0.15


CASES = [(slow_start, "newreno"), (slow_start, "cubic"), (periodic_loss, 200, 1), (periodic_loss, 200, 2),
         (periodic_loss, 1000, 2), (periodic_loss, 5000, 1), (cubic_curve, 10, 1000, 12, False),
         (cubic_curve, 25, 3000, 16, False), (cubic_curve, 1, 400, 1.5, True), (dctcp, 2, 40), (dctcp, 2, 80), (dctcp, 4, 65),
         (equal_share, "newreno"), (equal_share, "cubic"), (newreno_rtt,), (cubic_rtt,)]


def one(case):
    try:
        case[0](*case[1:])
    except AssertionError as error:
        print(f"FAILED {case[0].__name__}{case[1:]}: {error}", flush=True)
        return 1
    finally:
        sys.stdout.flush()
    return 0


def main():
    with multiprocessing.Pool(2) as pool:
        return int(sum(pool.map(one, CASES, chunksize=1)) > 0)


if __name__ == "__main__":
    sys.exit(main())
