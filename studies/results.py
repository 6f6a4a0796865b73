# SPDX-License-Identifier: MIT
"""What claims, figures and tables ask of a study's rows."""
import re

from tables import markdown, mean

OTHER_PATHS = ("uec", "tcp", "clear to send", "tally")


class Results:
    """`weights`: sweep, level, seed -> weight of that draw, 1 unless classes of draws have known probabilities."""

    def __init__(self, rows, weights=lambda sweep, level, seed: 1):
        self.weights = weights
        self.sweeps = {}
        for row in rows:
            self.sweeps.setdefault(row["sweep"], []).append(row)

    def rows(self, sweep, way=None, level=""):
        return [
            row
            for row in self.sweeps[sweep]
            if (way is None or row["way"] == way) and (level is None or str(row["level"]) == level)
        ]

    def levels(self, sweep):
        return list(dict.fromkeys(str(row["level"]) for row in self.sweeps[sweep]))

    def ways(self, sweep):
        return list(dict.fromkeys(row["way"] for row in self.sweeps[sweep]))

    def of(self, sweep, way, level="", key="time_ns"):
        """seed -> value"""
        return {row["seed"]: row[key] for row in self.rows(sweep, way, level)}

    def average(self, sweep, values, level=""):
        """Mean of {seed: value} by the weights of the draws."""
        weights = {seed: self.weights(sweep, level, seed) for seed in values}
        return sum(values[seed] * weights[seed] for seed in values) / sum(weights.values())

    def mean(self, sweep, way, level="", key="time_ns"):
        return self.average(sweep, self.of(sweep, way, level, key), level)

    def over(self, sweep, way, level="", base="none", key="time_ns"):
        """seed -> time over that of `base` with the same seed."""
        below = self.of(sweep, base, level, key)
        return {seed: value / below[seed] for seed, value in self.of(sweep, way, level, key).items()}

    def ratio(self, sweep, way, level="", base="none", key="time_ns"):
        """Mean of the ratios to `base` with the same seed; of a way that draws other paths with it, the ratio of means."""
        if way.startswith(OTHER_PATHS):
            return self.mean(sweep, way, level, key) / self.mean(sweep, base, level, key)
        return self.average(sweep, self.over(sweep, way, level, base, key), level)

    def table(self, sweep, words, base="none"):
        """Mean time and ratio to `base` of each level and way; largest queue, pauses and drops of all seeds."""
        rows = []
        for level in self.levels(sweep):
            for way in self.ways(sweep):
                got = self.rows(sweep, way, level)
                if not got:
                    continue
                ratios = self.over(sweep, way, level, base=base) if base in self.ways(sweep) else {}
                span = (
                    f"{self.ratio(sweep, way, level, base):.2f} ({min(ratios.values()):.2f} to {max(ratios.values()):.2f})"
                    if ratios
                    else ""
                )
                rows.append(
                    ([level] if words else [])
                    + [
                        way,
                        f"{self.mean(sweep, way, level) / 1e6:.3f}",
                        span,
                        size(max(row["queue"] for row in got)),
                        f"{mean(row['pauses'] for row in got):.0f}",
                        f"{mean(row['drops'] for row in got):.0f}",
                        str(len(got)),
                    ]
                )
        head = ([words] if words else []) + [
            "way",
            "time, ms",
            f"over {base} (least to most)",
            "longest queue",
            "pauses",
            "drops",
            "seeds",
        ]
        return markdown(head, rows, len(head) - 6)


def size(value):
    return f"{value / 1e3:.0f} KB" if value < 999.5e3 else f"{value / 1e6:.2f} MB"


def fill(template, values):
    """Replaces {{name}} by values[name]."""
    missing = sorted(set(re.findall(r"\{\{([^{}]+)\}\}", template)) - set(values))
    if missing:
        raise KeyError(f"page: no value for {', '.join(missing)}")
    return re.sub(r"\{\{([^{}]+)\}\}", lambda match: values[match[1]], template)
