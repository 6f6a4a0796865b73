// SPDX-License-Identifier: MIT
// The page: sections in the order in which a reader asks.
import { startCharts } from "./chart.js";
import {
    baseline,
    detailed,
    doc,
    metric,
    nameOf,
    noun,
    policies,
    primaryKey,
    rowName,
    runs,
    scenarios,
    show,
    shown,
    shownRun,
    usedKeys,
    valueOf,
    varied,
} from "./data.js";
import { el, section, select, table } from "./dom.js";
import { capital, share, text } from "./format.js";
import { wholeRows } from "./grid.js";
import { firstReason, headline, perScenario, ranking } from "./headline.js";
import { linksSection } from "./links.js";
import { measuredSection } from "./measured.js";
import { memorySection } from "./memory.js";
import { messagesSection } from "./messages.js";
import { pausesSection } from "./pauses.js";
import { plot } from "./plot.js";
import { policiesSection } from "./policies.js";
import { seriesSection } from "./series.js";
import { sweepSection } from "./sweep.js";
import { isDark, toggleTheme } from "./theme.js";
import { timeSection } from "./time.js";
import { timelineSection } from "./timeline.js";

// ---- the run that detailed sections show: one choice for the page ----

const controls = [];

const follow = {
    control() {
        const box = select(
            capital(noun),
            detailed.map((run, i) => [i, nameOf(run)]),
            shown.index,
            show,
        );
        controls.push(box.querySelector("select"));
        return box;
    },
    // Fill `body` anew whenever another run is chosen. Returns a function that fills it.
    fill(body, make) {
        const fill = () => body.replaceChildren(...make());
        shown.listeners.push(fill);
        fill();
        return fill;
    },
};

shown.listeners.push(() => {
    for (const input of controls) input.value = String(shown.index);
});

// First the run that needs an explanation: that of the policy which takes longest.
if (doc.kind === "compare") {
    const order = ranking(primaryKey());
    const worst = order.length
        ? detailed.findIndex((run) => nameOf(run) === nameOf(order[order.length - 1].runs[0]))
        : -1;
    shown.index = Math.max(0, worst);
}

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

const KINDS = { run: "run", compare: `comparison of ${varied.length ? varied.join(", ") : "policies"}`, sweep: "sweep" };

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
    const few = ((runs[0].flows_summary || {}).count || 0) < 100; // too few for a percentile
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
    const each = perScenario();
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
        figures(),
    );
}

// ---- reasons ----

// Against the baseline first, then what the run says by itself.
function reasons(run) {
    const difference = run.difference || [];
    const own = [
        ...(run.reason ? [run.reason] : []),
        ...(run.waiting || []),
        ...(run.explain || []),
    ];
    const sentences = [...difference, ...own.filter((s) => !difference.includes(s))];
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

function whySection() {
    if (doc.kind === "sweep") return doc.why && doc.why.length ? sweepWhy() : null;
    const shared = doc.comparison && (doc.comparison.explain || doc.comparison.why);
    const sentences = Array.isArray(shared) ? shared.filter((s) => typeof s === "string") : [];
    if (!sentences.length && !detailed.some((run) => run.explain && run.explain.length))
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

// ---- end ----

// The time of each job under each policy.
function comparedJobs() {
    const jobs = ((doc.comparison && doc.comparison.statistics) || []).filter(
        (s) => s.job !== null,
    );
    const names = [...new Set(jobs.map((s) => `${s.scenario} ${s.job}`))];
    if (names.length < 2) return null;
    const box = section(
        "jobs",
        "Jobs",
        `Time of each job, mean over seeds${baseline ? `; in brackets the ratio to ${baseline}` : ""}.`,
    );
    const cell = (s) =>
        s && s[s.headline]
            ? `${text(s[s.headline].mean, metric(s.headline).unit)}${rowName(s) !== baseline && s[s.headline].ratio ? ` (${s[s.headline].ratio.toFixed(2)})` : ""}`
            : "–";
    box.append(
        table(
            [{ name: "job" }, ...policies.map((name) => ({ name, number: true }))],
            names.map((name) => [
                scenarios.length > 1 ? name : name.slice(name.indexOf(" ") + 1),
                ...policies.map((policy) =>
                    cell(jobs.find((s) => rowName(s) === policy && `${s.scenario} ${s.job}` === name)),
                ),
            ]),
            "Jobs",
        ),
    );
    return box;
}

function jobsSection() {
    const run = runs[0];
    if (doc.kind === "compare") return comparedJobs();
    if (doc.kind !== "run" || !run.jobs || run.jobs.length < 2) return null;
    const box = section("jobs", "Jobs");
    box.append(
        table(
            [
                { name: "job" },
                { name: "status" },
                { name: "start", number: true },
                { name: "time", number: true },
                { name: "bytes", number: true },
            ],
            run.jobs.map((job) => [
                job.name,
                job.status || "–",
                text(job.start_ns, "ns"),
                text(job.time_ns, "ns"),
                text(job.bytes, "bytes"),
            ]),
            "Jobs of the run",
        ),
    );
    return box;
}

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
        policiesSection(),
        sweepSection(),
        whySection(),
        timeSection(follow),
        messagesSection(follow),
        measuredSection(follow),
        jobsSection(),
        seriesSection(follow),
        linksSection(follow),
        pausesSection(follow),
        memorySection(follow),
        timelineSection(follow),
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
if (doc.plot) plot();
