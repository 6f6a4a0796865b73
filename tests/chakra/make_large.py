#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a set of traces whose ranks are links to one file: a chain of computations with a collective
after every tenth.

usage: make_large.py FOLDER RANKS NODES"""
import os
import sys

from trace_file import node, trace


def main():
    folder, ranks, nodes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    first = os.path.join(folder, "t.0.et")
    listed = []
    for i in range(nodes):
        after = [i - 1] if i else []
        if i % 10 == 9:
            listed.append(node(i, "COLL", after, comm="ALL_REDUCE", comm_size=1 << 20, is_cpu_op=False))
        else:
            listed.append(node(i, "COMP", after, us=1 + i % 7, is_cpu_op=False))
    with open(first, "wb") as stream:
        stream.write(trace(listed))
    for rank in range(1, ranks):
        os.link(first, os.path.join(folder, f"t.{rank}.et"))


main()
