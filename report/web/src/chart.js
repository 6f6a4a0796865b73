// SPDX-License-Identifier: MIT
// What charts have in common: axes, legends, scales of colours, zoom.
import { text } from "./format.js";
import { colour, isSaved } from "./theme.js";

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

// A line across a chart for what is equal or usual; `data` as ECharts' markLine has it.
export function referenceLine(data, type = "dashed") {
    return {
        silent: true,
        symbol: "none",
        lineStyle: { color: colour("muted"), type, width: 1 },
        label: { show: false },
        data,
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
