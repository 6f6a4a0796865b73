# SPDX-License-Identifier: MIT
"""The written rules of ASTRA-sim's training loops and collectives over its network in closed form.

Restated for check_astra.py from their description, independently of the program. It follows one rank:
on a symmetric network all ranks do the same. Known beyond the description: the all-reduce by
halving and doubling halves once more before it doubles; a phase that ends puts its chunk into the
next dimension's queue before its own place is given away; an all-gather alone under Themis compares
with the last dimension, by n-1 in place of (n-1)/n; all phases of a collective run the algorithms that
the system file lists for the collective's operation, and a list that is shorter than the network leaves
the dimensions beyond it out; the double binary tree is an all-reduce of the whole chunk along one tree
even where a reduce-scatter or all-gather is due; an algorithm over all ranks (one..) belongs to
dimension 0, and its messages take the last dimension in which two ranks differ.
"""
import heapq
import random
import struct

GB = 2**30
FWD, IG, WG = 0, 1, 2


# ---- the network in closed form ----


class Dim:
    """A dimension: kind, ranks, latency (ns), bytes per ns of one message, and of all links of a rank together."""

    def __init__(self, kind, n, links, latency, bandwidth):
        self.kind, self.n, self.latency = kind, n, latency
        self.rate = self.total = bandwidth * GB / 1e9 * links
        if kind == "FullyConnected" and n > 1:
            self.rate /= n - 1

    def half(self, n):
        part = Dim(self.kind, n, 1, self.latency, 1)
        part.rate, part.total = self.rate, self.total
        return part

    def message(self, size, distance=1):
        hops = {"Ring": min(distance, self.n - distance), "Switch": 2, "FullyConnected": 1}
        return int(hops[self.kind] * self.latency + size / self.rate)


