#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire import kineto of traces before PyTorch 2.4, of some ranks only, and what such traces name of the machine.

usage: check_before24.py, with the executable in $COLLWIRE.
"""
import json
import os
import random
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_import  # noqa: E402
import check_mistakes  # noqa: E402
import traces  # noqa: E402

FAILED, expect, call = check_import.FAILED, check_import.expect, check_import.call


def write(folder, name, run, edit=None, ranks=None):
    """Traces in the old form; edit(trace) changes each. The folder."""
    where = os.path.join(folder, name)
    os.makedirs(where)
    for rank in ranks if ranks is not None else range(len(run.ranks)):
        trace = traces.kineto_trace(run, rank, "annotation")
        trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": len(run.ranks)}
        if edit:
            edit(trace)
        with open(os.path.join(where, f"worker{rank}.json"), "w", encoding="utf-8") as file:
            json.dump(trace, file)
    return where


def imported(folder, where, *more):
    out = os.path.join(folder, "job.json")
    done = call("import", "kineto", where, "-o", out, *more)
    if done.returncode != 0:
        print(done.stderr)
        return done, None, {}, {}
    groups, nodes = check_import.program(os.path.join(folder, "job.nodes.jsonl"))
    return done, check_import.read(out), groups, nodes


def collectives(nodes, rank):
    return [(n["op"], n["bytes"]) for n in nodes.get(rank, []) if n["kind"] == "collective"]


def annotations(trace, word="nccl:"):
    """Those around launches, which have sizes of four bytes."""
    return [e for e in trace["traceEvents"] if e["name"].startswith(word) and e["args"].get("Input type") == ["float"]]


def drawn(seed):
    """A random run of one group; broadcasts and reduce-scatters too."""
    rng = random.Random(seed)
    n = rng.choice([2, 3, 4])
    ranks = [[("compute", 5)] for _ in range(n)]
    for _ in range(20):
        op, size, late = rng.choice(sorted(traces.NAMES)), 4 * n * rng.randrange(1, 200000), rng.random() < 0.5
        for mine in ranks:
            mine += [("compute", rng.randrange(1, 90)), ("call", "comm0", "0", op, size)] + ([("wait", "comm0")] if late else [])
    for mine in ranks:
        mine += [("wait", "comm0"), ("compute", 9)]
    return traces.Run({"0": list(range(n))}, ranks)


def messages():
    """Three stages of a pipeline in one group."""
    ranks = [[], [], []]
    for micro in range(3):
        for r in range(3):
            if r > 0:
                ranks[r] += [("recv", "comm1", "0", r - 1, 80000 + 8 * micro), ("wait", "comm1")]
            ranks[r] += [("compute", 30 + r)]
            if r < 2:
                ranks[r] += [("send", "comm1", "0", r + 1, 80000 + 8 * micro)]
    return traces.Run({"0": [0, 1, 2]}, ranks)


def dlrm(ranks):
    """What a DLRM of eight A100 calls: all-to-alls of embeddings, all-reduces of gradients."""
    steps = []
    for _ in range(2):
        steps += [("compute", 200), ("call", "comm0", "0", "all_to_all", 8 << 20), ("wait", "comm0"), ("compute", 350),
                  ("call", "comm0", "0", "all_to_all", 8 << 20), ("call", "comm0", "0", "all_reduce", 12 << 20),
                  ("call", "comm0", "0", "all_reduce", 4 << 20), ("wait", "comm0"), ("compute", 80)]
    return traces.Run({"0": list(range(ranks))}, [steps] * ranks)


def check_read(folder):
    for what, run in (("data parallel", check_import.data_parallel(4, 2)), ("messages", messages()),
                      *((f"drawn {seed}", drawn(seed)) for seed in range(12))):
        done, _, _, _ = imported(folder, write(folder, f"old-{what}", run))
        expect(f"before 2.4, {what}: imported", done.returncode == 0)
        if done.returncode == 0:
            check_import.check_program(f"before 2.4, {what}", run, os.path.join(folder, "job.nodes.jsonl"), lambda _: "world", timed="all")
            expect(f"before 2.4, {what}: says what it assumed", "assumed: the group of a call is all" in done.stdout)


def check_forms(folder):
    run = check_import.data_parallel(2, 1)
    want = [("all_reduce", 400000 * (k + 1)) for k in range(4)]

    def late(trace):  # annotations that have ended before the launch: by External id
        for event in annotations(trace):
            event["ts"] -= 0.3

    def lists(trace):  # tensors of a list, scalars, other types, and arguments that are no tensors
        for event, size in zip(sorted(annotations(trace), key=lambda e: e["ts"]), want):
            half = size[1] // 4
            event["args"].update({"Input Dims": [[[half, 1], [1, half - 1]], [], []], "Input type": ["c10::BFloat16", "c10::Half", ""]})

    def ancient(trace):  # the words of versions before 1.12
        words = {"kernel": "Kernel", "cuda_runtime": "Runtime", "cpu_op": "Operator", "user_annotation": "Operator"}
        for event in trace["traceEvents"]:
            event["cat"] = words.get(event.get("cat"), event.get("cat", ""))
            if event["cat"] == "Kernel":
                event["args"]["external id"] = event["args"].pop("External id")
        trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("ph") == "M" or not e["name"].startswith("ProfilerStep")]

    def ancient_late(trace):
        late(trace)
        ancient(trace)

    for what, edit in (("before 1.12", ancient), ("before 1.12, by id", ancient_late), ("by External id", late), ("lists of tensors", lists)):
        done, _, _, nodes = imported(folder, write(folder, f"form-{what}", run, edit))
        expect(f"{what}: {collectives(nodes, 0)}", done.returncode == 0 and collectives(nodes, 0) == want)

    def uneven(trace):  # what the members of an all_to_all send differs
        for event in annotations(trace):
            event["name"] = "nccl:all_to_all"
            event["args"]["Input Dims"] = [[1000 + trace["distributedInfo"]["rank"]]]
        for event in trace["traceEvents"]:
            event["name"] = event["name"].replace("ncclKernel_AllReduce", "ncclKernel_SendRecv")

    done, _, _, nodes = imported(folder, write(folder, "form-uneven", run, uneven))
    got = [n["vectors"] for n in nodes[1] if n["kind"] == "collective"]
    expect("all_to_alls of different sizes", got == [{"bytes": [4000, 4004], "of": "senders"}] * 4)

    def two(trace):  # two kernels in one annotation
        first = sorted(annotations(trace), key=lambda e: e["ts"])[0]
        first["dur"] += 1000
        for event in annotations(trace):
            if event is not first:
                trace["traceEvents"].remove(event)
        trace["traceEvents"] = [e for e in trace["traceEvents"] if e["name"] not in ("nccl:coalesced", "nccl:broadcast")]

    done, _, _, nodes = imported(folder, write(folder, "form-two", run, two))
    expect("kernels of one annotation", collectives(nodes, 1) == [("all_reduce", 100000)] * 4 and "carry equal parts of its bytes" in done.stdout)
    done = call("import", "kineto", write(folder, "form-strict", run), "-o", os.path.join(folder, "strict.json"), "--strict")
    expect("--strict makes assumptions errors", done.returncode == 2 and "--strict: would be assumed: the group of a call is all 2 ranks" in done.stderr
           and not os.path.exists(os.path.join(folder, "strict.json")))


def check_refused(folder):
    run = check_import.data_parallel(2, 1)

    def edit(**change):
        return lambda trace: annotations(trace)[1]["args"].update(change)

    def without(key):
        return lambda trace: annotations(trace)[1]["args"].pop(key)

    def renamed(name):
        return lambda trace: annotations(trace)[1].update(name=name)

    def bare(trace):
        trace["traceEvents"] = [e for e in trace["traceEvents"] if not e["name"].startswith("nccl:")]

    cases = [
        ("no sizes", without("Input Dims"), r"worker0.json: byte \d+: annotation nccl:allreduce has no \"Input Dims\" and types: record_shapes=True adds them"),
        ("no list", edit(**{"Input Dims": "4, 5"}), 'has no "Input Dims"'),
        ("empty", edit(**{"Input Dims": [], "Input type": []}), 'has no "Input Dims"'),
        ("no elements", edit(**{"Input Dims": [[0]]}), 'has no "Input Dims"'),
        ("negative", edit(**{"Input Dims": [[-4]]}), 'has "Input Dims" that are no sizes of tensors'),
        ("fractions", edit(**{"Input Dims": [[4.5]]}), 'has "Input Dims" that are no sizes of tensors'),
        ("huge", edit(**{"Input Dims": [[1 << 40, 1 << 40]]}), 'has "Input Dims" that are no sizes of tensors'),
        ("nested", edit(**{"Input Dims": [[[[[[[[[[[[5]]]]]]]]]]]]}), 'has "Input Dims" that are no sizes of tensors'),
        ("type", edit(**{"Input type": ["quaternion"]}), 'has an "Input type" that is not known'),
        ("type is no text", edit(**{"Input type": [7]}), 'has an "Input type" that is not known'),
        ("operation", renamed("nccl:sparkle"), "annotation nccl:sparkle is no operation that can be simulated"),
        ("no peer", renamed("nccl:send"), "annotation nccl:send does not name the other rank of the message"),
        ("another operation", renamed("nccl:all_gather"), "the kernel is all_reduce, and its annotation nccl:all_gather"),
        ("no annotation", bare, 'worker0.json: byte .* 4 kernels of NCCL, of which this is the first, have no "Collective name", .* no nccl: annotation encloses'),
        ("no world", lambda trace: trace["distributedInfo"].pop("world_size"), "no world_size in distributedInfo, .*: --ranks N says"),
    ]
    for what, change, sentence in cases:
        check_mistakes.refused(f"before 2.4, {what}", "kineto", write(folder, f"bad-{what}", run, change), sentence)
    done, _, groups, _ = imported(folder, write(folder, "world-given", run, lambda trace: trace["distributedInfo"].pop("world_size")), "--ranks", "2")
    expect("the world by --ranks", done.returncode == 0 and groups == {"world": [0, 1]})
    check_mistakes.refused("--ranks against the files", "kineto", write(folder, "world-other", run), "world_size 2, and --ranks 4: collwire synth", more=("--ranks", "4"))


def check_some_ranks(folder):
    run = check_import.data_parallel(8, 1)
    where = write(folder, "some", run, ranks=[0, 1])
    check_mistakes.refused("some ranks", "kineto", where, "of 8 ranks, 6 are missing: 2, 3, 4, 5, 6, 7; with --replicate they do what recorded ones did")
    done, _, groups, nodes = imported(folder, where, "--replicate")
    expect("replicated: all ranks", done.returncode == 0 and sorted(nodes) == list(range(8)) and groups == {"world": list(range(8))})
    same = {r: [{k: v for k, v in n.items() if k != "rank"} for n in nodes[r]] for r in nodes}
    expect("replicated: as rank modulo 2", all(same[r][-8:] == same[r % 2][-8:] for r in nodes))
    expect("replicated: said", "assumed: ranks 2 to 7 do what the rank of their number modulo 2 did" in done.stdout)
    _, _, _, nodes = imported(folder, write(folder, "apart", run, ranks=[1, 4]), "--replicate")
    counts = [sum(check_import.nanoseconds(n["time"]) for n in nodes[r] if n["kind"] == "compute") for r in range(8)]
    expect("replicated: as the last one before", counts[0] == counts[1] == counts[3] != counts[4] == counts[7])

    # groups that the files name: two of four neighbours, and four pairs across
    groups = {"1": [0, 1, 2, 3], "2": [4, 5, 6, 7], **{str(3 + r): [r, r + 4] for r in range(4)}}
    ranks = [[("compute", 20), ("call", "comm0", str(1 + r // 4), "all_reduce", 80000), ("wait", "comm0"), ("compute", 30),
              ("call", "comm1", str(3 + r % 4), "all_reduce", 160000)] for r in range(8)]
    run = traces.Run(groups, ranks)
    where = os.path.join(folder, "grid")
    traces.write_kineto(where, run)
    for rank in range(1, 8):
        os.remove(os.path.join(where, f"worker{rank}.json"))
    done, _, got, nodes = imported(folder, where, "--replicate")
    members = {r: [got[n["group"]] for n in nodes.get(r, []) if n["kind"] == "collective"] for r in range(8)}
    expect(f"replicated: groups of their places {members}", done.returncode == 0 and
           all(members[r] == [groups[str(1 + r // 4)], groups[str(3 + r % 4)]] for r in range(8)))
    traces.write_kineto(os.path.join(folder, "odd"), traces.Run({"1": [0, 1, 2], "2": [3, 4, 5, 6, 7]}, [
        [("compute", 20), ("call", "comm0", "1" if r < 3 else "2", "all_reduce", 80000)] for r in range(8)]))
    os.remove(os.path.join(folder, "odd", "worker3.json"))
    check_mistakes.refused("replicated: no grid", "kineto", os.path.join(folder, "odd"), "group pg1 cannot be replicated: its ranks are not equally far",
                           more=("--replicate",))
    pipe = write(folder, "pipe", messages(), ranks=[0])
    check_mistakes.refused("replicated: messages to nowhere", "kineto", pipe, "rank 2 cannot do what rank 0 did: its message would be with rank 3 of 3",
                           more=("--replicate",))


def check_named(folder):
    def named(gpu, **more):
        def edit(trace):
            trace["deviceProperties"] = [{"id": i, "name": gpu} for i in range(8)]
            trace["distributedInfo"].update(more)
        return edit

    given = traces.takes_us  # written for this test: 170 GB/s of busbw at 12 MiB, 130 at 4 MiB, 140 of all-to-alls; no measurements
    traces.takes_us = {8 << 20: 53, 12 << 20: 130, 4 << 20: 56}.__getitem__
    run = dlrm(8)
    traces.takes_us = given
    done, job, _, _ = imported(folder, write(folder, "a100", run, named("NVIDIA A100-SXM4-40GB")))
    expect("A100: machine and library", done.returncode == 0 and job["topology"] == {"machine": "dgx_a100", "nodes": 1}
           and job["workload"]["library"] == {"kind": "nccl", "nccl": "2.21.5"})
    expect("A100: said", "from the traces: NVIDIA A100-SXM4-40GB, 8 GPUs in 1 server: machine dgx_a100" in done.stdout
           and "assumed: the version of NCCL is 2.21.5" in done.stdout)
    out = os.path.join(folder, "out")
    done = call("run", os.path.join(folder, "job.json"), "--quiet", "--out", out)
    metrics = check_import.read(os.path.join(out, "metrics.json"))
    measured = metrics["measured_collectives"]
    expect(f"A100: simulated is {measured['ratio']:.3f} of what the trace has", measured["count"] == 8 and 0.8 < measured["ratio"] < 1.2)
    _, job, _, _ = imported(folder, write(folder, "h100", run, named("NVIDIA H100 80GB HBM3", nccl_version="2.26.2")))
    expect("H100: version", job["topology"]["machine"] == "dgx_h100" and job["workload"]["library"]["nccl"] == "2.27.7")
    _, job, _, _ = imported(folder, write(folder, "two", check_import.data_parallel(2, 1), named("Tesla V100-SXM2-32GB")))
    expect("two of a server's GPUs", job["topology"] == {"machine": {"like": "dgx2", "gpus": 2, "nics": 1}, "nodes": 1})
    done, job, _, _ = imported(folder, write(folder, "gtx", run, named("NVIDIA GeForce RTX 3090")))
    expect("a GPU of no known server", "library" not in job["workload"] and "not named: a server for this GPU" in done.stdout)


def check_nsys_names(folder):
    """Exports of Nsight Systems list the GPUs of their host."""
    where = os.path.join(folder, "nsys")
    traces.write_nsys(where, check_import.data_parallel(2, 1))
    for name in os.listdir(where):
        with sqlite3.connect(os.path.join(where, name)) as db:
            db.execute("CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, busLocation TEXT)")
            db.executemany("INSERT INTO TARGET_INFO_GPU VALUES (0, ?, 'NVIDIA H100 80GB HBM3', '')", [(i,) for i in range(2)])
        db.close()
    out = os.path.join(folder, "job.json")
    done = call("import", "nsys", where, "-o", out)
    job = check_import.read(out) if done.returncode == 0 else {}
    expect("nsys: machine and library", job.get("topology") == {"machine": {"like": "dgx_h100", "gpus": 2, "nics": 2}, "nodes": 1}
           and job["workload"]["library"]["kind"] == "nccl")
    with sqlite3.connect(os.path.join(where, name)) as db:
        db.execute("UPDATE TARGET_INFO_GPU SET name = 5.5")
        db.execute("UPDATE TARGET_INFO_GPU SET name = x'00ff' WHERE id = 1")
    db.close()
    check_mistakes.refused("nsys: a GPU's name is no text", "nsys", where, "TARGET_INFO_GPU.name is a blob, not a text")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_read(folder)
        check_forms(folder)
        check_refused(folder)
        check_some_ranks(folder)
        check_named(folder)
        check_nsys_names(folder)
    print(f"{len(FAILED)} failed" if FAILED else "all hold")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
