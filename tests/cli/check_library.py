#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire library nccl: text, JSON, errors, and the comparison with logs, made ones and published ones.

usage: check_library.py DATA, the folder tests/data/nccl, with the executable in $COLLWIRE.
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
DATA = sys.argv[1]
failures = []

# The machines of the vectors, by the names of this program.
MACHINES = {"dgxa100": "dgx_a100", "dgxh100": "dgx_h100", "dgxb200": "dgx_b200", "gh200x4": "gh200",
            "1gpu-a100-100": "1gpu_a100_100", "1gpu-h100-400": "1gpu_h100_400"}
OPS = {"AllReduce": "all_reduce", "AllGather": "all_gather", "ReduceScatter": "reduce_scatter",
       "Broadcast": "broadcast", "Reduce": "reduce"}


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def library(*args, name="nccl"):
    done = subprocess.run([COLLWIRE, "library", name, *args], capture_output=True, text=True,
                          timeout=100, check=False)
    return done.returncode, done.stdout, done.stderr


def described(machine, nodes, *args):
    code, stdout, stderr = library("--machine", machine, "--nodes", str(nodes), "--format", "json", *args)
    expect(code == 0 and stderr == "", f"{machine} x {nodes} {args}: {code}, {stderr!r}")
    return json.loads(stdout) if code == 0 else None


def table(name):
    with open(os.path.join(DATA, name), encoding="utf-8") as f:
        return list(csv.DictReader(f))


def write(folder, name, lines):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in lines))
    return path


def word(algorithm):
    return "collnet" if algorithm.startswith("CollNet") else algorithm.lower()


def text():
    """The lines of NCCL's log, the table of costs, and a row for each size."""
    code, out, stderr = library("--machine", "dgx_h100", "--nodes", "3")
    expect(code == 0 and stderr == "", f"text: {code}, {stderr!r}")
    for line in ("NCCL 2.27.7, 3 servers of 8 GPUs: 24 ranks",
                 "16 coll channels, 16 collnet channels, 16 nvls channels, 16 p2p channels, 2 p2p channels per peer",
                 "NVLS Head  7:  7 15 23"):
        expect(line in out.splitlines(), f"text: {line}")
    rings = re.findall(r"^Channel (\d\d)/16 : (( {1,3}\d+){24})$", out, re.M)
    expect([int(r[0]) for r in rings] == list(range(16)), "text: rings")
    expect(all(sorted(map(int, r[1].split())) == list(range(24)) for r in rings), "text: ranks of rings")
    expect(len(re.findall(r"^Trees( \[\d+\] -?\d+/-?\d+/-?\d+->\d+->-?\d+){16}$", out, re.M)) == 24, "text: trees")
    expect("not a forecast" in out, "text: what the cost is")
    sizes = re.findall(r"^ +(\d+[KMG]iB)  (\w+) +(LL|LL128|Simple) ", out, re.M)
    expect(sizes[0][0] == "1KiB" and sizes[-1][0] == "8GiB" and len(sizes) == 24, f"text: sizes {len(sizes)}")
    one = library("--machine", "dgx_h100", "--nodes", "3", "--bytes", "64MB", "--format", "text")[1]
    expect(len(re.findall(r"^ +64MB  NVLSTree +Simple ", one, re.M)) == 1, "text: one size")
    expect("KiB  Tree" not in one, "text: one size only")
    for op in ("all_gather", "reduce_scatter", "broadcast", "reduce"):
        code, out, _ = library("--machine", "dgx_a100", "--nodes", "2", "--op", op)
        expect(code == 0 and "NVLS Head" not in out and "not a forecast" in out, f"text: {op}")
    code, out, _ = library("--machine", "dgx_h100", "--nodes", "2", "--op", "all_to_all", "--bytes", "64MiB")
    expect(code == 0 and "0/0 on 0  1/7 on 0  3/5 on 0  6/2 on 0" in out and
           re.search(r"^ +64MiB +4MiB +2 +2MiB +128KiB$", out, re.M), "text: all_to_all")


