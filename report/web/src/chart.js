// SPDX-License-Identifier: MIT
// A chart of the page: a figure with its plot, and the table behind it. Charts follow the width of
// their figure, the theme and the paper.
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
import { text } from "./format.js";
import { saveButtons } from "./save.js";
import { asSaved, colour, isPrinting, isSaved, onTheme, setPrinting } from "./theme.js";

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
const SAVED_FONT = "Arial, Helvetica, sans-serif";

// What all charts share; `option` of a chart is laid over it.
function base() {
    return {
        animation: false,
        backgroundColor: "transparent",
        textStyle: {
            color: colour("ink"),
            fontFamily: isSaved() ? SAVED_FONT : getComputedStyle(document.body).fontFamily,
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

// A vertical axis of names, the first one on top.
export function nameAxis(names, width) {
    return {
        ...axisStyle(),
        type: "category",
        inverse: true,
        data: names,
        axisLabel: {
            color: colour("ink"),
            width: Math.min(170, width * 0.36),
            overflow: "truncate",
        },
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

export function heatColours() {
    return [0, 1, 2, 3, 4].map((step) => colour(`heat-${step}`));
}

// The colours of a heat map. A saved chart has the scale below it, which on the page stands above all maps.
export function heatScale(min, max, unit, what) {
    return {
        show: isSaved(),
        type: "continuous",
        min,
        max,
        dimension: 2,
        inRange: { color: heatColours() },
        orient: "horizontal",
        left: 4,
        bottom: 0,
        itemWidth: 9,
        itemHeight: 110,
        text: [text(max, unit), `${what}: ${text(min, unit)}`],
        textStyle: { color: colour("ink"), fontSize: 11 },
    };
}

const LEGEND_ROW = 22; // px

const MARKS = 7; // of a line with more points than can be told apart

// The symbol of a line's points: all of few; of many none on the page, and some where the chart is saved, so
// that lines differ in black and white too. `k` is the number of the line, by which marks are shifted.
export function lineSymbol(symbol, points, k) {
    if (points < 12) return { symbol, symbolSize: 7, showSymbol: true };
    if (!isSaved()) return { symbol, symbolSize: 7, showSymbol: false };
    const step = Math.ceil(points / MARKS);
    const first = Math.floor((step * (k % 4)) / 4);
    return {
        symbol,
        symbolSize: 6,
        showSymbol: true,
        showAllSymbol: true,
        marked: (i) => i % step === first,
    };
}

// Leave out the symbols of points that are not marked. A symbol that is a function of the point would not be
// known to the legend, which would draw a circle for each line.
function markSome(series) {
    if (!series.marked) return series;
    const bare = (point) => (Array.isArray(point) ? { value: point } : point);
    const data = series.data.map((point, i) =>
        series.marked(i) ? point : { ...bare(point), symbol: "none" },
    );
    return { ...series, data, marked: undefined };
}

// Rows that a legend takes at a width: names are put into rows as ECharts does.
function legendRows(names, width) {
    let rows = 1;
    let used = 0;
    for (const name of names) {
        const own = name.length * (isSaved() ? 6.3 : 7) + 32;
        if (used > 0 && used + own > width - 12) {
            rows++;
            used = 0;
        }
        used += own;
    }
    return rows;
}

// Pixels that a legend of several rows takes more than one of one row.
export function moreLegend(names, width) {
    return (legendRows(names, width) - 1) * LEGEND_ROW;
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

// The option of a chart at a width, with the zoom and the hidden lines of the one that is on the page.
function optionOf(chart, width) {
    const shown = chart.instance && chart.instance.getOption() ? chart.instance.getOption() : null;
    const kept = shown ? spanOf(chart.instance) : null;
    const legend = shown?.legend?.[0]?.selected;
    const option = { ...base(), ...chart.build(width) };
    option.series = [].concat(option.series).map(markSome);
    option.tooltip =
        option.tooltip === false ? undefined : { ...base().tooltip, ...option.tooltip };
    if (kept && option.dataZoom)
        for (const zoom of option.dataZoom)
            if (!zoom.yAxisIndex && zoom.orient !== "vertical") Object.assign(zoom, kept);
    if (legend && option.legend) option.legend.selected = legend;
    return option;
}

// On paper nothing can be moved: no sliders, and a legend with all its names. Returns the pixels that the
// chart is higher.
function settle(option, width) {
    let more = 0;
    if (option.dataZoom) {
        option.dataZoom = option.dataZoom.filter(
            (zoom) => zoom.type === "inside" || zoom.orient === "vertical",
        );
        for (const zoom of option.dataZoom) if (isSaved() && zoom.type === "slider") zoom.show = false;
        option.grid = { ...option.grid, bottom: 30 };
    }
    if (option.legend && option.legend.type === "scroll") {
        const names = [...new Set(option.series.map((one) => one.name).filter(Boolean))];
        const extra = moreLegend(names, width);
        option.legend = { ...option.legend, type: "plain" };
        option.grid = { ...option.grid, top: option.grid.top + extra };
        more += extra;
    }
    if (isSaved() && option.series.some((one) => one.type === "bar"))
        option.aria = { enabled: true, label: { enabled: false }, decal: { show: true } };
    if (isSaved() && option.legend && option.series.some((one) => one.type === "line")) {
        // lines with their dashes and symbols
        option.legend = { ...option.legend, icon: undefined, itemWidth: 28 };
    }
    if (option.visualMap?.show) {
        option.grid = { ...option.grid, bottom: (option.grid.bottom || 0) + 22 };
        more += 22;
    }
    return more;
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

// A chart as a text of SVG, black on white, `width` px wide: {svg, width, height}.
export function svgOf(chart, width) {
    return asSaved(() => {
        const option = { ...optionOf(chart, width), backgroundColor: "#ffffff" };
        const height = Math.ceil(chart.height(width) + settle(option, width));
        const instance = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
        instance.setOption(option);
        const svg = instance.renderToSVGString({ useViewBox: true });
        instance.dispose();
        return { svg, width, height };
    });
}

// Charts of the page with this name, or all, in the order of the page.
export function chartsOf(name) {
    return [...charts].filter(
        (chart) => chart.plot.isConnected && (name === undefined || chart.name === name),
    );
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
    height = 260,
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
