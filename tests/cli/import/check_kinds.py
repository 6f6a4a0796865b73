#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire import FILE|DIR...: what files are by their content, what is assumed, what is not taken, what is refused.

usage: check_kinds.py, with the executable in $COLLWIRE.
"""
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_import  # noqa: E402
import traces  # noqa: E402

FAILED, expect = check_import.FAILED, check_import.expect
COLLWIRE = os.environ["COLLWIRE"]

SIMAI = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 ga: 1 all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0
2
attention -1 412000 ALLREDUCE 8388608 1 NONE 0 1 ALLGATHER 4096 1
mlp -1 655000 ALLREDUCE 8388608 1 NONE 0 1 NONE 0 1
"""
DATA = "DATA\n1\nconv -1 100 NONE 0 100 NONE 0 100 ALLREDUCE 65536 10\n"
HTSIM = "Nodes 8\nConnections 2\n3->1 id 1 start 0 size 500000\n5->2 id 2 start 40000 size 700000\n"
CSV = "src,dst,bytes,start_ns\n0,1,1000,0\n2,1,5KB,700\n"
CDF = "0 0\n8000 0.2\n40000 0.8\n12000000 1\n"
GOAL = "// a ring\nnum_ranks 2\nrank 0 {\n l1: send 100b to 1 tag 1\n}\nrank 1 {\n l1: recv 100b from 0 tag 1\n}\n"
PROGRAM = '{"groups": {}}\n{"rank": [0, 1], "id": 1, "kind": "collective", "op": "all_reduce", "bytes": "1KB"}\n'
TABLE = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n     1048576   262144   float   sum  -1  101.0  10.38  19.47  0\n"
LOG = "host:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0\n"
NETWORK = '{"name": "n", "topology": {"dims": [{"kind": "switch", "size": 16, "link": {"rate": "400Gbps", "delay": "500ns"}}]}}'


