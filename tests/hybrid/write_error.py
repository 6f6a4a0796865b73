#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What check_error.py has found, as the table of docs/hybrid.md and the rows of sim/hybrid/error_rows.h.

usage: write_error.py ROWS ROOT [--check]. ROWS is the file of check_error.py --rows. --check changes nothing, and fails unless the
page and the header have the same figures; then ROWS may be `-`.
"""
import json
import os
import re
import statistics
import sys

os.environ.setdefault("COLLWIRE", "")
from check_error import gathered, quantiles  # noqa: E402

MEASURES = (("completion", "time of a job"), ("collective", "time of a collective"), ("exposed", "time exposed to communication"),
            ("ratio", "ratio of two policies' times"))
BEGIN, END = "<!-- error: begin -->", "<!-- error: end -->"


def percent(values):
    return " | ".join(f"{100 * v:.2f} %" for v in values)


def kinds(rows):
    for kind in sorted({row["kind"] for row in rows}):
        yield kind, [row for row in rows if row["kind"] == kind]
    yield "all", rows


def table(rows):
    yield "| work | scenarios | error p50 | p90 | max | packets' own spread p50 | p90 | max | quiet bytes | packet-hops saved |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for kind, some in kinds(rows):
        errors, spread = (quantiles(gathered(some, what, "completion")) for what in ("errors", "spread"))
        quiet = statistics.mean(row["quiet"] for row in some)
        packets, hybrid = (sum(row["hops"][i] for row in some) for i in (0, 1))
        yield f"| {kind} | {len(some)} | {percent(errors)} | {percent(spread)} | {100 * quiet:.0f} % | {100 * (1 - hybrid / packets):.0f} % |"
    yield ""
    yield "| measure, all work | values | error p50 | p90 | max | packets' own spread p50 | p90 | max |"
    yield "|---|---|---|---|---|---|---|---|"
    for measure, words in MEASURES:
        errors, spread = (gathered(rows, what, measure) for what in ("errors", "spread"))
        yield f"| {words} | {len(errors)} | {percent(quantiles(errors))} | {percent(quantiles(spread))} |"


def header(rows, most):
    yield "// SPDX-License-Identifier: MIT"
    yield "// How far hybrid networks were from packets in drawn scenarios, by kind of work: written by"
    yield "// tests/hybrid/write_error.py from runs of tests/hybrid/check_error.py (docs/hybrid.md)."
    yield "#pragma once"
    yield ""
    yield f"#define HYBRID_ERROR_RANKS {most} // of the drawn scenarios, at most"
    yield ""
    yield "// Kind, scenarios, and of the distances of jobs' times: median, nine tenths, most."
    yield "// clang-format off"
    yield "#define HYBRID_ERROR_ROWS(X) \\"
    made = [f'    X("{kind}", {len(some)}, ' + ", ".join(f"{v:.6f}" for v in quantiles(gathered(some, "errors", "completion"))) + ")"
            for kind, some in kinds(rows)]
    yield " \\\n".join(made)
    yield "// clang-format on"


def figures(page, source):
    """{kind: (cases, p50, p90, max)} of the page and of the header, in percent as the page rounds them."""
    said = {m[0]: (int(m[1]), *(f"{float(v):.2f}" for v in m[2:])) for m in
            re.findall(r"^\| (\w+) \| (\d+) \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|", page, re.M)}
    has = {m[0]: (int(m[1]), *(f"{100 * float(v):.2f}" for v in m[2:])) for m in
           re.findall(r'X\("(\w+)", (\d+), ([\d.]+), ([\d.]+), ([\d.]+)\)', source)}
    return said, has


def main():
    path, root = sys.argv[1:3]
    doc, code = os.path.join(root, "docs/hybrid.md"), os.path.join(root, "sim/hybrid/error_rows.h")
    with open(doc, encoding="utf-8") as file:
        page = file.read()
    if "--check" in sys.argv:
        with open(code, encoding="utf-8") as file:
            said, has = figures(page, file.read())
        if said != has or "all" not in said:
            sys.exit(f"docs/hybrid.md has {said}\nsim/hybrid/error_rows.h {has}")
        return
    with open(path, encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if "errors" in row]
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    with open(doc, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n" + "\n".join(table(rows)) + "\n" + END + after)
    with open(code, "w", encoding="utf-8") as file:
        file.write("\n".join(header(rows, 256)) + "\n")


main()
