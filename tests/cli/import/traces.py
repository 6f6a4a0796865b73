# SPDX-License-Identifier: MIT
"""Writes one made-up run as the files of a profiler: traces of Kineto, logs of NCCL's Inspector, exports of Nsight Systems.

A run is a list of ranks, each a list of steps of a GPU, in the order of launches:
  ("compute", us)                       on the compute stream
  ("idle", us)                          the CPU is late by so much
  ("call", stream, group, op, bytes)    a collective; its stream waits for the computations before
  ("send", stream, group, peer, bytes), ("recv", ..)
  ("wait", stream)                      the compute stream waits for that stream
  ("step", number)                      an iteration begins
Times follow from the steps: a call begins when its stream is free and the computations before it have ended; all
members' kernels of a collective end together, `takes` us after the last has begun.
"""
import gzip
import json
import os
import sqlite3
import struct

COMM_STREAM = 20  # id of the first stream of communication
COMPUTE_STREAM = 7
NAMES = {"all_reduce": ("allreduce", "AllReduce"), "all_gather": ("_allgather_base", "AllGather"),
         "reduce_scatter": ("_reduce_scatter_base", "ReduceScatter"), "all_to_all": ("all_to_all", "AlltoAll"),
         "broadcast": ("broadcast", "Broadcast")}


def takes_us(size):
    """A measured time for a size."""
    return 10 + size // 100000


class Run:
    """The run with times: `events[rank]`, `steps[rank]`."""

    def __init__(self, groups, ranks, offsets=None):
        self.groups = groups  # name -> list of ranks
        self.ranks = ranks
        self.offsets = offsets or [0] * len(ranks)  # us of each rank's clock
        self.events = [[] for _ in ranks]
        self.steps = [[] for _ in ranks]
        self.waits = [[] for _ in ranks]  # when the program waited for which call
        self._play()

    def _play(self):
        n = len(self.ranks)
        at = [0] * n
        cpu = [0.0] * n  # launches take 1 us; far ahead of the GPU
        free = [{} for _ in range(n)]  # stream -> when it is free
        count, begun, done = {}, {}, {}
        number = [{} for _ in range(n)]
        progress = True
        while progress:
            progress = False
            for r in range(n):
                while at[r] < len(self.ranks[r]):
                    step = self.ranks[r][at[r]]
                    if not self._step(r, step, cpu, free[r], number[r], begun, done):
                        break
                    at[r] += 1
                    progress = True
        assert all(at[r] == len(self.ranks[r]) for r in range(n)), "the run stops"

    def _step(self, r, step, cpu, free, number, begun, done):
        kind = step[0]
        if kind == "compute":
            start = max(free.get("compute", 0), cpu[r])
            self._event(r, "compute", start, start + step[1], cpu)
            free["compute"] = start + step[1]
        elif kind == "idle":  # the CPU catches up with the GPU, and then does other work
            cpu[r] = max(cpu[r], max(free.values(), default=0)) + step[1]
        elif kind == "wait":
            free["compute"] = max(free.get("compute", 0), free.get(step[1], 0))
            calls = [e for e in self.events[r] if e["stream"] == step[1] and e["op"] in NAMES]
            if calls:
                self.waits[r].append((cpu[r], calls[-1]))
        elif kind == "step":
            self.steps[r].append([step[1], cpu[r], None])
        elif kind == "call":
            _, stream, group, op, size = step
            key = (group, number.get(group, 0))
            members = self.groups[group]
            start = max(free.get(stream, 0), free.get("compute", 0), cpu[r])
            begun.setdefault(key, {})[r] = start
            if len(begun[key]) < len(members):
                return False
            end = max(begun[key].values()) + takes_us(size)
            number[group] = number.get(group, 0) + 1
            self._event(r, stream, begun[key][r], end, cpu, op=op, group=group, bytes=size, seq=key[1])
            free[stream] = end
        else:
            _, stream, group, peer, size = step
            src, dst = (r, peer) if kind == "send" else (peer, r)
            k = number.get((src, dst), 0)
            key = (src, dst, k)
            start = max(free.get(stream, 0), free.get("compute", 0), cpu[r])
            begun.setdefault(key, {})[r] = start
            if len(begun[key]) < 2:
                return False
            number[(src, dst)] = k + 1
            end = max(begun[key].values()) + takes_us(size)
            self._event(r, stream, begun[key][r], end, cpu, op=kind, group=group, bytes=size, peer=peer, seq=k)
            free[stream] = end
        return True

    def _event(self, r, stream, start, end, cpu, **more):
        self.events[r].append({"stream": stream, "start": start, "end": end, "launch": cpu[r], **more})
        cpu[r] += 0.5


