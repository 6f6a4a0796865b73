#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README.md and pages of docs/ show what the program prints, in a folder in which nothing ran before; the first output of
README.md is that of make demo. REGEN=1 writes the outputs anew. tests/docs/check_pages.py has the rest of README.md.

usage: check_readme.py ROOT, with the executable in $COLLWIRE.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT, COLLWIRE = os.path.abspath(sys.argv[1]), os.path.abspath(os.environ["COLLWIRE"])
DEMO = "$ collwire compare scenarios/collectives/rail.json --cc none,swift,hpcc,dcqcn"
PAGES = ("README.md", "docs/compare.md", "docs/sweeps.md", "docs/validate.md")
failures = []


def expect(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def shown(text):
    """Without the lines that name files, those that depend on whether the charts are built, and estimates."""
    return [line.rstrip() for line in text.splitlines()
            if line.strip() and not re.match(r"(report|results|estimate): |\d+ of \d+ points: |[\d.e+]+ packets and their ACKs|up to .* of output", line)]


def printed(*words, cwd):
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd=cwd).stdout


def output(command, page, folder):
    """What a command of a page prints; the first of README.md is that of make demo."""
    if command == DEMO:
        return printed("sh", os.path.join(ROOT, "cmake", "demo.sh"), COLLWIRE, cwd=folder).strip() + "\n"
    if "--draws" in command and page == "README.md":  # of which README.md shows the end
        return f"{command}\n...\n" + printed(COLLWIRE, *command.split()[2:], cwd=folder).split("\n\n", 1)[1]
    if "|" in command:
        return f"{command}\n" + printed("sh", "-c", command.replace("$ collwire", f"'{COLLWIRE}'", 1), cwd=folder)
    return f"{command}\n" + printed(COLLWIRE, *command.split()[2:], cwd=folder)


def pages(folder):
    """Compare the outputs in the pages, or write them anew (REGEN=1), those of the demo where the charts are built."""
    update = "REGEN" in os.environ
    if update:
        os.environ.pop("COLLWIRE_SHARE", None)
    for name in PAGES:
        path = os.path.join(ROOT, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for block in re.findall(r"^```\n(\$ collwire .*?)^```$", text, re.M | re.S):
            now = output(block.split("\n", 1)[0], name, folder)
            if not update:
                expect(shown(block) == shown(now), f"{name}: {block.splitlines()[0]}")
            elif shown(block) != shown(now):
                text = text.replace(block, now)
        if update:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(ROOT, "scenarios"), os.path.join(folder, "scenarios"))
        pages(folder)
    sys.exit(len(failures) > 0)


main()
