# SPDX-License-Identifier: MIT
"""What the all-reduce study runs: one factor at a time around two centres, then the interactions that matter.

The centres are scenarios/reproduce/studies/allreduce-2022.json and allreduce-2026.json. Their comments say why.
"""
import re

from fabric import ROUTING, fullest_uplink, queue_pairs
from sweeps import NO_AXIS, Axis, Sweep, Way

CENTRES = ("2026", "2022")
# Seeds whose fullest uplink has 3, 4 and 5 of 8 flows under ECMP; the classes have these probabilities (tables.largest_load).
SEEDS = {
    "2022": {3: (3, 5, 7, 8), 4: (1, 2, 6, 9), 5: (4, 11)},
    "2026": {3: (1, 3, 4, 5), 4: (2, 9, 10, 11), 5: (8, 17)},
}


def ten(centre):
    return tuple(seed for seeds in SEEDS[centre].values() for seed in seeds)


def three(centre):
    return tuple(seeds[0] for seeds in SEEDS[centre].values())


def dcqcn(preset, **values):
    return Way({"kind": "dcqcn", "preset": preset, **values})


NONE, WINDOW = Way({"kind": "none"}), Way({"kind": "window"})
DCQCN = {
    "dcqcn khan2022": dcqcn("khan2022", window_bdp=0),
    "dcqcn scaled": dcqcn("scaled"),
    "dcqcn paper": dcqcn("paper"),
    "dcqcn nic": dcqcn("nic"),
}
WINDOWED = {f"{name} + window": Way({**way.cc, "window_bdp": 1}) for name, way in DCQCN.items()}
# What the factors are varied with: each policy with the gains that the study of 2022 (or its authors) gave it.
CORE = {
    "2022": {
        "none": NONE,
        "window": WINDOW,
        "dcqcn khan2022 + window": WINDOWED["dcqcn khan2022 + window"],
        "dcqcn nic": DCQCN["dcqcn nic"],
        "dctcp": Way({"kind": "dctcp", "preset": "khan2022"}),
        "timely": Way({"kind": "timely", "window_bdp": 1}),
        "hpcc": Way({"kind": "hpcc", "preset": "khan2022"}),
        "swift": Way({"kind": "swift"}),
    },
    "2026": {
        "none": NONE,
        "window": WINDOW,
        "dcqcn scaled": DCQCN["dcqcn scaled"],
        "dcqcn nic": DCQCN["dcqcn nic"],
        "dctcp": Way({"kind": "dctcp"}),
        "timely": Way({"kind": "timely"}),
        "hpcc": Way({"kind": "hpcc"}),
        "swift": Way({"kind": "swift"}),
    },
}
MORE = {
    "timely, gain 0.02": Way({"kind": "timely", "alpha": 0.02}),
    "powertcp": Way({"kind": "powertcp"}),
    "tally": Way({"kind": "tally"}),
}
INSIDE = (
    ("topology.dims[0].transport", {"kind": "roce", "mtu": "4096B", "ack_interval": 16}),
    ("topology.dims[0].cc", {"kind": "none"}),
)


def others(bdp, inside=INSIDE, fabric="topology.dims[1].switch"):
    """Clear to send, Ultra Ethernet and TCP. `bdp`: of the longest path, the queue limit of Ultra Ethernet's authors."""
    cts = (("transport.admission", "cts"), ("transport.slots", 8), ("transport.slot_bytes", "512KB"))
    uec = (
        *inside,
        ("transport", {"kind": "uec", "mtu": "4096B", "start_jitter": "1us"}),
        (fabric, {"trimming": {"enabled": True}, "queue_limit": {"bytes": bdp}}),
    )
    tcp = (
        *inside,
        (
            "transport",
            {
                "kind": "tcp",
                "mss": "8948B",
                "rto_min": "1ms",
                "delayed_ack": {"timeout": "500us"},
                "start_jitter": "1us",
            },
        ),
        (fabric, {"pfc": {"enabled": False}}),
    )
    return {
        "clear to send": Way({"kind": "none"}, "cts", cts),
        "uec nscc": Way({"kind": "nscc"}, "uec", uec),
        "uec rccc": Way({"kind": "rccc"}, "uec", uec),
        "tcp cubic": Way({"kind": "cubic"}, "tcp", tcp),
        "tcp dctcp": Way({"kind": "dctcp"}, "tcp", tcp),
    }


