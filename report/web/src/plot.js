// SPDX-License-Identifier: MIT
// One chart alone, for `collwire plot`: the page is replaced by its SVG as text.
import { chartsOf, svgOf } from "./chart.js";
import { detailed, doc, policyOf, scenarios, show } from "./data.js";
import { picture, SAVED_WIDTH } from "./save.js";

// The name of a run in the command: its policy, and scenario/policy where there are several scenarios.
function idOf(run) {
    return scenarios.length > 1 ? `${run.scenario}/${policyOf(run)}` : policyOf(run);
}

function choose(value) {
    const inputs = [...document.querySelectorAll("select")];
    const fitting = inputs.filter((one) => [...one.options].some((o) => o.value === value));
    if (!fitting.length) {
        const known = inputs.flatMap((one) => [...one.options].map((o) => o.value));
        throw new Error(`"${value}" is not one of ${[...new Set(known)].filter((v) => !/^\d+$|^\u2013$/.test(v)).join(", ")}`);
    }
    for (const input of fitting) {
        input.value = value;
        input.dispatchEvent(new Event("change"));
    }
}

// Show the wanted run; without a wish, one that has the chart.
function showRun(chart, run) {
    const index = detailed.findIndex((one) => idOf(one) === run);
    if (run !== undefined && index < 0)
        throw new Error(`"${run}" is not one of ${detailed.map(idOf).join(", ")}`);
    if (index >= 0) show(index);
    for (let i = 0; run === undefined && i < detailed.length && !chartsOf(chart).length; i++)
        show(i);
}

function drawn({ chart, choice, run }) {
    showRun(chart, run);
    if (choice !== undefined) choose(choice);
    const charts = chartsOf(chart);
    if (!charts.length) throw new Error("there is nothing to draw");
    return picture(
        charts.map((one) => ({
            ...svgOf(one, SAVED_WIDTH),
            name: one.name,
            title: one.title,
        })),
        charts[0].label,
    );
}

export function plot() {
    let text;
    try {
        text = `COLLWIRE-PLOT:${encodeURIComponent(drawn(doc.plot))}`;
    } catch (error) {
        text = `COLLWIRE-PROBLEM:${encodeURIComponent(error.message)}`;
    }
    document.body.textContent = `${text}:COLLWIRE-END`;
}
