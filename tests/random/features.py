# SPDX-License-Identifier: MIT
"""Scenarios that cross what other generators draw apart: every library with every shape of dimensions and sizes from 0,
kinds of jobs with all of their keys, memories, input, noise and hosts. Keys come from the schema; only those that need a
list, a text or a bound are named here. Small sizes, so that a run takes milliseconds."""
import json
import random
import shutil

import draw as drawing
import generate
import workloads

SHAPES = ([4], [9], [1], [2, 2], [2, 3], [4, 2], [2, 2, 2], [3, 1, 2])
KINDS = ("switch", "switch", "ring", "fully_connected")
MACHINES = ("dgx_a100", "dgx_h100", "mi300x", "zion", "gh200", "1gpu_h100_400", "dgx2")
OPS = workloads.OPS
SIZES = (0, 1, 7, 8, 9, 15, 16, 17, 100, 1000, 4097, 65536, 300000, 1 << 20)
ENVIRONMENTS = ("", "NCCL_ALGO=Ring", "NCCL_PROTO=LL128", "NCCL_MIN_NCHANNELS=8 NCCL_MAX_NCHANNELS=2", "NCCL_ALGO=Tree NCCL_PROTO=LL",
                "NCCL_IB_QPS_PER_CONNECTION=4 NCCL_BUFFSIZE=65536", "NCCL_NOTHING=1")
ALGORITHMS = ("ring", "direct", "halving_doubling", "tree", "double_binary_tree", "bruck")
# Keys whose values must be small, or fit each other, for a run of milliseconds.
BOUNDED = {"iterations": (1, 2), "repeat": (1, 2), "layers": (2, 4), "hidden": (16,), "heads": (4, 8), "sequence": (16, 32),
           "vocabulary": (1, 100), "micro_batch": (1, 2), "ffn": (16, 64), "expert_ffn": (16,), "batch": (1, 8), "chunks": (1, 2, 5),
           "samples": (1, 3), "sample_bytes": ("1B", "4KB", "300KB"), "prefetch": (0, 1, 3), "rows": (1, 1000), "n_tables": (1, 5),
           "dense_features": (1, 13), "group": (1, 2), "comm_streams": (1, 2), "window": ("auto", 1, 3), "stride": ("auto", 1, 2),
           "stages": (1, 2), "segments": (1, 2), "cut_layers": (1, 2), "in_flight": ("auto", 1, 2), "pieces": ("auto", 1, 3),
           "experts": (2, 4), "top_k": (1, 2), "max_nchannels": (1, 2, 32), "min_nchannels": (1, 2, 32), "capacity": ("auto", "1MB", "80GB"),
           "copy_rate": ("auto", "1Gbps", "1Tbps"), "read_rate": ("1Gbps", "100Gbps"), "rate": ("1Gbps", "100Gbps", "1Tbps"),
           "fabric_rate": ("1Gbps", "1Tbps"), "port_rate": ("1Gbps", "1Tbps"), "chunk": ("64B", "4KB", "1MB"), "request": ("64B", "4KB"),
           "latency": ("0ns", "100ns", "5us"), "hosts": ([0], [0, 1]), "class": ("auto", 0, 1), "ranks_per_server": ("auto", 1, 2),
           "buffsize": ("64KiB", "4MiB"), "p2p_net_chunksize": ("4KiB", "128KiB"), "clock_ppm": (0, 50, 1000), "density": (0.01, 1),
           "event": ("0ns", "1us"), "step": ("0ns", "1us"), "collectives_max": (0, 1, 10000), "timestamp": (True,),
           "tick": ("0ns", "1ms", "10ms"), "hystart": ("off", "on"), "send_buffer": ("auto", "64KB", "4MB")}


def keys_of(draw, part, p, skip=()):
    """Required and some optional keys of an object by the schema: bounded ones from the table above, lists and texts left
    out, objects of names (tiers) with one or two of them."""
    made = {}
    for key, inner in part.get("properties", {}).items():
        if inner is False or key in skip:
            continue
        if "const" in inner:
            made[key] = inner["const"]
        elif key in part.get("required", ()) or draw.chance(p):
            value = value_of(draw, key, inner, p)
            if value is not None:
                made[key] = value
    return made


