# SPDX-License-Identifier: MIT
"""Scenarios with none, one or two planted causes: topology, job, transport and fault are drawn from a seed. Each cause has
the settings that remove it, and the kinds of reasons (`reasons[].kind`) that name it."""
import random

LEAVES = [(16, 8, 8), (16, 8, 4), (32, 8, 8), (24, 8, 4)]


def leaf_spine(rng, full=False, delay="1us"):
    size, per_leaf, spines = rng.choice([shape for shape in LEAVES if not full or shape[1] == shape[2]])
    return {"dims": [{"kind": "leaf_spine", "size": size, "ranks_per_leaf": per_leaf, "spines": spines,
                      "link": {"rate": rng.choice(["100Gbps", "200Gbps", "400Gbps"]), "delay": delay}}]}


def switch(rng, size=None, delay="1us"):
    return {"dims": [{"kind": "switch", "size": size or rng.choice([8, 16]),
                      "link": {"rate": rng.choice(["100Gbps", "200Gbps", "400Gbps"]), "delay": delay}}]}


def all_reduce(rng, algorithm="ring", sizes=("8MB", "16MB", "32MB")):
    return {"kind": "collective", "op": "all_reduce", "bytes": rng.choice(sizes), "algorithm": algorithm}


def straggler(rng):
    layers = [{"name": f"l{i}", "fwd": {"compute": "100us"}, "ig": {"compute": "100us"},
               "wg": {"compute": "100us", "op": "all_reduce", "bytes": "1MB"}} for i in range(rng.choice([2, 4]))]
    return {"topology": switch(rng), "workload": {
        "kind": "training", "parallelism": "DATA", "iterations": 2, "layers": layers,
        "stragglers": [{"rank": rng.randrange(8), "factor": rng.choice([1.3, 1.5, 2])}]}}, ["workload.stragglers=null"]


def slow_link(rng):
    made = {"topology": leaf_spine(rng, full=True), "workload": all_reduce(rng)}
    made["links"] = [{"at": f"rank{rng.randrange(8)}", "rate": rng.choice(["25Gbps", "50Gbps"])}]
    return made, ["links=[]"]


def lost_lanes(rng):
    made = {"topology": leaf_spine(rng, full=True), "workload": all_reduce(rng)}
    made["faults"] = [{"at": f"rank{rng.randrange(8)}", "rate": {"share": rng.choice([0.25, 0.5])}}]
    return made, ["faults=[]"]


def loss(rng):
    made = {"topology": leaf_spine(rng, full=True, delay=rng.choice(["5us", "20us"])), "workload": all_reduce(rng)}
    made["switch"] = {"buffer": "64MB"}
    made["faults"] = [{"at": "leaf0->spine*", "loss": rng.choice([0.001, 0.003])}]
    return made, ["faults=[]"]


def link_down(rng):
    made = {"topology": leaf_spine(rng), "workload": {"kind": "collective", "op": "all_to_all", "bytes": "16MB"}}
    made["topology"]["dims"][0]["spines"] = 2
    made["faults"] = [{"at": "leaf0->spine0", "down": "100us"}]
    return made, ["faults=[]"]


def window(rng):
    made = {"topology": leaf_spine(rng, full=True, delay="10us"), "workload": all_reduce(rng)}
    made["cc"] = {"kind": "window", "k": rng.choice([0.2, 0.3, 0.5])}
    return made, ["cc.k=4"]


def two_jobs(rng):
    topology = leaf_spine(rng, full=True)
    size = topology["dims"][0]["size"]
    train = sorted(rng.sample(range(size), 8))
    others = [rank for rank in range(size) if rank not in train]
    senders = rng.sample(others, min(7, len(others)))
    ranks = [rng.choice(train)] + senders
    made = {"topology": topology, "workload": [
        dict(all_reduce(rng), name="train", ranks=train),
        {"kind": "incast", "name": "ckpt", "receiver": 0, "bytes": "8MB", "senders": len(senders), "ranks": ranks}]}
    return made, ["workload[1]=null"]


def small_mtu(rng):
    made = {"topology": leaf_spine(rng, full=True), "workload": all_reduce(rng)}
    made["transport"] = {"kind": "roce", "mtu": rng.choice(["256B", "512B"])}
    return made, ["transport.mtu=4096B"]


def nic(rng):
    made = {"topology": switch(rng), "nic": "connectx6", "workload": all_reduce(rng, sizes=("32MB", "64MB"))}
    made["topology"]["dims"][0]["link"]["rate"] = "400Gbps"
    return made, ["nic=ideal"]


def storm(rng):
    made = {"topology": leaf_spine(rng, full=True), "workload": all_reduce(rng)}
    made["faults"] = [{"at": f"rank{rng.randrange(8)}", "storm": "100us", "storm_end": rng.choice(["600us", "1ms"])}]
    return made, ["faults=[]"]


