#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files are opened for reading by engine/base/regular_file.h alone, and every reader has a fuzz target or a reason.

A file that is opened in another way may be a FIFO, which blocks for ever, or a device without an end; a reader without a
fuzz target is one whose input nobody has mutated. Only this test finds a new one. usage: check_readers.py SOURCES
"""
import pathlib
import re
import sys

OPENERS = {"engine/base/regular_file.c", "engine/database/database.c"}
STORE = "report/study/store.c"  # opens its database for writing, too, after regular_file_open() has looked at it
READS = re.compile(r"\b(regular_file_(?:open|open_at|stream)|database_open|input_open|pieces_open|file_read|json_file_read|yaml_file_read|"
                   r"text_file_load|draft_read|folder_read|flow_file_read|trace_begin|trace_next)\s*\(")
OPENS = re.compile(r"(?<![\w.>])(fopen|fopen64|freopen|open|open64|openat|openat2|gzopen|gzopen64|sqlite3_open|sqlite3_open16|sqlite3_open_v2|pcap_open_offline\w*|"
                   r"json_load_file|xmlReadFile|popen|fmemopen)\s*\(")
ROOMS_OF_OTHERS = {"build", "tests", "docs", "python", "examples", "include", "scenarios", "studies"}
# calls of readers of traces, which are one reader with record.c
TRACES = {"workload/trace/trace.c", "workload/chakra/check.c", "workload/chakra/read_chakra.c"}


def arguments(text, at):
    """The text between the bracket that ends at `at` and its partner."""
    depth, end = 1, at
    while depth > 0:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return text[at:end - 1]


def may_open(call, given):
    """Whether a call opens a file to write it, a folder, or nothing at all."""
    if call in ("fopen", "fopen64", "freopen"):
        mode = re.search(r',\s*"([^"]*)"', given)
        return mode is not None and mode.group(1)[0] in "wa"
    if call in ("open", "open64", "openat"):
        return "O_DIRECTORY" in given or ("O_WRONLY" in given or ("O_RDWR" in given and ("O_CREAT" in given or '"/dev/null"' in given)))
    return False


def main():
    root = pathlib.Path(sys.argv[1])
    problems, readers = [], set()
    table = {}
    for line in (root / "tests/fuzz/readers.txt").read_text(encoding="utf-8").splitlines():
        words = line.split(maxsplit=2)
        if not words or words[0].startswith("#"):
            continue
        if words[0] in table:
            problems.append(f"readers.txt: {words[0]} is listed twice")
        table[words[0]] = words[1]
        if words[1] == "-" and len(words) < 3:
            problems.append(f"readers.txt: {words[0]} has no target and no reason")
    sources = [path for path in root.glob("*/**/*.c") if path.relative_to(root).parts[0] not in ROOMS_OF_OTHERS]
    if len(sources) < 500 or "engine/base/regular_file.c" not in {str(path.relative_to(root)) for path in sources}:
        problems.append(f"{len(sources)} sources in {root}: these are not all")
    for path in sources:
        name = str(path.relative_to(root))
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for match in OPENS.finditer(text):
            call, given = match.group(1), arguments(text, match.end())
            if name in OPENERS or may_open(call, given) or (name == STORE and call == "sqlite3_open_v2" and "regular_file_open" in text):
                continue
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"{name}: {call}({given}) near line {line} opens a file for reading: use engine/base/regular_file.h")
        calls = [match for match in READS.finditer(text) if not re.search(r"\w[\w *]*$", text[text.rfind("\n", 0, match.start()) + 1:match.start()])
                 or re.search(r"\b(return|else)\s+$", text[:match.start()])]
        if calls and name not in TRACES:
            readers.add(name)
    for name in sorted(readers - set(table)):
        problems.append(f"{name} reads a file: name it and its fuzz target in tests/fuzz/readers.txt")
    for name in sorted(name for name, target in table.items() if target == "-" and name not in readers and name not in OPENERS):
        problems.append(f"readers.txt: {name} reads no file")
    for name in sorted(name for name in table if not (root / name).exists()):
        problems.append(f"readers.txt: {name} does not exist")
    targets = {path.stem.removeprefix("fuzz_") for path in (root / "tests/fuzz").glob("fuzz_*.c")}
    for target in sorted(set(table.values()) - {"-"} - targets):
        problems.append(f"readers.txt: there is no tests/fuzz/fuzz_{target}.c")
    for target in sorted(targets - set(table.values()) - {"roce", "tcp", "uec", "mrc"}):
        problems.append(f"tests/fuzz/fuzz_{target}.c is in no line of readers.txt, so it is never run")
    for target in sorted(targets):
        if not list((root / "tests/fuzz/corpus" / target).glob("*")):
            problems.append(f"tests/fuzz/corpus/{target} is empty: nothing of its input is known")
    for problem in problems:
        print(problem)
    print(f"{len(sources)} sources, {len(readers)} read files, {len(targets)} fuzz targets")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
