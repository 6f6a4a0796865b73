#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The list of messages of metrics.json is written as it is made: 52,416 messages need no more memory
than their records and the exact percentiles over them. A tree of JSON would take 4 KB a message.

usage: check_stream.py, with the executable in $COLLWIRE.
"""
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
RANKS, REPEAT = 64, 13
MESSAGES = RANKS * (RANKS - 1) * REPEAT
# 264 bytes a record and 16 for exact percentiles, in arrays that grow by doubling
BYTES_PER_MESSAGE = 2 * (264 + 16)


def peak(scenario, folder, flows_max):
    """Peak of the whole process and number of listed messages; run.json has the same peak."""
    process = subprocess.Popen([COLLWIRE, "run", scenario, "--out", folder, "--quiet", "--set",
                                f"report.flows_max={flows_max}"])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, status
    most = usage.ru_maxrss * 1024
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as stream:
        run = json.load(stream)
    with open(os.path.join(folder, "metrics.json"), encoding="utf-8") as stream:
        metrics = json.load(stream)
    assert metrics["flows_summary"]["count"] == MESSAGES, metrics["flows_summary"]
    assert 0.95 * most <= run["peak_rss_bytes"] <= most, (run["peak_rss_bytes"], most)
    return most, len(metrics["flows"])


def main():
    with tempfile.TemporaryDirectory() as tmp:
        scenario, out = os.path.join(tmp, "s.json"), os.path.join(tmp, "out")
        with open(scenario, "w", encoding="utf-8") as stream:
            json.dump({"name": "many", "topology": {"dims": [{"kind": "switch", "size": RANKS}]},
                       "transport": {"mtu": "4096B"},
                       "workload": {"kind": "collective", "op": "all_to_all",
                                    "algorithm": "direct", "bytes": "64KB", "repeat": REPEAT}},
                      stream)
        none, listed = peak(scenario, out, 0)
        assert listed == 0, listed
        every, listed = peak(scenario, out, MESSAGES)
        assert listed == MESSAGES, listed
    each = (every - none) / MESSAGES
    print(f"{MESSAGES} messages: {every / 1e6:.1f} MB, without records {none / 1e6:.1f} MB, "
          f"{each:.0f} bytes a message")
    sanitized = os.environ.get("COLLWIRE_SANITIZED", "OFF") == "ON"
    return 0 if sanitized or 200 < each < BYTES_PER_MESSAGE else 1


sys.exit(main())
