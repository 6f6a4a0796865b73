# SPDX-License-Identifier: MIT
"""Options of switches in random scenarios that only act together with others, drawn so that they do."""
import random


def trimming(rng, made):
    """A shallow lossy queue, and RoCE settings that take trimmed packets."""
    switch = made.setdefault("switch", {})
    switch["trimming"] = {"enabled": True}
    choices = {"size": ("64B", "100B", "1024B"), "victim": ("newest", "coin"),
               "control_limit": ("auto", "64B", "1KB", "100KB"), "control_share": (1, 0.5, 0.05)}
    for key, values in choices.items():
        if rng.random() < 0.5:
            switch["trimming"][key] = rng.choice(values)
    if rng.random() < 0.8:
        switch.setdefault("pfc", {})["enabled"] = False
        switch.pop("classes", None)
    if rng.random() < 0.8:
        switch["queue_limit"] = rng.choice(({"packets": 1}, {"packets": 1}, {"packets": 3}, {"bytes": "9KB"}))
    transport = made.setdefault("transport", {})
    transport.update(recovery="selective_repeat", ack_class="control")
    transport.pop("kind", None)


def credits(rng, made):
    """Lossless classes with credits in place of PFC; little credit makes links wait."""
    switch = made.setdefault("switch", {})
    switch["flow_control"] = "credit"
    if rng.random() < 0.6:
        switch["credit"] = rng.choice(("auto", "5KB", "10KB", "20KB", "100KB", "64B"))
    switch.get("pfc", {}).pop("enabled", None)


def links(rng, made):
    """Faults whose links flap or lose lanes, and links that send again what they lose."""
    for fault in made["faults"]:
        if rng.random() < 0.3 and "down" not in fault:
            down, period = rng.choice((("100ns", "1us"), ("5us", "20us"), ("50us", "1ms"), ("10us", "10us")))
            fault["flap"] = {"start": rng.choice(("0ns", "3us", "100us")), "period": period, "down": down,
                             "count": rng.choice((1, 2, 10, 1000))}
        if rng.random() < 0.3:
            fault["rate"] = {"share": rng.choice((0.75, 0.5, 0.25, 0.01, 1)),
                             "start": rng.choice(("0ns", "1us", "20us"))}
            if rng.random() < 0.5:
                fault["rate"]["end"] = rng.choice(("2us", "50us", "10ms"))
    if rng.random() < 0.4:
        made.setdefault("switch", {})["llr"] = True


def nic(rng, made):
    """NICs that limit: by a preset, by values, or both; little buffer makes them pause or drop."""
    if rng.random() < 0.2:
        made["nic"] = rng.choice(("ideal", "connectx6", "connectx7", "thor", "thor2"))
        return
    choices = {"preset": ("connectx6", "connectx7", "ideal"), "message_rate": (0, 1000000, 200000000),
               "bus_rate": ("0bps", "5Gbps", "20Gbps", "50Gbps", "400Gbps"), "bus_duplex": ("full", "half"),
               "burst": ("1B", "128B", "4KB"), "burst_overhead": ("0B", "24B", "1KB"),
               "buffer": ("1KB", "100KB", "300KB", "1MB", "20MB"), "qp_cache": (0, 1, 2, 8, 100000),
               "qp_miss": ("0ns", "1ns", "500ns", "20us"), "doorbell": ("0ns", "1ns", "700ns", "1ms"),
               "completion": ("0ns", "1ns", "400ns", "1ms"), "at": ("rank0", "rank1*", "rank0,rank1")}
    made["nic"] = {key: rng.choice(values) for key, values in choices.items() if rng.random() < 0.5}
    if "bus_rate" in made["nic"] and rng.random() < 0.7:
        made["nic"]["buffer"] = rng.choice(("300KB", "1MB", "4MB"))
    if made["nic"].get("at") == "rank0" and rng.random() < 0.6:  # two kinds in one network
        made["nic"] = [made["nic"], {key: rng.choice(values) for key, values in choices.items() if key != "at" and rng.random() < 0.4}]


def fabric(seed, made):
    """A share of the scenarios; the others stay as they are, since the draws are of its own."""
    rng = random.Random(f"fabric {seed}")
    if made.get("network") == "analytical":
        return
    if rng.random() < 0.2:
        trimming(rng, made)
    elif rng.random() < 0.12:
        credits(rng, made)
    if made.get("faults") and rng.random() < 0.6:
        links(rng, made)
    if rng.random() < 0.25:
        nic(rng, made)
    for dim in made["topology"].get("dims", ()):
        if dim.get("kind") == "leaf_spine" and rng.random() < 0.25:
            dim["planes"] = rng.choice((2, 2, 3, 8))
