#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces that are wrong: every error names the file, the record, the byte and the node, and nothing is
written. Traces that are right: both generations of the schema give the same run.

usage: check_traces.py"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

from trace_file import data, node, number, trace, varint

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")


def scenario(folder, ranks, groups=None, **job):
    workload = dict({"kind": "chakra", "prefix": "t"}, **job)
    if groups is not None:
        with open(os.path.join(folder, "groups.json"), "w", encoding="utf-8") as stream:
            stream.write(groups if isinstance(groups, str) else json.dumps(groups))
        workload["comm_groups"] = "groups.json"
    path = os.path.join(folder, "s.json")
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"name": "s", "network": "analytical", "workload": workload,
                   "topology": {"dims": [{"kind": "switch", "size": ranks}]}}, stream)
    return path


def files(folder, traces, zipped=False):
    for rank, content in enumerate(traces):
        if content is not None:
            content = content if isinstance(content, bytes) else trace(content)
            with open(os.path.join(folder, f"t.{rank}.et" + (".gz" if zipped else "")), "wb") as stream:
                stream.write(content)


def run(traces, expected, **settings):
    """Run the traces; `expected`: parts of the errors, one each, or None for a run that completes."""
    with tempfile.TemporaryDirectory() as folder:
        files(folder, traces, settings.pop("zipped", False))
        path = scenario(folder, settings.pop("ranks", len(traces)), **settings)
        out = os.path.join(folder, "out")
        got = subprocess.run([COLLWIRE, "run", path, "--out", out, "--quiet"], capture_output=True,
                             text=True, check=False)
        if expected is None:
            assert got.returncode == 0, got.stderr
            with open(os.path.join(out, "metrics.json"), encoding="utf-8") as stream:
                return json.load(stream)
        lines = got.stderr.replace(folder + "/", "").splitlines()
        assert got.returncode == 2, (got.returncode, expected, got.stderr)
        assert not os.path.exists(out), "results were written"
        assert len(lines) == len(expected), (expected, lines)
        for line, part in zip(lines, expected):
            assert part in line, (part, line)
    return None


COMP = node(0, "COMP", us=1)
GOOD = trace([COMP])


def damaged_files():
    run([COMP and [COMP], None], ["workload.prefix: the trace of rank 1, t.1.et: No such file"])
    run([[COMP], [COMP], [COMP]], ["there is a trace for rank 2 too, t.2.et, but the job has 2 ranks"],
        ranks=2)
    run([b""], ["t.0.et is empty: an execution trace begins with its metadata"])
    run([trace([])], ["t.0.et has no nodes"])
    run([GOOD[:-3]], ["t.0.et: record 1 at byte 8 is cut off: the file has"])
    run([GOOD + b"\x80"], [f"record 2 at byte {len(GOOD)} is cut off: the file ends in its length"])
    run([GOOD + b"\xff" * 10], [f"record 2 at byte {len(GOOD)} has a bad length"])
    run([GOOD + varint(1 << 40)], [f"record 2 at byte {len(GOOD)} is longer than 64 MB"])
    run([b"PK\x03\x04 this is not a trace at all, but some text that goes on for a while....."],
        ["t.0.et: record 0 at byte 0 "])
    run([GOOD + varint(3) + b"\x08\xff\xff"], ["record 2 at byte 19 is not a node"])


def compressed():
    """Traces of gzip give the same run; damaged ones are named."""
    many = trace([node(i, "COMP", us=1 + i % 7) for i in range(20000)])
    plain, packed = run([many, GOOD], None), run([gzip.compress(many), gzip.compress(GOOD)], None, zipped=True)
    parts = run([gzip.compress(many[:5000]) + gzip.compress(many[5000:]), gzip.compress(GOOD)], None, zipped=True)
    for made in (packed, parts):
        assert {k: v for k, v in made.items() if k != "scenario"} == {k: v for k, v in plain.items() if k != "scenario"}
    run([gzip.compress(many)[:-900]], ["t.0.et.gz: the compressed data end too early"], zipped=True)
    broken = bytearray(gzip.compress(many))
    broken[3000:3100] = bytes(100)
    run([bytes(broken)], ["t.0.et.gz: "], zipped=True)
    run([gzip.compress(GOOD[:-3])], ["t.0.et.gz: record 1 at byte 8 is cut off"], zipped=True)
    run([gzip.compress(b"")], ["t.0.et.gz is empty"], zipped=True)


