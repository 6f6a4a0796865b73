# SPDX-License-Identifier: MIT
"""Figures and tables of the DLRM study's page."""
import design
from charts import dots, embed, lines, stacks
from results import size
from tables import markdown, mean

NAMES = {
    "compute": "computing",
    "sending": "transmitting",
    "nic": "NIC busy with other packets",
    "window": "window or ACK",
    "pace": "pace",
    "paused": "PFC",
    "network": "propagation and switches",
    "queued": "queues of switches",
    "behind": "behind own messages",
}
CLOSED = "collective in closed form"
STEP_PARTS = [
    NAMES["compute"],
    NAMES["sending"],
    CLOSED,
    *(NAMES[part] for part in ("nic", "behind", "network", "queued")),
]
OVER = "time over that of PFC alone"


def parts(rows):
    """Mean of each part of the critical path, in ms. A collective in closed form is one part."""
    sums = {part: mean(row[part] for row in rows) / 1e6 for part in design.PARTS}
    made = {NAMES[part]: value for part, value in sums.items() if part in NAMES}
    closed = made[NAMES["network"]] if rows[0]["sweep"].startswith("step: closed form") else 0
    made[NAMES["network"]] -= closed
    return {**made, CLOSED: closed}


def networks(d):
    """(name, rows) of the way from the closed form to ECMP, then of the runs beside it with one property changed."""
    for name in design.STEPS:
        if name not in design.BESIDE:
            yield name, d.rows(f"step: {name}", "none")
    yield "two tiers, 2:1, ECMP (20 draws)", d.rows("ecmp", "none")
    for name in design.BESIDE:
        yield f"beside: {name}", d.rows(f"step: {name}", "none")


def megabytes(size_):
    return "0.5" if size_ == "500KB" else size_.removesuffix("MB")


def make(d):
    """Draws all figures; name -> Markdown."""
    made = {}

    def figure(name, words, draw, *rest, **options):
        draw(f"dlrm-{name}", *rest, **options)
        made[f"figure {name}"] = embed(f"dlrm-{name}", words)

    ratios = lambda sweep: {
        way: (list(d.over(sweep, way).values()), d.ratio(sweep, way)) for way in d.ways(sweep)
    }  # noqa: E731
    figure(
        "policies",
        "Iteration over that of no policy, by policy, under ECMP and on static routes",
        dots,
        {"ECMP, 20 draws": ratios("ecmp"), "static routes": ratios("static")},
        OVER,
        same=True,
    )
    bars = {name: parts(rows) for name, rows in networks(d)}
    figure(
        "steps",
        "Iteration in ms by part of its critical path, from the closed form to ECMP",
        stacks,
        bars,
        "iteration, ms",
    )
    ways = ("none", "dctcp", "dcqcn nic", "dcqcn scaled", "timely", "hpcc", "swift", "uec nscc", "tcp dctcp")
    figure(
        "paths",
        "Iteration under ECMP in ms by part of its critical path, by policy",
        stacks,
        {way: parts(d.rows("ecmp", way)) for way in ways},
        "iteration, ms",
    )
    span = lambda values: (mean(values), min(values), max(values))  # noqa: E731
    scaled = {}
    for name in design.SHARDINGS:
        series = {"static routes": {}, "ECMP": {}, "uec nscc": {}}
        for gpus in ("16", "64", "256", "1024"):
            level = f"{gpus}, {name}"
            for label, sweep, way in (
                ("static routes", "scale-static", "none"),
                ("ECMP", "scale-ecmp", "none"),
                ("uec nscc", "scale-ecmp", "uec nscc"),
                ("ECMP", "scale-large", "none"),
            ):
                got = d.rows(sweep, way, level)
                if got:
                    closed = d.mean("scale-closed", "none", level)
                    series[label][gpus] = span([row["time_ns"] / closed for row in got])
        scaled[name] = {label: values for label, values in series.items() if values}
    figure(
        "scale",
        "Iteration over that in closed form against the number of GPUs, for four shardings",
        lines,
        scaled,
        "time over closed form",
        columns=4,
        height=2.6,
        x_label="GPUs",
    )
    panels = {}
    for what, title in (("dense", "reduces"), ("model", "model")):
        for fabric in design.FABRICS:
            sweep, way = design.buffer_sweep(what, fabric)
            panels[f"{fabric}: {title}"] = {
                name: {
                    megabytes(size_): span([row["time_ns"] / 1e6 for row in d.rows(sweep, way, f"{name}, {size_}")])
                    for size_ in design.FABRICS[fabric].sizes
                }
                for name in design.ALL_REDUCES
            }
    figure(
        "buffer",
        "Iteration in ms against the buffer of the global switch, for three all-reduces, by transport",
        lines,
        panels,
        "iteration, ms",
        columns=5,
        width=11.0,
        x_label="buffer, MB",
    )
    factors = {
        title: {
            way: {level: span(list(d.over(sweep, way, level).values())) for level in d.levels(sweep)}
            for way in d.ways(sweep)
            if way != "none"
        }
        for title, sweep in (
            ("routing", "routing"),
            ("queue pairs a pair", "qps"),
            ("packets per ACK, ECMP", "acks-ecmp"),
        )
    }
    figure("factors", "Iteration over that of no policy against routing, queue pairs and ACKs", lines, factors, OVER)
    return made


