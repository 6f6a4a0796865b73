#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire fit against drawn truths: a scenario with a known value gives synthetic measurements with 2 % noise, and the fit must find the
value within 10 % where it says that the data determine it, or say that they do not. Also: wrong inputs, --hold-out, resuming,
and the same output for any number of workers. usage: check_fit.py [FIRST-LAST], with the executable in $COLLWIRE.
"""
import json
import os
import random
import sys
import tempfile

from checks import call, expect, failures, write

def fabric(senders, **more):
    return {"name": "lab", "topology": {"dims": [{"kind": "switch", "size": senders + 1, "link": {"rate": "100Gbps", "delay": "1us"}}]},
            "workload": {"kind": "incast", "receiver": senders, "bytes": "4MB"}, "explain": {"try": 0}, **more}


# kind: (scenario, path of the unknown, its range, the draw of a truth, unit, quantities with their places)
LOSSY = {"pfc": {"enabled": False}, "ecn": {"enabled": False}}
TRUTHS = {
    "cnp_delay": (fabric(4, cc={"kind": "dcqcn"}), ("transport", "cnp_delay"), ("2us", "80us"), (8, 50), "us",
                  (("max_queue", ""), ("cnps", ""), ("goodput", ""), ("marks", ""))),
    "kmin": (fabric(4, cc={"kind": "dctcp"}, transport={"kind": "tcp"}), ("switch", "ecn", "kmin"), ("20KB", "380KB"), (40, 300), "KB",
             (("max_queue", ""), ("marks", ""), ("fct", ""))),
    "buffer": (fabric(4, switch=dict(LOSSY), transport={"kind": "tcp"}, cc={"kind": "cubic"}), ("switch", "buffer"), ("300KB", "6MB"), (500, 4000), "KB",
               (("drops", ""), ("max_queue", ""), ("goodput", ""))),
    "rto": (fabric(4, switch={**LOSSY, "buffer": "400KB"}, transport={"recovery": "go_back_n"}, cc={"kind": "none"}), ("transport", "rto"),
            ("200us", "20ms"), (500, 8000), "us", (("fct", ""), ("timeouts", ""), ("goodput", ""))),
    "clock": (fabric(1, cc={"kind": "none"}), ("topology", "dims", 0, "link", "rate"), ("50Gbps", "400Gbps"), (80, 300), "Gbps",
              (("goodput", ""), ("fct", ""))),
    "host_cost": (fabric(4, cc={"kind": "dcqcn"}), ("nic", "bus_rate"), ("20Gbps", "90Gbps"), (25, 75), "Gbps",
                  (("goodput", ""), ("pauses", ""), ("fct", ""))),
}


def put(scenario, path, value):
    scenario = json.loads(json.dumps(scenario))
    place = scenario
    for key in path[:-1]:
        place = place[key] if isinstance(key, int) else place.setdefault(key, {})
    place[path[-1]] = value
    return scenario


def predicted(folder, scenario, quantities):
    """The values of a scenario, as a fit with one place of the range takes them from its results."""
    out = os.path.join(folder, "truth")
    done = call("run", write(folder, "truth.json", scenario), "--quiet", "--out", out)
    assert done.returncode in (0, 1), done.stderr
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        m = json.load(file)
    flows = m["flows"]
    last = max(f["start_ns"] + f["fct_ns"] for f in flows)
    value = {"goodput": sum(f["delivered_bytes"] for f in flows) * 8e9 / last, "fct": sum(f["fct_ns"] for f in flows) / len(flows),
             "cnps": m["cnps"], "marks": m["ecn"]["marked_packets"], "drops": m["drops"]["packets"], "timeouts": m["recovery"]["timeouts"],
             "pauses": m["pfc"]["pause_frames"], "max_queue": m["queues"]["max_bytes"]}
    return [value[q] for q, _ in quantities]


def draw(folder, seed):
    """One drawn truth: whether the fit found it, or said that it cannot."""
    rng = random.Random(seed)
    kind = sorted(TRUTHS)[seed % len(TRUTHS)]
    scenario, path, (low, high), (least, most), unit, quantities = TRUTHS[kind]
    truth = float(f"{least * (most / least) ** rng.random():.3g}")
    values = predicted(folder, put(scenario, path, f"{truth:g}{unit}"), quantities)
    lines = ["quantity,place,value,spread"] + [f"{q},{place},{v * rng.gauss(1, 0.02):.8g},2%" for (q, place), v in zip(quantities, values)]
    measured = write(folder, "measured.csv", "\n".join(lines) + "\n")
    lab = write(folder, "lab.json", put(scenario, path, {"from": low, "to": high}))
    done = call("fit", measured, lab, "--format", "json", "--budget", "90")
    if done.returncode != 0:
        expect(False, f"seed {seed} {kind}: {done.returncode} {done.stderr[-300:]}")
        return False, kind
    found = json.loads(done.stdout)["unknowns"][0]
    number = call_number(found["value"], unit)
    near = abs(number / truth - 1) <= 0.1
    print(f"{'ok' if near else 'far' if found['determined'] else 'undetermined'}: seed {seed} {kind}: {truth:g} {unit}, found {found['value']}, "
          f"{found['low']} to {found['high']}, determined {found['determined']}", flush=True)
    return near or not found["determined"], kind


def call_number(text, unit):
    scales = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "B": 1, "KB": 1e3, "MB": 1e6, "KiB": 1024, "MiB": 1 << 20,
              "bps": 1, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzBGKM" + "i")
    return float(number) * scales[text[len(number):]] / scales[unit]


def wrong_inputs(folder):
    scenario, path, (low, high), *_ = TRUTHS["clock"]
    good = write(folder, "good.csv", "quantity,place,value\ngoodput,,1e11\n")
    lab = write(folder, "lab.json", put(scenario, path, {"from": low, "to": high}))
    cases = (
        ("no measurement", write(folder, "a.csv", "quantity,place,value\n"), lab, (), "no measured value"),
        ("no such quantity", write(folder, "b.csv", "quantity,place,value\nspeed,,3\n"), lab, (), ":2"),
        ("not a number", write(folder, "c.csv", "quantity,place,value\ngoodput,,x\nfct,,-1\n"), lab, (), "not a number"),
        ("no such column", write(folder, "d.csv", "quantity,where,value\n"), lab, (), "'where'"),
        ("no such unit", write(folder, "e.csv", "quantity,place,value,unit\ngoodput,,3,furlong\n"), lab, (), "'furlong'"),
        ("no such place", write(folder, "f.csv", "quantity,place,value\ngoodput,rank7->rank1,3\n"), lab, (), "goodput rank7->rank1"),
        ("no range", good, write(folder, "none.json", scenario), (), "nothing to fit"),
        ("an empty range", good, write(folder, "empty.json", put(scenario, path, {"from": high, "to": low})), (), "below"),
        ("mixed units", good, write(folder, "mixed.json", put(scenario, path, {"from": "1us", "to": high})), (), "different units"),
        ("a wrong key", good, write(folder, "key.json", put(put(scenario, path, {"from": low, "to": high}), ("swich",), 1)), (), "swich"),
        ("a wrong range", good, write(folder, "range.json", put(scenario, ("transport", "mtu"), {"from": "1B", "to": "2B"})), (), "mtu"),
        ("all held out", good, lab, ("--hold-out", "1"), "--hold-out"),
        ("no budget", good, lab, ("--budget", "2"), "--budget"),
    )
    for what, measured, lab_path, more, word in cases:
        done = call("fit", measured, lab_path, *more, "-o", os.path.join(folder, "never.json"))
        expect(done.returncode == 2 and word in done.stderr and done.stdout == "", f"{what}: {done.returncode}, {done.stderr}")
        expect(not os.path.exists(os.path.join(folder, "never.json")), f"{what}: nothing is written")


def whole(folder):
    """Two unknowns, a value held out, files, resuming, and the same bytes with one and two workers."""
    scenario = put(TRUTHS["clock"][0], ("topology", "dims", 0, "link", "delay"), {"from": "100ns", "to": "20us"})
    scenario = put(scenario, TRUTHS["clock"][1], {"from": "50Gbps", "to": "400Gbps"})
    measured = write(folder, "two.csv", "quantity,place,value,unit,spread\ngoodput,,93.9,Gb/s,1%\nfct,rank0->rank1,340.7,us,1%\ntime,,340.7,us,1%\n")
    lab, out, fitted = write(folder, "two.json", scenario), os.path.join(folder, "kept"), os.path.join(folder, "fitted.json")
    first = call("fit", measured, lab, "--hold-out", "1", "--jobs", "1", "-o", fitted, "--out", out, "--budget", "80")
    expect(first.returncode == 0 and "held out" in first.stdout and "link.rate" in first.stdout, f"two unknowns: {first.stdout} {first.stderr}")
    second = call("fit", measured, lab, "--hold-out", "1", "--jobs", "2", "-o", fitted, "--out", out, "--budget", "80")
    third = call("fit", measured, lab, "--hold-out", "1", "--jobs", "2", "--budget", "80")
    expect(first.stdout == third.stdout == second.stdout, "the same with one and two workers, and resumed")
    with open(os.path.join(out, "fit.jsonl"), encoding="utf-8") as file:
        kept = file.readlines()
    expect(len(kept) == len(set(kept)), "what is kept does not run again")
    expect(call("run", fitted, "--quiet", "--out", os.path.join(folder, "again")).returncode == 0, "the fitted scenario runs")
    with open(os.path.join(out, "fit.json"), encoding="utf-8") as file:
        expect({u["evidence"] for u in json.load(file)["unknowns"]} == {"fitted"}, "evidence")


def main():
    first, last = map(int, (sys.argv[1] if len(sys.argv) > 1 else "0-9").split("-"))
    with tempfile.TemporaryDirectory() as folder:
        wrong_inputs(folder)
        whole(folder)
        found = [draw(folder, seed) for seed in range(first, last + 1)]
    good = sum(near for near, _ in found)
    expect(good >= 0.9 * len(found), f"{good} of {len(found)} truths")
    print(f"{good} of {len(found)} truths within 10 %, or said to be undetermined")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