def objects():
    """The keys of the JSON object, with and without a size."""
    one = described("dgx_h100", 4, "--op", "all_reduce", "--bytes", "64MB")
    expect((one["algo"], one["proto"], one["channels"], one["channels_used"], one["threads"], one["bytes"]) ==
           ("nvlstree", "simple", 16, 16, 640, 64000000), f"JSON: {[one[k] for k in ('algo', 'proto', 'channels')]}")
    expect("choices" not in one and one["time_us"] > 0 and one["chunk_bytes"] > 0, "JSON: one size")
    expect(len(one["rings"]) == 16 and all(ring[0] == 0 and sorted(ring) == list(range(32)) for ring in one["rings"]),
           "JSON: rings")
    for tree in one["trees"]:
        links = {node["rank"]: node for node in tree}
        expect(sorted(links) == list(range(32)) and sum(node["up"] == -1 for node in tree) == 1, "JSON: one root")
        expect(all(links[child]["up"] == rank for rank, node in links.items() for child in node["down"]),
               "JSON: children and parents")
    expect(one["nvls_heads"][3] == [3, 11, 19, 27], "JSON: heads")
    every = described("dgx_h100", 4)
    expect([c["bytes"] for c in every["choices"]] == [1 << k for k in range(10, 34)], "JSON: sizes")
    expect(all(every[k] == v for k, v in every["choices"][-1].items()), "JSON: the keys are those of the last size")
    forced = described("dgx_h100", 4, "--bytes", "64MB", "--env",
                       "NCCL_ALGO=Ring NCCL_PROTO=LL128 NCCL_MAX_NCHANNELS=4 NCCL_NVLS_ENABLE=0")
    expect((forced["algo"], forced["proto"], forced["channels"], len(forced["rings"])) == ("ring", "ll128", 4, 4),
           "JSON: environment")
    pairs = described("dgx_h100", 4, "--op", "all_to_all", "--bytes", "32MiB")
    expect((pairs["channels"], pairs["parts"], pairs["part_bytes"], pairs["chunk_bytes"]) ==
           (16, 2, 512 << 10, 128 << 10) and sorted(r["to"] for r in pairs["rounds"]) == list(range(32)) and
           "algo" not in pairs, "JSON: all_to_all")
    expect("choices" in described("1gpu_a100_100", 4096, "--op", "all_gather"), "JSON: many servers")


def vectors():
    """The command says what NCCL's own code said: choices, rings, numbers of channels."""
    counted = 0
    for r in table("tuning.csv"):
        if r["nodes"] != "2" or r["machine"] not in MACHINES:
            continue
        if counted % 20 == 0:  # a command each
            now = described(MACHINES[r["machine"]], 2, "--nccl", r["version"], "--op", OPS[r["function"]],
                            "--bytes", r["bytes"])
            expect((now["algo"], now["proto"], now["channels"], now["threads"]) ==
                   (word(r["algorithm"]), r["protocol"].lower(), int(r["max_channels"]), int(r["threads"])) and
                   abs(now["time_us"] - float(r["est_time_us"])) < 0.001 + 2e-5 * now["time_us"],
                   f"{r}: {now['algo']} {now['proto']} {now['time_us']}, {r['est_time_us']}")
        counted += 1
    expect(counted > 500, f"only {counted} choices")
    for r in table("channels_count.csv"):
        if r["nodes"] == "2" and r["machine"] in MACHINES:
            now = described(MACHINES[r["machine"]], 2, "--nccl", r["version"], "--bytes", "1MiB")
            rings = [list(map(int, x["ring_from_rank0"].split())) for x in table("rings.csv")
                     if all(x[k] == r[k] for k in ("version", "machine", "nodes"))]
            expect([now["counts"][k] for k in ("coll", "nvls", "p2p", "p2p_per_peer")] ==
                   [int(r[k]) for k in ("channels", "nvls_channels", "p2p_channels", "p2p_channels_per_peer")],
                   f"{r}: {now['counts']}")
            expect(not rings or now["rings"] == rings, f"rings of {r['version']} {r['machine']}")


