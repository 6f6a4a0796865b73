# SPDX-License-Identifier: MIT
"""Charts of the studies: SVG files for light and dark pages; a style inside changes the colours of ink and page.

Policies differ by marker and dash as well as by colour (Okabe and Ito's palette), so that charts are legible in grey.
The same rows give the same bytes with the same release of Matplotlib; a page's data is in data.csv.
"""
import json
import pathlib
import textwrap

enabled = True  # False: pages are made without their pictures, and without Matplotlib
PICTURES = pathlib.Path(__file__).resolve().parents[1] / "docs" / "pictures"
THEME = {"ink": "#1f2328", "faint": "#d0d7de", "page": "#ffffff"}
DARK = {  # what a dark page has in place of these
    "#1f2328": "#e6edf3",
    "#d0d7de": "#3d444d",
    "#ffffff": "#0d1117",
    "#000000": "#ffffff",
    "#0072b2": "#56a8f5",
    "#004b7a": "#8cc4ff",
}
INK_ON_COLOUR = "#1f2329"  # the same on all pages
TABLE = pathlib.Path(__file__).resolve().parents[1] / "report" / "web" / "src" / "policy-styles.json"
# How a label starts: colour, marker, dash; the same as on the pages of reports.
STYLES = [(start, light, marker, dash) for start, light, _, marker, dash in json.loads(TABLE.read_text())]
HATCHES = ["", "////", "....", "xxxx", "\\\\\\\\", "++", "oo", "--", "**"]
FILLS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#f0e442", "#0072b3", "#999999", "#b0b0b0"]


def style(label):
    for start, colour, marker, dash in STYLES:
        if label.startswith(start):
            return colour, marker, dash
    return "#0072b2", "o", "-"


def with_dark(svg):
    """The picture with a style for dark pages: by the colours that are written at its elements."""
    rules = " ".join(
        f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}'
        for light, dark in DARK.items()
        for what in ("fill", "stroke")
        if f"{what}: {light}" in svg
    )
    at = svg.index(">", svg.index("<svg ")) + 1
    return svg[:at] + f"\n <style>@media (prefers-color-scheme: dark) {{ {rules} }}</style>" + svg[at:]


def draw(name, width, height, rows, columns, paint, **grid):
    """Calls paint(figure, axes, theme) and writes docs/pictures/NAME.svg."""
    if not enabled:
        return
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    theme, picture = THEME, PICTURES / f"{name}.svg"
    settings = {
        "svg.hashsalt": "collwire",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.titleweight": "bold",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.color": theme["ink"],
        "axes.labelcolor": theme["ink"],
        "axes.edgecolor": theme["ink"],
        "xtick.color": theme["ink"],
        "ytick.color": theme["ink"],
        "figure.facecolor": theme["page"],
        "axes.facecolor": theme["page"],
        "savefig.facecolor": theme["page"],
        "grid.color": theme["faint"],
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "hatch.linewidth": 0.5,
    }
    with plt.rc_context(settings):
        figure, axes = plt.subplots(
            rows, columns, figsize=(width, height), squeeze=False, constrained_layout=True, **grid
        )
        paint(figure, axes.flatten(), theme)
        figure.savefig(
            picture,
            metadata={"Date": None, "Creator": None},
            bbox_inches="tight",
            pad_inches=0.08,
        )
        plt.close(figure)
    picture.write_text(with_dark(picture.read_text()))


def embed(name, words, width=860):
    """The Markdown of a chart; `words` say what it shows to those who cannot see it."""
    return f'<img src="pictures/{name}.svg" width="{width}" alt="{words}">'


def ratios(axis):
    """Labels such as 1, 1.5, 2 of a logarithmic axis of ratios."""
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

    low, high = axis.get_view_interval()
    steps = (
        (0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 20, 50, 100)
        if high / low > 2.2
        else (0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4, 1.6, 1.8, 2)
    )
    axis.set_ticks([step for step in steps if low <= step <= high])
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def legend(figure, handles):
    figure.legend(
        handles.values(), handles.keys(), loc="upper center", ncol=min(len(handles), 7), bbox_to_anchor=(0.5, 0)
    )


def order(way):
    """Of a way in a chart: as in STYLES, then by name."""
    return (
        next((place for place, (start, *_) in enumerate(STYLES) if way.startswith(start.split(" ")[0])), len(STYLES)),
        way,
    )


def dots(name, panels, label, width=9.6, row=0.235, same=False):
    """`panels`: title -> {way: ([values], mean)}. A dot a seed, a bar the mean; the line is 1.

    `same`: all panels have the rows of the first, and one scale.
    """
    most = max(len(ways) for ways in panels.values())
    first = next(iter(panels.values()))

    def paint(figure, axes, theme):
        for axis, (title, ways) in zip(axes, panels.items()):
            axis.set_xscale("log")
            ordered = sorted(first if same else ways, key=order)
            for y, way in enumerate(ordered):
                if way not in ways:
                    axis.annotate(
                        "not run", (1.0, y), xycoords=("axes fraction", "data"), ha="right", va="center", fontsize=8
                    )
                    continue
                values, mean = ways[way]
                colour, marker, _ = style(way)
                axis.plot(
                    values,
                    [y] * len(values),
                    marker,
                    color=colour,
                    markersize=4,
                    alpha=0.75,
                    linestyle="none",
                    markeredgewidth=0,
                )
                axis.plot([mean, mean], [y - 0.36, y + 0.36], color=theme["ink"], linewidth=2)
                axis.annotate(
                    f"{mean:.2f}",
                    (1.0, y),
                    xycoords=("axes fraction", "data"),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8,
                )
            axis.axvline(1, color=theme["ink"], linewidth=0.8)
            axis.set_yticks(range(len(ordered)), ordered)
            axis.set_ylim(len(ordered) - 0.4, -0.6)
            axis.set_title(title, loc="left")
            axis.grid(True, axis="x")
            axis.set_xlabel(label)
        for axis in axes:
            ratios(axis.xaxis)

    draw(name, width, 0.9 + row * most, 1, len(panels), paint, sharex=same)