def oversubscribed(rng):
    made = {"topology": leaf_spine(rng), "workload": {"kind": "collective", "op": "all_to_all", "bytes": "8MB"}}
    dim = made["topology"]["dims"][0]
    dim["spines"] = rng.choice([1, 2])
    made["switch"] = {"routing": {"kind": "spray"}}
    made["transport"] = {"kind": "roce", "recovery": "selective_repeat", "reorder": 256}
    rate = int(dim["link"]["rate"][:-4]) * dim["ranks_per_leaf"] // dim["spines"]
    return made, [f'topology.dims[0].trunk={{"rate":"{rate}Gbps","delay":"1us"}}']


def algorithm(rng):
    if rng.random() < 0.5:
        return ({"topology": leaf_spine(rng, full=True, delay="5us"),
                 "workload": all_reduce(rng, sizes=("16KB", "64KB"))}, ["workload.algorithm=halving_doubling"])
    return ({"topology": leaf_spine(rng, full=True), "workload": all_reduce(rng, "tree")},
            ["workload.algorithm=ring"])


def latency(rng):
    made = {"topology": switch(rng, delay=rng.choice(["5us", "10us"])),
            "workload": all_reduce(rng, "halving_doubling", ("64KB", "256KB"))}
    return made, ["topology.dims[0].link.delay=1us"]


def small_buffer(rng):
    made = {"topology": switch(rng, size=rng.choice([9, 17]), delay="5us"), "transport": {"kind": "tcp"},
            "switch": {"buffer": "200KB"}}
    made["topology"]["dims"][0]["link"]["rate"] = "25Gbps"
    made["workload"] = {"kind": "incast", "receiver": 8, "bytes": rng.choice(["256KB", "1MB"])}
    return made, ["switch.buffer=8MB"]


def delayed_ack(rng):
    made = {"topology": switch(rng, size=9, delay="5us"), "transport": {"kind": "tcp", "initial_window": 1}}
    made["workload"] = {"kind": "flows", "flows": [{"src": 0, "dst": 1, "bytes": rng.choice(["1KB", "1400B"])}]}
    return made, ["transport.delayed_ack.segments=1"]


def uneven_paths(rng):
    made = {"topology": leaf_spine(rng), "workload": {"kind": "collective", "op": "all_to_all",
                                                      "bytes": rng.choice(["8MB", "16MB"])}}
    made["topology"]["dims"][0]["spines"] = 8
    made["cc"] = {"kind": rng.choice(["none", "swift", "dcqcn", "window"])}
    return made, ["switch.routing.kind=spray", "transport.recovery=selective_repeat", "transport.reorder=256"]


def target(rng):
    made = {"topology": leaf_spine(rng, full=True), "cc": {"kind": "hpcc"}, "workload": all_reduce(rng)}
    return made, ['cc={"kind":"none"}']


def cuts(rng):
    made = {"topology": switch(rng, size=rng.choice([9, 17])), "cc": {"kind": rng.choice(["dcqcn", "timely"])},
            "workload": {"kind": "incast", "receiver": 8, "bytes": rng.choice(["1MB", "4MB"])}}
    return made, ['cc={"kind":"none"}']


def timer(rng):
    made = {"topology": switch(rng, delay="5us"), "transport": {"kind": "roce", "rto": rng.choice(["4ms", "16ms"])},
            "workload": {"kind": "flows", "flows": [{"src": 0, "dst": 1, "bytes": "4MB"}]}}
    made["faults"] = [{"at": "dim0.sw0->rank1", "packets": [977]}]
    return made, ["transport.rto=200us"]


def host_stack(rng):
    made = {"topology": switch(rng, size=8), "transport": {"kind": "tcp", "mss": "8948B"}, "cc": {"kind": "cubic"},
            "host": {"preset": "linux", "cores": rng.choice([1, 2, 4])}}
    made["topology"]["dims"][0]["link"]["rate"] = "100Gbps"
    made["workload"] = rng.choice([all_reduce(rng, sizes=("4MB", "8MB")), {"kind": "permutation", "shift": 3, "bytes": "4MB"}])
    return made, ["host=null"]


def nccl_forced(rng):
    made = {"topology": {"machine": "dgx_a100", "nodes": 2}, "workload": {
        "kind": "collective", "op": "all_reduce", "bytes": rng.choice(["1MB", "16MB", "64MB"]),
        "library": {"kind": "nccl", "env": rng.choice(["NCCL_PROTO=LL", "NCCL_PROTO=LL128", "NCCL_ALGO=Tree", "NCCL_PROTO=Simple"])}}}
    return made, ["workload.library.env=null"]


