#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden runs: what commands print and write, byte by byte, against recorded files.

usage: check_golden.py [--first] [CASE...], with the executable in $COLLWIRE; default: every case, and
after --first until one differs.

A case is a folder here. Its file `commands` has lines `LABEL: ARGUMENTS...` of collwire, run inside
the folder; {out} stands for a new, empty output directory. want/LABEL.txt holds exit code, stdout
and stderr, want/LABEL/ the files that were written, with three exceptions: of metrics.json the
resolved scenario is left out (it must equal what `validate --print` says), run.json depends on the
machine and is checked for consistency, and a capture is recorded as a text of its packets.
REGEN=1 in the environment records anew (`make regen`); the difference is then to be read like any other change.
"""
import difflib
import hashlib
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "net", "capture"))
import pcapng  # noqa: E402

COLLWIRE = os.environ["COLLWIRE"]
# Without charts, so that it does not matter whether this build has them.
ENVIRONMENT = {"LC_ALL": "C", "PATH": os.environ.get("PATH", ""), "COLLWIRE_SHARE": os.path.join(HERE, "no-charts")}
LINES_SHOWN = 40


def collwire(case, words):
    return subprocess.run([COLLWIRE, *words], cwd=os.path.join(HERE, case), capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=20, env=ENVIRONMENT,
                          check=False)


def commands(case):
    with open(os.path.join(HERE, case, "commands"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                label, words = line.split(":", 1)
                yield label, shlex.split(words)


# ---- files that are not recorded byte by byte ----


def resolved(case, words):
    """The scenario of a run as `validate --print` shows it."""
    kept = [words[1]]
    for at in range(2, len(words) - 1):
        if words[at] in ("--set", "--seed"):
            kept += words[at:at + 2]
    return json.loads(collwire(case, ["validate", "--print", *kept]).stdout)


def metrics_text(case, words, text):
    """metrics.json up to its last key, the scenario."""
    head, found, _ = text.partition('\n "scenario": ')
    if not found:
        return text
    if words[0] == "run" and json.loads(text)["scenario"] != resolved(case, words):
        head += '\n "scenario": (differs from validate --print)'
    return head + "\n"


def files_wrong(run, folder):
    """Files listed in run.json whose size or hash differs from the list."""
    for file in run["files"]:
        with open(os.path.join(folder, file["name"]), "rb") as opened:
            data = opened.read()
        if (len(data), hashlib.sha256(data).hexdigest()) != (file["bytes"], file["sha256"]):
            yield f"bytes or sha256 of {file['name']}"


def machine_wrong(run):
    """Impossible values in run.json: rates, times, memory."""
    cpu = max(run["cpu_s"], 1e-9)
    for key in ("events", "packet_hops"):
        if abs(run[key + "_per_s"] - run[key] / cpu) > 1 + 1e-6 * run[key + "_per_s"]:
            yield f"{key}_per_s is not {key} / cpu_s"
    if not 0 < run["wall_s"] < 60 or not 0 <= run["cpu_s"] < 60:
        yield "wall_s or cpu_s is not the time of a short run"
    if not 1 << 20 < run["peak_rss_bytes"] < min(2 << 30, run["memory_limit_bytes"]):
        yield "peak_rss_bytes is not a process's"
    if not 0 < run["events"] < 10 * run["packet_hops"] + 10000:
        yield "events do not go with packet_hops"
    if not all(re.fullmatch(r".*\d+\.\d+.*", v) for v in run["versions"].values()):
        yield "versions without a number"


def run_text(text, folder):
    """run.json: values that depend on the machine are checked for consistency, the others returned."""
    run = json.loads(text)
    wrong = [*files_wrong(run, folder), *(machine_wrong(run) if "cpu_s" in run else ())]
    if not re.fullmatch("[0-9a-f]{32}", run["id"]):
        wrong.append("id")
    kept = {key: run[key] for key in ("packet_hops", "captures") if key in run}
    return json.dumps({"keys": list(run), "versions": list(run.get("versions", ())), "wrong": wrong,
                       **kept, "files": [file["name"] for file in run["files"]]}, indent=1) + "\n"


def capture_text(data):
    """A pcap of nanoseconds: header, then time, length and bytes of each packet."""
    header = struct.unpack_from("<IHHiIII", data)
    lines = ["pcap " + " ".join(f"{word:#x}" for word in header)]
    at = 24
    while at < len(data):
        seconds, ns, kept, length = struct.unpack_from("<IIII", data, at)
        packet = data[at + 16:at + 16 + kept]
        lines.append(f"{seconds}.{ns:09d} {length} {packet.hex()}")
        at += 16 + kept
    return "\n".join(lines) + "\n"


def pcapng_text(path):
    """The interfaces and names of a pcapng file, and what it says of each packet beside its bytes."""
    shown = pcapng.read(path)
    lines = [shown.application] + [f"interface {json.dumps(i)}" for i in shown.interfaces]
    lines += [f"name {address.hex()} {name}" for address, name in shown.names.items()]
    for p in shown.packets:
        facts = {} if p.facts is None else dict(vars(p.facts), flags=sorted(p.facts.flags))
        lines.append(f"{p.ns} {p.interface} {'out' if p.outbound else 'in'} {p.length} {len(p.data)} id {p.ident:x} "
                     f"queue {p.queue} {json.dumps(facts)} {json.dumps(p.comments)}")
    return "\n".join(lines) + "\n"


def file_text(case, words, path):
    if path.endswith((".pcapng", ".pcapng.gz")):
        return pcapng_text(path)
    with open(path, "rb") as file:
        data = file.read()
    name = os.path.basename(path)
    if name.endswith(".pcap"):
        return capture_text(data)
    if name == "metrics.json":
        return metrics_text(case, words, data.decode())
    return run_text(data.decode(), os.path.dirname(path)) if name == "run.json" else data.decode()


def is_run_of_comparison(words, inside):
    """The figures are in compare.json; `run` cases record complete runs."""
    return words[0] == "compare" and os.sep in inside


# ---- cases ----


def results(case):
    """{file below want/: text} of all commands of a case."""
    found = {}
    for label, words in commands(case):
        with tempfile.TemporaryDirectory() as tmp:
            out = os.path.join(tmp, "out")
            done = collwire(case, [word.replace("{out}", out) for word in words])
            text = f"exit {done.returncode}\n---- stdout\n{done.stdout}---- stderr\n{done.stderr}"
            found[label + ".txt"] = text.replace(out, "{out}").replace(COLLWIRE, "collwire")
            for folder, _, names in os.walk(out):
                for name in sorted(names):
                    path = os.path.join(folder, name)
                    inside = os.path.relpath(path, out)
                    text = "not recorded\n"
                    if not is_run_of_comparison(words, inside):
                        text = file_text(case, words, path).replace(out, "{out}")
                    found[os.path.join(label, inside)] = text
    return found


def recorded(want):
    found = {}
    for folder, _, names in os.walk(want):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", newline="") as file:
                found[os.path.relpath(path, want)] = file.read()
    return found


def record(want, found):
    shutil.rmtree(want, ignore_errors=True)
    for name, text in found.items():
        path = os.path.join(want, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)


def differences(case, want, found):
    """How many files differ, after showing the first lines."""
    count = 0
    for name in sorted(set(want) | set(found)):
        old, new = want.get(name), found.get(name)
        if old == new:
            continue
        count += 1
        print(f"{case}/want/{name}: {'new' if old is None else 'missing' if new is None else 'differs'}")
        lines = difflib.unified_diff((old or "").splitlines(), (new or "").splitlines(), "recorded",
                                     "now", n=2, lineterm="")
        for line, _ in zip(lines, range(LINES_SHOWN)):
            print("  " + line)
    return count


def main():
    update = "REGEN" in os.environ
    first = "--first" in sys.argv
    cases = [word for word in sys.argv[1:] if word != "--first"] or sorted(
        name for name in os.listdir(HERE) if os.path.exists(os.path.join(HERE, name, "commands")))
    wrong = 0
    for case in cases:
        if wrong and first:
            break
        want, found = os.path.join(HERE, case, "want"), results(case)
        if update:
            record(want, found)
        else:
            wrong += differences(case, recorded(want), found)
    if wrong:
        print(f"{wrong} files differ. Where that is meant, `make regen` records them anew.")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
