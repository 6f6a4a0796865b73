// SPDX-License-Identifier: MIT
// A sweep: heat maps over two axes and lines over one, in small multiples over a third. The reader
// chooses which axis goes where.
import { axisStyle, figure, legendStyle, startCharts } from "./chart.js";
import { doc, mean, metric } from "./data.js";
import { label, model, named, NONE } from "./grid.js";
import { el, section, select, table } from "./dom.js";
import { axisUnit, html, text } from "./format.js";
import { heatColours, heatInk } from "./links.js";
import { colour, policyStyles } from "./theme.js";

const FIRST = [
    "iteration_ns",
    "collective_ns",
    "training_ns",
    "time_ns",
    "fct_max_ns",
    "sim_time_ns",
];

// The axis of the parameter that goes across, with a tick for each of its values.
function acrossAxis(x, nameGap) {
    return {
        ...axisStyle(),
        type: "category",
        data: x.values.map((v) => named(x, v)),
        name: short(x.title || x.name),
        nameLocation: "middle",
        nameGap,
        axisLabel: { color: colour("ink"), hideOverlap: true },
    };
}

function short(name) {
    return name.split(".").slice(-2).join(".");
}

// The mean over rows that completed and match all [axis, value] pairs; null where there is none.
function valueAt(m, at, conditions) {
    const rows = m.rows.filter((row) => conditions.every(([axis, value]) => row[axis.i] === value));
    const good = rows
        .filter((row) => row[m.status] === "completed")
        .map((row) => row[at.i])
        .filter((v) => typeof v === "number");
    return {
        value: mean(good),
        low: Math.min(...good),
        high: Math.max(...good),
        n: good.length,
        runs: rows.length,
    };
}

// ---- heat map ----

function heat(m, at, x, y, fixed, title, range) {
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
        title,
        label: `${metric(at.name).name} over ${x.name} and ${y.name}${title ? `, ${title}` : ""}.`,
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
            visualMap: { show: false, ...range, dimension: 2, inRange: { color: heatColours() } },
            tooltip: {
                formatter: ({ data }) =>
                    tip(
                        data.cell,
                        [[x, x.values[data.cell.i]], [y, y.values[data.cell.j]], ...fixed],
                        at,
                    ),
            },
            series: [
                {
                    type: "heatmap",
                    itemStyle: { borderColor: colour("page"), borderWidth: 2 },
                    label: {
                        show: wide,
                        fontSize: 11,
                        formatter: ({ data }) =>
                            data.cell.value === null ? "failed" : inUnit(data.cell.value, scale),
                    },
                    data: cells.map((cell) => ({
                        value: [cell.i, cell.j, cell.value === null ? NaN : cell.value],
                        cell,
                        label: { color: ink(cell.value, range) },
                        itemStyle: cell.value === null ? { color: colour("grid") } : undefined,
                    })),
                },
            ],
        }),
        data: () => ({
            columns: [
                { name: y.title || y.name },
                ...x.values.map((v) => ({ name: `${short(x.name)} ${named(x, v)}`, number: true })),
            ],
            rows: y.values.map((vy) => [
                named(y, vy),
                ...x.values.map((vx) =>
                    text(valueAt(m, at, [[x, vx], [y, vy], ...fixed]).value, unit),
                ),
            ]),
        }),
    });
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
        .map(([axis, value]) => `${html(axis.title || axis.name)} = ${html(named(axis, value))}`)
        .join("<br>");
    const spread =
        v.n > 1 && v.high > v.low
            ? `<br>${html(text(v.low, unit))} to ${html(text(v.high, unit))} in ${v.n} runs`
            : "";
    const failed = v.n < v.runs ? `<br>${v.runs - v.n} of ${v.runs} runs did not complete` : "";
    return `<b>${html(text(v.value, unit))}</b>${spread}${failed}<br>${where}`;
}

// ---- lines ----

