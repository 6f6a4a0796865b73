// SPDX-License-Identifier: MIT
// The charts of a sweep: heat maps over two axes and lines over one.
import { axisStyle, heatScale, legendStyle } from "./chart.js";
import { mean, metric } from "./data.js";
import { figure } from "./figure.js";
import { metricName, named, plainName } from "./grid.js";
import { axisUnit, html, text } from "./format.js";
import { heatInk } from "./links.js";
import { lineStyles, policyStyles } from "./styles.js";
import { colour } from "./theme.js";

// The axis of the parameter that goes across, with a tick for each of its values.
function acrossAxis(x, nameGap) {
    return {
        ...axisStyle(),
        type: "category",
        data: x.values.map((v) => named(x, v)),
        name: short(plainName(x)),
        nameLocation: "middle",
        nameGap,
        axisLabel: { color: colour("ink"), hideOverlap: true },
    };
}

const LOG_FROM = 16; // the ratio of the largest value to the least from which an axis is logarithmic

function isLog(axis) {
    return axis.numeric && axis.values[0] > 0 && axis.values.at(-1) / axis.values[0] >= LOG_FROM;
}

// The same for lines: numbers stand at their values.
function numberAxis(x, nameGap) {
    if (!x.numeric) return acrossAxis(x, nameGap);
    return {
        ...axisStyle(),
        type: isLog(x) ? "log" : "value",
        min: x.values[0],
        max: x.values.at(-1),
        name: short(plainName(x)),
        nameLocation: "middle",
        nameGap,
        splitLine: { show: false },
        axisTick: { show: true, customValues: x.values },
        axisLabel: {
            color: colour("ink"),
            hideOverlap: true,
            customValues: x.values,
            formatter: (v) => named(x, x.values.find((one) => Math.abs(one - v) <= v * 1e-9) ?? v),
        },
    };
}

export function short(name) {
    return name.split(".").slice(-2).join(".");
}

// The rows that match all [axis, value] pairs. Rows are sorted by the values of these axes once: a sweep has up to ten
// thousand, and its charts nearly as many points.
function rowsAt(m, conditions) {
    const axes = conditions.map(([axis]) => axis.i);
    const name = axes.join();
    const word = (value) => `${typeof value} ${value}`;
    m.sorted = m.sorted || new Map();
    if (!m.sorted.has(name)) {
        const sorted = new Map();
        for (const row of m.rows) {
            const key = axes.map((i) => word(row[i])).join("\n");
            if (!sorted.has(key)) sorted.set(key, []);
            sorted.get(key).push(row);
        }
        m.sorted.set(name, sorted);
    }
    return m.sorted.get(name).get(conditions.map(([, value]) => word(value)).join("\n")) || [];
}

// The mean over rows that completed and match all [axis, value] pairs; null where there is none. `low` and
// `high` are its 95 % interval where the seeds are of one point and at least five, else the least and the
// largest value.
function valueAt(m, at, conditions) {
    const rows = rowsAt(m, conditions);
    const good = rows
        .filter((row) => row[m.status] === "completed")
        .map((row) => row[at.i])
        .filter((v) => typeof v === "number");
    const interval = rows.length ? m.interval(rows, at) : null;
    return {
        value: mean(good),
        low: interval ? interval[0] : Math.min(...good),
        high: interval ? interval[1] : Math.max(...good),
        certain: Boolean(interval),
        n: good.length,
        runs: rows.length,
    };
}

// ---- heat map ----

// A cell as text: three digits in the unit that all cells share; below it how far the seeds spread.
function cellText(cell, scale) {
    if (cell.value === null) return "failed";
    const spread = cell.n > 1 ? (cell.high - cell.low) / 2 / cell.value : 0;
    const below = spread > 0.0005 ? `\n\u00b1${Number((spread * 100).toPrecision(2))}\u00a0%` : "";
    return inUnit(cell.value, scale) + below;
}

function heatSeries(cells, range, scale, wide) {
    return {
        type: "heatmap",
        itemStyle: { borderColor: colour("page"), borderWidth: 2 },
        label: {
            show: wide,
            fontSize: 11,
            lineHeight: 12,
            formatter: ({ data }) => cellText(data.cell, scale),
        },
        data: cells.map((cell) => ({
            value: [cell.i, cell.j, cell.value === null ? NaN : cell.value],
            cell,
            label: { color: ink(cell.value, range) },
            itemStyle: cell.value === null ? { color: colour("grid") } : undefined,
        })),
    };
}

