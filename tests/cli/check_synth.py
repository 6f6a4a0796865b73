#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire synth: sizes, scales, repetitions and names of made sets; lists of flows; refusals. (tests/cli/synth/fidelity.py has
times on networks.)

usage: check_synth.py SCENARIOS, with the executable in $COLLWIRE.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def call(*args):
    return subprocess.run([COLLWIRE, *args], capture_output=True, text=True, check=False)


def write(folder, name, value):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def lines(path):
    return [json.loads(line) for line in read(path).splitlines()]


def nodes(path):
    return [line for line in lines(path) if "rank" in line]


def model(ranks, **more):
    return {"name": "model", "topology": {"dims": [{"kind": "switch", "size": ranks, "link": {"rate": "400Gbps", "delay": "1us"}}]},
            "workload": {"kind": "llm", "model": "custom", "hidden": 1024, "heads": 8, "vocabulary": 8192, "sequence": 512,
                         "layers": 4, "tensor": 2, "pipeline": 2, "micro_batch": 1, **more}}


def synth(folder, path, *more):
    out = os.path.join(folder, "made.json")
    made = call("synth", path, "-o", out, *more)
    expect(f"synth {' '.join(more)}", made.returncode == 0)
    if made.returncode != 0:
        print(made.stderr)
    return out, made


def run(folder, path):
    out = os.path.join(folder, "out")
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out], check=True)
    return json.loads(read(os.path.join(out, "metrics.json")))


def uses(metrics):
    return {use["name"]: use["bytes"] for use in metrics["programs"][0]["uses"]}


def sums(made, key, of):
    """Sum of a key over nodes of a kind, times as ps."""
    return sum(int(str(node[key]).removesuffix("ps")) for node in nodes(made) if node["kind"] == of and key in node)


def check_ranks(folder):
    """More replicas are what a model with more data parallelism has, and fewer, too: bytes exactly, times to 2 %."""
    four, eight = (write(folder, f"data{data}.json", model(4 * data, data=data, global_batch=4 * data)) for data in (2, 4))
    for source, target, ranks in ((four, eight, 16), (eight, four, 8)):
        made, _ = synth(folder, source, "--ranks", str(ranks))
        ours, theirs = run(folder, made), run(folder, target)
        expect(f"bytes of each use of {ranks} ranks: {uses(ours)}", uses(ours) == uses(theirs))
        ratio = ours["programs"][0]["total_ns"] / theirs["programs"][0]["total_ns"]
        expect(f"total of {ranks} ranks over the model's own: {ratio:.4f}", abs(ratio - 1) < 0.02)
    # groups that no collective is of (those of tied embeddings, say) are not in the table: the set that keeps all has a ratio of 1
    for source in (four, eight, write(folder, "tensor8.json", model(16, data=2, tensor=8, pipeline=1, global_batch=16))):
        rows = [line for line in synth(folder, source)[1].stdout.splitlines() if line.startswith("groups of ")]
        expect(f"groups that are kept: {rows}", rows and all(row.endswith(" +0.0 %") for row in rows))
    made, _ = synth(folder, four, "--ranks", "16", "--grow", "data,tensor")
    groups = next(line["groups"] for line in lines(made.replace(".json", ".jsonl")) if "groups" in line)
    expect("--grow data,tensor: groups of 4 at least", all(len(ranks) >= 4 for ranks in groups.values()))


def check_scale(folder):
    """Times and sizes by their powers of the width."""
    source = write(folder, "data2.json", model(8, data=2, global_batch=8))
    plain = os.path.join(folder, "plain.jsonl")
    call("workload", "llm", source, "-o", plain)
    made, _ = synth(folder, source, "--scale", "hidden=2")
    made = made.replace(".json", ".jsonl")
    ratio = sums(made, "time", "compute") / sums(plain, "time", "compute")
    expect(f"hidden=2: times {ratio:.4f}", abs(ratio / 4 - 1) < 0.01)
    expect("hidden=2: messages twice as large", sums(made, "bytes", "send") == 2 * sums(plain, "bytes", "send"))
    for use, factor in (("tensor", 2), ("data", 4)):
        ours, theirs = (sum(n["bytes"] for n in nodes(path) if n["kind"] == "collective" and n["use"] == use) for path in (made, plain))
        expect(f"hidden=2: bytes of {use} {ours / theirs}", ours == factor * theirs)
    made, _ = synth(folder, source, "--scale", "batch=3,bytes=0.5")
    made = made.replace(".json", ".jsonl")
    expect("batch=3,bytes=0.5: messages", sums(made, "bytes", "send") * 2 == 3 * sums(plain, "bytes", "send"))


