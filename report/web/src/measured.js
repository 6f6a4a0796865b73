// SPDX-License-Identifier: MIT
// Collectives that were measured, in a real run or in a table beside a run: simulated over measured times, by operation
// and size.
import { axisStyle, legendStyle, moreLegend } from "./chart.js";
import { detailed, nameOf, shownRun } from "./data.js";
import { el, section } from "./dom.js";
import { figure } from "./figure.js";
import { html, text } from "./format.js";
import { colour } from "./theme.js";

const COLOURS = ["part-sending", "part-network", "part-queued", "part-window", "part-paused", "part-behind"];
const SYMBOLS = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];
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

// The same of a table.
function tableRowOf({ op, ranks, bytes, count, measured_ns, simulated_ns, ratio }) {
    return [op, ranks, bytes, count, measured_ns, simulated_ns, ratio];
}

function tip([op, ranks, bytes, n, measured, simulated, ratio]) {
    return (
        `<b>${html(op)}</b> of ${html(text(bytes, "bytes"))}, ${ranks} ranks, ${n} times<br>` +
        `measured ${html(text(measured, "ns"))}, simulated ${html(text(simulated, "ns"))}, ratio ${ratio.toFixed(2)}`
    );
}

function chart(name, sizes) {
    const ops = [...new Set(sizes.map((row) => row[0]))].sort();
    const times = sizes.flatMap((row) => [row[4], row[5]]);
    const low = 10 ** Math.floor(Math.log10(Math.max(1, Math.min(...times))));
    const high = 10 ** Math.ceil(Math.log10(Math.max(10, ...times)));
    return figure({
        name,
        title: "Simulated over measured times",
        label: "Times of collectives by operation and size; on the line both are equal.",
        height: (width) => 320 + moreLegend(ops, width),
        build: (width) => ({
            legend: { ...legendStyle(), type: "plain", data: ops },
            grid: { left: 40, right: 24, top: 36 + moreLegend(ops, width), bottom: 30, containLabel: true },
            xAxis: axis("measured", low, high, { nameGap: 24 }),
            yAxis: axis("simulated", low, high, { nameGap: 62 }),
            tooltip: { trigger: "item", formatter: (item) => tip(item.data.row) },
            series: ops.map((op, k) => ({
                name: op,
                type: "scatter",
                symbol: SYMBOLS[k % SYMBOLS.length],
                symbolSize: 10,
                itemStyle: { color: colour(COLOURS[k % COLOURS.length]) },
                markLine:
                    k === 0
                        ? {
                              silent: true,
                              symbol: "none",
                              lineStyle: { color: colour("muted"), type: "dashed", width: 1 },
                              label: { show: false },
                              data: [[{ coord: [low, low] }, { coord: [high, high] }]],
                          }
                        : undefined,
                data: sizes.filter((row) => row[0] === op).map((row) => ({ value: [row[4], row[5]], row })),
            })),
        }),
        data: () => ({ columns: COLUMNS, rows: sizes }),
        csv: () => ({ columns: COLUMNS, rows: sizes }),
    });
}

function ofRun(measured) {
    return [
        el(
            "p",
            {},
            `${measured.count} collectives took ${text(measured.measured_ns, "ns")} in the real run and ` +
                `${text(measured.simulated_ns, "ns")} here, a ratio of ${measured.ratio.toFixed(2)}.`,
        ),
        chart("measured", measured.sizes.map(rowOf)),
    ];
}

function ofTable({ file, kind, rows }) {
    return [el("p", {}, `Measured in ${file} (${kind}), and simulated here.`), chart("against", rows.map(tableRowOf))];
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
        return [...(measured ? ofRun(measured) : []), ...(against ? ofTable(against) : [])];
    });
    box.append(body);
    return box;
}
