# SPDX-License-Identifier: MIT
# `compare`: its policies with their settings, statistics over seeds, tables and files; and with `--cc all`
# the results of policies differ. Two policies with equal bytes although packets were marked or notified
# would share code by mistake.
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

SCENARIOS = sys.argv[1]
NOT_RESULTS = ("scenario", "explain", "cc_cuts")  # what may differ between equal runs
# What RoCE does not have, so that `all` leaves these out: an initial window, reports of single packets
# and credits.
SLOW_START = {"newreno", "cubic"}
NOT_ROCE = SLOW_START | {"nscc", "rccc", "nscc_rccc"}


def results(metrics):
    return json.dumps({k: v for k, v in metrics.items() if k not in NOT_RESULTS}, sort_keys=True)


def runs(name, out):
    path = os.path.join(SCENARIOS, name + ".json")
    subprocess.run([os.environ["COLLWIRE"], "compare", path, "--cc", "all", "--quiet", "--out", out],
                   check=True)
    listed = subprocess.run([os.environ["COLLWIRE"], "list", "cc"], check=True, capture_output=True,
                            text=True).stdout.splitlines()
    every = [line.split()[0] for line in listed if line[:2] == "  " and line[2] != " "]
    folder = os.path.basename(name)
    assert NOT_ROCE < set(every) and NOT_ROCE.isdisjoint(os.listdir(os.path.join(out, folder))), (name, every)
    for policy in (policy for policy in every if policy not in NOT_ROCE):
        with open(os.path.join(out, folder, policy, "metrics.json"), encoding="utf-8") as file:
            yield policy, json.load(file)


def check(name, out):
    seen = {}
    for policy, metrics in runs(name, out):
        assert metrics["status"] == "completed", (name, policy)
        twin = seen.setdefault(results(metrics), policy)
        acted = metrics["ecn"]["marked_packets"] > 0 or metrics["cnps"] > 0
        if twin != policy and acted:
            # a policy that ignores marks may be equal only if it never acted
            assert metrics["cc_cuts"] == 0, f"{name}: {policy} and {twin} are the same to the byte"
    return len(seen)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def collwire(*args):
    done = subprocess.run([os.environ["COLLWIRE"], *args], check=False, capture_output=True, text=True,
                          env={**os.environ, "COLUMNS": "80"})
    return done.returncode, done.stdout, done.stderr


