# SPDX-License-Identifier: MIT
"""What the DLRM study runs: policies and routes on 64 GPUs, the way from closed forms to packets, 16 to 1024 GPUs, and
flat and hierarchical all-reduces by the buffer of the global switch.

The centre is scenarios/reproduce/studies/dlrm.json.
"""
from typing import NamedTuple

from fabric import ROUTING, fullest_uplink, queue_pairs
from sweeps import NO_AXIS, Axis, Sweep, Way

CENTRE, FABRIC = "reproduce/studies/dlrm", "topology.dims[1]"
TWENTY, FIVE = tuple(range(1, 21)), tuple(range(1, 6))
NONE = Way({"kind": "none"})
CORE = {
    "none": NONE,
    "window": Way({"kind": "window"}),
    "dcqcn scaled": Way({"kind": "dcqcn", "preset": "scaled"}),
    "dcqcn nic": Way({"kind": "dcqcn", "preset": "nic"}),
    "dctcp": Way({"kind": "dctcp"}),
    "timely": Way({"kind": "timely"}),
    "hpcc": Way({"kind": "hpcc"}),
    "swift": Way({"kind": "swift"}),
}
MORE = {
    "dcqcn scaled + window": Way({"kind": "dcqcn", "preset": "scaled", "window_bdp": 1}),
    "timely + window": Way({"kind": "timely", "window_bdp": 1}),
    "powertcp": Way({"kind": "powertcp"}),
    "tally": Way({"kind": "tally"}),
    "clear to send": Way(
        {"kind": "none"},
        "cts",
        (("transport.admission", "cts"), ("transport.slots", 8), ("transport.slot_bytes", "512KB")),
    ),
}
LOSSY = (f"{FABRIC}.switch", {"pfc": {"enabled": False}})
# The queue limit is the bandwidth-delay product between leaves.
UEC = (
    ("transport", {"kind": "uec", "mtu": "4096B", "start_jitter": "1us"}),
    (f"{FABRIC}.switch", {"trimming": {"enabled": True}, "queue_limit": {"bytes": "120KB"}}),
)
TCP = (
    (
        "transport",
        {"kind": "tcp", "mss": "8948B", "rto_min": "1ms", "delayed_ack": {"timeout": "500us"}, "start_jitter": "1us"},
    ),
    LOSSY,
)
OTHERS = {
    "uec nscc": Way({"kind": "nscc"}, "uec", UEC),
    "uec rccc": Way({"kind": "rccc"}, "uec", UEC),
    "tcp cubic": Way({"kind": "cubic"}, "tcp", TCP),
    "tcp dctcp": Way({"kind": "dctcp"}, "tcp", TCP),
}
STATIC = (("switch.routing.kind", "static"),)
QPS = queue_pairs(1, 2, 4)
ACKS = Axis("packets per ACK", {str(n): {"transport.ack_interval": n} for n in (1, 4, 16)})
LINK = {"rate": "200Gbps", "delay": "500ns"}


def one_switch(servers, **link):
    return (FABRIC, {"kind": "switch", "size": servers, "link": {**LINK, **link}})


ONE_SWITCH = ((f"{FABRIC}.ranks_per_leaf", 64), (f"{FABRIC}.spines", 1))
# From the closed form to ECMP, one cause at a time. Static routes give each uplink one flow.
STEPS = {
    "closed form, no latency": (
        ("network", "analytical"),
        one_switch(8, delay="0ns"),
        ("topology.dims[0].link.delay", "0ns"),
    ),
    "closed form": (("network", "analytical"), one_switch(8)),
    "packets, one switch": ONE_SWITCH,
    "one switch, links of 1 us": (*ONE_SWITCH, (f"{FABRIC}.link.delay", "1us")),
    "two tiers, trunks of 10 Tb/s, no delay": (*STATIC, (f"{FABRIC}.trunk", {"rate": "10Tbps", "delay": "0ns"})),
    "two tiers, trunks of 10 Tb/s": (*STATIC, (f"{FABRIC}.trunk", {"rate": "10Tbps", "delay": "500ns"})),
    "two tiers, 1:1": (*STATIC, (f"{FABRIC}.spines", 16)),
    "two tiers, 2:1": STATIC,
}
BESIDE = (  # not on the way: one property changed
    "one switch, links of 1 us",
    "two tiers, trunks of 10 Tb/s, no delay",
    "two tiers, trunks of 10 Tb/s",
    "two tiers, 1:1",
)
SHARDINGS = {
    "table": ("table", 1000000),
    "column": ("column", 1000000),
    "row": ("row", 1000000),
    "copies": ("data", 100000),
}
SMALL = (("workload.iterations", 1), ("workload.dlrm.batch", 64))