def stream_id(stream):
    return COMPUTE_STREAM if stream == "compute" else COMM_STREAM + int(stream.removeprefix("comm"))


def kineto_args(run, event):
    """The description of a collective or message."""
    members = run.groups[event["group"]]
    n = len(members)
    args = {"Group size": n, "dtype": "Float", "In split size": "[]", "Out split size": "[]",
            "Process Group Name": event["group"], "Process Group Description": f"{event['group']}_group",
            "Process Group Ranks": str(members)}
    elements = event["bytes"] // 4
    if event["op"] in ("send", "recv"):
        key = "Dst Rank" if event["op"] == "send" else "Src Rank"
        return args | {"Collective name": event["op"], "In msg nelems": elements, "Out msg nelems": elements,
                       key: event["peer"]}
    into = elements // n if event["op"] == "all_gather" else elements
    out = elements // n if event["op"] == "reduce_scatter" else elements
    return args | {"Collective name": NAMES[event["op"]][0], "In msg nelems": into, "Out msg nelems": out,
                   "Seq": 100 + event["seq"]}


def old_kernel(event):
    """The name of a kernel of NCCL 2.8 to 2.19."""
    call = NAMES[event["op"]][1] if event["op"] in NAMES and event["op"] != "all_to_all" else "SendRecv"
    return f"ncclKernel_{call}_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)"


def annotation(run, event, pid, external, shift):
    """Before PyTorch 2.4: the annotation around the launch of a collective, inside another one, beside one of another thread."""
    n = len(run.groups[event["group"]])
    elements = event["bytes"] // 4 // (n if event["op"] == "all_gather" else 1)
    name = NAMES[event["op"]][0] if event["op"] in NAMES else event["op"]
    if event["op"] in ("send", "recv"):
        name += f" {pid - 100}{'->' if event['op'] == 'send' else '<-'}{event['peer']}"
    shapes = [[elements // 2, 2]] if elements % 2 == 0 else [[elements]]
    about = {"External id": external, "Input Dims": shapes, "Input type": ["float"]}
    plain = {"ph": "X", "cat": "user_annotation", "pid": pid, "tid": 3}
    wrong = {"External id": external + 100000, "Input Dims": [[3]], "Input type": ["c10::Half"]}
    at = event["launch"] + shift
    return [plain | {"name": f"nccl:{name}", "ts": at - 0.1, "dur": 0.4, "args": about},
            plain | {"name": "nccl:coalesced", "ts": at - 0.2, "dur": 0.6, "args": wrong},
            plain | {"name": "nccl:broadcast", "ts": at - 0.1, "dur": 0.4, "args": wrong, "tid": 4},
            plain | {"name": "nccl:broadcast", "ts": at - 0.19, "dur": 0.05, "args": wrong}]


def kineto_trace(run, rank, described="kernel", waits=True):
    """One rank's trace; `described`: where the collective is described, kernel, record_param_comms, graph or annotation."""
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}}]
    shift = run.offsets[rank] + 1000
    for i, event in enumerate(run.events[rank]):
        called = "op" in event
        correlation = 10 + 2 * i
        args = {"stream": stream_id(event["stream"]), "device": rank % 8, "correlation": correlation,
                "External id": 5000 + i}
        name = "void gemm<float>(float*)"
        if called:
            name = "ncclDevKernel_" + (NAMES[event["op"]][1] if event["op"] in NAMES else "SendRecv")
            if described == "kernel":
                args |= kineto_args(run, event)
            elif described == "annotation":
                name = old_kernel(event)
                events += annotation(run, event, 100 + rank, 5000 + i, shift)
            else:
                about = kineto_args(run, event) if described != "graph" else {"Record function id": 7000 + i}
                events.append({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 100 + rank, "tid": 1,
                               "ts": event["launch"] + shift, "dur": 0.25, "args": about | {"External id": 5000 + i}})
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": rank % 8, "tid": args["stream"],
                       "ts": event["start"] + shift, "dur": event["end"] - event["start"], "args": args})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100 + rank, "tid": 3,
                       "ts": event["launch"] + shift, "dur": 0.25, "args": {"correlation": correlation}})
        events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
                       "ts": event["launch"] + shift, "dur": 0.4, "args": {"External id": 5000 + i, "note": "a \\\" { ["}})
    for at, event in run.waits[rank] if waits else []:
        events.append({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": at - 0.1 + shift, "dur": 0.05,
                       "args": {"Collective name": "wait", "Process Group Name": event["group"], "Seq": 100 + event["seq"]}})
    for number, start, _ in run.steps[rank]:
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1,
                       "ts": start + shift, "dur": 1, "args": {}})
    events.reverse()  # the order in the file says nothing
    return {"schemaVersion": 1, "deviceProperties": [{"id": i} for i in range(min(8, len(run.ranks)))],
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": len(run.ranks),
                                "pg_config": [{"pg_name": name, "pg_size": len(ranks), "ranks": ranks}
                                              for name, ranks in run.groups.items()]},
            "displayTimeUnit": "ms", "baseTimeNanoseconds": 1700000000000000000, "traceEvents": events}


