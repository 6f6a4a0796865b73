// SPDX-License-Identifier: MIT
// State over time: all policies against each other, then the lines of one run.
import { axisStyle, legendStyle, lineSymbol, timeAxis, zoomStyle } from "./chart.js";
import { detailed, nameOf, noun, policyOf, shownRun, styles } from "./data.js";
import { el, section } from "./dom.js";
import { figure } from "./figure.js";
import { axisUnit, html, text, unitOfKey } from "./format.js";
import { colour, isDark } from "./theme.js";

const HUES = 12;
const SYMBOLS = ["circle", "rect", "triangle", "diamond"];

// Colours of lines that are not policies.
function hue(i) {
    return `hsl(${(205 + i * 360 * 0.381966) % 360} ${isDark() ? "62% 66%" : "58% 42%"})`;
}

// A chart over time. `lines`: [{name, t, values, colour, dash, fill}]; colour is a function.
function overTime({ name, title, label, unit, lines, step, height = 280, scaleName }) {
    const max = Math.max(0, ...lines.flatMap((line) => line.values.filter((v) => v !== null)));
    const end = Math.max(...lines.map((line) => line.t[line.t.length - 1]));
    const time = axisUnit("ns", end);
    const scale = axisUnit(unit, max);
    return figure({
        name,
        title,
        label,
        height,
        keys: true,
        build: () => ({
            legend: lines.length > 1 ? legendStyle() : undefined,
            grid: {
                left: 8,
                right: 20,
                top: lines.length > 1 ? 36 : 26,
                bottom: 54,
                containLabel: true,
            },
            dataZoom: zoomStyle(),
            xAxis: { ...timeAxis(time, end), splitLine: { show: false } },
            yAxis: {
                ...axisStyle(),
                type: "value",
                min: 0,
                name: scaleName || `${name.split(".").pop()}${scale.name ? ` (${scale.name})` : ""}`,
                nameGap: 8,
                nameTextStyle: { color: colour("muted"), align: "left" },
                axisLabel: { color: colour("muted"), formatter: scale.label },
            },
            tooltip: {
                trigger: "axis",
                axisPointer: { lineStyle: { color: colour("muted") } },
                formatter: (items) => tooltip(items, unit),
            },
            series: lines.map((line, i) => ({
                name: line.name,
                type: "line",
                ...lineSymbol(line.symbol || SYMBOLS[i % SYMBOLS.length], Math.max(12, line.t.length), i),
                step: step ? "end" : false,
                connectNulls: false,
                color: line.colour ? line.colour() : hue(i % HUES),
                lineStyle: { width: line.width || 1.5, type: line.dash || "solid" },
                areaStyle: line.fill ? { opacity: 0.15 } : undefined,
                emphasis: { focus: "series" },
                sampling: undefined,
                data: line.t.map((t, k) => [t, line.values[k]]),
            })),
        }),
        data: () => tableOf(lines, unit),
        csv: () => longTable(lines, unit, name),
    });
}

function tooltip(items, unit) {
    const rows = items
        .filter((item) => item.value[1] !== null && item.value[1] !== undefined)
        .map(
            (item) =>
                `<tr><td>${item.marker}${html(item.seriesName)}</td><td class="n">${html(text(item.value[1], unit))}</td></tr>`,
        );
    return `<b>${html(text(items[0].value[0], "ns"))}</b><table class="tip">${rows.join("")}</table>`;
}

function tableOf(lines, unit) {
    const times = [...new Set(lines.flatMap((line) => line.t))].sort((a, b) => a - b);
    const maps = lines.map((line) => new Map(line.t.map((t, i) => [t, line.values[i]])));
    return {
        columns: [
            { name: "time", unit: "ns", number: true },
            ...lines.map((line) => ({ name: line.name, unit, number: true })),
        ],
        rows: times.map((t) => [t, ...maps.map((map) => map.get(t))]),
    };
}

// A row a line and time.
function longTable(lines, unit, name) {
    return {
        columns: [{ name: "line" }, { name: "time", unit: "ns" }, { name: name.split(".").pop(), unit }],
        rows: lines.flatMap((line) => line.t.map((t, i) => [line.name, t, line.values[i]])),
    };
}

// ---- all policies ----

const TOGETHER = [
    [
        "queue_bytes",
        "all.queue",
        "high",
        "Longest queue",
        "bytes",
        `The longest queue of any switch port over time, by ${noun}.`,
    ],
    [
        "paused",
        "all.paused",
        "count",
        "Paused ports",
        "count",
        `Ports that PFC has stopped over time, by ${noun}.`,
    ],
    [
        "rate_bps",
        "all.rate",
        "low",
        "Slowest allowed rate",
        "bit/s",
        `The smallest rate that the policy allows any queue pair over time, by ${noun}.`,
    ],
    [
        "cwnd_bytes",
        "all.window",
        "low",
        "Smallest window",
        "bytes",
        `The smallest window that the policy allows any queue pair over time, by ${noun}.`,
    ],
];

function together() {
    const charts = [];
    for (const [kind, name, of, title, unit, label] of TOGETHER) {
        const lines = detailed
            .filter((run) => run.detail.series && run.detail.series[kind])
            .map((run) => ({
                name: nameOf(run),
                t: run.detail.series.t_ns,
                values: run.detail.series[kind][of],
                colour: styles.get(policyOf(run)).colour,
                dash: styles.get(policyOf(run)).dash,
                symbol: styles.get(policyOf(run)).symbol,
                width: 1.8,
            }))
            .filter((line) => line.values.some((v) => v));
        if (lines.length)
            charts.push(
                overTime({
                    name,
                    title,
                    label,
                    unit,
                    lines,
                    height: 270,
                    scaleName: kind === "paused" ? "ports" : undefined,
                }),
            );
    }
    return charts;
}