def nccl_victim(rng):
    nodes = rng.choice([2, 3])
    made = {"topology": {"machine": "dgx_h100", "nodes": nodes}, "cc": {"kind": rng.choice(["none", "dcqcn", "swift", "hpcc"])}}
    made["workload"] = [
        {"kind": "collective", "name": "train", "op": "all_reduce", "bytes": "16MB", "library": {"kind": "nccl"}},
        {"kind": "incast", "name": "ckpt", "receiver": 0, "bytes": "8MB", "senders": 6, "ranks": [0] + list(range(9, 15))}]
    return made, ["workload[1]=null"]


def tier(rng):
    rate = rng.choice([8, 16, 28])
    made = {"topology": switch(rng, size=8), "workload": {
        "kind": "program", "ranks": list(range(4)), "tiers": {"ssd": {"read_rate": f"{rate}Gbps", "write_rate": f"{rate}Gbps", "latency": "80us"}},
        "nodes": [{"rank": "all", "id": 0, "kind": "copy", "from": "ssd", "to": "hbm", "bytes": "8MB"},
                  {"rank": "all", "id": 1, "kind": "compute", "time": rng.choice(["200us", "1ms"]), "after": 0},
                  {"rank": "all", "id": 2, "kind": "collective", "op": "all_reduce", "bytes": "1MB", "group": "world", "after": 1}],
        "groups": {"world": list(range(4))}}}
    return made, [f"workload.tiers.ssd.read_rate={2 * rate}Gbps", f"workload.tiers.ssd.write_rate={2 * rate}Gbps"]


def prefetch(rng):
    made = {"topology": switch(rng, size=4), "workload": {
        "kind": "cnn", "model": "resnet50", "batch": rng.choice([32, 64]), "iterations": 3, "chunks": 2,
        "tiers": {"ssd": {"read_rate": rng.choice(["5Gbps", "20Gbps"]), "latency": "80us"}},
        "input": {"from": "ssd", "sample_bytes": "110KB", "prefetch": 0}}}
    return made, ["workload.input.prefetch=2"]


def schedule(rng):
    made = {"topology": {"dims": [{"kind": "switch", "size": 8, "link": {"rate": "800Gbps", "delay": "250ns"}},
                                  {"kind": "switch", "size": 4, "link": {"rate": rng.choice(["100Gbps", "200Gbps"]), "delay": "500ns"}}]},
            "workload": dict(all_reduce(rng), algorithm=["ring", "ring"], schedule="baseline")}
    return made, ["workload.schedule=bandwidth_aware"]


def handshake(rng):
    made = {"topology": switch(rng, size=8, delay=rng.choice(["2us", "10us"])), "transport": {"kind": "tcp"}, "workload": {
        "kind": "flows", "flows": [{"src": 0, "dst": 1, "bytes": rng.choice(["1001B", "4KB", "20KB"])}]}}
    return made, ["transport.connections=established"]


def bdp_cap(rng):
    made = {"topology": {"dims": [{"kind": "leaf_spine", "size": 16, "ranks_per_leaf": 8, "spines": 8,
                                   "link": {"rate": rng.choice(["100Gbps", "200Gbps"]), "delay": "500ns"}}]},
            "switch": {"routing": {"kind": "spray"}}, "transport": {"recovery": "selective_repeat", "reorder": 512},
            "workload": {"kind": "permutation", "shift": 8, "bytes": rng.choice(["2MB", "4MB"])}}
    return made, ["transport.bdp_cap=false"]


def flap(rng):
    made = {"topology": leaf_spine(rng), "workload": {"kind": "collective", "op": "all_to_all", "bytes": "16MB"},
            "transport": {"rto": "1ms"}}
    made["topology"]["dims"][0]["spines"] = 4
    made["faults"] = [{"at": "leaf0->spine1", "down": "50us", "up": rng.choice(["150us", "300us"])}]
    return made, ["faults=null"]


def storm_policy(rng):
    made, remedy = storm(rng)
    made["cc"] = {"kind": rng.choice(["dcqcn", "swift", "hpcc", "timely"])}
    made["faults"][0]["at"] = rng.choice(["rank1", "rank2", "rank3"]) if rng.random() < 0.5 else "leaf0->rank1"
    return made, remedy


def victim_policy(rng):
    made, remedy = two_jobs(rng)
    made["cc"] = {"kind": rng.choice(["dcqcn", "swift", "hpcc", "timely", "window"])}
    return made, remedy


def three_jobs(rng):
    made, remedy = two_jobs(rng)
    size = made["topology"]["dims"][0]["size"]
    a, b = rng.sample(range(size), 2)
    made["workload"].append({"kind": "flows", "name": "small", "flows": [{"src": a, "dst": b, "bytes": "64KB"}]})
    return made, remedy