function lines(m, at, x, by, fixed, title, range) {
    const unit = metric(at.name).unit;
    const scale = axisUnit(unit, range.max);
    const values = by ? by.values : [null];
    const styles = policyStyles(values.map((v) => (by ? named(by, v) : label(v))));
    const all = values.map((v) => ({
        name: by ? named(by, v) : metric(at.name).name,
        points: x.values.map((vx) => valueAt(m, at, [[x, vx], ...(by ? [[by, v]] : []), ...fixed])),
        v,
    }));
    return figure({
        title,
        label: `${metric(at.name).name} over ${x.name}${by ? `, a line for each ${by.name}` : ""}${title ? `, ${title}` : ""}.`,
        height: 270,
        build: () => ({
            legend: by ? legendStyle() : undefined,
            grid: { left: 8, right: 24, top: by ? 44 : 26, bottom: 40, containLabel: true },
            xAxis: acrossAxis(x, 26),
            yAxis: {
                ...axisStyle(),
                type: "value",
                min: 0,
                max: range.max * 1.05,
                name: scale.name,
                nameTextStyle: { color: colour("muted"), align: "left" },
                nameGap: 8,
                axisLabel: { color: colour("muted"), formatter: scale.label, showMaxLabel: false },
            },
            tooltip: {
                trigger: "item",
                formatter: ({ seriesIndex, dataIndex }) =>
                    tip(
                        all[seriesIndex].points[dataIndex],
                        [
                            [x, x.values[dataIndex]],
                            ...(by ? [[by, all[seriesIndex].v]] : []),
                            ...fixed,
                        ],
                        at,
                    ),
            },
            series: all.map((line) => {
                const style = styles.get(line.name) ||
                    styles.get("null") || { colour: "accent", dash: "solid", symbol: "circle" };
                return {
                    name: line.name,
                    type: "line",
                    symbol: style.symbol,
                    symbolSize: 8,
                    color: colour(by ? style.colour : "accent"),
                    lineStyle: { width: 2, type: style.dash },
                    data: line.points.map((p) => p.value),
                    emphasis: { focus: "series" },
                };
            }),
        }),
        data: () => ({
            columns: [{ name: x.name }, ...all.map((line) => ({ name: line.name, number: true }))],
            rows: x.values.map((vx, i) => [
                named(x, vx),
                ...all.map((line) => text(line.points[i].value, unit)),
            ]),
        }),
    });
}

// ---- the section ----

function bounds(m, at) {
    const values = m.rows
        .filter((row) => row[m.status] === "completed")
        .map((row) => row[at.i])
        .filter((v) => typeof v === "number");
    return { min: Math.min(...values), max: Math.max(...values) };
}

// Charts for the chosen axes: one for each value of the third.
function multiples(m, chosen) {
    const axis = (name) => m.axes.find((a) => a.name === name);
    const at = m.metrics.find((k) => k.name === chosen.metric);
    const [x, y, by] = [axis(chosen.x), axis(chosen.y), axis(chosen.by)];
    const rest = m.axes.filter(
        (a) => a !== x && a !== y && a !== by && chosen.fixed[a.name] !== undefined,
    );
    const fixed = rest.map((a) => [a, a.values[chosen.fixed[a.name]]]);
    const range = bounds(m, at);
    const one = (kind, extra, title) =>
        kind === "heat"
            ? heat(m, at, x, y, extra, title, range)
            : lines(m, at, x, y, extra, title, range);
    const of = by
        ? by.values.map((v) => [[...fixed, [by, v]], `${short(by.name)} = ${named(by, v)}`])
        : [[fixed, null]];
    const scale = axisUnit(metric(at.name).unit, range.max);
    const caption = `${metric(at.name).name}${scale.name ? ` in ${scale.name}` : ""}`;
    return [
        y ? el("h3", {}, `Heat map of the ${caption}`) : null,
        y
            ? el(
                  "div",
                  { class: by ? "multiples" : "" },
                  of.map(([extra, title]) => one("heat", extra, title)),
              )
            : null,
        el("h3", {}, `Lines of the ${caption}`),
        el(
            "div",
            { class: by ? "multiples" : "" },
            of.map(([extra, title]) => one("lines", extra, title)),
        ),
    ].filter(Boolean);
}

