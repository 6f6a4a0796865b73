#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README.md shows what the program prints: the demo, the answer to read, the smallest scenario; its links lead
somewhere, and its commands exist.

usage: check_readme.py ROOT, with the executable in $COLLWIRE.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT, COLLWIRE = os.path.abspath(sys.argv[1]), os.path.abspath(os.environ["COLLWIRE"])
failures = []


def expect(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def shown(text):
    """Without the lines that depend on whether the charts are built."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith("report:")]


def printed(*words, cwd):
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd=cwd).stdout


def record(folder):
    """Write the outputs into README.md anew (REGEN=1), where the charts are built."""
    os.environ.pop("COLLWIRE_SHARE", None)
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()

    def again(match):
        command, _ = match.group(1).split("\n", 1)
        if command.startswith("$ collwire compare"):
            demo = printed("sh", os.path.join(ROOT, "cmake", "demo.sh"), COLLWIRE, cwd=folder).strip()
            return f"```\n{demo}\n```" if "\nreport:" in demo else match.group(0)
        return f"```\n{command}\n{printed(COLLWIRE, *command.split()[2:], cwd=folder)}```"

    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^```\n(\$ collwire .*?)^```$", again, text, flags=re.M | re.S))


def main():
    if "REGEN" in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(ROOT, "scenarios"), os.path.join(folder, "scenarios"))
            record(folder)
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        text = file.read()
    blocks = re.findall(r"^```(?:json|sh)?\n(.*?)^```$", text, re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(ROOT, "scenarios"), os.path.join(folder, "scenarios"))
        demo = next(b for b in blocks if b.startswith("$ collwire compare"))
        expect(shown(demo) == shown(printed("sh", os.path.join(ROOT, "cmake", "demo.sh"), COLLWIRE, cwd=folder)),
               "the output of make demo")
        answer = next(b for b in blocks if b.startswith("$ collwire run"))
        command, rest = answer.split("\n", 1)
        expect(shown(rest) == shown(printed(COLLWIRE, *command.split()[2:], cwd=folder)), command)
        small = next(b for b in blocks if b.startswith("{"))
        with open(os.path.join(folder, "small.json"), "w", encoding="utf-8") as file:
            file.write(small)
        printed(COLLWIRE, "run", "small.json", cwd=folder)
    for link in re.findall(r"\]\(([^)#]+)\)|src=\"([^\"]+)\"", text):
        path = link[0] or link[1]
        expect("://" in path or os.path.exists(os.path.join(ROOT, path)), f"link to {path}")
    known = printed(COLLWIRE, "--help", cwd=ROOT)
    for name in set(re.findall(r"`collwire ([a-z]+)", text)):
        expect(re.search(rf"^  {name} ", known, re.M), f"command {name}")
    for path in set(re.findall(r"`(scenarios/[^`*]+)`", text)):
        expect(os.path.exists(os.path.join(ROOT, path)), f"scenario {path}")
    sys.exit(len(failures) > 0)


main()
