#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The schema is a valid JSON Schema; it accepts all scenarios and rejects invalid ones.

Usage: check_schema.py [ROOT OF THE PROJECT]
"""
import copy
import json
import pathlib
import sys

import jsonschema

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
schema = json.loads((root / "scenarios/schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

good = [p for p in sorted((root / "scenarios").rglob("*.json")) if p.name != "schema.json" and p.parent.name != "networks"]
failures = [f"{p}: {e.json_path}: {e.message}"
            for p in good for e in validator.iter_errors(json.loads(p.read_text()))]
if not good:
    failures.append("no scenario found")

base = json.loads((root / "scenarios/collectives/allreduce-1d.json").read_text())


def broken(path, value):
    """`base` with the value at `path` replaced, or deleted if it is None."""
    scenario = copy.deepcopy(base)
    at = scenario
    for step in path[:-1]:
        at = at.setdefault(step, {}) if isinstance(step, str) else at[step]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return scenario


bad = [
    (["name"], None),
    (["name"], "a/b"),
    (["name"], "a" * 201),
    (["topology"], None),
    (["workload"], None),
    (["wrkload"], {}),
    (["seed"], "one"),
    (["topology", "dims"], []),
    (["topology", "dims", 0, "kind"], "torus"),
    (["topology", "dims", 0, "size"], 0),
    (["topology", "dims", 0, "spines"], 0),
    (["topology", "dims", 0, "link", "rate"], "100GB"),
    (["topology", "dims", 0, "link", "delay"], 1),
    (["switch", "pfc"], True),
    (["switch", "ecn"], "on"),
    (["switch", "ecn"], {"pmax": 2}),
    (["transport", "recovery"], "magic"),
    (["transport", "wire_overhead"], {"data": "36B"}),
    (["cc", "kind"], "dcqnc"),
    (["cc", "preset"], "fast"),
    (["cc", "k"], 1),
    (["workload", "bytes"], "-1MB"),
    (["workload", "op"], "all_sum"),
    (["workload", "algorithm"], "rings"),
    (["workload", "ranks"], [0, 0]),
    (["limits", "stall"], 5),
    (["capture"], [{"at": "rank0"}]),
]
dlrm = json.loads((root / "scenarios/dlrm/dlrm-16.json").read_text())


def with_dlrm(key, value):
    scenario = copy.deepcopy(dlrm)
    scenario["workload"]["dlrm"][key] = value
    return scenario


# The keys of `dlrm` are described: a wrong name or value is refused.
table = {"rows": 1000, "dim": 64, "pooling": 2}
failures += [f"accepted: dlrm.{key} = {value!r}" for key, value in
             (("bottoms", [64]), ("bottom", "64"), ("top", []), ("top", [0]), ("tables", [{"rows": 1}]),
              ("tables", [{**table, "columns": 1}])) if validator.is_valid(with_dlrm(key, value))]
failures += [f"refused: dlrm.{key} = {value!r}" for key, value in
             (("bottom", [64]), ("top", [512, 1]), ("tables", [table, {"rows": 1, "dim": 64}]))
             if not validator.is_valid(with_dlrm(key, value))]
failures += [f"accepted: {'.'.join(map(str, path))} = {value!r}"
             for path, value in bad if validator.is_valid(broken(path, value))]

print("\n".join(failures) or f"{len(good)} scenarios are valid, {len(bad)} broken ones are not")
sys.exit(1 if failures else 0)