OTHERS = {"2022": others("1750KB"), "2026": others("250KB")}

FABRIC = "topology.dims[1]"


def levels(path, *values):
    return {spaced(str(value)): {path: value} for value in values}


def spaced(value):
    """400Gbps as 400 Gb/s."""
    return re.sub(r"(?<=\d)(?=[A-Z])", " ", value).replace("bps", "b/s")


AXES = {
    "fibre": Axis(
        "fibre (base RTT 4 to 70 us)",
        {
            name: {f"{FABRIC}.link.delay": link, f"{FABRIC}.trunk.delay": trunk}
            for name, link, trunk in (
                ("100 m", "500ns", "500ns"),
                ("400 m", "2us", "2us"),
                ("1 km", "5us", "5us"),
                ("2.5 km", "5us", "12.5us"),
            )
        },
    ),
    "ack": Axis("packets per ACK", levels("transport.ack_interval", 1, 4, 16, 64)),
    "mtu": Axis("payload of a packet", levels("transport.mtu", "1000B", "4096B", "9000B")),
    "chunks": Axis(
        "chunks, active at once",
        {
            f"{n}, {active}": {"workload.chunks": n, "workload.active_chunks": active}
            for n, active in ((1, 1), (4, 1), (4, 4), (8, 8))
        },
    ),
    "qps": queue_pairs(1, 2, 4, 8),
    "routing": ROUTING,
    "spines": Axis("uplinks of a leaf (16 ranks)", levels(f"{FABRIC}.spines", 16, 8, 4)),
    "rate": Axis(
        "rate of the fabric",
        {
            spaced(rate): {f"{FABRIC}.link.rate": rate, f"{FABRIC}.trunk.rate": rate}
            for rate in ("100Gbps", "200Gbps", "400Gbps", "800Gbps")
        },
    ),
    "buffer": Axis("buffer of a switch", levels("switch.buffer", "16MB", "32MB", "64MB", "128MB")),
    "memory": Axis(
        "queue pair", {"persistent": {"transport.qp": "persistent"}, "per message": {"transport.qp": "per_message"}}
    ),
    "bytes": Axis("vector of a GPU", levels("workload.bytes", "8MB", "32MB", "64MB")),
    "algorithm": Axis(
        "algorithm", {"1D ring": {"workload.algorithm": "ring"}, "2D rings": {"workload.algorithm": ["ring", "ring"]}}
    ),
}
# Rings stay as they are with more servers: messages keep their size.
SCALE = Axis("GPUs", {str(8 * n): {f"{FABRIC}.size": n, "workload.bytes": f"{4 * n}MB"} for n in (16, 32, 64)})
SCALE_LARGE = Axis("GPUs", {"1024": {f"{FABRIC}.size": 128, "workload.bytes": "512MB"}})

# What the centre of 2026 leaves out: the time of a step in hosts (14 us: NCCL's own figure for a hop under protocol Simple),
# that of switches, and wiring by rails.
HOST = Axis("time of a rank before the messages of a step", levels("workload.endpoint_delay", "0us", "14us"))
LATENCY = Axis("latency of a switch", levels("switch.latency", "0ns", "600ns"))
LINKS = {name: {"rate": "400Gbps", "delay": "500ns"} for name in ("link", "trunk")}
WIRING = Axis(
    "wiring",
    {
        "top of rack": {FABRIC: {"kind": "leaf_spine", "size": 16, "ranks_per_leaf": 16, "spines": 8, **LINKS}},
        "rails": {FABRIC: {"kind": "rail", "size": 16, "gpus_per_server": 8, "spines": 8, **LINKS}},
    },
)
# Twelve iterations on connections that last, with 500 us of computation between: the first is the centre's run.
WARM = {
    "kind": "training",
    "iterations": 12,
    "parallelism": "DATA",
    "layers": [
        {
            "name": "gradients",
            "fwd": {"compute": "200us"},
            "ig": {"compute": "0us"},
            "wg": {"compute": "300us", "op": "all_reduce", "bytes": "64MB"},
        }
    ],
    "system": {
        "scheduling-policy": "LIFO",
        "active-chunks-per-dimension": 4,
        "preferred-dataset-splits": 4,
        "collective-optimization": "localBWAware",
        "all-reduce-implementation": "ring_ring",
    },
}
WARM_FROM = 6  # of the iterations, counted from 0

