#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes studies/figures/README.md: published figures redone, each from scenarios of this repository."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import design  # noqa: E402
import facts  # noqa: E402
import figures  # noqa: E402
import quoted  # noqa: E402
import study  # noqa: E402
import tables  # noqa: E402
from results import fill  # noqa: E402


def text(rows):
    values = {**quoted.values(rows), **figures.make(facts.Results(rows), tables.read(HERE / "timeline.csv"))}
    return fill((HERE / "page.md").read_text(), values)


if __name__ == "__main__":
    sys.exit(study.main("figures", __doc__, design, facts.claims, text))
