# SPDX-License-Identifier: MIT
"""Scenarios of the validation points: a machine and an operation, under the assumptions of assumptions.md."""
import math
import re

PACKET = 4096
# NCCL 2.26.2, src/graph/tuning.cc: latency of LL over the network, and base latency, us; for libraries that are not NCCL
NETWORK_HOP_LL, BASE_LL = 5.0, 6.6
# A hop over PCIe of the same table: where data are staged in host memory, a message takes one at each end
PCI_HOP_US = {"ll": 1.0, "ll128": 2.5, "simple": 5.7}
SEND_US, RECEIVE_US = {"ll": 2.3, "ll128": 3.8, "simple": 5.3}, {"ll": 1.4, "ll128": 3.0, "simple": 6.3}


def base(topology, workload, **transport):
    return {
        "name": "validation",
        "topology": topology,
        "switch": {"buffer": "1GB"},
        "transport": {"kind": "roce", "mtu": f"{PACKET}B", "ack_interval": 16, **transport},
        "cc": {"kind": "none"},
        "workload": workload,
        "report": {"flows_max": 1, "collectives_max": 64},
    }


def environment(point):
    """The settings that the source names, as NCCL's variables."""
    words = re.findall(r"NCCL_(?:MIN_CTAS|IB_QPS_PER_CONNECTION)=\d+", point["software"] or "")
    if point["algorithm"] in ("ring", "tree", "nvlstree"):
        words.append(f"NCCL_ALGO={point['algorithm']}")
    if "Simple" in (point["stated"] or ""):
        words.append("NCCL_PROTO=Simple")
    return " ".join(words)


def nccl(point, machine):
    library = {"kind": "nccl", "nccl": "2.27.7", "env": environment(point)}
    if machine.get("staged"):
        library["host_cost"] = {
            f"{cost}_{protocol}": f"{times[protocol] + PCI_HOP_US[protocol]:g}us"
            for cost, times in (("send", SEND_US), ("receive", RECEIVE_US))
            for protocol in PCI_HOP_US
        }
    topology = {key: machine[key] for key in ("machine", "nodes", "fabric") if key in machine}
    op = {"nccl_alltoall": "all_to_all"}.get(point["op"], point["op"])
    return base(topology, {"kind": "collective", "op": op, "bytes": f"{point['bytes']}B", "library": library})


def one_switch(machine, hop_us):
    link = {"rate": f"{machine.get('nic_gbps', 200)}Gbps", "delay": f"{round(hop_us * 1e6 / 2)}ps"}
    return {"dims": [{"kind": "switch", "size": machine["nodes"] * machine.get("gpus", 1), "link": link}]}


def flows(point, machine, size):
    work = {"kind": "flows", "flows": [{"src": 0, "dst": 1, "bytes": f"{size}B"}]}
    overhead = {key: f"{machine['header_bytes']}B" for key in ("data", "ack")}
    return base(one_switch(machine, machine["one_way_us"]), work, mtu=f"{machine['mtu']}B", wire_overhead=overhead)


def all_pairs(point, machine):
    """MPI, and kernels of mixtures of experts: all messages at once."""
    size = point["bytes"] * 8 if "osu" in point["id"] else point["bytes"]
    machine = {"nodes": 2, "gpus": 4, "nic_gbps": 200} if "osu" in point["id"] else machine
    work = {"kind": "collective", "op": "all_to_all", "algorithm": "direct", "bytes": f"{math.ceil(size)}B"}
    return base(one_switch(machine, NETWORK_HOP_LL), work)


def scenario(point, machine):
    """And the base time in us that is added to what it takes."""
    if point["op"] == "ib_write_lat":
        return flows(point, machine, point["bytes"]), 0
    if point["op"] == "ib_write_bw":
        return flows(point, machine, point["bytes"] * 1000), 0
    if point["op"] == "alltoall":
        return all_pairs(point, machine), BASE_LL if "deepep" in point["id"] else 0
    return nccl(point, machine), 0


def time_us(metrics):
    """Until the last collective has ended, or the last byte has arrived."""
    if metrics["jobs"][0]["kind"] == "flows":
        return metrics["flows"][0]["delivered_ns"] / 1e3
    return max(job["end_ns"] for job in metrics["jobs"]) / 1e3


def way(point, metrics):
    """How the operation ran, in a few words."""
    chosen = metrics["collectives"][0]["library"] if metrics["collectives"] else None
    if chosen is None:
        return {"ib_write_lat": "write", "ib_write_bw": "stream"}.get(point["op"], "all pairs")
    channels = "1 channel" if chosen["channels"] == 1 else f"{chosen['channels']} channels"
    return f"{chosen['algorithm'] or 'pairs'}, {chosen['protocol']}, {channels}"