def wrong_nodes():
    run([[node(7, 12)]], ['t.0.et: node 7 "n7" (record 1 at byte 8): has the unknown type 12'])
    run([[COMP, COMP]], ["t.0.et: two nodes have the id 0"])
    run([[node(1, "COMP", [5])]], ["t.0.et: node 1 is after node 5, which the file does not have"])
    run([[node(1, "COMP", [3]), node(2, "COMP", [1]), node(3, "COMP", [2])]],
        ["dependencies form a cycle: node 1, after node 3, after node 2, after node 1"])
    run([[node(1, "SEND", comm_size=5, comm_tag=0)], [COMP]],
        ["a COMM_SEND_NODE needs the attribute comm_dst"])
    run([[node(1, "SEND", comm_dst=9, comm_size=5, comm_tag=0)], [COMP]], ["rank 9 is not one of 2"])
    run([[node(1, "SEND", comm_dst=0, comm_size=5, comm_tag=0)], [COMP]],
        ["rank 0 sends a message to itself"])
    run([[node(1, "SEND", comm_src=1, comm_dst=1, comm_size=5, comm_tag=0)], [COMP]],
        ["comm_src is rank 1 in the trace of rank 0"])
    run([[node(1, "COLL", comm_type=77, comm_size=5)]], ["comm_type 77 is not a collective"])
    run([[node(1, "COLL", comm="ALL_REDUCE")]], ["a COMM_COLL_NODE needs the attribute comm_size"])
    run([[node(1, "COLL", comm="ALL_REDUCE", comm_size="big")]],
        ["attribute comm_size must be a whole number"])
    run([[node(1, "COLL", comm="ALL_REDUCE", comm_size=-4)]], ["comm_size -4 must be from 0 to"])
    run([[node(1, "LOAD", tensor_size=4)]], ["a MEM_LOAD_NODE needs a remote memory"])
    # one error for all computations of all ranks that a roofline cannot time
    run([[node(1, "COMP", num_ops=4), node(2, "COMP")], [node(1, "COMP", us=1)]],
        ["a COMP_NODE lacks num_ops or tensor_size, which `peak_tflops` needs"], peak_tflops=1)


def wrong_sets():
    send = node(1, "SEND", comm_dst=1, comm_size=100, comm_tag=3)
    recv = node(2, "RECV", comm_src=0, comm_size=100, comm_tag=3)
    run([[send], [recv]], None)
    run([[send], [COMP]],
        ["rank 0 sends 1 messages of 100 bytes with tag 3 (node 1) that rank 1 does not receive"])
    run([[COMP], [recv]],
        ["rank 1 receives 1 messages of 100 bytes with tag 3 (node 2) that rank 0 does not send"])
    coll = node(4, "COLL", comm="ALL_REDUCE", comm_size=1000, pg_name="1")
    groups = {"1": [0, 1]}
    run([[coll], [coll]], None, groups=groups)
    run([[coll], [coll]], ['communicator "1" is not defined'] * 2)
    run([[coll], [coll], [coll]], ['rank 2 is not in its communicator "1"'], groups=groups)
    run([[coll], [COMP]], ['communicator "1": rank 0 runs 1 collectives, but rank 1 runs 0'],
        groups=groups)
    other = node(4, "COLL", comm="ALL_REDUCE", comm_size=2000, pg_name="1")
    run([[coll], [other]], ["collectives of ranks 0 and 1 differ in operation or size"], groups=groups)
    run([[coll], [coll]], ['group "1" lists a rank that is not one of 2'], groups={"1": [0, 2]})
    run([[coll], [coll]], ['group "1" lists rank 0 twice'], groups={"1": [0, 0]})
    run([[coll], [coll]], ["groups.json, line 1"], groups="{")
    run([[coll], [coll]], ['"0" always names the group of all ranks'], groups={"0": [0], "1": [0, 1]})


def waiting_ranks():
    """Two ranks that wait for each other: the run ends and says who waits for what."""
    a = [node(1, "RECV", comm_src=1, comm_size=9, comm_tag=0),
         node(2, "SEND", [1], comm_dst=1, comm_size=9, comm_tag=0)]
    b = [node(1, "RECV", comm_src=0, comm_size=9, comm_tag=0),
         node(2, "SEND", [1], comm_dst=0, comm_size=9, comm_tag=0)]
    with tempfile.TemporaryDirectory() as folder:
        files(folder, [a, b])
        path = scenario(folder, 2)
        got = subprocess.run([COLLWIRE, "run", path, "--out", os.path.join(folder, "o")],
                             capture_output=True, text=True, check=False)
        assert got.returncode == 1, got
        with open(os.path.join(folder, "o", "metrics.json"), encoding="utf-8") as stream:
            text = stream.read()
        assert "rank 0 waits in node 1 (n1) for a message from rank 1" in text, text[:2000]


