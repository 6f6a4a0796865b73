// SPDX-License-Identifier: MIT
// What was measured, in a real run or in a file beside a run: simulated over measured times of collectives, by operation
// and size, and of ranks.
import { axisStyle, legendStyle, moreLegend, referenceLine } from "./chart.js";
import { detailed, nameOf, shownRun } from "./data.js";
import { el, section } from "./dom.js";
import { figure } from "./figure.js";
import { html, text } from "./format.js";
import { colour } from "./theme.js";

const COLOURS = ["part-sending", "part-network", "part-queued", "part-window", "part-paused", "part-behind"];
const SYMBOLS = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];
const RANK_COLUMNS = [
    { name: "time" },
    { name: "rank", unit: "count", number: true },
    { name: "measured", unit: "ns", number: true },
    { name: "simulated", unit: "ns", number: true },
    { name: "ratio", number: true },
];
const COLUMNS = [
    { name: "operation" },
    { name: "ranks", unit: "count", number: true },
    { name: "bytes", unit: "bytes", number: true },
    { name: "collectives", unit: "count", number: true },
    { name: "measured", unit: "ns", number: true },
    { name: "simulated", unit: "ns", number: true },
    { name: "ratio", number: true },
];

function axis(name, low, high, more) {
    return {
        ...axisStyle(),
        type: "log",
        min: low,
        max: high,
        name,
        nameLocation: "middle",
        axisLabel: { color: colour("muted"), hideOverlap: true, formatter: (v) => text(v, "ns") },
        ...more,
    };
}

// [op, ranks, bytes, count, measured, simulated, ratio], medians of a real run.
function rowOf({ op, ranks, bytes, count, measured_ns, simulated_ns, ratios }) {
    return [op, ranks, bytes, count, measured_ns.p50, simulated_ns.p50, ratios.p50];
}

// The same of a file.
function fileRowOf({ op, ranks, bytes, count, measured_ns, simulated_ns, ratio }) {
    return [op, ranks, bytes, count, measured_ns, simulated_ns, ratio];
}

// [time, rank, measured, simulated, ratio]: two of each rank.
function rankRowsOf({ rank, measured_ns, simulated_ns, measured_compute_ns, simulated_compute_ns }) {
    return [
        ["from begin to end", rank, measured_ns, simulated_ns, simulated_ns / measured_ns],
        ["computing", rank, measured_compute_ns, simulated_compute_ns, simulated_compute_ns / measured_compute_ns],
    ].filter((row) => row[2] > 0);
}

function rankTip([time, rank, measured, simulated, ratio]) {
    return (
        `<b>rank ${rank}</b>, ${html(time)}<br>` +
        `measured ${html(text(measured, "ns"))}, simulated ${html(text(simulated, "ns"))}, ratio ${ratio.toFixed(2)}`
    );
}

function tip([op, ranks, bytes, n, measured, simulated, ratio]) {
    return (
        `<b>${html(op)}</b> of ${html(text(bytes, "bytes"))}, ${ranks} ranks, ${n} times<br>` +
        `measured ${html(text(measured, "ns"))}, simulated ${html(text(simulated, "ns"))}, ratio ${ratio.toFixed(2)}`
    );
}

// Rows begin with the name of their series, and end with measured, simulated, ratio.
function chart(name, rows, columns, tipOf, label) {
    const ops = [...new Set(rows.map((row) => row[0]))].sort();
    const times = rows.flatMap((row) => row.slice(-3, -1));
    const low = 10 ** Math.floor(Math.log10(Math.max(1, Math.min(...times))));
    const high = 10 ** Math.ceil(Math.log10(Math.max(10, ...times)));
    return figure({
        name,
        title: "Simulated over measured times",
        label: `${label}; on the line both are equal.`,
        height: (width) => 320 + moreLegend(ops, width),
        build: (width) => ({
            legend: { ...legendStyle(), type: "plain", data: ops },
            grid: { left: 40, right: 24, top: 36 + moreLegend(ops, width), bottom: 30, containLabel: true },
            xAxis: axis("measured", low, high, { nameGap: 24 }),
            yAxis: axis("simulated", low, high, { nameGap: 62 }),
            tooltip: { trigger: "item", formatter: (item) => tipOf(item.data.row) },
            series: ops.map((op, k) => ({
                name: op,
                type: "scatter",
                symbol: SYMBOLS[k % SYMBOLS.length],
                symbolSize: 10,
                itemStyle: { color: colour(COLOURS[k % COLOURS.length]) },
                markLine: k === 0 ? referenceLine([[{ coord: [low, low] }, { coord: [high, high] }]]) : undefined,
                data: rows.filter((row) => row[0] === op).map((row) => ({ value: row.slice(-3, -1), row })),
            })),
        }),
        data: () => ({ columns, rows }),
        csv: () => ({ columns, rows }),
    });
}

function sizesChart(name, rows) {
    return chart(name, rows, COLUMNS, tip, "Times of collectives by operation and size");
}

function ofRun(measured) {
    return [
        el(
            "p",
            {},
            `${measured.count} collectives took ${text(measured.measured_ns, "ns")} in the real run and ` +
                `${text(measured.simulated_ns, "ns")} here, a ratio of ${measured.ratio.toFixed(2)}.`,
        ),
        sizesChart("measured", measured.sizes.map(rowOf)),
    ];
}

function ofFile({ file, kind, rows, ranks }) {
    const times = ranks.flatMap(rankRowsOf);
    return [
        el("p", {}, `Measured in ${file} (${kind}), and simulated here.`),
        ...(rows.length ? [sizesChart("against", rows.map(fileRowOf))] : []),
        ...(times.length ? [chart("against.ranks", times, RANK_COLUMNS, rankTip, "Times of ranks")] : []),
    ];
}

export function measuredSection(follow) {
    if (!detailed.some((run) => run.metrics.measured_collectives || run.metrics.against)) return null;
    const box = section(
        "measured",
        "Measured and simulated",
        "Collectives that were measured, there and here; of a real run from the begin of the last member to the end.",
        detailed.length > 1 ? [follow.control()] : [],
    );
    const body = el("div");
    follow.fill(body, () => {
        const { measured_collectives: measured, against } = shownRun().metrics;
        if (!measured && !against) return [el("p", { class: "note" }, `Nothing was measured of ${nameOf(shownRun())}.`)];
        return [...(measured ? ofRun(measured) : []), ...(against ? ofFile(against) : [])];
    });
    box.append(body);
    return box;
}
