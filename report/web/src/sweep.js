// SPDX-License-Identifier: MIT
// A sweep: its charts in small multiples over a third axis. The reader chooses which axis goes where.
import { doc, metric } from "./data.js";
import { startCharts } from "./figure.js";
import { firstKeys, label, metricName, model, named, NONE, plainName, wholeRows } from "./grid.js";
import { el, replaceControls, section, select, table } from "./dom.js";
import { axisUnit, text } from "./format.js";
import { heat, isSizes, lines, short } from "./sweep-charts.js";

const FIRST = [
    "iteration_ns",
    "collective_ns",
    "training_ns",
    "time_ns",
    "fct_max_ns",
    "sim_time_ns",
];

// ---- the section ----

// Least and largest value of the chosen job, or of whole runs: a job's times are no part of their scale.
function bounds(m, at, fixed) {
    const job = fixed.find(([axis]) => axis.name === "job");
    const values = m.rows
        .filter((row) => row[m.status] === "completed" && (!job || row[job[0].i] === job[1]))
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
    const range = bounds(m, at, fixed);
    const one = (kind, extra, title) =>
        kind === "heat"
            ? heat(m, at, x, y, extra, title, range)
            : lines(m, at, x, y, extra, title, range);
    const of = by
        ? by.values.map((v) => [[...fixed, [by, v]], `${short(plainName(by))} = ${named(by, v)}`])
        : [[fixed, null]];
    const scale = axisUnit(metric(at.name).unit, range.max);
    const job = fixed.find(([axis]) => axis.name === "job");
    const caption = `${metricName(at.name)}${job ? ` of ${named(...job)}` : ""}${scale.name ? ` in ${scale.name}` : ""}`;
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
    const numeric = axes.filter((axis) => axis.numeric);
    const across =
        numeric.find(isSizes) ||
        numeric.sort((p, q) => q.values.length - p.values.length)[0] ||
        axes[0];
    const rest = axes.filter((axis) => axis !== across && axis.name !== "job");
    return [
        across,
        ...rest.filter((axis) => !axis.numeric),
        ...rest.filter((axis) => axis.numeric),
    ];
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

// A run ends with its last job, so the charts begin with a job and not with the whole run.
function firstValue(axis) {
    const first = axis.name === "job" ? axis.values.findIndex((v) => v !== null) : 0;
    return Math.max(first, 0);
}

function controls(m, chosen, refill) {
    const names = m.axes.map((a) => [a.name, plainName(a)]);
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
    for (const axis of rest)
        if (chosen.fixed[axis.name] === undefined) chosen.fixed[axis.name] = firstValue(axis);
    return [
        pick(
            "metric",
            "Metric",
            m.metrics.map((k) => [k.name, metricName(k.name)]),
        ),
        pick("x", "Across", names),
        ...(m.axes.length > 1 ? [pick("y", "Down, and lines", [[NONE, "none"], ...names])] : []),
        ...(m.axes.length > 2 ? [pick("by", "Small multiples", [[NONE, "none"], ...names])] : []),
        ...rest.map((axis) =>
            select(
                plainName(axis),
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
    const count = wholeRows().length;
    const jobs = rows.length > count ? `, and their jobs in ${rows.length - count} rows` : "";
    const details = el("details", { class: "data" }, el("summary", {}, `All ${count} runs${jobs}`));
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

// What bars and \u00b1 mean, where there are several seeds.
function seedsSentence(m) {
    const seed = doc.sweep.columns.indexOf("seed");
    const seeds = new Set(m.rows.map((row) => row[seed])).size;
    if (seed < 0 || seeds < 2 || m.axes.some((axis) => axis.name === "seed")) return "";
    const spread = m.intervals
        ? "the 95 % interval of the mean (bootstrap)"
        : "the least and the largest of the seeds";
    return ` Values are means over ${seeds} seeds; bars and \u00b1 are ${spread}.`;
}

export function sweepSection() {
    if (doc.kind !== "sweep") return null;
    const m = model();
    const box = section(
        "sweep",
        "Sweep",
        m.axes.length
            ? `Choose which parameter goes across, down, and into small multiples.${seedsSentence(m)}`
            : null,
    );
    if (m.axes.length && m.metrics.length) {
        const [a, b, c] = ordered(m.axes);
        const times = firstKeys(FIRST);
        const wanted = isSizes(a) ? ["busbw_bps", ...times] : times;
        const known = m.metrics.filter((k) => m.whole.some((row) => typeof row[k.i] === "number"));
        const first = wanted.find((key) => known.some((k) => k.name === key)) || known[0].name;
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
            replaceControls(bar, controls(m, chosen, refill));
            body.replaceChildren(...multiples(m, chosen));
            startCharts();
        };
        box.append(bar, body);
        refill();
    }
    box.append(allRows());
    return box;
}
