# SPDX-License-Identifier: MIT
"""Types: the package is clean under mypy --strict, so is a program that uses it, and every public name has annotations.
The sources are valid for Python 3.9."""
import ast
import inspect
import pathlib
import shutil
import subprocess
import tempfile
import typing
import unittest

from common import PYTHON, ROOT

import collwire as cw
from collwire import policy, simulation, comparison, sweeps

PACKAGE = PYTHON / "collwire"
USER = """
import collwire as cw
from collwire import scenarios as sc

scenario = cw.Scenario(name="a", topology=sc.Topology(dims=[sc.SwitchDim(size=4)]), workload=sc.IncastJob(bytes="1MB", receiver=3))
result: cw.Result = cw.run(scenario, set={"cc.kind": "dcqcn"}, seed=2)
time_ns: int = result.sim_time_ns
for point in cw.sweep(scenario, {"workload.bytes": ["1MB", 2_000_000]}):
    status: str = point.status
paused: int = result.metrics.pfc.paused_ns
fct: int | None = result.metrics.flows[0].fct_ns
best: str | None = cw.compare(scenario, ["none"]).best
"""
WRONG = USER + 'sc.SwitchDim(size="4")\nresult.sim_time\nresult.metrics.pfc.paused\n'


class Types(unittest.TestCase):
    def test_python_3_9(self):
        for file in PACKAGE.glob("*.py"):
            ast.parse(file.read_text(), file.name, feature_version=(3, 9))
            self.assertIn("from __future__ import annotations", file.read_text(), file)

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed")
    def test_mypy_strict(self):
        with tempfile.TemporaryDirectory() as cache:
            def mypy(*arguments, **options):
                return subprocess.run(["mypy", "--config-file", ROOT / "python" / "pyproject.toml", "--cache-dir", cache, *arguments], cwd=PYTHON,
                                      capture_output=True, text=True, check=False, **options)
            done = mypy("collwire")
            self.assertEqual(done.returncode, 0, done.stdout)
            for text, want in ((USER, 0), (WRONG, 1)):
                user = pathlib.Path(cache, "user.py")
                user.write_text(text)
                done = mypy("--python-version", "3.10", str(user))
                self.assertEqual(done.returncode, want, done.stdout)
            self.assertIn('"Result" has no attribute "sim_time"', done.stdout)
            self.assertIn('"Pfc" has no attribute "paused"', done.stdout)
            self.assertIn('Argument "size" to "SwitchDim" has incompatible type', done.stdout)

    def test_every_public_name_is_annotated(self):
        self.assertTrue((PACKAGE / "py.typed").exists())
        count = 0
        for module in (cw, policy, simulation, comparison, sweeps):
            for name in getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]):
                thing = getattr(module, name)
                if inspect.isfunction(thing) and thing.__module__.startswith("collwire"):
                    count += self.check(name, thing)
                elif inspect.isclass(thing) and thing.__module__.startswith("collwire"):
                    for method, function in vars(thing).items():
                        function = function.fget if isinstance(function, property) else getattr(function, "__func__", function)
                        if inspect.isfunction(function) and (not method.startswith("_") or method == "__init__"):
                            count += self.check(f"{name}.{method}", function)
        self.assertGreater(count, 100)
        for name in cw.scenarios.__all__:
            if isinstance(getattr(cw.scenarios, name), type) and name not in ("Rate", "Time", "LineRate"):
                typing.get_type_hints(getattr(cw.scenarios, name), vars(cw.scenarios))

    def check(self, name, function):
        if function.__qualname__.endswith("__init__") and not hasattr(function, "__wrapped__") and "dataclass" in repr(function):
            return 0
        signature = inspect.signature(function)
        for parameter in list(signature.parameters.values()):
            if parameter.name not in ("self", "cls"):
                self.assertIsNot(parameter.annotation, parameter.empty, f"{name}: {parameter.name}")
        self.assertIsNot(signature.return_annotation, signature.empty, name)
        if not name.endswith("__init__"):
            self.assertTrue(function.__doc__, f"{name} has no docstring")
        return 1


if __name__ == "__main__":
    unittest.main()