def both_generations():
    nodes = [COMP, node(1, "COLL", [0], comm="ALL_TO_ALL", comm_size=4000, is_cpu_op=False),
             node(2, "COLL", [0], comm="REDUCE_SCATTER", comm_size=8000, involved_dim=[True, True]),
             node(3, "COMP", [1, 2], us=7)]
    new, old = [run([trace(nodes, old)] * 4, None) for old in (False, True)]
    assert new["sim_time_ns"] > 8000
    assert new == old
    # parents that a file does not have can be ignored, and unknown attributes are
    cut = run([[node(5, "COMP", [4], us=3, fw_parent=1)]], None, missing_nodes="ignore")
    assert cut["sim_time_ns"] == 3000
    # a launch on the CPU takes its duration, whatever it launches
    launch = run([[node(5, "COLL", us=4, is_cpu_op=True)]], None)
    assert launch["sim_time_ns"] == 4000
    # fields of later schemas
    later = data(1, "0.0.9") + data(7, "new")
    node_bytes = number(1, 5) + number(3, 4) + number(7, 2) + data(20, "x")
    assert run([b"".join(varint(len(r)) + r for r in (later, node_bytes))], None)["sim_time_ns"] == 2000


def imported_files():
    """Files of ASTRA-sim 2 that are wrong: every error names the file, all at once."""
    network = "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n"

    summary = ("traces: 4 ranks, 4 nodes, groups: 1, messages between two ranks: 0 (0 B); computations take "
               "their duration, and num_ops is not used (roofline-enabled is 0)")

    def wrong(expected, network=network, system="{}", memory=None, code=None, traces=([COMP],) * 4):
        code = (2 if expected else 0) if code is None else code
        with tempfile.TemporaryDirectory() as folder:
            files(folder, traces)
            command = [COLLWIRE, "import", "chakra", os.path.join(folder, "t"), "-o",
                       os.path.join(folder, "s.json")]
            for name, text in (("network", network), ("system", system), ("memory", memory)):
                if text is not None:
                    command += ["--" + name, os.path.join(folder, name)]
                    with open(command[-1], "w", encoding="utf-8") as stream:
                        stream.write(text)
            got = subprocess.run(command, capture_output=True, text=True, check=False)
            lines = got.stderr.replace(folder + "/", "").splitlines()
            assert got.returncode == code, got
            assert os.path.exists(os.path.join(folder, "s.json")) == (code == 0)
            said = got.stdout.replace("\n  ", " ").splitlines()
            assert said[:1] == ([f"scenario: {folder}/s.json"] if code == 0 else []), got.stdout
            assert [line for line in said[1:] if line != summary] == [] and len(said) == 2 * (code == 0), said
            if code == 0:
                with open(os.path.join(folder, "s.json"), encoding="utf-8") as stream:
                    assert "boost-mode" not in stream.read()
            assert len(lines) == len(expected), (expected, lines)
            for line, part in zip(lines, expected):
                assert part in line, (part, line)

    wrong([])
    # the traces are checked too
    wrong(["the trace of rank 3, t.3.et: No such file"], traces=([COMP],) * 3)
    wrong(["which `roofline-enabled` 1 of the system needs; with 0 computations take their duration"],
          system='{"roofline-enabled": 1, "peak-perf": 1, "local-mem-bw": 1}')
    wrong(["warning: system: system: these keys have no effect: boost-mode, trace-enabled"], code=0,
          system='{"trace-enabled": 0, "boost-mode": 1, "endpoint-delay": 10}')
    wrong(["network: needs lists of 1 to 8 dimensions"], network="[1, 2]")
    wrong(["network, line 2: did not find"], network="topology: [ Ring")
    wrong(["network, line 1: is empty"], network="")
    wrong(["network: topology[0] must be one of Ring", "npus_count[0] must be a number",
           "bandwidth[0] must be a number"],
          network="topology: [ Mesh ]\nnpus_count: [ x ]\nbandwidth: [ -1 ]\nlatency: [ 0 ]\n")
    wrong(['unknown key "speed"'], network=network + "speed: [ 1 ]\n")
    wrong(["latency must be a list of 1 values"], network=network.replace("[ 500.0 ]", "500"))
    wrong(["system: endpoint-delay: must be a whole number", "endpoint_delay: unknown key"],
          system='{"endpoint-delay": "10", "endpoint_delay": 3}')
    wrong(["all-reduce-implementation: lists 2 algorithms for 1 dimensions",
           "all-to-all-implementation[0]: unknown implementation \"halvingDoubling\""],
          system='{"all-reduce-implementation": ["ring", "ring"],'
                 ' "all-to-all-implementation": ["halvingDoubling"]}')
    wrong(["roofline-enabled needs local-mem-bw and peak-perf"], system='{"roofline-enabled": 1}')
    wrong(['memory: unknown key "remote"', "memory-type must be one of"],
          memory='{"memory-type": "CLOUD", "remote": 1, "remote-mem-latency": 1, "remote-mem-bw": 1}')


for check in (imported_files, damaged_files, compressed, wrong_nodes, wrong_sets, waiting_ranks, both_generations):
    check()
print("all as expected")
sys.exit(0)
