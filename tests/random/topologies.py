# SPDX-License-Identifier: MIT
"""Random networks of up to a few dozen ranks: every kind of dimension, and files of graphs."""
import json

GROUPS = ("switch", "ring", "fully_connected", "mesh", "dln")   # built for each group of ranks
WHOLE = ("leaf_spine", "fat_tree", "rail", "dragonfly", "graph", "circuit")  # one fabric of all ranks
RATES = ("1Gbps", "10Gbps", "25Gbps", "100Gbps", "100Gbps", "100Gbps", "200Gbps", "400Gbps", "800Gbps",
         "33Gbps", "7777Mbps")
DELAYS = ("0ns", "1ps", "10ns", "100ns", "500ns", "1us", "1us", "2us", "5us", "50us", "1ms")


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def link(draw):
    """Rate and delay: often usual values, sometimes any allowed value."""
    if draw.chance(0.05):
        return draw.value({"$ref": "#/$defs/link"}, 0.7)
    made = {"rate": draw.rng.choice(RATES), "delay": draw.rng.choice(DELAYS)}
    if draw.chance(0.15):
        made["reverse"] = {"rate": draw.rng.choice(RATES)}
    return {key: value for key, value in made.items() if draw.chance(0.85)}


def nodes_of(dim, ranks, below, index, several):
    """Names of a dimension's switches as in places; '*' for an unknown number."""
    kind = dim["kind"]
    groups = max(1, ranks // max(1, dim["size"]))
    names = {"switch": [f"sw{i}" for i in range(groups)],
             "leaf_spine": [f"leaf{i}" for i in range(ranks // dim.get("ranks_per_leaf", 1))] +
                           [f"spine{i}" for i in range(dim.get("spines", 0))],
             "fat_tree": ["edge0", "agg0", "edge*", "agg*", "core*"],
             "rail": ["rail0", "rail1", "spine0"],
             "dragonfly": ["router0", "router1", "router*"],
             "graph": ["sw0", "sw1", "sw*"]}.get(kind, [])
    del below
    prefixed = kind in GROUPS or kind == "graph" or several
    return [(f"dim{index}." if prefixed else "") + name for name in names]


def leaf_spine(draw, ranks):
    return {"ranks_per_leaf": draw.rng.choice(divisors(ranks)), "spines": draw.rng.randint(1, 4)}


def fat_tree(draw, ranks):
    del ranks
    made = {"tiers": draw.rng.choice((2, 3))}
    if draw.chance(0.3):
        made["oversubscription"] = draw.rng.choice((1, 1, 2, 3, 4))
    if draw.chance(0.2):
        made["radix"] = draw.rng.choice((4, 6, 8, 10, 16))
    return made


def rail(draw, ranks):
    gpus = draw.rng.choice(divisors(ranks))
    made = {"gpus_per_server": gpus, "spines": draw.rng.randint(1, 4)}
    if draw.chance(0.6):
        made["servers_per_pod"] = draw.rng.choice(divisors(ranks // gpus))
    return made


def dragonfly(draw, ranks):
    per_router = draw.rng.choice(divisors(ranks))
    per_group = draw.rng.choice(divisors(ranks // per_router))
    groups = ranks // per_router // per_group
    need = -(-(groups - 1) // per_group)
    return {"ranks_per_router": per_router, "routers_per_group": per_group,
            "global_links": max(1, need + draw.rng.choice((0, 0, 1, 2)))}


def circuit(draw, ranks):
    """Rings, rotations and random matchings, which may leave ranks apart."""
    made = {"ports": draw.rng.choice((1, 2, 2, 3)), "schedule": draw.rng.choice(("ring", "rotation"))}
    if draw.chance(0.3) and ranks > 1:
        matchings = []
        for _ in range(draw.rng.choice((1, 2, 5))):
            ends = [f"{rank}.{port}" for rank in range(ranks) for port in range(made["ports"])]
            draw.rng.shuffle(ends)
            joined = zip(ends[::2], ends[1::2])
            matchings.append(" ".join(f"{a}-{b}" for a, b in joined if a.split(".")[0] != b.split(".")[0])
                             + draw.rng.choice(("", " @30us")))
        made["schedule"] = " | ".join(matchings)
    made["duration"] = draw.rng.choice(("3us", "20us", "100us", "1ms"))
    made["reconfiguration"] = draw.rng.choice(("0ns", "100ns", "10us", "1ms"))
    for key, values in {"threshold": ("0B", "1KB", "50KB"), "transit": (True, False)}.items():
        if draw.chance(0.4):
            made[key] = draw.rng.choice(values)
    return made


def graph_file(draw, ranks, folder, name, transit):
    """A connected graph with links of unequal rates and delays, some of them twice."""
    rng = draw.rng
    switches = rng.randint(1, 6)
    links = []
    equal = draw.chance(0.2)

    def join(a, b):
        made = {"a": a, "b": b}
        if not equal:
            made.update(link(draw))
        links.extend([made] * rng.choice((1, 1, 1, 2)))

    for s in range(1, switches):
        join(f"sw{rng.randrange(s)}", f"sw{s}")
    for _ in range(rng.randint(0, switches)):
        a, b = rng.randrange(switches), rng.randrange(switches)
        if a != b:
            join(f"sw{a}", f"sw{b}")
    for r in range(ranks):
        for _ in range(rng.choice((1, 1, 1, 2))):
            if transit and r and draw.chance(0.3):
                join(f"rank{rng.randrange(r)}", f"rank{r}")
            else:
                join(f"rank{r}", f"sw{rng.randrange(switches)}")
    rng.shuffle(links)
    with open(folder / name, "w", encoding="utf-8") as f:
        json.dump({"switches": switches, "links": links}, f)


def dimension(draw, kind, size, ranks, folder, index, p):
    """One dimension of `size` in a network of `ranks`, sometimes with overrides."""
    dim = {"kind": kind, "size": size}
    dim.update({"leaf_spine": leaf_spine, "fat_tree": fat_tree, "rail": rail,
                "dragonfly": dragonfly, "circuit": circuit}.get(kind, lambda *_: {})(draw, ranks))
    if kind == "graph":
        dim["file"] = f"graph{index}.json"
        dim["transit"] = draw.chance(0.4)
        graph_file(draw, ranks, folder, dim["file"], dim["transit"])
    if kind == "switch" and draw.chance(0.3):
        dim["planes"] = draw.rng.choice((2, 2, 3, 4, 6))
    if kind in ("ring", "fully_connected") and draw.chance(0.3):
        dim["parallel"] = draw.rng.choice((2, 3, 4))
    if kind in ("leaf_spine", "rail") and draw.chance(0.3):
        dim["trunks"] = draw.rng.choice((2, 3))
    if kind in ("switch", "leaf_spine", "fat_tree", "rail", "dragonfly") and draw.chance(0.15):
        dim["ranks_per_port"] = draw.rng.choice(divisors(size))
    for key in ("link", "trunk", "local", "global"):
        wanted = {"trunk": ("leaf_spine", "fat_tree", "rail"), "local": ("dragonfly",),
                  "global": ("dragonfly",)}.get(key, (kind,))
        if kind in wanted and draw.chance(0.8):
            dim[key] = link(draw)
    for key in ("switch", "transport"):
        if draw.chance(0.12):
            dim[key] = draw.object(draw.defs[key], p / 2)
    return dim


def sizes(draw, budget):
    """Up to three sizes whose product is at most `budget`; 1 is a size too."""
    made, left = [], budget
    for _ in range(draw.rng.choice((1, 1, 1, 2, 2, 3))):
        size = draw.rng.randint(1, max(1, min(left, 16))) if draw.chance(0.9) else 1
        made.append(size)
        left //= size
    return made


def topology(draw, folder, p, analytical):
    """{"dims": [..]}, the number of ranks, and names of switches."""
    made = sizes(draw, draw.rng.choice((2, 4, 8, 9, 12, 16, 16, 24, 32, 48)))
    if len(made) == 1 and made[0] == 1 and draw.chance(0.8):
        made = [draw.rng.randint(2, 12)]
    ranks = 1
    for size in made:
        ranks *= size
    dims, names = [], []
    for index, size in enumerate(made):
        last = index == len(made) - 1
        kinds = GROUPS + (WHOLE * 2 if last else WHOLE if draw.chance(0.1) else ())
        if draw.chance(0.3):
            kinds = ("switch",)
        if analytical and draw.chance(0.95):
            kinds = ("switch", "ring", "fully_connected")
        kind = draw.rng.choice(kinds)
        dims.append(dimension(draw, kind, size, ranks, folder, index, p))
    if draw.chance(0.06) and not analytical and ranks > 1:  # circuits beside packet switches
        dims.append(dict(dimension(draw, "circuit", 1, ranks, folder, len(dims), p), size=1))
    whole = sum(dim["kind"] in WHOLE for dim in dims)
    for index, dim in enumerate(dims):
        names += nodes_of(dim, ranks, dims[:index], index, whole > 1)
    return {"dims": dims}, ranks, names
