#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which presets hold the queue of an incast: docs/incasts.md and the claims of docs/policies.md.

usage: check_incasts.py ROOT short|long|write        the executable is in $COLLWIRE

Two and eight long flows share a port of one switch with a buffer of 32 MB at 100, 400 and 800 Gb/s, for
each preset of each policy, on the first transport that runs it. Measured from 10 to 20 ms: the mean queue
of the port, pauses, drops and goodput. A preset that claims to hold the queue up to a rate ("holds up to" in
docs/policies.md) has, at each rate up to it, a mean queue below 1 MB, at most 10 pauses, no drop, and a
goodput of at least 90 % of the line, so that a policy does not hold a queue by sending nothing. A preset without the claim fails at 100 Gb/s already, and one with a smaller rate at the next: no
page is more modest than what is measured.
short runs one point of each preset and compares it with its row; long runs all; write writes the page.
"""
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile

RATES, FLOWS = (100, 400, 800), (2, 8)
FROM_MS, TO_MS = 10, 20
LARGEST, MOST_PAUSES, LEAST_SHARE = 1e6, 10, 0.9
PAGE = "docs/incasts.md"
HEAD = """# Incasts: which presets hold a queue

Generated and checked by tests/theory/check_incasts.py. Two and eight long flows share a port of one switch
with a buffer of 32 MB (links of 1 us, defaults of everything else), for each preset, on the first transport
that runs it. From 10 to 20 ms: mean queue of the port, pauses, drops and goodput of all flows together.

*Holds* is the claim of the preset (docs/policies.md): up to that rate the mean queue is below 1 MB, with at
most 10 pauses, without a drop, and with a goodput of at least 90 % of the line. *no* means: not even at 100G.
- `none` has no control; windows that only losses reduce fill the buffer, and the marks of presets `ecn`
  (tuned for 10G and scaled) begin at 9 MB at 400G.
- Constants for another rate, `dcqcn paper` (40G), `timely paper` and `timely_patched paper` (10G): the steps
  of the increase are too small, and the line stays idle.
- Thresholds that are times: `timely_patched scaled` holds (1 + n / 8) 50 us for n flows, `swift htsim` 20 us,
  `dctcp` 24 us, which is more than 1 MB at 400G; marks of `dcqcn scaled` are scaled likewise.
- `nscc mrc` spares the last hop, so flows of one receiver are bounded by their largest window alone (1.5 BDP
  each) as long as nothing is trimmed; so is `window` (1.1 BDP each).