const LEAST_SPREAD = 1.05;

// The values from the palest to the darkest colour. Those that are nearly the same have nearly the same colour.
function colourRange({ min, max }) {
    return { min, max: Math.max(max, min * LEAST_SPREAD) || 1 };
}

export function heat(m, at, x, y, fixed, title, range) {
    const colours = colourRange(range);
    const unit = metric(at.name).unit;
    const cells = [];
    y.values.forEach((vy, j) =>
        x.values.forEach((vx, i) => {
            const v = valueAt(m, at, [[x, vx], [y, vy], ...fixed]);
            if (v.runs) cells.push({ i, j, ...v });
        }),
    );
    const wide = x.values.length <= 8;
    const scale = axisUnit(unit, range.max);
    return figure({
        name: "sweep.map",
        title,
        label: `${metricName(at.name)} over ${plainName(x)} and ${plainName(y)}${title ? `, ${title}` : ""}.`,
        height: 84 + 30 * y.values.length,
        build: () => ({
            grid: { left: 8, right: 12, top: 6, bottom: 46, containLabel: true },
            xAxis: acrossAxis(x, 28),
            yAxis: {
                ...axisStyle(),
                type: "category",
                data: y.values.map((v) => named(y, v)),
                inverse: true,
                name: "",
                axisLabel: { color: colour("ink"), hideOverlap: true },
            },
            visualMap: heatScale(colours.min, colours.max, unit, metricName(at.name)),
            tooltip: {
                formatter: ({ data }) =>
                    tip(
                        data.cell,
                        [[x, x.values[data.cell.i]], [y, y.values[data.cell.j]], ...fixed],
                        at,
                    ),
            },
            series: [heatSeries(cells, colours, scale, wide)],
        }),
        data: () => ({
            columns: [
                { name: plainName(y) },
                ...x.values.map((v) => ({
                    name: `${short(plainName(x))} ${named(x, v)}`,
                    unit,
                    number: true,
                })),
            ],
            rows: y.values.map((vy) => [
                named(y, vy),
                ...x.values.map((vx) => valueAt(m, at, [[x, vx], [y, vy], ...fixed]).value),
            ]),
        }),
        csv: () =>
            pointTable(
                m,
                at,
                [x, y],
                fixed,
                y.values.flatMap((vy) => x.values.map((vx) => [vx, vy])),
            ),
    });
}

// Means over seeds with their spread as rows: the axes, then the metric. `points` has values of `axes`.
function pointTable(m, at, axes, fixed, points) {
    const unit = metric(at.name).unit;
    return {
        columns: [
            ...[...axes, ...fixed.map(([axis]) => axis)].map((axis) => ({ key: axis.name, name: "" })),
            { name: "", key: at.name, unit },
            { name: "", key: "low" },
            { name: "", key: "high" },
            { name: "", key: "runs" },
        ],
        rows: points.map((values) => {
            const v = valueAt(m, at, [...axes.map((axis, i) => [axis, values[i]]), ...fixed]);
            const spread = v.n ? [v.low, v.high] : [null, null];
            return [...values, ...fixed.map(([, value]) => value), v.value, ...spread, v.n];
        }),
    };
}

// Three digits in the unit that all cells share.
function inUnit(value, scale) {
    return String(Number((value / scale.factor).toPrecision(3)));
}

function ink(value, range) {
    return value === null
        ? colour("muted")
        : heatInk((value - range.min) / (range.max - range.min || 1));
}

function tip(v, conditions, at) {
    const unit = metric(at.name).unit;
    const where = conditions
        .map(([axis, value]) => `${html(plainName(axis))} = ${html(named(axis, value))}`)
        .join("<br>");
    const kind = v.certain ? `, 95 % interval of ${v.n} runs` : ` in ${v.n} runs`;
    const spread =
        v.n > 1 && v.high > v.low
            ? `<br>${html(text(v.low, unit))} to ${html(text(v.high, unit))}${kind}`
            : "";
    const failed = v.n < v.runs ? `<br>${v.runs - v.n} of ${v.runs} runs did not complete` : "";
    return `<b>${html(text(v.value, unit))}</b>${spread}${failed}<br>${where}`;
}

