// SPDX-License-Identifier: MIT
// A chart of the page: a figure with its plot, and the table behind it. Charts follow the width of
// their figure, the theme and the paper.
import * as echarts from "echarts/core";
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import {
    DataZoomComponent,
    GridComponent,
    LegendComponent,
    MarkLineComponent,
    TooltipComponent,
    VisualMapComponent,
} from "echarts/components";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import { el, tableBehind } from "./dom.js";
import { colour, isPrinting, onTheme, setPrinting } from "./theme.js";

echarts.use([
    BarChart,
    CustomChart,
    HeatmapChart,
    LineChart,
    ScatterChart,
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

// What all charts share; `option` of a chart is laid over it.
function base() {
    return {
        animation: false,
        backgroundColor: "transparent",
        textStyle: {
            color: colour("ink"),
            fontFamily: getComputedStyle(document.body).fontFamily,
            fontSize: 12,
        },
        tooltip: {
            confine: true,
            backgroundColor: colour("surface"),
            borderColor: colour("line"),
            textStyle: { color: colour("ink"), fontSize: 12 },
            extraCssText:
                "box-shadow: 0 2px 10px rgba(0,0,0,.15); white-space: normal; max-width: 320px;",
        },
    };
}

export function axisStyle() {
    return {
        axisLine: { lineStyle: { color: colour("line") } },
        axisTick: { show: false },
        axisLabel: { color: colour("muted"), hideOverlap: true },
        nameTextStyle: { color: colour("muted") },
        splitLine: { lineStyle: { color: colour("grid") } },
    };
}

// The axis of simulated time from 0 to `end`; `time` is its unit.
export function timeAxis(time, end) {
    return {
        ...axisStyle(),
        type: "value",
        min: 0,
        max: end,
        name: `time (${time.name})`,
        nameLocation: "middle",
        nameGap: 22,
        axisLabel: {
            color: colour("muted"),
            hideOverlap: true,
            showMaxLabel: false,
            formatter: time.label,
        },
    };
}

export function legendStyle() {
    return {
        type: "scroll",
        top: 0,
        left: 0,
        itemWidth: 14,
        itemHeight: 10,
        icon: "roundRect",
        textStyle: { color: colour("ink") },
        inactiveColor: colour("disabled"),
        pageIconColor: colour("accent"),
        pageIconInactiveColor: colour("disabled"),
        pageTextStyle: { color: colour("muted") },
    };
}

// Zoom along one axis by slider, wheel (with the Ctrl key, so that the page still scrolls) and keys.
export function zoomStyle(more = {}) {
    return [
        {
            type: "inside",
            zoomOnMouseWheel: "ctrl",
            moveOnMouseMove: true,
            moveOnMouseWheel: false,
            filterMode: "none",
            ...more,
        },
        {
            type: "slider",
            height: 18,
            bottom: 4,
            filterMode: "none",
            brushSelect: false,
            showDetail: false,
            borderColor: colour("line"),
            fillerColor: colour("selection"),
            handleStyle: { color: colour("accent"), borderColor: colour("accent") },
            moveHandleStyle: { color: colour("line") },
            dataBackground: {
                lineStyle: { color: colour("line") },
                areaStyle: { color: colour("grid") },
            },
            selectedDataBackground: {
                lineStyle: { color: colour("accent") },
                areaStyle: { color: colour("selection") },
            },
            ...more,
        },
    ];
}

function spanOf(instance) {
    const zoom = instance.getOption().dataZoom?.[0];
    return zoom ? { start: zoom.start, end: zoom.end } : null;
}

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
    const kept = chart.instance.getOption() ? spanOf(chart.instance) : null;
    const legend = chart.instance.getOption()?.legend?.[0]?.selected;
    const option = { ...base(), ...chart.build(chart.instance.getWidth()) };
    option.tooltip =
        option.tooltip === false ? undefined : { ...base().tooltip, ...option.tooltip };
    if (kept && option.dataZoom)
        for (const zoom of option.dataZoom)
            if (!zoom.yAxisIndex && zoom.orient !== "vertical") Object.assign(zoom, kept);
    if (legend && option.legend) option.legend.selected = legend;
    if (isPrinting() && option.dataZoom) {
        option.dataZoom = option.dataZoom.filter(
            (zoom) => zoom.type === "inside" || zoom.orient === "vertical",
        );
        option.grid = { ...option.grid, bottom: 30 };
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

// A figure. `build` returns the chart's option at a width, `height` is a number or depends on the width, `data` the table behind it as {columns, rows};
// `label` says what the chart shows, for those who do not see it.
export function figure({
    title,
    label,
    height = 260,
    width,
    build,
    data,
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
        plot,
        build,
        renderer,
        height: typeof height === "function" ? height : () => height,
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

export function redraw(plot) {
    if (plot.chart.instance) draw(plot.chart);
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
