#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes studies/dlrm/README.md: DLRM over packets, from sweeps that can be resumed and sharded."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import design  # noqa: E402
import facts  # noqa: E402
import figures  # noqa: E402
import study  # noqa: E402
from results import fill  # noqa: E402


def text(rows):
    d = facts.Results(rows)
    values = {**facts.values(rows), **figures.report_tables(d), **figures.make(d)}
    return fill((HERE / "page.md").read_text(), values)


if __name__ == "__main__":
    sys.exit(study.main("dlrm", __doc__, design, facts.claims, text))
