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
LARGE, MIDDLE, SMALL = 64 << 20, 16 << 20, 64 << 10


class Pair(typing.NamedTuple):
    """A point, its time, and (case, time) by the rule and of the nearest protocol."""

    point: dict
    measured_us: float
    ours: tuple
    nearest: tuple

    def error(self):
        return self.ours[1] / self.measured_us - 1

    def nearest_error(self):
        return self.nearest[1] / self.measured_us - 1


def pairs(points, rows):
    made = []
    for point in points:
        cases = [(row["case"], row["simulated_us"]) for row in rows if row["id"] == point["id"]]
        measured = point["time_us"] or point["bytes"] * 1000 / point["GBps"] / 1e3
        ours = min(cases, key=lambda case: case[1])
        alike = [case for case in cases if case[0].split(",")[0] == ours[0].split(",")[0]]
        made.append(Pair(point, measured, ours, min(alike, key=lambda case: abs(case[1] / measured - 1))))
    return made


def amount(size):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} B"


def points_table(every):
    rows = []
    for pair in every:
        point = pair.point
        nearest = (
            ""
            if pair.nearest == pair.ours
            else f"{pair.nearest[0].split(', ')[-1]}: {100 * pair.nearest_error():+.0f} %"
        )
        size = amount(point["bytes"]) if point["op"] != "ib_write_bw" else "stream"
        rows.append(
            [
                f"[{point['id']}]({point['url']})",
                point["machine"],
                point["op"],
                point["stated"] or "not stated",
                size,
                f"{pair.measured_us:.6g}",
                f"{pair.ours[1]:.6g}",
                pair.ours[0],
                "calibration" if "calibration" in point else f"{100 * pair.error():+.1f} %",
                nearest,
            ]
        )
    return markdown(
        [
            "point",
            "machine",
            "operation",
            "algorithm of the source",
            "size",
            "measured",
            "ours",
            "by",
            "error",
            "nearest",
        ],
        rows,
        4,
    )


def mechanisms_table(counted):
    """Every error above 15 % must have a cause in mechanisms.json."""
    causes = json.loads((HERE / "mechanisms.json").read_text())
    of = {name: cause for cause in causes for name in cause["points"]}
    large = [pair for pair in counted if abs(pair.error()) > 0.15]
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
        "NCCL, ring": ("o", "#0072b2"),
        "NCCL, tree": ("s", "#d55e00"),
        "all-to-all": ("^", "#009e73"),
        "RDMA write": ("D", "#cc79a7"),
    }

    def kind(pair):
        word = pair.ours[0].split(",")[0]
        return {"ring": "NCCL, ring", "tree": "NCCL, tree", "direct": "all-to-all"}.get(word, "RDMA write")

    def paint(figure, axes, theme):
        axis = axes[0]
        axis.set_xscale("log")
        axis.axhspan(0.85, 1.15, color=theme["faint"], alpha=0.5, linewidth=0)
        axis.axhline(1, color=theme["ink"], linewidth=0.8)
        for name, (marker, colour) in kinds.items():
            of = [pair for pair in counted if kind(pair) == name]
            axis.plot(
                [p.point["bytes"] for p in of],
                [1 + p.error() for p in of],
                marker,
                color=colour,
                markersize=6,
                linestyle="none",
                label=name,
            )
            near = [pair for pair in of if pair.nearest != pair.ours]
            axis.plot(
                [p.point["bytes"] for p in near],
                [1 + p.nearest_error() for p in near],
                marker,
                color=colour,
                markerfacecolor="none",
                markersize=6,
                linestyle="none",
            )
        axis.set_xlabel("bytes")
        axis.set_ylabel("ours over measured")
        axis.set_ylim(0, 1.5)
        axis.grid(True)
        axis.legend(loc="lower right", ncol=2)

    draw("validation-errors", 9.6, 3.6, 1, 1, paint)
    return embed(
        "validation-errors",
        "Time of the simulator over the measured time against the size of the message; most small ones are below one, long ones at one",
    )


def text(points, rows):
    every = pairs(points, rows)
    counted = [pair for pair in every if "calibration" not in pair.point]
    long = [abs(pair.error()) for pair in counted if pair.point["bytes"] > LARGE]
    short = [abs(pair.error()) for pair in counted if pair.point["bytes"] <= LARGE]
    nccl = [pair for pair in counted if len({row["case"] for row in rows if row["id"] == pair.point["id"]}) > 2]
    assumptions = (HERE / "assumptions.md").read_text().split("\n\n", 1)[1].strip()
    return fill(
        (HERE / "page.md").read_text(),
        {
            "count": str(len(counted)),
            "sources": str(len({pair.point["url"].split("#")[0] for pair in counted})),
            "small": str(sum(pair.point["bytes"] <= MIDDLE for pair in counted)),
            "tiny": str(sum(pair.point["bytes"] <= SMALL for pair in counted)),
            "long": str(len(long)),
            "long mean": f"{100 * statistics.mean(long):.1f}",
            "long worst": f"{100 * max(long):.1f}",
            "short": str(len(short)),
            "short within": str(sum(error <= 0.15 for error in short)),
            "short median": f"{100 * statistics.median(short):.0f}",
            "nccl": str(len(nccl)),
            "rule within": str(sum(abs(pair.error()) <= 0.15 for pair in nccl)),
            "nearest within": str(sum(abs(pair.nearest_error()) <= 0.15 for pair in nccl)),
            "table points": points_table(every),
            "table mechanisms": mechanisms_table(counted),
            "figure errors": chart(counted),
            "assumptions": assumptions,
        },
    )
