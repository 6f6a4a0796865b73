// SPDX-License-Identifier: MIT
// One chart alone, for `collwire plot`: its SVG as text, or why there is none.
import "./es5.js";
import { detailed, doc, policyOf, scenarios, show } from "../data.js";
import { within } from "./dom.js";
import { follow } from "../follow.js";
import { NONE } from "../grid.js";
import { svgOf } from "../option.js";
import { picture, SAVED_WIDTH } from "../picture.js";
import { SECTIONS } from "../sections.js";

// A wish that the results cannot fulfil, as opposed to a fault of this program.
function Unknown(message) {
    this.message = message;
}

// The name of a run in the command: its policy, and scenario/policy where there are several scenarios.
function idOf(run) {
    return scenarios.length > 1 ? `${run.scenario}/${policyOf(run)}` : policyOf(run);
}

function chartsIn(sections, name) {
    return sections.flatMap((one) => within(one, (e) => (e.chart?.name === name ? e.chart : undefined)));
}

// Make sections until one has the chart.
function sectionsFor(name) {
    const made = [];
    for (const make of SECTIONS) {
        const one = make(follow);
        if (one && chartsIn([one], name).length) return [one];
        if (one) made.push(one);
    }
    return made;
}

// Make the choice in all controls that offer it.
function choose(sections, value) {
    const known = sections.flatMap((one) => within(one, (e) => e.choices));
    const fitting = known.filter((one) => one.values.includes(value));
    const words = known.flatMap((one) => one.values.filter((v) => typeof v === "string" && v !== NONE));
    if (!fitting.length)
        throw new Unknown(`"${value}" is not one of ${[...new Set(words)].join(", ")}`);
    for (const one of fitting) one.choose(value);
}

function drawn({ chart, choice, run, dim }) {
    const index = detailed.findIndex((one) => idOf(one) === run);
    if (run !== undefined && index < 0)
        throw new Unknown(`"${run}" is not one of ${detailed.map(idOf).join(", ")}`);
    if (index >= 0) show(index);
    const sections = sectionsFor(chart);
    // without a wish, a run that has the chart
    for (let i = 0; run === undefined && i < detailed.length && !chartsIn(sections, chart).length; i++)
        show(i);
    if (choice !== undefined) choose(sections, choice);
    if (dim !== undefined) choose(sections, dim);
    const charts = chartsIn(sections, chart);
    if (!charts.length) throw new Unknown("there is nothing to draw");
    return picture(
        charts.map((one) => ({ ...svgOf(one, SAVED_WIDTH), name: one.name, title: one.title })),
        charts[0].label,
    );
}

export const result = {};
try {
    result.svg = drawn(doc.plot);
} catch (error) {
    if (!(error instanceof Unknown)) throw error;
    result.problem = error.message;
}
