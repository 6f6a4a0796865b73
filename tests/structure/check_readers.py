#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every file of a user is opened by engine/regular_file.c, which takes regular files only (a FIFO would wait for ever),
and every reader of such files has a fuzz target, or its reason here. The lists are drawn from the sources, so a new
reader fails this test until it is in the table. Alone this shows it; under a second. usage: check_readers.py ROOT"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
OPENER = "engine/regular_file.c"
SKIPPED = ("tests", "examples", "build", ".git", "out", "mpi_build")

# What opens files otherwise, and why that is no file of a user.
OTHERWISE = {
    "cli/extcap/capture.c": "the FIFO that Wireshark waits at, to write, and a folder",
    "cli/extcap/install.c": "a file of Wireshark's folder, which is seen to be regular first",
    "cli/new.c": "a template of the installation",
    "cli/processes/fingerprint.c": "the program itself",
    "cli/results/folder.c": "files of a set of results, not followed and not waited for",
    "cli/results/page_template.c": "a folder of the installation",
    "cli/results/result_journal.c": "the journal of a set of results",
    "cli/results/result_set.c": "folders and the lock of a set of results",
    "cli/runs/browser.c": "/dev/null, and a file of its own folder",
    "cli/runs/plot.c": "files of its own folder",
    "engine/memory.c": "/proc",
    "library/machine_memory.c": "/proc and /sys",
    "profile/nsys.c": "SQLite opens by name, after regular_file_open()",
    "study/store.c": "the store of a sweep, which SQLite makes",
}

# Readers: what calls the opener, or one of its wrappers of config/text and replay; and the fuzz target of what they read.
READERS = {
    "cc/plugin/policies.c": "a digest of a file that the loader has opened",
    "cli/extcap/list.c": "fuzz_scenario",
    "cli/nccl/nccl_log.c": "fuzz_nccl_log",
    "cli/plan/packets.c": "lines of JSON, by jansson: another line than its own is ignored",
    "cli/runs/report_page.c": "results of this program; tests/report has what is not",
    "config/algorithm/xml_file.c": "fuzz_xml",
    "config/draft.c": "fuzz_scenario",
    "config/foreign/astra_network.c": "fuzz_astra_network",
    "config/foreign/astra_system.c": "fuzz_astra_system",
    "config/foreign/astra_workload.c": "fuzz_astra_workload",
    "config/import_chakra.c": "fuzz_import",
    "config/job/cdf_file.c": "fuzz_cdf",
    "config/job/cnn_file.c": "fuzz_cnn",
    "config/job/flow_file.c": "fuzz_flows",
    "config/job/gemm_file.c": "fuzz_gemm",
    "config/job/program_nodes.c": "fuzz_scenario",
    "config/object/graph_file.c": "fuzz_graph",
    "config/scenario.c": "fuzz_scenario",
    "config/text/json_file.c": "fuzz_scenario",
    "config/text/text_file.c": "fuzz_flows",
    "config/text/yaml_file.c": "fuzz_import",
    "profile/nsys.c": "fuzz_profile",
    "profile/pieces.c": "fuzz_profile",
    "profile/scenario.c": "fuzz_scenario",
    "replay/address_map.c": "fuzz_replay",
    "replay/input.c": "fuzz_replay",
    "replay/packets.c": "fuzz_replay",
    "study/point_hash.c": "a digest of what other readers have read",
    "workload/chakra/groups.c": "fuzz_traces",
    "workload/chakra/record.c": "fuzz_chakra",
    "workload/goal/goal_file.c": "fuzz_goal",
    "workload/nodes/input.c": "no file: its function has the name of the one of replay/",
}
# Given files that other commands read into the same readers' structures.
ALSO = {"cli/partition/operator_file.c": "fuzz_operators"}

OPENS = re.compile(r"\b(?:fopen\([^;]*?\"r|(?<![\w>.])open(?:at)?\([^;]*?O_RD|sqlite3_open|json_load_file|pcap_open_offline|gzopen)", re.S)
CALLS = re.compile(r"\b(?:regular_file_(?:open|stream)|file_read|json_file_read|yaml_file_read|input_open|text_file_\w+)\(")
COMMENTS = re.compile(r"//.*|/\*.*?\*/")


def sources():
    for folder, names, files in os.walk(ROOT):
        names[:] = [name for name in names if name not in SKIPPED and not name.startswith("build")]
        for name in files:
            if name.endswith(".c"):
                path = pathlib.Path(folder, name)
                yield str(path.relative_to(ROOT)), COMMENTS.sub("", path.read_text(encoding="utf-8"))


def main():
    failures, opens, readers = [], set(), set()
    for name, text in sources():
        if name == OPENER:
            continue
        if OPENS.search(text):
            opens.add(name)
        if CALLS.search(text):
            readers.add(name)
    for found, listed, what in ((opens, OTHERWISE, "opens a file to read beside engine/regular_file.c"),
                                (readers, READERS, "reads files and has no fuzz target here")):
        failures += [f"{name} {what}" for name in sorted(found - set(listed))]
        failures += [f"{name} is listed, but does not" for name in sorted(set(listed) - found)]
    run = (ROOT / "tests/fuzz/run.sh").read_text(encoding="utf-8")
    for name, target in {**READERS, **ALSO}.items():
        if not target.startswith("fuzz_"):
            continue
        if not (ROOT / f"tests/fuzz/{target}.c").exists():
            failures.append(f"{name}: there is no tests/fuzz/{target}.c")
        if not re.search(rf"\b{target[5:]}\b", run):
            failures.append(f"{target} is not run by tests/fuzz/run.sh")
        if not list((ROOT / "tests/fuzz/corpus" / target[5:]).glob("*")):
            failures.append(f"{target} has no corpus")
    print("\n".join(failures) or f"{len(readers)} readers, {len(opens)} files that open otherwise: as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
