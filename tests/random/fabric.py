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


def fabric(seed, made):
    """A share of the scenarios; the others stay as they are, since the draws are of its own."""
    rng = random.Random(f"fabric {seed}")
    if made.get("network") == "analytical":
        return
    if rng.random() < 0.2:
        trimming(rng, made)
    elif rng.random() < 0.12:
        credits(rng, made)
