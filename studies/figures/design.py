# SPDX-License-Identifier: MIT
"""What is run to redo published figures: sweeps of the scenarios in scenarios/reproduce/figures, and what is kept of a run."""
import re

import observe
from sweeps import NO_AXIS, Axis, Sweep, Way

NONE = Way({"kind": "none"})
DCQCN_PAPER = {"kind": "dcqcn", "preset": "paper"}
SEEDS = tuple(range(1, 51))

# DCQCN (SIGCOMM 2015): unfairness and victim
TESTBED = {"none": NONE, "dcqcn paper": Way(DCQCN_PAPER)}

# ECN or Delay (CoNEXT 2016): RED of 2015, and its slope continued so that many flows stay on it
SENDERS = Axis("flows", {str(n): {"workload.senders": n} for n in (2, 4, 10, 20, 40, 64)})
RED = {"slope continued": Way(DCQCN_PAPER, "long"),
       "5 to 200 KB": Way(DCQCN_PAPER, "short", (("switch.ecn.kmax", "200KB"), ("switch.ecn.pmax", 0.01)))}
LINK = "topology.dims[0].link.delay"
LOOPS = {"40g": {"4 us": "1us", "85 us": "21.25us"}, "100g": {"4 us": "1us", "100 us": "25us"}}  # a loop is four links
TIMELY_FLOWS = (2, 4, 10, 20, 30, 40, 50, 64)


def timely(kind, flows):
    """A way for each number of flows, whose window is twice what they need at rest."""
    return {f"{n} flows": Way({"kind": kind, "preset": "paper", "window_bytes": f"{round(125000 * (1 / n + 1 / 8))}B"}, f"flows-{n}", (("workload.senders", n),)) for n in flows}


# HPCC (SIGCOMM 2019); the window is 100 Gb/s times 13 us
HPCC_WINDOW = {"window_bytes": "162500B", "window_scales": True}
HPCC = {"hpcc": Way({"kind": "hpcc", "preset": "hpcc_sim"}), "dctcp": Way({"kind": "dctcp", "preset": "hpcc_sim"})}
for _kind in ("dcqcn", "timely"):
    HPCC[_kind] = Way({"kind": _kind, "preset": "hpcc_sim"})
    HPCC[f"{_kind} + window"] = Way({"kind": _kind, "preset": "hpcc_sim", **HPCC_WINDOW})
HPCC_LOADS = ("hadoop-30", "hadoop-50", "websearch-30", "websearch-50")

# IRN (SIGCOMM 2018): recovery and PFC
IRN_POLICIES = {"none": {"kind": "none"}, "timely": {"kind": "timely"}, "dcqcn": DCQCN_PAPER}
LOSSY = (("switch.pfc.enabled", False), ("transport.rto", "320us"))
IRN_FAMILIES = {"RoCE": ("roce", (("transport.recovery", "go_back_n"),)), "IRN": ("irn", (("transport.recovery", "selective_repeat"), *LOSSY)),
                "IRN with PFC": ("irn-pfc", (("transport.recovery", "selective_repeat"),))}
IRN = {f"{policy}, {label}": Way(cc, family, sets) for label, (family, sets) in IRN_FAMILIES.items() for policy, cc in IRN_POLICIES.items()}
IRN_LOSSY = {f"{policy}, go-back-N without PFC": Way(cc) for policy, cc in IRN_POLICIES.items()}

# PowerTCP (NSDI 2022): a run that ends every 100 us, so that what a port sent in between is known
POWERTCP = {"powertcp": Way({"kind": "powertcp"}), "powertcp N=167": Way({"kind": "powertcp", "expected_flows": 167}),
            "theta": Way({"kind": "powertcp_delay"}), "theta N=167": Way({"kind": "powertcp_delay", "expected_flows": 167}),
            "hpcc": Way({"kind": "hpcc"}), "timely": Way({"kind": "timely"}), "timely hpcc_sim": Way({"kind": "timely", "preset": "hpcc_sim"}),
            "timely hpcc_sim + window": Way({"kind": "timely", "preset": "hpcc_sim", "window_bdp": 1, "window_scales": True}),
            "dcqcn hpcc_sim": Way({"kind": "dcqcn", "preset": "hpcc_sim"})}
BURST_MS, END_MS = 5.0, 9.0
ENDS = Axis("end of the run", {f"{tenth / 10:.1f} ms": {"duration": f"{tenth * 100}us"} for tenth in range(47, 91)})

