#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The built template of reports and program of plots in report/web/built are those of the sources in report/web.

usage: check_template.py SOURCES sources    their digest is that of the sources
       check_template.py SOURCES BUNDLED    they have the bytes of what `cmake --build DIR --target report-bundle`
                                            has made in the folder BUNDLED; skipped where that has not run
"""
import hashlib
import os
import re
import sys

SKIPPED = 77
BUILT = ("report-template.html", "report-plot.js")


def content(*names):
    with open(os.path.join(*names), "rb") as file:
        return file.read()


def digest(web):
    names = ["build.mjs", "package-lock.json", "package.json", "page.html", "style.css"]
    for folder, _, files in os.walk(os.path.join(web, "src")):
        names += [os.path.relpath(os.path.join(folder, name), web) for name in files]
    total = hashlib.sha256()
    for name in sorted(names):
        data = content(web, name)
        total.update(f"{name} {len(data)}\n".encode() + data)
    return total.hexdigest()


def check_sources(web):
    for name in BUILT:
        found = re.search(r"^(?:<!--|/\*) From report/web \(SHA-256 ([0-9a-f]{64})\)", content(web, "built", name).decode(), re.M)
        if not found or found.group(1) != digest(web):
            print(f"report/web/built/{name} is not of these sources: make report-assets, then commit it")
            return 1
    licences = content(web, "built", "LICENCES.txt").decode()
    missing = [text for text in ("Apache License", "Copyright 2017-2026 The Apache Software Foundation",
                                 "BSD 3-Clause License", "Copyright (c) Microsoft Corporation")
               if text not in licences]
    for text in missing:
        print(f"LICENCES.txt lacks {text!r}")
    return bool(missing)


def check_bundled(web, bundled):
    if not os.path.exists(os.path.join(bundled, "report-template.html")):
        print("skipped: the target report-bundle has not run (it needs npm)")
        return SKIPPED
    wrong = [name for name in (*BUILT, "LICENCES.txt")
             if content(web, "built", name) != content(bundled, name)]
    for name in wrong:
        print(f"report/web/built/{name} differs from what npm's packages make: make report-assets")
    return bool(wrong)


if __name__ == "__main__":
    WEB = os.path.join(sys.argv[1], "report", "web")
    sys.exit(check_sources(WEB) if sys.argv[2] == "sources" else check_bundled(WEB, sys.argv[2]))