PFC_CASES = ("victim", "storage", "two-jobs", "slow-receiver", "skew", "degraded")


# One uplink with five flows (seed 4): its queue, and the slowest rate of any flow between servers.
TIMELINE = Sweep(
    "timeline-2022",
    "reproduce/studies/allreduce-2022",
    {way: {**CORE["2022"], **DCQCN}[way] for way in ("none", "dcqcn khan2022", "dcqcn nic", "hpcc")},
    (4,),
    NO_AXIS,
    (("report.sample", "20us"), ("report.sample_at", ["leaf2->spine5", "rank*->rank*"])),
)


def timeline(out):
    """Rows of timeline.csv."""
    for _, way, _, metrics in TIMELINE.results(out):
        series = metrics["series"]
        between = [rates for rates in series["rate_bps"].values() if max(rate or 0 for rate in rates) <= 200e9]
        for index, time in enumerate(series["t_ns"]):
            rates = [rates[index] for rates in between if rates[index] is not None]
            yield {
                "way": way,
                "t_us": time // 1000,
                "queue_bytes": series["queue_bytes"]["leaf2->spine5"][index],
                "least_rate_bps": min(rates, default=""),
            }


def pick(ways, *names):
    return {name: ways[name] for name in names}


def sweeps(reduced):
    return [small(sweep) for sweep in all_sweeps() if sweep.name in REDUCED] if reduced else all_sweeps()


def all_sweeps():
    made = []
    for centre in CENTRES:
        scenario, core = f"reproduce/studies/allreduce-{centre}", CORE[centre]
        made.append(
            Sweep(f"centre-{centre}", scenario, {**core, **DCQCN, **WINDOWED, **MORE, **OTHERS[centre]}, ten(centre))
        )
        for name, axis in AXES.items():
            if centre == "2026" or name not in (
                "rate",
                "buffer",
            ):  # nothing pauses there, and 800G over 2.5 km has no headroom
                made.append(Sweep(f"{name}-{centre}", scenario, core, three(centre), axis))
        presets = {"none": NONE, **DCQCN, **WINDOWED}
        made.append(Sweep(f"presets-fibre-{centre}", scenario, presets, three(centre), AXES["fibre"]))
        if centre == "2022":
            made.append(
                Sweep(
                    "presets-ack-2022", scenario, presets, three(centre), AXES["ack"], (("workload.algorithm", "ring"),)
                )
            )
    today, core, more = "reproduce/studies/allreduce-2026", CORE["2026"], {**MORE, **OTHERS["2026"]}
    for name in ("routing", "spines", "rate"):
        ways = pick(more, "tally", "uec nscc", "uec rccc") if name != "routing" else pick(more, "tally")
        made.append(Sweep(f"{name}-others-2026", today, ways, three("2026"), AXES[name]))
    scaled = {
        **pick(core, "none", "window", "dcqcn scaled", "dcqcn nic", "hpcc", "swift"),
        **pick(more, "tally", "uec nscc"),
    }
    made.append(Sweep("scale-2026", today, scaled, three("2026"), SCALE))
    largest = pick(scaled, "none", "dcqcn scaled", "dcqcn nic", "hpcc", "uec nscc")
    made.append(Sweep("scale-large-2026", today, largest, (1,), SCALE_LARGE))
    windowed = pick(WINDOWED, "dcqcn khan2022 + window", "dcqcn scaled + window")
    warm = {**core, **windowed, **pick(MORE, "tally"), **pick(OTHERS["2026"], "uec nscc")}
    made.append(Sweep("warm-2026", today, warm, three("2026"), NO_AXIS, (("workload", WARM),)))
    for name, axis in (("host", HOST), ("latency", LATENCY), ("wiring", WIRING)):
        made.append(Sweep(f"{name}-2026", today, {**core, **pick(OTHERS["2026"], "uec nscc")}, three("2026"), axis))
    harmed = {**core, **pick(MORE, "tally"), **others("250KB", (), "switch")}
    for case in PFC_CASES:
        made.append(Sweep(f"pfc-{case}", f"reproduce/studies/pfc-{case}", harmed, (1, 2, 3, 4, 5)))
    for case in ("victim", "storage", "two-jobs"):
        made.append(
            Sweep(
                f"pfc-{case}-alone",
                f"reproduce/studies/pfc-{case}",
                pick(core, "none"),
                (1, 2, 3, 4, 5),
                NO_AXIS,
                (("workload[1].start", "50ms"),),
            )
        )
    return [*made, TIMELINE]


