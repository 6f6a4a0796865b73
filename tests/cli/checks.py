# SPDX-License-Identifier: MIT
"""What checks of a command share: the program, files of a folder, and what did not hold."""
import json
import os
import subprocess

COLLWIRE = os.path.abspath(os.environ.get("COLLWIRE", "build/collwire"))
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def write(folder, name, value):
    """The path of a file with a text, or with JSON."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(value if isinstance(value, str) else json.dumps(value))
    return path


def call(*words):
    return subprocess.run([COLLWIRE, *words], capture_output=True, text=True, check=False)
