#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A random scenario over all keys: scenarios/schema.json gives keys and ranges, the files beside this
one what makes sense together.

usage: generate.py SEED FOLDER     writes FOLDER/scenario.json and the files that it names
"""
import functools
import json
import os
import pathlib
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import draw as drawing
import fabric
import hosts
import stacks
import topologies
import workloads

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRIGGERS = ("start at drop", "stop at drop", "start at retransmission", "stop at pause > 1us", "start at pause > 1ps",
            "start at queue > 10KB", "stop at queue > 0B", "")
TIMES = ("0ns", "1ns", "500ns", "3us", "20us", "100us", "1ms")


@functools.lru_cache(None)
def schema():
    with open(ROOT / "scenarios/schema.json", encoding="utf-8") as f:
        return json.load(f)


def place(draw, ranks, names, node=False):
    """A node, or one direction of a link; patterns too. Not all of them exist."""
    rank = f"rank{draw.rng.randrange(ranks)}"
    nodes = [rank, rank] + names
    if node or draw.chance(0.3):
        return draw.rng.choice(nodes)
    if draw.chance(0.5):
        return draw.rng.choice((f"{rank}->*", f"*->{rank}", "*->*", "rank*->*", f"{rank}->*sw*"))
    return f"{draw.rng.choice(nodes)}->{draw.rng.choice(nodes + ['*'] * 3)}"


def fault(draw, ranks, names):
    """Loss, corruption, a failure, a storm, or several of them at once."""
    made = {"at": place(draw, ranks, names)}
    if draw.chance(0.3):
        made["one_way"] = True
    if draw.chance(0.4):
        made["loss"] = draw.rng.choice((0, 0.0001, 0.01, 0.3, 1))
    if draw.chance(0.2):
        made["corruption"] = draw.rng.choice((0.001, 0.1, 1))
    if draw.chance(0.2):
        made["pfc"] = True
    if draw.chance(0.15):
        made["every"] = draw.rng.choice((0, 1, 2, 7, 100, 10**12))
    if draw.chance(0.15):
        made["packets"] = sorted(draw.rng.sample(range(1, 60), draw.rng.randint(0, 5)))
    if draw.chance(0.1):
        made["times"] = draw.rng.choice((1, 2, 3, 1000000))
    if draw.chance(0.1):
        made["blackout"] = {"packet": draw.rng.choice((1, 2, 20, 10**9)), "for": draw.rng.choice(TIMES[1:])}
    if draw.chance(0.5):
        at = draw.rng.randrange(len(TIMES))
        made["down"] = TIMES[at]
        if draw.chance(0.8):
            made["up"] = draw.rng.choice(TIMES[at + 1:] or ("2ms",))
        if draw.chance(0.5):
            made["detect"] = draw.rng.choice(("auto", *TIMES))
    if draw.chance(0.2):
        at = draw.rng.randrange(len(TIMES))
        made["storm"] = TIMES[at]
        if draw.chance(0.8):
            made["storm_end"] = draw.rng.choice(TIMES[at + 1:] or ("2ms",))
    return made


def switch(draw, p):
    """Settings of all switches; buffers mostly large enough for the headroom."""
    made = draw.object(draw.defs["switch"], p, skip=("buffer", "reserve", "classes", "queue_limit"))
    if draw.chance(0.6):
        made["buffer"] = draw.rng.choice(("200KB", "500KB", "1MB", "2MB", "12MB", "32MB", "1GB",
                                          "trident2", "spectrum4"))
    if draw.chance(0.1):
        made["reserve"] = draw.rng.choice(("0B", "1KB", "4KB", "20KB"))
    if draw.chance(0.15):
        made["queue_limit"] = draw.rng.choice(("auto", {"packets": 1}, {"packets": 42}, {"bytes": "3KB"}, {"packets": 2, "at": "*0"},
                                               {"bytes": "120350B"}, {"packets": 1000000}))
    if draw.chance(0.25):
        part = draw.defs["switch"]["properties"]["classes"]["properties"]
        made["classes"] = {key: draw.object(part[key], 0.6) for key in part if draw.chance(0.4)}
    # Without these limits a pause could take a simulated hour, and the run a real one.
    pfc = made.get("pfc", {})
    if "quanta" in pfc:
        pfc["quanta"] = draw.rng.choice((1, 2, 60, 500, 5000, 65535))
    for key in ("watchdog_detect", "watchdog_restore"):
        if key in pfc or pfc.get("watchdog"):
            pfc[key] = draw.rng.choice(("1us", "10us", "100us", "1ms", "200ms"))
    ecn = made.get("ecn")
    if isinstance(ecn, dict):
        ends = sorted(draw.rng.choice((0, 1000, 5000, 40000, 100000, 400000)) for _ in range(2))
        ecn.update(kmin=ends[0], kmax=ends[1])
        if "pi_interval" in ecn:
            ecn["pi_interval"] = draw.rng.choice(("1us", "10us", "50us", "1ms"))
    routing = made.setdefault("routing", {}) if draw.chance(0.6) else made.get("routing", {})
    if routing is made.get("routing") and "kind" not in routing and draw.chance(0.7):
        routing["kind"] = draw.rng.choice(("ecmp", "spray", "flowlet", "adaptive", "source"))
    if "state_interval" in routing or routing.get("remote"):  # a measurement reads all ports
        routing["state_interval"] = draw.rng.choice(("100ns", "1us", "50us"))
    if routing is made.get("routing") and draw.chance(0.3):
        routing["relay"] = True
    return made


ADMISSION = {"admission": ("none", "cts", "cts"), "channels": (1, 1, 2, 3, 64), "slots": (1, 2, 8, 1024),
             "slot_bytes": ("64B", "1000B", "4096B", "10KB", "64KiB", "512KiB"),
             "grant_bytes": ("1B", "64B", "4096B"), "slot_copy": ("0ns", "1ns", "1us", "20us")}


def transport(draw, p):
    """Timers are short enough that retries end within the run's limits."""
    part = next(part for part in draw.defs["transport"]["anyOf"]
                if part["properties"]["kind"]["enum"] == ["roce"])
    made = draw.object(part, p, skip=("class",))
    small = {"rto": ("1us", "10us", "100us", "1ms", "67108864ns"), "retry_limit": (0, 1, 3, 7, 20),
             "rto_low": ("auto", "1us", "20us", "320us"), "rto_high": ("auto", "10us", "1ms"),
             "start_jitter": ("0ns", "1ns", "1us", "50us"), "mtu": ("64B", "256B", "1000B", "1024B",
             "1500B", "4096B", "9000B", "4097B"), "ack_interval": (1, 1, 2, 3, 8, 64, 1000000),
             "qps_per_pair": (1, 2, 3, 8), "reorder": (0, 1, 8, 64, 1000000),
             "qp_scaling": ("turn", "split"), **ADMISSION}
    for key, values in small.items():
        if key in made or draw.chance(p / 4):
            made[key] = draw.rng.choice(values)
    if draw.chance(0.1):
        made["wire_overhead"] = draw.rng.choice(("ethernet", "none", {"data": "0B", "ack": "1B"},
                                                 {"data": "36B", "ack": "48B"},
                                                 {"data": "1000B", "ack": "1000B"}))
    return made


