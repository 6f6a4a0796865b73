// SPDX-License-Identifier: MIT
// A chart on the page: a figure with its plot, and the table behind it. Charts follow the width of their figure,
// the theme and the paper.
import * as echarts from "echarts/core";
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import {
    AriaComponent,
    DataZoomComponent,
    GridComponent,
    LegendComponent,
    MarkLineComponent,
    TooltipComponent,
    VisualMapComponent,
} from "echarts/components";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import { el, tableBehind } from "./dom.js";
import { heightOf, optionOf, settle, spanOf, svgOf } from "./option.js";
import { saveButtons } from "./save.js";
import { isPrinting, onTheme, setPrinting } from "./theme.js";

echarts.use([
    BarChart,
    CustomChart,
    HeatmapChart,
    LineChart,
    ScatterChart,
    AriaComponent,
    DataZoomComponent,
    GridComponent,
    LegendComponent,
    MarkLineComponent,
    TooltipComponent,
    VisualMapComponent,
    CanvasRenderer,
    SVGRenderer,
]);

const charts = new Set();
const PAPER_WIDTH = 680; // px of A4 within its margins

// Keys: + and - zoom, left and right move, 0 shows all.
function onKey(chart, event) {
    const span = spanOf(chart.instance);
    if (!span) return;
    const width = span.end - span.start;
    const next = {
        "+": [span.start + width / 4, span.end - width / 4],
        "-": [span.start - width / 2, span.end + width / 2],
        ArrowLeft: [span.start - width / 4, span.end - width / 4],
        ArrowRight: [span.start + width / 4, span.end + width / 4],
        0: [0, 100],
    }[event.key === "=" ? "+" : event.key];
    if (!next) return;
    event.preventDefault();
    chart.instance.dispatchAction({
        type: "dataZoom",
        start: Math.max(0, next[0]),
        end: Math.min(100, next[1]),
    });
}

function draw(chart) {
    const option = optionOf(chart, chart.instance.getWidth());
    if (isPrinting()) {
        const width = chart.instance.getWidth();
        const height = chart.height(width) + settle(option, width);
        chart.plot.style.height = `${height}px`; // or the table below would be drawn upon it
        chart.instance.resize({ height });
    }
    chart.instance.setOption(option, { notMerge: true });
}

const observer = new ResizeObserver((entries) => {
    for (const entry of entries) {
        const chart = entry.target.chart;
        if (chart && entry.contentRect.width > 0 && !chart.printing)
            fit(chart, entry.contentRect.width);
    }
});

// Follow a width. A chart whose height depends on it is drawn anew.
function fit(chart, width) {
    const height = chart.height(width);
    const changed = chart.plot.style.height !== `${height}px`;
    chart.plot.style.height = `${height}px`;
    chart.instance.resize(chart.printing ? { width, height } : undefined);
    if (changed) draw(chart);
}

// Charts are started once the page is laid out, so that they know their width.
function start(chart) {
    if (chart.instance || !chart.plot.isConnected) return;
    chart.plot.style.height = `${chart.height(chart.plot.clientWidth)}px`;
    chart.instance = echarts.init(chart.plot, null, { renderer: chart.renderer });
    draw(chart);
    observer.observe(chart.plot);
}

// A figure. `name` is what saved files are called, `build` returns the chart's option at a width, `height` is a
// number or depends on the width, `data` the table behind it as {columns, rows}, `csv` likewise what the chart is
// drawn from, where that is not the table; `label` says what the chart shows, for those who do not see it.
export function figure({
    name,
    title,
    label,
    height,
    width,
    build,
    data,
    csv = data,
    renderer = "svg",
    keys = false,
}) {
    const hint = keys ? " Keys: plus and minus zoom, arrows move, 0 shows all." : "";
    const plot = el("div", {
        class: "plot",
        tabindex: "0",
        role: "img",
        "aria-label": `${label}${hint}`,
        style: width ? `max-width:${width}px` : null,
    });
    const chart = {
        name,
        title,
        label,
        csv,
        plot,
        build,
        renderer,
        height: heightOf(height),
        instance: null,
        printing: false,
    };
    plot.chart = chart;
    if (keys) plot.addEventListener("keydown", (event) => onKey(chart, event));
    charts.add(chart);
    return el(
        "figure",
        {},
        title ? el("figcaption", {}, title) : null,
        plot,
        saveButtons(chart, svgOf),
        data ? tableBehind(title || label, data) : null,
    );
}

// Start all charts that are in the page, and forget those that were taken out.
export function startCharts() {
    for (const chart of charts) {
        if (chart.plot.isConnected) start(chart);
        else if (chart.instance) {
            observer.unobserve(chart.plot);
            chart.instance.dispose();
            charts.delete(chart);
        }
    }
}

onTheme(() => charts.forEach((chart) => chart.instance && draw(chart)));

// On paper: light colours, the paper's width, short tables open.
let opened = [];
function beforePrint() {
    setPrinting(true);
    opened = [...document.querySelectorAll("details.data")].filter(
        (d) => !d.open && d.rowCount() <= 16,
    );
    for (const details of opened) {
        details.fill();
        details.open = true;
    }
    for (const chart of charts) {
        if (!chart.instance) continue;
        chart.printing = true;
        const columns = chart.plot.closest(".panels, .multiples") ? 2 : 1;
        const paper = columns === 1 ? PAPER_WIDTH : PAPER_WIDTH / 2 - 12;
        fit(chart, Math.min(paper, Number.parseInt(chart.plot.style.maxWidth, 10) || paper));
        draw(chart);
    }
}

function afterPrint() {
    setPrinting(false);
    for (const details of opened) details.open = false;
    for (const chart of charts) {
        if (!chart.instance) continue;
        chart.printing = false;
        chart.instance.resize({ width: "auto", height: "auto" });
        fit(chart, chart.plot.clientWidth);
        draw(chart);
    }
}

addEventListener("beforeprint", beforePrint);
addEventListener("afterprint", afterPrint);
