# SPDX-License-Identifier: MIT
"""TCP, UEC and MRC in random scenarios: in place of RoCE, or beside it as one of two transports."""
import random

POLICIES = {"tcp": ("none", "window", "dctcp", "swift", "newreno", "cubic"),
            "uec": ("nscc", "nscc", "rccc", "nscc_rccc", "window", "swift")}
POLICIES["mrc"] = POLICIES["uec"]


def tcp(rng):
    """Settings of TCP; timers are short enough that repetitions end within the run's limits."""
    choices = {"mss": ("64B", "536B", "1448B", "8948B"), "rto_min": ("10us", "200us", "1ms", "200ms"),
               "initial_window": (1, 2, 10, 100), "sack": (True, False), "timestamps": (True, False),
               "tail_loss_probe": (True, False), "probe_slack": ("0ns", "100us", "2ms"),
               "slow_start_after_idle": (True, False), "pacing": (True, False), "quick_ack": (0, 1, 1000),
               "segmentation_offload": ("0B", "16KB", "64KB"), "connections": ("pooled", "per_message"),
               "connections_per_pair": (1, 2, 4), "ecn": ("auto", "on", "off"),
               "sack_compression": ("0ns", "10us", "1ms"), "timer_tick": ("0ns", "100us", "4ms"),
               "receive_window": ("auto", "3000B", "64KB", "16MB"), "rto_initial": ("1ms", "1s"),
               "retries": (0, 3, 15), "stripe": (True, False), "class": ("auto", 0, 1, 3),
               "delayed_ack": ({"segments": 1}, {"segments": 4, "timeout": "50us"}, {"timeout": "1ms"}),
               "syn_retries": (0, 1, 6), "clock_ppm": (0, 100), "start_jitter": ("0ns", "50us"),
               "wire_overhead": ("ethernet", "none", {"data": "1000B", "ack": "0B"}),
               "read_stop": ("0ns", "20us", "1ms"), "read_resume": ("0ns", "30us", "2ms"),
               "admission": ("none", "cts", "cts"), "channels": (1, 2, 5), "slots": (1, 3, 64),
               "slot_bytes": ("64B", "10KB", "64KiB"), "slot_copy": ("0ns", "1us")}
    made = {"kind": "tcp", "rto_min": rng.choice(choices["rto_min"])}
    for key, values in choices.items():
        if rng.random() < 0.15:
            made[key] = rng.choice(values)
    return made


def uec(rng):
    """Settings of UEC; its switches trim in half of the scenarios."""
    choices = {"mtu": ("64B", "1000B", "4096B", "9000B"), "spray": ("none", "mixed", "oblivious", "bitmap", "reps", "mrc"),
               "destination_control": (True, False), "probe_interval": ("1us", "25us", "1ms"),
               "entropies": (1, 2, 64, 16384), "ack_every": ("1B", "16384B", "1MB"), "rto": ("auto", "5us", "50us", "1ms"),
               "retry_limit": (0, 7, 1000), "stripe": (True, False), "class": ("auto", 0, 1, 3), "clock_ppm": (0, 100),
               "start_jitter": ("0ns", "50us"), "wire_overhead": ("ethernet", "none", {"data": "64B", "ack": "64B"}),
               "admission": ("none", "cts"), "slots": (1, 3), "slot_bytes": ("64B", "10KB")}
    made = {"kind": "uec"}
    for key, values in choices.items():
        if rng.random() < 0.3:
            made[key] = rng.choice(values)
    return made


def mrc(rng):
    """The same settings with its defaults."""
    return uec(rng) | {"kind": "mrc"}


SETTINGS = {"tcp": tcp, "uec": uec, "mrc": mrc}


def trimming(rng, made):
    if rng.random() < 0.5:
        switch = made.setdefault("switch", {})
        switch.setdefault("trimming", {"enabled": True, "victim": rng.choice(("newest", "coin"))})
        switch.setdefault("queue_limit", rng.choice(({"packets": 2}, {"bytes": "30KB"}, {"bytes": "200KB"})))


def entry(draw, rng, other):
    kind = rng.choice(POLICIES[other])
    part = next(part for part in draw.defs["cc"]["oneOf"] if part["properties"]["kind"]["const"] == kind)
    made = {"kind": kind}
    presets = part["properties"].get("preset", {}).get("enum", ())
    if presets and rng.random() < 0.5:
        made["preset"] = rng.choice(presets)
    return made


def beside(draw, rng, made, other):
    """RoCE and another transport as lists; jobs choose."""
    transports = [dict(made.get("transport", {}), kind="roce"), SETTINGS[other](rng)]
    transports[1].pop("start_jitter", None)
    if "start_jitter" in transports[0]:
        transports[1]["start_jitter"] = transports[0]["start_jitter"]
    policies = []
    if rng.random() < 0.8:
        policies.append(dict(made.get("cc", {"kind": "none"}), transport="roce"))
    if rng.random() < 0.8:
        policies.append(dict(entry(draw, rng, other), transport=other))
    if rng.random() < 0.5:
        transports.reverse()
    made.update(transport=transports, cc=policies)
    for dim in made["topology"].get("dims", ()):
        if "cc" in dim:
            dim["cc"]["transport"] = "roce"
        if "transport" in dim:
            dim["transport"]["kind"] = rng.choice(("roce", other))
    jobs = made["workload"] if isinstance(made["workload"], list) else [made["workload"]]
    for job in jobs:
        if rng.random() < 0.7:
            job["transport"] = rng.choice(("roce", other))


def named(draw, seed, made, other):
    """In a third of the scenarios with two transports, a second one of a kind, with a policy of its own."""
    rng = random.Random(f"named {seed}")
    if rng.random() > 0.33:
        return
    transport = SETTINGS[other](rng) | {"name": "own"}
    for key in ("start_jitter", "clock_ppm"):
        transport.pop(key, None)
        if key in made["transport"][0]:
            transport[key] = made["transport"][0][key]
    made["transport"].append(transport)
    made["cc"].append(dict(entry(draw, rng, other), transport="own"))
    jobs = made["workload"] if isinstance(made["workload"], list) else [made["workload"]]
    for job in jobs:
        if rng.random() < 0.4:
            job["transport"] = "own"


def stacks(draw, seed, made):
    """A share of the scenarios; the others stay as they are, since the draws are of its own."""
    rng = random.Random(f"stacks {seed}")
    chance = rng.random()
    if made.get("network") == "analytical" or chance > 0.25:
        return
    other = "uec" if random.Random(f"other {seed}").random() < 0.4 else "tcp"
    if other == "uec":
        trimming(rng, made)
        other = "mrc" if random.Random(f"mrc {seed}").random() < 0.35 else "uec"
    if chance > 0.1:
        beside(draw, rng, made, other)
        named(draw, seed, made, other)
        return
    made["transport"] = SETTINGS[other](rng)
    made["cc"] = entry(draw, rng, other)
    for dim in made["topology"].get("dims", ()):
        dim.pop("cc", None)
        dim.pop("transport", None)
