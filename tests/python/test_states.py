# SPDX-License-Identifier: MIT
"""Every public method and property of a class that owns a handle of the library, in every state, with arguments of every
kind: each call returns or raises an exception of Python, and none crashes the interpreter or waits for ever. Classes,
methods and parameters are found by looking, so that a new one cannot be forgotten. Alone this shows it; some 8 s."""
import inspect
import os
import pathlib
import re
import subprocess
import sys
import unittest

import common  # noqa: F401  pylint: disable=unused-import
import collwire as cw

PACKAGE = pathlib.Path(cw.__file__).parent
FREED = re.compile(r"lib\.(\w+)_free\(")
# What owns handles: freed inside one function (comparison.py), or by a class.
OWNERS = {"simulation.py": ["Simulation"], "comparison.py": []}

CHILD = r"""
import copy, faulthandler, inspect, json, os, pathlib, pickle, sys, tempfile, threading
import collwire as cw
faulthandler.dump_traceback_later(100, exit=True)
cls = getattr(cw, sys.argv[1])
SMALL = {"name": "small", "topology": {"dims": [{"kind": "switch", "size": 4}]},
         "workload": {"kind": "incast", "receiver": 0, "bytes": "20KB"}}
LONG = {**SMALL, "workload": {"kind": "incast", "receiver": 0, "bytes": "1000GB"}}
VALUES = [None, 2.0, 2**32 + 2, -1, 2**200, "a\0b", b"bytes", "\ud800", "", object(), [], {}, float("nan"), lambda *_: False]
RAISED = (TypeError, ValueError, OverflowError, AttributeError, OSError, cw.Error, cw.Cancelled)
calls = 0

def attempt(what, call):
    global calls
    calls += 1
    print(what, flush=True)
    try:
        return call()
    except RAISED as error:
        return error

def names():
    return [name for name in dir(cls) if not name.startswith("_")] + ["__enter__", "__exit__", "__copy__", "__reduce__"]

def uses(object):
    # Each public name: properties are read, methods called without arguments and with each value for each parameter.
    for name in names():
        if isinstance(inspect.getattr_static(cls, name, None), property):
            yield name, lambda name=name: getattr(object, name)
            continue
        yield name, lambda name=name: getattr(object, name)()
        for parameter in inspect.signature(getattr(cls, name)).parameters.values():
            if parameter.name == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            for value in VALUES:
                key = f"{name}({parameter.name}={value!a})"
                yield key, lambda name=name, p=parameter.name, value=value: getattr(object, name)(**{p: value})

def new():
    return cls(SMALL)

def running():
    one = cls(LONG)
    begun = threading.Event()
    def work():
        try:
            one.run(progress=lambda p: begun.set())
        except RAISED:
            pass
    threading.Thread(target=work, daemon=True).start()
    begun.wait(20)
    return one

def run():
    one = new()
    one.run()
    return one

def closed():
    one = new()
    one.close()
    return one

def left():
    with new() as one:
        pass
    return one

def apart(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for make in (new, running, run, closed, left):
        one = make()
        for i in range(len(list(uses(one)))):
            for where in ("", ", other thread"):
                if where and "(" in list(uses(one))[i][0]:
                    continue
                if make in (new, running):  # which the last call may have ended
                    one.close()
                    one = make()
                key, call = list(uses(one))[i]
                what = f"{make.__name__}{where}: {key}"
                if where:
                    apart(lambda: attempt(what, call))
                else:
                    attempt(what, call)
        one.close()
        one.close()
    for kind in (copy.copy, copy.deepcopy, pickle.dumps):
        one = new()
        result = attempt(kind.__name__, lambda: kind(one))
        assert isinstance(result, TypeError), result
        assert one.run().status == "completed"
    for value in VALUES:
        attempt(f"scenario {value!a}", lambda: cls(value))
        for parameter in ("set", "seed", "sharers"):
            attempt(f"{parameter} {value!a}", lambda: cls(SMALL, **{parameter: value}))
        attempt(f"path {value!a}", lambda: cls(SMALL, set={value if isinstance(value, str) else "seed": value}))
    one = new()
    child = os.fork()
    if child == 0:
        for key, call in uses(one):
            attempt(f"forked: {key}", call)
        del one
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert one.run().status == "completed"
    # one object in three threads: one run, two refusals
    one, ends = cls(SMALL), []
    def race():
        try:
            ends.append(one.run().status)
        except cw.StateError:
            ends.append("refused")
    threads = [threading.Thread(target=race) for _ in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sorted(ends) == ["completed", "refused", "refused"], ends
    # close() in another thread while four run
    many = [running() for _ in range(4)]
    for one in many:
        one.close()
    assert all(one._left.is_set() for one in many)
print("calls", calls)
"""


class States(unittest.TestCase):
    def test_owners(self):
        """What frees handles is listed above; a new module that does must be, with its classes."""
        found = {path.name for path in PACKAGE.glob("*.py") if FREED.search(path.read_text(encoding="utf-8"))}
        self.assertEqual(found, set(OWNERS))

    def test_every_use(self):
        for name in [name for names in OWNERS.values() for name in names]:
            self.assertTrue(inspect.isclass(getattr(cw, name)))
            options = dict(os.environ, PYTHONPATH=str(PACKAGE.parent))
            done = subprocess.run([sys.executable, "-c", CHILD, name], capture_output=True, text=True, timeout=200, check=False, env=options)
            last = done.stdout.splitlines()[-1:] or [""]
            self.assertEqual(done.returncode, 0, f"{name}: exit {done.returncode} at {last[0]}: {done.stderr[-3000:]}")
            self.assertGreater(int(last[0].split()[1]), 300)


if __name__ == "__main__":
    unittest.main()