// ---- one run ----

function lineNames(series, kind) {
    const own = kind === "rate_bps" || kind === "cwnd_bytes" || kind === "observe";
    return (key) =>
        !own ? key : series.labels[key] ? `${series.labels[key]} (QP ${key})` : `QP ${key}`;
}

function of(group, shownLines, what) {
    return group.of > shownLines ? `, ${shownLines} of ${group.of} ${what}` : "";
}

function kindChart(series, group, kind, id, title, unit, what, label) {
    const name = lineNames(series, kind);
    const keys = Object.keys(group.lines);
    const lines = keys.map((key) => ({
        name: name(key),
        t: series.t_ns,
        values: group.lines[key],
    }));
    if (group.median && group.of > 3)
        lines.unshift({
            name: "median of all",
            t: series.t_ns,
            values: group.median,
            colour: () => colour("ink"),
            dash: "dashed",
            width: 2,
        });
    return overTime({
        name: id,
        title: `${title}${of(group, keys.length, what)}`,
        label,
        unit,
        lines,
        step: kind !== "queue_bytes",
        height: 300,
    });
}

// Pauses as bars on a line per port: when each was stopped.
function pauseChart(series) {
    const ports = Object.keys(series.paused.lines);
    const t = series.t_ns;
    const end = t[t.length - 1];
    const time = axisUnit("ns", end);
    const spans = ports.flatMap((port, row) =>
        spansOf(series.paused.lines[port], t).map(([from, to]) => [row, from, to]),
    );
    return figure({
        name: "paused",
        title: `Ports stopped by PFC${of(series.paused, ports.length, "ports")}`,
        height: 80 + 22 * ports.length,
        keys: true,
        label: "When PFC stopped which port.",
        build: () => ({
            grid: { left: 8, right: 20, top: 6, bottom: 54, containLabel: true },
            dataZoom: zoomStyle(),
            xAxis: timeAxis(time, end),
            yAxis: {
                ...axisStyle(),
                type: "category",
                data: ports,
                inverse: true,
                axisLabel: { color: colour("ink"), width: 140, overflow: "truncate" },
            },
            tooltip: {
                trigger: "item",
                formatter: ({ value }) =>
                    `<b>${html(ports[value[0]])}</b><br>stopped from ${html(text(value[1], "ns"))} to ${html(text(value[2], "ns"))}`,
            },
            series: [
                {
                    type: "custom",
                    renderItem: bar,
                    encode: { x: [1, 2], y: 0 },
                    data: spans,
                    clip: true,
                    itemStyle: { color: colour("part-paused") },
                },
            ],
        }),
        data: () => ({
            columns: [
                { name: "port" },
                { name: "from", unit: "ns", number: true },
                { name: "to", unit: "ns", number: true },
            ],
            rows: spans.map(([row, from, to]) => [ports[row], from, to]),
        }),
    });
}

function spansOf(values, t) {
    const spans = [];
    for (let i = 0; i < values.length; i++) {
        if (!values[i]) continue;
        const from = i;
        while (i < values.length && values[i]) i++;
        spans.push([t[from], t[Math.min(i, t.length - 1)]]);
    }
    return spans;
}

function bar(params, api) {
    const from = api.coord([api.value(1), api.value(0)]);
    const to = api.coord([api.value(2), api.value(0)]);
    const height = Math.min(14, api.size([0, 1])[1] * 0.7);
    return {
        type: "rect",
        shape: { x: from[0], y: from[1] - height / 2, width: Math.max(1, to[0] - from[0]), height },
        style: api.style(),
    };
}

function seriesOf(run) {
    const series = run.detail.series;
    if (!series) return [el("p", { class: "note" }, `${nameOf(run)} has no series.`)];
    const charts = [];
    if (series.queue_bytes)
        charts.push(
            kindChart(
                series,
                series.queue_bytes,
                "queue_bytes",
                "queue",
                "Queues",
                "bytes",
                "ports, the longest",
                "Queues of switch ports over time.",
            ),
        );
    if (series.paused) charts.push(pauseChart(series));
    if (series.rate_bps)
        charts.push(
            kindChart(
                series,
                series.rate_bps,
                "rate_bps",
                "rate",
                "Allowed rates",
                "bit/s",
                "queue pairs, those cut most",
                "Rate that the policy allows each queue pair over time.",
            ),
        );
    if (series.cwnd_bytes)
        charts.push(
            kindChart(
                series,
                series.cwnd_bytes,
                "cwnd_bytes",
                "window",
                "Windows",
                "bytes",
                "queue pairs, those that change most",
                "Window that the policy allows each queue pair over time.",
            ),
        );
    for (const [name, group] of Object.entries(series.observe || {}))
        charts.push(
            kindChart(
                series,
                group,
                "observe",
                `state.${name}`,
                `${name} of ${policyOf(run)}`,
                unitOfKey(name) === "count" ? "" : unitOfKey(name),
                "queue pairs, those that change most",
                `${name}, a state of the policy, over time.`,
            ),
        );
    return charts;
}

export function seriesSection(follow) {
    if (!detailed.some((run) => run.detail.series)) return null;
    const several = detailed.length > 1;
    const box = section(
        "series",
        "Over time",
        "Ctrl and wheel, or the bar below a chart, zoom; a click in the legend hides a line.",
        several ? [follow.control()] : [],
    );
    if (several) box.append(el("div", { class: "panels wide" }, together()));
    const body = el("div");
    follow.fill(body, () =>
        [several ? el("h3", {}, nameOf(shownRun())) : null, ...seriesOf(shownRun())].filter(
            Boolean,
        ),
    );
    box.append(body);
    return box;
}
