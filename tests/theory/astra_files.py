# SPDX-License-Identifier: MIT
"""Files of ASTRA-sim 1.0 from the figures of tests/data/astra-sim: network, system, workload."""
import json
import os

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "astra-sim")
COLUMNS = 13  # of a layer, the last for HYBRID_CUSTOMIZED


def figures():
    with open(os.path.join(DATA, "figures.json"), encoding="utf-8") as file:
        return json.load(file)


def network_text(network):
    return json.dumps(network, indent=2)


def system_text(system):
    """Some lines of the public examples end with blanks."""
    return "".join(f"{key}: {value} \n" for key, value in system.items())


def workload_text(workload):
    """Columns by tabs, short lines filled up with tabs, as spreadsheets write them."""
    rows = [workload["keyword"].split(), [str(len(workload["layers"]))]]
    rows += [layer.split() for layer in workload["layers"]]
    end = "\r\n" if workload["lines"] == "CRLF" else "\n"
    return "".join("\t".join(row + [""] * (COLUMNS - len(row))) + end for row in rows)


def write_file(folder, kind, name, data):
    """Writes the file of that kind, "networks", "systems" or "workloads", and returns its path."""
    texts = {"networks": network_text, "systems": system_text, "workloads": workload_text}
    path = os.path.join(folder, f"{kind}-{name}" + (".json" if kind == "networks" else ".txt"))
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(texts[kind](data[kind][name]))
    return path
