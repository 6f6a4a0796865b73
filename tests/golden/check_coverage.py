#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Everything that a user reads is in a golden run: every key of metrics.json with a value that is not null, zero or
empty, every column of comparisons likewise, every sentence of the explanations.

usage: check_coverage.py ROOT. Keys are those of docs/metrics.md, sentences those of sim/.
"""
import csv
import glob
import io
import json
import os
import re
import sys

ROOT = sys.argv[1]
WANT = os.path.join(ROOT, "tests", "golden", "*", "want")
# Output that takes too long for a golden run, with the test that covers it instead.
ELSEWHERE = {
    "%s (in %u groups of ranks)": "cli_first_steps",
    "wall clock limit of %g s reached": "cli_check",
    "out of memory: see limits.memory": "no test: no small run meets its limit",
    "an event has not returned for long (%s): please report it with the scenario and seed; these are the results "
    "within that event": "faults_spin_watchdog",
    "process %u does not answer any more; these are the results of the part of the network of process 0":
        "cli_processes",
    "the longest simulated time, %s, reached": "no test: it is 106 days",
    "it waits for earlier messages": "no test: a flow that is not sent has unacknowledged packets before it",
}
KEYS_ELSEWHERE = {
    "collectives[].critical.places_error_ns": "engine_critical_path",
    "slowest.places_error_ns": "engine_critical_path",
    "slowest.elsewhere_ns": "theory_critical_path",
    "programs[].shrunk": "cli_training",
    **dict.fromkeys(("thinned", "thinned.asked_ns", "thinned.step_ns", "thinned.queue_pairs",
                     "thinned.queue_pairs_left_out"), "report_thinned"),  # 2 million values
}


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def values_of(value, path, found):
    """Set found[path] = True if some value is not null, zero or empty."""
    if isinstance(value, dict):
        for key, inside in value.items():
            values_of(inside, f"{path}.{key}" if path else key, found)
    elif isinstance(value, list) and path not in ("training", "tcp", "admission"):
        path += "[]"
        for inside in value:
            values_of(inside, path, found)
    elif isinstance(value, list):
        for inside in value:
            values_of(inside, path, found)
    found[path] = found.get(path, False) or bool(value)


def shared(key):
    """The times by cause have one writer, wherever they stand."""
    return re.sub(r"^(flows\[\]\.time|collectives\[\]\.(phases\[\]\.)?critical\.parts|jobs\[\]\.slowest\.parts|"
                  r"slowest\.(iterations\[\]\.)?parts)\.", "parts.", key)


def keys_missing():
    page = read(os.path.join(ROOT, "docs", "metrics.md"))
    part = page.split("## metrics.json")[1].split("\n## ")[0]
    keys = re.findall(r"^\| `([^`]+)`", part, re.M)
    found = {}
    for path in glob.glob(os.path.join(WANT, "*", "metrics.json")):
        values_of(json.loads(read(path).rstrip().rstrip(",") + "}"), "", found)
    for key in list(found):
        found[shared(key)] = found.get(shared(key), False) or found[key]
    for key in keys:
        name = shared(re.sub(r"^(training|tcp|uec|admission)\[\]", r"\1", key))
        if key in KEYS_ELSEWHERE:
            continue
        if not (found.get(name) or found.get(name + "[]") or name == "scenario"):
            yield f"key {key}"


def columns_missing():
    page = read(os.path.join(ROOT, "docs", "metrics.md")).split("## Columns")[1]
    columns = re.findall(r"^\| [^|]+ \| `([^`]+)`", page, re.M)
    texts = [read(path) for path in glob.glob(os.path.join(WANT, "*.txt"))]
    texts = [text for text in texts if "\nscenario,policy," in text]
    found = set()
    for text in texts:
        table = text[text.index("scenario,policy,"):text.index("---- stderr")]
        for row in csv.DictReader(io.StringIO(table)):
            found |= {key for key, value in row.items() if value not in ("", "0")}
    return [f"column {key} (--format csv)" for key in columns if key not in found]


def sentences():
    """Format strings of explanations, reasons and descriptions of what waits."""
    for path in [*sorted(glob.glob(os.path.join(ROOT, "sim", "explain", "*.c"))), os.path.join(ROOT, "sim", "collect", "collect.c")]:
        source = read(path)
        for call in re.finditer(r'text_format\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', source):
            yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call.group(1)))
        for reason in re.findall(r'(?:return|\?|:) "([a-z][^"]{8,})"', source):
            yield reason


def sentences_missing():
    texts = set()
    for path in glob.glob(os.path.join(WANT, "*", "metrics.json")):
        metrics = json.loads(read(path).rstrip().rstrip(",") + "}")
        texts |= {*metrics["explain"], *metrics["waiting"], metrics["reason"] or ""}
        texts |= {setting for reason in metrics["reasons"] for setting in reason["set"] or []}
    # sentences are wrapped there
    texts |= {re.sub(r"\s+", " ", read(path)) for path in glob.glob(os.path.join(WANT, "*.txt"))}
    texts = sorted(texts, key=lambda text: (len(text), text))  # a sentence alone is found fastest
    for sentence in sentences():
        parts = re.split(r"(%%|%(?:\.\d)?(?:llu|zu|[usgf]))", sentence)
        words = "".join(re.escape(part) if i % 2 == 0 else ".{0,150}?" for i, part in enumerate(parts))
        pattern = re.compile(words.replace(r"\%\%", "%"))
        literal = max(parts[::2], key=len)  # most texts do not have it, and patterns are slow
        if sentence not in ELSEWHERE and not any(literal in text and pattern.search(text) for text in texts):
            yield f'sentence "{sentence}"'


def main():
    missing = [*keys_missing(), *columns_missing(), *sentences_missing()]
    for what in missing:
        print("in no golden run:", what)
    sys.exit(len(missing) > 0)


main()
