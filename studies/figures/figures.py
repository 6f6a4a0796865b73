# SPDX-License-Identifier: MIT
"""Charts of the redone figures."""
import statistics

import charts
import design
import facts
import observe
import tables
from charts import FILLS, HATCHES, INK_ON_COLOUR, draw, legend, style

LOOPS_40G = {"4 us": ("#000000", "o", "-"), "85 us": ("#d55e00", "X", "--")}
LIMITS = (("#000000", "o", "-"), ("#8a8a8a", "s", "-"), ("#009e73", "^", "-."), ("#0072b2", "D", "--"), ("#d55e00", "X", ":"))
POWERTCP_SHOWN = ("powertcp", "theta", "hpcc", "timely", "timely hpcc_sim + window", "dcqcn hpcc_sim")
SHD_LINES = (("shd-loop", "shifted halving-doubling", "#d55e00", "X", "-"), ("shd-loop", "halving-doubling", "#0072b2", "o", "-"), ("shd-loop", "ring", "#009e73", "^", "-"),
             ("shd-leaf-spine", "halving-doubling", "#0072b2", "s", "--"), ("shd-leaf-spine", "ring", "#009e73", "v", "--"))


def make(d, points):
    """Draws all charts; name -> Markdown."""
    curves = {}
    for point in points:
        curves.setdefault((point["curve"], str(point["way"])), []).append((point["x"], point["y"]))
    made = {}
    for name, words, paint in (
            ("testbed", "Throughput of four senders, and of a victim by the number of senders elsewhere, under PFC alone and DCQCN", lambda name: testbed(name, d)),
            ("queues", "Queue over 10 ms for 2, 10 and 64 DCQCN flows with 4 and 85 us of feedback delay", lambda name: queues(name, curves)),
            ("stability", "Mean and deviation of the queue by the number of flows, for DCQCN and Patched TIMELY", lambda name: stability(name, d)),
            ("hpcc", "Slowdown at the 95th and 99th percentile by the size of flows, for two loads and two distributions of sizes", lambda name: hpcc(name, curves)),
            ("irn", "Mean slowdown and completion time by policy, recovery and PFC", lambda name: irn(name, d)),
            ("powertcp-10", "Throughput and queue of the receiver's port over time in an incast of ten flows, by policy", lambda name: powertcp(name, d, curves, 10)),
            ("powertcp-255", "Throughput and queue of the receiver's port over time when 254 short flows begin beside a long one, by policy", lambda name: powertcp(name, d, curves, 255)),
            ("many", "Mean queue by the number of flows, by how often a NIC may send notifications", lambda name: many(name, d)),
            ("themis", "Utilization on six networks for the baseline and Themis", lambda name: themis(name, d)),
            ("shd", "Time of an all-reduce by its bytes on a loop network and on leaf-spine", lambda name: shd(name, d)),
            ("ecmp", "Flows on the fullest of eight uplinks, simulated and exact, and its load by queue pairs", lambda name: ecmp(name, d))):
        paint(f"figures-{name}")
        made[f"figure {name}"] = charts.embed(f"figures-{name}", words)
    return made


def size(count):
    """Bytes with three digits at most."""
    return f"{count:.0f} B" if count < 1e3 else f"{count / 1e3:.3g} KB" if count < 1e6 else f"{count / 1e6:.3g} MB"


def plain(axis):
    """Labels such as 0.1, 1, 10 of a logarithmic axis."""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")


def testbed(name, d):
    panels = (("four senders, one below each ToR", list(facts.HOSTS), lambda way, x: facts.throughputs(d, "dcqcn-unfairness", way, facts.HOSTS[x]), (0, 100)),
              ("victim, by senders below T3", ["0", "1", "2"], lambda way, x: facts.throughputs(d, f"dcqcn-victim-{x}", way, facts.VICTIM), (10, 90)))

    def paint(figure, axes, theme):
        handles = {}
        for axis, (title, names, of, (low, high)) in zip(axes, panels):
            for shift, (way, label) in zip((-0.1, 0.1), (("none", "PFC alone"), ("dcqcn paper", "DCQCN"))):
                colour, marker, _ = style(way.split()[0])
                seen = [of(way, x) for x in names]
                middle = [statistics.median(values) for values in seen]
                span = [[each - observe.percentile(values, low) for each, values in zip(middle, seen)], [observe.percentile(values, high) - each for each, values in zip(middle, seen)]]
                handles[label] = axis.errorbar([x + shift for x in range(len(names))], middle, span, color=colour, marker=marker, markersize=6,
                                               linestyle="none", capsize=4, linewidth=1.3)
            axis.set_xticks(range(len(names)), names)
            axis.set_xlim(-0.5, len(names) - 0.5)
            axis.set_ylim(0, None)
            axis.set_title(title, loc="left")
            axis.grid(True, axis="y")
        axes[0].set_ylabel("throughput, Gb/s")
        legend(figure, handles)
    draw(name, 9.6, 2.7, 1, 2, paint)