# DCQCN with hundreds of flows (ICNP 2018)
MIN_10 = {**DCQCN_PAPER, "min_rate": "10Mbps"}
MANY = {"no limit, at least 100 Mb/s": Way(DCQCN_PAPER, "qp"), "no limit": Way(MIN_10, "qp"), "no limit, scaled gains": Way({"kind": "dcqcn", "preset": "scaled"}, "qp")}
for _interval in (1, 4):
    MANY[f"one CNP in {_interval} us"] = Way(MIN_10, f"port-{_interval}us", (("transport.cnp_scope", "port"), ("transport.cnp_interval", f"{_interval}us")))
MANY_FLOWS = Axis("flows", {str(32 * n): {"transport.qps_per_pair": n} for n in (1, 2, 3, 4, 5, 6, 8, 10, 15, 20)})

# Themis (ISCA 2022)
THEMIS_NETWORKS = {"2d-sw-sw": "2D-SW_SW", "3d-homo": "3D-SW_SW_SW_homo", "3d-hetero": "3D-SW_SW_SW_hetero", "3d-fc-ring-sw": "3D-FC_Ring_SW",
                   "4d-ring-sw-sw-sw": "4D-Ring_SW_SW_SW", "4d-ring-fc-ring-sw": "4D-Ring_FC_Ring_SW"}
THEMIS = {label: Way({"kind": "none"}, family, (("workload.schedule", schedule), ("workload.order", order)))
          for label, family, schedule, order in (("baseline", "baseline", "bandwidth_aware", "fifo"), ("Themis+FIFO", "fifo", "themis", "fifo"),
                                                 ("Themis+SCF", "scf", "themis", "smallest_first"))}
THEMIS_BYTES = Axis("bytes", {f"{100 * n} MB": {"workload.bytes": f"{100 * n}MB"} for n in range(1, 11)})

# Shifted halving-doubling
LOOP_COLLECTIVE = {"kind": "collective", "op": "all_reduce", "bytes": "64MB", "algorithm": "ring"}
SHD_LOOP = {"shifted halving-doubling": Way({"kind": "none"}, "shifted"),
            **{name: Way({"kind": "none"}, family, (("workload", {**LOOP_COLLECTIVE, "algorithm": algorithm}),))
               for name, family, algorithm in (("halving-doubling", "plain", "halving_doubling"), ("ring", "ring", "ring"))}}
SHD_TREE = {name: Way({"kind": "none"}, family, (("workload.algorithm", algorithm),))
            for name, family, algorithm in (("halving-doubling", "plain", "halving_doubling"), ("ring", "ring", "ring"))}
SHD_BYTES = Axis("bytes", {size: {"workload.bytes": size.replace(" ", "")} for size in ("64 KB", "256 KB", "1 MB", "4 MB", "16 MB", "64 MB")})

# ECMP as balls in bins
QPS = Axis("queue pairs a pair", {str(n): {"transport.qps_per_pair": n} for n in (1, 2, 4, 8, 16)})


def all_sweeps():
    def sweep(name, ways, seeds=(1,), axis=NO_AXIS, sets=(), scenario=None):
        return Sweep(name, f"reproduce/figures/{scenario or name}", ways, seeds, axis, sets)

    made = [sweep("dcqcn-unfairness", TESTBED, SEEDS), *(sweep(f"dcqcn-victim-{n}", TESTBED, SEEDS) for n in range(3))]
    for rate, loops in LOOPS.items():
        for loop, delay in loops.items():
            made.append(sweep(f"stability-{rate}, {loop}", RED if rate == "40g" else {"scaled": Way({"kind": "dcqcn"})}, axis=SENDERS, sets=((LINK, delay),),
                              scenario="ecn-or-delay-dcqcn" + ("-100g" if rate == "100g" else "")))
    made.append(sweep("timely-patched", timely("timely_patched", TIMELY_FLOWS), sets=(("duration", "3s"), ("report.sample", "500us")), scenario="ecn-or-delay-timely"))
    made.append(sweep("timely-original", timely("timely", (2, 10, 20, 40)), scenario="ecn-or-delay-timely"))
    made += [sweep(f"hpcc-{load}", HPCC) for load in HPCC_LOADS]
    made += [sweep("irn", IRN, (1, 2, 3)), sweep("irn-lossy", IRN_LOSSY, sets=LOSSY, scenario="irn"),
             sweep("irn-lossy-naks", IRN_LOSSY, sets=(*LOSSY, ("transport.nak_repeat", "2us")), scenario="irn")]
    made += [sweep(f"powertcp-incast-{n}", POWERTCP, axis=ENDS) for n in (10, 255)]
    made.append(sweep("dcqcn-many-flows", MANY, axis=MANY_FLOWS))
    made += [sweep(f"themis-{network}", THEMIS, axis=THEMIS_BYTES) for network in THEMIS_NETWORKS]
    made += [sweep("shd-loop", SHD_LOOP, axis=SHD_BYTES, scenario="shd-dln"), sweep("shd-leaf-spine", SHD_TREE, tuple(range(1, 11)), SHD_BYTES, scenario="shd-fat-tree")]
    made += [sweep("ecmp-balls", {"none": NONE}, tuple(range(1, 501))),
             sweep("ecmp-queue-pairs", {"none": NONE}, tuple(range(1, 101)), QPS, (("workload.bytes", "1MB"),), "ecmp-balls")]
    return [each._replace(name=re.sub("[ ,]+", "-", each.name)) for each in made]


