// SPDX-License-Identifier: MIT
// Where the time went: the critical path by cause, by place, by collective and by layer.
import { axisStyle, legendStyle, moreLegend, nameAxis } from "./chart.js";
import {
    completed,
    detailed,
    doc,
    mean,
    meaning,
    nameOf,
    noun,
    operation,
    partKeys,
    partName,
    PARTS,
    policies,
    policyOf,
    runs,
    runsOf,
    scenarios,
    shownRun,
    trainingOf,
} from "./data.js";
import { el, section } from "./dom.js";
import { figure } from "./figure.js";
import { axisUnit, html, share, text } from "./format.js";
import { colour } from "./theme.js";

function sum(parts) {
    return Object.values(parts).reduce((a, b) => a + b, 0);
}

const SEEN = 0.002; // a smaller part of every bar is in the table only

// Stacked bars. `bars`: [{name, parts, note}].
function stacked(name, bars, label, title) {
    const all = partKeys(bars.map((bar) => bar.parts));
    const keys = all.filter((key) => bars.some((bar) => bar.parts[key] > sum(bar.parts) * SEEN));
    const max = Math.max(...bars.map((bar) => sum(bar.parts)));
    const scale = axisUnit("ns", max);
    const more = (width) => moreLegend(keys.map(partName), width);
    return figure({
        name,
        title,
        label,
        height: (width) => 76 + more(width) + 30 * bars.length,
        build: (width) => ({
            legend: { ...legendStyle(), type: "plain", data: keys.map(partName) },
            grid: {
                left: 8,
                right: 24,
                top: 30 + more(width),
                bottom: 26,
                containLabel: true,
            },
            xAxis: {
                ...axisStyle(),
                type: "value",
                axisLabel: {
                    color: colour("muted"),
                    hideOverlap: true,
                    formatter: (v) => `${scale.label(v)}${v ? ` ${scale.name}` : ""}`,
                },
            },
            yAxis: nameAxis(bars.map((bar) => bar.name), width),
            tooltip: {
                trigger: "axis",
                axisPointer: { type: "shadow" },
                formatter: (items) => tooltip(bars[items[0].dataIndex], keys),
            },
            series: keys.map((key) => ({
                name: partName(key),
                type: "bar",
                stack: "time",
                barMaxWidth: 22,
                itemStyle: {
                    color: colour(PARTS[key] ? PARTS[key][1] : "part-others"),
                    borderColor: colour("page"),
                    borderWidth: 0.5,
                },
                emphasis: { focus: "series" },
                data: bars.map((bar) => bar.parts[key] || 0),
            })),
        }),
        data: () => ({
            columns: [
                { name: "" },
                { name: "total", unit: "ns", number: true },
                ...all.map((key) => ({
                    name: partName(key),
                    help: meaning(`slowest.parts.${key}`),
                    unit: "ns",
                    number: true,
                })),
            ],
            rows: bars.map((bar) => [
                bar.name,
                sum(bar.parts),
                ...all.map((key) => bar.parts[key] || 0),
            ]),
        }),
        csv: () => longTable(bars, all),
    });
}

// A row a bar and part that is not zero.
function longTable(bars, keys) {
    return {
        columns: [{ name: "bar" }, { name: "part" }, { name: "time", unit: "ns" }],
        rows: bars.flatMap((bar) =>
            keys
                .filter((key) => bar.parts[key])
                .map((key) => [bar.name, partName(key), bar.parts[key]]),
        ),
    };
}

function tooltip(bar, keys) {
    const total = sum(bar.parts);
    const lines = keys
        .filter((key) => bar.parts[key])
        .map(
            (key) =>
                `<tr><td>${html(partName(key))}</td><td class="n">${html(text(bar.parts[key], "ns"))}</td><td class="n">${html(share(bar.parts[key] / total))}</td></tr>`,
        );
    return `<b>${html(bar.name)}</b> ${html(text(total, "ns"))}${bar.note ? `<br>${html(bar.note)}` : ""}<table class="tip">${lines.join("")}</table>`;
}

function meanParts(list) {
    const keys = partKeys(list);
    return Object.fromEntries(keys.map((key) => [key, mean(list.map((parts) => parts[key] || 0))]));
}

// ---- bars of the parts of a result ----

const KINDS = {
    flow: "the last message",
    collective: "the collective that ended last",
    training: "the slowest rank",
    job: "the last job",
};

// What ended last in the run, with its critical path.
function slowest(run) {
    return run.metrics.slowest || {};
}