// Numbers go across and words become lines, unless the reader chooses otherwise.
function ordered(axes) {
    const numeric = (axis) => axis.values.every((v) => /^[\d.]+ *[A-Za-z%]*$/.test(label(v)));
    const across =
        axes.filter(numeric).sort((p, q) => q.values.length - p.values.length)[0] || axes[0];
    const rest = axes.filter((axis) => axis !== across);
    return [across, ...rest.filter((axis) => !numeric(axis)), ...rest.filter(numeric)];
}

function distinct(chosen, changed, axes) {
    for (const key of ["x", "y", "by"]) {
        if (key === changed || chosen[key] !== chosen[changed] || chosen[key] === NONE) continue;
        const free = axes
            .map((a) => a.name)
            .find((name) => ![chosen.x, chosen.y, chosen.by].includes(name));
        chosen[key] = free || (key === "x" ? chosen[key] : NONE);
    }
}

function controls(m, chosen, refill) {
    const names = m.axes.map((a) => [a.name, a.title || a.name]);
    const pick = (key, caption, options) =>
        select(caption, options, chosen[key], (value) => {
            const before = chosen[key];
            chosen[key] = value;
            for (const other of ["x", "y", "by"])
                if (key !== "metric" && other !== key && chosen[other] === value && value !== NONE)
                    chosen[other] = before;
            distinct(chosen, key, m.axes);
            refill();
        });
    const rest = m.axes.filter((a) => ![chosen.x, chosen.y, chosen.by].includes(a.name));
    for (const axis of rest) if (chosen.fixed[axis.name] === undefined) chosen.fixed[axis.name] = 0;
    return [
        pick(
            "metric",
            "Metric",
            m.metrics.map((k) => [k.name, metric(k.name).name]),
        ),
        pick("x", "Across", names),
        ...(m.axes.length > 1 ? [pick("y", "Down, and lines", [[NONE, "none"], ...names])] : []),
        ...(m.axes.length > 2 ? [pick("by", "Small multiples", [[NONE, "none"], ...names])] : []),
        ...rest.map((axis) =>
            select(
                axis.title || axis.name,
                axis.values.map((v, i) => [i, named(axis, v)]),
                chosen.fixed[axis.name],
                (v) => {
                    chosen.fixed[axis.name] = Number(v);
                    refill();
                },
            ),
        ),
    ];
}

function allRows() {
    const { columns, rows } = doc.sweep;
    const numeric = columns.map((_, i) => rows.some((row) => typeof row[i] === "number"));
    const details = el("details", { class: "data" }, el("summary", {}, `All ${rows.length} runs`));
    details.rowCount = () => rows.length;
    details.fill = () => {
        if (details.children.length > 1) return;
        details.append(
            table(
                columns.map((name, i) => ({ name, help: metric(name).help, number: numeric[i] })),
                rows
                    .slice(0, 1000)
                    .map((row) =>
                        row.map((v, i) =>
                            doc.sweep.roles[i] === "metric"
                                ? text(v, metric(columns[i]).unit)
                                : label(v),
                        ),
                    ),
                "All runs",
            ),
        );
    };
    details.addEventListener("toggle", () => details.open && details.fill());
    return details;
}

export function sweepSection() {
    if (doc.kind !== "sweep") return null;
    const m = model();
    const box = section(
        "sweep",
        "Sweep",
        m.axes.length
            ? "Means over seeds. Choose which parameter goes across, down, and into small multiples."
            : null,
    );
    if (m.axes.length && m.metrics.length) {
        const first =
            FIRST.find((key) => m.metrics.some((k) => k.name === key)) || m.metrics[0].name;
        const [a, b, c] = ordered(m.axes);
        const chosen = {
            metric: first,
            x: a.name,
            y: b ? b.name : NONE,
            by: c ? c.name : NONE,
            fixed: {},
        };
        const bar = el("div", { class: "controls axes" });
        const body = el("div");
        const refill = () => {
            const focused = [...bar.querySelectorAll("select")].indexOf(document.activeElement);
            bar.replaceChildren(...controls(m, chosen, refill));
            if (focused >= 0) bar.querySelectorAll("select")[focused]?.focus();
            body.replaceChildren(...multiples(m, chosen));
            startCharts();
        };
        box.append(bar, body);
        refill();
    }
    box.append(allRows());
    return box;
}
