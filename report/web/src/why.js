// SPDX-License-Identifier: MIT
// Reasons: what makes a run differ from the baseline, and what it says by itself.
import { detailed, doc, nameOf, runs, shownRun } from "./data.js";
import { el, section } from "./dom.js";
import { ofIteration } from "./savings.js";

// Against the baseline first, then what the run says by itself.
function reasons(run) {
    const difference = run.difference || [];
    const own = [
        ...(run.metrics.reason ? [run.metrics.reason] : []),
        ...(run.metrics.waiting || []),
        ...(run.metrics.explain || []),
    ];
    const sentences = [...difference, ...own.filter((s) => !difference.includes(s))].map((s) =>
        ofIteration(run, s),
    );
    if (!sentences.length) return [el("p", { class: "note" }, "No reasons were recorded.")];
    const [first, rest] = [sentences.slice(0, 6), sentences.slice(6)];
    const list = (items, start) =>
        el(
            "ol",
            { start: start > 1 ? start : null },
            items.map((s) => el("li", {}, s)),
        );
    return [
        list(first, 1),
        ...(rest.length
            ? [el("details", {}, el("summary", {}, `${rest.length} more`), list(rest, 7))]
            : []),
    ];
}

function runTitle(run) {
    const seeds =
        runs.filter((other) => nameOf(other) === nameOf(run)).length > 1
            ? `, seed ${run.seed}`
            : "";
    return el("h3", {}, `${nameOf(run)}${seeds}`);
}

// What costs the most time along the axes of a sweep (`sweep --why`).
function sweepWhy() {
    const box = section("why", "Why", "What costs the most time along each axis.");
    box.append(
        el(
            "ul",
            {},
            doc.why.map((s) => el("li", {}, s)),
        ),
    );
    return box;
}

export function whySection(follow) {
    if (doc.kind === "sweep") return doc.why && doc.why.length ? sweepWhy() : null;
    const shared = doc.comparison && (doc.comparison.explain || doc.comparison.why);
    const sentences = Array.isArray(shared) ? shared.filter((s) => typeof s === "string") : [];
    if (!sentences.length && !detailed.some((run) => run.metrics.explain && run.metrics.explain.length))
        return null;
    const box = section("why", "Why", null, detailed.length > 1 ? [follow.control()] : []);
    if (sentences.length)
        box.append(
            el(
                "ol",
                {},
                sentences.map((s) => el("li", {}, s)),
            ),
        );
    const body = el("div");
    follow.fill(body, () =>
        [detailed.length > 1 ? runTitle(shownRun()) : null, ...reasons(shownRun())].filter(Boolean),
    );
    box.append(body);
    return box;
}