def scale(*servers):
    return Axis(
        "GPUs, sharding",
        {
            f"{8 * n}, {name}": {f"{FABRIC}.size": n, "workload.dlrm.sharding": kind, "workload.dlrm.rows": rows}
            for n in servers
            for name, (kind, rows) in SHARDINGS.items()
            if n < 64 or name in ("table", "column")
        },
    )


def scale_closed(*servers):
    return Axis(
        "GPUs, sharding",
        {
            f"{8 * n}, {name}": {
                FABRIC: {"kind": "switch", "size": n, "link": LINK},
                "workload.dlrm.sharding": kind,
                "workload.dlrm.rows": rows,
            }
            for n in servers
            for name, (kind, rows) in SHARDINGS.items()
            if n < 64 or name in ("table", "column")
        },
    )


MODELS = {  # scenario, sets: rings where each link has one flow, in closed form and over packets
    "ResNet-50, 64 GPUs": ("resnet50-64", ()),
    "VGG-16, like a DGX-2": ("vgg16-dgx2", ()),
    "the same, one chunk a layer": ("vgg16-dgx2", (("workload.system.preferred-dataset-splits", 1),)),
    "VGG-16, like a TPU": ("vgg16-tpu", ()),
    "Transformer, 64 GPUs": ("transformer-64", ()),
    "GPT-3, 3 layers, 64 GPUs": ("gpt3-64", ()),
}
NETWORKS = Axis("network", {"closed form": {"network": "analytical"}, "packets": {"network": "packet"}})
DENSE = (("workload.dlrm.sharding", "data"), ("workload.dlrm.rows", 1))  # all-reduces, and nothing beside them
STARTS = (("transport.start_jitter", "10us"), ("transport.clock_ppm", 100))
ALL_REDUCES = {"flat, direct": "oneDirect", "flat, ring": "oneRing", "hierarchical": "ring_ring"}
GLOBAL = f"{FABRIC}.switch.buffer"
SIZES = ("500KB", "1MB", "2MB", "4MB", "8MB", "16MB", "32MB")


class Fabric(NamedTuple):
    way: str
    sets: tuple = ()
    sizes: tuple = SIZES[1:]
    scenario: str = "dlrm/dlrm-global-buffer"
    cc: dict = {"kind": "none"}


NO_PFC = (f"{FABRIC}.switch.pfc.enabled", False)
FABRICS = {
    "lossless": Fabric("none", sizes=SIZES[3:]),
    "go-back-N": Fabric("none", (NO_PFC, ("transport.rto", "4194304ns"))),
    # With the timers and the cap of one bandwidth-delay product of its authors.
    "selective repeat": Fabric("none", (NO_PFC, ("transport.recovery", "selective_repeat"))),
    "TCP": Fabric("cubic", (), SIZES, "dlrm/dlrm-global-buffer-tcp", {"kind": "cubic"}),
    "Ultra Ethernet": Fabric(
        "uec nscc",
        (
            ("transport", {"kind": "uec", "mtu": "4096B", "start_jitter": "10us", "clock_ppm": 100}),
            (f"{FABRIC}.switch", {"trimming": {"enabled": True}, "queue_limit": {"bytes": "120KB"}, "reserve": "1KB"}),
        ),
        SIZES,
        cc={"kind": "nscc"},
    ),
}


def buffer_sweep(what, fabric):
    """Name and way of the sweep over buffers for `what` (dense, model)."""
    return f"buffer-{what}-{fabric.replace(' ', '-')}", FABRICS[fabric].way


def buffers(values):
    return Axis(
        "all-reduce, buffer of the global switch",
        {
            f"{name}, {size}": {"workload.system.all-reduce-implementation": kind, GLOBAL: size}
            for name, kind in ALL_REDUCES.items()
            for size in values
        },
    )


def buffer_sweeps(fabric, seeds):
    of = FABRICS[fabric]
    return [
        Sweep(
            buffer_sweep(what, fabric)[0],
            of.scenario,
            {of.way: Way(of.cc)},
            seeds,
            buffers(of.sizes),
            (*STARTS, *of.sets, *more),
        )
        for what, more in (("dense", DENSE), ("model", ()))
    ]


def sweeps(reduced):
    return [small(sweep) for sweep in all_sweeps() if sweep.name in REDUCED] if reduced else all_sweeps()


