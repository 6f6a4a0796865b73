# SPDX-License-Identifier: MIT
"""Small charts as SVG, drawn here so that a notebook shows them without another package and without a request.

The full charts are those of report(); tables of pandas can be drawn in any other way.
"""
from __future__ import annotations

import html
import math
import os
import pathlib
import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from collwire._errors import Error
from collwire._styles import COLOURS
from collwire._tables import Row

WIDTH, BAR, LEFT, RIGHT = 660, 22, 150, 40
LETTER, NAME = 7.2, 40  # width of a letter; longer names are cut
OTHERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b3294", "#8a8a8a", "#a0522d", "#5c2d14")


class Chart:
    """A picture: `svg` is its text, `save` writes it; Jupyter shows it inline."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, file: Union[str, "os.PathLike[str]"]) -> None:
        """Write the SVG to a file."""
        pathlib.Path(file).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.svg  # nbconvert takes the elements out of an SVG, not of HTML


class Part(NamedTuple):
    """A part of a bar."""

    name: str
    value: float


def colour(name: str, place: int) -> str:
    """The colour of a policy, as on all pages of collwire; others by their place."""
    known = COLOURS.get(name) or COLOURS.get(name.split(":")[0].split("{")[0])
    return known or OTHERS[place % len(OTHERS)]


def time_text(ns: float) -> str:
    """A time in ns with the unit that suits it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def value_text(name: str, value: float) -> str:
    """A value with the unit that the end of its name says."""
    if name.endswith("_ns"):
        return time_text(value)
    for end, unit in (("bytes", "B"), ("bps", "bit/s")):
        if re.search(rf"(^|[._]){end}$", name):
            for prefix, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("K", 1e3)):
                if abs(value) >= size:
                    return f"{value / size:.3g} {prefix}{unit}"
            return f"{value:.3g} {unit}"
    return f"{value:.4g}"


def _document(height: float, title: str, body: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" '
        f'font-family="sans-serif" font-size="12" role="img"><title>{html.escape(title)}</title>'
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>'
        f'<text x="8" y="16" font-weight="bold">{html.escape(title)}</text>'
    )
    return head + "".join(body) + "</svg>"


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def stacked(title: str, bars: Sequence[Tuple[str, Sequence[Part]]], shown: Callable[[float], str]) -> Chart:
    """A bar for each name, of parts with a legend; `shown` writes a value with its unit."""
    names = list(dict.fromkeys(part.name for _, parts in bars for part in parts))
    most = max([sum(part.value for part in parts) for _, parts in bars] + [1e-30])
    left = max([float(LEFT)] + [14 + LETTER * min(len(name), NAME) for name, _ in bars])
    scale = (WIDTH - left - RIGHT - 80) / most
    body: List[str] = []
    y = 28.0
    for name, parts in bars:
        x = left
        body.append(_text(left - 6, y + 15, name if len(name) <= NAME else name[: NAME - 1] + "\u2026", "end"))
        for part in parts:
            fill = colour("", names.index(part.name)) if len(names) > 1 else colour(name, 0)
            label = html.escape(f"{name}, {part.name}: {shown(part.value)}")
            body.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{part.value * scale:.1f}" height="{BAR - 4}" fill="{fill}">'
                f"<title>{label}</title></rect>"
            )
            x += part.value * scale
        body.append(_text(x + 4, y + 15, shown(sum(part.value for part in parts))))
        y += BAR
    if len(names) > 1:
        legend, y = _legend(names, [colour("", i) for i in range(len(names))], y + 8)
        body += legend
    return Chart(_document(y + 8, title, body))


def _legend(names: Sequence[str], colours: Sequence[str], y: float) -> Tuple[List[str], float]:
    body, x = [], 8.0
    for name, fill in zip(names, colours):
        width = 24 + 7.0 * len(name)
        if x + width > WIDTH:
            x, y = 8.0, y + 18
        body.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="10" height="10" fill="{fill}"/>' + _text(x + 14, y + 10, name))
        x += width
    return body, y + 14


def _round_numbers(least: float, most: float, per_decade: Sequence[int]) -> List[float]:
    """The numbers m * 10^k, of the given m, from the last one up to `least` to the first from `most` on."""
    decades = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    numbers = [m * 10.0**k for k in decades for m in per_decade]
    first = max((n for n in numbers if n <= least), default=least)
    last = min((n for n in numbers if n >= most), default=most)
    return [n for n in numbers if first <= n <= last]