def put(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def run(folder, *args):
    """The process, and the scenario if there is one."""
    out = os.path.join(folder, "out.json")
    for name in os.listdir(folder):
        if name.startswith("out"):
            (shutil.rmtree if os.path.isdir(os.path.join(folder, name)) else os.remove)(os.path.join(folder, name))
    done = subprocess.run([COLLWIRE, "import", *args, "-o", out], capture_output=True, text=True, errors="replace", check=False, timeout=60,
                          env=os.environ | {"COLUMNS": "400"})
    return done, check_import.read(out) if os.path.exists(out) else None


def refused(what, folder, args, *sentences):
    done, scenario = run(folder, *args)
    held = done.returncode == 2 and scenario is None and all(s in done.stderr for s in sentences)
    expect(f"{what}: refused", held and not [n for n in os.listdir(folder) if n.startswith("out")])
    if not held:
        print(done.returncode, done.stdout, done.stderr)


def check_jobs(folder):
    cases = [
        ("w.txt", SIMAI, "w.txt: SimAI workload, 2 layers, 3 collectives in groups tp, dp", {"machine": "dgx_h100", "nodes": 2}, ["by the rules of 2.27.7"]),
        ("d.txt", DATA, "d.txt: ASTRA-sim workload, 1 layer, 1 collective in groups dp", {"machine": "dgx_h100", "nodes": 2}, ["16 ranks, which the file does not say"]),
        ("m.cm", HTSIM, "m.cm: connection matrix of htsim, 2 messages, 1.20 MB, of which the last begins after 40.0 ms", None,
         ["starts are microseconds, as in htsim_uec", "8 hosts at 100 Gb/s"]),
        ("f.csv", CSV, "f.csv: list of flows, 2 messages, 6.00 KB, of which the last begins after 700 ns", None, ["3 hosts at 100 Gb/s"]),
        ("sizes.txt", CDF, "sizes.txt: distribution of sizes", None, ["load each link to 40 %", "16 hosts"]),
        ("r.goal", GOAL, "r.goal: program in GOAL", None, ["2 hosts"]),
    ]
    for name, text, title, topology, assumed in cases:
        path = put(folder, name, text)
        done, scenario = run(folder, path)
        expect(f"{name}: {title}", done.returncode == 0 and title in done.stdout)
        expect(f"{name}: assumptions", all(any(line.startswith("  assumed: ") and a in line for line in done.stdout.splitlines()) for a in assumed))
        if done.returncode != 0:
            print(done.stderr)
            continue
        expect(f"{name}: topology", topology is None or scenario["topology"] == topology)
        again = subprocess.run([COLLWIRE, "import", path], capture_output=True, text=True, check=False, cwd=folder).stdout
        expect(f"{name}: the same on stdout", json.loads(again) == scenario)
        ran = subprocess.run([COLLWIRE, "run", os.path.join(folder, "out.json"), "--quiet", "--out", os.path.join(folder, "out")], capture_output=True, text=True, check=False)
        expect(f"{name}: the scenario runs", ran.returncode == 0)
        refused(f"{name} --strict", folder, [path, "--strict"], f"--strict: would be assumed: {'' if name != 'f.csv' else '3 hosts'}")
        network = put(folder, "net.json", NETWORK)
        done, scenario = run(folder, path, "--network", network)
        expect(f"{name} --network", done.returncode == 0 and scenario["topology"]["dims"][0]["size"] == 16 and "hosts at 100 Gb/s" not in done.stdout)
        windows, _ = run(folder, put(folder, f"crlf-{name}", text.replace("\n", "\r\n")))
        expect(f"{name} with CRLF", windows.returncode == 0)
    path = put(folder, "p.jsonl", PROGRAM)
    refused("a program without ranks", folder, [path], "p.jsonl: does not say how many ranks there are: --ranks N, or --network FILE")
    done, _ = run(folder, path, "--ranks", "2")
    expect("a program with --ranks", done.returncode == 0 and "program of nodes" in done.stdout)
    refused("--ranks against the file", folder, [os.path.join(folder, "m.cm"), "--ranks", "9"], "has 8 ranks, and --ranks says 9")
    refused("a reader's own error", folder, [put(folder, "wrong.cm", HTSIM + "7->1 sparkle 5\n")], "wrong.cm, line 5")


STAGE = "\n".join(["HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 4 pp: 3 vpp: 2 ga: 6 all_gpus: 48 checkpoints: 0 checkpoint_initiates: 0 pp_comm 4194304",
                   "6", *("\t".join(line.split()) for line in (
                       "grad_gather -1 1 NONE 0 1 NONE 0 1 ALLGATHER 33554432 100", "grad_param_comm -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 67108864 100",
                       "moe_grad_norm1 -1 1 NONE 0 1 NONE 0 1 ALLGATHER_DP_EP 1048576 100", "attention_column -1 17508 ALLGATHER 4194304 8754 REDUCESCATTER 0 8754 NONE 0 100",
                       "mlp_moelayer -1 1 ALLTOALL_EP 8388608 1 ALLTOALL_EP 8388608 1 NONE 0 100", "optimizer -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 100"))]) + "\n"


def check_stage(folder):
    """SimAI's analytical workload: tabs, and the layers of one stage of a pipeline."""
    path = put(folder, "workload_analytical.txt", STAGE)
    done, scenario = run(folder, path)
    expect("a stage of SimAI's", done.returncode == 0 and "SimAI workload, 6 layers, 7 collectives in groups tp, dp, ep, dp_ep" in done.stdout
           and "assumed: there are 3 stages of 16 GPUs: the job is one stage" in done.stdout and scenario["topology"]["nodes"] == 2)
    if done.returncode:
        print(done.stderr)
    ran = subprocess.run([COLLWIRE, "run", os.path.join(folder, "out.json"), "--network", "analytical", "--out", os.path.join(folder, "ran")], capture_output=True, text=True, check=False)
    expect("a stage of SimAI's runs", ran.returncode == 0)
    refused("a stage with --strict", folder, [path, "--strict"], "--strict: would be assumed: there are 3 stages")
    refused("stages that do not divide", folder, [put(folder, "s.txt", STAGE.replace("pp: 3", "pp: 5"))], "pp: 5 stages do not divide 48 GPUs")


NS3 = "5 1 4\n4\n0 4 100Gbps 0.001ms 0\n1 4 100Gbps 0.001ms 0\n2 4 100Gbps 0.001ms 0\n3 4 100Gbps 0.001ms 0\n"
NS3_FIRST = "5 1 4\n0\n1 0 100Gbps 0.001ms 0\n2 0 100Gbps 0.001ms 0\n3 0 100Gbps 0.001ms 0\n4 0 100Gbps 0.001ms 0\n"  # its switch is node 0
NS3_FLOWS = "2\n0 3 3 100 1000000 0\n1 3 3 100 1000000 0.00001\n"
TOPO = "Nodes 8\nTiers 2\nPodsize 8\n\nTier 0\nRadix_Down 4\nRadix_Up 2\nOversubscribed 2\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1000\n\nTier 1\nRadix_Down 2\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1000\n"


def check_networks(folder):
    """A network alone gets a job, beside a job's files it is theirs, and --network takes it."""
    for name, text, title in (("net.txt", NS3, "network of 4 hosts, 1 switch and 4 links"), ("t.topo", TOPO, "network of 8 hosts, 4 switches and 12 links")):
        path = put(folder, name, text)
        done, scenario = run(folder, path)
        expect(f"{name} alone", done.returncode == 0 and f"{name}: {title}" in done.stdout and "assumed: an all-reduce of 16 MB among all hosts" in done.stdout
               and scenario["topology"] == {"dims": [{"kind": "graph", "file": name}]})
        if done.returncode:
            print(done.stderr)
            continue
        ran = subprocess.run([COLLWIRE, "run", os.path.join(folder, "out.json"), "--quiet", "--out", os.path.join(folder, "out")], capture_output=True, check=False)
        expect(f"{name}: the scenario runs", ran.returncode == 0)
        refused(f"{name} --strict", folder, [path, "--strict"], "--strict: would be assumed: an all-reduce of 16 MB")
    flows = put(folder, "flow.txt", NS3_FLOWS)
    for args in ([os.path.join(folder, "net.txt"), flows], [flows, "--network", os.path.join(folder, "net.txt")]):
        done, scenario = run(folder, *args)
        expect("flows on a network", done.returncode == 0 and "flow.txt: list of flows, 2 messages, 2.00 MB" in done.stdout and "assumed" not in done.stdout and "not taken" not in done.stdout
               and scenario["topology"] == {"dims": [{"kind": "graph", "file": "net.txt"}]} and scenario["workload"]["ranks"] == [0, 1, 2, 3])
    done, scenario = run(folder, put(folder, "m.cm", HTSIM), os.path.join(folder, "t.topo"))
    expect("a matrix on its network", done.returncode == 0 and scenario["topology"]["dims"][0]["file"] == "t.topo")
    refused("two networks", folder, [flows, os.path.join(folder, "net.txt"), os.path.join(folder, "t.topo")], "two networks, ")
    done, scenario = run(folder, flows, os.path.join(folder, "net.txt"), os.path.join(folder, "t.topo"), "--network", os.path.join(folder, "net.txt"))
    expect("--network of two", done.returncode == 0 and scenario["topology"]["dims"][0]["file"] == "net.txt" and "not taken: " in done.stdout)
    refused("ids that are no ranks", folder, [flows, put(folder, "first.txt", NS3_FIRST)], "names nodes by their ids, and the hosts of ")
    refused("more ranks than hosts", folder, [put(folder, "big.cm", HTSIM.replace("Nodes 8", "Nodes 9")), os.path.join(folder, "t.topo")], "workload.ranks")
    traces.write_kineto(os.path.join(folder, "run"), check_import.data_parallel(4, 1))
    done, scenario = run(folder, os.path.join(folder, "run"), os.path.join(folder, "net.txt"))
    expect("a recording on a network", done.returncode == 0 and scenario["topology"]["dims"][0]["file"] == "net.txt")
    if done.returncode:
        print(done.stderr)


TRIGGERS = """Nodes 8
Connections 5
Triggers 3
0->1 id 1 start 0 size 2000000 send_done_trigger 1
0->2 id 2 trigger 1 size 2000000 send_done_trigger 2
5->0 id 3 start 100 size 2000000 recv_done_trigger 2
0->3 id 4 trigger 2 size 2000000
4->5 id 5 start 0 size 2000000 send_done_trigger 3
trigger id 1 oneshot
trigger id 2 barrier count 2
trigger id 3 multishot
"""


def check_triggers(folder):
    """A message begins when those that fire its trigger have ended; two that leave one rank one after the other take twice as long as one."""
    network = put(folder, "net.json", '{"name": "n", "topology": {"dims": [{"kind": "switch", "size": 8, "link": {"rate": "100Gbps", "delay": "1us"}}]}}')
    done, scenario = run(folder, put(folder, "t.cm", TRIGGERS), "--network", network)
    expect("triggers: a program", done.returncode == 0 and scenario["workload"]["kind"] == "program" and "file" not in scenario["workload"] and "with triggers" in done.stdout)
    if done.returncode:
        print(done.stderr)
        return
    subprocess.run([COLLWIRE, "run", os.path.join(folder, "out.json"), "--quiet", "--out", os.path.join(folder, "out")], check=True)
    flows = {(f["src"], f["dst"]): f for f in check_import.read(os.path.join(folder, "out", "metrics.json"))["flows"]}
    end = {pair: f["start_ns"] + f["fct_ns"] for pair, f in flows.items()}
    expect("triggers: after the first has ended", abs(flows[0, 2]["start_ns"] - end[0, 1]) < 20 and flows[5, 0]["start_ns"] == 100000)
    expect("triggers: a barrier of both", 0 <= flows[0, 3]["start_ns"] - max(end[0, 2], end[5, 0] - 2000) < 2000 and flows[4, 5]["start_ns"] == 0)
    for change, says in ((("trigger id 1 oneshot\n", ""), "line 5: trigger 1 has no line of its own"), (("count 2", "count 3"), "line 10: barrier 2 counts to 3, and 2 connections fire it"),
                         (("barrier count 2", "oneshot"), "line 10: trigger 2 fires at the first of 2 connections"), (("0->2 id 2 trigger 1", "6->2 id 2 trigger 1"), "line 5: trigger 1 is fired at another node"),
                         (("size 2000000 send_done_trigger 1", "size 2000000"), "line 5: trigger 1 is fired by no connection"), (("id 2 trigger 1", "id 2 start 0 trigger 1"), "line 5: has a start and a trigger")):
        refused(f"triggers: {says}", folder, [put(folder, "w.cm", TRIGGERS.replace(*change)), "--network", network], says)


def check_others(folder):
    cases = [("table.txt", TABLE, "is a table of nccl-tests or rccl-tests: collwire sweep JOB --sizes A:B --against FILE"),
             ("nccl.log", LOG, "is a log of NCCL: collwire library nccl --machine NAME --nodes N --against FILE"),
             ("rccl.json", '[{"numCycle":0, "name":"AllReduce", "nodes":1, "ranks":8, "size":8, "inPlace":0, "time":9.5, "algBw":0.1, "busBw":0.2}]',
              "is JSON of nccl-tests or rccl-tests: collwire sweep JOB"),
             ("osu.txt", "# OSU MPI Allreduce Latency Test v7.1\n# Size       Avg Latency(us)\n8  2.5\n", "is a table of OSU's benchmarks: collwire sweep JOB"),
             ("bw.txt", " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n", "is a table of perftest: collwire run JOB --against FILE"),
             ("s.json", '{"name": "x", "topology": {}, "workload": {}}', "is a scenario of collwire: collwire run"),
             ("g.json", '{"switches": 1, "links": []}', 'is a network, link by link: "file" of a dimension of kind "graph"'),
             ("t.xml", '<system version="1">\n<cpu numaid="0"/>\n</system>', "is a topology of NCCL: a topology's \"machine\""),
             ("h.xml", '<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n</topology>', "is a topology of hwloc (lstopo): a topology's \"machine\": {"),
             ("g.xml", '<graphs version="1">\n</graphs>', "is the graphs that NCCL has found: these are derived here"),
             ("i.yaml", "devices:\n- name: s\n  components:\n  - {name: x, count: 2, choice: xpu}\n", "is a part of a network of InfraGraph, or one of an earlier schema: "),
             ("config.txt", "ENABLE_QCN 1\nTOPOLOGY_FILE mix/fat.txt\nFLOW_FILE mix/flow.txt\n", "is a configuration of HPCC's ns-3: import the topology and the flows"),
             ("trace.txt", "9\n0 1 2 3 4 5 6 7 8\n", "is a list of nodes that HPCC's ns-3 traces: "),
             ("feeder.json", '{"workload_graph": [{"Id": 1}]}', "is what Chakra's feeder reads as JSON: its collectives have no sizes"),
             ("dims.json", '{"logical-dims": ["8"]}', "is dimensions for the ns-3 of ASTRA-sim 2"),
             ("x.zip", b"PK\x03\x04" + bytes(30), "is an archive: unpack it, and give its folder"),
             ("x.tar.gz", gzip.compress(bytes(257) + b"ustar" + bytes(250)), "is an archive: unpack it"),
             ("a.xml", '<?xml version="1.0"?>\n<!-- <system> -->\n<algo name="x">', 'is an algorithm of a collective in XML'),
             ("c.pcap", b"\xd4\xc3\xb2\xa1" + bytes(20), "is a packet capture: collwire replay"),
             ("sys.json", '{"scheduling-policy": "LIFO"}', "is a system of ASTRA-sim 2: goes with traces of Chakra"),
             ("net.yml", "topology: [ Ring ]\nnpus_count: [ 4 ]\n", "is a network of ASTRA-sim 2"),
             ("sys.txt", "scheduling-policy: LIFO\n", "is a system of ASTRA-sim 1.0"),
             ("net1.json", '{"topology-name": "Hierarchical"}', "is a network of ASTRA-sim 1.0"),
             ("garnet.txt", "num-npus: 8\nnum-packages: 4\npackage-rows: 2\ntopology: Torus3D\n", "is a network of Garnet: its cycles and the directions"),
             ("groups.json", '{"1": [0, 1]}', "is a list of communicators"),
             ("notes.md", "# Notes\nwords\n", "is not known by its content\ncollwire: looked for: an SQLite export"),
             ("empty", "", "is not known by its content"),
             ("utf16.cm", HTSIM.encode("utf-16"), "is text in UTF-16: save it as UTF-8")]
    for name, text, sentence in cases:
        refused(name, folder, [put(folder, name, text)], sentence)
    refused("no such file", folder, [os.path.join(folder, "nothing")], "nothing: cannot be read: No such file or directory")
    refused("no files", folder, [], "import takes files or folders")
    refused("--as a kind that is none", folder, [os.path.join(folder, "notes.md"), "--as", "sparkle"], '"sparkle" is none of the kinds that can be imported: nsys kineto')
    refused("--as against the content", folder, [os.path.join(folder, "notes.md"), "--as", "goal"], "notes.md")


def check_folders(folder):
    run_of = check_import.data_parallel(2, 1)
    where = os.path.join(folder, "mixed")
    traces.write_kineto(where, run_of, "graph")
    put(folder, "mixed/nccl.log", LOG)
    put(folder, "mixed/README.md", "words")
    done, scenario = run(folder, where)
    expect("a folder: traces and graphs are taken", done.returncode == 0 and "4 files: a trace of PyTorch's profiler" in done.stdout
           and "observer" not in done.stdout and scenario is not None)
    expect("a folder: others are named", "not taken: " + os.path.join(where, "nccl.log") + ", a log of NCCL: collwire library" in done.stdout
           and "README.md, not known by its content" in done.stdout)
    files = [os.path.join(where, name) for name in sorted(os.listdir(where)) if name.startswith("worker")]
    done, _ = run(folder, *files, os.path.join(where, "x-graph0.json"), os.path.join(where, "x-graph1.json"))
    expect("files in place of a folder", done.returncode == 0)
    traces.write_inspector(where, run_of)
    refused("two kinds of recordings", folder, [where], "the files are of several kinds: 2 of kineto (", "2 of inspector (", "--as KIND takes one")
    done, _ = run(folder, where, "--as", "inspector")
    expect("--as one of them", done.returncode == 0 and "2 files: a log of NCCL's Inspector" in done.stdout and "not taken: " in done.stdout)
    done = subprocess.run([COLLWIRE, "import", where, "--as", "kineto"], capture_output=True, text=True, check=False)
    expect("a recording needs -o", done.returncode == 2 and "-o FILE is needed" in done.stderr)
    traces.write_kineto(os.path.join(folder, "runs/a"), run_of)
    traces.write_kineto(os.path.join(folder, "runs/b"), run_of)
    refused("two runs in a folder", folder, [os.path.join(folder, "runs")], "rank 0 is that of", "of several runs import the files of one")
    traces.write_nsys(os.path.join(folder, "n"), run_of)
    done, _ = run(folder, os.path.join(folder, "n"))
    expect("exports of Nsight", done.returncode == 0 and "2 files: an SQLite export of Nsight Systems" in done.stdout)
    put(folder, "two/a.cm", HTSIM)
    put(folder, "two/b.cm", HTSIM)
    refused("two jobs", folder, [os.path.join(folder, "two")], "2 files are each a connection matrix of htsim: import takes one")


def check_chakra(folder):
    job = put(folder, "job.json", json.dumps({"name": "j", "topology": {"dims": [{"kind": "switch", "size": 4}]},
                                              "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB"}}))
    os.makedirs(os.path.join(folder, "et"))
    subprocess.run([COLLWIRE, "export", "chakra", job, "-o", os.path.join(folder, "et/j")], capture_output=True, check=False)
    for name in os.listdir(os.path.join(folder, "et")):
        if name == "j.json":
            os.remove(os.path.join(folder, "et", name))
    groups = os.path.join(folder, "et/j.groups.json")
    for given in ("et", "et/j", "et/j.*.et"):
        args = [os.path.join(folder, f"et/j.{r}.et") for r in range(4)] if "*" in given else [os.path.join(folder, given)]
        done, scenario = run(folder, *args, *(["--groups", groups] if given != "et" else []))
        expect(f"traces as {given}: {done.stdout[:60]!r}", done.returncode == 0 and scenario["workload"]["prefix"] == "et/j" and "traces: 4 ranks" in done.stdout)
    network = put(folder, "et/net.yml", "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n")
    refused("traces with a network alone", folder, [os.path.join(folder, "et")], "traces with a network of ASTRA-sim 2 need its system too")
    system = put(folder, "et/sys.json", json.dumps({"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1, "preferred-dataset-splits": 1,
                                                    "all-reduce-implementation": ["ring"], "collective-optimization": "localBWAware", "local-mem-bw": 50}))
    whole, scenario = run(folder, os.path.join(folder, "et"))
    expect("traces with the files of ASTRA-sim 2", whole.returncode == 0 and scenario["network"] == "analytical")
    print(whole.stderr, end="")
    named = subprocess.run([COLLWIRE, "import", "chakra", os.path.join(folder, "et/j"), "--network", network, "--system", system, "--groups", groups], capture_output=True, text=True, check=False, cwd=folder)
    expect("as by `import chakra`", json.loads(named.stdout) == scenario if named.stdout else False)
    shutil.copy(os.path.join(folder, "et/j.0.et"), os.path.join(folder, "et/k.0.et"))
    refused("two sets of traces", folder, [os.path.join(folder, "et")], "traces of several sets, ")