| policy | holds | flows | rate | mean queue | pauses | drops | goodput |
|---|---|---|---|---|---|---|---|
"""


def presets(root):
    """(policy, preset, transport, claimed rate) in the order of docs/policies.md."""
    with open(os.path.join(root, "docs/policies.md"), encoding="utf-8") as file:
        page = file.read()
    found = []
    for section in page.split("\n## ")[1:]:
        policy = section.split("\n", 1)[0].strip()
        transport = re.search(r"^Runs on (\w+)", section, re.M).group(1)
        table = section.split("| preset | what it is | holds up to |")[1].split("\n\n")[0]
        for row in re.findall(r"^\| `(\w+)`.*$", table, re.M):
            cells = re.search(rf"^\| `{row}`[^|]*\|[^|]*\| (no|\d+)", table, re.M).group(1)
            found.append((policy, row, transport, 0 if cells == "no" else int(cells)))
    assert len(found) > 20, "docs/policies.md has another form"
    return found


def run(policy, preset, transport, flows, rate, until_ms):
    scenario = {
        "name": "incast", "seed": 1,
        "topology": {"dims": [{"kind": "switch", "size": flows + 1,
                               "link": {"rate": f"{rate}Gbps", "delay": "1us"}}]},
        "switch": {"buffer": "32MB"}, "transport": {"kind": transport},
        "cc": {"kind": policy, "preset": preset},
        "workload": {"kind": "incast", "senders": flows, "receiver": flows, "bytes": "10GB"},
        "duration": f"{until_ms}ms",
        "report": {"sample": "10us", "sample_at": [f"dim0.sw0->rank{flows}"]}}
    with tempfile.TemporaryDirectory() as out:
        path = os.path.join(out, "scenario.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenario, file)
        done = subprocess.run([os.environ["COLLWIRE"], "run", path, "--quiet", "--out", out],
                              capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
            return json.load(file)


def measure(point):
    policy, preset, transport, flows, rate = point
    first, second = (run(policy, preset, transport, flows, rate, ms) for ms in (FROM_MS, TO_MS))
    times, (queue,) = second["series"]["t_ns"], second["series"]["queue_bytes"].values()
    late = [q for t, q in zip(times, queue) if t >= FROM_MS * 10**6]
    pauses, drops, sent = (value(second) - value(first) for value in (
        lambda m: m["pfc"]["pause_frames"], lambda m: m["drops"]["packets"],
        lambda m: sum(f["delivered_bytes"] for f in m["flows"])))
    return sum(late) / len(late), pauses, drops, sent * 8 / ((TO_MS - FROM_MS) * 1e6)


def row_of(preset, flows, rate, measured):
    policy, name, _, holds = preset
    queue, pauses, drops, goodput = measured
    size = f"{queue / 1e6:.2f} MB" if queue >= 1e6 else f"{queue / 1e3:.0f} KB"
    return (f"| {policy} {name} | {f'{holds}G' if holds else 'no'} | {flows} | {rate}G | {size} | {pauses} | {drops} | "
            f"{goodput:.1f} Gb/s |")


def held(row):
    """Whether the row of the page is that of a queue that is held."""
    cells = [c.strip() for c in row.strip("|").split("|")]
    size, unit = cells[4].split()
    queue = float(size) * {"KB": 1e3, "MB": 1e6}[unit]
    busy = float(cells[7].split()[0]) >= LEAST_SHARE * int(cells[3].rstrip("G"))
    return queue < LARGEST and int(cells[5]) <= MOST_PAUSES and int(cells[6]) == 0 and busy


def check_claims(all_presets, rows):
    """The claim of each preset against the rows of the page."""
    wrong = []
    for preset in all_presets:
        mine = [r for r in rows if r.startswith(f"| {preset[0]} {preset[1]} |")]
        assert len(mine) == len(RATES) * len(FLOWS), f"{PAGE} has {len(mine)} rows of {preset[0]} {preset[1]}"
        upto = 0
        for rate in RATES:
            if not all(held(r) for r in mine if r.split("|")[4].strip() == f"{rate}G"):
                break
            upto = rate
        if upto != preset[3]:
            wrong.append(f"{preset[0]} {preset[1]} holds the queue up to {upto}G, and claims {preset[3]}G")
    assert not wrong, "\n".join(wrong)


def main():
    root, mode = sys.argv[1:]
    all_presets = presets(root)
    points = [(p, flows, rate) for p in all_presets for flows in FLOWS for rate in RATES]
    if mode == "short":
        # each preset at one point: eight flows at the largest rate that it claims
        points = [p for p in points if p[1] == 8 and p[2] == (p[0][3] or 100)]
    with multiprocessing.Pool(2) as pool:
        measured = pool.map(measure, [(*p[:3], flows, rate) for p, flows, rate in points], chunksize=1)
    rows = [row_of(p, flows, rate, m) for (p, flows, rate), m in zip(points, measured)]
    path = os.path.join(root, PAGE)
    if mode == "write":
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + "\n".join(rows) + "\n")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    assert page.startswith(HEAD), f"{PAGE}: the text above the table is not that of the script"
    stored = page[len(HEAD):].strip().split("\n")
    other = [r for r in rows if r not in stored]
    assert not other, f"{PAGE} does not have what was measured (mode write writes it):\n" + "\n".join(other)
    check_claims(all_presets, stored)
    print(f"{len(rows)} points, {len(all_presets)} presets")


if __name__ == "__main__":
    main()
