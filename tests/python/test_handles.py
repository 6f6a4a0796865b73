# SPDX-License-Identifier: MIT
"""Every public method, property and function of the package with each kind of argument, in every state of its object.

What this alone proves: no state of an object that owns something of the library, a process or a folder crashes or blocks
the interpreter, whatever the argument; each ends with a value or with an exception of the package. Members, parameters and
classes are found by introspection: a new one without a row here fails. Each state has a process of its own, so that a
crash is a failure that names its case.

HANDLES_LONG=1: all arguments in all states; else in the state "new".
"""
import ast
import copy
import faulthandler
import functools
import inspect
import json
import os
import pathlib
import pickle
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from common import PYTHON, ROOT, SANITIZED
import collwire as cw
from collwire import _handle, _library, _program, _results_folder

SMALL = {"name": "p", "topology": {"dims": [{"kind": "switch", "size": 3}]}, "workload": {"kind": "incast", "receiver": 2, "bytes": "100KB"}}
LLM = {"name": "job", "topology": {"dims": [{"kind": "switch", "size": 8}]},
       "workload": {"kind": "llm", "layers": 4, "hidden": 256, "heads": 4, "sequence": 128, "vocabulary": 1024, "global_batch": 16, "gpu": "a100"}}
LONG = {"name": "long", "topology": {"dims": [{"kind": "leaf_spine", "size": 32, "ranks_per_leaf": 4, "spines": 8}]},
        "workload": {"kind": "collective", "op": "all_to_all", "bytes": "100GB", "algorithm": "direct"}}
THREADS = 4
KINDS = {"none": None, "float": 2.0, "nan": float("nan"), "negative": -1, "wraps": 2**32 + 2, "huge": 10**5000, "bool": True, "nul": "job.json\0x",
         "surrogate": "\ud800", "bytes": b"job.json", "object": object(), "empty": "", "list": [None], "dict": {None: object()}}
WORKS = {  # parameter -> the kinds that have a meaning; all others are refused
    "progress": {"none", "bool"}, "captures": {"none"}, "set": {"none"}, "seed": {"none", "wraps"}, "policies": {"none"}, "vary": {"none"},
    "baseline": {"none"}, "out": {"none"}, "jobs": {"none"}, "sizes": {"none", "empty"}, "best": {"none"}, "within": {"none"},
    "fabric": {"none"}, "packets_budget": {"none", "float", "wraps"}, "why": {"bool"}, "goal": {"empty"}, "guard": {"empty"}, "faults": {"none"},
    "seeds": {"none"}, "budget": {"none"}, "job": {"none"}}
FUNCTIONS = {  # function -> the right arguments
    "run": {"scenario": SMALL}, "validate": {"scenario": SMALL}, "compare": {"scenario": SMALL, "policies": ["none"]},
    "sweep": {"scenario": SMALL, "vary": {"workload.bytes": ["1KB"]}}, "plan": {"scenario": LLM, "gpus": 2, "packets_budget": 0},
    "diagnose": {"measured": [{"quantity": "time", "value": 20}], "network": SMALL},
    "tune": {"scenario": SMALL, "vary": {"workload.bytes": ["1KB", "2KB"]}},
    "add_plugin": None, "add_policy": None, "load": None, "policies": {}, "schema": {}, "version": {}, "Simulation": {"scenario": SMALL}}


def members(kind):
    """The public members of a class, and what Python itself calls: name -> the parameters, None for a property."""
    found = {}
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_") and name in vars(kind):
            call = callable(member)
            found[name] = [p for p in inspect.signature(member).parameters.values() if p.name != "self"] if call else None
    return found


def arguments(parameters):
    """Sets of arguments: those of the defaults, and each parameter with each kind."""
    yield "right", None, {}
    for parameter in parameters or []:
        if parameter.kind is not parameter.VAR_POSITIONAL:
            yield from ((kind, parameter.name, {parameter.name: value}) for kind, value in KINDS.items())


# ---- states of a simulation ----

