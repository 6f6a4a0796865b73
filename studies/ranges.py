# SPDX-License-Identifier: MIT
"""What claims/data.csv says about a headline claim: its ratios as stated and over the draws, and what moves them most."""
import csv
import pathlib
import re
import statistics

DATA = pathlib.Path(__file__).resolve().parent / "claims" / "data.csv"
# What a claim adds up to its base: a step, and the variants without and with it.
STEPS = {
    "dlrm": {
        "latency": ("no latency", "closed form"),
        "packets": ("closed form", "one switch"),
        "two tiers": ("one switch", "static"),
        "collisions": ("static", "none"),
    }
}


def pairs(text):
    """"link delay=2us buffer=default" as a dictionary."""
    return dict(re.findall(r"([^=]+)=(\S+)(?: |$)", text))


def ratio(variant, base=None):
    """A function of a row: the variant's time over that of `base`, or of the claim's own base."""
    def of(row):
        times = pairs(row["ratios"])
        return float(times[variant.replace(" ", "_")]) / (float(times[base.replace(" ", "_")]) if base else 1)
    return of


def step(step_from, step_to):
    """A function of a row: what the second variant takes longer than the first, as a share of the claim's base."""
    return lambda row: ratio(step_to)(row) - ratio(step_from)(row)


class Ranges:
    """A claim: `stated` is the row of its own assumptions, `drawn` are the others."""

    def __init__(self, claim, rows=None):
        if rows is None:
            rows = csv.DictReader(DATA.open(encoding="utf-8"))
        self.stated, *self.drawn = [row for row in rows if row["claim"] == claim]

    def values(self, of):
        return [of(row) for row in self.drawn]

    def moved_most(self, of):
        """The assumption whose values part the draws most, and by how much their medians differ."""
        best = ("", 0.0)
        for key in pairs(self.drawn[0]["assumptions"]):
            groups = {}
            for row in self.drawn:
                groups.setdefault(pairs(row["assumptions"])[key], []).append(of(row))
            medians = [statistics.median(group) for group in groups.values()]
            if key != "seed":
                best = max(best, (key, max(medians) - min(medians)), key=lambda pair: pair[1])
        return best

    def largest(self, steps):
        """How often each of {name: of} is the largest of a draw."""
        first = [max(steps, key=lambda name: steps[name](row)) for row in self.drawn]
        return {name: first.count(name) for name in steps}
