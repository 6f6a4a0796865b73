#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`compare --draws`: ranges that load, the same draws for all rows, what is stated is not drawn, numbers recomputed from compare.json,
an order that does not stand, equal bytes for any number of workers, and what an interruption leaves. usage: check_draws.py SCENARIOS"""
import csv
import io
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SCENARIOS = pathlib.Path(sys.argv[1])
PROGRAM = os.environ["COLLWIRE"]
INCAST = {
    "name": "incast",
    "topology": {"dims": [{"kind": "switch", "size": 5}]},
    "workload": {"kind": "incast", "receiver": 4, "bytes": "200KB"},
}
RING = {
    "name": "ring",
    "topology": {"dims": [{"kind": "leaf_spine", "size": 8, "ranks_per_leaf": 4, "spines": 2}]},
    "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB", "algorithm": "ring"},
}
TIE = 0.01


def collwire(*args, folder):
    done = subprocess.run([PROGRAM, *map(str, args)], check=False, capture_output=True, text=True, cwd=folder,
                          env={**os.environ, "COLUMNS": "80"})
    return done.returncode, done.stdout, done.stderr


def write(folder, scenario, **changes):
    path = pathlib.Path(folder) / f"{scenario['name']}.json"
    path.write_text(json.dumps({**scenario, **changes}))
    return path


def document(folder, path, *args, out="out"):
    code, _, stderr = collwire("compare", path, *args, "--quiet", "--out", out, folder=folder)
    assert code == 0, stderr
    return json.loads((pathlib.Path(folder) / out / "compare.json").read_text())


def states(found):
    return {one["name"]: one["state"] for one in found["assumptions"]}


def check_ranges(folder):
    """Both ends of every range that is drawn load, one by one, in scenarios of several kinds."""
    paths = [write(folder, INCAST), write(folder, RING), SCENARIOS / "collectives/rail.json"]
    for path in paths:
        code, listed, stderr = collwire("compare", path, "--cc", "none,dcqcn,hpcc", "--draws", "1", "--list", folder=folder)
        assert code == 0 and "not drawn" in listed, (listed, stderr)
        assert not os.path.exists(os.path.join(folder, "out")), "--list writes nothing"
    found = document(folder, write(folder, RING), "--cc", "none,dcqcn", "--draws", "2")
    for one in found["assumptions"]:
        if one["state"] != "drawn" or one["kind"] == "seed":
            continue
        assert one["source"] and len(one["range"]) >= 2, one
        place = one["path"].replace("[].repeat", ".repeat").replace("dims[]", "dims[0]")
        for value in one["range"]:
            code, _, stderr = collwire("validate", "ring.json", "--set", f"{place}={value}", folder=folder)
            assert code == 0, (one, value, stderr)
    assert set(states(found).values()) == {"drawn", "not drawn"} and states(found)["library"] == "not drawn", states(found)


def check_stated(folder):
    """What the scenario, --set, --vary or a policy states has that value in all draws."""
    path = write(folder, INCAST, switch={"buffer": "3MB"})
    code, listed, _ = collwire("compare", path, "--cc", "none,dcqcn{ack_interval=2}", "--draws", "3", "--list", "--set",
                               "switch.latency=1us", folder=folder)
    text = " ".join(listed.split())
    assert code == 0 and "stated, so not drawn: switch latency (switch.latency), buffer (switch.buffer), ACK interval" in text, listed
    found = document(folder, path, "--vary", "switch.buffer=2MB,8MB", "--draws", "3", "--seed", "7")
    assert states(found)["buffer"] == states(found)["seed"] == "stated", states(found)
    assert all({"buffer", "seed"}.isdisjoint(one["values"]) for one in found["draws"])
    code, _, stderr = collwire("compare", path, "--cc", "none", "--draws", "3", folder=folder)
    assert code == 2 and stderr.count("--draws:") == 1 and "one row" in stderr, stderr
    code, _, stderr = collwire("compare", path, "--list", folder=folder)
    assert code == 2 and "--draws" in stderr, stderr


def ratios(found, name, base, key):
    return [one[key][name] / one[key][base] for one in found["draws"] if one[key][name] and one[key][base]]


def quantile(values, share):
    values, at = sorted(values), share * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def side(ratio):
    return 0 if abs(ratio - 1) <= TIE else math.copysign(1, ratio - 1)


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-6)


def halves(found, axis, values):
    """The ratios of draws with lower and with higher values: times by the middle of the logarithms, choices by their order."""
    low, high = [], []
    for one, ratio in zip(found["draws"], values):
        value = one["values"][axis["name"]]
        if axis["kind"] == "log_uniform":
            ends = [float(end.replace("ns", "")) for end in axis["range"]]
            place = math.log(float(value.replace("ns", "")) / ends[0]) / math.log(ends[1] / ends[0])
        else:
            place = (axis["range"].index(value) + 0.5) / len(axis["range"])
        if place != 0.5:
            (low if place < 0.5 else high).append(math.log(ratio))
    return low, high


def check_numbers(folder):
    """Median, percentiles, order and moves follow from the draws; the same draw repeats as a run with its values."""
    path = write(folder, RING)
    found = document(folder, path, "--cc", "none,swift,dcqcn", "--draws", "12")
    row = {one["cc"]: one for one in found["rows"]}
    assert found["draws_n"] == 12 == len(found["draws"]) and row["none"]["draws"] is None
    stated = {one["cc"]: one["collective_ns"]["ratio"] for one in found["statistics"]}
    for name in ("swift", "dcqcn"):
        values, said = ratios(found, name, "none", "collective_ns"), row[name]["draws"]
        assert near(said["median"], statistics.median(values)) and said["n"] == len(values) == 12
        assert near(said["p10"], quantile(values, 0.1)) and near(said["p90"], quantile(values, 0.9))
        assert said["order_holds"] == sum(side(value) == side(stated[name]) for value in values)
        assert said["slower"] + said["same"] + said["faster"] == 12
        for axis in found["assumptions"]:
            if axis["state"] != "drawn" or axis["kind"] == "seed":
                continue
            low, high = halves(found, axis, values)
            moves = next(one for one in axis["rows"] if one["name"] == name)
            assert near(moves["low"], math.exp(statistics.fmean(low))), (axis, low)
            assert near(1 + moves["moves"], math.exp(abs(statistics.fmean(high) - statistics.fmean(low)))), axis
            assert axis["moves"] >= moves["moves"]
    order = [one["moves"] or -1 for one in found["assumptions"]]
    assert order == sorted(order, reverse=True), order
    table = list(csv.DictReader(io.StringIO((pathlib.Path(folder) / "out/compare.csv").read_text())))
    assert near(float(table[2]["draws_median"]), row["dcqcn"]["draws"]["median"]) and table[0]["draws_n"] == ""
    check_one_draw(folder, path, found)


def check_one_draw(folder, path, found):
    """A cold draw is what a run with its values and seed gives, for two rows: both have the same values."""
    draw = next(one for one in found["draws"] if one["values"]["connections"] == "1")
    paths = {one["name"]: one["path"].replace("workload[]", "workload").replace("dims[]", "dims[0]") for one in found["assumptions"]}
    sets = [f"--set={paths[name]}={value}" for name, value in draw["values"].items()]
    if draw["values"]["queue pairs"] != "1":
        sets.append("--set=transport.qp_scaling=split")
    for policy in ("none", "dcqcn"):
        code, text, stderr = collwire("run", path, "--cc", policy, *sets, "--format", "json", "--out", "one", folder=folder)
        assert code == 0 and json.loads(text)["rows"][0]["collective_ns"] == round(draw["collective_ns"][policy]), (text, stderr)


def check_order(folder):
    """A small incast, in which DCQCN is slower as stated and as fast as none in some draws: the order does not stand."""
    found = document(folder, write(folder, INCAST, workload={**INCAST["workload"], "bytes": "1MB"}, switch={"buffer": "2MB"}),
                     "--cc", "none,dcqcn", "--draws", "12")
    said = found["rows"][1]["draws"]
    assert 0 < said["order_holds"] < said["n"] == 12 and said["p10"] < said["median"] < said["p90"], said


def check_jobs(folder):
    """The same bytes for any number of workers, and a draw is the same in a longer series."""
    path = write(folder, INCAST)
    one = document(folder, path, "--cc", "none,dcqcn", "--draws", "4", "--jobs", "1", out="one")
    many = document(folder, path, "--cc", "none,dcqcn", "--draws", "4", "--jobs", "3", out="many")
    assert one == many
    longer = document(folder, path, "--cc", "none,dcqcn", "--draws", "6", out="longer")
    assert longer["draws"][:4] == one["draws"]


def check_interruption(folder):
    """After Ctrl-C the draws that have ended are kept, and the table says how many are missing."""
    path = write(folder, RING, workload={**RING["workload"], "bytes": "4MB"})
    with subprocess.Popen([PROGRAM, "compare", str(path), "--cc", "none,dcqcn", "--draws", "400", "--out", "cut", "--jobs", "1"],
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        until = time.monotonic() + 30
        while not list(pathlib.Path(folder, "cut").glob("ring/dcqcn/metrics.json")) and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(1.5)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == 130 and "interrupted" in stderr, (running.returncode, stderr)
    said = json.loads((pathlib.Path(folder) / "cut/compare.json").read_text())["rows"][1]["draws"]
    assert 0 < said["n"] < 400 and "draws of dcqcn did not complete" in " ".join(stdout.split()), (said, stdout)


def main():
    for check in (check_ranges, check_stated, check_numbers, check_order, check_jobs, check_interruption):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            check(folder)
            print(f"{check.__name__} {time.monotonic() - begun:.1f} s")


main()
