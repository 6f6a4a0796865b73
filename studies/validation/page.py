# SPDX-License-Identifier: MIT
"""The text of docs/validation.md: measured points, simulated times, errors and their causes."""
import json
import pathlib
import statistics
import typing

from charts import draw, embed
from results import fill
from tables import markdown

HERE = pathlib.Path(__file__).resolve().parent
LARGE = 64 << 20


class Pair(typing.NamedTuple):
    """A point, its time, how it ran in the simulator, and the time there."""

    point: dict
    measured_us: float
    way: str
    ours_us: float

    def error(self):
        return self.ours_us / self.measured_us - 1


def pairs(points, rows):
    of = {row["id"]: row for row in rows}
    made = []
    for point in points:
        measured = point["time_us"] or point["bytes"] * 1000 / point["GBps"] / 1e3
        made.append(Pair(point, measured, of[point["id"]]["way"], of[point["id"]]["simulated_us"]))
    return made


def amount(size):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} B"


def points_table(every):
    rows = [
        [
            f"[{pair.point['id']}]({pair.point['url']})",
            pair.point["machine"],
            pair.point["op"],
            pair.point["stated"] or "not stated",
            amount(pair.point["bytes"]) if pair.point["op"] != "ib_write_bw" else "stream",
            f"{pair.measured_us:.6g}",
            f"{pair.ours_us:.6g}",
            pair.way,
            "calibration" if "calibration" in pair.point else f"{100 * pair.error():+.1f} %",
        ]
        for pair in every
    ]
    names = ["point", "machine", "operation", "algorithm of the source", "size", "measured", "ours", "by", "error"]
    return markdown(names, rows, 4)


def mechanisms_table(counted):
    """Every error above 20 % must have a cause in mechanisms.json."""
    causes = json.loads((HERE / "mechanisms.json").read_text())
    of = {name: cause for cause in causes for name in cause["points"]}
    large = [pair for pair in counted if abs(pair.error()) > 0.2]
    missing = [pair.point["id"] for pair in large if pair.point["id"] not in of]
    if missing:
        raise KeyError(f"mechanisms.json: no cause for {', '.join(missing)}")
    rows = []
    for cause in causes:
        named = [f"{pair.point['id']} ({100 * pair.error():+.0f} %)" for pair in large if of[pair.point["id"]] is cause]
        if named:
            rows.append([", ".join(named), cause["cause"], cause["evidence"]])
    return markdown(["points", "cause", "why we think so"], rows, 3)


def chart(counted):
    kinds = {
        "Ring": ("NCCL, ring", "o", "#0072b2"),
        "Tree": ("NCCL, tree", "s", "#d55e00"),
        "NVLS": ("NCCL, NVLS", "v", "#e69f00"),
        "pairs": ("pairs", "^", "#009e73"),
        "other": ("RDMA write", "D", "#cc79a7"),
    }

    def kind(pair):
        word = pair.way.split(",")[0]
        word = {"NVLSTree": "NVLS", "all pairs": "pairs"}.get(word, word)
        return word if word in kinds else "other"

    def paint(figure, axes, theme):
        axis = axes[0]
        axis.set_xscale("log")
        axis.axhspan(0.8, 1.2, color=theme["faint"], alpha=0.5, linewidth=0)
        axis.axhline(1, color=theme["ink"], linewidth=0.8)
        for word, (name, marker, colour) in kinds.items():
            of = [pair for pair in counted if kind(pair) == word]
            x, y = [p.point["bytes"] for p in of], [1 + p.error() for p in of]
            axis.plot(x, y, marker, color=colour, markersize=6, linestyle="none", label=name)
        axis.set_xlabel("bytes")
        axis.set_ylabel("ours over measured")
        axis.set_ylim(0, 2)
        axis.grid(True)
        axis.legend(loc="upper right", ncol=2)

    draw("validation-errors", 9.6, 3.6, 1, 1, paint)
    return embed("validation-errors", "Time of the simulator over the measured time against the size of the message")


def median(pairs_):
    return f"{100 * statistics.median(abs(pair.error()) for pair in pairs_):.0f}"


def text(points, rows):
    every = pairs(points, rows)
    counted = [pair for pair in every if "calibration" not in pair.point]
    long = [pair for pair in counted if pair.point["bytes"] > LARGE]
    short = [pair for pair in counted if pair.point["bytes"] <= LARGE]
    old = [pair for pair in counted if "set" not in pair.point]
    published = [pair for pair in counted if "set" in pair.point]
    assumptions = (HERE / "assumptions.md").read_text().split("\n\n", 1)[1].strip()
    within = [pair for pair in counted if abs(pair.error()) <= 0.2]
    return fill(
        (HERE / "page.md").read_text(),
        {
            "count": str(len(counted)),
            "sources": str(len({pair.point["url"].split("#")[0] for pair in counted})),
            "long": str(len(long)),
            "long median": median(long),
            "long close": str(sum(abs(pair.error()) <= 0.05 for pair in long)),
            "short": str(len(short)),
            "short median": median(short),
            "within": str(len(within)),
            "within share": f"{100 * len(within) / len(counted):.0f}",
            "old": str(len(old)),
            "old median": median(old),
            "published": str(len(published)),
            "published median": median(published),
            "table points": points_table(every),
            "table mechanisms": mechanisms_table(counted),
            "figure errors": chart(counted),
            "assumptions": assumptions,
        },
    )