# policies that need another transport than RoCE
NOT_ROCE = ("newreno", "cubic", "nscc", "rccc", "nscc_rccc")


def policy(draw, p):
    """Any policy, by itself, by a preset, or with parameters anywhere in their ranges."""
    part = draw.rng.choice([part for part in draw.defs["cc"]["oneOf"]
                            if part["properties"]["kind"]["const"] not in NOT_ROCE])
    keys = 0 if draw.chance(0.5) else p
    made = draw.object(part, keys, skip=("preset", "transport"))
    presets = part["properties"].get("preset", {}).get("enum", ())
    if presets and draw.chance(0.5):
        made["preset"] = draw.rng.choice(presets)
    for key in ("alpha_timer", "rate_timer", "cut_interval", "t_low", "idle_restart"):
        if key in made:  # a timer of a nanosecond makes 10^9 events a second
            made[key] = draw.rng.choice(("1us", "10us", "55us", "1ms"))
    for key in ("min_rate", "rate_ai", "rate_hai", "delta"):
        if key in made:
            made[key] = draw.rng.choice(("10Mbps", "1Gbps", "line/1000", "line/20", "line"))
    if "min_cwnd" in made:
        made["min_cwnd"] = draw.rng.choice((0.001, 0.01, 1))
    return made


def output(draw, ranks, names):
    """Captures and samples."""
    made = {}
    if draw.chance(0.3):
        made["capture"] = []
        for i in range(draw.rng.randint(1, 3)):
            at = ",".join(place(draw, ranks, names) for _ in range(draw.rng.choice((1, 1, 2))))
            capture = {"at": at, "file": f"c{i}" + draw.rng.choice((".pcap", ".pcap.gz", ".pcapng", ".pcapng.gz"))}
            if draw.chance(0.3):
                capture["trigger"] = draw.rng.choice(TRIGGERS)
            if draw.chance(0.2):
                capture["ring"] = draw.rng.choice(("128KB", "1MB", "64GB", "auto"))
            if draw.chance(0.1):
                capture["from"], capture["to"] = draw.rng.choice((("0ns", "20us"), ("3us", "auto"), ("1ms", "1ms")))
            if draw.chance(0.3):
                capture["snaplen"] = draw.rng.choice(("54B", "55B", "100B", "128B", "65535B"))
            if draw.chance(0.2):
                capture["filter"] = draw.rng.choice(("udp port 4791", "ether proto 0x8808", "ip", ""))
            if draw.chance(0.3):
                capture["stamp"] = draw.rng.choice(("first_bit", "last_bit"))
            made["capture"].append(capture)
    if draw.chance(0.35):
        report = made["report"] = {}
        if draw.chance(0.7):
            report["sample"] = draw.rng.choice(("0ns", "1ps", "10ns", "777ns", "10us", "1ms", "1s"))
        if draw.chance(0.4):
            report["sample_at"] = [place(draw, ranks, names) for _ in range(draw.rng.randint(0, 2))]
        if draw.chance(0.3):
            report["flows_max"] = draw.rng.choice((0, 1, 5, 10000))
        if draw.chance(0.3):
            report["timeline"] = True
        if draw.chance(0.2):
            report["timeline_ranks"] = draw.rng.choice((1, 2, 65536))
    return made


