# SPDX-License-Identifier: MIT
"""Figures and tables of the all-reduce study's page."""
import design
import facts
from charts import curves, dots, embed, lines, scatter
from tables import markdown

PANELS = {
    "2026": (
        "fibre",
        "ack",
        "mtu",
        "chunks",
        "qps",
        "routing",
        "spines",
        "rate",
        "buffer",
        "memory",
        "bytes",
        "algorithm",
    ),
    "2022": ("fibre", "ack", "mtu", "chunks", "qps", "routing", "spines", "memory", "algorithm"),
}
CASES = {
    "victim": "two flows beside an incast",
    "slow-receiver": "flows beside a slow receiver",
    "storage": "ring beside checkpoints",
    "two-jobs": "ring beside an all-to-all",
    "skew": "skewed mixture of experts",
    "degraded": "all-to-all, two slow trunks",
}
OVER = "time over that of PFC alone"


def make(d, timeline):
    """Draws all figures; name -> Markdown."""
    made = {}

    def figure(name, words, *drawing):
        draw, *rest = drawing
        draw(f"allreduce-{name}", *rest)
        made[f"figure {name}"] = embed(f"allreduce-{name}", words)

    centres = {
        f"{centre}: {title}": facts.dots(d, f"centre-{centre}", d.ways(f"centre-{centre}"))
        for centre, title in (("2026", "400G, 100 m of fibre"), ("2022", "200G, 2.5 km of fibre"))
    }
    figure(
        "centres", "Time over that of no policy, by policy, with a dot for each draw of ECMP paths", dots, centres, OVER
    )
    for centre, names in PANELS.items():
        panels = {design.AXES[name].title: facts.lines(d, f"{name}-{centre}") for name in names}
        figure(
            f"factors-{centre}",
            f"Time over that of no policy against each factor, around the centre of {centre}",
            lines,
            panels,
            OVER,
        )
    presets = {}
    for centre in ("2026", "2022"):
        both = facts.lines(d, f"presets-fibre-{centre}")
        presets[f"{centre}: no window"] = {way: series for way, series in both.items() if "window" not in way}
        presets[f"{centre}: window of one BDP"] = {
            way.removesuffix(" + window"): series for way, series in both.items() if "window" in way
        }
    figure(
        "presets",
        "DCQCN with four sets of gains, with and without a window, against the length of fibre",
        lines,
        presets,
        OVER,
        4,
    )
    routes = {}
    for title, ways in (("by routing", ("none", "window", "dcqcn scaled", "dcqcn nic", "timely", "hpcc", "swift")),):
        base = d.mean("routing-2026", "none", "static")
        routes[title] = {
            way: {level: (d.mean("routing-2026", way, level) / base,) * 3 for level in d.levels("routing-2026")}
            for way in ways
        }
    base = d.mean("qps-2026", "none", "1")
    routes["by queue pairs a pair"] = {
        way: {level: (d.mean("qps-2026", way, level) / base,) * 3 for level in d.levels("qps-2026")}
        for way in routes["by routing"]
    }
    figure(
        "routes",
        "Time by routing and by queue pairs, over that of static routes and of one queue pair",
        lines,
        routes,
        "time over no policy, first level",
        2,
    )
    collided = {}
    for centre in ("2026", "2022"):
        base, fullest = d.mean(f"routing-{centre}", "none", "static"), {
            seed: c for c, seeds in design.SEEDS[centre].items() for seed in seeds
        }
        ways = ("none", "window", facts.RATE_BASED[centre], "dcqcn nic", "hpcc", "swift")
        collided[centre] = {
            way: [
                (fullest[row["seed"]] + 0.07 * (place - 2.5), row["time_ns"] / base)
                for row in d.rows(f"centre-{centre}", way)
            ]
            for place, way in enumerate(ways)
        }
    figure(
        "collisions",
        "Time over that of collision-free routes against the flows on the fullest uplink",
        scatter,
        collided,
        "flows on the fullest uplink",
        "time over collision-free routes",
    )
    pauses = {
        "2026, buffers of 16 to 128 MB": {
            way: [
                (row["pauses"] / 1e3, row["time_ns"] / d.mean("buffer-2026", "none", str(row["level"])))
                for row in d.rows("buffer-2026", way, None)
            ]
            for way in d.ways("buffer-2026")
        }
    }
    figure(
        "pauses",
        "Time over that of no policy against the pauses of the run",
        scatter,
        pauses,
        "pauses, thousands",
        "time over mean of PFC alone",
    )
    harmed = {title: facts.dots(d, f"pfc-{case}", d.ways(f"pfc-{case}")) for case, title in CASES.items()}
    names = list(harmed)
    figure(
        "pfc-1",
        "Time of what is beside the cause of pauses, over that under PFC alone: three cases",
        dots,
        {name: harmed[name] for name in names[:3]},
        "time over PFC alone",
    )
    figure(
        "pfc-2",
        "The same for a ring beside an all-to-all, a skewed mixture of experts and slow trunks",
        dots,
        {name: harmed[name] for name in names[3:]},
        "time over PFC alone",
    )
    scaled = {"GPUs": {}}
    for way in d.ways("scale-2026"):
        if way != "none":
            series = facts.lines(d, "scale-2026")[way]
            large = list(d.over("scale-large-2026", way, "1024").values())
            if large:
                series = {**series, "1024": (sum(large) / len(large), min(large), max(large))}
            scaled["GPUs"][way] = series
    figure("scale", "Time over that of no policy on 128 to 1024 GPUs", lines, scaled, OVER, 1, 5.2, 2.8)
    queue, rate = {}, {}
    for way in design.TIMELINE.ways:
        rows = [row for row in timeline if row["way"] == way]
        queue[way] = ([row["t_us"] for row in rows], [row["queue_bytes"] / 1e6 for row in rows])
        rate[way] = (
            [row["t_us"] for row in rows if row["least_rate_bps"] != ""],
            [row["least_rate_bps"] / 1e9 for row in rows if row["least_rate_bps"] != ""],
        )
    figure(
        "timeline",
        "Queue of an uplink with five flows, and the slowest rate of any flow, over time",
        curves,
        [("queue of the uplink, MB", queue), ("slowest rate, Gb/s", rate)],
    )
    return made


