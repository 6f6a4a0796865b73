#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a newcomer types first: scenarios to start from, a policy by name, the catalogue by a word, and pipes that end early.

usage: check_first_steps.py ROOT BUILD, with the executable in $COLLWIRE.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT, BUILD = map(os.path.abspath, sys.argv[1:])
COLLWIRE = os.path.abspath(os.environ["COLLWIRE"])
INCAST = os.path.join(ROOT, "scenarios", "incast.json")
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "COLLWIRE_SHARE"}


def run(*words, stdin=None, program=COLLWIRE, **more):
    done = subprocess.run([program, *words], capture_output=True, text=True, input=stdin, timeout=250,
                          env={**ENVIRONMENT, **more}, check=False)
    return done.returncode, done.stdout, done.stderr


def metrics(folder):
    with open(os.path.join(folder, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def check_new(tmp):
    """Every start is listed with its description, valid, and runs as it is printed."""
    code, listed, stderr = run("new")
    assert code == 0 and not stderr, stderr
    names = [name[:-len(".json")] for name in sorted(os.listdir(os.path.join(ROOT, "scenarios", "start"))) if name.endswith(".json")]
    assert re.findall(r"^  ([a-z]\S*)", listed, re.M) == names and len(names) >= 15, listed
    for wanted in ("incast", "ring", "dlrm", "llm", "nccl", "training", "program"):
        assert wanted in names, wanted
    for name in names:
        code, text, stderr = run("new", name)
        scenario = json.loads(text)
        assert code == 0 and not stderr and scenario["name"] == name and "$schema" not in scenario, (name, stderr)
        # the pages and categories that the description names exist
        for page in re.findall(r"docs/\S+\.md", scenario["description"]):
            assert os.path.exists(os.path.join(ROOT, page)), (name, page)
        out = os.path.join(tmp, name)
        code, _, stderr = run("run", "-", "--quiet", "--out", out, stdin=text)
        assert code == 0 and not stderr and metrics(out)["status"] == "completed", (name, stderr)
    job = os.path.join(tmp, "job.json")
    assert run("new", "ring", "-o", job) == (0, "", "") and run("validate", job)[0] == 0
    beside = os.path.join(tmp, "job.csv")
    assert run("new", "diagnose", "-o", job) == (0, f"with its data: {beside}\n", "")
    assert os.path.exists(beside)  # docs_pages diagnoses it
    for words, text in {("rings",): 'did you mean "ring"?', ("../incast",): "there is no", ("quantum",): "collwire new lists what there is",
                        ("ring", "llm"): "takes one name"}.items():
        code, stdout, stderr = run("new", *words)
        assert code == 2 and not stdout and text in stderr and stderr.count("\n") == 1, (words, stderr)
    code, stdout, stderr = run("new", COLLWIRE_SHARE=tmp)
    assert code == 2 and not stdout and "make install" in stderr, stderr


def check_installed(tmp):
    """An installed program finds its starts; scenarios, their schema and the pages are beside it."""
    prefix = os.path.join(tmp, "prefix")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
    for name in ("share/collwire/scenarios/schema.json", "share/collwire/scenarios/incast.json", "share/doc/collwire/README.md",
                 "share/doc/collwire/docs/plugins.md", "share/doc/collwire/docs/pictures/report.png"):
        assert os.path.exists(os.path.join(prefix, name)), name
    program = os.path.join(prefix, "bin", "collwire")
    assert run("new", program=program)[1] == run("new")[1]
    assert run("validate", os.path.join(prefix, "share/collwire/scenarios/incast.json"), program=program)[0] == 0


def check_policy(tmp):
    """run --cc gives the results of the policy in the scenario; stdin works too, and there is only one policy."""
    def result(name, *words, stdin=None):
        out = os.path.join(tmp, name)
        code, _, stderr = run("run", *words, "--quiet", "--out", out, stdin=stdin)
        assert code == 0 and not stderr, stderr
        return metrics(out)
    by_set = result("set", INCAST, "--set", "cc.kind=dcqcn")
    assert result("cc", INCAST, "--cc", "dcqcn") == by_set and by_set["cnps"] > 0
    with open(INCAST, encoding="utf-8") as file:
        assert result("stdin", "-", "--cc", "dcqcn", stdin=file.read()) == by_set
    settings = result("settings", INCAST, "--cc", "dcqcn:scaled{rate_ai=10Mbps,ack_interval=4}", "--set", "switch.buffer=8MB")
    assert settings["scenario"]["cc"]["preset"] == "scaled" and settings["scenario"]["cc"]["rate_ai"] == "10Mbps"
    assert settings["scenario"]["transport"]["ack_interval"] == 4 and settings["scenario"]["switch"]["buffer"] == "8MB"
    assert "hpcc" in run("validate", INCAST, "--cc", "hpcc", "--print")[1]
    out = os.path.join(tmp, "none")
    for policy, text in {"dcqcn,none": "collwire compare runs several", "all": "collwire compare runs several",
                         "dcqnc": 'did you mean "dcqcn"?', "dcqcn{rate_ia=1}": 'did you mean "rate_ai"?', "cubic": "cubic"}.items():
        code, stdout, stderr = run("run", INCAST, "--cc", policy, "--out", out)
        assert code == 2 and not stdout and text in stderr and not os.path.exists(out), (policy, stderr)


def check_search():
    code, stdout, stderr = run("list", "--search", "HEADROOM")
    assert code == 0 and not stderr and stdout.startswith("  switch: pfc.headroom"), stdout
    lines = run("list", "--search", "dcqcn")[1]
    assert lines.startswith("  cc dcqcn ") and lines.count("\n  start ") == 0
    names = [line for line in run("list", "--search", "start")[1].splitlines() if ": start " in line]
    assert len(names) == len(set(names)) and sum(": start " in line and line.startswith("  workload") for line in names) <= 3, names
    code, stdout, stderr = run("list", "switch", "buffer")
    assert code == 0 and not stderr and stdout.startswith("  switch: buffer ") and "default auto" in stdout, stdout
    assert run("list", "dcqcn")[:2] == run("list", "cc", "dcqcn")[:2]
    assert run("list", "buffer")[1].startswith("  switch: buffer ")
    for words, text in {("switch", "bufer"): 'unknown switch "bufer"; did you mean "buffer"?',
                        ("bufer",): 'did you mean "buffer"?', ("--search", "bufer"): 'did you mean "buffer"?',
                        ("--search", "qwertz"): 'nothing has "qwertz"', ("--search", ""): "nothing has"}.items():
        code, stdout, stderr = run("list", *words)
        assert code == 2 and not stdout and text in stderr and stderr.count("\n") == 1, (words, stdout, stderr)


def check_pipes(tmp):
    """A reader that goes away is no error; a full disk is."""
    new_run = ["run", INCAST, "--out", os.path.join(tmp, "piped")]
    for words in (["list"], ["list", "metrics"], ["help", "run"], ["generate", "man"], ["generate", "schema"], new_run,
                  ["new"], ["list", "--search", "e"], ["validate", INCAST, "--print"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([COLLWIRE, *words], stdout=writer, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False)
        os.close(writer)
        assert done.returncode == 0 and "could not be written" not in done.stderr, (words, done.stderr)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([COLLWIRE, *words], stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False)
        assert done.returncode == 1 and "stdout could not be written" in done.stderr, (words, done.stderr)
    assert metrics(new_run[-1])["status"] == "completed"


def check_demo(tmp):
    """make demo without the charts' template: the tables, one line instead of each page, and exit code 0."""
    folder = os.path.join(tmp, "demo")
    os.mkdir(folder)
    os.symlink(os.path.join(ROOT, "scenarios"), os.path.join(folder, "scenarios"))
    for share, missing in ((folder, 2), (os.path.join(BUILD, "share", "collwire"), 0)):
        done = subprocess.run(["sh", os.path.join(ROOT, "cmake", "demo.sh"), COLLWIRE], capture_output=True, text=True, cwd=folder,
                              env={**ENVIRONMENT, "COLLWIRE_SHARE": share}, check=False)
        messages = [line for line in done.stderr.splitlines() if "report" in line]
        assert done.returncode == 0 and len(messages) == missing, done.stderr
        assert all("no report.html" in line and "is missing" in line for line in messages), messages
        assert done.stdout.count("policy ") == 2 and done.stdout.count("results: out/demo") == 2, done.stdout
        assert done.stdout.count("report: out/demo") == 2 - missing, done.stdout


def check_waiting(tmp):
    """A run that is cut off says once what several groups of ranks wait for."""
    out = os.path.join(tmp, "cut")
    code, stdout, _ = run("run", "-", "--set", "limits.sim_time=100us", "--out", out, stdin=run("new", "llm")[1])
    waiting = metrics(out)["waiting"]
    assert code == 1 and len(waiting) == len(set(waiting)), waiting
    assert waiting[0].endswith("reduce_scatter (in 2 groups of ranks)"), waiting[0]
    assert stdout.count("collective layer0") == 1, stdout


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for check in (check_new, check_installed, check_policy, check_search, check_pipes, check_demo, check_waiting):
            try:
                check(*[tmp][:check.__code__.co_argcount])
                print(check.__name__)
            except AssertionError as error:
                failed += 1
                print(f"FAILED: {check.__name__}, line {error.__traceback__.tb_next.tb_lineno}: {error}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