class Started:
    """A simulation whose run goes on in another thread."""

    def __init__(self):
        self.simulation, self.result, seen = cw.Simulation(LONG), None, threading.Event()
        self.thread = threading.Thread(target=self.run, args=(seen,))
        self.thread.start()
        if not seen.wait(60):
            raise RuntimeError("the run does not begin")

    def run(self, seen):
        self.result = self.simulation.run(threads=THREADS, progress=lambda _p: seen.set())

    def end(self):
        self.simulation.cancel()
        self.thread.join()
        assert self.result.status == "interrupted", self.result


def small():
    return cw.Simulation(SMALL)


def in_thread(call):
    box = []

    def work():
        try:
            box.append(call())
        except BaseException as error:  # pylint: disable=broad-except
            box.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if isinstance(box[0], BaseException):
        raise box[0]
    return box[0]


def forked(call):
    """What a forked child says of a call; None if it hangs."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        try:
            call()
            text = "ok"
        except cw.Error as error:
            text = f"refused {error}"
        except BaseException as error:  # pylint: disable=broad-except
            text = f"{type(error).__name__}: {error}"
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        if not select.select([pipe], [], [], 30)[0]:
            os.kill(child, signal.SIGKILL)
        text = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return None if code in (-signal.SIGKILL, -signal.SIGALRM) and not text else f"{code} {text}"


def in_child(call):
    """Call in a forked child; what it raises of the package is raised here."""
    said = None
    # AddressSanitizer of clang 14 leaves a lock of its allocator, which another thread has at the fork, taken in the child
    for _ in range(6 if SANITIZED else 1):
        said = said or forked(call)
    if said and said.startswith("0 refused"):
        raise cw.StateError(said)
    assert said == "0 ok", f"the forked child: {said}"


def directly(call):
    return call()


def closed():
    simulation = small()
    simulation.close()
    return simulation


def has_run():
    simulation = small()
    simulation.run()
    return simulation


def run_by_closing():
    started = Started()
    started.simulation.close()
    started.thread.join()
    assert started.result.status == "interrupted"
    return started.simulation


def cancelled():
    simulation = small()
    simulation.cancel()
    return simulation


STATES = {  # state -> how the object is made, and how it is called
    "new": (small, directly), "cancelled": (cancelled, directly), "closed": (closed, directly), "run": (has_run, directly),
    "closed while it ran": (run_by_closing, directly), "running": (Started, directly), "running, of another thread": (Started, in_thread),
    "of another thread": (small, in_thread), "forked": (small, in_child), "forked while it runs": (Started, in_child)}
KNOWN = {"name": str, "seed": int, "policy": str, "resolved": dict, "describe": str, "advice": dict, "cost": cw.Cost}  # in any state


def command():
    return _program.Command(["list"])


OWNERS = {  # class -> how one is made
    cw.Simulation: small, _program.Command: command, cw.Sweep: lambda: cw.sweep(SMALL, {"seed": [1]}),
    _results_folder.Folder: lambda: _results_folder.Folder(None), _handle.Handle: lambda: _library.Messages().handle}


def check(case, call, must_fail=False):
    """Make the call, which ends with a value or an exception of the package."""
    print(json.dumps(case), flush=True)  # the last line says where a crash was
    faulthandler.dump_traceback_later(120, exit=True)
    try:
        value = call()
    except cw.Error as error:
        assert str(error), case
        return error
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert not must_fail, f"{case} is not refused: {value!r:.200}"
    return value


def check_simulation(state, every):
    make, how = STATES[state]
    for name, parameters in members(cw.Simulation).items():
        for kind, parameter, given in arguments(parameters):
            if kind != "right" and not every and state != "new":
                continue
            made = make()
            simulation = made.simulation if isinstance(made, Started) else made
            if parameters is None:
                call = functools.partial(getattr, simulation, name)
            else:
                call = functools.partial(getattr(simulation, name), **given)
            value = check([state, name, parameter, kind], lambda call=call: how(call), kind != "right" and kind not in WORKS.get(parameter, ()))
            if name in KNOWN and how is not in_child:
                assert isinstance(value, KNOWN[name]), (state, name, value)
            if isinstance(made, Started):
                made.end()
            simulation.close()
    for name, call in (("copy", copy.copy), ("deepcopy", copy.deepcopy), ("pickle", pickle.dumps)):
        made = make()
        check([state, name, None, "right"], lambda made=made, call=call: how(lambda: call(getattr(made, "simulation", made))), True)
        if isinstance(made, Started):
            made.end()
    with make().simulation if make is Started else make() as simulation:  # the end of a block
        del simulation


def check_owners():
    """What every class that owns something keeps: no copy, and no use in a child."""
    for kind, make in OWNERS.items():
        for name, call in (("copy", copy.copy), ("deepcopy", copy.deepcopy), ("pickle", pickle.dumps)):
            own = make()
            shared = kind is _results_folder.Folder and name != "pickle"
            made = check([kind.__name__, name], functools.partial(call, own), not shared)
            assert not shared or made is own
        for name, parameters in members(kind).items():
            if kind is cw.Simulation or any(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in parameters or []):
                continue
            own = make()
            check([kind.__name__, name, "forked"],
                  lambda own=own, name=name, parameters=parameters: in_child(lambda: getattr(own, name) if parameters is None else getattr(own, name)()))
            check([kind.__name__, name, "twice"],
                  lambda own=own, name=name, parameters=parameters: parameters is None or (getattr(own, name)(), getattr(own, name)()))
    folder = _results_folder.Folder(None)
    if SANITIZED:  # whose allocator may have been locked by another thread at the fork, and exit() allocates
        return
    if os.fork() == 0:
        sys.exit(0)  # which must not remove the folder of its parent
    os.wait()
    assert folder.path.parent.is_dir()


def check_functions():
    for name, right in FUNCTIONS.items():
        function = (lambda *a, **k: cw.sweep(*a, **k).run()) if name == "sweep" else getattr(cw, name)  # which runs nothing itself
        for kind, parameter, given in arguments(inspect.signature(getattr(cw, name)).parameters.values()):
            if kind == "right" and right is None:
                continue
            value = check([name, parameter, kind], functools.partial(function, **{**(right or {}), **given}),
                          kind not in ("right",) and kind not in WORKS.get(parameter, ()) and name != "validate")
            refused = name != "validate" or kind == "right" or kind in WORKS.get(parameter, ()) or isinstance(value, cw.Error) or not value
            assert refused, (name, parameter, kind)
    for path in ({"name": "a\0b"}, {"workload.bytes": "1MB\0junk"}, {"workload\0.bytes": "1MB"}, {"name": "\ud800"}):
        check(["run", "set", ascii(path)], functools.partial(cw.run, SMALL, set=path), True)
    check(["run", "JSON with a NUL"], functools.partial(cw.run, json.dumps(SMALL) + "\0garbage"), True)
    assert cw.run(SMALL, threads=2**31).completed  # as many as there is work for


def check_races():
    """One object in three threads: one run, two refusals; and none that another thread has closed before."""
    for i in range(20):
        simulation, ends, begin = cw.Simulation(SMALL), [], threading.Barrier(4)

        def work(simulation=simulation, ends=ends, begin=begin):
            begin.wait()
            try:
                ends.append(simulation.run(threads=THREADS).status)
            except cw.StateError:
                ends.append("refused")

        def close(simulation=simulation, begin=begin, i=i):
            begin.wait()
            if i % 2:
                simulation.close()

        threads = [threading.Thread(target=call) for call in (work, work, work, close)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(json.dumps(sorted(ends)), flush=True)
        assert len(ends) == 3 and ends.count("refused") >= 2 and (i % 2 or "completed" in ends), ends


def check_policies():
    """What a hook writes has to fit, and what it calls of its own simulation does not block."""
    def policy(name, write):
        return type(name, (cw.Policy,), {"name": name, "init": lambda self, cc, now: None, "on_ack": lambda self, cc, ack: write(cc),
                                         "state": [("n", int)], "doc": "a test"})

    writes = {"size": ("cwnd_bytes", -5), "rate": ("rate_bps", 2**64), "path": ("path", 2**32), "timers": ("timer_at_ps", (2**63, 0))}
    for name, (field, value) in writes.items():
        error = check([name], lambda name=name, field=field, value=value: cw.run(
            SMALL, set={"cc.kind": cw.add_policy(policy(name, lambda cc: setattr(cc, field, value))).name}), True)
        assert isinstance(error, cw.PolicyError) and "is not from" in str(error), error
    for name, write in (("slot", lambda cc: cc.timer_at_ps.__setitem__(0, 2**63)), ("state", lambda cc: setattr(cc.state, "n", 2**63))):
        error = check([name], lambda name=name, write=write: cw.run(SMALL, set={"cc.kind": cw.add_policy(policy(name, write)).name}), True)
        assert isinstance(error, cw.PolicyError) and "is not from" in str(error), error
    own = []
    cw.add_policy(policy("closes", lambda cc: own[0].close() if own else None))
    own.append(cw.Simulation(SMALL, set={"cc.kind": "closes"}))
    assert check(["a hook closes its simulation"], own[0].run).status == "interrupted"


CHILDREN = {"functions": lambda _every: check_functions(), **{state: functools.partial(check_simulation, state) for state in STATES},
            "owners": lambda _every: check_owners(), "races": lambda _every: check_races(), "policies": lambda _every: check_policies()}

DEAF = """
import time, collwire as cw
class Deaf(cw.Policy):
    name, doc = "deaf", "a test"
    def init(self, cc, now): pass
    def on_ack(self, cc, ack):
        if slow: print("running", flush=True); {wait}