SOME_ENDS = ("4.7 ms", *(f"{tenth / 10:.1f} ms" for tenth in range(50, 57)), "7.6 ms")
# What the claims need at least: sweep -> ways, levels (None = all), seeds, more settings.
REDUCED = {
    "dcqcn-unfairness": (None, None, SEEDS[:5], ()),
    **{f"dcqcn-victim-{n}": (None, None, SEEDS[:5], ()) for n in range(3)},
    **{f"stability-40g-{loop}-us": (None, ("2", "10", "64"), (1,), ()) for loop in (4, 85)},
    "timely-patched": (("10 flows", "40 flows"), None, (1,), ()),
    "timely-original": (("10 flows",), None, (1,), ()),
    "hpcc-hadoop-50": (("hpcc", "dcqcn", "dcqcn + window"), None, (1,), (("workload[0].duration", "600us"),)),
    "irn": (tuple(way for way in IRN if not way.startswith("timely")), None, (1,), (("workload[0].duration", "4ms"),)),
    "powertcp-incast-10": (("powertcp", "hpcc", "timely"), SOME_ENDS, (1,), ()),
    "powertcp-incast-255": (("powertcp", "hpcc", "timely"), SOME_ENDS, (1,), ()),
    "dcqcn-many-flows": (("no limit", "one CNP in 1 us"), ("128", "160", "320", "480"), (1,), ()),
    **{f"themis-{network}": (None, ("1000 MB",), (1,), ()) for network in THEMIS_NETWORKS},
    "shd-loop": (None, ("64 KB", "1 MB"), (1,), ()),
    "shd-leaf-spine": (None, ("64 KB", "1 MB"), (1, 2), ()),
    "ecmp-balls": (None, None, tuple(range(1, 201)), ()),
    "ecmp-queue-pairs": (None, ("1", "4", "16"), tuple(range(1, 21)), ()),
}


def sweeps(reduced):
    return [small(sweep) for sweep in all_sweeps() if sweep.name in REDUCED] if reduced else all_sweeps()


def small(sweep):
    ways, kept, seeds, sets = REDUCED[sweep.name]
    axis = sweep.axis._replace(levels={level: of for level, of in sweep.axis.levels.items() if kept is None or level in kept})
    return sweep._replace(seeds=seeds, axis=axis, sets=(*sweep.sets, *sets), ways={way: of for way, of in sweep.ways.items() if ways is None or way in ways})


measures = observe.measures


def timeline(out):
    """Rows of timeline.csv: points of curves, a curve a name and a way. Queues over time, slowdowns over the sizes of flows."""
    for sweep in all_sweeps():
        if not sweep.name.startswith(("stability-40g", "powertcp", "hpcc")):
            continue
        for level, way, _, metrics in sweep.results(out):
            if sweep.name.startswith("hpcc"):
                points = {f"{sweep.name} p{part}": curve for part, curve in observe.slowdowns_by_size(metrics).items()}
            elif sweep.name.startswith("powertcp"):
                points = {f"{sweep.name} queue": observe.queue_between(metrics, 4.8e6, END_MS * 1e6)} if level == f"{END_MS:.1f} ms" else {}
            else:
                points = {f"{sweep.name} queue {level}": observe.queue_between(metrics, 190e6, 200e6)} if level in ("2", "10", "64") else {}
            for curve, xy in points.items():
                for x, y in xy:
                    yield {"curve": curve, "way": way, "x": x, "y": y}
