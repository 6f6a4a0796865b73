# SPDX-License-Identifier: MIT
"""Factors of a fabric that several studies vary, and its fullest uplink."""
import re

from sweeps import Axis

IN_ORDER = {"transport.recovery": "go_back_n", "transport.reorder": 0, "transport.bdp_cap": True}
ANY_ORDER = {"transport.recovery": "selective_repeat", "transport.reorder": 256, "transport.bdp_cap": False}
ROUTING = Axis(
    "routing",
    {
        "static": {"switch.routing.kind": "static", **IN_ORDER},
        "ECMP": {"switch.routing.kind": "ecmp", **IN_ORDER},
        "flowlets": {"switch.routing.kind": "flowlet", **IN_ORDER},
        "adaptive": {"switch.routing.kind": "adaptive", **ANY_ORDER},
        "spray": {"switch.routing.kind": "spray", **ANY_ORDER},
    },
)


def queue_pairs(*counts):
    """Queue pairs of a pair of ranks, hashed separately (enhanced ECMP)."""
    return Axis(
        "queue pairs a pair, hashed by E-ECMP",
        {
            str(n): {"transport.qps_per_pair": n, "transport.qp_scaling": "split", "switch.routing.hash": "dst_qp"}
            for n in counts
        },
    )


def fullest_uplink(metrics):
    """Bytes of the fullest uplink of any leaf over the mean of its uplinks, and the share of time in which it sent."""
    uplinks = {}
    for link in metrics["links"]:
        at = re.match(r"(leaf\d+)->spine", link["at"])
        if at:
            uplinks.setdefault(at[1], []).append((link["bytes"], link["utilization"]))
    shares = [
        (max(links)[0] * len(links) / sum(sent for sent, _ in links), max(links)[1])
        for links in uplinks.values()
        if sum(sent for sent, _ in links)
    ]
    return (round(max(shares)[0], 3), round(max(shares)[1], 4)) if shares else ("", "")
