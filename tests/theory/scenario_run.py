# SPDX-License-Identifier: MIT
"""Runs a scenario of a test, with the executable in $COLLWIRE."""
import json
import os
import subprocess

COLLWIRE = os.environ["COLLWIRE"]


def run_file(path, sets, folder):
    """The metrics of a scenario with these settings."""
    out = os.path.join(folder, "out")
    options = [word for one in sets for word in ("--set", one)]
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out, *options], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def run_made(made, sets, folder):
    """The same for a scenario as a dict. Its key `graph` becomes graph.json, and even.json is the same network with
    links that are alike."""
    graph = made.get("graph", {"links": []})
    even = graph | {"links": [{"a": link["a"], "b": link["b"]} for link in graph["links"]]}
    scenario = {key: value for key, value in made.items() if key != "graph"}
    for name, content in (("scenario.json", scenario), ("graph.json", graph), ("even.json", even)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(content, file)
    return run_file(os.path.join(folder, "scenario.json"), sets, folder)