def check_repeat(folder):
    source = write(folder, "data2.json", model(8, data=2, global_batch=8))
    once = run(folder, source)["programs"][0]["total_ns"]
    made, _ = synth(folder, source, "--repeat", "3")
    ratio = run(folder, made)["programs"][0]["total_ns"] / once
    expect(f"--repeat 3: {ratio:.3f} times as long", abs(ratio / 3 - 1) < 0.03)


def check_names(folder):
    """No name of the source, the same bytes for the same seed, others for another."""
    source = write(folder, "data2.json", model(8, data=2, global_batch=8))
    texts = []
    for seed in ("4", "4", "5"):
        made, _ = synth(folder, source, "--seed", seed)
        texts.append(read(made) + read(made.replace(".json", ".jsonl")))
    expect("same seed, same bytes", texts[0] == texts[1])
    expect("another seed, another set", texts[0] != texts[2])
    expect("no name of a layer or an operation", "layer0" not in texts[0] and "attention" not in texts[0] and "tensor0" not in texts[0])
    _, made = synth(folder, source, "--format", "json")
    measures = {each["measure"]: each for each in json.loads(made.stdout)["measures"]}
    expect("measures as JSON", measures["ranks"] == {"measure": "ranks", "source": 8.0, "synthetic": 8.0})


def bursty(count):
    """Flows in bursts of 16 to one receiver, sizes of a heavy tail."""
    draw, now, rows = random.Random(1), 0, []
    while len(rows) < count:
        now += int(draw.expovariate(1 / 200_000))
        to = draw.choice([0, 0, 0, 1, 2, 3])
        for sender in draw.sample([rank for rank in range(16) if rank != to], 12):
            now += draw.randrange(500)
            rows.append((sender, to, int(1000 * draw.paretovariate(1.5)), now))
    return rows[:count]


def table(folder, name, rows):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("src", "dst", "bytes", "start_ns"), *rows])
    return path


def check_flows(folder):
    source, out = table(folder, "flows.csv", bursty(12000)), os.path.join(folder, "like.csv")
    made = call("synth", source, "-o", out, "--flows", "36000", "--format", "json")
    expect("synth of flows", made.returncode == 0)
    for each in json.loads(made.stdout)["measures"]:
        name, ours, theirs = each["measure"], each["synthetic"], each["source"]
        limit = 0.15 if "99" in name or "variance" in name or "mean" in name else 0.1 if "share" in name else 0.05
        if name not in ("flows", "from first to last start, s"):
            expect(f"{name}: {ours:.4g} of {theirs:.4g}", abs(ours / theirs - 1) <= limit)
    with open(out, encoding="utf-8") as file:
        rows = [tuple(map(int, row)) for row in list(csv.reader(file))[1:]]
    expect("36,000 flows in order of start", len(rows) == 36000 and all(a[3] <= b[3] for a, b in zip(rows, rows[1:])))
    expect("pairs of the source", {row[:2] for row in rows} <= {row[:2] for row in bursty(12000)})
    made = call("synth", source, "-o", out, "--ranks", "32", "--quiet")
    with open(out, encoding="utf-8") as file:
        rows = [tuple(map(int, row)) for row in list(csv.reader(file))[1:]]
    expect("32 ranks", made.returncode == 0 and max(max(row[:2]) for row in rows) == 31 and len(rows) == 24000)


def check_capture(folder):
    scenario = {"name": "incast", "topology": {"dims": [{"kind": "switch", "size": 9, "link": {"rate": "100Gbps", "delay": "1us"}}]},
                "workload": {"kind": "incast", "receiver": 8, "bytes": "200KB"},
                "capture": [{"at": "rank8", "file": "in.pcapng"}]}
    subprocess.run([COLLWIRE, "run", write(folder, "incast.json", scenario), "--quiet", "--out", os.path.join(folder, "o")], check=True)
    out = os.path.join(folder, "like.csv")
    made = call("synth", os.path.join(folder, "o", "in.pcapng"), "-o", out, "--flows", "40")
    expect("synth of a capture", made.returncode == 0 and len(read(out).splitlines()) == 41)
    scenario |= {"workload": {"kind": "flows", "file": "like.csv"}, "name": "again"}
    scenario.pop("capture")
    expect("its flows run", call("run", write(folder, "again.json", scenario), "--quiet", "--out", os.path.join(folder, "p")).returncode == 0)


