# SPDX-License-Identifier: MIT
"""Reads what the sanitizers' runtime has written while a test of the Python package ran, and fails for every error, and for
memory that libcollwire allocated and nobody freed. What Python and its modules keep until the process ends is not ours.

usage: sanitizer_logs.py FOLDER
"""
import pathlib
import re
import sys

def findings(text):
    """The reports of a log that are about libcollwire: addresses in it, which addr2line -e turns into lines."""
    errors = [text] if re.search(r"ERROR: AddressSanitizer|runtime error:", text) else []
    leaks = [report for report in re.split(r"\n\n+", text) if re.match(r"(Direct|Indirect) leak of", report)]
    return errors + [report for report in leaks if "/libcollwire.so" in report]


def main():
    found = [report for file in sorted(pathlib.Path(sys.argv[1]).iterdir()) for report in findings(file.read_text(errors="replace"))]
    for report in found[:20]:
        print(report)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