def errors(tmp):
    """One sentence for each mistake, all at once, and nothing on stdout."""
    good = ("--machine", "dgx_h100", "--nodes", "2")
    noise = write(tmp, "noise.txt", ["This is no log.", "Channel 00/0 : 0[0] -> 1[1] via P2P"])
    cases = [
        (("--machine", "dgx_h10", "--nodes", "2"), ['did you mean "dgx_h100"?']),
        (("--machine", "abc", "--nodes", "2"), ["is not one of dgx2, dgx_a100"]),
        (("--nodes", "2"), ["--machine: a machine is needed"]),
        (("--machine", "dgx_h100"), ["--nodes: the number of servers is needed"]),
        (("--machine", "dgx_h100", "--nodes", "0"), ["--nodes: 0 is below the minimum 1"]),
        (("--machine", "dgx_h100", "--nodes", "5000"), ["--nodes: 5000 is above the maximum 4096"]),
        (("--machine", "1gpu_a100_100", "--nodes", "1"), ["at least two ranks"]),
        ((*good, "--nccl", "2.19.3"), ["is not one of 2.21.5, 2.27.7, 2.30.7"]),
        (("--machine", "dgx_b200", "--nodes", "2", "--nccl", "2.21.5"), ["2.21.5 has no tables for the GPUs of dgx_b200"]),
        ((*good, "--op", "allreduce"), ['did you mean "all_reduce"?']),
        ((*good, "--bytes", "12XB"), ['"12XB" is not a size']),
        ((*good, "--bytes", "0"), ["--bytes: 0 is below the minimum 1B"]),
        ((*good, "--op", "all_gather", "--bytes", "8"), ["less than one byte for each of 16 ranks"]),
        ((*good, "--env", "NCCL_FOO=1"), ["--env: NCCL_FOO is not known here"]),
        ((*good, "--env", "NCCL_PROTO=LL12 BAR"), ["--env: NCCL_PROTO: ", '"BAR" is no NAME=VALUE']),
        ((*good, "--op", "broadcast", "--env", "NCCL_ALGO=Tree"), ["has no broadcast on these ranks"]),
        ((*good, "--format", "csv"), ["not csv"]),
        ((*good, "--against", os.path.join(tmp, "none.txt")), ["cannot be read: No such file"]),
        ((*good, "--against", noise), ["has no line of NCCL's log that could be compared"]),
        (("--machine", "dgx_h10", "--nodes", "0", "--op", "x", "--nccl", "3", "--bytes", "y", "--env", "A=1"),
         ["--machine: ", "--nodes: ", "--op: ", "--nccl: ", "--bytes: ", "--env: "]),
    ]
    for args, words in cases:
        code, stdout, stderr = library(*args)
        expect(code == 2 and stdout == "" and all(w in stderr for w in words) and
               len(stderr.splitlines()) == len(words), f"{args}: {code}, {stderr!r}")
    page = " ".join(library("--help")[1].split())
    for option in ("--nccl", "--op"):  # the page lists the words by hand
        words = re.search(r" is not one of (.*)", library(*good, option, "?")[2])[1].split(", ")
        expect(len(words) > 2 and all(w in page for w in words), f"the page of library lacks some of {words}")
    done = subprocess.run([COLLWIRE, "library", "mscclpp"], capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and done.stdout == "" and "library takes nccl or rccl" in done.stderr, "library mscclpp")


def cost_lines(costs):
    """The table of costs as NCCL prints it, three algorithms a line."""
    names = ["Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"]
    cells = {(c["name"], c["proto"]): c for c in costs}
    for block in (names[:3], names[3:6], names[6:]):
        yield "  Algorithm   |" + "".join(f" {'':14}   {name:14}   {'':14} |" for name in block)
        yield "  Protocol    |" + "             LL |          LL128 |         Simple |" * 3
        none = {"latency_us": 5.0, "bandwidth_GBps": 0.0, "threads": 0}
        row = [cells.get((name, proto), none) for name in block for proto in ("ll", "ll128", "simple")]
        yield " Max NThreads |" + "".join(f" {c['threads']:14} |" for c in row)
        yield "    AllReduce |" + "".join(f"{c['latency_us']:8.1f}/{c['bandwidth_GBps']:6.1f} |" for c in row)