class _Axis:
    """A scale of numbers over some points of the picture, between round ones; logarithmic from a factor of 16 on."""

    def __init__(self, values: Sequence[float], low: float, high: float) -> None:
        least, most = min(values), max(values)
        self.log = least > 0 and most >= 16 * least
        self.ticks = self._logarithmic(least, most) if self.log else self._linear(min(0.0, least), max(0.0, most))
        self.least, self.most = self.ticks[0], self.ticks[-1]
        self.low, self.high = low, high

    @staticmethod
    def _logarithmic(least: float, most: float) -> List[float]:
        for per_decade in ((1, 2, 5), (1, 3), (1,)):
            ticks = _round_numbers(least, most, per_decade)
            if len(ticks) <= 7:
                return ticks
        return list(dict.fromkeys(ticks[:: (len(ticks) + 6) // 7] + ticks[-1:]))

    @staticmethod
    def _linear(least: float, most: float) -> List[float]:
        if most <= least:
            return [0.0, 1.0]
        step = _round_numbers((most - least) / 5, (most - least) / 5, (1, 2, 5))[-1]
        return [i * step for i in range(math.floor(least / step), math.ceil(most / step) + 1)]

    def at(self, value: float) -> float:
        """The place of a value."""
        a, b, v = (math.log(x) for x in (self.least, self.most, value)) if self.log else (self.least, self.most, value)
        return self.low + (self.high - self.low) * (v - a) / (b - a)


def lines(title: str, series: Mapping[str, Sequence[Tuple[float, float]]], x_name: str, y_name: str) -> Chart:
    """Lines of points (x, y), with a legend; axes are logarithmic from a factor of 16 on."""
    points = [point for one in series.values() for point in one]
    if not points:
        raise Error("there is nothing to draw")
    x = _Axis([point[0] for point in points], 80, WIDTH - RIGHT)
    y = _Axis([point[1] for point in points], 300, 40)
    body = ['<path d="M80 40V300H620" fill="none" stroke="#444444"/>']
    for value in x.ticks:
        body.append(_text(x.at(value), 316, value_text(x_name, value), "middle"))
    for value in y.ticks:
        body.append(_text(76, y.at(value) + 4, value_text(y_name, value), "end"))
        body.append(f'<path d="M80 {y.at(value):.1f}H620" stroke="#dddddd"/>')
    body.append(_text(350, 334, x_name, "middle") + _text(80, 34, y_name))
    colours = [colour(name, i) for i, name in enumerate(series)]
    for fill, (name, one) in zip(colours, series.items()):
        places = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in one)
        body.append(f'<polyline points="{places}" fill="none" stroke="{fill}" stroke-width="1.5"><title>{html.escape(name)}</title></polyline>')
        if len(one) <= 64:
            body += [f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="2.5" fill="{fill}"/>' for a, b in one]
    legend, end = _legend(list(series), colours, 344)
    return Chart(_document(end + 8, title, body + legend))


def path_parts(slowest: Optional[Mapping[str, Any]]) -> List[Part]:
    """Where the time of a critical path went, by cause."""
    parts = (slowest or {}).get("parts", {})
    return [Part(name[:-3].replace("_", " "), value) for name, value in parts.items() if name.endswith("_ns") and value]


def of_result(metrics: Mapping[str, Any], records: Callable[[str], List[Row]], what: str) -> Chart:
    """A chart of one run."""
    name = str(metrics["name"])
    if what == "path":
        slowest = metrics.get("slowest")
        if not slowest:
            raise Error("nothing has ended, so there is no critical path")
        return stacked(f"{name}: where the time went", [(str(slowest["name"]), path_parts(slowest))], time_text)
    columns: Dict[str, Tuple[str, str]] = {"slowdown": ("slowdown", "slowdown"), "fct": ("fct_ns", "fct_ns")}
    if what not in columns:
        raise KeyError(f'there is no chart "{what}"; there are path, slowdown, fct')
    column, label = columns[what]
    values = sorted(row[column] for row in records("flows") if row.get(column) is not None)
    shares = [(value, (i + 1) / len(values)) for i, value in enumerate(values)]
    return lines(f"{name}: share of messages", {"messages": shares}, label, "share")