def uec_slow_link(rng):
    made, remedy = slow_link(rng)
    made["transport"] = {"kind": "uec"}
    return made, remedy


def tcp_loss(rng):
    made = {"topology": switch(rng, size=8, delay="5us"), "transport": {"kind": "tcp"}, "workload": all_reduce(rng, sizes=("4MB",))}
    made["faults"] = [{"at": "dim0.sw0->rank1", "loss": rng.choice([0.001, 0.003])}]
    return made, ["faults=null"]


def llm_slow_link(rng):
    made = {"topology": leaf_spine(rng, full=True), "workload": {
        "kind": "llm", "layers": 2, "hidden": 2048, "heads": 16, "sequence": 1024, "vocabulary": 32000, "micro_batch": 1,
        "global_batch": 16, "data": 16, "gpu": "h100"}}
    made["topology"]["dims"][0] |= {"size": 16, "ranks_per_leaf": 8, "spines": 8}
    made["links"] = [{"at": f"rank{rng.randrange(8)}", "rate": "25Gbps"}]
    return made, ["links=null"]


def clean(rng):
    """Nothing planted: whatever is said first must be true."""
    kind = rng.choice(["none", "dcqcn", "swift", "hpcc", "timely", "window", "powertcp"])
    made = {"topology": rng.choice([leaf_spine, switch])(rng), "cc": {"kind": kind},
            "workload": rng.choice([all_reduce(rng), {"kind": "permutation", "shift": 3, "bytes": "4MB"},
                                    {"kind": "incast", "receiver": 0, "bytes": "512KB"},
                                    {"kind": "collective", "op": "all_to_all", "bytes": "8MB"}])}
    return made, None


CAUSES = {straggler: ("straggler",), slow_link: ("slow_link",), lost_lanes: ("slow_link",),
          loss: ("loss", "recovery", "timeouts"), link_down: ("link_down",), window: ("window",), two_jobs: ("job",),
          small_mtu: ("headers",), nic: ("nic",), storm: ("storm",), oversubscribed: ("oversubscription",),
          algorithm: ("algorithm",), latency: ("latency",), small_buffer: ("drops",), uneven_paths: ("paths",),
          target: ("target",), cuts: ("cuts",), timer: ("timeouts", "loss"), delayed_ack: ("ack_delay",),
          host_stack: ("host",), nccl_forced: ("library",), nccl_victim: ("job",), tier: ("memory",), schedule: ("schedule",),
          handshake: ("handshake", "latency"), bdp_cap: ("bdp_cap",), flap: ("link_down",), storm_policy: ("storm",),
          victim_policy: ("job",), three_jobs: ("job",), uec_slow_link: ("slow_link",), tcp_loss: ("loss", "recovery"),
          llm_slow_link: ("slow_link",), prefetch: ("input", "memory"), clean: ()}

# Causes that can be planted beside another one, in the same scenario.
BESIDE = {
    "mtu": (("headers",), lambda made, rng: made.setdefault("transport", {}).update(mtu="512B"), ["transport.mtu=4096B"]),
    "lanes": (("slow_link",), lambda made, rng: made.setdefault("faults", []).append(
        {"at": f"rank{rng.randrange(4, 8)}", "rate": {"share": 0.5}}), ["faults[{last}]=null"]),
    "nic": (("nic",), lambda made, rng: made.update(nic={"preset": "ideal", "message_rate": 4000000, "buffer": "4MB"}), ["nic=ideal"]),
}
ROCE = (slow_link, lost_lanes, window, storm, straggler, two_jobs, victim_policy, uneven_paths, target, cuts, algorithm)
NOISY = {"preset": "cluster"}


def draw(seed):
    """A name, a scenario, and for each planted cause the kinds of reasons that name it, and settings that remove it."""
    rng = random.Random(seed)
    causes = list(CAUSES)
    cause = causes[seed % len(causes)]
    made, remedy = cause(rng)
    planted = [(CAUSES[cause], remedy)] if remedy else []
    name = cause.__name__
    if cause in ROCE and rng.random() < 0.35:
        second, (kinds, plant, settings) = rng.choice(list(BESIDE.items()))
        plant(made, rng)
        last = len(made.get("faults", [])) - 1
        if remedy == ["faults=[]"]:
            planted = [(CAUSES[cause], ["faults[0]=null"])]
        planted.append((kinds, [one.format(last=last) for one in settings]))
        name += "+" + second
    if rng.random() < 0.3:
        made["noise"] = NOISY
        name += "~"
    return name, dict(made, name=f"drawn-{seed}", limits={"sim_time": "20s"}), planted