def check_waits(folder):
    """Collectives that wait for no computation are warned of (mlcommons/chakra issue 215)."""
    for what, after, warned in (("directly", [1], False), ("over another node", [2], False), ("not at all", [], True)):
        nodes = [{"rank": "all", "id": 1, "kind": "compute", "time": "5us"}, {"rank": "all", "id": 2, "kind": "wait", "time": "1us", "after": [1]},
                 {"rank": "all", "id": 3, "kind": "collective", "op": "all_reduce", "bytes": "1MB", **({"after": after} if after else {})}]
        job = put(folder, "job.json", json.dumps({"name": "j", "topology": {"dims": [{"kind": "switch", "size": 4}]}, "workload": {"kind": "program", "nodes": nodes}}))
        prefix = os.path.join(folder, f"w{len(what)}", "j")
        os.makedirs(os.path.dirname(prefix))
        subprocess.run([COLLWIRE, "export", "chakra", job, "-o", prefix], capture_output=True, check=False)
        os.remove(prefix + ".json")
        done, scenario = run(folder, os.path.dirname(prefix))
        said = "none of its 1 collectives waits for one of its 1 computations" in done.stderr
        expect(f"collectives wait {what}", done.returncode == 0 and scenario is not None and said == warned)
        if done.returncode:
            print(done.stderr)


