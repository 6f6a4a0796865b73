// SPDX-License-Identifier: MIT
// The answer in one sentence, made from the data.
import {
    baseline,
    completed,
    doc,
    mean,
    metric,
    noun,
    nouns,
    operation,
    policies,
    policyOf,
    primaryKey,
    rowName,
    runs,
    runsOf,
    scenarios,
    statistics,
    subject,
    trainingOf,
    valueOf,
} from "./data.js";
import { firstKeys, model, named, plainName } from "./grid.js";
import { list, longer, plural, share, text } from "./format.js";

// Mean of a key for every policy (and scenario) that completed, the best first.
export function ranking(key, scenario) {
    const sign = metric(key).more ? -1 : 1;
    return policies
        .map((policy) => {
            const own = runsOf(policy, scenario);
            const good = own.filter(completed);
            return { policy, runs: own, good, value: mean(good.map((run) => valueOf(run, key))) };
        })
        .filter((entry) => entry.value !== null)
        .sort((a, b) => sign * (a.value - b.value));
}

function incompleteText() {
    const parts = policies
        .map((policy) => [policy, runsOf(policy)])
        .map(([policy, own]) => [policy, own.filter((run) => !completed(run)).length, own.length])
        .filter(([, n]) => n > 0)
        .map(([policy, n, all]) => (all === 1 ? policy : `${policy} in ${n} of ${all} runs`));
    return parts.length ? ` Not completed: ${list(parts)}.` : "";
}

function compareSentence(scenario) {
    const own = runs.filter((run) => scenario === undefined || run.scenario === scenario);
    const key = primaryKey(own);
    const order = ranking(key, scenario);
    if (order.length === 0) return "No run completed.";
    const best = order[0];
    const worst = order[order.length - 1];
    const what = subject(key, own);
    const took = text(best.value, "ns");
    const seeds = Math.max(...order.map((e) => e.good.length));
    const several = seeds > 1 ? ` (means of ${seeds} seeds)` : "";
    if (order.length === 1) return `${best.policy} needs ${took} for ${what}${several}.`;
    if (worst.value / best.value < 1.005)
        return `All ${order.length} ${nouns} take the same time for ${what}: ${took}${several}.`;
    const others = order
        .map((e) => statistics(e.policy, scenario))
        .filter((s) => s && rowName(s) !== baseline && s[key]);
    if (others.length && !others.some((s) => s[key].differs))
        return `No ${noun} differs from ${baseline} for certain: ${what} takes from ${took} (${best.policy}) to ${text(worst.value, "ns")} (${worst.policy})${several}.`;
    const equals = order.filter((e) => e.value / best.value < 1.005).map((e) => e.policy);
    const after = `${worst.policy} takes ${longer(worst.value, best.value)}, ${text(worst.value, "ns")}${several}.`;
    if (equals.length > 3)
        return `${equals.length} of ${order.length} ${nouns} finish ${what} in ${took}; ${after}`;
    return `${list(equals)} ${equals.length > 1 ? "finish" : "finishes"} ${what} first, in ${took}; ${after}`;
}

function trainingSentence(run) {
    const [job] = trainingOf(run);
    const exposed = job.exposed_comm_ns;
    const part =
        job.total_ns > 0 && exposed > 0
            ? `; ${share(exposed / job.total_ns)} of it is exposed communication`
            : "";
    return `${plural((job.iterations || []).length, "iteration")} of training on ${job.ranks} ranks took ${text(job.total_ns, "ns")}${part}.`;
}

function programSentence(run) {
    const job = run.metrics.programs[0];
    const part =
        job.total_ns > 0
            ? `; compute streams are idle for ${share(job.exposed_comm_ns / job.total_ns)} of it`
            : "";
    return `The program ${job.name} on ${job.ranks} ranks took ${text(job.total_ns, "ns")}${part}.`;
}

function collectiveSentence(run) {
    const { collectives, sim_time_ns } = run.metrics;
    const [first] = collectives;
    if (collectives.length > 1) return `${collectives.length} collectives took ${text(sim_time_ns, "ns")}.`;
    const ideal = first.efficiency ? `, ${share(first.efficiency)} of the ideal` : "";
    return (
        `The ${operation(first.op)} of ${text(first.bytes, "bytes")} over ${first.ranks} ranks took ${text(first.duration_ns, "ns")}: ` +
        `${text(first.busbw_bps, "bit/s")} of bus bandwidth${ideal}.`
    );
}

function runSentence(run) {
    const { sim_time_ns, reason } = run.metrics;
    if (!completed(run)) {
        const after = sim_time_ns ? ` after ${text(sim_time_ns, "ns")} of simulated time` : "";
        return `The run ended ${run.status || "without results"}${after}${reason ? `: ${reason}` : ""}.`;
    }
    if (run.metrics.training) return trainingSentence(run);
    if (run.metrics.programs) return programSentence(run);
    if (run.metrics.collectives) return collectiveSentence(run);
    const flows = run.metrics.flows_summary;
    if (flows && flows.fct_ns && flows.fct_ns.max) {
        const slow =
            flows.slowdown && flows.slowdown.max
                ? `, up to ${flows.slowdown.max.toFixed(flows.slowdown.max < 10 ? 1 : 0)} times as long as alone`
                : "";
        return `${plural(flows.count, "message")} took up to ${text(flows.fct_ns.max, "ns")}${slow}.`;
    }
    return `The run took ${text(sim_time_ns, "ns")}.`;
}

