# SPDX-License-Identifier: MIT
"""Random scenarios aimed at senders: paced ones, policies that set rates, and retransmission timers below the
RTT, so that ACKs, losses that were none, timers and new rates meet in every order."""
import random

import generate
import stacks

RATE_POLICIES = {
    "roce": ("dcqcn", "timely", "timely_patched", "swift", "hpcc", "powertcp", "window", "tally"),
    "tcp": ("swift", "swift", "swift", "tally", "tally", "window", "dctcp", "cubic", "newreno"),
    "uec": ("swift", "swift", "window", "nscc", "rccc", "nscc_rccc"),
    "mrc": ("swift", "swift", "window", "nscc", "rccc", "nscc_rccc"),
}
PRESETS = {"swift": ("paper", "htsim")}
DELAYS = ("500ns", "1us", "20us", "100us")
TIMERS = ("1us", "5us", "10us", "50us", "200us")


def topology(rng):
    """Dimensions, and the number of ranks."""
    link = {"rate": rng.choice(("1Gbps", "10Gbps", "100Gbps")), "delay": rng.choice(DELAYS)}
    kind = rng.choice(("switch", "switch", "leaf_spine", "fat_tree", "ring"))
    size = {"switch": rng.choice((2, 4, 8)), "leaf_spine": 8, "fat_tree": 16, "ring": rng.choice((3, 5))}[kind]
    dim = {"kind": kind, "size": size, "link": link}
    if kind == "leaf_spine":
        dim.update(ranks_per_leaf=4, spines=2, trunk={"rate": rng.choice(("1Gbps", "10Gbps"))})
    return dim, size


def transport(rng, kind):
    made = {"kind": kind}
    if kind == "tcp":
        made.update(stacks.tcp(rng), pacing=rng.random() < 0.7)
        made.update(rto_min=rng.choice(TIMERS), rto_initial=rng.choice(TIMERS))
    elif kind in ("uec", "mrc"):
        made.update(stacks.uec(rng), kind=kind, rto=rng.choice(TIMERS), retry_limit=rng.choice((7, 1000)))
    else:
        made["recovery"] = rng.choice(("go_back_n", "selective_repeat"))
        made["rto"] = rng.choice(TIMERS)
        if made["recovery"] == "selective_repeat":
            del made["rto"]
            made.update(rto_low=rng.choice(TIMERS[:3]), rto_high=rng.choice(TIMERS[2:]))
        made["ack_interval"] = rng.choice((1, 2, 16))
        if rng.random() < 0.2:
            made["qp"] = "per_message"
    for key in ("class", "start_jitter", "clock_ppm"):
        made.pop(key, None)
    if made.get("admission") is None and rng.random() < 0.3:
        made["admission"] = "cts"
        made["slot_bytes"] = rng.choice(("1KB", "10KB"))
    return made


def job(rng, ranks):
    size = rng.choice((1, 2048, 12500, 50000, 333333, 1000000))
    kind = rng.choice(("incast", "permutation", "collective", "collective"))
    if kind == "incast":
        return {"kind": kind, "receiver": 0, "bytes": size}
    if kind == "permutation":
        return {"kind": kind, "bytes": size, "shift": 1}
    op = rng.choice(("all_to_all", "reduce", "all_reduce", "all_gather"))
    made = {"kind": kind, "op": op, "bytes": size}
    if op != "reduce" and ranks <= 8:
        made["algorithm"] = rng.choice(("direct", "ring"))
    if rng.random() < 0.3:
        made["repeat"] = 2
    return made


def scenario(seed, folder):
    """The scenario of a seed."""
    rng = random.Random(f"aimed {seed}")
    dim, ranks = topology(rng)
    kind = rng.choice(("roce", "tcp", "tcp", "uec", "mrc"))
    made = {"name": f"aimed-{seed}", "seed": seed, "topology": {"dims": [dim]}, "transport": transport(rng, kind)}
    policy = rng.choice(RATE_POLICIES[kind])
    made["cc"] = {"kind": policy}
    if policy in PRESETS and rng.random() < 0.5:
        made["cc"]["preset"] = rng.choice(PRESETS[policy])
    made["switch"] = {"buffer": rng.choice(("1MB", "8MB"))}
    if rng.random() < 0.5:
        made["switch"]["pfc"] = {"enabled": False}
    if kind in ("uec", "mrc") or (kind == "roce" and rng.random() < 0.2):
        stacks.trimming(rng, made)
        if kind == "roce":
            made["transport"]["ack_class"] = "control"
    if rng.random() < 0.3:
        made["faults"] = [{"at": f"rank{rng.randrange(ranks)}->*", "loss": rng.choice((0.001, 0.03))}]
    made["workload"] = job(rng, ranks)
    made["limits"] = {"events": rng.choice((2000, 20000, 100000)), "sim_time": "2s"}
    generate.write(made, folder)
    return made