def made_log(machine, nodes, version):
    """A log of all ranks, as a run of these servers would write it, and another communicator beside it."""
    out = library("--machine", machine, "--nodes", str(nodes), "--nccl", version)[1].splitlines()
    now = described(machine, nodes, "--nccl", version)
    ranks, gpus = now["ranks"], now["ranks"] // nodes
    lines = [f"NCCL version {version}+cuda12.4"]
    trees = [line for line in out if re.match(r"Trees \[", line)]
    for rank in range(ranks):
        who = f"host{rank // gpus}:100:{200 + rank} [{rank % gpus}] NCCL INFO "
        lines += [f"{who}NCCL_DEBUG set by environment to INFO.", f"{who}Using network IB",
                  f"{who}comm 0x5581 rank {rank} nRanks {ranks} nNodes {nodes} localRanks {gpus} "
                  f"localRank {rank % gpus} MNNVL 0"]
        if rank == 0:
            lines += [who + line[:16 + 4 * 20] for line in out if line.startswith("Channel ")]
            lines += [who + line for line in out if line.startswith("NVLS Head ")]
            ring = now["rings"][0]
            lines += [f"{who}Ring 00 : {ring[-1]} -> 0 -> {ring[1]}"]
            lines += [who + line for line in cost_lines(now["costs"])]
        lines += [who + trees[rank], f"{who}Channel 00/0 : {rank}[0] -> 1[1] [send] via NET/IB/0/GDRDMA"]
        lines += [who + line for line in out if "p2p channels per peer" in line]
    small = "host0:100:900 [0] NCCL INFO "
    lines += [f"{small}comm 0x5599 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0",
              f"{small}Channel 00/04 :    0   1", f"{small}4 coll channels, 0 nvls channels, 4 p2p channels"]
    names = {"tree": "TREE", "ring": "RING", "nvls": "NVLS", "nvlstree": "NVLS_TREE"}
    choices = [f"[0] host0:100:100 [0] NCCL INFO AllReduce: {c['bytes']} Bytes -> Algo {names[c['algo']]} "
               f"proto {c['proto'].upper()} channel{{Lo..Hi}}={{0..{c['channels_used'] - 1}}}" for c in now["choices"]]
    return lines, choices


def made_logs(tmp):
    args = ("--machine", "dgx_h100", "--nodes", "3")
    lines, choices = made_log("dgx_h100", 3, "2.27.7")
    log = write(tmp, "run.log", lines)
    code, out, stderr = library(*args, "--against", log)
    expect(code == 0 and stderr == "", f"a log of itself: {code}, {stderr!r}, {out}")
    for line in ("rings          16 of 16 equal", "ring links     1 of 1 equal", "trees          384 of 384 equal",
                 "NVLS heads     8 of 8 equal", "channel counts 4 of 4 equal", "costs          21 of 21 equal",
                 "All that was compared is equal."):
        expect(line in out.splitlines(), f"a log of itself: {line}\n{out}")
    # Without the small communicator the choices can be told apart; numbers are names in older versions.
    alone = [line for line in lines if ":900 " not in line]
    for text_of in (lambda line: line, lambda line: re.sub("Algo NVLS_TREE proto SIMPLE", "Algo 5 proto 2", line)):
        code, out, _ = library(*args, "--against", write(tmp, "all.log", alone + [text_of(c) for c in choices]))
        expect(code == 0 and "choices        24 of 24 equal" in out, f"choices: {code}, {out}")
    code, out, _ = library(*args, "--against", write(tmp, "both.log", lines + choices))
    expect(code == 0 and "24 choices were not compared" in out, f"choices of several communicators: {out}")

    def changed(old, new, *words, more=()):
        text_of = [re.sub(old, new, line) for line in alone + choices]
        path = write(tmp, "changed.log", text_of)
        code, out, _ = library(*args, *more, "--against", path)
        expect(code == 1 and all(w in out for w in words), f"{old}: {code}, {out}")
        report = described_with(args, more, path)
        expect(all(any(w in s for s in report["differences"] + report["notes"]) for w in words),
               f"{old}: {report['differences'][:5]} {report['notes']}")

    changed(r"Channel 05/16 :    0   1   2   3", "Channel 05/16 :    0   1   3   2",
            "the ring of channel 5 is 0 1 3 2")
    changed(r"\[3\] (\S+)->9->\S+", r"[3] \1->9->5", "the tree of channel 3 at rank 9 is ")
    changed(r"NVLS Head  1:  1", "NVLS Head  1:  0", "head 1 of NVLS is 0 9 17 in the log, and 1 9 17 here.")
    changed(r"^(.*)16 coll channels", r"\g<1>12 coll channels",
            "the log has 12 channels of rings and trees, and here are 16.",
            "the log has fewer channels")
    changed(r"Ring 00 : (\d+) -> 0", "Ring 00 : 1 -> 0", "the ring of channel 0 at rank 0 is 1 -> 0 -> ")
    changed(r"AllReduce \|    25.2", "AllReduce |    26.2", "AllReduce by Tree with LL costs 26.2 us")
    changed(r"Max NThreads \|            512", "Max NThreads |            256",
            "Tree with LL has 256 threads at most in the log")
    changed(r"1048576 Bytes -> Algo \S+ proto \S+", "1048576 Bytes -> Algo RING proto LL",
            "AllReduce of 1048576 bytes is done by Ring with LL")
    changed(r"(8192 Bytes .*)=\{0\.\.\d+\}", r"\1={0..8}", "uses 9 channels in the log")
    changed("NCCL_DEBUG set by environment to INFO.", "NCCL_MAX_NCHANNELS set by environment to 8.",
            "the log is of NCCL 2.27.7, and the rules of 2.21.5 were used; compare with --nccl 2.27.7.",
            'compare with --env "NCCL_MAX_NCHANNELS=8"', more=("--nccl", "2.21.5"))
    changed(r"nRanks 24 nNodes 3", "nRanks 24 nNodes 6", "the log is of 24 ranks on 6 servers, and 24 ranks on 3")