def queues(name, curves):
    flows = ("2", "10", "64")

    def paint(figure, axes, theme):
        for index, axis in enumerate(axes):
            (loop, (colour, _, _)), count = list(LOOPS_40G.items())[index // 3], flows[index % 3]
            xs, ys = zip(*curves[f"stability-40g-{loop.replace(' ', '-')} queue {count}", "slope continued"])
            axis.plot([x / 1e3 - 190 for x in xs], ys, color=colour, linewidth=0.9)
            axis.set_title(f"{count} flows, {loop}", loc="left")
            axis.grid(True, axis="y")
            if index >= 3:
                axis.set_xlabel("time, ms")
        for axis in axes[::3]:
            axis.set_ylabel("queue, KB")
        for axis in axes[:3]:
            axis.set_ylim(0, None)
    draw(name, 9.6, 3.6, 2, 3, paint, sharex=True, sharey="col")


def stability(name, d):
    def spread(axis, theme, handles, label, sweep, levels, ways, look):
        rows = [d.rows(sweep, way, level)[0] for level, way in zip(levels, ways)]
        colour, marker, dash = look
        x = [int(way.split()[0]) if not level else int(level) for level, way in zip(levels, ways)]
        axis.errorbar(x, [row["queue_mean"] / 1e3 for row in rows], [row["queue_sd"] / 1e3 for row in rows], color=colour, linestyle="none", elinewidth=0.9, capsize=3, alpha=0.7)
        handles[label], = axis.plot(x, [row["queue_mean"] / 1e3 for row in rows], color=colour, marker=marker, linestyle=dash, markersize=5, linewidth=1.3)

    def paint(figure, axes, theme):
        handles = {}
        levels = list(design.SENDERS.levels)
        for axis, way in zip(axes, design.RED):
            for loop, look in LOOPS_40G.items():
                spread(axis, theme, handles, f"DCQCN, {loop}", f"stability-40g-{loop.replace(' ', '-')}", levels, [way] * len(levels), look)
            axis.set_title(f"DCQCN, RED {way}", loc="left")
        ways = d.ways("timely-patched")
        spread(axes[2], theme, handles, "Patched TIMELY", "timely-patched", [""] * len(ways), ways, ("#e69f00", "P", "-"))
        handles["its fixed point"], = axes[2].plot(design.TIMELY_FLOWS, [facts.timely_queue(n) for n in design.TIMELY_FLOWS], color=theme["ink"], linestyle=":", linewidth=1.3)
        axes[2].set_title("Patched TIMELY", loc="left")
        for axis in axes:
            axis.set_ylim(0, None)
            axis.set_xlabel("flows")
            axis.grid(True, axis="y")
        axes[0].set_ylabel("queue, KB")
        legend(figure, handles)
    draw(name, 9.6, 2.7, 1, 3, paint)


def hpcc(name, curves):
    titles = {"hadoop-30": "Hadoop, 30 % and incasts", "hadoop-50": "Hadoop, 50 %", "websearch-30": "web search, 30 % and incasts", "websearch-50": "web search, 50 %"}

    def paint(figure, axes, theme):
        handles = {}
        for index, axis in enumerate(axes):
            load, part = design.HPCC_LOADS[index % 4], (95, 99)[index // 4]
            for way in sorted(design.HPCC, key=charts.order):
                colour, marker, dash = style(way)
                xs, ys = zip(*curves[f"hpcc-{load} p{part}", way])
                handles[way], = axis.plot(range(len(xs)), ys, color=colour, marker=marker, markersize=4, markevery=2, linestyle=":" if "window" in way else dash, linewidth=1.2,
                                          markerfacecolor="none" if "window" in way else None)
            axis.set_xticks(range(1, len(xs), 6), [size(x) for x in xs[1::6]])
            axis.set_yscale("log")
            axis.set_ylim(1, None)
            axis.grid(True)
            plain(axis.yaxis)
            axis.set_title(titles[load] if index < 4 else "", loc="left")
            if index >= 4:
                axis.set_xlabel("flows up to")
        axes[0].set_ylabel("slowdown, p95")
        axes[4].set_ylabel("slowdown, p99")
        legend(figure, handles)
    draw(name, 9.6, 4.6, 2, 4, paint, sharex="col", sharey="row")


def irn(name, d):
    labels = [*design.IRN_FAMILIES, "go-back-N without PFC"]

    def paint(figure, axes, theme):
        handles = {}
        for axis, (key, scale, least, title) in zip(axes, (("slowdown", 1, 1, "mean slowdown"), ("fct_mean_ns", 1e6, 0.5, "mean completion time, ms"))):
            for place, label in enumerate(labels):
                sweep = "irn" if label in design.IRN_FAMILIES else "irn-lossy"
                heights = [facts.mean(d, sweep, f"{policy}, {label}", key) / scale for policy in design.IRN_POLICIES]
                xs = [group + 0.2 * (place - 1.5) for group in range(len(heights))]
                handles[label] = axis.bar(xs, heights, 0.18, color=FILLS[place], hatch=HATCHES[place], edgecolor=INK_ON_COLOUR, linewidth=0.4)
                for x, height in zip(xs, heights):
                    axis.annotate(f"{height:.3g}", (x, height), xytext=(0, 1), textcoords="offset points", ha="center", fontsize=6.5)
            axis.set_yscale("log")
            axis.set_ylim(least, None)
            plain(axis.yaxis)
            axis.set_xticks(range(len(design.IRN_POLICIES)), ["no congestion control", "TIMELY", "DCQCN"])
            axis.set_title(title, loc="left")
            axis.grid(True, axis="y")
            axis.set_axisbelow(True)
        legend(figure, handles)
    draw(name, 9.6, 2.9, 1, 2, paint)


def powertcp(name, d, curves, flows):
    sweep = f"powertcp-incast-{flows}"

    def paint(figure, axes, theme):
        handles, right = {}, []
        for axis, way in zip(axes, POWERTCP_SHOWN):
            bins = facts.sent(d, sweep, way)
            handles["throughput of 100 us"] = axis.stairs([rate for *_, rate in bins], [bins[0][0], *(end for _, end, _ in bins)], baseline=None, color=theme["ink"], linewidth=1.5)
            axis.set_ylim(0, 27)
            axis.set_yticks((0, 5, 10, 15, 20, 25))
            other = axis.twinx()
            other.spines["right"].set_visible(True)
            xs, ys = zip(*curves[f"{sweep} queue", way])
            handles["queue"], = other.plot([x / 1e3 for x in xs], ys, color="#d55e00", linewidth=1.0, linestyle="--")
            other.set_ylim(0, max(200, 1.08 * max(ys)))
            axis.set_title(way.replace("theta", "theta-PowerTCP").replace("powertcp", "PowerTCP"), loc="left")
            axis.grid(True)
            axis.set_axisbelow(True)
            right.append(other)
        for place, axis in enumerate(axes):
            axis.set_xlim(4.8, design.END_MS)
            if place % 3 == 0:
                axis.set_ylabel("throughput, Gb/s")
            if place % 3 == 2:
                right[place].set_ylabel("queue, KB")
            if place >= 3:
                axis.set_xlabel("time, ms")
        legend(figure, handles)
    draw(name, 9.6, 3.9, 2, 3, paint, sharex=True)


def many(name, d):
    def paint(figure, axes, theme):
        handles = {}
        for way, (colour, marker, dash) in zip(design.MANY, LIMITS):
            levels = d.levels("dcqcn-many-flows")
            handles[way], = axes[0].plot([int(level) for level in levels], [facts.one(d, "dcqcn-many-flows", way, level) / 1e3 for level in levels], color=colour,
                                         marker=marker, linestyle=dash, markersize=5, linewidth=1.3)
        axes[0].set_xscale("log", base=2)
        axes[0].set_yscale("log")
        axes[0].set_xticks([32, 64, 96, 128, 160, 192, 256, 320, 480, 640], ["32", "64", "96", "128", "160", "192", "256", "320", "480", "640"])
        finish(axes[0], "flows", "mean queue, KB", handles)
    draw(name, 8.6, 3.0, 1, 1, paint)


def finish(axis, x_label, y_label, handles):
    """What charts over logarithmic axes share: plain labels, and the legend at the right."""
    axis.minorticks_off()
    plain(axis.yaxis)
    axis.grid(True)
    axis.set_xlabel(x_label)
    axis.set_ylabel(y_label)
    axis.legend(handles.values(), handles.keys(), loc="center left", bbox_to_anchor=(1.01, 0.5))


def themis(name, d):
    def paint(figure, axes, theme):
        handles, axis = {}, axes[0]
        names = [*design.THEMIS_NETWORKS.values(), "mean"]
        for place, way in enumerate(design.THEMIS):
            heights = [tables.mean(row["used"] for row in d.rows(f"themis-{network}", way, None)) for network in design.THEMIS_NETWORKS]
            heights.append(tables.mean(heights))
            xs = [group + 0.27 * (place - 1) for group in range(len(names))]
            handles[way] = axis.bar(xs, heights, 0.25, color=FILLS[(8, 0, 1)[place]], hatch=HATCHES[place], edgecolor=INK_ON_COLOUR, linewidth=0.4)
            for x, height in zip(xs, heights):
                axis.annotate(f"{height:.2f}", (x, height), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=7)
            handles["published mean"], = axis.plot([xs[-1] - 0.12, xs[-1] + 0.12], [facts.PUBLISHED_THEMIS[way]] * 2, color="#d55e00", linewidth=3, solid_capstyle="butt")
        axis.set_xticks(range(len(names)), [each.replace("-", "\n", 1).replace("_h", "\nh") for each in names])
        axis.set_ylim(0, 1.08)
        axis.set_ylabel("utilization")
        axis.grid(True, axis="y")
        axis.set_axisbelow(True)
        legend(figure, {label: handles[label] for label in (*design.THEMIS, "published mean")})
    draw(name, 9.6, 3.1, 1, 1, paint)


def shd(name, d):
    sizes = [float(level.split()[0]) * {"KB": 1e-3, "MB": 1}[level.split()[1]] for level in design.SHD_BYTES.levels]

    def paint(figure, axes, theme):
        handles = {}
        for sweep, way, colour, marker, dash in SHD_LINES:
            times = [facts.mean(d, sweep, way, "time_ns", level) / 1e3 for level in design.SHD_BYTES.levels]
            label = f"{'loop network' if sweep == 'shd-loop' else 'leaf-spine'}, {way}"
            handles[label], = axes[0].plot(sizes, times, color=colour, marker=marker, linestyle=dash, markersize=5, linewidth=1.3)
        axes[0].set_xscale("log")
        axes[0].set_yscale("log")
        axes[0].set_xticks(sizes, list(design.SHD_BYTES.levels))
        finish(axes[0], "bytes of the all-reduce", "time, us", handles)
    draw(name, 8.6, 3.0, 1, 1, paint)


def ecmp(name, d):
    exact, (shares, _) = tables.largest_load(8, 8, 1), facts.balls(d)

    def paint(figure, axes, theme):
        counts = range(1, 7)
        axes[0].bar(counts, [shares[count] for count in counts], 0.7, color=FILLS[0], edgecolor=INK_ON_COLOUR, linewidth=0.4, label="simulated")
        axes[0].plot(counts, [exact[count] for count in counts], "D", color=theme["ink"], markersize=5, label="exact")
        axes[0].set_xlabel("flows on the fullest of eight uplinks")
        axes[0].set_ylabel("share of draws")
        levels = d.levels("ecmp-queue-pairs")
        axes[1].plot(range(len(levels)), [facts.fullest(d, level) for level in levels], "o-", color="#0072b2", label="simulated")
        axes[1].plot(range(len(levels)), [facts.fullest_exact(int(level)) for level in levels], "D", color=theme["ink"], markersize=5, label="exact", fillstyle="none")
        axes[1].set_xticks(range(len(levels)), levels)
        axes[1].set_xlabel("queue pairs a pair of ranks")
        axes[1].set_ylabel("fullest uplink over the mean")
        for axis in axes:
            axis.grid(True, axis="y")
            axis.set_axisbelow(True)
            axis.set_ylim(0, None)
            axis.legend()
    draw(name, 9.6, 2.7, 1, 2, paint)