def check_hostile(folder):
    """Cut, changed and repeated files: a scenario, or one clear error and nothing written."""
    rng = random.Random(5)
    trace = json.dumps(traces.kineto_trace(check_import.data_parallel(2, 1), 0, "annotation"))
    texts = {"w.txt": SIMAI, "d.txt": DATA, "m.cm": HTSIM, "f.csv": CSV, "sizes.txt": CDF, "r.goal": GOAL, "p.jsonl": PROGRAM, "t.json": trace, "log": LOG, "net.txt": NS3, "flow.txt": NS3_FLOWS, "t.topo": TOPO, "trig.cm": TRIGGERS}
    bad = 0
    for name, text in texts.items():
        data = text.encode()
        made = [data[:rng.randrange(len(data))] for _ in range(3)]
        made += [data.replace(b" ", b"\0", 1), data.replace(b"1", b"-1"), data.replace(b"0", b"NaN", 2), data.replace(b"0", b"1e400", 2), b"\xef\xbb\xbf" + data,
                 data.replace(b"8", b"99999999999999999999"), b"[" * 50000 + data, data + b"\xff\xfe", gzip.compress(data)[:40]]
        for i, bytes_ in enumerate(made):
            done, scenario = run(folder, put(folder, f"hostile/{i}-{name}", bytes_))
            good = done.returncode in (0, 2) and (done.returncode == 0) == (scenario is not None) and (done.returncode == 0 or "collwire: " in done.stderr)
            if not good:
                bad += 1
                print(name, i, done.returncode, done.stderr[:300])
    expect("hostile files", bad == 0)


