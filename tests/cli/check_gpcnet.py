# SPDX-License-Identifier: MIT
"""collwire gpcnet: impacts where they are known, on a switch, and where there must be one, above an oversubscribed fabric;
equal results of equal seeds; its two forms of output; refusals.

usage: check_gpcnet.py FOLDER   with the executable in $COLLWIRE
"""
import csv
import json
import os
import subprocess
import sys

COLLWIRE = os.environ["COLLWIRE"]
failures = 0


def expect(what, good):
    global failures
    failures += not good
    print(f"{'ok' if good else 'FAIL'}: {what}")


def write(folder, file_name, **scenario):
    path = os.path.join(folder, file_name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "net"} | scenario, file)
    return path


def gpcnet(path, *args, code=0):
    done = subprocess.run([COLLWIRE, "gpcnet", path, *args], capture_output=True, text=True, check=False)
    assert done.returncode == code, (args, done.returncode, done.stderr)
    return done


def tests_of(path, *args):
    return json.loads(gpcnet(path, "--format", "json", *args).stdout)


def check_switch(folder):
    """Ports of the test's ranks carry nothing else, so the congestors change nothing."""
    link = {"rate": "100Gbps", "delay": "1us"}
    path = write(folder, "switch.json", topology={"dims": [{"kind": "switch", "size": 20, "link": link}]}, cc={"kind": "none"},
                 transport={"kind": "roce"}, noise={"preset": "none"})
    result = tests_of(path)
    expect("a fifth of the ranks run the test", (result["ranks"], result["victims"]) == (20, 4))
    for test in result["policies"][0]["tests"]:
        expect(f"no impact on {test['name']}", all(abs(test["impact"][of] - 1) < 1e-9 for of in ("mean", "p99")))
    latency = result["policies"][0]["tests"][0]["isolated"]["mean"]
    expect(f"a turn takes two links of 1 us and a small frame on each: {latency:.3f} us", 2.01 < latency < 2.03)


def check_folder(folder):
    """Two networks, and the folder: a row for each network, policy, test and seed; impacts of one seed as printed."""
    link = {"rate": "100Gbps", "delay": "1us"}
    paths = [write(folder, f"{name}.json", name=name, topology={"dims": [{"kind": "switch", "size": ranks, "link": link}]})
             for name, ranks in (("small", 12), ("large", 20))]
    out, share = os.path.join(folder, "out"), os.path.join(folder, "share")
    os.makedirs(share, exist_ok=True)
    with open(os.path.join(share, "report-template.html"), "w", encoding="utf-8") as file:
        file.write("<@COLLWIRE_DATA@>")  # stands for the charts
    with_page = os.environ | {"COLLWIRE_SHARE": share}
    done = subprocess.run([COLLWIRE, "gpcnet", *paths, "--cc", "none,dcqcn", "--seeds", "2", "--out", out, "--format", "json"],
                          capture_output=True, text=True, check=False, env=with_page)
    expect("two networks", done.returncode == 0)
    with open(os.path.join(out, "gpcnet.json"), encoding="utf-8") as file:
        whole = json.load(file)
    expect("gpcnet.json is what was printed", whole == json.loads(done.stdout) and [net["ranks"] for net in whole] == [12, 20])
    with open(os.path.join(out, "sweep.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expect("a row for each network, policy, test and seed", len(rows) == 2 * 2 * 3 * 2)
    policy = whole[1]["policies"][0]
    seeds = [float(row["congested_mean"]) for row in rows
             if row["cc.kind"] == policy["policy"] and row["test"] == "latency"][2:]
    mean = policy["tests"][0]["congested"]["mean"]  # seeds have equally many turns
    expect(f"the mean {mean:.6f} is that of the seeds {seeds}", abs(mean - sum(seeds) / 2) < 1e-6 * mean)
    report = os.path.join(out, "report.html")
    with open(report, encoding="utf-8") as file:
        expect("a page", "beside congestors" in file.read())
    again = subprocess.run([COLLWIRE, "report", out], capture_output=True, text=True, check=False, env=with_page)
    expect("collwire report makes it again", again.returncode == 0)
    twice = gpcnet(paths[0], paths[0], code=2).stderr
    expect("the same network twice", "names of their own" in twice)


def check_fabric(folder):
    """Fewer links up than down, and nobody slows down: the test waits; HPCC leaves room."""
    dim = {"kind": "leaf_spine", "size": 32, "ranks_per_leaf": 8, "spines": 4}
    path = write(folder, "fabric.json", topology={"dims": [dim]}, cc={"kind": "hpcc"})
    args = ("--cc", "none,hpcc", "--seeds", "2")
    first = gpcnet(path, "--format", "json", *args).stdout
    none, hpcc = ([test["impact"]["p99"] for test in policy["tests"]] for policy in json.loads(first)["policies"])
    expect(f"impact without a policy {none}", none[0] > 3)
    expect(f"less with HPCC {hpcc}", hpcc[0] < none[0] / 2)


def check_outputs(folder):
    path = write(folder, "twelve.json", topology={"dims": [{"kind": "switch", "size": 12}]})
    once = ("--cc", "none", "--seeds", "2")
    expect("equal seeds, equal results", gpcnet(path, "--format", "json", *once).stdout == gpcnet(path, "--format", "json", "--jobs", "1", *once).stdout)
    text = gpcnet(path, *once).stdout
    expect("the benchmark's tables", all(part in text for part in (
        "Network Tests running with Congestion Tests - Key Results", "|          RR Two-sided Lat (8 B) |",
        "2 ranks running Network Tests")))
    expect("80 columns", max(map(len, text.splitlines())) <= 80)


def check_refusals(folder):
    few = write(folder, "few.json", topology={"dims": [{"kind": "switch", "size": 9}]})
    expect("too few ranks", "topology: has 9 ranks" in gpcnet(few, code=2).stderr)
    network = write(folder, "net.json", topology={"dims": [{"kind": "switch", "size": 12}]})
    expect("an unknown policy", "dcqcm" in gpcnet(network, "--cc", "dcqcm", code=2).stderr)
    expect("no such file", "none.json" in gpcnet(os.path.join(folder, "none.json"), code=2).stderr)
    bad = write(folder, "bad.json", topology={"dims": [{"kind": "switch", "size": 12}]}, switch={"buffer": "x"})
    expect("an error of the network", "switch.buffer" in gpcnet(bad, code=2).stderr)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    check_switch(folder)
    check_folder(folder)
    if os.environ.get("COLLWIRE_SANITIZED", "OFF") != "ON":  # figures, for which a sanitized run takes two minutes
        check_fabric(folder)
    check_outputs(folder)
    check_refusals(folder)
    return 1 if failures else 0


sys.exit(main())
