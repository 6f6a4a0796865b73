// SPDX-License-Identifier: MIT
// The grid of a sweep: its axes, metrics and rows.
import { doc, metric } from "./data.js";
import { size, text, unitOfKey } from "./format.js";

export const NONE = "–";

// The sweep as axes {name, values} with more than one value, metrics, and rows.
export function model() {
    const { columns, roles, rows } = doc.sweep;
    const axes = [];
    const metrics = [];
    columns.forEach((name, i) => {
        const values = [...new Set(rows.map((row) => row[i]))];
        if (roles[i] === "axis" && values.length > 1) axes.push(axisOf(name, i, values));
        if (roles[i] === "metric" && rows.some((row) => typeof row[i] === "number" && row[i] !== 0))
            metrics.push({ name, i });
    });
    mergeTogether(axes, rows);
    const seed = columns.indexOf("seed");
    if (!axes.length && seed >= 0)
        axes.push(axisOf("seed", seed, [...new Set(rows.map((row) => row[seed]))]));
    return { axes, metrics, rows, whole: wholeRows(), status: columns.indexOf("status"), ...intervals(axes) };
}

// The rows of runs. Rows of jobs follow that of the whole run, which has none, and are not runs.
export function wholeRows() {
    const { columns, rows } = doc.sweep;
    const job = columns.indexOf("job");
    return job < 0 ? rows : rows.filter((row) => row[job] === null);
}

// interval(rows, metric): the 95 % interval of a metric's mean over these rows, if they are all the seeds of
// one point; else null. The document has it for the first row of a point.
function intervals(axes) {
    const known = doc.sweep.intervals;
    if (!known) return { intervals: false, interval: () => null };
    const numbers = new Map(doc.sweep.rows.map((row, i) => [row, i]));
    const alone = (rows) => rows.every((row) => axes.every((a) => row[a.i] === rows[0][a.i]));
    return {
        intervals: true,
        interval: (rows, at) => {
            const of = (known[at.name] || {})[numbers.get(rows[0])];
            return of && alone(rows) ? of : null;
        },
    };
}

// Keys of which a sweep's first metric is taken: with several jobs none that is of messages alone.
export function firstKeys(keys) {
    return doc.sweep.columns.includes("job") ? keys.filter((key) => key !== "fct_max_ns") : keys;
}

// The name of a metric; where rows of jobs stand beside those of runs, a time is that of either.
export function metricName(key) {
    return key === "sim_time_ns" && doc.sweep.columns.includes("job") ? "time" : metric(key).name;
}

// An axis whose values are all numbers is numeric: they have an order and a unit.
function axisOf(name, i, values) {
    const numeric = values.every((v) => typeof v === "number");
    if (numeric) values.sort((a, b) => a - b);
    return { name, i, values, numeric, unit: numeric ? unitOfKey(name) : null };
}

// The name of a parameter without the unit, which stands at its values.
export function plainName(axis) {
    const name = axis.title || axis.name;
    return axis.numeric ? name.replace(/_(ns|bytes|bps)$/, "") : name;
}

// Axes that always change together (zipped lists) are one axis: the second one leaves, and its values stand
// in the names of the first one's.
function mergeTogether(axes, rows) {
    for (let k = axes.length - 1; k > 0; k--) {
        const other = axes
            .slice(0, k)
            .find(
                (axis) =>
                    axis.values.length === axes[k].values.length &&
                    new Set(rows.map((row) => JSON.stringify([row[axis.i], row[axes[k].i]])))
                        .size === axis.values.length,
            );
        if (!other) continue;
        const names = other.names || new Map(other.values.map((v) => [v, named(other, v)]));
        for (const v of other.values)
            names.set(
                v,
                `${names.get(v)}, ${named(axes[k], rows.find((row) => row[other.i] === v)[axes[k].i])}`,
            );
        Object.assign(other, {
            names,
            numeric: false,
            title: `${other.title || other.name} with ${axes[k].name}`,
        });
        axes.splice(k, 1);
    }
}

// The name of an axis' value.
export function named(axis, value) {
    if (axis.names) return axis.names.get(value);
    if (axis.name === "job" && value === null) return "the whole run";
    if (axis.unit === "bytes") return size(value);
    return axis.unit && axis.unit !== "count" ? text(value, axis.unit) : label(value);
}

export function label(value) {
    return value === null ? NONE : String(value);
}
