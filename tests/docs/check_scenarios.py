#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every scenario that a page of docs/ shows as a whole is valid, but for files that the reader is to bring.

The pages whose blocks are run (check_pages.py) are few; the others show scenarios that nobody would try otherwise.

usage: check_scenarios.py ROOT, with the executable in $COLLWIRE.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```json\n(.*?)^```$", re.M | re.S)
BROUGHT = re.compile(r": No such file or directory$|cannot open \S+$|more ranks have no trace$")


def main():
    root = pathlib.Path(sys.argv[1])
    tried = failed = 0
    for page in sorted([*root.glob("docs/**/*.md"), root / "README.md"]):
        for text in BLOCK.findall(page.read_text(encoding="utf-8")):
            try:
                scenario = json.loads(text)
            except ValueError:
                continue  # a part of one
            if not isinstance(scenario, dict) or not {"topology", "workload"} <= set(scenario):
                continue
            tried += 1
            done = subprocess.run([os.environ["COLLWIRE"], "validate", "-", "--quiet"], input=text, text=True, timeout=100,
                                  capture_output=True, check=False, cwd=root / "docs")
            wrong = [line for line in done.stderr.splitlines() if not BROUGHT.search(line)]
            if done.returncode not in (0, 2) or wrong:
                failed += 1
                print(f"FAILED: {page.relative_to(root)}: {text[:60]!r}: {done.stderr}")
    print(f"{tried} scenarios, {failed} failed")
    return int(failed > 0 or tried < 15)


if __name__ == "__main__":
    sys.exit(main())