def report_tables(d):
    made = {f"table centre-{centre}": d.table(f"centre-{centre}", None) for centre in design.CENTRES}
    for name, words in (
        ("presets-fibre-2026", "fibre"),
        ("presets-fibre-2022", "fibre"),
        ("presets-ack-2022", "packets per ACK"),
        ("memory-2022", "queue pairs"),
        ("routing-2026", "routing"),
        ("routing-others-2026", "routing"),
        ("qps-2026", "queue pairs a pair"),
        ("spines-others-2026", "uplinks"),
        ("rate-others-2026", "rate"),
        ("scale-2026", "GPUs"),
        ("scale-large-2026", "GPUs"),
    ):
        made[f"table {name}"] = d.table(name, words)
    for case in design.PFC_CASES:
        made[f"table pfc-{case}"] = d.table(f"pfc-{case}", None)
    return {**made, "table warm": warm_table(d), "table omitted": omitted_table(d)}


def warm_table(d):
    """The first of twelve iterations, and the seventh to the last."""
    rows = []
    for way in d.ways("warm-2026"):
        cold, warm = (d.ratio("warm-2026", way, key=key) for key in ("first_ns", "warm_ns"))
        spread_ = d.over("warm-2026", way, key="warm_ns").values()
        rows.append([way, f"{cold:.2f}", f"{warm:.2f} ({min(spread_):.2f} to {max(spread_):.2f})"])
    return markdown(["way", "cold: first iteration", "warm: iterations 7 to 12"], rows, 1)


def omitted_table(d):
    """Time over that of no policy where hosts, switches and wiring are others than at the centre."""
    columns = (
        ("centre", "host-2026", "0us"),
        ("14 us a step in hosts", "host-2026", "14us"),
        ("600 ns a switch", "latency-2026", "600ns"),
        ("rails", "wiring-2026", "rails"),
    )
    rows = [["none, ms", *(f"{d.mean(sweep, 'none', level) / 1e6:.3f}" for _, sweep, level in columns)]]
    for way in d.ways("host-2026"):
        if way != "none":
            rows.append([way, *(f"{d.ratio(sweep, way, level):.2f}" for _, sweep, level in columns)])
    return markdown(["way", *(title for title, _, _ in columns)], rows, 1)


def design_table(sweeps):
    """What was run."""
    lines_ = ["| sweep | scenario | factor | levels | ways | seeds |", "|---|---|---|---|---|---|"]
    for sweep in sweeps:
        lines_.append(
            f"| {sweep.name} | {sweep.scenario.removeprefix('reproduce/studies/')} | {sweep.axis.title} | {', '.join(sweep.axis.levels)} | {len(sweep.ways)} | {', '.join(map(str, sweep.seeds))} |"
        )
    return "\n".join(lines_)


def ways_table():
    lines_ = ["| way | `cc` | with |", "|---|---|---|"]
    seen = {}
    for ways in (
        design.CORE["2022"],
        design.CORE["2026"],
        design.DCQCN,
        design.WINDOWED,
        design.MORE,
        design.OTHERS["2026"],
    ):
        for label, way in ways.items():
            seen.setdefault(f"{label}|{way.cc}", (label, way))
    import json

    for label, way in seen.values():
        rest = ", ".join(f"`{path}={json.dumps(value)}`" for path, value in way.sets)
        lines_.append(f"| {label} | `{json.dumps(way.cc)}` | {rest} |")
    return "\n".join(lines_)