def value_of(draw, key, part, p):
    if key in BOUNDED:
        return draw.rng.choice(BOUNDED[key])
    if "$ref" in part:
        name = part["$ref"].split("/")[-1]
        return draw.quantity(name, part) if name in drawing.UNITS else value_of(draw, key, draw.defs.get(name, {}), p)
    if "anyOf" in part or "oneOf" in part:
        choices = [c for c in part.get("anyOf") or part["oneOf"] if c.get("type") not in ("array", "string") or "enum" in c]
        return value_of(draw, key, draw.rng.choice(choices), p) if choices else None
    if isinstance(part.get("additionalProperties"), dict) and not part.get("properties"):
        inner = part["additionalProperties"]
        made = {name: value_of(draw, name, inner, p) for name in draw.rng.sample(("ssd", "pool", "far"), draw.rng.randint(1, 2))}
        return {name: value for name, value in made.items() if value is not None}
    if "properties" in part:
        return keys_of(draw, part, p)
    if "const" in part or "enum" in part or part.get("type") in ("integer", "number", "boolean"):
        return draw.value(part)
    return None


def size(draw):
    return draw.rng.choice(SIZES) if draw.chance(0.8) else draw.rng.randint(0, 200000)


def topology(draw):
    """A machine, or plain dimensions; returns the topology, its ranks, and whether it is a machine."""
    if draw.chance(0.5):
        name, nodes = draw.rng.choice(MACHINES), draw.rng.choice((1, 2, 2, 3))
        made = {"machine": name, "nodes": nodes}
        if draw.chance(0.3):
            made["fabric"] = draw.rng.choice(({"kind": "switch"}, {"kind": "rail", "spines": 2},
                                              {"kind": "leaf_spine", "ranks_per_leaf": 8, "spines": 2}))
        gpus = {"1gpu_h100_400": 1, "gh200": 4, "dgx2": 16}.get(name, 8)
        return made, gpus * nodes, True
    dims = draw.rng.choice(SHAPES)
    made = [{"kind": draw.rng.choice(KINDS), "size": n, "link": {"rate": draw.rng.choice(("25Gbps", "100Gbps", "400Gbps")),
                                                                 "delay": draw.rng.choice(("100ns", "1us"))}} for n in dims]
    ranks = 1
    for n in dims:
        ranks *= n
    return {"dims": made}, ranks, False


def library(draw, folder, machine):
    kinds = ("nccl", "nccl", "rccl", "xml", "mpi") if machine else ("mpi", "mpi", "nccl")
    kind = draw.rng.choice(kinds)
    made = keys_of(draw, draw.kind([c for c in draw.defs["library"]["anyOf"] if "properties" in c], kind), draw.rng.choice((0, 0.1, 0.6)))
    if kind in ("nccl", "rccl") and draw.chance(0.3):
        made["env"] = draw.rng.choice(ENVIRONMENTS)
    if kind == "xml":
        name = draw.rng.choice(("ring4.xml", "allpairs4.xml", "hierarchical4.xml"))
        shutil.copy(generate.ROOT / "tests/data/xml" / name, folder)
        made["file"] = name
        if draw.chance(0.2):
            made["traces"] = "none"
    return made


def nodes(draw, n, job):
    """More about the nodes and groups of a program."""
    for node in job["nodes"]:
        if node["kind"] == "collective" and node["op"] in ("broadcast", "reduce", "gather", "scatter") and draw.chance(0.5):
            node["root"] = draw.rng.randrange(n)
        if node["kind"] == "collective" and node["op"] == "all_to_all" and draw.chance(0.3):
            node["vectors"] = {"of": draw.rng.choice(("sender", "receiver")), "bytes": [draw.rng.choice(SIZES) for _ in range(n)]}
        for key, values in {"name": ("a", "b"), "layer": ("l0", "l1"), "stream": (0, 1), "priority": (0, 3), "use": ("x", "y"),
                            "measured": ("1us",)}.items():
            if draw.chance(0.05):
                node[key] = draw.rng.choice(values)
    for name, ranks in list(job["groups"].items()):
        if draw.chance(0.3):
            job["groups"][name] = {"ranks": ranks, "use": "x"}


def cnn(draw, n, folder, index):
    name = f"shapes{index}.csv"
    with open(folder / name, "w", encoding="utf-8") as f:
        f.write("name,kind,channels,filters,width,height,depth,kernel,stride\nc1,conv,3,8,8,8,1,3,1\nc2,conv,8,8,8,8,1,3,1\n"
                "p1,pool,8,8,8,8,1,2,2\nf1,fc,128,10,1,1,1,1,1\n")
    return {"kind": "cnn", "shapes": name, "batch": draw.rng.choice((n, 2 * n, 1))}


MAKERS = {"collective": workloads.collective, "training": workloads.training, "program": workloads.program, "llm": workloads.llm,
          "parameter_server": workloads.parameter_server, "chakra": workloads.chakra, "goal": workloads.goal, "cnn": cnn}