def check_settings(out):
    """A policy's settings go to cc and to its transport, by key or by path; mistakes name the near miss."""
    incast = os.path.join(SCENARIOS, "incast.json")
    policies = "none,dcqcn:scaled{rate_ai=50Mbps,cnp_interval=7us},dcqcn{cc.rate_ai=60Mbps,switch.ecn.kmin=30KB}"
    policies += ",window{mtu=3000B}"
    code, _, stderr = collwire("compare", incast, "--cc", policies, "--quiet", "--out", out, "--set",
                               "report.flows_max=10")
    assert code == 0, stderr
    folder = os.path.join(out, "incast")
    runs = {name: json.loads(read(folder, name, "metrics.json"))["scenario"] for name in os.listdir(folder)}
    first = runs["dcqcn-scaled-rate_ai-50Mbps-cnp_interval-7us"]
    assert first["cc"]["rate_ai"] == "50Mbps" and first["cc"]["preset"] == "scaled", first["cc"]
    assert first["transport"]["cnp_interval"] == "7us", first["transport"]
    second = runs["dcqcn-cc.rate_ai-60Mbps-switch.ecn.kmin-30KB"]
    assert second["cc"]["rate_ai"] == "60Mbps" and second["switch"]["ecn"]["kmin"] == "30KB"
    assert runs["window-mtu-3000B"]["transport"]["mtu"] == "3KB" and runs["none"]["transport"]["mtu"] == "4KiB"
    rows = list(csv.DictReader(io.StringIO(read(out, "compare.csv"))))
    assert [r["policy"] for r in rows][1] == "dcqcn:scaled{rate_ai=50Mbps,cnp_interval=7us}", rows
    mixed = os.path.join(SCENARIOS, "mixed-tcp-roce.json")
    code, _, stderr = collwire("compare", mixed, "--cc", "cubic{beta=0.5,rto_min=3ms}", "--quiet", "--out", out + "-tcp",
                               "--set", "workload[0].bytes=100KB", "--set", "workload[1].bytes=100KB")
    assert code == 0, stderr
    scenario = json.loads(read(out + "-tcp", "mixed-tcp-roce", "cubic-beta-0.5-rto_min-3ms", "metrics.json"))["scenario"]
    tcp = [t for t in scenario["transport"] if t["kind"] == "tcp"][0]
    cubic = [c for c in scenario["cc"] if c["transport"] == "tcp"][0]
    assert tcp["rto_min"] == "3ms" and cubic["beta"] == 0.5, (tcp, cubic)
    for policies, words in (("dcqcn{rate_a=1Mbps}", 'did you mean "rate_ai"?'),
                            ("dcqcn{rate_ai}", "is not KEY=VALUE"), ("dcqcn{rate_ai=1Mbps", "closing brace"),
                            ("dcqcn{rate_ai=1MB}", "cc.rate_ai"), ("dcqcn{xyzzy=1}", "is no key of dcqcn"),
                            ("dctpc", 'did you mean "dctcp"?'), ("none,none", "named twice"), ("none,", "empty"),
                            ("dcqcn,dcqcn{}", "would hold the results of two runs")):
        code, stdout, stderr = collwire("compare", incast, "--cc", policies, "--out", out + "-bad")
        assert code == 2 and words in stderr and stdout == "" and not os.path.exists(out + "-bad"), (policies, stderr)
    code, _, stderr = collwire("compare", incast, "--cc", "none", "--baseline", "hpcc", "--out", out + "-bad")
    assert code == 2 and "--baseline" in stderr and not os.path.exists(out + "-bad"), stderr


def check_statistics(out):
    """compare.json against the rows of compare.csv, and what the table says of seeds."""
    incast = os.path.join(SCENARIOS, "incast.json")
    code, stdout, stderr = collwire("compare", incast, "--cc", "none,dcqcn,swift", "--set", "explain.try=0", "--seeds", "6", "--out", out)
    assert code == 0 and "report-template.html is missing" in stderr and stderr.count("\n") == 1, stderr
    assert max(map(len, stdout.splitlines())) <= 80, stdout
    assert "The 6 seeds gave the same figures with none and swift." in stdout and "\nswift *  " in stdout, stdout
    assert "[low, high]: 95 % interval" in stdout and "ms [low, high]" in stdout, stdout
    document = json.loads(read(out, "compare.json"))
    rows = list(csv.DictReader(io.StringIO(read(out, "compare.csv"))))
    assert document["schema"] == "collwire.compare/1" and document["baseline"] == "none"
    assert len(rows) == len(document["rows"]) == 18 and document["seeds"] == 6
    values = {p: [float(r["sim_time_ns"]) for r in rows if r["policy"] == p] for p in ("none", "dcqcn", "swift")}
    for item in document["statistics"]:
        x, base = values[item["cc"]], values["none"]
        time = item["sim_time_ns"]
        ordered = sorted(x)
        assert abs(time["mean"] - sum(x) / 6) < 1 and abs(time["median"] - (ordered[2] + ordered[3]) / 2) < 1, time
        assert abs(time["ratio"] - sum(x) / sum(base)) < 1e-6, time
        assert time["low"] <= time["mean"] <= time["high"] and time["low"] >= ordered[0], time
        assert item["identical"] == (len(set(x)) == 1) and item["seeds"] == item["completed"] == 6, item
        shares = [shares_of(out, item["cc"], seed) for seed in range(1, 7)]
        assert item["shares"].keys() == {cause for one in shares for cause in one}, item
        for cause, share in item["shares"].items():
            assert abs(share - sum(one.get(cause, 0) for one in shares) / 6) < 1e-9, (cause, item)
    dcqcn = document["statistics"][1]["sim_time_ns"]
    assert dcqcn["differs"] and dcqcn["low"] < dcqcn["high"] and dcqcn["ratio_low"] > 1, dcqcn
    again = out + "-again"
    collwire("compare", incast, "--cc", "none,dcqcn,swift", "--set", "explain.try=0", "--seeds", "6", "--out", again, "--jobs", "1", "--quiet")
    for name in ("compare.json", "compare.csv"):
        assert read(out, name) == read(again, name), f"{name} depends on the order of runs"
    code, stdout, _ = collwire("compare", incast, "--cc", "none,dcqcn", "--seeds", "3", "--quiet", "--format", "csv",
                               "--out", out + "-few")
    assert code == 0 and len(stdout.splitlines()) == 7, stdout
    code, stdout, _ = collwire("compare", incast, "--cc", "none,dcqcn", "--seeds", "3", "--out", out + "-three")
    assert code == 0 and "ms, seeds 1-3" in stdout, stdout
    code, stdout, _ = collwire("compare", incast, "--cc", "none,dcqcn", "--set", "limits.sim_time=700us", "--out",
                               out + "-cut")
    assert code == 1 and "dcqcn (seed 1): incomplete" in stdout and "simulated time limit" in stdout, stdout
    code, stdout, _ = collwire("compare", incast, "--cc", "none,dcqcn", "--set", "limits.sim_time=100us", "--seeds", "3",
                               "--out", out + "-cut3")
    assert code == 1 and stdout.count("incomplete: ") == 2 and "dcqcn (seed 1 and 2 more): incomplete" in stdout, stdout