// ---- lines ----

// From the low to the high end of a point's spread.
function whisker(params, api) {
    const [low, high] = [1, 2].map((i) => api.coord([api.value(0), api.value(i)]));
    return {
        type: "line",
        shape: { x1: low[0], y1: low[1], x2: high[0], y2: high[1] },
        style: { stroke: api.visual("color"), lineWidth: 1.5 },
    };
}

function linesSeries(line, x, style) {
    const place = (i) => (x.numeric ? x.values[i] : i);
    const spread = line.points
        .map((p, i) => [place(i), p.low, p.high, p.n])
        .filter((p) => p[3] > 1 && p[2] > p[1]);
    const one = {
        name: line.name,
        type: "line",
        symbol: style.symbol,
        symbolSize: 8,
        color: style.colour(),
        lineStyle: { width: 2, type: style.dash },
        data: line.points.map((p, i) => [place(i), p.value]),
        emphasis: { focus: "series" },
    };
    if (!spread.length) return [one];
    const bars = {
        name: line.name,
        type: "custom",
        silent: true,
        color: style.colour(),
        renderItem: whisker,
        encode: { x: 0, y: [1, 2] },
        data: spread,
        clip: true,
    };
    return [one, bars];
}

// Values that stand far apart, none of them zero.
function farApart(range) {
    return range.min > 0 && range.max / range.min >= LOG_FROM;
}

// The axis of the metric: logarithmic where the sizes across are, and the values are far apart.
function metricAxis(at, range, log) {
    const scale = axisUnit(metric(at.name).unit, range.max);
    return {
        ...axisStyle(),
        type: log ? "log" : "value",
        min: log ? undefined : 0,
        max: log ? undefined : range.max * 1.05,
        name: `${metricName(at.name)}${scale.name ? ` (${scale.name})` : ""}`,
        nameTextStyle: { color: colour("muted"), align: "left" },
        nameGap: 8,
        axisLabel: { color: colour("muted"), formatter: scale.label, showMaxLabel: log },
    };
}

export function isSizes(x) {
    return x.unit === "bytes" && isLog(x);
}

export function lines(m, at, x, by, fixed, title, range) {
    const unit = metric(at.name).unit;
    const values = by ? by.values : [null];
    const names = values.map((v) => (by ? named(by, v) : metricName(at.name)));
    const styles = by && /^(policy|cc|cc\.kind)$/.test(by.name) ? policyStyles(names) : lineStyles(names);
    const all = values.map((v, i) => ({
        name: names[i],
        points: x.values.map((vx) => valueAt(m, at, [[x, vx], ...(by ? [[by, v]] : []), ...fixed])),
        v,
    }));
    const of = (line, index) => [[x, x.values[index]], ...(by ? [[by, line.v]] : []), ...fixed];
    return figure({
        name: "sweep.lines",
        title,
        label: `${metricName(at.name)} over ${plainName(x)}${by ? `, a line for each ${plainName(by)}` : ""}${title ? `, ${title}` : ""}.`,
        height: 270,
        build: () => ({
            legend: by ? { ...legendStyle(), data: names } : undefined,
            grid: { left: 8, right: 24, top: by ? 48 : 30, bottom: 40, containLabel: true },
            xAxis: numberAxis(x, 26),
            yAxis: metricAxis(at, range, isSizes(x) && farApart(range)),
            tooltip: {
                trigger: "item",
                formatter: ({ seriesName, dataIndex }) => {
                    const line = all.find((one) => one.name === seriesName);
                    return tip(line.points[dataIndex], of(line, dataIndex), at);
                },
            },
            series: all.flatMap((line) => linesSeries(line, x, styles.get(line.name))),
        }),
        data: () => ({
            columns: [
                { name: plainName(x) },
                ...all.map((line) => ({ name: line.name, unit, number: true })),
            ],
            rows: x.values.map((vx, i) => [
                named(x, vx),
                ...all.map((line) => line.points[i].value),
            ]),
        }),
        csv: () =>
            pointTable(
                m,
                at,
                by ? [x, by] : [x],
                fixed,
                values.flatMap((v) => x.values.map((vx) => (by ? [vx, v] : [vx]))),
            ),
    });
}
