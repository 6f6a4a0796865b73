// SPDX-License-Identifier: MIT
// The grid of a sweep: its axes, metrics and rows.
import { doc } from "./data.js";

export const NONE = "–";

// The sweep as axes {name, values} with more than one value, metrics, and rows.
export function model() {
    const { columns, roles, rows } = doc.sweep;
    const axes = [];
    const metrics = [];
    columns.forEach((name, i) => {
        const values = [...new Set(rows.map((row) => row[i]))];
        if (roles[i] === "axis" && values.length > 1) axes.push({ name, i, values });
        if (roles[i] === "metric" && rows.some((row) => typeof row[i] === "number" && row[i] !== 0))
            metrics.push({ name, i });
    });
    mergeTogether(axes, rows);
    const seed = columns.indexOf("seed");
    if (!axes.length && seed >= 0)
        axes.push({ name: "seed", i: seed, values: [...new Set(rows.map((row) => row[seed]))] });
    return { axes, metrics, rows, status: columns.indexOf("status") };
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
        const names = other.names || new Map(other.values.map((v) => [v, label(v)]));
        for (const v of other.values)
            names.set(
                v,
                `${names.get(v)}, ${label(rows.find((row) => row[other.i] === v)[axes[k].i])}`,
            );
        Object.assign(other, { names, title: `${other.title || other.name} with ${axes[k].name}` });
        axes.splice(k, 1);
    }
}

// The name of an axis' value.
export function named(axis, value) {
    return axis.names ? axis.names.get(value) : label(value);
}

export function label(value) {
    return value === null ? NONE : String(value);
}
