#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire plot: the list of charts of a run, a comparison and a sweep; their CSV, whose numbers are those of the
metrics; their SVG, whose marks stand at these numbers, and PDF. COLLWIRE names the program.

usage: check_plot.py SCENARIOS        no program is needed but collwire
       check_plot.py SCENARIOS page   pages draw the same bytes; skipped (77) without Chromium
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import browser

COLLWIRE = os.environ["COLLWIRE"]
os.environ.pop("COLLWIRE_SHARE", None)  # the charts of this build
failures = []


def expect(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def collwire(*words, **more):
    done = subprocess.run([COLLWIRE, *words], capture_output=True, check=False, **more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def results(tmp, scenarios):
    """A run whose messages are not listed, a comparison with samples, one of two scenarios, and a sweep."""
    of = {name: os.path.join(tmp, name)
          for name in ("run", "compare", "several", "sweep", "memory", "measured", "drawn", "dims")}
    rail = os.path.join(scenarios, "collectives", "rail.json")
    incast = os.path.join(scenarios, "incast.json")
    memory = os.path.join(os.path.dirname(scenarios), "tests", "golden", "memory", "scenario.json")
    measured = os.path.join(os.path.dirname(scenarios), "tests", "golden", "program", "scenario.json")
    for words in (("run", rail, "--set", "report.flows_max=100", "--out", of["run"]),
                  ("compare", incast, "--cc", "none,dcqcn,swift", "--seeds", "2", "--set", "report.sample=10us",
                   "--out", of["compare"]),
                  ("compare", incast, os.path.join(scenarios, "collectives", "torus.json"), "--cc", "none,dcqcn", "--out", of["several"]),
                  ("compare", incast, "--cc", "none,dcqcn,swift", "--draws", "5", "--out", of["drawn"]),
                  ("compare", os.path.join(scenarios, "start", "allreduce-2d.json"), "--cc", "none,dcqcn", "--out", of["dims"]),
                  ("run", memory, "--out", of["memory"]),
                  ("run", measured, "--out", of["measured"]),
                  ("sweep", incast, "--vary", "workload.bytes=100KB,200KB", "--cc", "none,dcqcn", "--out", of["sweep"])):
        code, _, stderr = collwire(*words, "--quiet")
        expect(code == 0, f"{words}: {stderr}")
    return of


def listed(folder):
    code, stdout, stderr = collwire("plot", folder, "--list")
    expect((code, stderr) == (0, ""), f"list of {folder}: {code} {stderr!r}")
    return [line.split()[0] for line in stdout.splitlines() if not line.startswith(("NAME", " ", "--dim"))]


def table(folder, chart):
    """The rows of a chart's CSV as written, and as written to a file."""
    code, stdout, stderr = collwire("plot", folder, "--chart", chart)
    expect((code, stderr) == (0, ""), f"CSV of {chart}: {code} {stderr!r}")
    file = os.path.join(folder, "..", "chart.csv")
    expect(collwire("plot", folder, "--chart", chart, "-o", file)[0] == 0, f"{chart} as a file")
    with open(file, encoding="utf-8") as f:
        expect(f.read() == stdout, f"{chart}: stdout and the file are the same")
    return list(csv.DictReader(io.StringIO(stdout)))


def metrics_of(folder):
    with open(os.path.join(folder, "metrics.json"), encoding="utf-8") as f:
        return json.load(f)


# ---- numbers ----

def of_a_run(folder):
    metrics = metrics_of(folder)
    summary = metrics["flows_summary"]
    names = listed(folder)
    expect({"time", "messages.time", "messages.slowdown", "links", "timeline"} <= set(names) and "policies" not in names,
           f"charts of a run: {names}")
    rows = table(folder, "time")
    expect({f"{r['part']}_ns": int(r["time_ns"]) for r in rows} == metrics["slowest"]["parts"], "parts of time")
    rows = table(folder, "links")
    known = {x["at"]: x for x in metrics["links"]}
    expect(len(rows) == len(known) and all(int(r["bytes"]) == known[r["link"]]["bytes"]
                                           and abs(float(r["utilization"]) - known[r["link"]]["utilization"]) < 1e-6 for r in rows), "links")
    # a distribution without a list of messages: that of the histogram, which has every message
    expect(metrics["flows"] == [] and sum(summary["fct_ns_histogram"]["count"]) == summary["count"], "histogram")
    rows = table(folder, "messages.time")
    expect(len(rows) > 20, f"{len(rows)} points of the distribution")
    shares = [float(r["share_of_messages_up_to_it"]) for r in rows]
    values = [float(r["fct_ns"]) for r in rows]
    expect(shares == sorted(shares) and shares[-1] == 1 and values == sorted(values), "a distribution")
    expect(values[-1] == summary["fct_ns"]["max"], "it ends with the longest message")
    for share, key in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99")):
        upper = next(v for v, s in zip(values, shares) if s >= share)
        expect(upper / 1.04 <= summary["fct_ns"][key] <= upper, f"{key}: {summary['fct_ns'][key]} is in the bin below {upper}")


def of_a_comparison(folder):
    names = listed(folder)
    expect({"policies", "messages.time", "all.queue", "queue", "links", "pauses"} <= set(names)
           and "scenarios" not in names and "time.collectives" not in names, f"charts of a comparison: {names}")
    with open(os.path.join(folder, "compare.json"), encoding="utf-8") as f:
        expected = {(r["cc"], str(r["seed"])): r for r in json.load(f)["rows"]}
    rows = table(folder, "policies")
    expect(len(rows) == 6, f"{len(rows)} rows of policies")
    for row in rows:
        known = expected[row["policy"], row["seed"]]
        for key in ("sim_time_ns", "fct_max_ns", "max_queue_bytes", "paused_ns"):
            expect(int(row[key]) == known[key], f"{row['policy']}: {key} {row[key]}")
    expect(list(table(folder, "policies=cnps")[0]) == ["scenario", "policy", "seed", "status", "cnps"], "one metric")
    metrics = metrics_of(os.path.join(folder, "incast", "dcqcn-seed1"))
    both = [metrics, metrics_of(os.path.join(folder, "incast", "dcqcn-seed2"))]
    points = [float(r["fct_ns"]) for r in table(folder, "messages.time@dcqcn")]
    expect(points == sorted({f["fct_ns"] for m in both for f in m["flows"]}), "the messages of all seeds")
    longest = max(float(r["queue_bytes"]) for r in table(folder, "queue@dcqcn"))
    known = max(v for values in metrics["series"]["queue_bytes"].values() for v in values)
    expect(longest == known, f"longest queue of the samples: {longest}, {known}")


def of_scenarios(folder):
    names = listed(folder)
    expect("scenarios" in names, f"charts of two scenarios: {names}")
    rows = table(folder, "scenarios=sim_time_ns")
    with open(os.path.join(folder, "compare.json"), encoding="utf-8") as f:
        known = [(r["scenario"], r["cc"], str(r["sim_time_ns"])) for r in json.load(f)["rows"] if r["job"] is None]
    expect([(r["scenario"], r["policy"], r["sim_time_ns"]) for r in rows] == known and len(known) == 4, f"scenarios: {rows}")
    own = {r["scenario"] for r in table(folder, "links@incast/dcqcn")}
    expect(own == {"incast"}, f"a run of several scenarios: {own}")


def of_memory(folder):
    """By kind within each step of an iteration, and of the ranks."""
    memory = metrics_of(folder)["memory"]
    expect({"memory", "memory.ranks"} <= set(listed(folder)), f"charts with memory: {listed(folder)}")
    rows = table(folder, "memory")
    known = [(s["step"], str(s["end_ns"]), kind, str(n)) for s in memory["iteration"] for kind, n in s["by_kind"].items()]
    expect([(r["step"], r["end_ns"], r["kind"], r["memory_bytes"]) for r in rows] == known and len(known) > 6, f"memory: {rows}")
    expect(max(sum(s["by_kind"].values()) for s in memory["iteration"]) == memory["max_bytes"], "the largest step is the most")
    rows = table(folder, "memory.ranks")
    known = [(str(c["rank"]), kind, str(n)) for c in memory["classes"] for kind, n in c["by_kind"].items()]
    expect([(r["rank"], r["kind"], r["memory_bytes"]) for r in rows] == known, f"memory of ranks: {rows}")


def of_measured(folder):
    """A row for each operation and size of measured collectives."""
    measured = metrics_of(folder)["measured_collectives"]
    expect("measured" in listed(folder), f"charts with measured collectives: {listed(folder)}")
    rows = table(folder, "measured")
    known = [(s["op"], str(s["ranks"]), str(s["bytes"]), str(s["count"]), str(s["measured_ns"]["p50"]), str(s["simulated_ns"]["p50"]))
             for s in measured["sizes"]]
    expect([(r["op"], r["ranks"], r["bytes"], r["count"], r["measured_ns"], r["simulated_ns"]) for r in rows] == known and len(known) == 2,
           f"measured: {rows}")


def of_draws(folder):
    """The chart of assumptions has the ratios of compare.json; a choice leaves one row."""
    with open(os.path.join(folder, "compare.json"), encoding="utf-8") as f:
        known = [(axis["name"], row["name"], row["low"], row["high"]) for axis in json.load(f)["assumptions"] for row in axis.get("rows", [])]
    rows = table(folder, "assumptions")
    expect(len(known) == 6 and [(r["assumption"], r["policy"], float(r["low"]), float(r["high"])) for r in rows]
           == [(*names, *(float(f"{x:.10g}") for x in ends)) for *names, ends in ((a, b, (c, d)) for a, b, c, d in known)], f"assumptions: {rows}")
    expect({r["policy"] for r in table(folder, "assumptions=swift")} == {"swift"}, "assumptions of a policy")
    expect("assumptions" in listed(folder), "the list of charts with draws")


def of_a_sweep(folder):
    expect(listed(folder) == ["sweep.lines", "sweep.map"], f"charts of a sweep: {listed(folder)}")
    with open(os.path.join(folder, "sweep.csv"), encoding="utf-8") as f:
        runs = list(csv.DictReader(f))
    rows = table(folder, "sweep.lines=fct_max_ns")
    expect([(r["policy"], r["mean"], r["runs"]) for r in rows] == [(r["policy"], r["fct_max_ns"], "1") for r in runs],
           "means of a sweep")


def refused(of):
    """One message, exit code 2, and no file."""
    file = os.path.join(of["run"], "..", "x.svg")
    for words, part in (((of["run"],), "plot needs --chart NAME; the charts of"), ((of["run"], "--chart", "policies", "-o", file), "has no chart \"policies\""),
                        ((of["run"], "--chart", "time", "-o", file + ".gif"), "does not end in .svg"),
                        ((os.path.dirname(of["run"]), "--list"), "has no results")):
        code, stdout, stderr = collwire("plot", *words)
        expect(code == 2 and part in stderr and stdout == "", f"{words}: {code} {stderr!r}")
    for chart in ("policies=busbw", "time=busbw_bps"):  # no such metric; a chart without metrics
        code, stdout, stderr = collwire("plot", of["compare"], "--chart", chart)
        expect(code == 2 and f'has no chart "{chart}"' in stderr and "NAME=METRIC draws one of" in stderr and stdout == "",
               f"CSV of {chart}: {code} {stderr!r} {stdout!r}")
    empty = os.path.join(of["run"], "..", "share")
    os.mkdir(empty)
    for program, part in ((None, "share/collwire/report-plot.js is missing beside the program"), ("f(", "has failed: SyntaxError"),
                          ("(function f() { f(); })()", "has failed: RangeError"), ("({})", "has returned no picture")):
        if program:
            with open(os.path.join(empty, "report-plot.js"), "w", encoding="utf-8") as f:
                f.write(program)
        code, _, stderr = collwire("plot", of["run"], "--chart", "time", "-o", file, env={**os.environ, "COLLWIRE_SHARE": empty})
        expect(code == 1 and stderr.count("\n") == 1 and part in stderr, f"program {program}: {code} {stderr!r}")
    with open(os.path.join(empty, "librsvg-2.so.2"), "w", encoding="utf-8") as f:
        f.write("no library")
    code, _, stderr = collwire("plot", of["run"], "--chart", "time", "-o", file + ".pdf", env={**os.environ, "LD_LIBRARY_PATH": empty})
    expect(code == 1 and stderr.count("\n") == 1 and "PDF needs librsvg" in stderr and ".svg, which needs nothing" in stderr,
           f"without librsvg: {code} {stderr!r}")
    expect(not os.path.exists(file) and not os.path.exists(file + ".pdf"), "nothing was written")


# ---- pictures ----

def texts(svg):
    return [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]


def picture(folder, chart, *words):
    file = os.path.join(folder, "..", "chart.svg")
    code, _, stderr = collwire("plot", folder, "--chart", chart, "-o", file)
    expect((code, stderr) == (0, ""), f"SVG of {chart}: {code} {stderr!r}")
    svg = xml.etree.ElementTree.parse(file).getroot()
    os.unlink(file)
    expect(svg.get("width") == "85mm", f"{chart}: {svg.get('width')} wide")
    missing = [word for word in words if word not in texts(svg)]
    expect(not missing, f"{chart}: {missing} are not among {texts(svg)}")
    source = xml.etree.ElementTree.tostring(svg).decode()
    expect("http" not in source.replace("http://www.w3.org", ""), f"{chart} is self-contained")


def placed(svg, pattern):
    """Where a picture has what matches a pattern of its source: [(x, y, match)]."""
    found = re.finditer(pattern + r'[^>]*transform="(?:translate|matrix)\((?:[-\d.]+,){0,4}?([-\d.]+)[ ,]([-\d.]+)\)"[^>]*>([^<]*)', svg)
    return [(float(m[1]), float(m[2]), m[3]) for m in found]


def marks(folder):
    """The dots of runs stand at their values, in the row of their policy; and the bars of means."""
    svg = source(folder, "policies")
    rows = table(folder, "policies")
    labels = placed(svg, '<text')
    axis = [(float(text), x) for x, y, text in labels if re.fullmatch(r"[\d.]+", text)]
    names = {text: y for x, y, text in labels if text in ("none", "dcqcn", "swift")}
    expect("time of the run (ms)" in [text for *_, text in labels] and len(axis) > 3 and len(names) == 3, f"axes: {labels}")
    (low, left), (high, right) = axis[0], axis[-1]
    at = {policy: [left + (int(r["sim_time_ns"]) / 1e6 - low) / (high - low) * (right - left) for r in rows if r["policy"] == policy]
          for policy in names}
    dots = placed(svg, '<path d="M1 0A1')
    means = placed(svg, '<path d="M-1 -1l2')
    for policy, y in names.items():
        own = sorted(x for x, top, _ in dots if abs(top - y) < 9)
        wanted = sorted(set(round(x, 2) for x in at[policy]))
        expect(len(own) == len(wanted) and all(abs(a - b) < 0.02 for a, b in zip(own, wanted)), f"dots of {policy}: {own}, {wanted}")
        own = [x for x, top, _ in means if abs(top - y) < 1]
        expect(len(own) == 1 and abs(own[0] - sum(at[policy]) / len(at[policy])) < 0.02, f"mean of {policy}: {own}")


def lines(folder):
    """A line of a sweep has a point for each value, in the order of the table."""
    svg = source(folder, "sweep.lines=fct_max_ns")
    found = [[tuple(map(float, p.split())) for p in re.findall(r"-?[\d.]+ -?[\d.]+", d)]
             for d in re.findall(r'<path d="(M[^"]+)" fill="none"[^>]*stroke-width="2" stroke-linejoin', svg)]
    rows = table(folder, "sweep.lines=fct_max_ns")
    expect([len(line) for line in found] == [2, 2] and len(rows) == 4, f"lines: {found}")
    values = [float(r["mean"]) for r in rows if r["policy"] == "none"]
    labels = [(float(text), y) for x, y, text in placed(svg, "<text") if re.fullmatch(r"[\d.]+", text)]
    (low, bottom), (high, top) = labels[0], labels[-1]
    heights = [bottom + (v / 1e3 - low) / (high - low) * (top - bottom) for v in values]
    expect(all(abs(y - known) < 0.1 for (_, y), known in zip(found[0], heights)), f"points at {found[0]}, not {heights}")


def source(folder, chart, **more):
    file = os.path.join(folder, "..", "chart.svg")
    code, _, stderr = collwire("plot", folder, "--chart", chart, "-o", file, **more)
    expect((code, stderr) == (0, ""), f"SVG of {chart}: {code} {stderr!r}")
    with open(file, encoding="utf-8") as f:
        return f.read()


def pdf(folder, chart, **more):
    file, known = (os.path.join(folder, "..", name) for name in ("chart.pdf", "known.txt"))
    with open(known, "w", encoding="utf-8") as f:
        f.write("leak:libfontconfig\n")  # of librsvg, which keeps what it knows of fonts to the end
    env = {**os.environ, "LSAN_OPTIONS": f"suppressions={known}:print_suppressions=0", **more}
    code, _, stderr = collwire("plot", folder, "--chart", chart, "-o", file, env=env)
    expect((code, stderr) == (0, ""), f"PDF of {chart}: {code} {stderr!r}")
    with open(file, "rb") as f:
        return f.read()


def same_bytes(of):
    """Whatever the language, the time zone, the fonts and the programs of the system are."""
    other = {"PATH": "/nowhere", "LC_ALL": "C", "TZ": "Asia/Tokyo", "FONTCONFIG_FILE": "/dev/null"}
    for folder, chart in ((of["compare"], "queue@dcqcn"), (of["several"], "scenarios")):
        expect(source(folder, chart) == source(folder, chart, env=other), f"{chart} is drawn alike everywhere")
    first = pdf(of["compare"], "time")
    expect(first == pdf(of["compare"], "time", TZ="Asia/Tokyo"), "a PDF is made alike again")
    expect(first.startswith(b"%PDF") and len(re.findall(rb"/Type /Page\b", first)) == 1, "a PDF of one page")


def dimensions(folder):
    """The messages of one dimension, of each and of all; those within servers hide the others in one distribution."""
    code, stdout, _ = collwire("plot", folder, "--list")
    expect(code == 0 and "--dim D draws messages of one of: 0, 1, each, all\n" in stdout, f"dimensions: {stdout}")
    whole, rows = table(folder, "messages.time"), {}
    for dim in ("0", "1", "each", "all"):
        code, stdout, stderr = collwire("plot", folder, "--chart", "messages.time", "--dim", dim)
        expect((code, stderr) == (0, ""), f"dimension {dim}: {code} {stderr}")
        rows[dim] = list(csv.DictReader(io.StringIO(stdout)))
    for dim, wanted in (("0", lambda name: name.startswith("dimension 0: ")), ("1", lambda name: name.startswith("dimension 1: ")),
                        ("each", lambda name: name != "all"), ("all", lambda name: name == "all")):
        expect(rows[dim] and rows[dim] == [row for row in whole if wanted(row["dimension"])], f"rows of dimension {dim}")
    with open(os.path.join(folder, "compare.json"), encoding="utf-8") as f:
        name = json.load(f)["name"]
    metrics = metrics_of(os.path.join(folder, name, "none"))
    size = metrics["scenario"]["topology"]["dims"][0]["size"]
    outer = {m["fct_ns"] for m in metrics["flows"] if m["src"] // size != m["dst"] // size}
    drawn = {float(row["fct_ns"]) for row in rows["1"] if row["policy"] == "none"}
    expect(drawn <= outer and max(drawn) == max(outer), f"messages between servers: {sorted(drawn)[:3]}")
    expect({m["dim"] for m in metrics["flows"]} == {0, 1} and {m["dim"] for m in metrics["flows"] if m["fct_ns"] in drawn} == {1}, "flows by dimension")
    expect(svg_of(folder, "messages.time") == svg_of(folder, "messages.time", "--dim", "1") != svg_of(folder, "messages.time", "--dim", "all"),
           "a comparison draws the outermost dimension")
    for chart, dim in (("messages.time", "2"), ("messages.time", "dim1"), ("time", "1")):
        code, stdout, stderr = collwire("plot", folder, "--chart", chart, "--dim", dim)
        expect(code == 2 and stdout == "" and f'no messages of dimension "{dim}"' in stderr, f"{chart} of dimension {dim}: {code} {stderr}")


def svg_of(folder, *words):
    file = os.path.join(folder, "..", "dimension.svg")
    code, _, stderr = collwire("plot", folder, "--chart", *words, "-o", file)
    expect((code, stderr) == (0, ""), f"{words}: {code} {stderr}")
    with open(file, encoding="utf-8") as f:
        return f.read()


def pictures(of):
    dimensions(of["dims"])
    picture(of["compare"], "policies", "none", "dcqcn", "swift")
    picture(of["compare"], "messages.slowdown=tail", "none", "dcqcn", "swift", "messages with at least")
    picture(of["compare"], "links@none")
    picture(of["several"], "scenarios", "none", "dcqcn", "incast")
    picture(of["compare"], "timeline@none", "rank0 sends")
    picture(of["run"], "timeline", "dim0 all_reduce")
    picture(of["memory"], "memory", "weights", "activations", "a GPU has 100\u00a0MB")
    picture(of["memory"], "memory.ranks", "weights", "rank2 and 1 more")
    picture(of["sweep"], "sweep.lines", "none", "dcqcn")
    picture(of["drawn"], "assumptions", "lower values", "higher values", "queue pairs", "1 or 4", "300ns to 800ns")
    picture(of["drawn"], "assumptions=swift", "swift / none; line: median of 5 draws")
    marks(of["compare"])
    lines(of["sweep"])
    same_bytes(of)
    file = os.path.join(of["run"], "..", "unknown.pdf")
    code, _, stderr = collwire("plot", of["compare"], "--chart", "links@nobody", "-o", file)
    expect(code == 2 and "has no chart" in stderr, f"an unknown run: {code} {stderr!r}")
    code, _, stderr = collwire("plot", of["compare"], "--chart", "links=color", "-o", file)
    expect(code == 2 and '"color" is not one of utilization, ' in stderr, f"an unknown metric: {code} {stderr!r}")
    expect(not os.path.exists(file), "no file")


# ---- pages ----

CATCH = """(() => { window.saved = {}; HTMLAnchorElement.prototype.click = () => {};
    URL.createObjectURL = (blob) => { const name = window.wanted; blob.text().then(text => { window.saved[name] = text; }); return '#'; };
    const charts = [...document.querySelectorAll('.plot')], names = charts.map(one => one.chart.name);
    for (const one of charts) if (names.filter(name => name === one.chart.name).length === 1) {
        window.wanted = one.chart.name; one.parentElement.querySelector('.save button').click(); }
    return names; })()"""


def pages(of):
    """The command lists what the page has; and what a page saves has the bytes of what the command draws."""
    drawn = set()
    with browser.Browser() as page:
        for folder in of.values():
            collwire("report", folder)
            page.open(os.path.join(folder, "report.html"))
            known = page.run(CATCH)
            once = sorted(name for name in set(known) if known.count(name) == 1)
            page.wait(f"Object.keys(window.saved).length === {len(once)}")
            fresh = {name.split(".")[0]: name for name in once if name.split(".")[0] not in drawn} # one of each kind
            for name in fresh.values():
                expect(source(folder, name) == page.run(f"window.saved[{json.dumps(name)}]"), f"{folder}: a page saves another {name}")
            drawn |= set(fresh)
            own = [name for name in listed(folder) if not name.startswith("state.")]
            found = {name for name in known if not name.startswith("state.")}
            expect(found <= set(own), f"{folder}: the page has {found}, the list {own}")
            for name in set(own) - found:
                source(folder, name)
    expect(len(drawn) > 12, f"charts that were compared: {drawn}")


def main():
    part = sys.argv[2] if len(sys.argv) > 2 else "all"
    if part == "page" and not browser.find_browser():
        print("skipped: Chromium is not installed")
        return 77
    with tempfile.TemporaryDirectory() as tmp:
        of = results(tmp, sys.argv[1])
        if part == "page":
            pages(of)
        else:
            of_a_run(of["run"])
            of_a_comparison(of["compare"])
            of_scenarios(of["several"])
            of_draws(of["drawn"])
            of_a_sweep(of["sweep"])
            of_memory(of["memory"])
            of_measured(of["measured"])
            pictures(of)
            refused(of)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
