# SPDX-License-Identifier: MIT
"""Every scenario in scenarios/reproduce/papers/ shows the published figure that its description promises.

The expected figures are computed here, from the formulas of the papers and the resolved scenario in
metrics.json, so that a changed parameter changes both sides; tests/theory/*.c hold the same curves at
more points and give the reasons for the tolerances. COLLWIRE is the binary.

Usage: check_papers.py [ROOT OF THE PROJECT] [NAME...]
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

UNITS = {"Gbps": 1e9, "Mbps": 1e6, "Kbps": 1e3, "bps": 1, "GB": 1e9, "MB": 1e6, "KB": 1e3,
         "GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
HEADERS, ACK, GAP = 62, 66, 20  # frame bytes of data beyond payload, of an ACK; preamble and gap


class Figure(typing.NamedTuple):
    """A measured value and what it must be: near to a theory, or on one side of a bound."""
    what: str
    measured: float
    expected: float
    tolerance: typing.Union[float, str]  # share of expected, or "<" or ">"

    def holds(self):
        if self.tolerance == "<":
            return self.measured < self.expected
        if self.tolerance == ">":
            return self.measured > self.expected
        return abs(self.measured - self.expected) <= self.tolerance * abs(self.expected)

    def __str__(self):
        if self.tolerance in ("<", ">"):
            return f"{self.what} {self.measured:.4g}, {self.tolerance} {self.expected:.4g}"
        if self.expected == 0:
            return f"{self.what} {self.measured:.4g}, theory 0"
        off = 100 * (self.measured / self.expected - 1)
        return f"{self.what} {self.measured:.4g}, theory {self.expected:.4g} ({off:+.1f} %)"


def value(text):
    """A quantity with its unit, in bytes, bit/s or s; a bare number as it is."""
    if not isinstance(text, str):
        return text
    number, unit = re.fullmatch(r"([-0-9.e]+)([A-Za-z]+)", text).groups()
    return float(number) * UNITS[unit]


class Run:
    """A finished run of senders to one receiver, with the names of the formulas."""

    def __init__(self, metrics):
        self.metrics, self.scenario = metrics, metrics["scenario"]
        dim = self.scenario["topology"]["dims"][0]
        self.cc, self.switch = self.scenario["cc"], self.scenario["switch"]
        self.line = value(dim["link"]["rate"])
        self.c = self.line / 8  # bytes/s
        self.delay = value(dim["link"]["delay"])
        self.mtu = value(self.scenario["transport"]["mtu"])
        overhead = self.scenario["transport"]["wire_overhead"]
        bare = isinstance(overhead, dict)
        self.wire = self.mtu + (value(overhead["data"]) if bare else HEADERS + GAP)
        self.ack = value(overhead["ack"]) if bare else ACK + GAP
        self.n = len(metrics["flows"])
        self.series = metrics.get("series")

    def base_rtt(self):
        """The base RTT of a path of two links."""
        return 4 * self.delay + 2 * (self.wire + self.ack) / self.c

    def queue(self, start=0.5):
        """Samples of the receiver's queue after this share of the run."""
        samples, = self.series["queue_bytes"].values()
        return samples[int(start * len(samples)):]

    def mean_queue(self, start=0.5):
        samples = self.queue(start)
        return sum(samples) / len(samples)

    def rates(self, start=0.5):
        """Mean pacing rate of each flow."""
        return [mean(samples[int(start * len(samples)):]) for samples in self.by_flow("rate_bps")]

    def by_flow(self, name):
        return [self.series[name][flow] for flow in sorted(self.series[name], key=int)]

    def shares(self):
        """The delivered bytes of each flow, including headers, as a share of the line; by sender."""
        seconds = self.metrics["sim_time_ns"] * 1e-9
        return {flow["src"]: flow["delivered_bytes"] * self.wire / self.mtu / self.c / seconds
                for flow in self.metrics["flows"]}

    def pauses(self):
        return self.metrics["pfc"]["pause_frames"]


def mean(samples):
    known = [s for s in samples if s is not None]
    return sum(known) / len(known)


def jain(values):
    return sum(values) ** 2 / (len(values) * sum(v * v for v in values))


# ---- DCQCN and TIMELY: Zhu et al., CoNEXT 2016 ----

