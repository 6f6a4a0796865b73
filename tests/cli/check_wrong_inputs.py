#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mistakes that people make in scenarios: each gives exactly one error that names the place and what to write instead,
exit code 2, and nothing is written.

usage: check_wrong_inputs.py, with the executable in $COLLWIRE.
"""
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.path.abspath(os.environ["COLLWIRE"])
SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scenarios/schema.json")
SWITCH = {"dims": [{"kind": "switch", "size": 9}]}
INCAST = {"name": "x", "topology": SWITCH, "workload": {"kind": "incast", "receiver": 8, "bytes": "1MB"}}
RING = {"name": "x", "topology": SWITCH, "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB"}}
FABRIC = {"name": "x", "topology": {"dims": [{"kind": "leaf_spine", "size": 32, "ranks_per_leaf": 8, "spines": 4}]},
          "workload": RING["workload"]}
LLM = {"name": "x", "topology": {"dims": [{"kind": "switch", "size": 8}]},
       "workload": {"kind": "llm", "layers": 4, "hidden": 1024, "heads": 16, "sequence": 128, "vocabulary": 1000,
                    "global_batch": 8, "tensor": 8}}
LARGE = dict(LLM, workload=dict(LLM["workload"], layers=96, hidden=12288, heads=96, sequence=2048))
LOSS = dict(FABRIC, faults=[{"at": "rank0->leaf0", "loss": 0.1}])
RATE, DELAY = "topology.dims[0].link.rate", "topology.dims[0].link.delay"

# scenario, a setting, the error
SETTINGS = (
    # units
    (INCAST, f'{RATE}="100GBps"', f'{RATE}: "100GBps" is in bytes, and rates are in bits: write "800Gbps"'),
    (INCAST, f'{RATE}="100GB/s"', f'{RATE}: "100GB/s" is in bytes, and rates are in bits: write "800Gbps"'),
    (INCAST, f'{RATE}="12.5 GB/s"', 'write "100Gbps"'),
    (INCAST, f'{RATE}="400G"', f'{RATE}: "400G" is not a rate: write "400Gbps"'),
    (INCAST, f'{RATE}="100 Gbps"', f'{RATE}: "100 Gbps" is not a rate: write "100Gbps"'),
    (INCAST, f'{RATE}="100Gb/s"', 'write "100Gbps"'),
    (INCAST, f'{RATE}="100Gbit/s"', 'write "100Gbps"'),
    (INCAST, f'{RATE}="100gbps"', 'write "100Gbps"'),
    (INCAST, f'{RATE}="100Gb"', 'write "100Gbps"'),
    (INCAST, f'{RATE}="100GB"', f'{RATE}: "100GB" is not a rate (write it like "100Gbps")'),
    (INCAST, f'{RATE}="fast"', f'{RATE}: "fast" is not a rate (write it like "100Gbps")'),
    (INCAST, f"{RATE}=100", f'{RATE}: must be a rate with its unit like "100Gbps", not a number'),
    (INCAST, f'{RATE}="0bps"', f"{RATE}: 0bps is below the minimum"),
    (INCAST, f'{RATE}="-1Gbps"', f'{RATE}: "-1Gbps" is not a rate, since it is negative: the least is 1Mbps'),
    (LOSS, 'faults[0].loss="5%"', "faults[0].loss: must be a number, not a string: write 0.05"),
    (LOSS, 'faults[0].loss="12.5 percent"', "faults[0].loss: must be a number, not a string: write 0.125"),
    (LOSS, 'faults[0].loss="0.05"', "faults[0].loss: must be a number, not a string: write 0.05"),
    (LOSS, 'faults[0].loss="some"', "faults[0].loss: must be a number, not a string"),
    (LOSS, "faults[0].loss=5", "faults[0].loss: 5 is above the maximum 1; 5 % is 0.05"),
    (INCAST, f'{DELAY}="1 us"', f'{DELAY}: "1 us" is not a time: write "1us"'),
    (INCAST, f'{DELAY}="1usec"', 'write "1us"'),
    (INCAST, f'{DELAY}="2 seconds"', 'write "2s"'),
    (INCAST, f'{DELAY}="10MS"', 'write "10ms"'),
    (INCAST, f"{DELAY}=1", f'{DELAY}: must be a time with its unit like "12.5us", not a number'),
    (INCAST, 'workload.start="-1us"', 'workload.start: "-1us" is not a time, since it is negative: the least is 0ns'),
    (INCAST, f'{DELAY}="-1us"', f'{DELAY}: "-1us" is not a time, since it is negative: the least is 0ns'),
    (INCAST, 'workload.bytes="64Mb"', 'workload.bytes: "64Mb" is not a size, since b is a bit and B a byte: write "64MB"'),
    (INCAST, 'workload.bytes="-5MB"', 'workload.bytes: "-5MB" is not a size, since it is negative: the least is 1B'),
    (INCAST, 'workload.bytes="5 MB"', 'workload.bytes: "5 MB" is not a size: write "5MB"'),
    (INCAST, 'workload.bytes="64M"', 'write "64MB"'),
    (INCAST, 'workload.bytes="64mib"', 'write "64MiB"'),
    (INCAST, 'workload.bytes="64kb"', 'write "64KB"'),
    (INCAST, "workload.bytes=-5", "workload.bytes"),
    (INCAST, "workload.bytes=0", "workload.bytes"),
    (INCAST, "workload.bytes=1e30", "workload.bytes: "),
    (INCAST, 'switch.buffer="32Gb"', 'write "32GB"'),
    (INCAST, "workload.receiver=1.5", "workload.receiver"),
    (INCAST, 'workload.receiver="8"', "workload.receiver: must be a whole number, not a string: write 8"),
    # words and objects
    (INCAST, 'cc="dcqcn"', 'cc: must be an object, not a string: {"kind": "dcqcn"}'),
    (INCAST, 'transport="tcp"', 'transport: must be an object, not a string: {"kind": "tcp"}'),
    (INCAST, 'switch.routing="spray"', 'switch.routing: must be an object, not a string: {"kind": "spray"}'),
    (INCAST, 'noise="lab"', 'noise: must be an object, not a string: {"preset": "lab"}'),
    (INCAST, 'workload="incast"', 'workload: must be an object, not a string: {"kind": "incast"}'),
    (INCAST, 'topology.dims=["switch"]', 'topology.dims[0]: must be an object, not a string: {"kind": "switch"}'),
    (INCAST, 'topology={"kind":"switch","size":9}', 'topology.dims: is required: a list of dimensions: write {"dims": [{"kind"'),
    (INCAST, 'topology.dims={"kind":"switch","size":9}', "topology.dims: must be a list, not an object"),
    (INCAST, 'nic={"kind":"cx7"}', 'nic.kind: unknown key; did you mean "preset"?'),
    (INCAST, 'network={"kind":"analytical"}', "network: must be packet"),
    (INCAST, "engine.fast_forward=off", "engine.fast_forward: exact skipping has left"),
    (INCAST, 'switch.pfc.enabled="yes"', "switch.pfc.enabled: must be true or false, not a string: write true"),
    (INCAST, "switch.pfc=false", 'switch.pfc: must be an object, not a boolean: {"enabled": false}'),
    (INCAST, 'switch.pfc="off"', 'switch.pfc: must be an object, not a string: {"enabled": false}'),
    (INCAST, "switch.ecn=false", 'switch.ecn: must be "auto" or an object, not a boolean: {"enabled": false}'),
    (INCAST, "switch.trimming=true", 'switch.trimming: must be an object, not a boolean: {"enabled": true}'),
    (INCAST, "switch.pfc=3", "switch.pfc: must be an object, not a number"),
    (INCAST, "switch=null", None),  # null removes a key: no error
    (INCAST, "capture=rank0", "capture: must be a list, not a string"),
    (INCAST, 'limits.sim_time=true', "limits.sim_time: must be a time"),
    (INCAST, 'name="a b"', "name"),
    (INCAST, "seed=-1", "seed"),
    # keys
    (INCAST, 'topology.dims[0].rate="100Gbps"', 'topology.dims[0].rate: unknown key; did you mean "link.rate"?'),
    (INCAST, 'topology.dims[0].bandwidth="100Gbps"', 'topology.dims[0].bandwidth: unknown key; did you mean "link.rate"?'),
    (INCAST, 'topology.dims[0].delay="1us"', 'topology.dims[0].delay: unknown key; did you mean "link.delay"?'),
    (INCAST, 'topology.dims[0].link.latency="1us"', 'topology.dims[0].link.latency: unknown key; did you mean "delay"?'),
    (INCAST, 'topology.dims[0]={"kind":"switch","ranks":9}', 'topology.dims[0].ranks: unknown key; did you mean "size"?'),
    (INCAST, 'topology.dims[0]={"kind":"switch","nodes":9}', 'topology.dims[0].nodes: unknown key; did you mean "size"?'),
    (INCAST, 'workload={"kind":"incast","receiver":8,"size":"1MB"}', 'workload.size: unknown key; did you mean "bytes"?'),
    (INCAST, 'workload={"kind":"incast","receiver":8,"bites":"1MB"}', 'workload.bites: unknown key; did you mean "bytes"?'),
    (INCAST, 'workload={"kind":"incast","receiver":8}', "workload.bytes: is required"),
    (RING, 'workload.algo="ring"', 'workload.algo: unknown key; did you mean "algorithm"?'),
    (RING, "workload.iterations=3", 'workload.iterations: unknown key; did you mean "repeat"?'),
    (INCAST, 'policy="dcqcn"', 'policy: unknown key; did you mean "cc"?'),
    (INCAST, 'buffer="32MB"', 'buffer: unknown key; did you mean "switch.buffer"?'),
    (INCAST, 'mtu="1000B"', 'mtu: unknown key; did you mean "transport.mtu"?'),
    (INCAST, 'switch.bufer="1MB"', 'switch.bufer: unknown key; did you mean "buffer"?'),
    (INCAST, 'cc={"type":"dcqcn"}', "cc.kind: is required"),
    (INCAST, "cc={\"kind\":\"dcqcn\",\"beta\":1}", "cc.beta: unknown key"),
    (FABRIC, "topology.dims[0].oversubscription=2",
     'topology.dims[0].oversubscription: unknown key; did you mean "spines"? oversubscription is a key of fat_tree'),
    (RING, 'workload.stragglers=[{"rank":0,"factor":2}]',
     "workload.stragglers: unknown key; stragglers is a key of training"),
    (INCAST, 'cc={"kind":"dcqcn","t_high":"1us"}', "cc.t_high: unknown key; t_high is a key of timely"),
    (LLM, "workload.tp=8", 'workload.tp: unknown key; did you mean "tensor"?'),
    # kinds
    (INCAST, 'topology.dims[0].kind="nvlink"', 'topology.dims[0].kind: unknown topology kind "nvlink"; did you mean "switch"?'),
    (INCAST, 'topology.dims[0].kind="clos"', 'unknown topology kind "clos"; did you mean "leaf_spine"?'),
    (INCAST, 'topology.dims[0].kind="hypercube"', 'unknown topology kind "hypercube"; one of switch, leaf_spine, '),
    (INCAST, 'workload.kind="allreduce"',
     'workload.kind: "allreduce" is an operation: write {"kind": "collective", "op": "all_reduce", ..}'),
    (INCAST, 'workload.kind="storage"', 'workload.kind: unknown workload kind "storage"; one of '),
    (RING, 'workload.op="allreduce"', 'did you mean "all_reduce"?'),
    (RING, 'workload.algorithm="rings"', 'did you mean "ring"?'),
    (INCAST, "cc.kind=dcqnc", 'cc.kind: unknown policy "dcqnc"; did you mean "dcqcn"?'),
    (INCAST, "cc.kind=reno", "cc.kind"),
    (INCAST, 'cc={"kind":"dcqcn","preset":"papers"}', 'did you mean "paper"?'),
    (INCAST, "transport.kind=rocev2", 'transport.kind: unknown transport kind "rocev2"; did you mean "roce"?'),
    (INCAST, "nic=cx8000", 'nic: unknown preset "cx8000"'),
    (INCAST, 'nic=[{},{"bus_rate":"9Gbps"}]', "nic[1]: needs `at`: another kind is that of all other ranks"),
    (INCAST, 'nic=[{"at":"rank1"},{"at":"rank?"}]', "nic.at: rank1 of dimension 0 has two kinds of NIC"),
    (INCAST, "nic=[]", "nic: must list 1 to 4 kinds of NIC, not 0"),
    # ranks
    (RING, 'workload.ranks="0-15"', 'workload.ranks: "0-15" ends at rank 15, and the ranks are 0 to 8'),
    (RING, 'workload.ranks="7-0"', 'workload.ranks: "7-0" is not a range of ranks (write it like "0-15")'),
    (RING, 'workload.ranks="all"', 'workload.ranks: "all" is not a range of ranks'),
    (RING, 'workload.ranks=["0-3","x"]', 'workload.ranks[1]: "x" is not a range of ranks'),
    (RING, 'workload.ranks=["0-3",3]', "workload.ranks[4]: rank 3 is listed twice"),
    (RING, "workload.ranks=8", 'workload.ranks: must be a list of ranks like [0, 1, 2, 3] or "0-3", not a number'),
    (RING, "workload.ranks=[]", "workload.ranks: must not be empty"),
    (INCAST, "workload.receiver=9", "workload.receiver: rank 9 is not one of the network's 9"),
    (INCAST, 'workload.senders="0-8"', "workload.senders[8]: rank 8 is the receiver"),
    (INCAST, 'workload.senders="all"', 'workload.senders: "all" is not a range of ranks'),
    (INCAST, "workload.senders=9", "workload.senders: 9 senders and a receiver are not possible with 9 ranks"),
    # what does not fit together
    (FABRIC, "topology.dims[0].size=30", "are not a multiple"),
    (INCAST, "topology.dims[0].size=0", "topology.dims[0].size: 0 is below the minimum 1"),
    (INCAST, "topology.dims[0].size=300000", "topology.dims[0].size: 300000 is above the maximum 262144"),
    (INCAST, "topology.dims=[]", "topology.dims: must not be empty"),
    (INCAST, 'switch.ecn={"kmin":"900KB","kmax":"400KB"}', "switch.ecn.kmin: 900KB exceeds kmax 400KB"),
    (INCAST, 'switch.buffer="200KB"', "exceed the buffer"),
    (INCAST, 'capture=[{"at":"rank77","file":"x.pcap"}]', "rank77"),
    (INCAST, 'capture=[{"at":"rank0","file":"../x.pcap"}]', "capture[0].file"),
    (INCAST, 'faults=[{"at":"rank0->leaf9","loss":0.1}]', "faults[0].at"),
    (LOSS, 'faults[0].at="rank0->leaf1"',
     'faults[0].at: no place is called "rank0->leaf1": the links of rank0 lead to leaf0'),
    (LOSS, 'faults[0].at="spine0->rank3"', "the links of spine0 lead to leaf0, leaf1, leaf2, leaf3"),
    (LOSS, 'faults[0].at="rank0<-leaf0"', 'faults[0].at: no place is called "rank0<-leaf0": write "leaf0->rank0"'),
    (LOSS, 'faults[0].at="rank0 <-> leaf0"', 'write "rank0->leaf0"'),
    (LOSS, 'faults[0].at="leaf2-spine1"', 'write "leaf2->spine1"'),
    (LOSS, 'faults[0].at="sw0->rank0"',
     "there are rank0 to rank31, leaf0 to leaf3, spine0 to spine3, and links such as rank0->leaf0"),
    (FABRIC, 'links=[{"at":"rank9->leaf0","rate":"1Gbps"}]', "links[0].at: no place is called"),
    (FABRIC, 'report={"sample":"1us","sample_at":["leaf4"]}', 'report.sample_at[0]: no place is called "leaf4"'),
    # an error takes no others with it: the default GPU in place of this one has too little memory
    (LARGE, "workload.gpu=h2000", 'workload.gpu: "h2000" is not one of v100, a100, h100, h200, b200, mi300x, a100_40gb'),
    (LLM, "workload.tensor=4", "multiply to 4, but the job has 8 ranks"),
)

# scenario, settings that do not fit together, words of the error, settings of which it says that each is a way out
LONG = f'{DELAY}="10ms"'
WAYS = (
    (INCAST, LONG, 'give it 2290MB, or shorten the link (link.delay), or let it drop packets: "pfc": {"enabled": false}',
     ('switch.buffer="2290MB"', f'{DELAY}="1us"', 'switch={"pfc": {"enabled": false}}')),
    (INCAST, f'{DELAY}="100ms"', ': shorten the link (link.delay), or let it drop packets: "pfc": {"enabled": false}',
     (f'{DELAY}="1us"', 'switch={"pfc": {"enabled": false}}')),
    (INCAST, 'switch={"buffer": "10KB", "pfc": {"enabled": false}}', ": give it 46KB", ('switch.buffer="46KB"',)),
)

# words of other tools, each found by `list --search` or led to what it is called here
SEARCHES = {"torus": "topology ring", "grid": "topology mesh", "nvlink": 'did you mean "switch"?', "rdma": "host",
            "clos": "topology leaf_spine", "ultra_ethernet": 'did you mean "uec"?', "iters": 'did you mean "repeat"?'}

# texts that are no scenarios
TEXTS = (
    ("{", "line 1"),
    ('{"name": "x", "name": "y"}', "duplicate"),
    ('{"name": "x",}', "line 1"),
    ("[1]", "must be an object"),
    ("", ""),
)


def collwire(*words, text):
    return subprocess.run([COLLWIRE, *words], capture_output=True, text=True, input=text, timeout=100, check=False)


def check(name, done, words, folder):
    lines = done.stderr.splitlines()
    if words is None:
        assert done.returncode == 0 and not lines, (name, done.stderr)
        return
    assert done.returncode == 2, (name, done.returncode, done.stderr)
    assert len(lines) == 1 and lines[0].startswith("collwire: "), (name, done.stderr)
    assert words in lines[0], (name, words, lines[0])
    assert not os.path.exists(folder), name


def check_ways(scenario, wrong, words, ways):
    text = json.dumps(scenario)
    done = collwire("validate", "-", "--set", wrong, text=text)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, (wrong, done.stderr)
    assert done.stderr.rstrip().endswith(words), (wrong, words, done.stderr)
    for way in ways:
        done = collwire("validate", "-", "--set", wrong, "--set", way, text=text)
        assert done.returncode == 0, (wrong, way, done.stderr)


def kinds_of(schema, name):
    """The keys of each kind of an object, from the schema."""
    return {kind["properties"]["kind"]["const"]: set(kind["properties"]) for kind in schema["$defs"][name]["oneOf"]}


def check_keys_of_other_kinds():
    """Every key that only other kinds of a job have: its error names one that has it, and none that does not."""
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    jobs = kinds_of(schema, "job")
    algorithms = {name for name, keys in jobs.items() if "ring_directions" in keys}  # whose keys are not the job's own
    every = {key for keys in jobs.values() for key in keys
             if {name for name, other in jobs.items() if key in other} != algorithms}
    for kind in ("collective", "incast", "poisson"):
        foreign = sorted(every - jobs[kind])
        assert len(foreign) > 50, foreign
        scenario = dict(RING, workload={"kind": kind, **{key: 1 for key in foreign}})
        lines = collwire("validate", "-", text=json.dumps(scenario)).stderr.splitlines()
        for key in foreign:
            own = [line for line in lines if line.startswith(f"collwire: workload.{key}: unknown key")]
            assert len(own) == 1, (kind, key, own)
            named = own[0].rpartition(f"{key} is a key of ")[2].removesuffix(", ..").split(", ")
            owners = {name for name, keys in jobs.items() if key in keys}
            assert set(named) <= owners and len(named) == min(len(owners), 6), (kind, key, named, owners)


def check_search():
    for word, words in SEARCHES.items():
        done = collwire("list", "--search", word, text="")
        assert words in done.stdout + done.stderr, (word, done.stdout, done.stderr)


def check_garnet(folder):
    """A network file of ASTRA-sim's other back end is called by its name."""
    path = os.path.join(folder, "garnet")
    with open(path, "w", encoding="utf-8") as file:
        file.write("num-npus: 16\nnum-packages: 16\npackage-rows: 4\ntopology: Torus2D\nlocal-rings: 1\n"
                   "flit-width: 256\nvcs-per-vnet: 50\nrouting-algorithm: Ring_XY\n")
    done = collwire("import", "astra", path, path, path, text="")
    line = next(line for line in done.stderr.splitlines() if line.startswith("collwire: network: "))
    assert done.returncode == 2 and "is a network of Garnet" in line and "topologies-per-dim" in line, done.stderr
    assert "not JSON" not in line, line


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        runs = [(setting, json.dumps(scenario), ("--set", setting), words) for scenario, setting, words in SETTINGS]
        runs += [(text, text, (), words) for text, words in TEXTS]
        for name, text, sets, words in runs:
            try:
                check(name, collwire("validate", "-", *sets, text=text), words, out)
                if words is not None:
                    check(name, collwire("run", "-", *sets, "--out", out, text=text), words, out)
            except AssertionError as error:
                failed += 1
                print("FAILED:", error)
        for name, test in [(way[1], lambda way=way: check_ways(*way)) for way in WAYS] + [
                ("keys of other kinds", check_keys_of_other_kinds), ("list --search", check_search),
                ("garnet", lambda: check_garnet(folder))]:
            try:
                test()
            except AssertionError as error:
                failed += 1
                print("FAILED:", name, error)
    print(f"{len(SETTINGS) + len(TEXTS) + len(WAYS)} inputs, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
