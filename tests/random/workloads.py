# SPDX-License-Identifier: MIT
"""Random workloads: every kind of job, several jobs at once, subsets and mappings of ranks."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload", "chakra"))
# pylint: disable=wrong-import-position
import trace_file

OPS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "gather",
       "scatter", "send_recv", "barrier")
ALGORITHMS = ("ring", "direct", "halving_doubling", "tree", "double_binary_tree", "bruck",
              "shifted_halving_doubling", "in_network", "sparse_doubling", "sparse_split")
SIZES = (0, 1, 2, 7, 63, 64, 65, 100, 1000, 1024, 4095, 4096, 4097, 9001, 50000, 100000, 65536, 300000)


def size(draw, least=1):
    """Payload of up to a few hundred KB: a run takes well under a second."""
    number = max(least, draw.rng.choice(SIZES) if draw.chance(0.7) else draw.rng.randint(1, 400000))
    if number % 1000 == 0 and number and draw.chance(0.5):
        return f"{number // 1000}KB"
    return number if draw.chance(0.5) else f"{number}B"


def moment(draw):
    return draw.rng.choice(("0ns", "0ns", "1ps", "999ps", "1us", "1234567ps", "20us", "1ms"))


def two_ranks(draw, n):
    src = draw.rng.randrange(n)
    dst = draw.rng.randrange(n)
    return src, dst if dst != src or draw.chance(0.02) else (src + 1) % n


def flows(draw, n, folder, index):
    count = draw.rng.choice((1, 1, 2, 3, 8, 20, 60))
    many = [(*two_ranks(draw, n), size(draw), moment(draw)) for _ in range(count)]
    if draw.chance(0.3):
        name = f"flows{index}.csv"
        if count in (2, 20):  # a connection matrix of htsim
            starts = [draw.rng.randrange(100000) for _ in many]
            lines = [f"{s}->{d} id {i + 1} start {t} size 1000" for i, ((s, d, _, _), t) in enumerate(zip(many, starts))]
            (folder / name).write_text("\n".join([f"Nodes {n}", f"Connections {count}", *lines]) + "\n", encoding="utf-8")
            return {"kind": "flows", "file": name, "start_unit": ("auto", "us", "ns", "ps")[(n + index) % 4]}
        with open(folder / name, "w", encoding="utf-8") as f:
            if draw.chance(0.5):
                f.write("src,dst,bytes,start_ns\n")
            f.writelines(f"{s},{d},{b},{draw.rng.randrange(100000)}\n" for s, d, b, _ in many)
        return {"kind": "flows", "file": name}
    share = {"connections": draw.rng.choice(("own", "pair"))} if draw.chance(0.3) else {}
    return {"kind": "flows", **share, "flows": [
        {"src": s, "dst": d, "bytes": b, **({"start": t} if draw.chance(0.5) else {})}
        for s, d, b, t in many]}


def incast(draw, n, *_):
    receiver = draw.rng.randrange(n)
    others = [r for r in range(n) if r != receiver] or [0]
    listed = draw.rng.sample(others, draw.rng.randint(1, len(others)))
    return {"kind": "incast", "receiver": receiver, "bytes": size(draw),
            "senders": listed if draw.chance(0.4) else draw.rng.randint(1, max(1, n - 1))}


def permutation(draw, n, *_):
    return {"kind": "permutation", "bytes": size(draw),
            **({"shift": draw.rng.randrange(max(2, n))} if draw.chance(0.6) else {})}


def poisson(draw, n, folder, index):
    del n
    name = f"sizes{index}.cdf"
    points, percent, last = [], 0.0, 0
    for _ in range(draw.rng.randint(1, 6)):
        points.append((last, percent))
        last += draw.rng.choice((0, 1, 100, 5000, 40000))
        percent = min(100.0, percent + draw.rng.choice((0.0, 0.5, 20.0, 60.0)))
    points.append((last + draw.rng.choice((1, 1000, 100000)), 100.0))
    with open(folder / name, "w", encoding="utf-8") as f:
        f.write("# bytes percent\n")
        f.writelines(f"{b} {p:g}\n" for b, p in points)
    return {"kind": "poisson", "cdf": name, "load": draw.rng.choice((0.001, 0.1, 0.5, 0.9, 1)),
            "duration": draw.rng.choice(("1ns", "1us", "20us", "100us", "300us"))}


def collective(draw, n, folder, index, dims=None):
    del folder, index
    part = draw.kind(draw.defs["job"]["oneOf"], "collective")
    op = draw.rng.choice(OPS)
    job = {"kind": "collective", "op": op}
    if op != "barrier" or draw.chance(0.05):
        job["bytes"] = size(draw, 0)
    if dims and draw.chance(0.5):
        job["algorithm"] = [draw.rng.choice(ALGORITHMS[:3] if draw.chance(0.6) else ALGORITHMS)
                            for _ in dims]
    elif draw.chance(0.8):
        job["algorithm"] = draw.rng.choice(ALGORITHMS)
    whole = ("order", "schedule", "ring_directions", "mapping")
    for key in whole:
        if draw.chance(0.3):
            job[key] = draw.value(part["properties"][key])
    small = {"chunks": (1, 2, 3, 5, 16, 40), "active_chunks": ("auto", 1, 2, 7), "repeat": (1, 2, 3),
             "in_flight": ("auto", 1, 2, 5), "pieces": ("auto", 1, 2, 3, 17), "channels": (1, 2, 3),
             "ranks_per_server": ("auto", 1, 2, 4), "reduction_segment": ("100B", "4KB", "16KiB", "1MB"),
             "reduction_trees": ("auto", 1, 2, 5), "density": (0.0001, 0.02, 0.5, 1), "support_seed": (0, 1, 77),
             "value_bytes": (2, 4, 8), "wire_precision": (1, 0.5, 0.3), "conversion_rate": ("auto", "10Gbps", "10Tbps"), "stride": ("auto", 1, 2, 3, 5),
             "endpoint_delay": ("0ns", "1ps", "10ns", "3us"),
             "reduce_rate": ("auto", "1Gbps", "100Gbps", "1Tbps"),
             "root": (0, 0, 1, n - 1)}
    for key, values in small.items():
        if draw.chance(0.2):
            job[key] = draw.rng.choice(values)
    return job


def step(draw, exchange):
    made = {"compute": draw.rng.choice(("0ns", "1ns", "100ns", "5us", "20us"))}
    if draw.chance(exchange):
        made["op"] = draw.rng.choice(("none", "all_reduce", "reduce_scatter", "all_gather", "all_to_all"))
        made["bytes"] = size(draw, 0)
    return made


def layers(draw, n, keyword):
    made = []
    for i in range(draw.rng.randint(1, 5)):
        layer = {"name": f"layer{i}"}
        for part in ("fwd", "ig", "wg"):
            if draw.chance(0.8):
                layer[part] = step(draw, 0.5)
        if draw.chance(0.1):
            layer["fwd"] = {"op": "all_to_all", "rank_bytes_of": draw.rng.choice(("sender", "receiver")),
                            "rank_bytes": [draw.rng.choice(SIZES) for _ in range(n)]}
        if draw.chance(0.3):
            layer["update_delay"] = draw.rng.choice(("0ns", "1ns", "10us"))
        if keyword == "HYBRID_CUSTOMIZED":
            layer["parallelism"] = draw.rng.choice(("DATA", "MODEL", "HYBRID_DATA_MODEL",
                                                    "HYBRID_MODEL_DATA"))
        made.append(layer)
    return made


def leads(group, dims):
    """True if a group of ranks is the product of leading dimensions, times a divisor of the next one."""
    for size in dims:
        taken = min(size, group)
        if group % taken or size % taken:
            return False
        group //= taken
    return group == 1


def experts(draw, job, dims, n):
    """Groups of experts: of the ranks behind a model-parallel group a number shares them."""
    if draw.chance(0.5):
        return
    model = job["model_parallel"]
    job["expert_parallel"] = draw.rng.choice([k for k in range(1, n // model + 1) if n // model % k == 0 and leads(model * k, dims)])
    for layer in job["layers"]:
        for part in ("fwd", "ig", "wg"):
            if "rank_bytes" not in layer.get(part, {"rank_bytes": []}) and draw.chance(0.3):
                layer[part]["group"] = draw.rng.choice(("ep", "dp_ep", "auto"))


def system(draw, dims):
    """Keys of an ASTRA-sim system file."""
    def implementation():
        if draw.chance(0.3):
            return draw.rng.choice(("oneRing", "oneDirect", "oneDirect3", "oneHalvingDoubling",
                                    "oneDoubleBinaryTree"))
        words = ("ring", "ring", "direct", "direct2", "halvingDoubling", "doubleBinaryTree")
        return "_".join(draw.rng.choice(words) for _ in dims)

    keys = {"scheduling-policy": lambda: draw.rng.choice(("FIFO", "LIFO")),
            "endpoint-delay": lambda: draw.rng.choice((0, 1, 10, 1000)),
            "active-chunks-per-dimension": lambda: draw.rng.choice((1, 2, 8)),
            "preferred-dataset-splits": lambda: draw.rng.choice((1, 2, 4, 16, 33)),
            "boost-mode": lambda: draw.rng.choice((0, 1)),
            "all-reduce-implementation": implementation,
            "reduce-scatter-implementation": implementation,
            "all-gather-implementation": implementation,
            "all-to-all-implementation": implementation,
            "collective-optimization": lambda: draw.rng.choice(("baseline", "localBWAware")),
            "intra-dimension-scheduling": lambda: draw.rng.choice(("FIFO", "smallestFirst", "RG", "lessRemainingPhaseFirst")),
            "inter-dimension-scheduling": lambda: draw.rng.choice(("ascending", "roundRobin",
                                                                   "offlineGreedy",
                                                                   "offlineGreedyFlex")),
            "direct-collective-window": lambda: draw.rng.choice((0, 1, 3))}
    return {key: value() for key, value in keys.items() if draw.chance(0.4)}


def dlrm(draw):
    rng = draw.rng
    made = {"batch": rng.choice((1, 2, 16, 64)), "n_tables": rng.choice((1, 2, 7, 26)),
            "rows": rng.choice((1, 1000)), "dim": rng.choice((1, 4, 16)),
            "sharding": rng.choice(("table", "row", "column", "data")),
            "pooling": rng.choice((1, 3, 20)), "column_shards": rng.choice((1, 2, 5)),
            "bottom": [rng.choice((1, 8, 32)), 16], "top": [rng.choice((1, 8)), 1]}
    if draw.chance(0.3):
        made["tables"] = [{"rows": rng.choice((1, 50)), "dim": made["dim"], "pooling": rng.randint(1, 9)}
                          for _ in range(rng.randint(1, 5))]
    if draw.chance(0.3):
        made["compute"] = rng.choice(("roofline", "systolic"))
    return {key: value for key, value in made.items()
            if key in ("batch", "bottom", "top", "dim") or draw.chance(0.8)}


def workload_text(draw, n, name, folder):
    """A workload file of ASTRA-sim: DATA or another keyword without arguments."""
    rng = draw.rng
    words = ("NONE", "ALLREDUCE", "ALLTOALL", "ALLGATHER", "REDUCESCATTER")
    count = rng.randint(1, 4)
    lines = [rng.choice(("DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA", "MICRO",
                         "DISTRIBUTED_INFERENCE", f"HYBRID_TRANSFORMER model_parallel_NPU_group: {n}",
                         "HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 0")), str(count)]
    for i in range(count):
        parts = " ".join(f"{rng.randrange(20000)} {rng.choice(words)} {rng.choice(SIZES)}"
                         for _ in range(3))
        lines.append(f"l{i} -1 {parts} {rng.randrange(100)}")
    with open(folder / name, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def training(draw, n, folder, index, dims=None):
    part = draw.kind(draw.defs["job"]["oneOf"], "training")["properties"]
    dims = dims or [n]
    job = {"kind": "training"}
    chance = draw.rng.random()
    if chance < 0.2:
        job["dlrm"] = dlrm(draw)
    elif chance < 0.35:
        job["file"] = f"workload{index}.txt"
        workload_text(draw, n, job["file"], folder)
    else:
        keyword = job["parallelism"] = draw.value(part["parallelism"])
        job["layers"] = layers(draw, n, keyword)
        last = len(job["layers"]) - 1
        if "DLRM" in keyword:
            job["last_bottom_layer"] = draw.rng.randint(0, max(0, last - 1))
        if "TRANSFORMER" in keyword:
            job["model_parallel"] = draw.rng.choice((1, dims[0], n))
            experts(draw, job, dims, n)
        if "FWD_IN_BCKWD" in keyword:
            job["checkpoints"] = [0]
            job["checkpoint_initiates"] = [draw.rng.randint(0, last)]
    if draw.chance(0.6):
        job["system"] = system(draw, dims)
        if draw.chance(0.2):
            with open(folder / f"system{index}.txt", "w", encoding="utf-8") as f:
                f.writelines(f"{key}: {value}\n" for key, value in job["system"].items())
            job["system"] = f"system{index}.txt"
    small = {"iterations": (1, 2, 3), "compute_scale": (0, 0.5, 1, 3), "comm_scale": (0, 0.001, 1, 2),
             "compute_jitter": (0, 0.1, 1), "mapping": ("local", "strided", "random"),
             "stride": ("auto", 1, 2, 3), "stragglers": ([{"rank": n - 1, "factor": 2}], [])}
    for key, values in small.items():
        if draw.chance(0.2):
            job[key] = draw.rng.choice(values)
    return job


def operations(draw, n):
    """Lists of (kind, value, peer, after) for each rank: every message is received, and an operation is
    after some that were drawn before it."""
    ranks = [[] for _ in range(n)]

    def add(rank, kind, value, peer=None):
        before = [i for i in range(len(ranks[rank])) if draw.chance(0.2)]
        ranks[rank].append((kind, value, peer, before[-4:]))

    for _ in range(draw.rng.choice((1, 5, 20, 60))):
        src, dst = two_ranks(draw, n)
        if src == dst or draw.chance(0.4):
            add(src, "calc", draw.rng.choice((0, 1, 3, 50)))
        else:
            payload = draw.rng.choice(SIZES)
            add(src, "send", payload, dst)
            add(dst, "recv", payload, src)
    return ranks


def goal(draw, n, folder, index):
    lines = [f"num_ranks {n}"]
    for rank, listed in enumerate(operations(draw, n)):
        lines.append(f"rank {rank} {{")
        for i, (kind, value, peer, after) in enumerate(listed):
            way = "" if kind == "calc" else f"b {'to' if kind == 'send' else 'from'} {peer} tag {value}"
            cpu = f" cpu {draw.rng.randrange(3)}" if draw.chance(0.3) else ""
            lines.append(f"l{i}: {kind} {value * 1000 if kind == 'calc' else value}{way}{cpu}")
            lines += [f"l{i} {draw.rng.choice(('requires', 'requires', 'irequires'))} l{j}" for j in after]
        lines.append("}")
    with open(folder / f"program{index}.goal", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return {"kind": "goal", "file": f"program{index}.goal"}


def chakra(draw, n, folder, index):
    together = [draw.rng.choice((("ALL_REDUCE", 1000), ("ALL_GATHER", 77), ("ALL_TO_ALL", 4097)))
                for _ in range(draw.rng.randrange(4))]
    old = draw.chance(0.3)
    for rank, listed in enumerate(operations(draw, n)):
        nodes = []
        for i, (kind, value, peer, after) in enumerate(listed):
            if kind == "calc":
                nodes.append(trace_file.node(i, "COMP", after, value, is_cpu_op=draw.chance(0.2)))
            else:
                end = {"comm_dst" if kind == "send" else "comm_src": peer}
                nodes.append(trace_file.node(i, kind.upper(), after, comm_size=value, comm_tag=0, **end))
        nodes += [trace_file.node(1000 + i, "COLL", [999 + i] if i else [], comm=op, comm_size=payload)
                  for i, (op, payload) in enumerate(together)]
        nodes = nodes or [trace_file.node(5, "COMP")]
        with open(folder / f"traces{index}.{rank}.et", "wb") as f:
            f.write(trace_file.trace(nodes, old))
    rules = {"system": {"preferred-dataset-splits": draw.rng.choice((1, 3)),
                        "num-queues-per-dim": draw.rng.choice((1, 2))}} if draw.chance(0.4) else {}
    return {"kind": "chakra", "prefix": f"traces{index}", **rules}


def parameter_server(draw, n, folder, index):
    del folder, index
    made = {"kind": "parameter_server", "bytes": size(draw), "servers": draw.rng.choice((1, 1, 2, 3, n)),
            "mode": draw.rng.choice(("sync", "async", "stale")), "iterations": draw.rng.choice((1, 2, 7))}
    small = {"groups": ("auto", 1, 2, 3), "staleness": (0, 1, 5), "compute": ("0ns", "1ns", "3us"),
             "jitter": (0, 0.5, 1), "spread": (0, 2), "update_rate": ("auto", "1Gbps", "1Tbps"),
             "algorithm": ALGORITHMS, "chunks": (1, 2, 5), "mapping": ("local", "random")}
    for key, values in small.items():
        if draw.chance(0.3) and (key != "staleness" or made["mode"] == "stale" or draw.chance(0.1)):
            made[key] = draw.rng.choice(values)
    return made


def program_node(draw, n, counts, groups):
    rng = draw.rng
    rank = rng.randrange(n)
    kind = rng.choice(("compute", "wait", "copy", "send", "collective", "join"))
    nodes = [{"rank": rank, "kind": kind}]
    if kind in ("compute", "wait"):
        nodes[0]["time"] = rng.choice(("0ns", "1ps", "100ns", "5us"))
    elif kind == "copy":
        nodes[0]["bytes"] = size(draw, 0)
    elif kind == "send":
        other = (rank + rng.randint(1, max(1, n - 1))) % n
        tag = sum(counts)
        nodes[0].update({"to": other, "tag": tag, "bytes": size(draw)})
        nodes.append({"rank": other, "kind": "recv", "from": rank, "tag": tag})
    elif kind == "collective":
        group = rng.choice([*groups, ""])
        nodes[0].update({"op": rng.choice(OPS[:6] + ("barrier",)), "bytes": size(draw), "group": group})
        members = groups.get(group, list(range(n)))
        nodes = [{**nodes[0], "rank": member} for member in members]
    for node in nodes:
        known = counts[node["rank"]]
        node["after"] = sorted(rng.sample(range(known), min(known, rng.randint(0, 2))))
        counts[node["rank"]] += 1
    return nodes


def program(draw, n, *_):
    """Nodes in an order in which they can all run; now and then a dependency that cannot be met."""
    rng = draw.rng
    groups = {f"g{i}": rng.sample(range(n), rng.randint(1, n)) for i in range(rng.randint(0, 3))}
    counts, nodes = [0] * n, []
    for _ in range(rng.randint(1, 25)):
        nodes += program_node(draw, n, counts, groups)
    if draw.chance(0.05):
        rng.choice(nodes)["after"] = [rng.randrange(40)]
    job = {"kind": "program", "groups": groups, "nodes": nodes}
    for key, values in {"order": ("program", "ready"), "comm_streams": (1, 2, 5), "chunks": (1, 3),
                        "contention": (0, 0.1, 0.9), "window": ("auto", 1, 2, 7),
                        "endpoint_delay": ("0ns", "10ns"), "algorithm": ALGORITHMS}.items():
        if draw.chance(0.3):
            job[key] = rng.choice(values)
    return job


def llm(draw, n, *_):
    """A small transformer; most of its degrees multiply to the ranks."""
    rng = draw.rng
    job = {"kind": "llm", "layers": rng.choice((2, 4, 8)), "hidden": 16, "heads": 8, "sequence": 32,
           "vocabulary": rng.choice((1, 100)), "global_batch": 2 * n}
    left = n
    for degree in rng.sample(("tensor", "pipeline", "data", "context", "expert"), 5):
        choices = [d for d in (1, 2, 3, 4, 8) if left % d == 0]
        job[degree] = rng.choice(choices) if degree != "data" else 1
        left //= job[degree]
    job["data"] = left
    if job["expert"] > 1 or draw.chance(0.2):
        job.update({"experts": 2 * job["expert"], "top_k": rng.choice((1, 2)),
                    "skew": rng.choice((0, 1, 2.5)), "capacity": rng.choice((0, 1, 1.5))})
    for key, values in {"schedule": ("1f1b", "gpipe", "interleaved"), "zero": (0, 1, 2, 3),
                        "virtual_stages": (1, 2), "recompute": ("none", "selective", "full"),
                        "sequence_parallel": (True, False), "overlap": (True, False),
                        "gpu": ("v100", "h100"), "iterations": (1, 2), "gated": (True, False, "auto"),
                        "contention": (0, 0.3), "algorithm": ("ring", "direct"),
                        "optimizer": ("adam", "adam_8bit", "momentum", "sgd"), "dropout": (True, False),
                        "parameter_bytes": (2, 4), "state_bytes": ("auto", 0, 16),
                        "gpus": ([{"from": n - 1, "to": n - 1, "gpu": "a100", "factor": 1.5}], []),
                        "placement": (["pipeline", "data", "expert", "context", "tensor"],)}.items():
        if draw.chance(0.3):
            job[key] = rng.choice(values)
    return job


def job(draw, ranks, dims, folder, index, simple):
    """One job on all ranks or on some of them, sometimes with dimensions of its own."""
    subset = None
    if ranks > 1 and draw.chance(0.2):
        subset = draw.rng.sample(range(ranks), draw.rng.randint(1, ranks))
    n = len(subset) if subset else ranks
    kinds = (flows, incast, permutation, poisson, collective, collective, training, parameter_server,
             program, llm, goal, chakra)
    make = draw.rng.choice((collective, training, flows) if simple else kinds)
    if make in (collective, training):
        grid = [n] if subset else dims
        if draw.chance(0.2):
            inner = draw.rng.choice([d for d in range(1, n + 1) if n % d == 0])
            grid = [inner, n // inner]
        made = make(draw, n, folder, index, grid)
        if grid != dims:
            made["dims"] = grid
    else:
        # raw flows refer to indices in the job or to ranks of the network: both are tried
        made = make(draw, n, folder, index)
    if subset:
        made["ranks"] = subset
    if draw.chance(0.3):
        made["start"] = moment(draw)
    if draw.chance(0.25):
        made["class"] = draw.rng.choice((0, 1, 2, 3, 3, 4, 5))
    if draw.chance(0.1):
        made.update(name=f"job {index}", shrunk="layers 4 -> 2")
    return made


def workload(draw, ranks, dims, folder, simple):
    """One job, or several at once."""
    count = draw.rng.choice((1, 1, 1, 1, 2, 3))
    made = [job(draw, ranks, dims, folder, i, simple) for i in range(count)]
    return made[0] if count == 1 and draw.chance(0.8) else made