def old_form(lines, ranks):
    """A log as versions 2.8 to 2.13 wrote it: both trees, the ranks at the end and no servers, and another heading of costs."""
    out = []
    for line in lines:
        if " nNodes " in line:
            continue
        line = re.sub(r"(\[\d+\] )(\S+)->(\d+)->(-?\d+)", r"\1\2->\3->\4|\4->\3->\2", line) if "Trees" in line else line
        heading = re.search(r"^(.*)  Algorithm   \|(.*)\|$", line)
        if heading:
            names = [name.strip() for name in heading.group(2).split("|")]
            line = heading.group(1) + "Latency/AlgBw |" + "".join(
                f" {name:>7}/{proto:>6} |" for name in names for proto in ("LL", "LL128", "Simple"))
        elif "Protocol    |" in line:
            continue
        out.append(line)
        end = re.search(r"^(\S+:(\d+) \[\d+\] NCCL INFO ).*p2p channels per peer", line)
        if end:
            out.append(f"{end.group(1)}comm 0x5581 rank {int(end.group(2)) - 200} nranks {ranks} cudaDev 0 busId 1000 - Init COMPLETE")
    return out


def other_logs(tmp):
    """Old versions, and what launchers write before a line: the comparison is the same."""
    args = ("--machine", "dgx_h100", "--nodes", "3")
    lines = [line for line in made_log("dgx_h100", 3, "2.27.7")[0] if ":900 " not in line]
    plain = library(*args, "--against", write(tmp, "other.log", lines))[1]
    expect("trees          384 of 384 equal" in plain, f"a plain log: {plain}")
    old = old_form(lines, 24)
    for what, text in (("old", old), ("mpirun", ["[1,3]<stdout>:" + line for line in lines]),
                       ("mpirun with times", ["Thu Jul 18 15:41:05 2024[1,3]<stdout>:" + line for line in old]),
                       ("srun", ["13: " + line for line in lines]), ("kubectl", ["[pod/train-0/worker] " + line for line in old]),
                       ("times", ["[2026-01-02 03:04:05] " + line for line in lines]), ("CRLF", [line + "\r" for line in old])):
        code, out, stderr = library(*args, "--against", write(tmp, "other.log", text))
        expect(code == 0 and stderr == "" and out == plain, f"a log of {what}: {code}, {stderr!r}, {out}")
    # Servers of eight GPUs and four NICs, as users describe them: their log has another ring than the full server's.
    four = write(tmp, "four.log", ["a:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0",
                                   "a:1:2 [0] NCCL INFO Channel 00/16 :    0   7   6   5   4   3   2   1   8  15  14  13  12  11  10   9"])
    for machine, want in (('{"like":"dgx_h100","nics":4}', (0, "rings          1 of 1 equal")), ("dgx_h100", (1, "the ring of channel 0 is 0 7 6"))):
        code, out, _ = library("--machine", machine, "--nodes", "2", "--against", four)
        expect(code == want[0] and want[1] in out, f"four NICs, {machine}: {code}, {out}")
    swapped = [re.sub(r"\|(\d+)->9->", "|5->9->", line) for line in old]
    code, out, _ = library(*args, "--against", write(tmp, "other.log", swapped))
    expect(code == 1 and "at rank 9 is " in out, f"the second tree differs: {code}, {out}")
    code, out, _ = library(*args, "--against", write(tmp, "other.log", old_form(lines, 16)))
    expect(code == 1 and "the log is of 16 ranks, and 24 ranks on 3 are described here" in out, f"other ranks: {code}, {out}")
    two = old_form(lines, 24) + ["small:1:2 [0] NCCL INFO Channel 00/02 :    0   1", "small:1:2 [0] NCCL INFO Trees [0] -1/-1/-1->1->0|0->1->-1/-1/-1",
                                 "small:1:2 [0] NCCL INFO comm 0x1 rank 1 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE"]
    code, out, _ = library(*args, "--against", write(tmp, "other.log", two))
    expect(code == 0 and "lines are of communicators of other sizes" in out, f"two communicators: {code}, {out}")
    hostile = ["x [0] NCCL INFO Trees [0] 1/2|", "x [0] NCCL INFO Trees [99999999999] 1/-1/-1->0->-1|", "x [0] NCCL INFO Latency/AlgBw |/|//||",
               "x [0] NCCL INFO Latency/AlgBw | Tree/ LL |" + " Tree/ LL |" * 5000, "NCCL version ", "x [0] NCCL INFO comm 0x1 rank 0 nranks -7 - Init COMPLETE",
               "x [0] NCCL INFO AllReduce | nan/ inf |" * 40, "x [0] NCCL INFO comm 0x1 rank 0 nranks 999999999999 - Init COMPLETE"]
    code, out, _ = library(*args, "--against", write(tmp, "other.log", hostile + lines))
    expect(code in (0, 1) and "trees          384 of 384 equal" in out, f"hostile lines: {code}, {out}")


