#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire report as a command: what it reads, what it refuses, and that report.html is one more file of
the set of results. A template of a few bytes stands for the charts. COLLWIRE names the program.

usage: check_report.py SCENARIOS
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.environ["COLLWIRE"]
MARK = "@COLLWIRE_DATA@"
failures = []


def expect(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def collwire(*words, share=None):
    env = dict(os.environ)
    if share:
        env["COLLWIRE_SHARE"] = share
    done = subprocess.run([COLLWIRE, *words], capture_output=True, env=env, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def files(folder):
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else None


def document(folder):
    """The document inside report.html; the template around it must be whole."""
    with open(os.path.join(folder, "report.html"), encoding="utf-8") as f:
        text = f.read()
    expect(text.startswith("<") and text.endswith(">"), "template around the document")
    expect("</script" not in text and "<!--" not in text, "nothing in the document ends its element")
    return json.loads(text[1:-1])


def whole(folder, what):
    """run.json lists every file with its size and hash. Returns run.json."""
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as f:
        run = json.load(f)
    for entry in run["files"]:
        with open(os.path.join(folder, entry["name"]), "rb") as f:
            data = f.read()
        expect(len(data) == entry["bytes"] and hashlib.sha256(data).hexdigest() == entry["sha256"],
               f"{what}: {entry['name']} is the file of the set")
    names = [entry["name"] for entry in run["files"]]
    expect(len(set(names)) == len(names), f"{what}: every file once: {names}")
    return run


def of_a_run(tmp, scenarios, share):
    out = os.path.join(tmp, "run")
    collwire("run", os.path.join(scenarios, "incast.json"), "--set", "report.sample=10us", "--out", out, "--quiet")
    before = whole(out, "run")
    code, stdout, stderr = collwire("report", out, share=share)
    expect((code, stdout, stderr) == (0, f"{out}/report.html\n", ""), f"report: {code} {stdout!r} {stderr!r}")
    after = whole(out, "report of a run")
    expect(before["id"] == after["id"] and before["wall_s"] == after["wall_s"], "facts of the run remain")
    expect(files(out) == ["metrics.json", "report.html", "run.json", "series.csv"], f"files: {files(out)}")
    doc = document(out)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as f:
        metrics = json.load(f)
    run = doc["runs"][0]
    expect(doc["kind"] == "run" and doc["name"] == "incast" and run["status"] == metrics["status"], "head")
    expect(doc["command"] == f"collwire run {os.path.join(scenarios, 'incast.json')} --set "
           f"report.sample=10us --out {out} --quiet", f"command: {doc['command']}")
    expect(doc["scenario"] == metrics["scenario"], "resolved scenario")
    for key in ("explain", "jobs", "pfc", "drops", "ecn", "cnps"):
        expect(run["metrics"][key] == metrics[key], f"{key} as in metrics.json")
    expect(not {"flows", "series", "links", "scenario"} & set(run["metrics"]), f"without long lists: {list(run['metrics'])}")
    points = doc["distributions"]["fct_ns"][0]["points"]
    expect([p[0] for p in points] == sorted({f["fct_ns"] for f in metrics["flows"]}), "completion times")
    expect(run["detail"]["links"]["at"] == [link["at"] for link in metrics["links"]], "links")
    peak = max(max(line) for line in metrics["series"]["queue_bytes"].values())
    shown = run["detail"]["series"]["queue_bytes"]
    expect(max(shown["high"]) == peak and max(max(line) for line in shown["lines"].values()) == peak, "longest queue")
    if "slowest" in metrics and metrics["slowest"]:
        expect(run["metrics"]["slowest"]["parts"] == metrics["slowest"]["parts"], "parts of the time")
    with open(os.path.join(out, "report.html"), "rb") as f:
        first = f.read()
    collwire("report", out, share=share)
    with open(os.path.join(out, "report.html"), "rb") as f:
        expect(f.read() == first, "the same bytes again")
    whole(out, "report again")
    collwire("run", os.path.join(scenarios, "incast.json"), "--out", out, "--quiet")
    expect(files(out) == ["metrics.json", "run.json"], f"a new run removes the report of the old one: {files(out)}")


def of_a_comparison(tmp, scenarios, share):
    out = os.path.join(tmp, "compare")
    words = ["compare", os.path.join(scenarios, "incast.json"), "--cc", "none,dcqcn", "--seeds", "2", "--out", out]
    code, stdout, stderr = collwire(*words, share=os.path.join(tmp, "missing"))
    expect(code == 0 and "report-template.html is missing" in stderr and stderr.count("\n") == 1, f"compare without charts: {code} {stderr}")
    expect("report.html" not in stdout and "report.html" not in files(out), "no report without charts")
    code, stdout, stderr = collwire(*words, share=share)
    expect(code == 0 and stdout.endswith(f"report: {out}/report.html\n") and stderr == "", f"compare: {code} {stdout[-200:]}")
    with open(os.path.join(out, "report.html"), "rb") as f:
        first = f.read()
    code, _, stderr = collwire("report", out, share=share)
    expect(code == 0, f"report of a comparison: {code} {stderr}")
    with open(os.path.join(out, "report.html"), "rb") as f:
        expect(f.read() == first, "the same bytes as compare wrote")
    expect("compare.json" in files(out) and "report.html" in files(out), "the comparison remains")
    whole(out, "report of a comparison")
    doc = document(out)
    with open(os.path.join(out, "compare.json"), encoding="utf-8") as f:
        rows = json.load(f)["rows"]
    expect([(r["policy"], r["seed"]) for r in doc["runs"]] == [(r.get("policy", r.get("cc")), r["seed"]) for r in rows],
           "a run for each row")
    expect(len(rows) == 4 and all("slowest" in r["metrics"] for r in doc["runs"]), "all metrics were found")
    expect(["detail" in r for r in doc["runs"]] == [True, False, True, False], "details of the first seed")
    # the directory of a run is written again with other results
    folder = os.path.join(out, doc["runs"][0]["dir"])
    collwire("run", os.path.join(scenarios, "incast.json"), "--set", "workload.bytes=2MB", "--set", "seed=77",
             "--out", folder, "--quiet")
    collwire("report", out, share=share)
    doc = document(out)
    expect(doc["runs"][0]["metrics"] == {} and doc["runs"][0]["values"]["sim_time_ns"] == rows[0]["sim_time_ns"],
           "metrics of another run are not shown")
    expect(any("not in the directory" in note for note in doc["notes"]), f"and the page says so: {doc['notes']}")


def of_a_real_sweep(tmp, scenarios, share):
    out = os.path.join(tmp, "swept")
    words = ["sweep", os.path.join(scenarios, "incast.json"), "--vary", "switch.buffer=1MB,2MB", "--seeds", "2", "--out", out]
    code, stdout, stderr = collwire(*words, share=os.path.join(tmp, "missing"))
    expect(code == 0 and "report-template.html is missing" in stderr and "report.html" not in files(out), f"sweep without charts: {code} {stderr}")
    code, stdout, stderr = collwire(*words, share=share)
    expect(code == 0 and stdout.endswith(f"report: {out}/report.html\n"), f"sweep: {code} {stdout[-200:]} {stderr}")
    whole(out, "report of a sweep")
    doc = document(out)
    expect(doc["kind"] == "sweep" and doc["name"] == "incast" and doc["scenario"]["name"] == "incast", "scenario of the sweep")
    sweep = doc["sweep"]
    roles = dict(zip(sweep["columns"], sweep["roles"]))
    expect(roles["switch.buffer_bytes"] == "axis" and roles["seed"] == "seed" and roles["sim_time_ns"] == "metric", f"roles: {roles}")
    expect([row[:3] for row in sweep["rows"]] == [[size, seed, "completed"] for size in (1000000, 2000000)
                                                  for seed in (1, 2)], f"rows: {[row[:3] for row in sweep['rows']]}")


def of_a_sweep(tmp, share):
    out = os.path.join(tmp, "sweep")
    os.mkdir(out)
    with open(os.path.join(out, "sweep.csv"), "w", encoding="utf-8") as f:
        f.write("cc.kind,seed,status,sim_time_ns\nnone,1,completed,5\n\"</script><!--\",1,completed,7\n")
    for _ in range(2):
        code, _, stderr = collwire("report", out, share=share)
        expect(code == 0, f"report of a sweep: {code} {stderr}")
    doc = document(out)
    expect(doc["sweep"]["rows"] == [["none", 1, "completed", 5], ["</script><!--", 1, "completed", 7]], "rows")
    expect(doc["name"] == "sweep" and files(out) == ["report.html", "run.json", "sweep.csv"], f"{files(out)}")
    with open(os.path.join(out, "sweep.csv"), "w", encoding="utf-8") as f:
        f.write("a,b\n1,2\n")
    code, _, stderr = collwire("report", out, share=share)
    expect(code == 2 and stderr.count("\n") == 1 and "sweep.csv" in stderr, f"no table of a sweep: {code} {stderr}")


def refused(tmp, scenarios, share):
    def error(folder, words, what, code=2, use=share, text=None):
        before = files(folder) if folder else None
        got, stdout, stderr = collwire("report", *words, share=use)
        expect(got == code and stdout == "" and stderr.count("\n") == 1 and (text or "") in stderr,
               f"{what}: {got} {stdout!r} {stderr!r}")
        expect(folder is None or files(folder) == before, f"{what}: nothing is written")

    error(None, [], "no directory named")
    error(None, ["a", "b"], "two directories named")
    error(None, [os.path.join(tmp, "missing")], "missing directory", text="No such file")
    expect(not os.path.exists(os.path.join(tmp, "missing")), "it is not made")
    empty = os.path.join(tmp, "empty")
    os.mkdir(empty)
    error(empty, [empty], "no results", text="no results")
    file = os.path.join(tmp, "file")
    shutil.copy(os.path.join(scenarios, "incast.json"), file)
    error(None, [file], "a file")
    out = os.path.join(tmp, "refused")
    collwire("run", os.path.join(scenarios, "incast.json"), "--out", out, "--quiet")
    error(out, [out], "without charts", code=1, use=os.path.join(tmp, "missing"), text="report-template.html is missing")
    bad = os.path.join(tmp, "bad")
    os.mkdir(bad)
    with open(os.path.join(bad, "report-template.html"), "w", encoding="utf-8") as f:
        f.write("no mark")
    error(out, [out], "a file that is no template", code=1, use=bad, text="not a template")
    with open(os.path.join(out, "report.html"), "w", encoding="utf-8") as f:
        f.write("mine")
    error(out, [out], "a foreign report.html", text="not a result of collwire")
    with open(os.path.join(out, "report.html"), encoding="utf-8") as f:
        expect(f.read() == "mine", "a foreign file is not replaced")
    os.remove(os.path.join(out, "report.html"))
    with open(os.path.join(out, "metrics.json"), "w", encoding="utf-8") as f:
        f.write("{\"schema\": ")
    error(out, [out], "damaged metrics", text="metrics.json")
    os.remove(os.path.join(out, "run.json"))
    error(out, [out], "a set without run.json", text="no results")


def while_writing(tmp, scenarios, share):
    """A directory into which a run writes is refused."""
    out = os.path.join(tmp, "busy")
    run = subprocess.Popen([COLLWIRE, "run", os.path.join(scenarios, "incast.json"), "--set", "workload.bytes=400MB",
                            "--out", out, "--quiet"])
    while not os.path.exists(os.path.join(out, ".collwire", "lock")) and run.poll() is None:
        time.sleep(0.001)
    time.sleep(0.2)  # the file is made a moment before it is locked
    code, _, stderr = collwire("report", out, share=share)
    alone = run.poll() is not None
    expect(alone or (code == 2 and "another collwire is writing there" in stderr), f"while writing: {code} {stderr}")
    run.terminate()
    run.wait()


def main():
    scenarios = sys.argv[1]
    with tempfile.TemporaryDirectory() as tmp:
        share = os.path.join(tmp, "share")
        os.mkdir(share)
        with open(os.path.join(share, "report-template.html"), "w", encoding="utf-8") as f:
            f.write(f"<{MARK}>")
        of_a_run(tmp, scenarios, share)
        of_a_comparison(tmp, scenarios, share)
        of_a_sweep(tmp, share)
        of_a_real_sweep(tmp, scenarios, share)
        refused(tmp, scenarios, share)
        while_writing(tmp, scenarios, share)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