def all_sweeps():
    made = [
        Sweep("ecmp", CENTRE, {**CORE, **MORE, **OTHERS}, TWENTY),
        Sweep("static", CENTRE, {**CORE, **MORE}, FIVE[:3], NO_AXIS, STATIC),
        Sweep("routing", CENTRE, CORE, FIVE, ROUTING),
        Sweep("qps", CENTRE, CORE, FIVE, QPS),
        Sweep("acks-ecmp", CENTRE, CORE, FIVE, ACKS),
        Sweep("acks-static", CENTRE, CORE, FIVE[:1], ACKS, STATIC),
        Sweep("big-buffer", CENTRE, {"none": NONE}, TWENTY, NO_AXIS, (("switch.buffer", "1GB"),)),
    ]
    for name, sets in STEPS.items():
        made.append(Sweep(f"step: {name}", CENTRE, {"none": NONE}, (1,), NO_AXIS, sets))
    made += [
        Sweep(
            "scale-closed",
            CENTRE,
            {"none": NONE},
            (1,),
            scale_closed(2, 8, 32, 128),
            (*SMALL, ("network", "analytical"), one_switch(8)),
        ),
        Sweep("scale-static", CENTRE, {"none": NONE}, (1,), scale(2, 8, 32), (*SMALL, *STATIC)),
        Sweep(
            "scale-ecmp",
            CENTRE,
            {**{way: CORE[way] for way in ("none", "dcqcn nic")}, "uec nscc": OTHERS["uec nscc"]},
            FIVE[:2],
            scale(2, 8, 32),
            SMALL,
        ),
        Sweep("scale-large", CENTRE, {"none": NONE, "dcqcn nic": CORE["dcqcn nic"]}, (1,), scale(128), SMALL),
    ]
    made += [
        Sweep(f"model: {name}", f"models/{file}", {"none": NONE}, (1,), NETWORKS, sets)
        for name, (file, sets) in MODELS.items()
    ]
    for fabric in FABRICS:
        made += buffer_sweeps(fabric, FIVE[:2])
    return made


REDUCED = {
    "ecmp",
    "static",
    *(f"step: {name}" for name in STEPS),
    "buffer-dense-TCP",
    "buffer-model-TCP",
    "buffer-dense-lossless",
    "buffer-model-lossless",
}


def small(sweep):
    if sweep.name.startswith("buffer"):
        sizes = ("4MB", "32MB") if "lossless" in sweep.name else ("1MB", "32MB")
        kept = {
            level: of
            for level, of in sweep.axis.levels.items()
            if level.split(", ")[-1] in sizes and "ring" not in level
        }
        return sweep._replace(seeds=(1,), axis=sweep.axis._replace(levels=kept))
    kept = (
        "none",
        "window",
        "dcqcn scaled",
        "dcqcn scaled + window",
        "dcqcn nic",
        "dctcp",
        "timely",
        "swift",
        "uec nscc",
    )
    if sweep.name == "static":
        kept = [way for way in kept if way not in ("timely", "dcqcn scaled + window")]
    return sweep._replace(seeds=sweep.seeds[:2], ways={way: of for way, of in sweep.ways.items() if way in kept})


PARTS = ("compute", "sending", "nic", "window", "pace", "paused", "network", "queued", "behind", "timeout", "resending")


def measures(metrics):
    training, parts = metrics["training"], metrics["slowest"]["parts"] if metrics["slowest"] else {}
    passes = max(1, len(training["iterations"]))
    embedding = sum(
        layer[part]["exposed_ns"]
        for layer in training["layers"]
        if layer["name"] == "embedding"
        for part in ("fwd", "ig", "wg")
    )
    return {
        "status": metrics["status"],
        "time_ns": (training["total_ns"] or metrics["sim_time_ns"]) // passes,
        "compute_ns": (training["compute_ns"] or 0) // passes,
        "exposed_ns": (training["exposed_comm_ns"] or 0) // passes,
        "embedding_ns": embedding // passes,
        "uplink": fullest_uplink(metrics)[0],
        "queue": metrics["queues"]["max_bytes"],
        "marks": metrics["ecn"]["marked_packets"],
        "pauses": metrics["pfc"]["pause_frames"],
        "drops": metrics["drops"]["packets"],
        "timeouts": metrics["recovery"]["timeouts"] + ((metrics["tcp"] or {}).get("timeouts") or 0),
        **{part: parts.get(f"{part}_ns", 0) // passes for part in PARTS},
    }