def described_with(args, more, path):
    code, out, _ = library(*args, *more, "--format", "json", "--against", path)
    expect(code == 1, f"JSON of a comparison: {code}")
    return json.loads(out)["against"]


# Of the published logs, that of nccl#1453 alone is of a machine that this program has: hgx_h100_200 (8 H100, 8 NICs
# of 200 Gbit/s; the speed is not stated there, it was chosen so that the rows fit). All its rows are equal.
FITTED = {"1": ("hgx_h100_200", 3, "2.21.5", 8)}

# The others are not equal, or by chance only, because they are of other machines or versions:
OTHERS = {
    "11": "NICs at every second GPU, and rings over one GPU of a server; 4 heads of NVLS",
    "21": "RTX 5090 over sockets, version 2.29.7, of which there are no tables",
    "23": "the GPUs and their NVLinks are not said; rings 0 5 4 7 6 .. are of none of the machines here",
    "25": "A100 over sockets of one Ethernet card, version 2.14: one search result, two channels",
    "27": "a NIC of 200 Gbit/s behind the CPU of an AMD server, version 2.15",
    "31": "H800, whose NVLinks are fewer; one figure of the table of an unstated version",
    "37": "DGX Spark (GB10)",
}


def published_lines(row):
    """A row as the lines of the log that it quotes."""
    quoted, kind = row["quoted"], row["kind"]
    if kind == "rings":
        for numbers, total, ring in re.findall(r"((?:\d+/\d+ and )?\d+)/(\d+): ([\d ]+)", quoted):
            for channel in numbers.replace(f"/{total} and ", " ").split():
                yield f"Channel {channel}/{total} : {ring.strip()}"
    elif kind == "trees":
        yield "Trees " + re.sub(r"^\(.*?\) ", "", quoted.split(";")[0])
    elif kind == "nvls":
        yield from (f"NVLS Head {head.strip()}" for head in re.findall(r"Head (\d+: [\d ]+)", quoted))
    elif kind == "tuning":
        yield quoted if quoted[0].isdigit() else f"{row['bytes']} Bytes -> {quoted}"
    elif kind == "channels":
        yield quoted.split(";")[0]
    elif kind == "choice":
        yield (f"{row['function']}: {row['bytes']} Bytes -> Algo {row['algorithm'].upper()} proto "
               f"{row['protocol'].upper()} channel{{Lo..Hi}}={{0..{int(row['channels']) - 1}}}")