slow = False
cw.add_policy(Deaf)
slow = True
try: cw.run({scenario}, set={{"cc.kind": "deaf"}})
except cw.Cancelled as ended: print("cancelled", ended.result and ended.result.status)
"""


class Handles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(self.folder.cleanup)

    def test_every_state(self):
        waiting, running, environment = list(CHILDREN), {}, dict(os.environ, PYTHONFAULTHANDLER="1", HANDLES_FOLDER=self.folder.name)
        while waiting or running:  # two at a time
            if waiting and len(running) < 2:
                name = waiting.pop(0)
                out = tempfile.TemporaryFile("w+")  # pylint: disable=consider-using-with
                running[name] = out, subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), "--child", name], stdout=out, stderr=out, env=environment)
                continue
            ended = [name for name, (_, child) in running.items() if child.poll() is not None]
            time.sleep(0 if ended else 0.02)
            for name in ended:
                out, child = running.pop(name)
                out.seek(0)
                with self.subTest(name), out:
                    self.assertEqual(child.returncode, 0, f"{name}: {child.returncode} at {out.read()[-3000:]}")

    def test_no_class_is_forgotten(self):
        def below(kind):
            return {kind} | {one for sub in kind.__subclasses__() for one in below(sub)}

        self.assertEqual(below(_handle.Owned) - {_handle.Owned}, set(OWNERS))
        listed = {name for name in cw.__all__ if inspect.isfunction(getattr(cw, name))} | {"Simulation"}
        self.assertEqual(listed, set(FUNCTIONS))

    def test_pointers_are_freed_by_handles_alone(self):
        """Whatever names a function of the library that frees, gives it to a Handle."""
        for file in (PYTHON / "collwire").glob("*.py"):
            tree = ast.parse(file.read_text())
            given = {id(part) for call in ast.walk(tree) if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Handle" for part in call.args}
            named = [node for node in ast.walk(tree) if re.search(r"_free$", getattr(node, "attr", getattr(node, "id", "")) or "")]
            stray = [node.lineno for node in named if id(node) not in given and isinstance(getattr(node, "ctx", None), ast.Load)]
            self.assertEqual([line for line in stray if file.name != "_handle.py"], [], file)

    def test_control_c_and_hooks_that_do_not_return(self):
        from common import interrupted
        for wait, result in (("time.sleep(1000)", "None"), ("[None for i in iter(int, 1) if i]", "interrupted"), ("time.sleep(0.5)", "interrupted")):
            text, seconds = interrupted(DEAF.format(wait=wait, scenario=SMALL))
            self.assertIn(f"cancelled {result}", text)
            self.assertLess(seconds, 30)


if __name__ == "__main__":
    if "--child" in sys.argv:
        os.chdir(tempfile.mkdtemp(dir=os.environ.get("HANDLES_FOLDER")))  # nothing is left where a name is taken wrongly
        CHILDREN[sys.argv[sys.argv.index("--child") + 1]]("HANDLES_LONG" in os.environ)
    else:
        unittest.main()
