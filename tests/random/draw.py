# SPDX-License-Identifier: MIT
"""Values for the keys of a scenario, drawn from its JSON Schema: ranges, defaults, units and words.

A range stands in a number's minimum and maximum, or in a description ("[1ns .. 1s]"). Values lie
around the default on a logarithmic scale; the ends of the range come often, since limits hide errors.
"""
import math
import re

TIME = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
         "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
RATE = {"bps": 1, "Kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
UNITS = {"time": TIME, "bytes": BYTES, "rate": RATE, "line_rate": RATE}
WIDEST = {"time": (0, 10**17), "bytes": (0, 10**15), "rate": (10**6, 10**14),
          "line_rate": (10**3, 10**14)}
USUAL = {"time": 10**7, "bytes": 10**5, "rate": 10**11, "line_rate": 10**9}


def parse(text, units):
    """The number in `text`, or None if it is a word such as auto or line/1000."""
    match = re.fullmatch(r"([0-9.]+)([A-Za-z]+)", str(text))
    if not match or match.group(2) not in units:
        return None
    return int(float(match.group(1)) * units[match.group(2)])


def text_of(number, kind):
    """A number as a scenario has it, in the largest unit in which it is an integer."""
    units = UNITS[kind]
    for unit, size in sorted(units.items(), key=lambda item: -item[1]):
        if "i" not in unit and number % size == 0 and number >= size:
            return f"{number // size}{unit}"
    return f"{number}{min(units, key=units.get)}"


def log_between(rng, low, high):
    """An integer whose logarithm is uniformly distributed."""
    if low <= 0:
        if rng.random() < 0.1 or high <= 1:
            return max(low, 0)
        low = 1
    return min(max(round(math.exp(rng.uniform(math.log(low), math.log(max(low, high))))), low), high)


def bounded(rng, low, high, usual):
    """Mostly within a factor of 30 of the usual value; sometimes an end of the range."""
    chance = rng.random()
    if chance < 0.07:
        return low
    if chance < 0.10:
        return high
    if chance < 0.2:
        return log_between(rng, low, high)
    near_low, near_high = max(low, usual // 30), min(high, max(1, usual) * 30)
    return log_between(rng, min(near_low, high), max(near_high, low))


class Draw:
    """Draws values for one schema from one random stream."""

    def __init__(self, rng, schema):
        self.rng = rng
        self.defs = schema["$defs"]
        self.root = schema["properties"]

    def chance(self, p):
        return self.rng.random() < p

    def quantity(self, kind, part):
        units, (low, high) = UNITS[kind], WIDEST[kind]
        match = re.search(r"\[([^ \]]*) ?\.\. ?([^\]]*)\]", part.get("description", ""))
        if match:
            given = [parse(end, units) for end in match.groups()]
            low = low if given[0] is None else given[0]
            high = high if given[1] is None else given[1]
        usual = parse(part.get("default", ""), units)
        if kind == "line_rate" and self.chance(0.4):
            return f"line/{log_between(self.rng, 1, 1000)}"
        return text_of(bounded(self.rng, low, high, USUAL[kind] if usual is None else usual), kind)

    def number(self, part):
        low, high = part.get("minimum", 0), part.get("maximum", 1000)
        usual = part.get("default", min(max(1, low), high))
        usual = usual if isinstance(usual, (int, float)) else 1
        chance = self.rng.random()
        if part["type"] == "integer":
            return bounded(self.rng, low, high, usual)
        if chance < 0.1:
            return low
        if chance < 0.15:
            return high
        if chance < 0.3:
            return self.rng.uniform(low, high)
        return min(max(usual * math.exp(self.rng.uniform(-2, 2)), low), high)

    def value(self, part, p=0.3):
        """A value that a part of a schema allows; optional keys are included with probability `p`."""
        if "anyOf" in part or "oneOf" in part:
            choices = part.get("anyOf") or part["oneOf"]
            choice = dict(self.rng.choice(choices))
            choice.setdefault("description", part.get("description", ""))
            if "default" in part and "default" not in choice:
                choice["default"] = part["default"]
            return self.value(choice, p)
        if "$ref" in part:
            name = part["$ref"].split("/")[-1]
            return self.quantity(name, part) if name in UNITS else self.object(self.defs[name], p)
        if "const" in part:
            return part["const"]
        if "enum" in part:
            return self.rng.choice(part["enum"])
        if part["type"] in ("integer", "number"):
            return self.number(part)
        if part["type"] == "boolean":
            return self.chance(0.5)
        if part["type"] == "object":
            return self.object(part, p)
        raise ValueError(f"no value for {part}")

    def object(self, part, p=0.3, skip=()):
        """All required and some optional keys of an object, except lists, texts and `skip`."""
        result = {}
        for key, inner in part.get("properties", {}).items():
            if inner is False or key in skip or inner.get("type") in ("string", "array"):
                continue
            if "const" in inner:
                result[key] = inner["const"]
            elif key in part.get("required", ()) or self.chance(p):
                result[key] = self.value(inner, p)
        return result

    def kind(self, parts, kind):
        """The alternative of a oneOf with this value of `kind`."""
        return next(part for part in parts if part["properties"]["kind"].get("const") == kind)