def report_tables(d):
    made = {f"table {name}": d.table(name, None) for name in ("ecmp", "static")}
    for name, words in (
        ("routing", "routing"),
        ("qps", "queue pairs"),
        ("acks-ecmp", "packets per ACK"),
        ("acks-static", "packets per ACK"),
        ("scale-ecmp", "GPUs, sharding"),
        ("scale-large", "GPUs, sharding"),
    ):
        made[f"table {name}"] = d.table(name, words)
    made["table steps"] = steps(d)
    made["table scale"] = scale(d)
    made["table models"] = models(d)
    made["table buffer"] = "\n\n".join(buffer(d, what) for what in ("dense", "model"))
    return made


def steps(d):
    shown, before = [], None
    for name, rows in networks(d):
        time = mean(row["time_ns"] for row in rows) / 1e6
        beside = name.startswith("beside")
        made = parts(rows)
        shown.append(
            [name, f"{time:.3f}", "" if before is None or beside else f"{time - before:+.3f}"]
            + [f"{mean(row['embedding_ns'] for row in rows) / 1e6:.3f}"]
            + [f"{made[part]:.3f}" if made.get(part) else "" for part in STEP_PARTS]
        )
        before = time
    return markdown(["network", "iteration, ms", "more than the line above", "exposed all-to-all", *STEP_PARTS], shown)


def scale(d):
    rows = []
    for level in d.levels("scale-closed"):
        closed = d.mean("scale-closed", "none", level)
        shown = [level, f"{closed / 1e6:.3f}"]
        for sweep, way in (
            ("scale-static", "none"),
            ("scale-ecmp", "none"),
            ("scale-large", "none"),
            ("scale-ecmp", "dcqcn nic"),
            ("scale-large", "dcqcn nic"),
            ("scale-ecmp", "uec nscc"),
        ):
            got = d.rows(sweep, way, level)
            shown.append(f"{mean(row['time_ns'] for row in got) / 1e6:.3f}" if got else "")
        rows.append(shown[:3] + [shown[3] or shown[4], shown[5] or shown[6], shown[7]])
    return markdown(["GPUs, sharding", "closed form, ms", "static routes", "ECMP", "ECMP, dcqcn nic", "uec nscc"], rows)


def models(d):
    rows = []
    for name in design.MODELS:
        closed, packets = (d.rows(f"model: {name}", "none", level)[0] for level in ("closed form", "packets"))
        rows.append(
            [
                name,
                f"{packets['compute_ns'] / 1e6:.3f}",
                f"{closed['time_ns'] / 1e6:.3f}",
                f"{packets['time_ns'] / 1e6:.3f}",
                f"{packets['time_ns'] / closed['time_ns']:.3f}",
            ]
        )
    return markdown(["model", "compute, ms", "closed form, ms", "packets, ms", "ratio"], rows)


def buffer(d, what):
    sizes = design.SIZES
    rows = []
    for fabric in design.FABRICS:
        sweep, way = design.buffer_sweep(what, fabric)
        for name in design.ALL_REDUCES:
            cells = [d.rows(sweep, way, f"{name}, {size_}") for size_ in sizes]
            least = next(got for got in cells if got)
            shown = ["all-reduces alone" if what == "dense" else "whole model", fabric, name]
            for got in cells:
                failed = any(row["status"] != "completed" for row in got)
                shown.append("fails" if failed else f"{mean(row['time_ns'] for row in got) / 1e6:.2f}" if got else "")
            rows.append(
                shown
                + [
                    f"{mean(row['drops'] for row in least):.0f}",
                    f"{mean(row['timeouts'] for row in least):.0f}",
                    size(max(row["queue"] for row in cells[-1])),
                ]
            )
    return markdown(
        ["", "global switch", "all-reduce", *sizes, "drops, smallest", "timeouts, smallest", "queue, 32MB"], rows, 3
    )