def published(tmp):
    rows, seen = table("published.csv"), set()
    for source, (machine, nodes, version, n) in FITTED.items():
        own = [row for row in rows if row["source"] == source]
        for row in own:
            lines = [f"host:1:2 [0] NCCL INFO {line}" for line in published_lines(row)]
            code, out, stderr = library("--machine", machine, "--nodes", str(nodes), "--nccl", version, "--env",
                                        "NCCL_CROSS_NIC=2", "--against", write(tmp, "published.log", lines))
            expect(lines and code == 0 and stderr == "", f"{row['address']}: {row['quoted']}: {code}, {out}{stderr}")
            print(f"equal: {row['address']}: {row['quoted']}")
        expect(len(own) == n, f"{source}: {len(own)} rows")
        seen.add(source)
    for source, why in OTHERS.items():
        own = [row for row in rows if row["source"] == source]
        print(f"not compared: {own[0]['hardware']}: {len(own)} rows: {why}")
        seen.add(source)
    expect(seen == {row["source"] for row in rows}, "published.csv has sources that the test does not name")
    # These are of A100 servers, but on another network: the differences are named.
    lines = [line for row in rows if row["source"] == "25" for line in published_lines(row)]
    code, out, _ = library("--machine", "dgx_a100", "--nodes", "2", "--nccl", "2.21.5", "--against",
                           write(tmp, "sockets.log", lines))
    expect(code == 1 and "the log has 2 channels of rings and trees, and here are 16." in out and
           "rings          1 of 2 equal" in out, f"sockets: {code}, {out}")


def rccl(tmp):
    """RCCL's rings, costs and choices in the same form, and where it cannot be asked."""
    code, out, stderr = library("--machine", "mi300x", "--nodes", "2", name="rccl")
    expect(code == 0 and stderr == "", f"rccl: {code}, {stderr!r}")
    for line in ("RCCL 2.21.5, 2 servers of 8 GPUs: 16 ranks", "Rings, as RCCL's log has them (it stops after 20 ranks)",
                 "64 coll channels, 64 collnet channels, 0 nvls channels, 64 p2p channels, 2 p2p channels per peer",
                 "Channel 00/64 :    0   1   2   3   4   5   6   7  15  14  13  12  11  10   9   8"):
        expect(line in out.splitlines(), f"rccl: {line}")
    expect("by which RCCL ranks its choices" in out and "LL128                 Simple\nTree              45.6/   10.1,  256 "
           "                     -     99.2/   18.5,  256\n" in out, "rccl: costs")
    for size, choice in (("128KiB", "Tree          LL             "), ("64MiB", "Tree          Simple         "),
                         ("1GiB", "Ring          Simple         ")):
        expect(re.search(f"^ +{size}  {choice}", out, re.M), f"rccl: {size}")
    one = json.loads(library("--machine", "mi300x", "--nodes", "1", "--bytes", "1GiB", "--format", "json", name="rccl")[1])
    expect((one["rccl"], one["algo"], one["proto"], one["counts"], len(one["rings"]), "nccl" in one, one["nvls_heads"]) ==
           ("2.21.5", "ring", "simple", {"coll": 56, "nvls": 0, "p2p": 64, "p2p_per_peer": 8}, 56, False, []), f"rccl: {one['counts']}")
    pairs = library("--machine", "mi300x", "--nodes", "2", "--op", "all_to_all", "--bytes", "16MiB", name="rccl")[1]
    expect("0/0 on 0  1/7 on 32  2/6 on 16" in pairs and re.search(r"^ +16MiB +1MiB +2 +512KiB +64KiB$", pairs, re.M), "rccl: pairs")
    forced = library("--machine", "mi300x", "--nodes", "1", "--bytes", "4KB", "--env", "NCCL_PROTO=LL128", name="rccl")
    expect(forced[0] == 2 and "by the algorithms and protocols that --env allows" in forced[2], f"rccl: LL128 forced: {forced}")
    good = ("--machine", "mi300x", "--nodes", "2")
    for args, words in (((), ["--machine: a machine is needed, such as mi300x", "--nodes: the number"]),
                        (("--machine", "dgx_h100", "--nodes", "2"), ["RCCL would not run here: RCCL's tables here are those of MI300X"]),
                        ((*good, "--nccl", "2.21.5"), ["--nccl: is of library nccl; of rccl only version 2.21.5 is known"]),
                        ((*good, "--against", write(tmp, "any.log", ["a:1:2 [0] NCCL INFO Channel 00/01 :    0   1"])), ["--against: compares with logs of NCCL, not of RCCL"]),
                        ((*good, "--env", "NCCL_ALGO=PAT"), ["is not one of auto, tree, ring"]),
                        ((*good, "--env", "NCCL_NTHREADS=128"), ["NCCL_NTHREADS has no meaning for RCCL"])):
        code, stdout, stderr = library(*args, name="rccl")
        expect(code == 2 and stdout == "" and all(w in stderr for w in words) and len(stderr.splitlines()) == len(words),
               f"rccl {args}: {code}, {stderr!r}")


