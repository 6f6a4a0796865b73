#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire import kineto, inspector, nsys: what is wrong with recordings is named, all at once, and nothing is written; real samples are read.

usage: check_mistakes.py DATA, the folder tests/data/profile, with the executable in $COLLWIRE.
"""
import gzip
import json
import os
import re
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_import  # noqa: E402
import traces  # noqa: E402

COLLWIRE = os.environ["COLLWIRE"]
FAILED = check_import.FAILED
expect = check_import.expect


def refused(what, kind, folder, *sentences, more=()):
    """The import fails with exit code 2 and these sentences (regular expressions), and writes nothing."""
    out = os.path.join(os.path.dirname(folder), "refused.json")
    done = subprocess.run([COLLWIRE, "import", kind, folder, "-o", out, *more], capture_output=True, text=True, check=False)
    expect(f"{what}: exit code 2", done.returncode == 2)
    for sentence in sentences:
        expect(f"{what}: {sentence}", re.search(sentence, done.stderr) is not None)
        if not re.search(sentence, done.stderr):
            print(done.stderr)
    expect(f"{what}: nothing is written", not [name for name in os.listdir(os.path.dirname(folder)) if name.startswith("refused")])


def edited(folder, name, run, edit):
    """Traces of Kineto with an edit: edit(rank, trace) returns the trace or None (no file)."""
    where = os.path.join(folder, name)
    os.makedirs(where)
    for rank in range(len(run.ranks)):
        trace = edit(rank, traces.kineto_trace(run, rank))
        if trace is not None:
            with open(os.path.join(where, f"worker{rank}.json"), "w", encoding="utf-8") as file:
                file.write(trace if isinstance(trace, str) else json.dumps(trace))
    return where


def kernels(trace, word=""):
    return [e for e in trace["traceEvents"] if e.get("cat") == "kernel" and word in e["name"]]


def change(rank_of, action):
    def edit(rank, trace):
        if rank in rank_of:
            made = action(trace)
            return trace if made is None else made
        return trace
    return edit


def check_kineto(folder):
    run = check_import.data_parallel(4, 2)

    def world(trace):
        trace["distributedInfo"]["world_size"] = 8

    def twice(trace):
        trace["distributedInfo"]["rank"] = 1

    def fewer(trace):
        trace["traceEvents"].remove(kernels(trace, "AllReduce")[0])

    def size(trace):
        kernels(trace, "AllReduce")[3]["args"].update({"In msg nelems": 5, "Out msg nelems": 5})

    def step(trace):
        for event in trace["traceEvents"]:
            event["name"] = event["name"].replace("ProfilerStep#5", "ProfilerStep#9")

    def sequence(trace):
        for event in kernels(trace, "AllReduce"):
            event["args"]["Seq"] += 1

    def backwards(trace):
        kernels(trace, "gemm")[2]["dur"] = -4

    def early(trace):
        kernels(trace, "gemm")[2]["ts"] -= 90000

    def unknown(trace):
        kernels(trace, "AllReduce")[0]["args"]["Collective name"] = "sparkle"

    def bare(trace):
        for event in kernels(trace, "AllReduce"):
            del event["args"]["Collective name"]

    def kind(trace):
        kernels(trace, "AllReduce")[0]["args"]["dtype"] = "Quad"

    def stranger(trace):
        for group in trace["distributedInfo"]["pg_config"]:
            group.update({"ranks": [0, 1], "pg_size": 2})
        for event in kernels(trace, "AllReduce"):
            event["args"].update({"Process Group Ranks": "[0, 1]", "Group size": 2})

    def of_worlds(size):
        return lambda trace: trace["distributedInfo"].update({"world_size": size})

    cases = [
        ("missing rank", lambda rank, trace: None if rank == 2 else trace, ["of 4 ranks, 1 are missing: 2", "group pg0 has no recording of rank 2"]),
        ("different worlds", change([3], world), ["worker3.json: world_size 8, and 4 in another file: traces of different jobs"]),
        ("a rank twice", change([3], twice), ["worker3.json: rank 1 is that of .*worker1.json too", "of 4 ranks, 1 are missing: 3"]),
        ("fewer collectives", change([1], fewer), ["worker1.json: .*collective .* has the sequence number|rank 1 has 7 collectives of group pg0, rank 0 has 8"]),
        ("another size", change([2], size), [r"worker2.json: byte \d+: collective \d of group pg0 is all_reduce of 20 B on rank 2, and all_reduce of \d+ B on rank 0"]),
        ("other steps", change([1], step), ["worker1.json: rank 1 has 2 iterations from 9, rank 0 has 2 from 5: the traces are of different steps"]),
        ("other sequence numbers", change([1], sequence), ["collective 1 of group pg0 has the sequence number 101 on rank 1, and 100 on rank 0"]),
        ("negative duration", change([0], backwards), [r"worker0.json: byte \d+: dur: -4.000 us: the clock runs backwards"]),
        ("kernel before its launch", change([0], early), ["worker0.json: the clock runs backwards: in stream 7"]),
        ("unknown collective", change([0], unknown), [r'worker0.json: byte \d+: Collective name: "sparkle" cannot be simulated']),
        ("no description", change([0], bare), [r'worker0.json: byte \d+: 8 kernels of NCCL, of which this is the first, have no "Collective name"']),
        ("unknown type", change([0], kind), [r'worker0.json: byte \d+: dtype: "Quad" is no known type']),
        ("cut file", change([0], lambda trace: json.dumps(trace)[:-300]), [r"worker0.json: byte \d+: the file ends within"]),
        ("no comma", change([0], lambda trace: json.dumps(trace).replace("}, {\"ph\": \"X\", \"cat\": \"kernel\"", "} {\"ph\": \"X\", \"cat\": \"kernel\"", 1)),
         [r"worker0.json: byte \d+: a comma is expected"]),
        ("a wrong value", change([0], lambda trace: json.dumps(trace).replace('"stream": 7', '"stream": 7x', 1)), [r"worker0.json: byte \d+: "]),
        ("no object", change([0], lambda _: "hello"), ["worker0.json: byte 0: is no JSON object or list"]),
        ("empty", change([0], lambda _: ""), ["worker0.json: byte 0: the file is empty"]),
        ("no member", change([0, 1, 3], stranger), [r"worker3.json: byte \d+: rank 3 is no member of group pg0(@0)?, which it calls"]),
        ("a large world", change([0], of_worlds(2**40)), [r"worker0.json: byte \d+: world_size: 1099511627776 must be from 1 to 65536"]),
        ("a negative world", change([1], of_worlds(-5)), [r"worker1.json: byte \d+: world_size: -5 must be from 1 to 65536"]),
        ("an empty world", change([1], of_worlds(0)), [r"worker1.json: byte \d+: world_size: 0 must be from 1 to 65536"]),
        ("several at once", lambda rank, trace: change([1], backwards)(rank, change([3], unknown)(rank, trace)) if rank != 2 else None,
         ["worker1.json: .*clock runs backwards", "worker3.json: .*sparkle", "of 4 ranks, 1 are missing: 2"]),
    ]
    for what, edit, sentences in cases:
        refused(what, "kineto", edited(folder, what.replace(" ", "-"), run, edit), *sentences)
    where = edited(folder, "network", run, lambda rank, trace: trace)
    refused("no network file", "kineto", where, "nothing.json", more=("--network", os.path.join(folder, "nothing.json")))
    refused("no folder", "kineto", os.path.join(folder, "none"), "none: cannot be read")
    refused("small network", "kineto", where, "rank", more=("--network", small_network(folder)))
    with gzip.open(os.path.join(where, "worker0.json.gz"), "wb") as file:
        file.write(b"{" * 1000)
    os.remove(os.path.join(where, "worker0.json"))
    with open(os.path.join(where, "worker0.json.gz"), "r+b") as file:
        file.truncate(20)
    refused("cut gzip", "kineto", where, "worker0.json.gz: byte .*compressed data end too early")


def small_network(folder):
    path = os.path.join(folder, "small.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "small", "topology": {"dims": [{"kind": "switch", "size": 2}]}}, file)
    return path


def check_unused(folder):
    """Events of unknown categories are counted."""
    def more(trace):
        trace["traceEvents"] += [{"ph": "X", "cat": "mystery", "name": "x", "ts": 1, "dur": 5}] * 3
        trace["traceEvents"] += [{"ph": "X", "cat": "minor", "name": "x", "ts": 1, "dur": 1}]

    where = edited(folder, "unused", check_import.data_parallel(3, 1), change([0], more))
    done = check_import.call("import", "kineto", where, "-o", os.path.join(folder, "unused.json"))
    expect("unknown events are counted", "4 events of 2 kinds are not used; the largest: mystery, 3 times, 15.0 us" in done.stdout)


def check_uneven(folder):
    """An all-to-all whose members receive different amounts."""
    mine = [("compute", 5), ("call", "comm0", "0", "all_to_all", 2400), ("wait", "comm0"), ("compute", 5)]

    def edit(rank, trace):
        for event in kernels(trace, "AlltoAll"):
            event["args"].update({"In msg nelems": 200, "Out msg nelems": 100 * (rank + 1), "In split size": "[50, 100, 50]"})
        return trace

    where = edited(folder, "uneven", traces.Run({"0": [0, 1, 2]}, [mine] * 3), edit)
    done = check_import.call("import", "kineto", where, "-o", os.path.join(folder, "uneven.json"))
    _, nodes = check_import.program(os.path.join(folder, "uneven.nodes.jsonl"))
    vectors = [[n["vectors"] for n in nodes[r] if n["kind"] == "collective"] for r in range(3)]
    expect("vectors of what members receive", done.returncode == 0 and
           vectors == [[{"bytes": [400, 800, 1200], "of": "receivers"}]] * 3)
    done = check_import.call("run", os.path.join(folder, "uneven.json"), "--quiet", "--out", os.path.join(folder, "uneven"))
    expect("it runs", done.returncode == 0)


def check_network(folder):
    """The network of a scenario with more ranks than the traces have."""
    path = os.path.join(folder, "big.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "big", "topology": {"dims": [{"kind": "leaf_spine", "size": 16, "ranks_per_leaf": 4, "spines": 2}]},
                   "cc": {"kind": "dcqcn"}, "workload": {"kind": "incast", "receiver": 0, "bytes": "1MB"}}, file)
    where = edited(folder, "kept", check_import.data_parallel(4, 1), lambda rank, trace: trace)
    out = os.path.join(folder, "kept.json")
    check_import.call("import", "kineto", where, "-o", out)
    before = [open(os.path.join(folder, name), "rb").read() for name in ("kept.json", "kept.nodes.jsonl")]
    done = check_import.call("import", "kineto", where, "--network", small_network(folder), "-o", out)
    expect("an import that fails keeps the files before", done.returncode == 2 and before == [
        open(os.path.join(folder, name), "rb").read() for name in ("kept.json", "kept.nodes.jsonl")])
    where = edited(folder, "with-network", check_import.data_parallel(4, 1), lambda rank, trace: trace)
    out = os.path.join(folder, "placed.json")
    done = check_import.call("import", "kineto", where, "--network", path, "-o", out)
    made = check_import.read(out)
    expect("network of the user", done.returncode == 0 and made["cc"] == {"kind": "dcqcn"} and made["workload"]["ranks"] == [0, 1, 2, 3])
    done = check_import.call("run", out, "--quiet", "--out", os.path.join(folder, "placed"))
    metrics = check_import.read(os.path.join(folder, "placed", "metrics.json"))
    sizes = metrics["measured_collectives"]["sizes"]
    expect("measured collectives by size", [(s["op"], s["bytes"], s["ranks"], s["count"], s["measured_ns"]["p50"]) for s in sizes] ==
           [("all_reduce", 400000 * k, 4, 1, 1000 * traces.takes_us(400000 * k)) for k in (1, 2, 3, 4)])
    expect("its sums", metrics["measured_collectives"]["count"] == 4 and metrics["measured_collectives"]["measured_ns"] ==
           sum(1000 * traces.takes_us(400000 * k) for k in (1, 2, 3, 4)))
    with open(os.path.join(folder, "placed", "measured_collectives.csv"), encoding="utf-8") as file:
        rows = file.read().splitlines()
    longest = max(c["duration_ns"] for c in metrics["collectives"])
    expect("a row a collective", len(rows) == 5 and rows[1].startswith("0,pg0,0,all_reduce,4,400000,14000,"))
    expect("simulated times are those of the collectives", all(0 < int(row.split(",")[7]) <= longest for row in rows[1:]))


def check_files(folder):
    """Files that cannot be replaced are left with their neighbours; files of the user beside them stay."""
    traced = edited(folder, "replaced", check_import.data_parallel(2, 1), lambda rank, trace: trace)
    for name, directory in (("first", "first.json"), ("second", "second.nodes.jsonl")):
        where = os.path.join(folder, f"beside-{name}")
        os.makedirs(os.path.join(where, directory))
        other = os.path.join(where, {"first.json": "first.nodes.jsonl", "second.nodes.jsonl": "second.json"}[directory])
        with open(other, "w", encoding="utf-8") as file:
            file.write("old")
        before = sorted(os.listdir(where))
        done = check_import.call("import", "kineto", traced, "-o", os.path.join(where, f"{name}.json"))
        with open(other, encoding="utf-8") as file:
            expect(f"{directory} is a folder: nothing is written", done.returncode == 2 and "no regular file" in done.stderr and
                   file.read() == "old" and sorted(os.listdir(where)) == before)
    where = os.path.join(folder, "beside-draft")
    os.makedirs(where)
    with open(os.path.join(where, "job.nodes.jsonl.draft.jsonl"), "w", encoding="utf-8") as file:
        file.write("mine")
    done = check_import.call("import", "kineto", traced, "-o", os.path.join(where, "job.json"))
    with open(os.path.join(where, "job.nodes.jsonl.draft.jsonl"), encoding="utf-8") as file:
        expect("the user's file beside stays", done.returncode == 0 and file.read() == "mine" and
               sorted(os.listdir(where)) == ["job.json", "job.nodes.jsonl", "job.nodes.jsonl.draft.jsonl"])
    expect("it can be read by others as files of the program are", os.stat(os.path.join(where, "job.json")).st_mode ==
           os.stat(os.path.join(where, "job.nodes.jsonl.draft.jsonl")).st_mode)


def many_lines(folder, name, n, header):
    """One log of n lines, each of another process."""
    line = traces.inspector_line(check_import.data_parallel(2, 1), 0, {"start": 1, "end": 2, "op": "all_reduce", "group": "0", "bytes": 8, "seq": 0}, False)
    where = os.path.join(folder, name)
    os.makedirs(where)
    with open(os.path.join(where, "all.log"), "w", encoding="utf-8") as file:
        for i in range(n):
            line["header"].update(header(i))
            line["metadata"]["pid"] = i
            file.write(json.dumps(line) + "\n")
    return where


def check_many(folder):
    """More processes than a job can have ranks; communicators of many ranks in few lines."""
    where = many_lines(folder, "i-many", 65537, lambda i: {"id": f"0x{i // 256:x}", "rank": i % 256, "n_ranks": 256})
    refused("inspector: too many processes", "inspector", where, "the logs are of 65537 processes: at most 65536 can be ranks")
    where = many_lines(folder, "i-wide", 8000, lambda i: {"id": f"0x{i:x}", "rank": 65535, "n_ranks": 65536})
    refused("inspector: wide communicators", "inspector", where, "communicator 0x0: of 65536 ranks, 65535 have no log: 0, 1, ")
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    expect(f"their memory is that of their lines: {used} KB", used < 1000000)  # 8000 * 65536 ranks of 4 B are 2.1 GB; sanitizers need some
    where = os.path.join(folder, "i-empty")
    os.makedirs(where)
    with open(os.path.join(where, "a.log"), "w", encoding="utf-8"):
        pass
    refused("inspector: empty log", "inspector", where, "^collwire: [^\n]*i-empty: no file has communication of NCCL or RCCL\n$")


def check_inspector(folder):
    run = check_import.data_parallel(4, 2)

    def broken(name, edit):
        where = os.path.join(folder, name)
        traces.write_inspector(where, run)
        path = os.path.join(where, "node0-pid4001.log")
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        lines = edit(lines)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        return where

    def dumped(lines):
        lines[2]["metadata"]["dump_timestamp_us"] -= 10**9
        return lines

    def size(lines):
        lines[2]["coll_perf"]["coll_msg_size_bytes"] = 77
        return lines

    def other(lines):
        lines[3]["header"]["rank"] = 2
        return lines

    def clock(lines):
        lines[0]["coll_perf"]["event_trace_ts"]["kernel_events"] = [{"kernel_start_ts": 50, "kernel_stop_ts": 40}]
        return lines

    refused("inspector: a line is missing", "inspector", broken("i-missing", lambda lines: lines[:3] + lines[4:]),
            "pid4001.log: byte .*collective 4 of group 0xabc0 has the sequence number 4 on rank 1, and 3 on rank 0")
    refused("inspector: dumps", "inspector", broken("i-dumps", dumped), "dump_timestamp_us is earlier than in the line before: the clock runs backwards")
    refused("inspector: sizes", "inspector", broken("i-sizes", size), "collective 3 of group 0xabc0 is all_reduce of 77 B on rank 1")
    refused("inspector: two processes", "inspector", broken("i-mixed", other), "header.rank is that of another process|header.rank is the second of its process")
    refused("inspector: clock", "inspector", broken("i-clock", clock), "event_trace_ts ends before it starts: the clock runs backwards")
    refused("inspector: a line twice", "inspector", broken("i-twice", lambda lines: [*lines, lines[-1]]), "number 7 occurs twice in communicator 0xabc0 on rank 1")
    refused("inspector: no JSON", "inspector", broken("i-json", lambda lines: ['{"header": oops}', *lines]), r"pid4001.log: byte \d+: ")
    where = broken("i-rank", lambda lines: [])
    refused("inspector: a rank is missing", "inspector", where, "communicator 0xabc0: of 4 ranks, 1 have no log: 1")


def check_nsys(folder):
    run = check_import.data_parallel(3, 1)

    def broken(name, *sql):
        where = os.path.join(folder, name)
        traces.write_nsys(where, run)
        with sqlite3.connect(os.path.join(where, "host-y.sqlite")) as db:
            for statement in sql:
                db.execute(statement)
        return where

    refused("nsys: no payloads", "nsys", broken("n-blobs", "UPDATE NVTX_EVENTS SET binaryData = NULL"), "host-y.sqlite: ncclAllReduce at .* has no payload")
    refused("nsys: no ranges", "nsys", broken("n-nvtx", "DROP TABLE NVTX_EVENTS"), "host-y.sqlite: process 701, device 0: 4 kernels of NCCL, the first at .* have no range")
    refused("nsys: no kernels", "nsys", broken("n-kernels", "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL"), "host-y.sqlite: no such table")
    refused("nsys: clock", "nsys", broken("n-clock", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = start - 5 WHERE correlationId = 14"), "the clock runs backwards")
    refused("nsys: long operations", "nsys", broken("n-long", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = 2000000000000000000 WHERE correlationId = 14"),
            r"host-y.sqlite: an operation at \d+ ns takes \d+ ns, more than 100000 s")
    refused("nsys: a view without end", "nsys", broken(
        "n-view", "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME", "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
        "SELECT x AS start, x AS \"end\", 0 AS globalTid, x AS correlationId, 0 AS nameId FROM c"), "host-y.sqlite: CUPTI_ACTIVITY_KIND_RUNTIME is no table")
    for table in ("NVTX_EVENTS", "NVTX_PAYLOAD_SCHEMA_ENTRIES"):
        where = broken(f"n-damaged-{table}")
        path = os.path.join(where, "host-y.sqlite")
        with sqlite3.connect(path) as db:
            page, size = db.execute("SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        db.close()
        with open(path, "r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\xff" * size)
        refused(f"nsys: {table} is damaged", "nsys", where, "host-y.sqlite: database disk image is malformed")
    data = traces.payload(11, 0xabc0, struct.pack("<iii", 3, 0, 0)).hex()
    refused("nsys: a rank twice", "nsys", broken("n-twice", f"UPDATE NVTX_EVENTS SET binaryData = x'{data}' WHERE start = 10"), "communicator 0xabc0: rank 0 occurs twice")
    where = broken("n-file")
    with open(os.path.join(where, "host-x.sqlite"), "w", encoding="utf-8") as file:
        file.write("this is no database, but long enough to look at" * 50)
    refused("nsys: no database", "nsys", where, "host-x.sqlite: file is not a database")
    where = broken("n-missing")
    os.remove(os.path.join(where, "host-x.sqlite"))
    refused("nsys: a rank is missing", "nsys", where, "communicator 0xabc0: of 3 ranks, 1 are in no file")


USED = {  # the columns that are read
    "StringIds": ["id", "value"], "CUPTI_ACTIVITY_KIND_KERNEL": ["start", "end", "deviceId", "streamId", "correlationId", "globalPid", "shortName"],
    "CUPTI_ACTIVITY_KIND_RUNTIME": ["start", "end", "globalTid", "correlationId", "nameId"], "NVTX_EVENTS": ["start", "globalTid", "text", "textId", "binaryData"],
    "NVTX_PAYLOAD_SCHEMA_ENTRIES": ["schemaId", "idx", "name", "offset"]}
HOSTILE = ["9223372036854775807", "-9223372036854775808", "9223372036854775800", "'text'", "1.5", "x'00ff'", "NULL", "-1"]


def linked_in_a_circle(path, table):
    """Eighteen pages behind the table's only page, each with four children that are all the next one: 4^18 times its rows."""
    with sqlite3.connect(path) as db:
        root, size, pages = db.execute("SELECT rootpage, (SELECT page_size FROM pragma_page_size), (SELECT page_count FROM pragma_page_count) "
                                       "FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    db.close()
    with open(path, "r+b") as file:
        file.seek((root - 1) * size)
        leaf = file.read(size)
        chain = [root, *range(pages + 1, pages + 19)]
        for at, page in enumerate(chain):
            made = bytearray(size)
            if at == len(chain) - 1:
                made[:] = leaf
            else:
                made[0:12] = struct.pack(">BHHHBI", 5, 0, 3, size - 27, 0, chain[at + 1])
                for cell in range(3):
                    made[12 + 2 * cell:14 + 2 * cell] = struct.pack(">H", size - 27 + 9 * cell)
                    made[size - 27 + 9 * cell:size - 22 + 9 * cell] = struct.pack(">IB", chain[at + 1], cell + 1)
            file.seek((page - 1) * size)
            file.write(made)
        file.seek(28)
        file.write(struct.pack(">I", pages + 18))


def check_nsys_hostile(folder):
    """What a database states is not trusted: no value of any column crashes, no other column changes the result, and nothing computes."""
    run = check_import.data_parallel(3, 1)

    def made(name, *sql):
        where = os.path.join(folder, name)
        traces.write_nsys(where, run)
        with sqlite3.connect(os.path.join(where, "host-y.sqlite")) as db:
            for statement in sql:
                db.execute(statement)
        db.close()
        return where

    def imported(where):
        out = os.path.join(folder, os.path.basename(where) + ".out.json")
        done = subprocess.run([COLLWIRE, "import", "nsys", where, "-o", out], capture_output=True, text=True, check=False, timeout=60)
        program = out.replace(".json", ".nodes.jsonl")
        return done, open(program, encoding="utf-8").read() if os.path.exists(program) else None

    with sqlite3.connect(":memory:") as db:
        traces.nsys_tables(db)
        has = {table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")] for table in USED}
    for table, columns in USED.items():
        names = ", ".join(f'"{name}"' for name in has[table])
        for column in columns:
            values = " ".join(f"WHEN {i} THEN {value}" for i, value in enumerate(HOSTILE))
            done, _ = imported(made(f"h-{table}-{column}", f"CREATE TABLE other AS SELECT * FROM {table}", f"DROP TABLE {table}",
                                    f"CREATE TABLE {table} ({names})", f"INSERT INTO {table} SELECT * FROM other",  # without types, which would convert the values
                                    f'UPDATE {table} SET "{column}" = CASE rowid % {len(HOSTILE)} {values} END'))
            expect(f"nsys: hostile values in {table}.{column}: {done.returncode}", done.returncode in (0, 2) and (done.returncode == 0 or "collwire: " in done.stderr))
    expect("nsys: a value of another type names its place", "CUPTI_ACTIVITY_KIND_KERNEL.start is a text, not an integer, in row " in imported(made(
        "h-type", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon' WHERE rowid = 3"))[0].stderr)

    plain = imported(made("h-plain"))
    others = {name for columns in USED.values() for name in columns} | {"t", "e", "s", "domain"}
    more = [f'ALTER TABLE {table} ADD COLUMN "{name}"' for table in USED for name in sorted(others - set(has[table]))]
    wider = imported(made("h-wider", *more))
    expect("nsys: columns of other versions change nothing", plain[0].returncode == 0 and wider[0].returncode == 0 and plain[1] == wider[1] is not None)

    refused("nsys: a virtual table", "nsys", made("h-virtual", "DROP TABLE NVTX_EVENTS", "CREATE VIRTUAL TABLE NVTX_EVENTS USING fts5(start, globalTid, text, textId, binaryData)"),
            "host-y.sqlite: NVTX_EVENTS is no table")
    refused("nsys: a generated column", "nsys", made("h-generated", "CREATE TABLE other AS SELECT * FROM StringIds", "DROP TABLE StringIds",
            "CREATE TABLE StringIds (id, given, value AS (replace(hex(zeroblob(1000000)), '0', given)))", "INSERT INTO StringIds (id, given) SELECT * FROM other"),
            "host-y.sqlite: StringIds.value is computed, not recorded")
    refused("nsys: a long value", "nsys", made("h-long", "UPDATE StringIds SET value = value || replace(hex(zeroblob(9000000)), '0', 'x')"), "host-y.sqlite: has a value of more than 16 MiB")
    where = made("h-circle")
    linked_in_a_circle(os.path.join(where, "host-y.sqlite"), "StringIds")
    refused("nsys: pages in a circle", "nsys", where, "host-y.sqlite: is damaged: its tables take more work to read")
    where = made("h-journal")
    with open(os.path.join(where, "host-y.sqlite-wal"), "wb") as file:
        file.write(b"changes")
    refused("nsys: a journal", "nsys", where, "host-y.sqlite: is not finished: .*host-y.sqlite-wal has changes")


def check_real(folder, data):
    """Samples of real runs."""
    where = os.path.join(folder, "real")
    os.makedirs(where)
    shutil.copy(os.path.join(data, "kineto", "rank0.json.gz"), where)
    refused("real trace of one rank", "kineto", where, "of 2 ranks, 1 are missing: 1")
    with gzip.open(os.path.join(where, "rank0.json.gz"), "rt", encoding="utf-8") as file:
        trace = json.load(file)
    trace["distributedInfo"]["rank"] = 1
    with open(os.path.join(where, "rank1.json"), "w", encoding="utf-8") as file:
        json.dump(trace, file)
    out = os.path.join(folder, "real.json")
    done = check_import.call("import", "kineto", where, "-o", out)
    expect("real trace", done.returncode == 0)
    groups, nodes = check_import.program(os.path.join(folder, "real.nodes.jsonl"))
    calls = [(n["op"], n["bytes"]) for n in nodes[0] if n["kind"] == "collective"]
    expect("its collectives", groups == {"pg0": [0, 1]} and calls == [
        ("broadcast", 212480), ("broadcast", 424), ("all_reduce", 8196000), ("all_reduce", 31502336), ("all_reduce", 26255360),
        ("all_reduce", 26550272), ("all_reduce", 9724160)])
    spans = [(e["ts"], e["ts"] + e["dur"]) for e in trace["traceEvents"] if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    span = max(e for _, e in spans) - min(s for s, _ in spans)
    waits = sum(check_import.nanoseconds(n["time"]) for n in nodes[0] if n["kind"] != "collective" and n["stream"] == "compute")
    expect(f"its compute stream lasts at most {span:.0f} us", 0.8 * span < waits / 1000 <= span)
    where = os.path.join(folder, "inspector-real")
    os.makedirs(where)
    with open(os.path.join(data, "inspector", "example.log"), encoding="utf-8") as file:
        line = json.loads(file.read())
    for rank in range(8):
        line["header"]["rank"], line["metadata"]["pid"] = rank, 438772 + rank
        with open(os.path.join(where, f"{rank}.log"), "w", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    done = check_import.call("import", "inspector", where, "-o", out)
    _, nodes = check_import.program(os.path.join(folder, "real.nodes.jsonl"))
    expect("the Inspector's example", done.returncode == 0 and [(n["op"], n["bytes"], n["measured"]) for n in nodes[3]] == [
        ("reduce_scatter", 8 * 2147483648, "41057000ns")])


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_kineto(folder)
        check_unused(folder)
        check_uneven(folder)
        check_network(folder)
        check_files(folder)
        check_many(folder)
        check_inspector(folder)
        check_nsys(folder)
        check_nsys_hostile(folder)
        check_real(folder, sys.argv[1])
    print(f"{len(FAILED)} failed" if FAILED else "all hold")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