// A chart for each scenario, with a bar for each policy.
function byPolicy() {
    return scenarios
        .map((scenario) => {
            const groups = policies.map((policy) =>
                runsOf(policy, scenarios.length > 1 ? scenario : undefined).filter(
                    (run) => slowest(run).parts,
                ),
            );
            const bars = groups
                .filter((group) => group.length)
                .map((group) => ({
                    name: policyOf(group[0]),
                    parts: meanParts(group.map((run) => slowest(run).parts)),
                    note: group.length > 1 ? `mean of ${group.length} runs` : "",
                }));
            const where = scenarios.length > 1 ? ` in ${scenario}` : "";
            return bars.length
                ? stacked(
                      "time",
                      bars,
                      `The critical path of every ${noun}, by cause${where}.`,
                      `By ${noun}${where}`,
                  )
                : null;
        })
        .filter(Boolean);
}

function slowestOf(run) {
    const s = slowest(run);
    return [
        {
            name: s.name || (s.kind ? KINDS[s.kind] || s.kind : "the end"),
            parts: s.parts,
            note: s.rank !== undefined && s.rank !== null ? `rank ${s.rank}` : "",
        },
    ];
}

function collectiveBars(run) {
    const named = new Map(); // of several with one name, such as those of every iteration, the longest
    for (const c of (run.metrics.collectives || []).filter((one) => one.critical && one.critical.parts)) {
        const name = c.name === "collective" ? operation(c.op) : `${c.name} ${operation(c.op)}`;
        const bar = named.get(name) || { name, parts: {}, n: 0 };
        named.set(name, {
            ...bar,
            parts: sum(c.critical.parts) > sum(bar.parts) ? c.critical.parts : bar.parts,
            n: bar.n + 1,
        });
    }
    return [...named.values()]
        .sort((a, b) => sum(b.parts) - sum(a.parts))
        .slice(0, 12)
        .map((bar) => ({ ...bar, note: bar.n > 1 ? `the longest of ${bar.n}` : "" }));
}

const LAYER_PARTS = { fwd: "forward", ig: "input gradient", wg: "weight gradient" };

function layerBars(run) {
    return (slowest(run).layers || [])
        .map((layer) => ({
            name: [layer.name, LAYER_PARTS[layer.part] || layer.part].filter(Boolean).join(" "),
            parts: layer.parts || {
                compute_ns: layer.compute_ns || 0,
                comm_ns: layer.comm_ns || 0,
            },
        }))
        .filter(
            (bar, i, all) =>
                sum(bar.parts) > Math.max(...all.map((other) => sum(other.parts))) * 0.005,
        )
        .sort((a, b) => sum(b.parts) - sum(a.parts))
        .slice(0, 16);
}

// Without a critical path: computing and exposed communication of training jobs.
function exposedBars() {
    return runs
        .filter(completed)
        .map((run) => [run, trainingOf(run)[0]])
        .filter(([, job]) => job && job.total_ns)
        .map(([run, job]) => ({
            name: doc.kind === "run" ? job.name : nameOf(run),
            parts: { compute_ns: job.compute_ns, exposed_ns: job.exposed_comm_ns },
        }))
        .filter((bar, i, all) => all.findIndex((other) => other.name === bar.name) === i);
}

// Parts of one path that follow each other: iterations, and phases of the collective that ended last.
function iterationBars(run) {
    return (slowest(run).iterations || []).map((it) => ({
        name: `iteration ${it.iteration}`,
        parts: it.parts,
    }));
}

function phaseBars(run) {
    const { kind, job, end_ns } = slowest(run);
    if (kind !== "collective") return [];
    const ended = (run.metrics.collectives || []).find((c) => c.job === job && c.end_ns === end_ns);
    return ((ended && ended.phases) || [])
        .filter((phase) => phase.critical && phase.critical.total_ns)
        .map((phase) => ({
            name: `${operation(phase.op)}, dimension ${phase.dim}`,
            parts: phase.critical.parts,
        }));
}

// ---- programs ----

// What a compute stream did: computing, idle by what communication is for, waiting for peers. `uses` has
// the times; what is left of `total` is after the end of the rank.
function idleParts(compute, uses, total, early) {
    const parts = { compute_ns: compute };
    let waiting = 0;
    for (const use of uses) {
        parts[`${use.name}_ns`] = use.exposed_ns;
        waiting += use.waiting_ns;
    }
    parts.others_ns = waiting;
    parts.early_ns = early;
    const known = sum(parts);
    if (total > known) parts.scheduled_ns = total - known;
    return parts;
}