const TIMES = [
    "iteration_ns",
    "program_ns",
    "collective_ns",
    "training_ns",
    "time_ns",
    "fct_max_ns",
    "sim_time_ns",
];

// The sweep with what sentences need: the column of the time, and the rows that have one.
function sweepModel() {
    const m = model();
    const axes = m.axes.filter((axis) => axis.name !== "job");
    const done = m.whole.filter((row) => row[m.status] === "completed");
    const at = firstKeys(TIMES).map((key) => doc.sweep.columns.indexOf(key)).find(
        (i) => i >= 0 && done.some((row) => typeof row[i] === "number"),
    );
    return { ...m, axes, rows: m.whole, done, at, good: at === undefined ? [] : done.filter((row) => row[at] > 0) };
}

// By how much one axis changes the time where all other axes are equal: the largest ratio of means; null
// where no two points differ in this axis alone.
function effect(m, axis) {
    const groups = new Map();
    for (const row of m.good) {
        const key = JSON.stringify(
            m.axes.filter((other) => other !== axis).map((other) => row[other.i]),
        );
        if (!groups.has(key)) groups.set(key, new Map());
        const group = groups.get(key);
        if (!group.has(row[axis.i])) group.set(row[axis.i], []);
        group.get(row[axis.i]).push(row[m.at]);
    }
    const ratios = [...groups.values()]
        .filter((group) => group.size > 1)
        .map((group) => {
            const means = [...group.values()].map(mean);
            return Math.max(...means) / Math.min(...means);
        });
    return ratios.length ? Math.max(...ratios) : null;
}

function times(r) {
    return r < 1.5
        ? `${((r - 1) * 100).toFixed(0)}\u00a0%`
        : `a factor of ${r.toFixed(r < 10 ? 1 : 0)}`;
}

function sweepSentence() {
    const m = sweepModel();
    const failed = m.rows.length - m.done.length;
    const ended = failed ? ` ${plural(failed, "run")} did not complete.` : "";
    if (!m.good.length) return `${plural(m.rows.length, "run")}.${ended}`;
    const what = metric(doc.sweep.columns[m.at]).name;
    const effects = m.axes
        .map((axis) => [plainName(axis), effect(m, axis)])
        .filter(([, r]) => r !== null)
        .sort((a, b) => b[1] - a[1]);
    const strong = effects.filter(([, r]) => r >= 1.01);
    if (!effects.length) return `${plural(m.good.length, "run")}.${ended}`;
    if (!strong.length)
        return `The ${what} is the same in ${plural(m.good.length, "run")}: ${text(m.good[0][m.at], "ns")}.${ended}`;
    const weak = effects.filter(([, r]) => r < 1.01).map(([name]) => name);
    const none = weak.length ? `; ${list(weak)} ${weak.length > 1 ? "do" : "does"} not matter` : "";
    const [first, ...rest] = strong;
    return `${first[0]} changes the ${what} by up to ${times(first[1])}${rest.length ? `, ${list(rest.map(([name, r]) => `${name} by up to ${times(r)}`))}` : ""}${none}.${ended}`;
}

// The best and the worst point of a sweep.
function sweepReason() {
    const m = sweepModel();
    if (m.good.length < 2 || !m.axes.length) return null;
    const order = [...m.good].sort((a, b) => a[m.at] - b[m.at]);
    const [least, most] = [order[0], order.at(-1)].map((row) => text(row[m.at], "ns"));
    if (least === most) return null;
    const point = (row) =>
        `${text(row[m.at], "ns")} with ${list(m.axes.map((axis) => `${plainName(axis)}\u00a0=\u00a0${named(axis, row[axis.i])}`))}`;
    return `Shortest: ${point(order[0])}. Longest: ${point(order[order.length - 1])}.`;
}

export function headline() {
    if (doc.kind === "sweep") return sweepSentence();
    if (doc.kind === "run") return runSentence(runs[0]);
    if (scenarios.length > 1)
        return `${policies.length} ${nouns} in ${scenarios.length} scenarios.${incompleteText()}`;
    return compareSentence() + incompleteText();
}

// One sentence a scenario, where there are several.
export function perScenario() {
    if (doc.kind !== "compare" || scenarios.length < 2) return [];
    return scenarios.map((scenario) => `${scenario}: ${compareSentence(scenario)}`);
}

function sentence(words) {
    return /[.!?]$/.test(words) ? words : `${words}.`;
}

// The first reason: of the comparison, else of the worst policy, else of the run.
export function firstReason() {
    if (doc.kind === "sweep") return sweepReason();
    const shared = doc.comparison && (doc.comparison.explain || doc.comparison.why);
    if (Array.isArray(shared) && typeof shared[0] === "string") return shared[0];
    if (scenarios.length > 1) return null;
    const order = doc.kind === "compare" ? ranking(primaryKey()) : [];
    const worst = order.length ? order[order.length - 1].good[0] : runs.find((run) => run.metrics.explain);
    const difference = worst && worst.difference && worst.difference[0];
    const seed = worst && runsOf(policyOf(worst)).length > 1 ? ` (Seed ${worst.seed}.)` : "";
    if (difference) return `${sentence(difference)}${seed}`;
    const reason = worst && worst.metrics.explain && worst.metrics.explain[0];
    if (!reason) return null;
    return doc.kind === "compare"
        ? `${policyOf(worst)}: ${sentence(reason)}${seed}`
        : sentence(reason);
}
