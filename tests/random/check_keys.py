#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every key of scenarios/schema.json is drawn by a generator of this folder, so that random scenarios know what has come
since they were written. Alone this shows it; some 8 s. usage: check_keys.py SEEDS"""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import aimed
import features
import generate
import schema_keys

# Keys that are not drawn, and what tries them.
ELSEWHERE = {
    "$schema": "for editors", "shrunk": "a word of collwire shrink; tests/cli", "source": "a text that is kept", "plugins": "tests/plugin loads policies of files",
    "job<program>.file": "tests/random/check_programs.py", "job<program>.nodes.id": "tests/random/check_programs.py",
    "job<chakra>.comm_groups": "tests/chakra, and the fuzz target of its reader",
}


def main():
    schema, drawn = generate.schema(), set()
    with tempfile.TemporaryDirectory() as name:
        for seed in range(1, int(sys.argv[1]) + 1):
            for generator in (generate, features) + ((aimed,) if seed < 50 else ()):
                drawn |= schema_keys.used_keys(schema, generator.scenario(seed, pathlib.Path(name)))
    known = schema_keys.all_keys(schema)
    missing = sorted(known - drawn - set(ELSEWHERE))
    stale = sorted(set(ELSEWHERE) - known)
    for key in missing:
        print(f"{key} is drawn by no generator of tests/random")
    for key in stale:
        print(f"{key} is no key any more")
    print(f"{len(known & drawn)} of {len(known)} keys drawn")
    return bool(missing or stale)


if __name__ == "__main__":
    sys.exit(main())