GRAPH_KEYS = {"Collective name": "collective_name", "dtype": "dtype", "In msg nelems": "in_msg_nelems", "Out msg nelems": "out_msg_nelems",
              "In split size": "in_split_size", "Out split size": "out_split_size", "Process Group Name": "pg_name",
              "Process Group Description": "pg_desc", "Group size": "pg_size"}


def graph(run, rank):
    """What ExecutionTraceObserver writes of a rank: process groups, and its collectives."""
    groups = [{"pg_name": name, "ranks": ranks, "group_size": len(ranks)} for name, ranks in run.groups.items()]
    nodes = [{"id": 4, "name": "## process_group:init ##", "ctrl_deps": 3, "inputs": {"values": [json.dumps(groups)]}, "attrs": []}]
    for i, event in enumerate(run.events[rank]):
        if "op" in event:
            attrs = [{"name": GRAPH_KEYS[k], "type": "string", "value": v} for k, v in kineto_args(run, event).items() if k in GRAPH_KEYS]
            nodes.append({"id": 10 + i, "name": "record_param_comms", "ctrl_deps": 9, "inputs": {"values": []},
                          "attrs": [{"name": "rf_id", "type": "uint64", "value": 7000 + i}, *attrs]})
    return {"schema": "1.1.1-chakra.0.0.4", "pid": 100 + rank, "time": "", "start_ts": 1, "nodes": nodes, "finish_ts": 2}


def write_kineto(folder, run, described="kernel", zipped=(), waits=True):
    os.makedirs(folder, exist_ok=True)
    for rank in range(len(run.ranks)):
        if described == "graph":
            with open(os.path.join(folder, f"x-graph{rank}.json"), "w", encoding="utf-8") as file:
                json.dump(graph(run, rank), file, indent=2)
        text = json.dumps(kineto_trace(run, rank, described, waits), indent=1 if rank % 2 else None)
        if rank in zipped:
            with gzip.open(os.path.join(folder, f"worker{rank}.json.gz"), "wt", encoding="utf-8") as file:
                file.write(text)
        else:
            with open(os.path.join(folder, f"worker{rank}.json"), "w", encoding="utf-8") as file:
                file.write(text)


def parts(run, event):
    """A size as NCCL's interface has it: what one rank has."""
    n = len(run.groups[event["group"]])
    return event["bytes"] // n if event["op"] in ("all_gather", "reduce_scatter", "all_to_all") else event["bytes"]


def inspector_line(run, rank, event, verbose):
    members = run.groups[event["group"]]
    start, end = (event[key] + 1000 + run.offsets[rank] for key in ("start", "end"))
    message = event["op"] in ("send", "recv")
    word = "p2p" if message else "coll"
    name = {"send": "Send", "recv": "Recv"}.get(event["op"]) or NAMES[event["op"]][1]
    perf = {word: name, f"{word}_sn": event["seq"], f"{word}_msg_size_bytes": parts(run, event),
            f"{word}_exec_time_us": event["end"] - event["start"], f"{word}_timing_source": "kernel_gpu"}
    if message:
        perf["p2p_peer"] = members.index(event["peer"])
    if verbose:
        perf["event_trace_ts"] = {"coll_start_ts": start, "coll_stop_ts": start, "kernel_events": [
            {"channel_id": c, "kernel_start_ts": start + c, "kernel_stop_ts": end - c} for c in range(2)]}
    return {"header": {"id": f"0x{int(event['group']) + 0xabc0:x}", "comm_name": "unknown", "rank": members.index(rank),
                       "n_ranks": len(members), "nnodes": 1},
            "metadata": {"inspector_output_format_version": "v4.0", "git_rev": "", "rec_mechanism": "nccl_profiler_interface",
                         "dump_timestamp_us": 1700000000000000 + round(end), "hostname": f"node{rank // 8}", "pid": 4000 + rank},
            f"{word}_perf": perf}


