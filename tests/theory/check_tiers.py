#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Closed forms of leaf_spine, fat_tree and rail: the links between two ranks, exactly, and messages of the packet
network alone on it, within its headers and the last packet's store and forward.

usage: check_tiers.py, with the executable in $COLLWIRE.
"""
import sys
import tempfile

from scenario_run import run_made

LINK, TRUNK = {"rate": "100Gbps", "delay": "1us"}, {"rate": "100Gbps", "delay": "3us"}
NS_OF_BYTE = 8 / 100
LEAF_SPINE = {"kind": "leaf_spine", "size": 32, "ranks_per_leaf": 8, "spines": 4}
FAT_TREE = {"kind": "fat_tree", "size": 16}  # radix 4: 2 ranks an edge switch, 4 a pod
TWO_TIERS = {"kind": "fat_tree", "size": 8, "tiers": 2}  # radix 4: 2 ranks an edge switch
RAIL = {"kind": "rail", "size": 32, "gpus_per_server": 8, "spines": 4, "servers_per_pod": 2}

# topology, from, to, links
CASES = [(LEAF_SPINE, 0, 7, 2), (LEAF_SPINE, 0, 8, 4), (LEAF_SPINE, 31, 24, 2),
         (FAT_TREE, 0, 1, 2), (FAT_TREE, 0, 2, 4), (FAT_TREE, 0, 4, 6), (FAT_TREE, 5, 15, 6),
         (TWO_TIERS, 0, 1, 2), (TWO_TIERS, 0, 7, 4),
         (RAIL, 0, 8, 2), (RAIL, 0, 9, 4), (RAIL, 0, 16, 4), (RAIL, 3, 11, 2)]


def delivered(topology, src, dst, size, network, folder):
    made = {"name": "tiers", "network": network, "topology": {"dims": [topology | {"link": LINK, "trunk": TRUNK}]},
            "workload": {"kind": "flows", "flows": [{"src": src, "dst": dst, "bytes": size}]}}
    return run_made(made, [], folder)["flows"][0]["delivered_ns"]


def check(topology, src, dst, links, folder):
    latency, large = 2000 + (links - 2) * 3000, 10_000_000
    small = delivered(topology, src, dst, "1B", "analytical", folder)
    formed = delivered(topology, src, dst, f"{large}B", "analytical", folder)
    packets = delivered(topology, src, dst, f"{large}B", "packet", folder)
    good = (small == latency and formed == latency + int(large * NS_OF_BYTE) and
            formed < packets < formed * (1 + 84 / 4096) + links * 4200 * NS_OF_BYTE)
    print(f"{'ok  ' if good else 'FAIL'} {topology['kind']} {src} -> {dst}: {small}, {formed}, {packets} ns")
    return good


def main():
    with tempfile.TemporaryDirectory() as folder:
        results = [check(*case, folder) for case in CASES]
    sys.exit(not all(results))


main()
