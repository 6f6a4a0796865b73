#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs in the format GOAL: times of small programs in closed form, and errors with their lines.

usage: check_goal.py"""
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")


def run(text, ranks, expected=None):
    """metrics.json of the program; or, with `expected`, check that each of its lines has one of these."""
    with tempfile.TemporaryDirectory() as folder:
        scenario, out = (os.path.join(folder, name) for name in ("s.json", "out"))
        with open(os.path.join(folder, "a.goal"), "w", encoding="utf-8") as stream:
            stream.write(text)
        with open(scenario, "w", encoding="utf-8") as stream:
            link = {"rate": "8Gbps", "delay": "500ns"}  # a byte takes 1 ns, two links 1 us
            json.dump({"name": "goal", "network": "analytical",
                       "topology": {"dims": [{"kind": "switch", "size": ranks, "link": link}]},
                       "workload": {"kind": "goal", "file": "a.goal"}}, stream)
        got = subprocess.run([COLLWIRE, "run", scenario, "--out", out, "--quiet"],
                             capture_output=True, text=True, check=False)
        if expected is None:
            assert got.returncode == 0, got.stderr
            with open(os.path.join(out, "metrics.json"), encoding="utf-8") as stream:
                return json.load(stream)
        lines = got.stderr.replace(folder + "/", "").splitlines()
        assert got.returncode == 2 and not os.path.exists(out), got
        assert len(lines) == len(expected), (expected, lines)
        for line, part in zip(lines, expected):
            assert part in line, (part, line)
    return None


def finish(text, ranks=1):
    return [r["finish_ns"] for r in run(f"num_ranks {ranks}\n{text}", ranks)["ranks"]]


def times():
    assert finish("rank 0 { calc 100 }") == [100]
    assert finish("rank 0 {\na: calc 100\nb: calc 20\n}") == [120]  # one at a time on a cpu
    assert finish("rank 0 {\na: calc 100\nb: calc 20 cpu 1\n}") == [100]
    assert finish("rank 0 {\nb requires a\na: calc 100\nb: calc 20 cpu 1\n}") == [120]
    assert finish("rank 0 {\na: calc 100; b: calc 20 cpu 1; b irequires a }") == [100]
    # c starts when b starts, and b when a has ended
    assert finish("rank 0 { a: calc 100; b: calc 50; c: calc 200 cpu 1; c irequires b }") == [300]
    # b starts as soon as a does, although it has the same cpu as c before it
    assert finish("rank 0 { a: calc 10\n b: calc 30\n c: calc 100\n d: calc 5 cpu 1\n"
                  "d irequires c }") == [140]
    # a message of 1000 bytes takes 2000 ns; its send ends then, too
    exchange = "rank 0 { s: send 1000b to 1 tag 7 }\nrank 1 { calc %d; r: recv 1000b from 0 tag 7 }"
    assert finish(exchange % 5, 2) == [2000, 2000]
    assert finish(exchange % 5000, 2) == [2000, 5000]
    ping = ("rank 0 { a: send 8b to 1 tag 1\nb: recv 8b from 1 tag 2 }  // and back\n"
            "/* the other\n rank */ rank 1 { a: recv 8b from 0 tag 1 # waits\n"
            "b: send 8b to 0 tag 2 nic 0 cpu 0\nb requires a }")
    assert finish(ping, 2) == [2016, 2016]
    # ranks may come in any order, and may have nothing to do
    assert finish("rank 2 { calc 7 }\nrank 0 { calc 9 }", 3)[::2] == [9, 7]


def errors():
    def wrong(text, *expected, ranks=2):
        run(text, ranks, expected)
    wrong("", 'a.goal, line 1: "" where "num_ranks" is expected')
    wrong("num_ranks 3\n", "a.goal, line 1: the program has 3 ranks, but the job has 2")
    wrong("num_ranks 2\nrank 2 { }", 'line 2: rank "2" must be a whole number from 0 to 1')
    wrong("num_ranks 2\nrank 0 { }\nrank 0 { }", "line 3: rank 0 is listed twice")
    wrong("num_ranks 2\nrank 0 {\na: calc 1", "line 2: the file ends in rank 0, which begins here")
    wrong("num_ranks 2\nrank 0 {\na: jump 1 }", 'line 3: "jump" is not an operation')
    wrong("num_ranks 2\nrank 0 {\na: calc fast }", 'line 3: time "fast" must be a whole number')
    wrong("num_ranks 2\nrank 0 {\na: calc -3 }", 'line 3: time "-3" must be a whole number')
    wrong("num_ranks 2\nrank 0 {\na: send 10k to 1 }", 'line 3: size "10k" must be a whole number with')
    wrong("num_ranks 2\nrank 0 {\na: send 10b 1 }", 'line 3: "1" where "to" is expected')
    wrong("num_ranks 2\nrank 0 {\na: send 10b to 0 }", "line 3: rank 0 sends a message to itself")
    wrong("num_ranks 2\nrank 0 {\na: calc 1\na: calc 1 }", 'two operations with the label "a"')
    wrong("num_ranks 2\nrank 0 {\nb requires a\na: calc 1\n}\nrank 1 {\na: calc 1\na requires c }",
          'line 3: rank 0 has no operation with the label "b"',
          'line 8: rank 1 has no operation with the label "c"')
    wrong("num_ranks 2\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}",
          "rank 0: its nodes wait for each other in a cycle: ")
    wrong("num_ranks 2\nrank 0 {\n\n\na: send 8b to 1 tag 3\n}", "rank 0, node 5: no receive with tag 3")
    wrong("num_ranks 2\nrank 0 { " + "x" * 300 + ": calc 1 }", "a word is longer than 255 characters")


times()
errors()
print("all as expected")
sys.exit(0)