# The claims need no more than this: sweep -> ways, levels (None = all), seeds.
HELPED = ("none", "window", "dcqcn nic", "dctcp", "hpcc", "swift", "uec nscc")
REDUCED = {
    "centre-2026": (
        (
            "none",
            "window",
            "dcqcn scaled",
            "dcqcn nic",
            "dctcp",
            "timely",
            "dcqcn khan2022 + window",
            "dcqcn scaled + window",
            "uec nscc",
        ),
        None,
        (1,),
    ),
    "routing-2026": (("none", "dcqcn scaled", "timely", "swift", "window", "hpcc"), ("static", "spray", "ECMP"), (1,)),
    "warm-2026": (("none", "dcqcn scaled", "timely"), None, (1,)),
    "wiring-2026": (("none", "dcqcn scaled", "timely", "hpcc"), ("rails",), (1,)),
    "qps-2026": (("none",), ("1", "8"), (1, 2)),
    "presets-fibre-2026": (("none", "dcqcn khan2022 + window"), ("100 m", "1 km"), (1,)),
    "presets-fibre-2022": (("none", "dcqcn khan2022 + window"), ("100 m", "1 km"), (1,)),
    "presets-ack-2022": (("none", "dcqcn khan2022"), ("1", "16"), (3,)),
    "memory-2022": (("none", "dcqcn khan2022 + window", "timely"), None, (1,)),
    **{f"pfc-{case}": (HELPED, None, (1,)) for case in ("victim", "slow-receiver", "storage", "two-jobs")},
}


def small(sweep):
    ways, kept, seeds = REDUCED[sweep.name]
    axis = sweep.axis._replace(
        levels={level: sets for level, sets in sweep.axis.levels.items() if kept is None or level in kept}
    )
    return sweep._replace(
        seeds=seeds, axis=axis, ways={way: of for way, of in sweep.ways.items() if ways is None or way in ways}
    )


PARTS = ("sending", "nic", "window", "pace", "paused", "network", "queued", "timeout", "resending")


def measures(metrics):
    jobs, times = metrics["jobs"], [collective["duration_ns"] for collective in metrics["collectives"]]
    warm = times[WARM_FROM:] if len(times) == WARM["iterations"] else []
    uplink, busy = fullest_uplink(metrics)
    parts = metrics["slowest"]["parts"] if metrics["slowest"] else {}
    return {
        "status": metrics["status"],
        "time_ns": jobs[0]["time_ns"],
        "other_ns": jobs[1]["time_ns"] if len(jobs) > 1 else "",
        "first_ns": times[0] if warm else "",
        "warm_ns": sum(warm) // len(warm) if warm else "",
        "uplink": uplink,
        "busy": busy,
        "queue": metrics["queues"]["max_bytes"],
        "marks": metrics["ecn"]["marked_packets"],
        "cuts": metrics["cc_cuts"],
        "pauses": metrics["pfc"]["pause_frames"],
        "paused_ns": metrics["pfc"]["paused_ns"],
        "drops": metrics["drops"]["packets"],
        **{part: parts.get(f"{part}_ns", 0) for part in PARTS},
    }