def dcqcn_residual(p, rc, rai, packet):
    """Section 3; rates in packets/s. Zero at the fixed point."""
    tau, tau1, timer, counter, steps = 50e-6, 55e-6, 55e-6, 10e6 / packet, 5
    cut, alpha = 1 - (1 - p) ** (tau * rc), 1 - (1 - p) ** (tau1 * rc)
    b = p / ((1 - p) ** -counter - 1)
    d = p / ((1 - p) ** (-timer * rc) - 1)
    c, e = b * (1 - p) ** (steps * counter), d * (1 - p) ** (steps * timer * rc)
    return cut * cut * alpha / ((b + d) * (c + e)) - tau * tau * rai * rc


def dcqcn_red(run):
    ecn = run.switch["ecn"]
    kmin, kmax, pmax = value(ecn["kmin"]), value(ecn["kmax"]), ecn["pmax"]
    rai = value(run.cc["rate_ai"]) / 8 / run.wire
    low, high = 1e-6, 0.05
    for _ in range(200):
        p = math.sqrt(low * high)
        low, high = (p, high) if dcqcn_residual(p, run.c / run.wire / run.n, rai, run.wire) < 0 \
            else (low, p)
    yield Figure("mean queue KB", run.mean_queue(1 / 3) / 1e3,
                 (kmin + low / pmax * (kmax - kmin)) / 1e3, 0.10)
    yield Figure("Jain", jain(run.rates(1 / 3)), 0.99, ">")


def dcqcn_pi(run):
    yield Figure("mean queue KB", run.mean_queue() / 1e3, value(run.switch["ecn"]["qref"]) / 1e3, 0.10)


def timely_fixed_point(run):
    """Section 4.3: RTT* = Tlow (1 + N delta / (beta C)); a sample lacks the packet's own time."""
    cc = run.cc
    rtt = value(cc["t_low"]) * (1 + run.n * value(cc["delta"]) / (cc["beta"] * run.line))
    empty = run.base_rtt() - run.wire / run.c
    yield Figure("mean queue KB", run.mean_queue() / 1e3, run.c * (rtt - empty) / 1e3, 0.02)
    yield Figure("sum of rates / C", sum(run.rates()) / run.line, 1, 0.01)
    yield Figure("Jain", jain(run.rates()), 0.999, ">")


def ratios(run):
    """Ratio of the two long flows' rates, each over a fifteenth of the run, from 20 ms on."""
    rates = run.by_flow("rate_bps")
    long = [rates[flow["qp"]] for flow in run.metrics["flows"] if flow["status"] == "running"]
    step = len(long[0]) // 15
    for start in range(2 * step, 15 * step, step):
        pair = [mean(samples[start:start + step]) for samples in long]
        yield max(pair) / min(pair)


def timely_unequal(run):
    yield Figure("least ratio of rates", min(ratios(run)), 1.5, ">")


def timely_equal(run):
    first, *_, last = ratios(run)
    yield Figure("ratio of rates at first", first, 1.5, ">")
    yield Figure("at last", last, 1.1, "<")


# ---- windows ----

def hpcc(run):
    """Li et al., SIGCOMM 2019: each flow starts with one BDP and the excess drains; then eta, shared fairly."""
    telemetry = 1 if run.cc["pint"] else 2 + 8 * run.switch["int_hops"]
    frame, wire, ack = run.mtu + HEADERS + telemetry, run.wire + telemetry, run.ack + telemetry
    rtt = 4 * run.delay + 2 * (wire + ack) / run.c
    bdp = run.c * rtt
    queued = run.n * math.ceil(bdp / run.mtu) - bdp // wire  # of the first windows, what no line holds
    late = 2 * run.n * rtt / (run.metrics["sim_time_ns"] * 1e-9)
    goodput = sum(flow["delivered_bytes"] for flow in run.metrics["flows"]) / \
        (run.metrics["sim_time_ns"] * 1e-9) * 8e-9
    yield Figure("goodput Gb/s", goodput, run.cc["eta"] * run.line * run.mtu / wire / 1e9, 0.03)
    yield Figure("max queue KB", run.metrics["queues"]["max_bytes"] / 1e3,
                 (queued + run.n) * frame / 1e3, "<")
    yield Figure("later KB", max(run.queue(late)) / 1e3, 0.2 * bdp / 1e3, "<")
    yield Figure("Jain", jain(run.rates()), 0.95, ">")
    yield Figure("pauses", run.pauses(), 0, 0)