def limits(draw):
    """A run's end: always a bound on events, so that every run is short; others now and then."""
    made = {"events": draw.rng.choice((1, 100, 5000, 60000)) if draw.chance(0.2) else 400000}
    if draw.chance(0.25):
        made["sim_time"] = draw.rng.choice(("1ns", "1us", "10us", "100us", "1ms", "1s", "100000s"))
    if draw.chance(0.4):
        made["stall"] = draw.rng.choice(("1us", "100us", "1ms", "10ms", "100ms"))
    if draw.chance(0.05):
        made["memory"] = draw.rng.choice(("1MB", "20MB", "1GB"))
    if draw.chance(0.05):
        made["wall"] = draw.rng.choice(("10s", "1000000s"))
    return made


def routes(draw, ranks, names):
    return [{"at": draw.rng.choice(names), "dst": f"rank{draw.rng.randrange(ranks)}",
             "via": draw.rng.choice(names + [f"rank{draw.rng.randrange(ranks)}"])}
            for _ in range(draw.rng.randint(1, 2))]


def meters(seed, made, ranks, names):
    """Meters of ports, with a draw of their own, so that seeds keep the rest of their scenarios."""
    rng = random.Random(f"meters {seed}")
    if made.get("network") == "analytical" or rng.random() >= 0.06:
        return
    places = [f"rank{rng.randrange(ranks)}", "*", *names]
    made["meters"] = [{"at": rng.choice(places), "rate": rng.choice(("1Gbps", "20Gbps", "100Gbps")), "burst": rng.choice(("10KB", "64KB", "4MB")),
                       "excess": rng.choice(("drop", "mark")), "class": rng.choice(("auto", 0, 3, 5))} for _ in range(rng.randint(1, 2))]


