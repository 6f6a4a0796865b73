# SPDX-License-Identifier: MIT
"""Clusters whose fault is hidden: a drawn network with a job, a drawn fault or none, and what people would have measured of it.

A measurement is a run by packets with another seed, noise of hosts and an error of 3 % on each value.
"""
import fnmatch
import json
import os

from checks import call, write

ERROR = 0.03
COSTS = 1.2  # times what healthy runs take, from which somebody would look for a cause
MEASURED = ("--quiet", "--progress", "never", "--set", "explain.try=0")


# ---- networks ----

def fabric(draw, size, link):
    kinds = {"switch": {"kind": "switch", "size": size, "link": link},
             "leaf_spine": {"kind": "leaf_spine", "size": size, "ranks_per_leaf": size // 4, "spines": max(2, size // 4), "link": link, "trunk": link},
             "rail": {"kind": "rail", "size": size, "gpus_per_server": 4, "servers_per_pod": max(1, size // 8), "spines": 4, "link": link},
             "fat_tree": {"kind": "fat_tree", "size": {8: 16, 32: 16, 64: 128, 256: 128}.get(size, size), "link": link},
             "dragonfly": {"kind": "dragonfly", "size": {8: 12, 16: 12}.get(size, 36), "ranks_per_router": 2, "routers_per_group": 2 if size <= 16 else 3,
                           "global_links": 1, "link": link}}
    return kinds[draw.choice((*kinds, "leaf_spine", "leaf_spine", "switch"))]


def workload(draw, size):
    training = {"kind": "training", "iterations": 2, "parallelism": "DATA", "layers": [
        {"name": name, "fwd": {"compute": "30us"}, "ig": {"compute": "30us"}, "wg": {"compute": "30us", "op": "all_reduce", "bytes": f"{size_mb}MB"}}
        for name, size_mb in (("first", 2), ("second", 4))]}
    return draw.choice(({"kind": "collective", "op": "all_reduce", "bytes": "8MB", "algorithm": "ring"},
                        {"kind": "collective", "op": "all_reduce", "bytes": "8MB", "algorithm": "ring", "channels": 4, "chunks": 4},
                        {"kind": "collective", "op": "all_to_all", "bytes": "4MB", "algorithm": "direct"},
                        {"kind": "permutation", "shift": size // 2 + 1, "bytes": "2MB"}, training))


def servers(draw, sizes):
    """Servers of NVIDIA on one fabric, with NCCL."""
    like, gpus, rate = draw.choice((("dgx_a100", 8, 200), ("dgx_h100", 8, 400)))
    nodes = max(2, draw.choice(sizes) // gpus)
    return {"name": "servers", "topology": {"machine": like, "nodes": nodes}, "cc": {"kind": draw.choice(("none", "dcqcn"))},
            "workload": {"kind": "collective", "op": draw.choice(("all_reduce", "all_reduce", "all_to_all")), "bytes": "16MB"}}, nodes * gpus, rate


def two_dimensions(draw, size):
    """Servers of four GPUs by NVLink, and a NIC of each GPU on leaves and spines."""
    rate, nodes = draw.choice((100, 200, 400)), size // 4
    dims = [{"kind": "switch", "size": 4, "link": {"rate": f"{8 * rate}Gbps", "delay": "100ns"}},
            {"kind": "leaf_spine", "size": nodes, "ranks_per_leaf": max(2, size // 4), "spines": max(2, size // 4),
             "link": {"rate": f"{rate}Gbps", "delay": "1us"}, "trunk": {"rate": f"{rate}Gbps", "delay": "1us"}}]
    return {"name": "cluster", "topology": {"dims": dims}, "cc": {"kind": draw.choice(("none", "dcqcn", "hpcc"))}, "transport": {"kind": "roce", "mtu": "4096B"},
            "workload": {"kind": "collective", "op": "all_reduce", "bytes": "8MB", "algorithm": ["ring", "ring"]}}, size, rate


def congested(draw, sizes):
    """A network whose queues fill, where settings of flow control, marks, buffers and hashes matter."""
    rate, size = draw.choice((100, 200, 400)), draw.choice(sizes)
    link = {"rate": f"{rate}Gbps", "delay": draw.choice(("500ns", "1us"))}
    dim = draw.choice(({"kind": "switch", "size": size, "link": link}, {"kind": "fat_tree", "size": 16, "link": link},
                       *2 * [{"kind": "leaf_spine", "size": size, "ranks_per_leaf": 4, "spines": 2, "link": link, "trunk": link}]))
    size = dim["size"]
    job = draw.choice((*2 * [{"kind": "incast", "receiver": draw.randrange(size), "bytes": "1MB"}], {"kind": "permutation", "shift": size // 2 + 1, "bytes": "4MB"},
                       {"kind": "collective", "op": "all_to_all", "bytes": "8MB", "algorithm": "direct"},
                       {"kind": "collective", "op": "all_reduce", "bytes": "8MB", "algorithm": "halving_doubling"}))
    made = {"name": "congested", "topology": {"dims": [dim]}, "workload": job, "switch": {"buffer": draw.choice(("1MB", "4MB", "16MB"))},
            "transport": {"kind": "roce", "mtu": "4096B"}, "cc": {"kind": draw.choice(("none", "dcqcn", "dcqcn", "hpcc", "timely", "swift"))}}
    if draw.random() < 0.25:
        made |= {"transport": {"kind": "tcp"}, "cc": {"kind": draw.choice(("cubic", "dctcp"))}}
    elif dim["kind"] != "switch" and draw.random() < 0.4:
        made["switch"]["routing"] = {"kind": draw.choice(("spray", "adaptive"))}
        made["transport"] = {"kind": "roce", "recovery": "selective_repeat", "reorder": 64}
    return made, size, rate


# What is drawn in them.
CONGESTED = ("healthy", "pfc_off", "wrong_class", "ecn_off", "ecn_units", "cc_off", "balancing_off", "polarization", "buffer")


def network(draw, sizes):
    """A healthy scenario, the number of its ranks and the rate of their links in Gb/s."""
    kind = draw.random()
    if kind < 0.15:
        return servers(draw, sizes)
    if kind < 0.3:
        return two_dimensions(draw, draw.choice(sizes))
    rate = draw.choice((100, 200, 400))
    dim = fabric(draw, draw.choice(sizes), {"rate": f"{rate}Gbps", "delay": draw.choice(("500ns", "1us"))})
    size = dim["size"]
    made = {"name": "cluster", "topology": {"dims": [dim]}, "cc": {"kind": draw.choice(("none", "dcqcn", "dcqcn", "swift"))},
            "workload": workload(draw, size)}
    draw_transport = draw.random()
    if draw_transport < 0.3:
        made |= {"transport": {"kind": "tcp"}, "cc": {"kind": draw.choice(("cubic", "dctcp"))}}
    elif draw_transport < 0.6:
        made["transport"] = {"kind": "roce", "mtu": "4096B"}
    if draw.random() < 0.2:
        made["nic"] = {"bus_rate": f"{2.4 * rate:.0f}Gbps"}
    if dim["kind"] in ("leaf_spine", "fat_tree") and "kind" not in made.get("transport", {}) and draw.random() < 0.5:
        made |= {"switch": {"routing": {"kind": draw.choice(("spray", "adaptive"))}},
                 "transport": {"kind": "roce", "recovery": "selective_repeat", "reorder": 64}}
    return made, size, rate


# ---- faults ----

class Cluster:
    """A healthy network, with what faults are drawn from."""

    def __init__(self, draw, made, size, rate, links):
        self.draw, self.made, self.size, self.rate = draw, made, size, rate
        self.used = [link["at"] for link in links if link["utilization"] > 0.05] or ["rank0"]
        self.trunks = [at for at in self.used if "rank" not in at]
        self.roce = made.get("transport", {}).get("kind", "roce") == "roce"
        self.job = made["workload"]
        self.rank = draw.randrange(size)
        self.machine = made["topology"].get("machine")
        self.one = len(made["topology"].get("dims", "..")) == 1  # dimension

    def fault(self, **entry):
        return {**self.made, "faults": [*self.made.get("faults", []), entry]}

    def switch(self, **settings):
        return {**self.made, "switch": {**self.made.get("switch", {}), **settings}}

    def with_job(self, **settings):
        return {**self.made, "workload": {**self.job, **settings}}


def tier(c):
    names = c.draw.choice(c.trunks).split("->")
    return "->".join("".join(letter for letter in name if not letter.isdigit()) + "*" for name in names)


def swapped(c):
    ranks, a, b = list(range(c.size)), c.rank, (c.rank + c.size // 2 + c.draw.randrange(2)) % c.size
    ranks[a], ranks[b] = b, a
    return c.with_job(ranks=ranks)


def share(c):
    return round(c.draw.uniform(0.15, 0.75), 3)


def other_job(c):
    return {**c.made, "workload": [c.job, {"kind": "flows", "name": "other", "flows": [
        {"src": (c.rank + 3) % c.size, "dst": c.rank, "bytes": f"{c.rate / 10 * c.healthy_ms:.3f}MB"}]}]}


# kind -> (whether a network may have it, the broken scenario)
FAULTS = {
    "slow_link": (lambda c: True, lambda c: c.fault(at=c.draw.choice(c.used), rate={"share": share(c)})),
    "lossy_link": (lambda c: True, lambda c: c.fault(at=c.draw.choice(c.used), one_way=True, loss=round(10 ** c.draw.uniform(-3.3, -1.8), 5))),
    "link_down": (lambda c: c.trunks, lambda c: c.fault(at=c.draw.choice(c.trunks), down="0ns", detect="0ns")),
    "oversubscription": (lambda c: c.trunks, lambda c: c.fault(at=tier(c), rate={"share": share(c)})),
    "pause_storm": (lambda c: c.roce, lambda c: c.fault(at=f"rank{c.rank}", one_way=True, storm="0ns",
                                                        storm_end=f"{c.draw.uniform(0.3, 3) * c.healthy_ms:.4f}ms")),
    "miswired": (lambda c: c.trunks and c.job["kind"] != "training" and c.one, swapped),
    "rank_order": (lambda c: c.trunks and c.job["kind"] == "collective" and c.one, lambda c: c.with_job(mapping="random")),
    "mtu": (lambda c: c.roce, lambda c: {**c.made, "transport": {
        "kind": "roce", **c.made.get("transport", {}), "mtu": c.draw.choice(("256B", "512B", "1024B"))}}),
    "pfc_off": (lambda c: c.roce, lambda c: c.switch(pfc={"enabled": False})),
    "wrong_class": (lambda c: c.roce, lambda c: c.with_job(**{"class": 0})),
    "ecn_off": (lambda c: c.made["cc"]["kind"] in ("dcqcn", "dctcp"), lambda c: c.switch(ecn={"enabled": False})),
    "ecn_units": (lambda c: c.made["cc"]["kind"] in ("dcqcn", "dctcp"), lambda c: c.switch(ecn={"kmin": "400B", "kmax": "1600B"})),
    "cc_off": (lambda c: c.made["cc"]["kind"] != "none" and c.roce, lambda c: {**c.made, "cc": {"kind": "none"}}),
    "balancing_off": (lambda c: "routing" in c.made.get("switch", {}), lambda c: c.switch(routing={"kind": "ecmp"})),
    "polarization": (lambda c: c.trunks and "routing" not in c.made.get("switch", {}), lambda c: c.switch(routing={"seeds": "same"})),
    "few_queue_pairs": (lambda c: c.job.get("channels", 1) > 1, lambda c: c.with_job(channels=1)),
    "buffer": (lambda c: not c.roce, lambda c: c.switch(buffer=f"{c.draw.uniform(100, 400):.0f}KB")),
    "latency": (lambda c: True, lambda c: c.switch(latency=f"{10 ** c.draw.uniform(0.3, 1.5):.2f}us")),
    "pcie": (lambda c: True, lambda c: {**c.made, "nic": {"bus_rate": f"{c.rate * share(c):.1f}Gbps"}}),
    "slow_nic": (lambda c: True, lambda c: {**c.made, "nic": {"at": f"rank{c.rank}", "bus_rate": f"{c.rate * share(c):.1f}Gbps"}}),
    "gdr_off": (lambda c: c.roce and "nic" in c.made, lambda c: {**c.made, "host": {"rdma": "staged"}}),
    "message_rate": (lambda c: True, lambda c: {**c.made, "nic": {"message_rate": int(10 ** c.draw.uniform(5.5, 6.7))}}),
    "host_cores": (lambda c: not c.roce, lambda c: {**c.made, "host": {"preset": "linux", "cores": c.draw.choice((1, 2))}}),
    "host_noise": (lambda c: True, lambda c: {**c.made, "noise": {"step": {"mean": f"{10 ** c.draw.uniform(0.5, 2):.2f}us"}}}),
    "straggler": (lambda c: c.job["kind"] == "training", lambda c: c.with_job(stragglers=[
        {"rank": c.rank, "factor": round(c.draw.uniform(1.5, 4), 2)}])),
    "hot_job": (lambda c: True, other_job),
    "fewer_nics": (lambda c: c.machine, lambda c: {**c.made, "topology": {**c.made["topology"], "machine": {"like": c.machine, "nics": c.draw.choice((1, 2, 4))}}}),
    "library": (lambda c: c.machine, lambda c: c.with_job(library={"kind": "nccl", "env": c.draw.choice((
        "NCCL_ALGO=Ring", "NCCL_ALGO=Tree", "NCCL_PROTO=LL", "NCCL_PROTO=Simple", "NCCL_MAX_NCHANNELS=1", "NCCL_MAX_NCHANNELS=2", "NCCL_NVLS_ENABLE=0"))})),
}


# Of two faults at once, one is of these, and the other one of those.
ONE = ("slow_link", "lossy_link", "link_down", "oversubscription")
OTHER = ("mtu", "pcie", "message_rate", "latency", "host_noise")
TWO = 0.06  # of the draws


def broken(c, kind):
    """The network with a fault, or with two."""
    for one in kind.split("+"):
        c.made = FAULTS[one][1](c)
    return c.made


# ---- measurements ----

def run(folder, name, scenario, *words):
    """The metrics of a run, or None."""
    out = os.path.join(folder, name)
    if call("run", write(folder, f"{name}.json", scenario), "--out", out, *MEASURED, *words).returncode != 0:
        return None
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


# Tests between two ranks, or of each rank with the next one: messages, their bytes, and what a run of them gives.
TESTS = {"latency": (1, 2, lambda m: m["flows"][0]["delivered_ns"]), "bandwidth": (1, 4000000, lambda m: 4e6 * 8e9 / m["jobs"][0]["time_ns"]),
         "message_rate": (256, 64, lambda m: 256e9 / m["jobs"][0]["time_ns"]),
         "idle_bytes": (1, 2, lambda m: sum(link["bytes"] for link in m["links"] if link["at"].startswith("rank"))),
         "lowest_bandwidth": (1, 4000000, lambda m: min(rates(m))), "highest_bandwidth": (1, 4000000, lambda m: max(rates(m)))}


def rates(metrics):
    return [flow["bytes"] * 8e9 / flow["fct_ns"] for flow in metrics["flows"] if flow["job"] == 0]


def jobs(scenario):
    """The job that is measured, and the others."""
    first, *others = scenario["workload"] if isinstance(scenario["workload"], list) else [scenario["workload"]]
    return first, others


def tested(folder, quantity, place):
    """What a test gives on the broken network."""
    count, size, made = TESTS[quantity]
    place, _, far = place.partition("+")
    far = int(far or 1)
    src, dst = (int(end) for end in place.replace("rank", "").replace(">", "").split("-"))
    pairs = [(src, dst, 0)] * count if ">" in place else [(rank, rank + far, 20000 * rank) for rank in range(src, dst - far + 1)]
    test = {"kind": "flows", "connections": "pair", "flows": [
        {"src": a, "dst": b, "bytes": f"{size}B", "start": f"{start}us"} for a, b, start in pairs]}
    with open(os.path.join(folder, "truth.json"), encoding="utf-8") as file:
        truth = json.load(file)
    _, others = jobs(truth)
    return made(run(folder, "test", {**truth, "workload": [test, *others]}))


def value(folder, metrics, quantity, place):
    """A quantity of a run, as `collwire diagnose` names it."""
    if quantity == "small_time":
        with open(os.path.join(folder, "truth.json"), encoding="utf-8") as file:
            truth = json.load(file)
        job, others = jobs(truth)
        return run(folder, "small", {**truth, "workload": [{**job, "bytes": "8192B"}, *others]})["jobs"][0]["time_ns"]
    if quantity in TESTS:
        return tested(folder, quantity, place)
    if quantity == "utilization":
        return max((link["utilization"] for link in metrics["links"] if fnmatch.fnmatchcase(link["at"], place)), default=0)
    if quantity == "bytes":
        return sum(link["bytes"] for link in metrics["links"] if fnmatch.fnmatchcase(link["at"], place))
    return {"time": metrics["jobs"][0]["time_ns"], "busbw": metrics["jobs"][0].get("busbw_bps"), "max_queue": metrics["queues"]["max_bytes"],
            "drops": metrics["drops"]["packets"], "retransmitted": metrics["recovery"]["retransmitted_packets"],
            "timeouts": metrics["recovery"]["timeouts"], "naks": metrics["recovery"]["naks"], "pauses": metrics["pfc"]["pause_frames"], "marks": metrics["ecn"]["marked_packets"],
            "cnps": metrics["cnps"]}[quantity]


def noisy(draw, true):
    return true * draw.gauss(1, ERROR) if true else 0


def values(draw, folder, metrics, rows):
    """CSV of quantities of a run and of tests between ranks."""
    lines = ["quantity,place,value,unit,spread"]
    for quantity, place in rows:
        true = value(folder, metrics, quantity, place)
        if true is not None:
            lines.append(f"{quantity},{place},{noisy(draw, true):.6g},,5%")
    return "\n".join(lines) + "\n"


SIZES = (1 << 20, 1 << 21, 1 << 22)


def time_of_size(folder, scenario, size):
    """Of the job with another size, or None: it did not end."""
    job, others = jobs(scenario)
    done = run(folder, "sized", {**scenario, "workload": [{**job, "bytes": f"{size}B"}, *others]})
    return done and done["jobs"][0]["time_ns"]


def table(draw, folder, truth, ranks, without):
    """What nccl-tests prints of a collective at three sizes, or None: a run did not end, or the fault costs less than COSTS at each of them, against
    the network without it (None = there is no fault): a slow tree of 16 MB may not be used at 4 MB."""
    job, _ = jobs(truth)
    factor = {"all_reduce": lambda n: 2 * (n - 1) / n, "all_to_all": lambda n: (n - 1) / n}[job["op"]](ranks)
    lines = ["#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong",
             "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)"]
    times = [time_of_size(folder, truth, size) for size in SIZES]
    if None in times or (without and not any(true >= COSTS * (time_of_size(folder, without, size) or 0) for size, true in zip(SIZES, times))):
        return None
    for size, true in zip(SIZES, times):
        us = noisy(draw, true) / 1e3
        cells = f"{us:8.2f} {size / us / 1e3:7.2f} {size / us / 1e3 * factor:7.2f}"
        lines.append(f"{size:12d} {size // 4:13d}     float     sum      -1 {cells}      0 {cells}      0")
    return "\n".join(lines) + "\n"


def counters(draw, metrics):
    """An export of counters, as NICs and switches name them."""
    names = {"np_cnp_sent": "cnps", "local_ack_timeout_err": "timeouts", "out_discards": "drops", "ecn_marked_packets": "marks",
             "tx_prio3_pause": "pauses", "packet_seq_err": "naks"}
    return "place,counter,value\n" + "".join(f",{name},{noisy(draw, value('', metrics, quantity, '')):.0f}\n" for name, quantity in names.items())


def measured(draw, folder, metrics, links, size, own, without):
    """Files of what people have of a run, names and texts; None: a run did not end, or its table does not show the fault."""
    totals = [(name, "") for name in ("time", "max_queue", "drops", "retransmitted", "pauses", "marks", "cnps", "busbw")]
    used = [("utilization", at) for at in draw.sample(links, min(len(links), 6))]
    pair = draw.sample(range(size), 2)
    tests = [("lowest_bandwidth", f"rank0-{size - 1}"), ("highest_bandwidth", f"rank0-{size - 1}"),
             *((name, f"rank{pair[0]}->rank{pair[1]}") for name in ("latency", "bandwidth", "message_rate"))]
    with open(os.path.join(folder, "truth.json"), encoding="utf-8") as file:
        truth = json.load(file)
    what = "values" if own["kind"] != "collective" else draw.choice(("values", "table", "table"))
    if what == "values":
        return {"measured.csv": values(draw, folder, metrics, totals + used)}
    found = {"table.txt": table(draw, folder, truth, size, without), "counters.csv": counters(draw, metrics)}
    if draw.random() < 0.7:
        found["tests.csv"] = values(draw, folder, metrics, tests)
    return None if found["table.txt"] is None else found


def cluster(draw, folder, sizes, kinds=(), networks=network):
    """(kind of fault or "healthy", file of the network, files of what was measured, metrics of the truth), or None: nobody would look for it.
    Faults are of these kinds, if any are given."""
    made, size, rate = networks(draw, sizes)
    healthy = [run(folder, "healthy", made, "--set", f"seed={seed}") for seed in range(1, 4)]
    if None in healthy:
        return None
    c = Cluster(draw, made, size, rate, healthy[0]["links"])
    c.healthy_ms = max(one["jobs"][0]["time_ns"] for one in healthy) / 1e6
    may_be = [name for name, (may, _) in FAULTS.items() if may(c) and (not kinds or name in kinds)]
    kind = "healthy" if not may_be or (draw.random() < 0.15 and (not kinds or "healthy" in kinds)) else draw.choice(may_be)
    ones, others = ([name for name in of if name in may_be] for of in (ONE, OTHER))
    if ones and others and not kinds and kind != "healthy" and draw.random() < TWO:
        kind = f"{draw.choice(ones)}+{draw.choice(others)}"
    network_now = made if kind == "healthy" else broken(c, kind)
    noise, seed = {"noise": {"step": {"mean": "200ns"}}}, draw.randrange(4, 1000)
    truth = run(folder, "truth", {**noise, **network_now, "seed": seed})
    # Slower than healthy runs, and than the healthy network with the same seed: else it is the hash of paths and not the fault.
    without = run(folder, "without", {**noise, **made, "seed": seed}) if truth and kind != "healthy" else truth
    if truth is None or without is None or (kind != "healthy" and truth["jobs"][0]["time_ns"] < COSTS * max(
            c.healthy_ms * 1e6, without["jobs"][0]["time_ns"])):
        return None
    texts = measured(draw, folder, truth, [link["at"] for link in healthy[0]["links"]], size, made["workload"],
                     None if kind == "healthy" else {**noise, **made, "seed": seed})
    if texts is None or (kinds and kind not in kinds):
        return None
    return kind, write(folder, "cluster.json", made), [write(folder, name, text) for name, text in texts.items()], truth