function programBars(run) {
    return (run.metrics.programs || [])
        .filter((p) => p.total_ns)
        .map((p) => ({
            name: doc.kind === "run" ? p.name : nameOf(run),
            parts: idleParts(p.compute_ns, p.uses, p.total_ns, p.early_ns),
            note: "mean of the ranks",
        }));
}

function rankBars(run) {
    const totals = new Map((run.metrics.programs || []).map((p) => [p.job, p.total_ns]));
    return (run.metrics.ranks || [])
        .filter((r) => r.finish_ns && totals.get(r.job))
        .map((r) => ({
            name: `rank${r.rank}`,
            parts: idleParts(
                r.compute_ns,
                r.uses,
                totals.get(r.job),
                totals.get(r.job) - r.finish_ns,
            ),
        }));
}

function programCharts(run) {
    const charts = [];
    const programs = programBars(run);
    const ranks = rankBars(run);
    if (programs.length)
        charts.push(
            stacked(
                "time.streams",
                programs,
                "Computing, and what compute streams were idle for, mean of the ranks.",
                "Compute streams",
            ),
        );
    if (ranks.length > 1)
        charts.push(stacked("time.ranks", ranks, "The same by rank.", "Compute streams of the first ranks"));
    return charts;
}

// ---- places ----

const CAUSES = {
    queued: "queued_ns",
    paused: "paused_ns",
    network: "network_ns",
    sending: "sending_ns",
    timeout: "timeout_ns",
    window: "window_ns",
    pace: "pace_ns",
    nic: "nic_ns",
};

function places(run) {
    const at = new Map();
    for (const place of (slowest(run).places || []).filter((p) => p.ns > 0)) {
        const parts = at.get(place.at) || {};
        const key = CAUSES[place.cause] || `${place.cause}_ns`;
        at.set(place.at, { ...parts, [key]: (parts[key] || 0) + place.ns });
    }
    const bars = [...at]
        .map(([name, parts]) => ({ name, parts }))
        .sort((a, b) => sum(b.parts) - sum(a.parts))
        .slice(0, 12);
    if (!bars.length) return null;
    return stacked(
        "time.places",
        bars,
        "Places on the critical path, by the time spent there.",
        doc.kind === "compare" ? `Where on the way of ${nameOf(run)}` : "Where on the way",
    );
}

// The charts of one run.
export function runTime(run) {
    const charts = [];
    if (doc.kind === "run" && slowest(run).parts)
        charts.push(
            stacked("time", slowestOf(run), "The critical path of the run, by cause.", "What ended last"),
        );
    const collectives = collectiveBars(run);
    if (collectives.length > 1)
        charts.push(
            stacked("time.collectives", collectives, "Critical path of each collective, by cause.", "Collectives"),
        );
    const phases = phaseBars(run);
    if (phases.length > 1)
        charts.push(stacked("time.phases", phases, "Phases of the critical path, by cause.", "Phases"));
    const iterations = iterationBars(run);
    if (iterations.length > 1)
        charts.push(
            stacked("time.iterations", iterations, "Iterations of the critical path, by cause.", "Iterations"),
        );
    const layers = layerBars(run);
    if (layers.length)
        charts.push(
            stacked(
                "time.layers",
                layers,
                "Layers on the critical path, by cause.",
                iterations.length > 1 ? `Layers, sum of the ${iterations.length} iterations` : "Layers",
            ),
        );
    charts.push(...programCharts(run));
    const where = places(run);
    if (where) charts.push(where);
    return charts;
}

export function timeSection(follow) {
    const bars = doc.kind === "compare" ? byPolicy() : [];
    const fallback = detailed.some((run) => run.metrics.slowest) ? [] : exposedBars();
    const parts = detailed.some((run) => runTime(run).length);
    if (!bars.length && !fallback.length && !parts) return null;
    const box = section(
        "time",
        "Where the time went",
        fallback.length
            ? "Computing, and communication that computing did not hide."
            : "The chain of events that ended last, backwards from its end: every nanosecond has one cause.",
        parts && detailed.length > 1 ? [follow.control()] : [],
    );
    box.append(...bars);
    if (fallback.length) box.append(stacked("time", fallback, "Computing and exposed communication."));
    if (parts) {
        const body = el("div");
        follow.fill(body, () => runTime(shownRun()));
        box.append(body);
    }
    return box;
}