EXTREMES = {"time": ("0ns", "1ps", "1s", "100s", "100000s"), "rate": ("1Mbps", "100Tbps", "9999999bps"),
            "bytes": ("0B", "1B", "63B", "1MB", "4GB", "1PB"),
            "number": (0, 1, 2, 3, 64, 255, 4096, 65536, 1000000, 2**31, 2**32)}


def leaves(value, found):
    """Places of numbers and quantities below a value, as pairs of a container and a key."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, (dict, list)):
            leaves(inner, found)
        elif not isinstance(inner, bool) and key != "events":
            found.append((value, key))
    return found


def extremes(draw, made):
    """Some values at or beyond an end of their range: mostly refused, sometimes valid and unusual."""
    for _ in range(draw.rng.choice((1, 1, 2, 4))):
        container, key = draw.rng.choice(leaves(made, []))
        value = container[key]
        kinds = [kind for kind in ("time", "rate", "bytes")
                 if drawing.parse(value, drawing.UNITS[kind]) is not None]
        if isinstance(value, (int, float)):
            kinds.append("bytes" if key == "bytes" else "number")
        if kinds:
            container[key] = draw.rng.choice(EXTREMES[kinds[0]])


def write(made, folder):
    with open(folder / "scenario.json", "w", encoding="utf-8") as f:
        json.dump(made, f, indent=1)


def scenario(seed, folder):
    """The scenario of a seed; the files that it names go to the folder."""
    draw = drawing.Draw(random.Random(seed), schema())
    p = draw.rng.choice((0, 0.05, 0.15, 0.3, 0.6))  # of each key; many at once are often refused
    analytical = draw.chance(0.08)
    topology, ranks, names = topologies.topology(draw, folder, p, analytical)
    dims = [dim["size"] for dim in topology["dims"]]
    made = {"name": f"random-{seed}", "seed": draw.rng.choice((0, 1, seed, 2**53)), "topology": topology}
    if analytical:
        made["network"] = "analytical"
    if draw.chance(0.8):
        made["switch"] = switch(draw, p)
    if draw.chance(0.8):
        made["transport"] = transport(draw, p)
    if draw.chance(0.8):
        made["cc"] = policy(draw, p)
        if draw.chance(0.08):
            topology["dims"][-1]["cc"] = policy(draw, p)
    made["workload"] = workloads.workload(draw, ranks, dims, folder, analytical)
    if not analytical and draw.chance(0.3):
        made["faults"] = [fault(draw, ranks, names) for _ in range(draw.rng.choice((0, 1, 1, 2, 4)))]
    if not analytical and names and draw.chance(0.05):
        made["routes"] = routes(draw, ranks, names)
        made.setdefault("switch", {}).setdefault("routing", {})["kind"] = "static"
    if not analytical or draw.chance(0.05):
        made.update(output(draw, ranks, names))
    made["limits"] = limits(draw)
    # Without a draw, so that seeds keep their scenarios.
    made["explain"] = {"try": ("auto", 0, 0, 1)[len(str(made)) % 4]}
    fabric.fabric(seed, made)
    stacks.stacks(draw, seed, made)
    if draw.chance(0.1):
        made["duration"] = draw.rng.choice(("1ns", "1us", "30us", "100us", "2ms"))
    if draw.chance(0.2):
        extremes(draw, made)
    hosts.hosts(seed, made)
    meters(seed, made, ranks, names)
    write(made, folder)
    return made


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    scenario(int(sys.argv[1]), pathlib.Path(sys.argv[2]))
