// SPDX-License-Identifier: MIT
// The page: sections in the order in which a reader asks.
import { doc, metric, nameOf, noun, policies, primaryKey, runs, scenarios, shown, shrunk, usedKeys, valueOf, varied } from "./data.js";
import { el, section } from "./dom.js";
import { perJob } from "./effects.js";
import { startCharts } from "./figure.js";
import { follow } from "./follow.js";
import { share, text } from "./format.js";
import { wholeRows } from "./grid.js";
import { firstReason, headline, perScenario } from "./headline.js";
import { SECTIONS } from "./sections.js";
import { isDark, toggleTheme } from "./theme.js";

// ---- head ----

function themeButton() {
    const caption = () => (isDark() ? "Light" : "Dark");
    const button = el(
        "button",
        {
            type: "button",
            class: "theme",
            "aria-label": "Switch between light and dark",
            onclick: () => {
                toggleTheme();
                button.textContent = caption();
            },
        },
        caption(),
    );
    return button;
}

const KINDS = { run: "run", compare: `comparison of ${varied.length ? varied.join(", ") : "policies"}`, sweep: "sweep", diagnosis: "diagnosis" };

function facts() {
    const seeds = [...new Set(runs.map((run) => run.seed))];
    const parts = [KINDS[doc.kind] || doc.kind];
    if (doc.kind === "run") parts.push(`policy ${nameOf(runs[0])}`);
    if (seeds.length === 1) parts.push(`seed ${seeds[0]}`);
    if (seeds.length > 1) parts.push(`${seeds.length} seeds`);
    if (doc.kind === "sweep") parts.push(`${wholeRows().length} runs`);
    return parts.join(" · ");
}

function head() {
    return el(
        "header",
        { class: "top" },
        el(
            "p",
            { class: "brand" },
            el("b", {}, "collwire"),
            ` ${scenarios.length > 1 ? scenarios.join(", ") : doc.name || ""}`,
        ),
        el("p", { class: "facts" }, facts()),
        themeButton(),
    );
}

// The numbers of a single run that are not zero.
function figures() {
    if (doc.kind !== "run") return null;
    const primary = primaryKey();
    const few = ((runs[0].metrics.flows_summary || {}).count || 0) < 100; // too few for a percentile
    const hidden = [
        "fct_mean_ns",
        "jain",
        ...(few ? ["fct_p99_ns"] : []),
        ...(primary === "sim_time_ns" ? [] : ["sim_time_ns"]),
    ];
    const keys = usedKeys(runs).filter((key) => !hidden.includes(key));
    return el(
        "dl",
        { class: "figures" },
        keys.map((key) => {
            const m = metric(key);
            return el(
                "div",
                { title: m.help || null },
                el("dt", {}, m.name),
                el(
                    "dd",
                    {},
                    key === "efficiency"
                        ? share(valueOf(runs[0], key))
                        : text(valueOf(runs[0], key), m.unit),
                ),
            );
        }),
    );
}

function answer() {
    const reason = firstReason();
    const each = [...perScenario(), ...perJob()];
    return el(
        "section",
        { id: "answer", class: "answer" },
        el("h1", {}, headline()),
        reason ? el("p", { class: "reason" }, reason) : null,
        each.length
            ? el(
                  "ul",
                  {},
                  each.map((sentence) => el("li", {}, sentence)),
              )
            : null,
        shrunk
            ? el(
                  "p",
                  { class: "note" },
                  `Shrunk: ${shrunk}. Its tokens/s and MFU are not those of the whole one, which runs in closed form, in seconds: its scenario with network: analytical.`,
              )
            : null,
        figures(),
    );
}

// ---- end ----

function command() {
    if (doc.command) return doc.command;
    return doc.kind === "run"
        ? `collwire run ${doc.name}.json   # the scenario below as a file`
        : null;
}

function scenarioSection() {
    const box = section("scenario", "Scenario and command");
    const facts = [
        ["made by", doc.version ? `collwire ${doc.version}` : null],
        ["command", command()],
    ].filter(([, value]) => value);
    box.append(
        el(
            "dl",
            { class: "origin" },
            facts.flatMap(([key, value]) => [
                el("dt", {}, key),
                el("dd", {}, key === "command" ? el("code", {}, value) : value),
            ]),
        ),
    );
    if (doc.notes && doc.notes.length)
        box.append(
            el("h3", {}, "What the page leaves out"),
            el(
                "ul",
                {},
                doc.notes.map((note) => el("li", {}, note)),
            ),
        );
    if (doc.scenario) {
        const several =
            runs.length > 1 ? ` of the first run; the others differ in ${noun} and seed` : "";
        box.append(
            el(
                "details",
                { class: "scenario" },
                el("summary", {}, `The resolved scenario${several}`),
                el("pre", { tabindex: "0" }, JSON.stringify(doc.scenario, null, 2)),
            ),
        );
    }
    return box;
}

// ---- the whole ----

function contents(sections) {
    return el(
        "nav",
        { class: "contents", "aria-label": "Sections" },
        sections
            .filter((s) => s.querySelector("h2"))
            .map((s) => el("a", { href: `#${s.id}` }, s.querySelector("h2").textContent)),
    );
}

function build() {
    document.title = `${doc.name || "report"} · collwire`;
    const sections = [
        answer(),
        ...SECTIONS.map((make) => make(follow)),
        scenarioSection(),
    ].filter(Boolean);
    const main = el("main", { id: "main" }, sections);
    document.body.replaceChildren(
        el("a", { class: "skip", href: "#main" }, "Skip to the results"),
        head(),
        contents(sections),
        main,
    );
    startCharts();
    shown.listeners.push(startCharts);
}

build();