def reduction(size):
    return 3 * (size // 500000)


def ring(dim, op, c, delay):
    n = dim.n
    size = c if op == "ALLGATHER" else c // n
    t, m = dim.message(size), reduction(size)
    return {
        "ALLREDUCE": 2 * (n - 1) * t + (2 * (n - 1) + 1) * delay + (n - 1) * m,
        "REDUCESCATTER": (n - 1) * (t + m) + n * delay,
        "ALLGATHER": (n - 1) * t + n * delay,
        "ALLTOALL": n * (n - 1) // 2 * (t + delay) + delay,
    }[op]


def direct(dim, op, c, delay):
    size = c if op == "ALLGATHER" else c // dim.n
    t, m = dim.message(size, dim.n // 2), reduction(size)
    return {
        "ALLREDUCE": 2 * t + 3 * delay + m,
        "REDUCESCATTER": t + 2 * delay + m,
        "ALLGATHER": t + 2 * delay,
        "ALLTOALL": t + 2 * delay,
    }[op]


def halving_doubling(dim, op, c, delay):
    steps = dim.n.bit_length() - 1
    total = delay
    if op != "ALLGATHER":
        for k in range(steps):
            size = c >> (k + 1)
            total += delay + dim.message(size, 2**k) + (reduction(size) if k > 0 else 0)
    if op != "REDUCESCATTER":
        own = c if op == "ALLGATHER" else 2 * (c // (2 * dim.n))
        for k in range(steps):
            total += delay + dim.message(own << k, 2 ** (steps - 1 - k))
    return total


def double_binary_tree(dim, op, c, delay):
    """Up and down a tree of n = 2^levels ranks: a leaf waits before it sends and after it receives, the
    root once, each of the levels - 1 ranks between them on the way up and on the way down."""
    levels = dim.n.bit_length() - 1
    return sum(
        2 * dim.message(c, 2**k) for k in range(levels)
    ) + (2 * levels + 1) * delay + (2 * levels - 1) * reduction(c)


class Whole:
    """All ranks of a network as one dimension, in the order of their numbers."""

    def __init__(self, dims):
        self.dims, self.n = dims, 1
        for d in dims:
            self.n *= d.n

    def between(self, size, a, b):
        time = 0
        for d in self.dims:
            if a % d.n != b % d.n:
                time = d.message(size, abs(a % d.n - b % d.n))
            a, b = a // d.n, b // d.n
        return time


def one_ring(whole, op, c, delay):
    """The longest way of the messages that follow one another around the ring."""
    n = whole.n
    size = c if op == "ALLGATHER" else c // n
    steps = {"ALLREDUCE": 2 * (n - 1), "ALLTOALL": n * (n - 1) // 2}.get(op, n - 1)
    hops = [whole.between(size, i, (i + 1) % n) for i in range(n)]
    way = max(sum(hops[(i + k) % n] for k in range(steps)) for i in range(n))
    adds = n - 1 if op in ("ALLREDUCE", "REDUCESCATTER") else 0
    return way + (steps + 1) * delay + adds * reduction(size)


def one_direct(whole, op, c, delay):
    size = c if op == "ALLGATHER" else c // whole.n
    t = max(whole.between(size, 0, i) for i in range(1, whole.n))
    rounds = 2 if op == "ALLREDUCE" else 1
    adds = op in ("ALLREDUCE", "REDUCESCATTER")
    return rounds * t + (rounds + 1) * delay + adds * reduction(size)


FORMS = {
    "ring": ring,
    "direct": direct,
    "halvingDoubling": halving_doubling,
    "doubleBinaryTree": double_binary_tree,
    "oneRing": one_ring,
    "oneDirect": one_direct,
}
LISTS = {
    "ALLREDUCE": "all-reduce-implementation",
    "ALLGATHER": "all-gather-implementation",
    "REDUCESCATTER": "reduce-scatter-implementation",
    "ALLTOALL": "all-to-all-implementation",
}


# ---- from a collective to phases ----


class Themis:
    def __init__(self, dims):
        self.dims, self.began, self.load = dims, None, None

    def begin(self, now):
        if now != self.began:
            self.began, self.load = now, [0.0] * len(self.dims)

    def order(self, op, chunk, usual):
        """The dimensions `usual`, in their usual order, as Themis takes them."""
        gather = op == "ALLGATHER"
        dims, load = self.dims, self.load
        by_load = sorted(range(len(dims)), key=lambda d: -load[d] if gather else load[d])
        chosen = [d for d in by_load if d in usual]
        if gather:
            apart, first = max(load) - min(load), chosen[-1]
            share = dims[first].n - 1
        else:
            apart, first = max(load) - load[chosen[0]], chosen[0]
            share = (dims[first].n - 1) / dims[first].n
        uneven = apart * dims[first].total / dims[0].total / share * 2**20
        order = usual if int(uneven) < chunk // 16 else chosen
        for d in order:
            n = dims[d].n
            share = n - 1 if gather else (n - 1) / n
            load[d] += chunk / 2**20 * share * dims[0].total / dims[d].total
            chunk = chunk * n if gather else chunk // n
        return order


class Planner:
    def __init__(self, system, dims):
        self.system, self.dims, self.turn = system, dims, 0
        self.themis = Themis(dims)

    def phases(self, op, span, chunk):
        names = self.system[LISTS[op]]
        if names[0].startswith("one"):
            return [(0, op, chunk)] if 0 in span else []
        span = [d for d in span if self.dims[d].choice < len(names)]
        inter = self.system["inter-dimension-scheduling"]
        order = list(range(len(self.dims)))
        if op == "ALLGATHER":
            order.reverse()
        if inter == "roundRobin":
            order = order[self.turn :] + order[: self.turn]
            self.turn = (self.turn + 1) % len(self.dims)
        order = [d for d in order if d in span]
        if not order:
            return []
        greedy = inter == "offlineGreedy"
        if greedy and op != "ALLTOALL":
            order = self.themis.order(op, chunk, order)
        if op != "ALLREDUCE":
            kinds = [(op, d) for d in order]
        elif greedy:
            kinds = [("REDUCESCATTER", d) for d in order]
            kinds += [("ALLGATHER", d) for d in reversed(order)]
        elif self.system["collective-optimization"] == "baseline":
            kinds = [("ALLREDUCE", d) for d in order]
        else:
            kinds = [("REDUCESCATTER", d) for d in order[:-1]] + [("ALLREDUCE", order[-1])]
            kinds += [("ALLGATHER", d) for d in reversed(order[:-1])]
        phases = []
        for kind, d in kinds:
            if names[self.dims[d].choice] == "doubleBinaryTree":
                kind = "ALLREDUCE"
            phases.append((d, kind, chunk))
            if kind == "REDUCESCATTER":
                chunk //= self.dims[d].n
            elif kind == "ALLGATHER":
                chunk *= self.dims[d].n
        return phases


# ---- time ----


class Chunk:
    def __init__(self, collective, whole, phases, priority):
        self.collective, self.phases, self.priority = collective, phases, priority
        self.whole = whole  # the collective's operation


class Machine:
    """One rank's system layer: a queue per dimension, a clock, events."""

    def __init__(self, system, dims, tie):
        self.system, self.dims, self.tie = system, dims, tie
        self.planner = Planner(system, dims)
        self.now, self.events, self.n_events = 0, [], 0
        self.waiting = [[] for _ in dims]
        self.running = [0] * len(dims)
        self.numbers = 0
        self.touched, self.tied = {}, False

    def touch(self, d, source):
        """`source` changes the queue of d now; of two sources in one ns the order is open."""
        when, other = self.touched.get(d, (None, None))
        self.tied |= when == self.now and other != source
        self.touched[d] = (self.now, source)

    def at(self, time, what):
        self.n_events += 1
        heapq.heappush(self.events, (time, self.tie(self.n_events), self.n_events, what))

    def run(self):
        while self.events:
            self.now, _, _, what = heapq.heappop(self.events)
            what()

    def issue(self, op, size, span, urgent, done):
        """Returns False if there is nothing to do."""
        self.numbers += 1
        newest = self.system["scheduling-policy"] == "LIFO"
        priority = 2**60 if urgent else self.numbers if newest else -self.numbers
        splits = self.system["preferred-dataset-splits"]
        piece = size // splits
        span = [d for d in span if self.dims[d].n > 1]
        self.planner.themis.begin(self.now)
        collective = {"left": splits, "done": done}
        chunks = []
        for i in range(splits):
            chunk = piece if i + 1 < splits else size - piece * (splits - 1)
            phases = self.planner.phases(op, span, chunk)
            if not phases:
                return False
            chunks.append(Chunk(collective, op, phases, priority))
        for chunk in chunks:
            self.enter(chunk, "loop")
        return True

    def goes_before(self, new, old):
        _, op, size = new.phases[0]
        if self.system["intra-dimension-scheduling"] == "smallestFirst" and op in (
            "REDUCESCATTER",
            "ALLGATHER",
        ):
            return size <= old.phases[0][2]
        return new.priority > old.priority

    def enter(self, chunk, source):
        d = chunk.phases[0][0]
        self.touch(d, source)
        queue, at = self.waiting[d], 0
        while at < len(queue) and not self.goes_before(chunk, queue[at]):
            at += 1
        queue.insert(at, chunk)
        self.dispatch(d)

    def dispatch(self, d):
        while self.waiting[d] and self.running[d] < self.system["active-chunks-per-dimension"]:
            chunk = self.waiting[d].pop(0)
            self.running[d] += 1
            _, op, size = chunk.phases[0]
            names = self.system[LISTS[chunk.whole]]
            flat = names[0].startswith("one")
            form = FORMS[names[0] if flat else names[self.dims[d].choice]]
            dim = Whole(self.dims) if flat else self.dims[d]
            takes = form(dim, op, size, self.system["endpoint-delay"])
            self.at(self.now + takes, lambda: self.phase_end(chunk, d))

    def phase_end(self, chunk, d):
        chunk.phases = chunk.phases[1:]
        if chunk.phases:
            self.enter(chunk, d)
        else:
            chunk.collective["left"] -= 1
            if chunk.collective["left"] == 0:
                chunk.collective["done"]()
        self.running[d] -= 1
        self.touch(d, d)
        self.dispatch(d)


# ---- loops: compute(layer, part), issue(layer, part, urgent), wait(layer, part), step ----


def compute(layer, part):
    return ("compute", layer, part)


def issue(layer, part, urgent=False):
    return ("issue", layer, part, urgent)


def wait(layer, part):
    return ("wait", layer, part)


STEP = ("step",)


def forward_silent(w):
    for k in range(len(w["layers"])):
        yield from (wait(k, WG), compute(k, FWD), STEP)


def forward_blocking(layers):
    for k in layers:
        yield from (wait(k, WG), compute(k, FWD), issue(k, FWD), wait(k, FWD), STEP)


def loop_data(w):
    yield from forward_silent(w)
    for k in reversed(range(len(w["layers"]))):
        yield from (compute(k, WG), issue(k, WG), STEP)
        if k > 0:
            yield from (compute(k, IG), STEP)


def loop_hybrid(w):
    n = len(w["layers"])
    yield from forward_blocking(range(n))
    for k in reversed(range(n)):
        yield compute(k, IG)
        if k > 0:
            yield issue(k, IG)
        yield from (STEP, compute(k, WG))
        if w["keyword"] != "MODEL":
            yield issue(k, WG)
        yield from (wait(k, IG), STEP)


def loop_transformer(w):
    n = len(w["layers"])
    yield from forward_blocking(range(n))
    for k in reversed(range(n)):
        if k in w.get("initiates", ()):
            back = max(c for c in w["checkpoints"] if c <= k)
            yield STEP
            yield from forward_blocking(range(back, k))
        yield from (compute(k, IG), issue(k, IG), wait(k, IG), STEP)
        yield from (compute(k, WG), issue(k, WG), STEP)


def loop_dlrm(w):
    n, last = len(w["layers"]), w["last_bottom"]
    for k in range(n):
        yield from (wait(k, WG), compute(k, FWD))
        if k == 0:
            yield issue(0, FWD, True)
        if k == last:
            yield wait(0, FWD)
        yield STEP
    for k in reversed(range(n)):
        yield from (compute(k, WG), issue(k, WG))
        if w["keyword"] == "HYBRID_DLRM":
            yield wait(k, IG)
        yield STEP
        if k > 0:
            yield compute(k, IG)
            if k == last + 1:
                yield issue(0, IG, True)
            yield STEP


def loop_micro(w):
    yield issue(0, WG)


def loop_inference(w):
    yield from forward_blocking(range(len(w["layers"])))


LOOPS = {
    "DATA": loop_data,
    "MODEL": loop_hybrid,
    "HYBRID_DATA_MODEL": loop_hybrid,
    "HYBRID_MODEL_DATA": loop_hybrid,
    "HYBRID_CUSTOMIZED": loop_hybrid,
    "HYBRID_TRANSFORMER": loop_transformer,
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD": loop_transformer,
    "HYBRID_DLRM": loop_dlrm,
    "HYBRID_DLRM_ENHANCED": loop_dlrm,
    "MICRO": loop_micro,
    "DISTRIBUTED_INFERENCE": loop_inference,
}


def split_for_group(w, dims):
    """The dimensions, and the number of leading ones that form the model-parallel group."""
    left, out, model = w.get("group", 1), [], 0
    for d in dims:
        if left > 1 and d.n > left:
            out += [d.half(left), d.half(d.n // left)]
            out[-1].choice = out[-2].choice = d.choice
            left, model = 1, len(out) - 1
        else:
            out.append(d)
            if left > 1:
                left //= d.n
                model = len(out)
    return out, model


def span(w, model, n_dims, layer, part):
    every = list(range(n_dims))
    keyword = w["layers"][layer].get("keyword", w["keyword"])
    if keyword.startswith("HYBRID_DLRM") and layer == 0:
        return every
    if keyword in ("MODEL", "DISTRIBUTED_INFERENCE"):
        share = every
    elif keyword == "HYBRID_DATA_MODEL":
        share = every[:1]
    elif keyword == "HYBRID_MODEL_DATA":
        share = every[1:]
    elif keyword.startswith("HYBRID_TRANSFORMER"):
        share = every[:model]
    else:
        share = []
    return [d for d in every if d not in share] if part == WG else share


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def simulate(dims, system, w, passes, scale, tie):
    """(finish, compute) in ns, and whether two sources changed a queue in the same ns."""
    dims, model = split_for_group(w, dims)
    machine = Machine(system, dims, tie)
    open_, state = {}, {"waits": None, "end": None, "compute": 0, "finish": 0}

    def loop():
        for _ in range(passes):
            yield from LOOPS[w["keyword"]](w)

    actions = loop()

    def told(slot):
        open_[slot] -= 1
        state["finish"] = max(state["finish"], machine.now)
        if state["waits"] == slot and open_[slot] == 0:
            state["waits"] = None
            go()

    def go():
        for action in actions:
            verb, rest = action[0], action[1:]
            if verb == "step":
                return machine.at(machine.now + 1, go)
            slot = rest[:2]
            layer = w["layers"][slot[0]]
            if verb == "compute":
                time = layer["compute"][slot[1]]
                if scale != 1:
                    time = int(single(single(time) * single(scale)))
                state["compute"] += time
                if time:
                    return machine.at(machine.now + time, go)
            elif verb == "wait":
                if open_.get(slot, 0) > 0:
                    state["waits"] = slot
                    return None
            else:
                op, size = layer["comm"][slot[1]]
                if op == "NONE":
                    continue
                delay = layer["update"]
                over = span(w, model, len(dims), *slot)
                done = lambda slot=slot, delay=delay: machine.at(
                    machine.now + delay, lambda: told(slot)
                )
                if machine.issue(op, size, over, rest[2], done):
                    open_[slot] = open_.get(slot, 0) + 1
        state["finish"] = max(state["finish"], machine.now)
        return None

    machine.at(0, go)
    machine.run()
    return (state["finish"], state["compute"]), machine.tied


def orders(case):
    """Results under several orders of simultaneous events, and whether more depends on the order."""
    draw = random.Random(1)
    ties = [lambda n: n, lambda n: -n] + [lambda n: draw.random()] * 4
    results = [simulate(*case, tie) for tie in ties]
    return {result for result, _ in results}, any(tied for _, tied in results)