def topology_file(machine):
    """NCCL's topology of a machine with a NIC beside each GPU: eight GPUs on NVSwitches, on a switch each or two on one."""
    h100 = machine == "dgx_h100"
    sm, links, cpu, speed, rate, per = (("90", 18, 'vendor="GenuineIntel" familyid="6" modelid="143"', "32.0", 400000, 1) if h100 else
                                        ("80", 12, 'vendor="AuthenticAMD" familyid="143" modelid="49"', "16.0", 200000, 2))
    pci = 'link_speed="%s GT/s PCIe" link_width="16"' % speed
    lines = ['<system version="1">']
    for first in range(0, 8, per):
        if first % 4 == 0:
            lines.append(f'<cpu numaid="{first // 4}" arch="x86_64" {cpu}>')
        lines.append(f'<pci busid="0000:{first:x}0:00.0" class="0x060400" {pci}>')
        for g in range(first, first + per):
            lines += [f'<pci busid="0000:{g:x}1:00.0" class="0x030200" {pci}><gpu dev="{g}" sm="{sm}" rank="{g}" gdr="1">',
                      f'<nvlink target="0000:f1:00.0" count="{links}" tclass="0x068000"/></gpu></pci>',
                      f'<pci busid="0000:{g:x}2:00.0" class="0x020000" {pci}><nic><net name="mlx5_{g}" dev="{g}" speed="{rate}"/></nic></pci>']
        lines.append("</pci>" + ("</cpu>" if (first + per) % 4 == 0 else ""))
    return lines + ["</system>"]


def topologies(tmp):
    """A machine from its file is described as the machine of that name; what is no machine has one error."""
    for machine in ("dgx_h100", "dgx_a100"):
        path = write(tmp, machine + ".xml", topology_file(machine))
        for nodes in ("1", "4"):
            code, out, stderr = library("--machine", path, "--nodes", nodes)
            named = library("--machine", machine, "--nodes", nodes)[1]
            expect(code == 0 and stderr == "" and out.splitlines()[0] == f"{path}: a topology of NCCL" and
                   out.splitlines()[1:] == named.splitlines()[1:], f"topology of {machine} x {nodes}: {code}, {stderr!r}")
    lines = topology_file("dgx_h100")
    for name, text, said in (("cut.xml", lines[:9], "cut.xml, line 10: is not XML"),
                             ("graph.xml", ['<graphs version="1"><graph id="0"><channel/></graph></graphs>'],
                              "these are 1 graphs of 1 channels that NCCL has found"),
                             ("hwloc.xml", ["<topology/>"], "does not say which NVLinks the GPUs have"),
                             ("none.txt", None, "cannot be opened")):
        path = write(tmp, name, text) if text else os.path.join(tmp, name)
        code, out, stderr = library("--machine", path, "--nodes", "2")
        expect(code == 2 and out == "" and said in stderr and len(stderr.splitlines()) == 1, f"topology {name}: {code}, {stderr!r}")


def main():
    text()
    objects()
    vectors()
    with tempfile.TemporaryDirectory() as tmp:
        rccl(tmp)
        errors(tmp)
        topologies(tmp)
        made_logs(tmp)
        other_logs(tmp)
        published(tmp)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
