#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Words for libFuzzer's mutations: keys, words and usual values of scenarios and of ASTRA-sim's files.

usage: dictionary.py SCHEMA > FILE
"""
import json
import sys

OTHERS = """ DATA MODEL HYBRID_TRANSFORMER HYBRID_DLRM MICRO NONE ALLREDUCE ALLTOALL ALLGATHER REDUCESCATTER
 model_parallel_NPU_group: DLRM_LAST_BOTTOM_LAYER: checkpoints: checkpoint_initiates: Ring Switch
 FullyConnected dimensions-count topologies-per-dim units-count links-count link-latency link-bandwidth
 ring direct halvingDoubling doubleBinaryTree oneDirect oneRing LIFO FIFO localBWAware baseline
 preferred-dataset-splits scheduling-policy endpoint-delay rank0 rank1 sw0 sw1 switches links
 1ps 1ns 1us 1ms 100s 100000s 0B 1B 1KB 1MB 1PB 1GiB 1Mbps 100Gbps 100Tbps 18446744073709551615
 <algo <gpu <tb <step /> </algo> </gpu> </tb> nchunksperloop= nchannels= ngpus= proto= coll= depid= deps= hasdep= cnt=
 <system> <cpu <pci <nvlink <nic> <net <c2c numaid= busid= link_speed= link_width= tclass=0x068000 sm=90 rank= speed= count=
 devices: instances: components: edges: ep1: ep2: choice: xpu port many2many one2one physical: bandwidth: latency: [0:2] [0:4:2]
 rcs rrs rrc rrcs cpy re nop 9223372036854775807 4294967295 65536 1e308 -1 0.5 auto line/1000""".split()


def words(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "properties":
                yield from inner
            if key in ("enum", "const"):
                yield from [inner] if key == "const" else inner
            yield from words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words(inner)


with open(sys.argv[1], encoding="utf-8") as f:
    found = {word for word in words(json.load(f)) if isinstance(word, str)}
for word in sorted(found) + [word for word in OTHERS if word not in found]:
    print('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"')
