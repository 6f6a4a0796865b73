# SPDX-License-Identifier: MIT
"""collwire from Python: scenarios in, results as objects and tables out.

    import collwire as cw
    result = cw.run("job.json", set={"cc.kind": "dcqcn"})
    table = cw.compare("job.json", ["none", "dcqcn", "window{k=0.5}"], seeds=5).frame()

docs/python.md has a how-to and the reference.
"""
from __future__ import annotations

from collwire import metrics, scenarios
from collwire._catalogue import add_plugin, policies, schema
from collwire._charts import Chart
from collwire._errors import ArgumentError, Cancelled, Error, LibraryError, Message, ProgramError, ScenarioError, StateError
from collwire._library import version
from collwire._load import load
from collwire._program import RunsDone
from collwire._tables import Record
from collwire.comparison import Comparison, compare
from collwire.diagnosis import Diagnosis, diagnose
from collwire.planning import Plan, plan
from collwire.policy import Policy, PolicyError, add_policy
from collwire.result import Report, Result
from collwire.scenarios import Scenario
from collwire.simulation import Cost, Progress, Simulation, Validation, run, validate
from collwire.sweeps import Point, Sweep, sweep
from collwire.tuning import Tuning, tune

__version__ = version()

__all__ = [
    "ArgumentError",
    "Cancelled",
    "Chart",
    "Comparison",
    "Cost",
    "Diagnosis",
    "Error",
    "LibraryError",
    "Message",
    "Plan",
    "Point",
    "Policy",
    "PolicyError",
    "ProgramError",
    "Progress",
    "Record",
    "Report",
    "Result",
    "RunsDone",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "StateError",
    "Sweep",
    "Tuning",
    "Validation",
    "__version__",
    "add_plugin",
    "add_policy",
    "compare",
    "diagnose",
    "load",
    "metrics",
    "plan",
    "policies",
    "run",
    "scenarios",
    "schema",
    "sweep",
    "tune",
    "validate",
    "version",
]