def shares_of(out, policy, seed):
    slowest = json.loads(read(out, "incast", f"{policy}-seed{seed}", "metrics.json"))["slowest"]
    return {cause[:-3]: ns / slowest["total_ns"] for cause, ns in slowest["parts"].items()}


def seen_and_tried(sentence):
    clauses = re.split(r";(?![^(]*[)])", sentence)
    return sentence if len(clauses) < 2 else f"{clauses[0]};{clauses[-1]}"


def best_change(out, document, name):
    """What was tried first of a best policy, whichever saved more."""
    policies = {item["cc"] for item in document["statistics"] if item["best"] and item["job"] is None}
    found = []
    for policy in policies:
        metrics = json.loads(read(out, name, policy, "metrics.json"))
        for reason in metrics["reasons"][:1]:
            assert reason["tried"] == (reason["set"] is not None), reason
            if reason["tried"] and reason["saved_ns"] * 100 >= metrics["slowest"]["total_ns"]:
                found.append((reason["saved_ns"], f"Best change ({policy}): {seen_and_tried(reason['sentence'])}"))
    return max(found)[1] if found else ""


def check_screen(out):
    """All policies on a screen of 24 lines and 80 columns: the table has the parts of time, a sentence the change."""
    for name, options in (("incast", ()), ("congestion/victim", ()), ("collectives/allreduce-2d-32", ()),
                          ("tcp/incast", ()), ("incast", ("--seeds", "5")), ("mixed-tcp-roce", ())):
        path = os.path.join(SCENARIOS, name + ".json")
        code, stdout, stderr = collwire("compare", path, "--cc", "all", "--out", out, *options)
        lines = stdout.splitlines()
        # one line less than the screen has, since here no report is written, which is another line
        assert code == 0 and len(lines) <= 23 and max(map(len, lines)) <= 80, (name, len(lines), stdout, stderr)
        document = json.loads(read(out, "compare.json"))
        headings = next(i for i, line in enumerate(lines) if line.startswith("policy "))
        whole = [item for item in document["statistics"] if item["job"] is None]
        rows = lines[headings + 2:headings + 2 + len(whole)]
        assert [row.split()[0] for row in rows] == [item["cc"] for item in whole], stdout
        parts = {"sending", "resending", "window", "ack_delay", "pace", "PFC", "timeout", "network", "queued", "behind"}
        shown = [word for word in lines[headings].replace("vs none", "vs").replace("max queue", "max").split()]
        named = [i for i, word in enumerate(shown) if word in parts]
        assert len(named) >= 3 and lines[headings + 1].count("%") == len(named), stdout
        for row, item in zip(rows, whole):
            cells = row.replace(" *", "", 1).split()[-len(named):]
            keys = [{"PFC": "paused"}.get(shown[i], shown[i]) for i in named]
            assert [f"{100 * item['shares'].get(key, 0):.0f}" for key in keys] == cells, (row, item)
        if not options and not (len(whole) > 6 and len(whole) < len(document["statistics"])):
            change = best_change(out, document, document["name"])
            assert change in " ".join(stdout.split()), (change, stdout)
            assert ("Best change" in stdout) == (change != ""), stdout


