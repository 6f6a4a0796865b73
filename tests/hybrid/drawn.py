# SPDX-License-Identifier: MIT
"""Drawn jobs for the comparison of the hybrid network with packets: fabrics up to 256 ranks, work as it is on clusters, all
policies and transports, with the noise of hosts in half of them."""
import random

POLICIES = {"roce": ("none", "dcqcn", "dcqcn", "timely", "swift", "hpcc", "window", "powertcp"),
            "tcp": ("cubic", "dctcp", "newreno"), "uec": ("nscc", "rccc")}


def fabric(rng, most):
    """Dimensions and the number of ranks."""
    rate = rng.choice((100, 200, 400))
    link = {"rate": f"{rate}Gbps", "delay": rng.choice(("500ns", "1us"))}
    kind = rng.choice(("switch", "leaf_spine", "leaf_spine", "fat_tree", "rail"))
    if kind == "switch":
        size = rng.choice((8, 16, 32))
        return [{"kind": "switch", "size": size, "link": link}], size
    if kind == "fat_tree":
        size = rng.choice((16, 128)) if most >= 128 else 16
        return [{"kind": "fat_tree", "size": size, "link": link}], size
    if kind == "rail":
        nodes = rng.choice((2, 4, 8))
        return [{"kind": "switch", "size": 8, "link": {"rate": f"{4 * rate}Gbps", "delay": "250ns"}},
                {"kind": "leaf_spine", "size": nodes, "ranks_per_leaf": 8, "spines": rng.choice((4, 8)),
                 "link": link, "trunk": {"rate": f"{rate}Gbps", "delay": "1us"}}], 8 * nodes
    size = rng.choice([n for n in (16, 32, 64, 128, 256) if n <= most])
    spines = rng.choice((2, 4, 8))
    return [{"kind": "leaf_spine", "size": size, "ranks_per_leaf": 8, "spines": spines, "link": link,
             "trunk": {"rate": f"{rng.choice((rate, 2 * rate))}Gbps", "delay": "1us"}}], size


def collective(rng, size, dims):
    op = rng.choice(("all_reduce", "all_reduce", "all_gather", "reduce_scatter", "all_to_all"))
    made = {"kind": "collective", "op": op, "bytes": rng.choice(("256KB", "2MB", "8MB")), "chunks": rng.choice((1, 2, 4))}
    if op != "all_to_all" and dims == 1:
        made["algorithm"] = rng.choice(("ring", "halving_doubling", "ring"))
    if size > 64:
        made["bytes"] = rng.choice(("256KB", "1MB"))
    return made


def llm(rng, size):
    tensor = rng.choice((1, 2, 4, 8))
    pipeline = rng.choice((1, 2)) if size // tensor > 1 else 1
    data = size // tensor // pipeline
    return {"kind": "llm", "layers": 2 * pipeline, "hidden": 1024, "heads": 16, "sequence": 512, "vocabulary": 32000, "micro_batch": 1,
            "global_batch": 2 * data, "tensor": tensor, "pipeline": pipeline, "data": data, "gpu": "h100", "iterations": 1}


def cnn(rng):
    return {"kind": "cnn", "model": "resnet50", "batch": 32, "iterations": 2, "chunks": rng.choice((1, 4))}


def dlrm(rng):
    return {"kind": "training", "iterations": 1,
            "dlrm": {"batch": 512, "sharding": "table", "rows": 100000, "dim": 64, "pooling": 20, "element": "2B",
                     "bottom": [512, 256, 64], "top": [1024, 512, 256, 1]},
            "system": {"scheduling-policy": "LIFO", "active-chunks-per-dimension": 1,
                       "preferred-dataset-splits": rng.choice((1, 4)), "collective-optimization": "localBWAware",
                       "all-reduce-implementation": "ring", "all-to-all-implementation": "oneDirect"}}


def work(rng, size, dims):
    """A name of the kind of work, and the workload."""
    kind = rng.choice(("collective", "collective", "collective", "permutation", "incast", "llm", "llm", "cnn", "jobs", "jobs",
                       "parameter_server", "training"))
    if kind == "training" and dims == 1 and size <= 64:
        return kind, dlrm(rng)
    if kind == "permutation":
        return kind, {"kind": "permutation", "shift": rng.randrange(1, size), "bytes": rng.choice(("100KB", "1MB", "4MB"))}
    if kind == "incast":
        return kind, {"kind": "incast", "receiver": 0, "bytes": rng.choice(("100KB", "1MB")), "senders": min(size - 1, rng.choice((2, 4, 8)))}
    if kind == "llm":
        return kind, llm(rng, size)
    if kind == "cnn" and size <= 32:
        return kind, cnn(rng)
    if kind == "jobs":
        half = size // 2
        return kind, [dict(collective(rng, half, dims), name="train", ranks=list(range(half)), algorithm="ring", op="all_reduce"),
                      {"kind": "permutation", "name": "other", "shift": 1, "bytes": "1MB", "ranks": list(range(half, size))},
                      {"kind": "incast", "name": "store", "receiver": 0, "bytes": "1MB", "ranks": [0] + list(range(half, half + 3))}]
    if kind == "parameter_server" and size >= 8:
        return kind, {"kind": "parameter_server", "servers": 2, "bytes": "2MB", "iterations": 2}
    return "collective", collective(rng, size, dims)


def draw(seed, most=256):
    """A kind of work, and a scenario without a seed of its own."""
    rng = random.Random(seed)
    dims, size = fabric(rng, most)
    name, workload = work(rng, size, len(dims))
    transport = rng.choice(("roce",) * 8 + ("tcp", "uec"))
    made = {"name": f"hybrid-{seed}", "topology": {"dims": dims}, "transport": {"kind": transport},
            "cc": {"kind": rng.choice(POLICIES[transport])}, "workload": workload, "explain": {"try": 0},
            "memory": {"fit": "off"}, "report": {"flows_max": 0}}
    if transport == "roce":
        made["transport"]["ack_interval"] = rng.choice((1, 4, 16))
    if rng.random() < 0.5:
        made["noise"] = {"preset": "cluster"}
    return name, made


def other_policy(seed, made):
    """The same scenario under another policy, drawn: for the ratio of the two."""
    rng = random.Random(-1 - seed)
    own = made["cc"]["kind"]
    others = sorted(set(POLICIES[made["transport"]["kind"]]) - {own})
    return dict(made, cc={"kind": rng.choice(others)})