def lines(name, panels, label, columns=3, width=9.6, height=2.5, log=True, x_label=""):
    """`panels`: title -> {way: {level: (mean, low, high)}}, levels in order. Lines join means, bars span the seeds."""
    rows = -(-len(panels) // columns)

    def paint(figure, axes, theme):
        handles = {}
        for axis, (title, ways) in zip(axes, panels.items()):
            if log:
                axis.set_yscale("log")
            names = list(dict.fromkeys(level for series in ways.values() for level in series))
            for way, series in ways.items():
                colour, marker, dash = style(way)
                x = [names.index(level) for level in series]
                means = [value[0] for value in series.values()]
                span = [
                    [mean - low for mean, low, _ in series.values()],
                    [high - mean for mean, _, high in series.values()],
                ]
                axis.errorbar(x, means, span, color=colour, linestyle="none", elinewidth=0.8, alpha=0.6)
                (handles[way],) = axis.plot(
                    x, means, color=colour, marker=marker, linestyle=dash, markersize=5, linewidth=1.3, label=way
                )
            axis.set_xticks(range(len(names)), [textwrap.fill(level, 10) for level in names])
            axis.set_xlim(-0.3, len(names) - 0.7)
            axis.set_title(title, loc="left")
            axis.grid(True, axis="y")
            if log:
                ratios(axis.yaxis)
        for axis in axes[len(panels) :]:
            axis.set_visible(False)
        for axis in axes[::columns]:
            axis.set_ylabel(label)
        for axis in axes[len(panels) - min(columns, len(panels)) : len(panels)]:
            axis.set_xlabel(x_label)
        legend(figure, handles)

    draw(name, width, height * rows, rows, columns, paint, sharey=True)


def stacks(name, bars, label, width=9.6, row=0.3):
    """`bars`: label -> {part: value}, drawn one below the other; the total stands at the end."""
    largest = max(sum(bar.values()) for bar in bars.values())
    parts = [part for part in next(iter(bars.values())) if max(bar[part] for bar in bars.values()) > 0.005 * largest]

    def paint(figure, axes, theme):
        axis = axes[0]
        for number, part in enumerate(parts):
            left = [sum(bar.get(other, 0) for other in parts[:number]) for bar in bars.values()]
            axis.barh(
                range(len(bars)),
                [bar.get(part, 0) for bar in bars.values()],
                left=left,
                color=FILLS[number % len(FILLS)],
                hatch=HATCHES[number % len(HATCHES)],
                edgecolor=INK_ON_COLOUR,
                linewidth=0.4,
                height=0.72,
                label=part,
            )
        for y, bar in enumerate(bars.values()):
            axis.annotate(f" {sum(bar.values()):.2f}", (sum(bar.values()), y), va="center", fontsize=8)
        axis.set_yticks(range(len(bars)), list(bars))
        axis.set_ylim(len(bars) - 0.4, -0.6)
        axis.set_xlabel(label)
        axis.grid(True, axis="x")
        axis.set_axisbelow(True)
        axis.legend(loc="upper center", bbox_to_anchor=(0.4, -0.55 / (row * len(bars) + 0.4)), ncol=5)

    draw(name, width, 1.5 + row * len(bars), 1, 1, paint)


def scatter(name, panels, x_label, y_label, width=9.6, height=3.2):
    """`panels`: title -> {way: [(x, y)]}."""

    def paint(figure, axes, theme):
        handles = {}
        for axis, (title, ways) in zip(axes, panels.items()):
            axis.set_yscale("log")
            for way, points in ways.items():
                colour, marker, _ = style(way)
                (handles[way],) = axis.plot(
                    *zip(*points),
                    marker,
                    color=colour,
                    markersize=5,
                    linestyle="none",
                    alpha=0.85,
                    label=way,
                )
            axis.set_title(title, loc="left")
            axis.set_xlabel(x_label)
            if max(x for points in ways.values() for x, _ in points) < 9:
                axis.set_xticks(sorted({round(x) for points in ways.values() for x, _ in points}))
            axis.grid(True)
            ratios(axis.yaxis)
        axes[0].set_ylabel(y_label)
        legend(figure, handles)

    draw(name, width, height, 1, len(panels), paint)


def curves(name, rows, width=9.6, height=1.5):
    """`rows`: (label of the y axis, {label: (xs, ys)}), drawn below each other over the same x (us)."""

    def paint(figure, axes, theme):
        handles = {}
        for axis, (label, ways) in zip(axes, rows):
            for way, (xs, ys) in ways.items():
                colour, _, dash = style(way)
                (handles[way],) = axis.plot(
                    xs, ys, color=colour, linestyle=dash, linewidth=1.2, label=way
                )
            axis.set_ylabel(label)
            axis.grid(True, axis="y")
        axes[-1].set_xlabel("time, us")
        legend(figure, handles)

    draw(name, width, height * len(rows) + 0.4, len(rows), 1, paint, sharex=True)
