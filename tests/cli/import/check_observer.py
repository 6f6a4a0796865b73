#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Graphs of PyTorch's ExecutionTraceObserver without a profiler's trace: the program of each rank, of both schemas, and wrong ones.

usage: check_observer.py, with the executable in $COLLWIRE.
"""
import gzip
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_import  # noqa: E402

FAILED, expect, call = check_import.FAILED, check_import.expect, check_import.call
WORDS = {"all_reduce": "allreduce", "all_gather": "_allgather_base", "reduce_scatter": "_reduce_scatter_base", "all_to_all": "all_to_allv",
         "broadcast": "broadcast", "barrier": "barrier", "send": "send", "recv": "recv"}


class Graph:
    """Nodes of one rank; `groups`: name -> ranks, of which "0" is the default one."""

    def __init__(self, rank, groups, attributes=True):
        self.rank, self.groups, self.attributes = rank, groups, attributes
        self.nodes, self.sequence = [], 32
        listed = [{"pg_name": name, "pg_desc": "default_pg" if name == "0" else f"mesh_{name}", "backend_config": "cuda:nccl",
                   "ranks": [] if name == "0" else ranks, "group_size": len(ranks), "group_count": len(groups)} for name, ranks in groups.items()]
        if attributes:
            self.node("## process_group:init ##", [json.dumps(listed)], [])

    def node(self, name, values, attributes):
        at = len(self.nodes) + 2
        if self.attributes:
            self.nodes.append({"id": at, "name": name, "ctrl_deps": 1, "inputs": {"values": values, "shapes": [], "types": []},
                               "outputs": {"values": values[:1], "shapes": [], "types": []},
                               "attrs": [{"name": "rf_id", "type": "uint64", "value": at}, *({"name": k, "type": "string", "value": v} for k, v in attributes)]})
        else:
            self.nodes.append({"id": at, "name": name, "parent": 1, "rf_id": at, "inputs": values, "input_shapes": [], "input_types": [],
                               "outputs": values[:1], "output_shapes": [], "output_types": []})

    def compute(self):
        self.node("aten::mm", [[8, 9, 0, 64, 4, "cuda:0"]], [])

    def tensor(self, n):
        return [600, 601, 0, n, 4, f"cuda:{self.rank}"]

    def call(self, op, n, group="0", who=None, splits=None):
        """A call of n elements of 4 bytes; returns its number, for wait()."""
        self.sequence += 1
        members = self.groups[group]
        who = members.index(self.rank) if who is None else who
        tensor = [self.tensor(n)] if op == "all_reduce" else self.tensor(n)
        pg = [group, "default_pg" if group == "0" else f"mesh_{group}"] if self.attributes else 94598104288448
        text = json.dumps(splits or [])
        self.node("record_param_comms", [tensor, self.sequence, pg, who, WORDS[op], splits or [], splits or []],
                  [("collective_name", WORDS[op]), ("dtype", "Float"), ("in_msg_nelems", n), ("out_msg_nelems", n), ("in_split_size", text),
                   ("out_split_size", text), ("pg_name", group), ("pg_desc", "default_pg" if group == "0" else f"mesh_{group}"), ("pg_size", len(members))])
        return self.sequence

    def wait(self, number):
        pg = ["", ""] if self.attributes else 0
        self.node("record_param_comms", [number, pg, self.rank, "wait", [], []], [("collective_name", "wait"), ("dtype", "Byte"), ("in_msg_nelems", 0), ("out_msg_nelems", 0)])

    def text(self):
        nodes = self.nodes[::-1]  # the file has the order of ends
        schema = "1.1.0-chakra.0.0.4" if self.attributes else "1.0.1"
        return json.dumps({"schema": schema, "pid": 100 + self.rank, "time": "2024-04-29 16:23:47", "start_ts": 1, "nodes": nodes, "finish_ts": 2})


def put(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with (gzip.open if name.endswith(".gz") else open)(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def imported(folder, where, *more):
    out = os.path.join(folder, "out.json")
    for name in ("out.json", "out.nodes.jsonl"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    done = call("import", where, "-o", out, *more)
    made = os.path.exists(out)
    if made != (done.returncode == 0) or done.returncode not in (0, 2):
        expect(f"{where}: written or an error", False)
    return (done, *check_import.program(os.path.join(folder, "out.nodes.jsonl"))) if made else (done, None, None)


def mesh(rank):
    """Four ranks as tensor pairs and data pairs; the second data collective begins without a wait."""
    groups = {"0": [0, 1, 2, 3], "1": [0, 1], "2": [2, 3], "3": [0, 2], "4": [1, 3]}
    tensor, data = str(1 + rank // 2), str(3 + rank % 2)
    g = Graph(rank, groups)
    g.wait(g.call("broadcast", 1000, who=2))
    first = g.call("all_reduce", 4096, tensor)
    g.compute()
    g.call("all_gather", 8192, data)
    g.wait(first)
    g.call("reduce_scatter", 2048, data)
    g.wait(g.call("all_reduce", 4096, tensor))
    if rank in (0, 2):
        g.call("send" if rank == 0 else "recv", 512, "3", who=1 - rank // 2)
    g.call("barrier", 0)
    return g


def check_shapes(folder):
    where = os.path.join(folder, "mesh")
    for rank in range(4):
        put(where, f"et{7 * rank}.json" + (".gz" if rank == 1 else ""), mesh(rank).text())  # the ranks are in the graphs
    done, groups, nodes = imported(folder, where)
    expect("mesh: read", done.returncode == 0 and "4 files: a graph of PyTorch's ExecutionTraceObserver" in done.stdout
           and "assumed: collectives wait for no computation: the graph has no durations" in done.stdout and "clocks" not in done.stdout and "computes" not in done.stdout)
    if nodes is None:
        print(done.stderr)
        return
    expect("mesh: groups", groups == {"pg0": [0, 1, 2, 3], "pg1": [0, 1], "pg2": [2, 3], "pg3": [0, 2], "pg4": [1, 3]})
    got = [(n.get("op", n["kind"]), n.get("group"), n.get("bytes"), n.get("root", 0), n.get("after", []), n["stream"]) for n in nodes[0]]
    streams = [n[5] for n in got]
    expect("mesh: rank 0", [n[:5] for n in got] == [
        ("broadcast", "pg0", 4000, 2, []), ("all_reduce", "pg1", 16384, 0, [0]), ("all_gather", "pg3", 32768, 0, [0]), ("reduce_scatter", "pg3", 8192, 0, [1]),
        ("all_reduce", "pg1", 16384, 0, []), ("send", None, 2048, 0, [4]), ("barrier", "pg0", None, 0, [4])])
    expect("mesh: a stream of each group", streams[1] == streams[4] and streams[2] == streams[3] == streams[5] and len(set(streams)) == 3)
    expect("mesh: the message", [n for n in nodes[2] if n["kind"] == "recv"][0]["from"] == 0 and nodes[0][5]["to"] == 2)
    out = os.path.join(folder, "out.json")
    ran = call("run", out, "--out", os.path.join(folder, "run"))
    expect("mesh: runs", ran.returncode == 0)
    done, _, _ = imported(folder, where, "--strict")
    expect("mesh: --strict", done.returncode == 2 and "--strict: would be assumed: collectives wait for no computation" in done.stderr)
    one = put(folder, "one.json", mesh(0).text())
    done, _, _ = imported(folder, one)
    expect("one of four ranks", done.returncode == 2 and "of 4 ranks, 3 are missing: 1, 2, 3" in done.stderr)
    plain = Graph(0, {"0": list(range(8))})
    plain.call("all_reduce", 1 << 20)
    done, groups, nodes = imported(folder, put(folder, "plain.json", plain.text()), "--replicate")
    expect("--replicate", nodes is not None and groups == {"pg0": list(range(8))} and len(nodes) == 8)


def check_old(folder):
    """Schema 1.0: no attributes, and a process group without a name."""
    where = os.path.join(folder, "old")
    for rank in range(2):
        g = Graph(rank, {"0": [0, 1]}, attributes=False)
        g.call("all_to_all", 600, splits=[200, 400])
        g.wait(g.call("all_reduce", 1000))
        put(where, f"x{rank}.json", g.text())
    done, _, _ = imported(folder, where)
    expect("schema 1.0 without --ranks", done.returncode == 2 and "--ranks N says of how many ranks" in done.stderr)
    done, groups, nodes = imported(folder, where, "--ranks", "2")
    expect("schema 1.0", nodes is not None and groups == {"world": [0, 1]} and [n["bytes"] for n in nodes[1]] == [2400, 4000]
           and "the process group is all 2 ranks of the job" in done.stdout)
    two = json.loads(Graph(0, {"0": [0, 1]}, attributes=False).text())
    for pg in (1, 2):
        two["nodes"].append({"id": pg, "name": "record_param_comms", "inputs": [[[1, 1, 0, 8, 4, "cuda:0"]], pg, pg, 0, "allreduce", [], []], "outputs": []})
    done, _, _ = imported(folder, put(folder, "two.json", json.dumps(two)), "--ranks", "2")
    expect("schema 1.0 with two groups", done.returncode == 2 and "a second process group" in done.stderr and "byte " in done.stderr)


def check_wrong(folder):
    good = mesh(0).text()
    cases = (("an operation that is none", good.replace('"allreduce"', '"sparkle"'), '"sparkle" cannot be simulated'),
             ("a type that is none", good.replace('"Float"', '"Sparkle"'), 'dtype: "Sparkle" is no known type'),
             ("negative elements", good.replace('"value": 4096', '"value": -4096'), "In msg nelems: -4096 is no number of elements"),
             ("no ids", good.replace('"id": 4,', '"id": "four",'), "id: must be a whole number"),
             ("no groups", good.replace("process_group:init", "process_group:gone"), "its ranks are not listed in full"),
             ("a peer beyond the group", good.replace('["3", "mesh_3"], 1, "send"', '["3", "mesh_3"], 7, "send"'), "a message with member 7 of a group of 2"),
             ("no communication", Graph(0, {"0": [0, 1]}).text(), ""),
             ("cut off", good[:len(good) // 2], "byte "), ("no nodes", '{"schema": "1.1.1-chakra.0.0.4", "pid": 5, "nodes": []}', "has no nodes"),
             ("two of a rank", None, "rank 0 is that of"))
    for what, text, says in cases:
        where = os.path.join(folder, what.replace(" ", "-"))
        put(where, "rank0.json", text if text is not None else good)
        if text is None:
            put(where, "rank1.json", good)
        done, _, _ = imported(folder, where)
        held = done.returncode == 2 and says in done.stderr
        expect(f"wrong: {what}", held)
        if not held:
            print(done.stderr)
    rng = random.Random(7)
    for i in range(60):
        data = bytearray(good.encode())
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.choice(b'0123456789-,:[]{}"eE. \0\xff')
        imported(folder, put(folder, f"drawn/{i}/rank0.json", bytes(data)), "--as", "observer")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_shapes(folder)
        check_old(folder)
        check_wrong(folder)
    print(f"{len(FAILED)} failed" if FAILED else "all hold")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
