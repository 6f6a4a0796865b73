# SPDX-License-Identifier: MIT
"""Rows of results: kept in a CSV file, selected, averaged, and printed as tables."""
import csv
import math


def write(file, rows):
    """`rows`: dictionaries with the same keys."""
    with open(file, "w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read(file):
    with open(file, newline="") as source:
        return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(source)]


def number(word):
    try:
        return int(word)
    except ValueError:
        try:
            return float(word)
        except ValueError:
            return word


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def markdown(head, rows, words=1):
    """A table whose first columns hold words, the others numbers."""
    lines = [f"| {' | '.join(head)} |", "|---" * words + "|" + "---:|" * (len(head) - words)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def largest_load_at_most(balls, bins, most):
    """Ways to throw `balls` into `bins` with no bin above `most`."""
    ways = [1] + [0] * balls
    for _ in range(bins):
        ways = [sum(math.comb(n, k) * ways[n - k] for k in range(min(n, most) + 1)) for n in range(balls + 1)]
    return ways[balls]


def largest_load(balls, bins, groups):
    """{c: probability that the fullest bin of all groups holds c balls}, exact (multinomial)."""
    total = bins**balls
    below = {most: (largest_load_at_most(balls, bins, most) / total) ** groups for most in range(balls + 1)}
    return {c: below[c] - below[c - 1] for c in range(1, balls + 1)}