def write_inspector(folder, run, verbose=True):
    os.makedirs(folder, exist_ok=True)
    for rank, events in enumerate(run.events):
        with open(os.path.join(folder, f"node{rank // 8}-pid{4000 + rank}.log"), "w", encoding="utf-8") as file:
            for event in sorted((e for e in events if "op" in e), key=lambda e: e["end"]):
                file.write(json.dumps(inspector_line(run, rank, event, verbose)) + "\n")


def payload(schema, communicator, *fields):
    """The binaryData of a range: the header of Nsight Systems and NCCL's fields."""
    body = struct.pack("<Q", communicator) + b"".join(fields)
    return struct.pack("<IIIIQQ", 1, 0, schema, 0, len(body), 32 + len(body)) + body


def nsys_tables(db):
    db.executescript("""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
            streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
            correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
            color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER,
            jsonTextId INTEGER, jsonText TEXT, binaryData BLOB);
        CREATE TABLE NVTX_PAYLOAD_SCHEMAS (domainId INTEGER, schemaId INTEGER, name TEXT, type INTEGER, flags INTEGER,
            numEntries INTEGER, payloadSize INTEGER, alignTo INTEGER);
        CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER NOT NULL, schemaId INTEGER NOT NULL, idx INTEGER NOT NULL,
            flags INTEGER, type INTEGER, name TEXT, description TEXT, arrayOrUnionDetail INTEGER, offset INTEGER);
    """)
    for schema, names in ((4, ["Message size [bytes]"]), (9, ["Message size [bytes]", "Peer rank"]),
                          (11, ["No. of ranks", "Rank", "CUDA device"])):
        offset = 8
        db.execute("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, ?, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL, NULL)", (schema,))
        for i, name in enumerate(names):
            db.execute("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, ?, ?, NULL, 5, ?, NULL, NULL, ?)", (schema, i + 1, name, offset))
            offset += 8 if "Message" in name else 4


def write_nsys(folder, run, inits=True, grouped=True):
    """One export a rank; NCCL's calls are in groups, as PyTorch makes them."""
    os.makedirs(folder, exist_ok=True)
    for rank, events in enumerate(run.events):
        path = os.path.join(folder, f"host-{chr(122 - rank)}.sqlite" if inits else f"rank{rank}.sqlite")
        pid = (700 + rank) << 24
        strings = {}
        with sqlite3.connect(path) as db:
            nsys_tables(db)

            def text(value):
                return strings.setdefault(value, len(strings) + 1)

            def nvtx(at, name, data=None):
                db.execute("INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId, binaryData) "
                           "VALUES (?, ?, 59, ?, ?, 1, ?)", (at, at + 100, pid + 5, text(name), data))

            for group, members in run.groups.items():
                if inits and rank in members:
                    nvtx(10, "ncclCommInitRankConfig", payload(11, int(group) + 0xabc0, struct.pack(
                        "<iii", len(members), members.index(rank), 0)))
            for i, event in enumerate(events):
                start, end, launch = (round(1000 * (event[key] + 1000 + run.offsets[rank])) for key in ("start", "end", "launch"))
                name = "gemm"
                if "op" in event:
                    message = event["op"] in ("send", "recv")
                    call = {"send": "Send", "recv": "Recv"}.get(event["op"]) or NAMES[event["op"]][1]
                    name = "ncclDevKernel_" + ("SendRecv" if message or call == "AlltoAll" else f"{call}_Sum_f32_RING_LL")
                    more = [struct.pack("<Q", parts(run, event))]
                    if message:
                        more.append(struct.pack("<i", run.groups[event["group"]].index(event["peer"])))
                    if grouped:
                        nvtx(launch - 300, "ncclGroupStart")
                    nvtx(launch - 200, f"nccl{call}", payload(9 if message else 4, int(event["group"]) + 0xabc0, *more))
                    if grouped:
                        nvtx(launch - 50, "ncclGroupEnd")
                db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, ?, ?, ?, ?)",
                           (start, end, stream_id(event["stream"]), 10 + i, pid, text(name), text(name)))
                db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0)",
                           (launch, launch + 200, pid + 5, 10 + i, text("cudaLaunchKernel_v7000")))
            db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, v) for v, i in strings.items()])