def in_ns(text):
    number, unit = text.split()
    return float(number) * {"ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def check_iterations(out):
    """Where the table has the time of an iteration, the change has what an iteration saves."""
    path = os.path.join(SCENARIOS, "dlrm/dlrm-16.json")
    for iterations in (1, 2, 3):
        code, stdout, stderr = collwire("compare", path, "--cc", "none", "--set", f"workload.iterations={iterations}", "--out", out)
        metrics = json.loads(read(out, "dlrm-16", "none", "metrics.json"))
        reason = metrics["reasons"][0]
        assert code == 0 and len(metrics["training"]["iterations"]) == iterations, stderr
        found = re.search(r"tried, ([\d.]+ [a-z]+) less( an iteration)?", " ".join(stdout.split()))
        assert bool(found[2]) == (iterations > 1), stdout
        assert abs(in_ns(found[1]) - reason["saved_ns"] / iterations) < 0.006 * in_ns(found[1]), (found[0], reason)
        column = sum(i["duration_ns"] for i in metrics["training"]["iterations"]) / iterations
        assert in_ns(found[1]) < column, (found[0], column)


def check_heading(out):
    """The links of a graph have rates of their own: the heading does not give the default of the dimension."""
    path = os.path.join(SCENARIOS, "reproduce/figures/dcqcn-victim-0.json")
    code, stdout, stderr = collwire("compare", path, "--cc", "none", "--set", "duration=1ms", "--out", out)
    heading = " ".join(stdout.partition("policy ")[0].split())
    assert code == 0 and heading == "dcqcn-victim-0: 11 ranks, graph of 11 (rates in networks/dcqcn-testbed.json): flows", stdout
    path = os.path.join(SCENARIOS, "incast.json")
    code, stdout, stderr = collwire("compare", path, "--cc", "none", "--out", out)
    assert " at 100Gbps: " in stdout.splitlines()[0], (stdout, stderr)


def check_vary(out):
    """Values of a key as rows, alone with the scenario's own policy and with --cc, with their columns in the files."""
    ring = os.path.join(SCENARIOS, "collectives/allreduce-1d.json")
    values = "workload.algorithm=ring,halving_doubling"
    code, stdout, stderr = collwire("compare", ring, "--vary", values, "--out", out)
    lines = stdout.splitlines()
    assert code == 0 and lines[1].startswith("algorithm ") and "vs ring" in lines[1], (stdout, stderr)
    assert [line.split()[0] for line in lines[3:5]] == ["ring", "halving_doubling"], stdout
    rows = list(csv.DictReader(io.StringIO(read(out, "compare.csv"))))
    assert [(r["workload.algorithm"], r["policy"]) for r in rows] == [("ring", "dcqcn"), ("halving_doubling", "dcqcn")]
    document = json.loads(read(out, "compare.json"))
    assert document["varied"] == ["workload.algorithm"] and document["baseline"] == "ring", document
    for row in document["rows"] + document["statistics"]:
        assert row["vary"] == {"workload.algorithm": row["name"]} and row["cc"] == "dcqcn", row
    for row in document["rows"]:
        metrics = json.loads(read(out, "allreduce-1d", row["name"], "metrics.json"))
        assert metrics["scenario"]["workload"]["algorithm"] == row["name"], row
        assert metrics["sim_time_ns"] == row["sim_time_ns"], row
    assert document["rows"][0]["sim_time_ns"] != document["rows"][1]["sim_time_ns"], document["rows"]
    both = out + "-both"
    code, stdout, stderr = collwire("compare", ring, "--vary", values, "--cc", "none,swift", "--seeds", "2", "--out",
                                    both, "--baseline", "halving_doubling")
    assert code == 0 and "algorithm, policy" in stdout and "Longest row (halving_doubling, swift, seed 1)" in stdout, stdout
    rows = list(csv.DictReader(io.StringIO(read(both, "compare.csv"))))
    assert [(r["workload.algorithm"], r["policy"], r["seed"]) for r in rows] == [
        (a, p, s) for a in ("ring", "halving_doubling") for p in ("none", "swift") for s in ("1", "2")], rows
    document = json.loads(read(both, "compare.json"))
    assert document["baseline"] == "halving_doubling, none" and len(document["statistics"]) == 4, document
    assert os.path.exists(os.path.join(both, "allreduce-1d", "halving_doubling-swift-seed2", "metrics.json"))
    for words, options in (('workload.algorithm: unknown algorithm "rng"', ("--vary", "workload.algorithm=rng,ring", "--cc", "all")),
                           ("one axis", ("--vary", "switch.buffer=1MB,2MB", "--vary", "seed=1,2")),
                           ("with --seeds", ("--vary", "seed=1,2")), ("varied already", ("--vary", "cc.kind=none,swift", "--cc", "all")),
                           ("is not PATH=VALUE", ("--vary", "ring")), ("named twice", ("--vary", "seed=1,1")),
                           ("policies or values", ("--vary", values, "--baseline", "tree"))):
        code, stdout, stderr = collwire("compare", ring, *options, "--out", out + "-bad")
        assert code == 2 and words in stderr and stderr.count("\n") == 1 and stdout == "", (options, stderr)
        assert not os.path.exists(out + "-bad"), options


def check_jobs_table(stdout, statistics):
    """A row a policy, and for each job its time, the ratio, and the best."""
    lines = stdout.split("Time of each job in ")[1].splitlines()[:4]
    unit = {"us": 1e3, "ms": 1e6}[lines[0].split()[0]]
    for line in lines[2:]:
        name, *cells = re.split(r"  +", line.strip())
        jobs = [s for s in statistics if s["cc"] == name and s["job"] is not None]
        assert len(cells) == len(jobs) == 2, (line, lines)
        for cell, job in zip(cells, jobs):
            time, ratio, best = re.fullmatch(r"([\d.]+)(?: \(([\d.]+)\))?( \*)?", cell).groups()
            assert abs(float(time) * unit / job["sim_time_ns"]["mean"] - 1) < 0.006, (cell, job)
            assert (ratio is None) == (job["cc"] == job["baseline"]) and bool(best) == job["best"], (cell, job)
            assert ratio is None or abs(float(ratio) - job["sim_time_ns"]["ratio"]) < 0.006, (cell, job)


def check_several(out):
    """Several scenarios, and a scenario with several jobs: a table and rows for each."""
    incast, alone = (os.path.join(SCENARIOS, name) for name in ("incast.json", "collectives/allreduce-1d.json"))
    code, stdout, stderr = collwire("compare", incast, alone, "--cc", "none,window", "--out", out)
    assert code == 0 and stdout.count("policy") == 2, (stdout, stderr)
    document = json.loads(read(out, "compare.json"))
    assert document["scenarios"] == ["incast", "allreduce-1d"] and len(document["rows"]) == 4
    for row in document["rows"]:
        metrics = json.loads(read(out, row["scenario"], row["cc"], "metrics.json"))
        assert metrics["sim_time_ns"] == row["sim_time_ns"], row
    code, _, stderr = collwire("compare", incast, incast, "--cc", "none", "--out", out + "-bad")
    assert code == 2 and "has the same name" in stderr and not os.path.exists(out + "-bad"), stderr
    jobs = os.path.join(SCENARIOS, "mixed-tcp-roce.json")
    code, stdout, _ = collwire("compare", jobs, "--cc", "dcqcn,timely", "--out", out + "-jobs", "--set",
                               "workload[0].bytes=100KB", "--set", "workload[1].bytes=100KB")
    metrics = json.loads(read(out + "-jobs", "mixed-tcp-roce", "dcqcn", "metrics.json"))
    names = [job["name"] for job in metrics["jobs"]]
    assert code == 0 and re.search(r"Time of each job in [mu]s \(ratio to dcqcn\)", stdout) and all(name in stdout for name in names), stdout
    rows = list(csv.DictReader(io.StringIO(read(out + "-jobs", "compare.csv"))))
    assert [r["job"] for r in rows] == 2 * ["", *names], rows
    check_jobs_table(stdout, json.loads(read(out + "-jobs", "compare.json"))["statistics"])
    for row, job in zip(rows[1:], metrics["jobs"]):
        assert row["sim_time_ns"] == str(job["time_ns"]) and row["status"] == job["status"], (row, job)


def check_two_transports(out):
    """A policy replaces that of the transport that can run it; the other one stays."""
    path = os.path.join(SCENARIOS, "mixed-tcp-roce.json")
    compare = [os.environ["COLLWIRE"], "compare", path, "--quiet", "--out", out, "--cc"]
    small = ["--set", "workload[0].bytes=100KB", "--set", "workload[1].bytes=100KB"]
    subprocess.run([*compare, "newreno:ecn,timely,dcqcn", *small], check=True)
    folder = os.path.join(out, "mixed-tcp-roce")
    wanted = {"newreno-ecn": ("dcqcn", "newreno"), "timely": ("timely", "cubic"), "dcqcn": ("dcqcn", "cubic")}
    for policy, kinds in wanted.items():
        with open(os.path.join(folder, policy, "metrics.json"), encoding="utf-8") as file:
            entries = json.load(file)["scenario"]["cc"]
        assert [e["transport"] for e in entries] == ["roce", "tcp"], entries
        assert tuple(e["kind"] for e in entries) == kinds, (policy, entries)
    compare[compare.index(out)], folder = out + "-all", os.path.join(out + "-all", "mixed-tcp-roce")
    subprocess.run([*compare, "all", *small], check=True)
    both, roce = {"none", "window", "dctcp", "swift"}, {"hpcc", "timely", "powertcp"}
    found = set(os.listdir(folder))
    assert SLOW_START | roce < found and both.isdisjoint(found), found
    refused = subprocess.run([*compare, "dctcp"], check=False, capture_output=True, text=True)
    assert refused.returncode == 2 and "runs on roce and on tcp" in refused.stderr, refused


with tempfile.TemporaryDirectory() as out:
    check_two_transports(os.path.join(out, "two"))
    check_settings(os.path.join(out, "settings"))
    check_statistics(os.path.join(out, "statistics"))
    check_screen(os.path.join(out, "screen"))
    check_several(os.path.join(out, "several"))
    check_iterations(os.path.join(out, "iterations"))
    check_heading(os.path.join(out, "heading"))
    check_vary(os.path.join(out, "vary"))
    for name, different in (("incast", 5), ("congestion/victim", 5), ("collectives/allreduce-1d", 1)):
        n = check(name, os.path.join(out, os.path.basename(name)))
        assert n >= different, f"{name}: only {n} different results"
        print(f"{name}: {n} different results")