def check_large(folder):
    """Files of a gigabyte, which end in zeros that take no room on the disk: a clear error within 500 MB and a few seconds."""
    job = put(folder, "job.json", json.dumps({"name": "j", "topology": {"machine": "dgx_h100", "nodes": 2},
                                              "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MiB", "library": {"kind": "nccl"}}}))
    heads = {"w.txt": SIMAI, "m.cm": HTSIM, "f.csv": CSV, "sizes.txt": CDF, "r.goal": GOAL, "p.jsonl": PROGRAM, "table.txt": TABLE, "log": LOG, "net.txt": NS3, "flow.txt": NS3_FLOWS,
             "t.topo": TOPO, "s.xml": '<system version="1">', "g.json": '{"switches": 1, "links": [', "k.json": '{"traceEvents": [', "i.log": '{"header": {}, "metadata": {}, "coll_perf": {}}\n',
             "e.et": b"\x08\x0a\x05" + b"0.0.4", "nothing": ""}
    for name, head in heads.items():
        path = put(folder, "large/" + name, head)
        with open(path, "r+b") as file:
            file.truncate(1 << 30)
        for args in (["import", path, "-o", os.path.join(folder, "out.json"), "--ranks", "4"], ["run", job, "--against", path, "--out", os.path.join(folder, "out")],
                     ["library", "nccl", "--machine", "dgx_h100", "--nodes", "2", "--against", path]):
            child = subprocess.Popen([COLLWIRE, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            said = child.stderr.read().decode(errors="replace")
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            peak = usage.ru_maxrss / 1024
            good = child.returncode == 2 and "collwire: " in said and (peak < 500 or "COLLWIRE_SANITIZE" in os.environ) and usage.ru_utime + usage.ru_stime < 20
            expect(f"{name} of 1 GB by {args[0]}: {peak:.0f} MB, {usage.ru_utime:.1f} s", good)
            if not good:
                print(child.returncode, said[:300])
        os.remove(path)


def main():
    for check in (check_jobs, check_stage, check_networks, check_triggers, check_others, check_folders, check_chakra, check_waits, check_hostile, check_large):
        with tempfile.TemporaryDirectory() as folder:
            check(folder)
    print(f"{len(FAILED)} failed" if FAILED else "all hold")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