def job(draw, ranks, folder, index, machine):
    kind = draw.rng.choice(("collective", "collective", "collective", *MAKERS))
    made = MAKERS[kind](draw, ranks, folder, index)
    part = draw.kind(draw.defs["job"]["oneOf"], kind)
    if kind == "collective" and draw.chance(0.7):
        made = {"kind": kind, "op": draw.rng.choice(OPS), "bytes": size(draw)}
    if kind == "program":
        nodes(draw, ranks, made)
    for key, value in keys_of(draw, part, draw.rng.choice((0, 0.05, 0.3)), skip=("kind", "library", "ranks", "dims", "start", "dlrm")).items():
        made.setdefault(key, value)
    if "dlrm" in made:
        inner = part["properties"]["dlrm"]
        if draw.chance(0.3):
            made["dlrm"].update(sharding="table", n_tables=4, placement=[draw.rng.randrange(ranks) for _ in range(4)])
        made["dlrm"] = {**keys_of(draw, inner, draw.rng.choice((0.1, 0.5))), **made["dlrm"]}
    if "input" in made and draw.chance(0.3):
        made["input"]["from"] = draw.rng.choice(("ssd", "pool"))
    for key, values in (("name", ("one", "two words")), ("start", ("0ns", "1us", "20us"))):
        if draw.chance(0.1):
            made[key] = draw.rng.choice(values)
    if "name" in made:
        made["shrunk"] = "layers 4 -> 2"
    if kind in ("program", "llm", "cnn", "chakra", "parameter_server") and draw.chance(0.2):
        made["algorithm"] = {op: draw.rng.choice(ALGORITHMS) for op in draw.rng.sample(OPS, 4)}
    if "library" in part["properties"] and draw.chance(0.6):
        for key in ("algorithm", "dims", "chunks", "active_chunks", "channels", "schedule", "endpoint_delay", "reduce_rate", "system"):
            made.pop(key, None)
        made["library"] = library(draw, folder, machine)
    if ranks > 2 and draw.chance(0.1):
        made["ranks"] = draw.rng.sample(range(ranks), draw.rng.randint(1, ranks))
        made.pop("dims", None)
    return made


def scenario(seed, folder):
    schema = generate.schema()
    draw = drawing.Draw(random.Random(f"features {seed}"), schema)
    made = {"name": f"features-{seed}", "seed": seed, "description": "drawn"}
    made["topology"], ranks, machine = topology(draw)
    made["workload"] = job(draw, ranks, folder, 0, machine)
    for key, p in (("noise", 0.2), ("memory", 0.2), ("host", 0.15), ("transport", 0.2), ("cc", 0.4), ("switch", 0.1)):
        if draw.chance(p):
            part = schema["properties"][key]
            parts = [c for c in part.get("anyOf", part.get("oneOf", [part])) if "properties" in c or "$ref" in c]
            inner = draw.rng.choice(parts)
            while "$ref" in inner:
                inner = draw.defs[inner["$ref"].split("/")[-1]]
            choices = [c for c in inner.get("anyOf", inner.get("oneOf", [inner])) if "properties" in c]
            made[key] = keys_of(draw, draw.rng.choice(choices), draw.rng.choice((0.1, 0.3)))
    if isinstance(made.get("noise"), dict) and draw.chance(0.5):
        made["noise"]["step"] = {"mean": draw.rng.choice(("0ns", "100ns", "5us")), "distribution": draw.rng.choice(("constant", "uniform", "exponential", "log_normal"))}
    if draw.chance(0.05):  # two transports by name, of which the job takes one
        made["transport"] = [{"kind": "roce", "name": "one"}, {"kind": "tcp", "name": "two"}]
        made["workload"]["transport"] = draw.rng.choice(("one", "two"))
    if draw.chance(0.1):
        made["links"] = [{"at": "rank0->*", "rate": "10Gbps", "one_way": draw.chance(0.5)}]
    if draw.chance(0.05):
        made["faults"] = [{"at": "rank0->*", "rate": {"share": 0.5, "start": "1us", "scale_buffers": draw.chance(0.5)}}]
    if draw.chance(0.05):
        made["capture"] = [{"at": "rank0", "file": "c.pcap", "format": draw.rng.choice(("pcap", "pcapng"))}]
    if draw.chance(0.05):
        made["report"] = {"collectives_max": draw.rng.choice(BOUNDED["collectives_max"])}
    if draw.chance(0.15):
        made["network"] = "analytical"
        made["analytical_route"] = draw.rng.choice(("all_dims", "first_dim", "last_dim", "links"))
    made["limits"] = {"events": 60000, "wall": "1000s"} if draw.chance(0.5) else {"events": 20000, "sim_time": "1ms"}
    generate.write(made, folder)
    return made


if __name__ == "__main__":
    import pathlib
    import sys
    pathlib.Path(sys.argv[2]).mkdir(exist_ok=True)
    print(json.dumps(scenario(int(sys.argv[1]), pathlib.Path(sys.argv[2])), indent=1))
