# SPDX-License-Identifier: MIT
"""What the tests of the Python package share: the folders, and a way to interrupt a program."""
import atexit
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = pathlib.Path(os.environ.get("COLLWIRE_PYTHON", ROOT / "build" / "python"))  # where the build has the package
sys.path.insert(0, str(PYTHON))
from collwire import _catalogue, _library  # noqa: E402  pylint: disable=wrong-import-position

SCENARIOS = ROOT / "scenarios"
INCAST = SCENARIOS / "incast.json"
SANITIZED = os.environ.get("COLLWIRE_SANITIZED") == "ON"

if SANITIZED:  # the package keeps the catalogue of policies until the process ends, which would count as a leak
    atexit.register(lambda: _library.LIBRARY.collwire_policies_free(ctypes.c_void_p(_catalogue.HANDLE.__enter__())))

# Some 20 s of work: an all-to-all among 256 ranks.
LONG = {"name": "long", "topology": {"dims": [{"kind": "leaf_spine", "size": 256, "ranks_per_leaf": 16, "spines": 8}]},
        "workload": {"kind": "collective", "op": "all_to_all", "bytes": "512MB", "algorithm": "direct"}}


def interrupted(code, *arguments, within=None):
    """Run Python code that prints "running", interrupt it then, and return what it printed and how long it took to end: the
    least of three tries unless it was soon enough, since other programs may have the cores."""
    tries = []
    while not tries or len(tries) < 3 and within is not None and min(tries)[0] >= within:
        text, seconds = _interrupted(code, *arguments)
        tries.append((seconds, text))
    seconds, text = min(tries)
    return text, seconds


def _interrupted(code, *arguments):
    process = subprocess.Popen([sys.executable, "-u", "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, PYTHONPATH=str(PYTHON), ASAN_OPTIONS="detect_leaks=0:symbolize=0"))
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.strip() == "running":
                break
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        return "".join(lines) + rest, time.monotonic() - begin
    finally:
        process.kill()
        process.wait()


def command_line(*arguments):
    """Run the program; returns what it prints."""
    return subprocess.run([os.environ["COLLWIRE"], *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def read(*path):
    """A file of JSON."""
    return json.loads(pathlib.Path(*path).read_text(encoding="utf-8"))


def has(module):
    """True if a module is installed."""
    try:
        __import__(module)
        return True
    except ImportError:
        return False
