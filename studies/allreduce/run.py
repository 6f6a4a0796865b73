#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes studies/allreduce/README.md: congestion control under all-reduce, from sweeps that can be resumed and sharded."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import design  # noqa: E402
import facts  # noqa: E402
import figures  # noqa: E402
import study  # noqa: E402
import tables  # noqa: E402
from results import fill  # noqa: E402


def text(rows):
    d = facts.results(rows)
    values = {
        **facts.values(rows),
        **figures.report_tables(d),
        **figures.make(d, tables.read(HERE / "timeline.csv")),
        "table design": figures.design_table(design.sweeps(False)),
        "table ways": figures.ways_table(),
    }
    return fill((HERE / "page.md").read_text(), values)


if __name__ == "__main__":
    sys.exit(study.main("allreduce", __doc__, design, facts.claims, text))
