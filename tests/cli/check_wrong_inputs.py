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
SWITCH = {"dims": [{"kind": "switch", "size": 9}]}
INCAST = {"name": "x", "topology": SWITCH, "workload": {"kind": "incast", "receiver": 8, "bytes": "1MB"}}
RING = {"name": "x", "topology": SWITCH, "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB"}}
FABRIC = {"name": "x", "topology": {"dims": [{"kind": "leaf_spine", "size": 32, "ranks_per_leaf": 8, "spines": 4}]},
          "workload": RING["workload"]}
LLM = {"name": "x", "topology": {"dims": [{"kind": "switch", "size": 8}]},
       "workload": {"kind": "llm", "layers": 4, "hidden": 1024, "heads": 16, "sequence": 128, "vocabulary": 1000,
                    "global_batch": 8, "tensor": 8}}
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
    (INCAST, f'{RATE}="-1Gbps"', RATE),
    (INCAST, f'{DELAY}="1 us"', f'{DELAY}: "1 us" is not a time: write "1us"'),
    (INCAST, f'{DELAY}="1usec"', 'write "1us"'),
    (INCAST, f'{DELAY}="2 seconds"', 'write "2s"'),
    (INCAST, f'{DELAY}="10MS"', 'write "10ms"'),
    (INCAST, f"{DELAY}=1", f'{DELAY}: must be a time with its unit like "12.5us", not a number'),
    (INCAST, 'workload.start="-1us"', 'workload.start: "-1us" is not a time'),
    (INCAST, 'workload.bytes="64Mb"', 'workload.bytes: "64Mb" is not a size, since b is a bit and B a byte: write "64MB"'),
    (INCAST, 'workload.bytes="-5MB"', 'workload.bytes: "-5MB" is not a size'),
    (INCAST, 'workload.bytes="5 MB"', 'workload.bytes: "5 MB" is not a size: write "5MB"'),
    (INCAST, 'workload.bytes="64M"', 'write "64MB"'),
    (INCAST, 'workload.bytes="64mib"', 'write "64MiB"'),
    (INCAST, 'workload.bytes="64kb"', 'write "64KB"'),
    (INCAST, "workload.bytes=-5", "workload.bytes"),
    (INCAST, "workload.bytes=0", "workload.bytes"),
    (INCAST, "workload.bytes=1e30", "workload.bytes: "),
    (INCAST, 'switch.buffer="32Gb"', 'write "32GB"'),
    (INCAST, "workload.receiver=1.5", "workload.receiver"),
    (INCAST, 'workload.receiver="8"', "workload.receiver: must be a whole number, not a string"),
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
    (INCAST, "engine.fast_forward=true", "engine.fast_forward: must be off or exact, not a boolean"),
    (INCAST, 'switch.pfc.enabled="yes"', "switch.pfc.enabled: must be true or false, not a string"),
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
    (INCAST, "topology.dims[0].size=100000", "topology.dims[0].size: 100000 is above the maximum 65536"),
    (INCAST, "topology.dims=[]", "topology.dims: must not be empty"),
    (INCAST, 'switch.ecn={"kmin":"900KB","kmax":"400KB"}', "switch.ecn.kmin: 900KB exceeds kmax 400KB"),
    (INCAST, 'switch.buffer="200KB"', "exceed the buffer"),
    (INCAST, 'capture=[{"at":"rank77","file":"x.pcap"}]', "rank77"),
    (INCAST, 'capture=[{"at":"rank0","file":"../x.pcap"}]', "capture[0].file"),
    (INCAST, 'faults=[{"at":"rank0->leaf9","loss":0.1}]', "faults[0].at"),
    (LLM, "workload.tensor=4", "multiply to 4, but the job has 8 ranks"),
)

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
    print(f"{len(SETTINGS) + len(TEXTS)} inputs, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