def dctcp(run):
    """Alizadeh et al., SIGCOMM 2010, section 3.3, in packets; marked at dequeue (test_dctcp_sawtooth)."""
    k, n, bdp = value(run.switch["ecn"]["kmin"]) / run.wire, run.n, run.c * run.base_rtt() / run.wire
    window = (bdp + k) / n
    alpha = 0
    for _ in range(100):
        alpha = math.sqrt((2 * window + 1) / (window + 1) ** 2 / (1 - alpha / 4))
    queue = [q / run.wire for q in run.queue()]
    yield Figure("swing of the queue, packets", max(queue) - min(queue),
                 0.5 * math.sqrt(2 * n * bdp), 0.15)
    yield Figure("highest", max(queue), k + n + 1.01, "<")
    yield Figure("lowest", min(queue), k + n - n * (window + 1) * alpha / 2 - 1.01, ">")


def powertcp(run):
    """Addanki et al., NSDI 2022: the equilibrium of n flows that expect N is a queue of n/N BDP."""
    rest = run.c * run.base_rtt() * run.n / run.cc["expected_flows"]
    yield Figure("mean queue KB", run.mean_queue() / 1e3, rest / 1e3, 0.03)
    yield Figure("Jain", jain(run.rates()), 0.99, ">")


def swift(run):
    """Kumar et al., SIGCOMM 2020, sections 3.1 and 3.5: RTT = target(cwnd), N cwnd = C RTT."""
    cc = run.cc
    span = value(cc["fs_range"]) / (cc["fs_min_cwnd"] ** -0.5 - cc["fs_max_cwnd"] ** -0.5)
    fixed = value(cc["base_target"]) + 2 * value(cc["hop_scale"])
    rtt = fixed
    for _ in range(200):
        cwnd = run.c * rtt / run.wire / run.n
        scaling = span * (cwnd ** -0.5 - cc["fs_max_cwnd"] ** -0.5)
        rtt = fixed + min(max(scaling, 0), value(cc["fs_range"]))
    seen = mean([mean(flow["rtt_us"][len(flow["rtt_us"]) // 2:]) for flow in run.by_flow("observe")])
    yield Figure("mean RTT us", seen, rtt * 1e6, 0.05)
    yield Figure("mean queue KB", run.mean_queue() / 1e3, run.c * (rtt - run.base_rtt()) / 1e3, 0.05)


# ---- PFC: Zhu et al., SIGCOMM 2015, section 2.2 ----

def parking_lot_pfc(run):
    share = run.shares()
    yield Figure("lone sender's share", share[5], 1 / 2, 0.05)
    for sender in (0, 1, 2):
        yield Figure(f"share of {sender}", share[sender], 1 / 6, 0.05)
    yield Figure("pauses", run.pauses(), 0, ">")


def parking_lot_mended(run):
    rates = [rate / run.line for rate in run.rates(2 / 3)]
    yield Figure("sum of rates / C", sum(rates), 0.9, ">")
    yield Figure("Jain", jain(rates), 0.95, ">")
    yield Figure("lone sender's rate / C", rates[flow_of(run, 5)], 0.33, "<")


def flow_of(run, src):
    return next(flow["qp"] for flow in run.metrics["flows"] if flow["src"] == src)


def victim_pfc(run):
    share = run.shares()
    yield Figure("victim's share", share[3], 1 / 6, 0.05)
    yield Figure("pauses", run.pauses(), 0, ">")


def victim_mended(run):
    rates = [rate / run.line for rate in run.rates(2 / 3)]
    yield Figure("victim's rate / C", rates[flow_of(run, 3)], 0.9 * 2 / 5, ">")
    yield Figure("the incast's", sum(rates) - rates[flow_of(run, 3)], 0.88, ">")


def incast_pauses(run):
    line = sum(flow["bytes"] / run.mtu * run.wire + 16 for flow in run.metrics["flows"]) / run.c
    yield Figure("pauses", run.pauses(), run.n, ">")
    yield Figure("drops", run.metrics["drops"]["packets"], 0, 0)
    yield Figure("last FCT us", run.metrics["flows_summary"]["fct_ns"]["max"] / 1e3, line * 1e6, 0.02)


def incast_fits(run):
    frames = sum(flow["bytes"] / run.mtu * (run.mtu + HEADERS) for flow in run.metrics["flows"])
    yield Figure("max queue KB", run.metrics["queues"]["max_bytes"] / 1e3,
                 frames * (run.n - 1) / run.n / 1e3, 0.02)
    yield Figure("pauses", run.pauses(), 0, 0)


def dynamic_threshold(run):
    """Choudhury and Hahne, ToN 1998: alpha B / (1 + n alpha) each. Reserve and headroom come on top."""
    switch, = run.metrics["queues"]["switches"]
    alpha, reserve = run.switch["pfc"]["alpha"], value(run.switch["reserve"])
    share = alpha * switch["shared_bytes"] / (1 + run.n * alpha)
    yield Figure("shared KB", switch["max_shared_used_bytes"] / 1e3, run.n * share / 1e3, 0.04)
    yield Figure("mean queue KB", run.mean_queue() / 1e3, run.n * share / 1e3, ">")
    yield Figure("mean queue KB", run.mean_queue() / 1e3,
                 run.n * (share + reserve + switch["headroom_limit_bytes"]) / 1e3, "<")
    yield Figure("drops", run.metrics["drops"]["packets"], 0, 0)


# ---- collectives ----

def all_reduce(run):
    """Thakur et al. 2005: latency of each step and bytes at goodput."""
    collective, = run.metrics["collectives"]
    job = run.scenario["workload"]
    job = job[0] if isinstance(job, list) else job
    p, size = run.scenario["topology"]["dims"][0]["size"], value(job["bytes"])
    algorithm = job["algorithm"][0] if isinstance(job["algorithm"], list) else job["algorithm"]
    steps = 2 * (p - 1) if algorithm == "ring" else 2 * math.log2(p)
    a = 2 * run.delay + run.wire / run.c
    seconds = steps * a + 2 * (p - 1) / p * size * (run.wire + run.ack) / run.mtu / run.c
    yield Figure("all-reduce us", collective["duration_ns"] / 1e3, seconds * 1e6, 0.03)
    yield Figure("busbw Gb/s", collective["busbw_bps"] / 1e9,
                 size * 8 / seconds * 2 * (p - 1) / p / 1e9, 0.03)


CHECKS = {
    "allreduce-halving-doubling": all_reduce,
    "allreduce-ring": all_reduce,
    "dcqcn-fixed-point-10": dcqcn_red,
    "dcqcn-fixed-point-16": dcqcn_red,
    "dcqcn-pi": dcqcn_pi,
    "dctcp-sawtooth": dctcp,
    "dt-ingress": dynamic_threshold,
    "hpcc-incast": hpcc,
    "hpcc-pint": hpcc,
    "parking-lot-dcqcn": parking_lot_mended,
    "parking-lot-pfc": parking_lot_pfc,
    "pfc-incast-large-buffer": incast_fits,
    "pfc-incast-small-buffer": incast_pauses,
    "powertcp-rest": powertcp,
    "swift-target": swift,
    "timely-patched": timely_fixed_point,
    "timely-patched-unequal": timely_equal,
    "timely-unequal": timely_unequal,
    "victim-dcqcn": victim_mended,
    "victim-pfc": victim_pfc,
}


def check(path, out):
    """Check one scenario against its figures; prints a line."""
    subprocess.run([os.environ["COLLWIRE"], "run", path, "--quiet", "--out", out], check=True)
    metrics = json.loads((pathlib.Path(out) / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["status"] == "completed", path
    figures = list(CHECKS[path.stem](Run(metrics)))
    wrong = [figure for figure in figures if not figure.holds()]
    print(f"{path.stem}: {'; '.join(map(str, figures))}", flush=True)
    for figure in wrong:
        print(f"{path.stem}: WRONG: {figure}")
    return not wrong


def texts_hold(path):
    """A source, and a description of the expected result."""
    scenario = json.loads(path.read_text(encoding="utf-8"))
    assert scenario["name"] == path.stem, path
    assert scenario.get("source"), path
    assert re.search(r" expected: [^.].*\.$", scenario["description"]), path


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = sorted((root / "scenarios/reproduce/papers").glob("*.json"))
    names = {path.stem for path in files}
    assert names == set(CHECKS), f"without a twin: {sorted(names ^ set(CHECKS))}"
    good = True
    for path in files:
        if len(sys.argv) > 2 and path.stem not in sys.argv[2:]:
            continue
        texts_hold(path)
        with tempfile.TemporaryDirectory() as out:
            good &= check(path, out)
    sys.exit(0 if good else 1)


main()
