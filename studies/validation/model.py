# SPDX-License-Identifier: MIT
"""Scenarios of the validation points: a machine and an operation, under the assumptions of assumptions.md."""
import math
import typing

PROTOCOLS = ("LL", "LL128", "Simple")
# NCCL 2.26.2, src/graph/tuning.cc, lines 121 to 141: us
BASE = {"ring": (6.6, 14.0, 8.4), "tree": (6.8, 14.0, 8.4)}
NVLINK_HOP = {"ring": (0.6, 1.9, 3.4), "tree": (0.6, 1.25, 4.0)}
NETWORK_HOP = {"ring": (2.7, 4.0, 14.0), "tree": (5.0, 8.5, 14.0)}
PCI_HOP = (1.0, 2.5, 5.7)
SENT = (2, 128 / 120, 1)  # bytes for a byte of data
LARGE = 64 << 20
PACKET = 4096


class Case(typing.NamedTuple):
    """`base_us` is added to what the scenario takes."""

    name: str
    scenario: dict
    base_us: float


def delay(us):
    """Of one of the two links of a hop."""
    return f"{round(us * 1e6 / 2)}ps"


def dimensions(machine, nvlink_us, network_us):
    made = []
    if machine["gpus"] > 1:
        made.append(
            {
                "kind": "switch",
                "size": machine["gpus"],
                "link": {"rate": f"{machine['nvlink_GBps'] * 8}Gbps", "delay": delay(nvlink_us)},
                "transport": {"kind": "roce", "mtu": f"{PACKET}B", "ack_interval": 16, "wire_overhead": "none"},
            }
        )
    if machine["nodes"] > 1:
        made.append(
            {
                "kind": "switch",
                "size": machine["nodes"],
                "planes": machine.get("nics_per_gpu", 1),
                "link": {"rate": f"{machine['nic_gbps']}Gbps", "delay": delay(network_us)},
            }
        )
    return made


def scenario(machine, dims, workload):
    transport = {"kind": "roce", "mtu": f"{machine.get('mtu', PACKET)}B", "ack_interval": 16}
    if "header_bytes" in machine:
        transport["wire_overhead"] = {key: f"{machine['header_bytes']}B" for key in ("data", "ack")}
    return {
        "name": "validation",
        "topology": {"dims": dims},
        "switch": {"buffer": "1GB", "routing": {"relay": True}},
        "transport": transport,
        "cc": {"kind": "none"},
        "workload": workload,
        "report": {"flows_max": 1, "collectives_max": 64},
    }


def ring_orders(machine):
    """Ranks in the order of each ring. Ring c leaves a node by the GPU by which it enters the next one, which is another in each ring."""
    gpus, nodes = machine["gpus"], machine["nodes"]
    if nodes == 1 or gpus == 1:
        return [list(range(gpus * nodes))]
    step = machine.get("gpus_per_nic", 1)
    shifts = [node % (gpus // step) for node in range(nodes)]
    if shifts[-1] == 0:  # the last node enters and leaves by different NICs too
        shifts[-1] = 1
    orders = []
    for c in range(0, gpus, step):
        order = []
        for node in range(nodes):
            enter, leave = ((c + shifts[k % nodes] * step) % gpus for k in (node, node + 1))
            inside = [gpu for gpu in ((enter + k) % gpus for k in range(gpus)) if gpu not in (enter, leave)]
            order += [node * gpus + gpu for gpu in (enter, *inside, leave)]
        orders.append(order)
    return orders


def collective(op, algorithm, size, ranks=None, **more):
    return {
        "kind": "collective",
        "op": op,
        "algorithm": algorithm,
        "bytes": f"{max(1, math.ceil(size))}B",
        **({"ranks": ranks} if ranks else {}),
        **more,
    }


def cases(point, machine):
    op, size = point["op"], point["bytes"]
    if op == "ib_write_lat":
        flows = {"kind": "flows", "flows": [{"src": 0, "dst": 1, "bytes": f"{size}B"}]}
        return [Case("write", scenario(machine, dimensions(machine, 0, machine["one_way_us"]), flows), 0)]
    if op == "ib_write_bw":
        flows = {"kind": "flows", "flows": [{"src": 0, "dst": 1, "bytes": f"{size * 1000}B"}]}
        return [Case("stream", scenario(machine, dimensions(machine, 0, machine["one_way_us"]), flows), 0)]
    if op == "alltoall":
        total = size * 8 if "osu" in point["id"] else size
        base = BASE["ring"][0] if "deepep" in point["id"] else 0
        dims = dimensions(machine, NVLINK_HOP["ring"][0], NETWORK_HOP["ring"][0])
        return [Case("direct", scenario(machine, dims, collective("all_to_all", "direct", total)), base)]
    made = []
    trees = point["algorithm"] == "auto" and machine["nodes"] > 1 and op == "all_reduce"
    algorithms = ("ring", "tree") if trees else ("ring",) if point["algorithm"] == "auto" else (point["algorithm"],)
    for algorithm in algorithms:
        for number, protocol in enumerate(PROTOCOLS):
            if size <= LARGE or protocol == "Simple":
                made.append(nccl_case(point, machine, algorithm, number))
    return made


def nccl_case(point, machine, algorithm, number):
    op, size = point["op"], point["bytes"] * SENT[number]
    network = NETWORK_HOP[algorithm][number] + (2 * PCI_HOP[number] if machine.get("staged") else 0)
    dims = dimensions(machine, NVLINK_HOP[algorithm][number], network)
    if algorithm == "tree" and machine["gpus"] > 1:
        work = collective(op, ["ring", "halving_doubling"], size, schedule="bandwidth_aware")
    elif algorithm == "tree":
        work = collective(op, "double_binary_tree", size, pieces=1)  # as the assumptions were committed
    else:
        orders = ring_orders(machine)
        work = [collective(op, "ring", size / len(orders), order) for order in orders]
    return Case(f"{algorithm}, {PROTOCOLS[number]}", scenario(machine, dims, work), BASE[algorithm][number])


def time_us(point, metrics):
    """Until the last collective has ended, or the last byte has arrived."""
    if metrics["flows_summary"]["count"] and metrics["jobs"][0]["kind"] == "flows":
        return metrics["flows"][0]["delivered_ns"] / 1e3
    return max(job["end_ns"] for job in metrics["jobs"]) / 1e3
