#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The automatic retransmission timeout of UEC and MRC: short where a link fails, and not spurious in incasts.

usage: check_uec_timeouts.py        the executable is in $COLLWIRE

1. A link of leaf-spine fabrics with a buffer of 32 MB fails under a flow of 8 MB (664 us alone). The packets that
   it swallowed are sent again after 15 us and six times the queue at which every packet is marked (0.8 BDP of the
   longest path), which `validate --print` states; all of it is over within two of these timeouts and the 50 us
   after which the switches know of the failure.
2. With a fixed queue_limit the timeout is 15 us and six times what that takes to drain, as in uet-htsim.
3. Incasts of 16 to 64 flows, for which queues are up to a hundred BDPs long, have no timeout and take what their
   bytes take. In an incast through spines the windows of flows shrink below what they have in flight, none of which
   has requested an ACK: they ask, and do not wait for the timeout.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

LINE, RTT_US = 100e9, 9.38


def command(words, scenario, *more):
    with tempfile.TemporaryDirectory() as out:
        path = os.path.join(out, "s.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenario, file)
        done = subprocess.run([os.environ["COLLWIRE"], *words, path, *more, *(["--out", out] if words[0] == "run" else [])],
                              capture_output=True, text=True, check=True)
        if words[0] != "run":
            return done.stdout + done.stderr
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
            return json.load(file)


def failing(transport, **more):
    link = {"rate": "100Gbps", "delay": "1us"}
    return {"name": "failing", "topology": {"dims": [{"kind": "leaf_spine", "size": 8, "ranks_per_leaf": 4, "spines": 4,
                                                      "link": link}]},
            "transport": {"kind": transport}, "switch": more,
            "faults": [{"at": "leaf0->spine0", "down": "20us", "up": "100ms", "detect": "50us"}],
            "workload": {"kind": "flows", "flows": [{"src": 0, "dst": 4, "bytes": "8MB"}]}}


def stated_us(scenario):
    """The longest timeout that validate --print states."""
    units = {"us": 1, "ms": 1000}
    found = re.findall(r"retransmission timeout ([\d.]+) (us|ms)", command(["validate", "--print"], scenario))
    assert found, "validate --print states no timeout"
    return max(float(number) * units[unit] for number, unit in found)


def near(what, value, expected, tolerance):
    print(f"{what}: {value:.1f}, expected {expected:.1f}")
    assert abs(value - expected) <= tolerance * expected, what


def check_failures():
    for transport in ("uec", "mrc"):
        scenario = failing(transport)
        timeout = stated_us(scenario)
        near(f"{transport}: timeout, us", timeout, 15 + 6 * 0.8 * RTT_US, 0.01)
        metrics = command(["run", "--quiet"], scenario)
        took = metrics["flows"][0]["fct_ns"] / 1e3
        print(f"{transport}: {took:.1f} us with the failure")
        assert metrics["recovery"]["timeouts"] > 0 and 664 < took < 664 + 50 + 2 * timeout, took
    near("timeout with a limit of 150 KB, us", stated_us(failing("uec", queue_limit={"bytes": "150KB"})),
         15 + 6 * 150e3 * 8 / LINE * 1e6, 0.01)


def check_incasts():
    for transport in ("uec", "mrc"):
        for senders in (16, 64):
            metrics = command(["run", "--quiet"], {
                "name": "incast", "topology": {"dims": [{"kind": "switch", "size": senders + 1,
                                                         "link": {"rate": "100Gbps", "delay": "1us"}}]},
                "transport": {"kind": transport},
                "workload": {"kind": "incast", "senders": senders, "receiver": senders, "bytes": "256KB"}})
            assert metrics["recovery"]["timeouts"] == 0, f"{transport}, {senders} senders: a timeout"
            near(f"{transport}, {senders} senders, us", metrics["sim_time_ns"] / 1e3,
                 senders * 256e3 * 8 / LINE * 1e6, 0.07)


def check_spines():
    link = {"rate": "200Gbps", "delay": "1us"}
    for seed in (1, 2, 3):
        metrics = command(["run", "--quiet"], {
            "name": "spines", "seed": seed,
            "topology": {"dims": [{"kind": "leaf_spine", "size": 48, "ranks_per_leaf": 12, "spines": 12, "link": link,
                                   "trunk": link}]},
            "switch": {"trimming": {"enabled": seed != 2}},
            "transport": {"kind": "uec", "mtu": "4096B", "start_jitter": "1us"},
            "workload": {"kind": "incast", "senders": 40, "receiver": 47, "bytes": "500KB"}})
        near(f"40 senders through spines, seed {seed}, us", metrics["sim_time_ns"] / 1e3, 40 * 500e3 * 8 / 200e9 * 1e6, 0.1)
        assert metrics["recovery"]["timeouts"] == 0 and metrics["uec"]["ack_requests"] > 0


if __name__ == "__main__":
    check_failures()
    check_incasts()
    check_spines()
    sys.exit(0)
