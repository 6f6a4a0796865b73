#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/study-allreduce.md: congestion control under all-reduce, from sweeps that can be resumed and sharded."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import design  # noqa: E402
import study  # noqa: E402


def claims(rows):
    return []


def write_page(rows):
    pass


if __name__ == "__main__":
    sys.exit(study.main("allreduce", __doc__, design, claims, write_page))