def check_refusals(folder, scenarios):
    source = write(folder, "data2.json", model(8, data=2, global_batch=8))
    out = os.path.join(folder, "refused.json")
    flows = table(folder, "few.csv", bursty(100))
    other = os.path.join(scenarios, "incast.json")
    for args, words in (
            ((source,), ("-o",)), ((source, "-o", out, "--ranks", "12"), ("--ranks", "multiple")),
            ((source, "-o", out, "--scale", "depth=2,hidden=x"), ("depth=2", "hidden=x")),
            ((source, "-o", out, "--grow", "nobody"), ("--grow", "nobody")),
            ((source, "-o", out, "--ranks", "2", "--grow", "data"), ("--ranks", "leave 0 ranks")),
            ((source, "-o", out, "--flows", "7"), ("--flows",)),
            ((other, "-o", out), ("workload",)), ((flows, "-o", out, "--scale", "hidden=2", "--repeat", "2"), ("--scale", "--repeat")),
            ((flows, "-o", out, "--ranks", "17"), ("--ranks",)), ((os.path.join(folder, "none.csv"), "-o", out), ("none.csv",)),
            ((source, "-o", out, "--network", other + "x"), ("incast.jsonx",)),
            ((source, "-o", out, "--scale", "hidden=1000000,time=1000000"), ("--scale", "1 PB")),
            ((flows, "-o", out, "--seed", "x"), ("--seed",)), ((flows, "-o", out, "--set", "a.b=1"), ("--set",)),
            ((table(folder, "far.csv", [(4294967295, 1, 10, 0)]), "-o", out), ("far.csv", "262143")),
            ((source, "-o", out, "--ranks", "16", "--network", source), ("ranks",))):
        made = call("synth", *args)
        expect(f"refused: {' '.join(args[1:])}", made.returncode == 2 and all(word in made.stderr for word in words))
        if made.returncode != 2 or not all(word in made.stderr for word in words):
            print(made.returncode, made.stdout, made.stderr)
    expect("nothing written", not [name for name in os.listdir(folder) if name.startswith("refused")])


def check_places(folder):
    """Roots and placements stay where they were; a list is read from the working directory, too."""
    job = {"kind": "program", "ranks": [0, 2, 4, 6], "groups": {"odd": {"ranks": [3, 0, 1, 2], "use": "data"}},
           "nodes": [{"rank": "all", "kind": "collective", "op": "broadcast", "bytes": "1MB", "group": "odd", "root": 1}]}
    source = write(folder, "root.json", model(8) | {"workload": job})
    made, _ = synth(folder, source)
    expect("ranks of the job", json.loads(read(made))["workload"]["ranks"] == [0, 2, 4, 6])
    made, _ = synth(folder, source, "--ranks", "2", "--grow", "data", "--network", write(folder, "two.json", model(2)))
    first, node = (lines(made.replace(".json", ".jsonl"))[i] for i in (0, 1))
    expect(f"root of fewer ranks: {first}, {node['root']}", list(first["groups"].values())[0][node["root"]] == 0)
    table(folder, "here.csv", bursty(100))
    done = subprocess.run([os.path.abspath(COLLWIRE), "synth", "here.csv", "-o", "there.csv"], cwd=folder, capture_output=True, text=True, check=False)
    expect("a list in the working directory", done.returncode == 0)
    os.makedirs(os.path.join(folder, "a.json"))
    with open(os.path.join(folder, "a.jsonl"), "w", encoding="utf-8") as file:
        file.write("mine")
    done = call("synth", source, "-o", os.path.join(folder, "a.json"))
    expect("where the scenario cannot be written, the nodes stay", done.returncode != 0 and read(os.path.join(folder, "a.jsonl")) == "mine")
    expect("no file is left", not [name for name in os.listdir(folder) if "collwire-" in name])


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_ranks(folder)
        check_scale(folder)
        check_repeat(folder)
        check_names(folder)
        check_flows(folder)
        check_capture(folder)
        check_places(folder)
        check_refusals(folder, sys.argv[1])
    if FAILED:
        sys.exit(f"{len(FAILED)} failed")


if __name__ == "__main__":
    main()
