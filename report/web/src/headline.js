// SPDX-License-Identifier: MIT
// The answer in one sentence, made from the data.
import { completed, doc, mean, metric, operation, policies, policyOf, primaryKey, runs, runsOf, scenarios, subject, valueOf } from "./data.js";
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
    const key = primaryKey();
    const order = ranking(key, scenario);
    if (order.length === 0) return "No run completed.";
    const best = order[0];
    const worst = order[order.length - 1];
    const what = subject(key);
    const took = text(best.value, "ns");
    const seeds = Math.max(...order.map((e) => e.good.length));
    const several = seeds > 1 ? ` (means of ${seeds} seeds)` : "";
    if (order.length === 1) return `${best.policy} needs ${took} for ${what}${several}.`;
    if (worst.value / best.value < 1.005)
        return `All ${order.length} policies take the same time for ${what}: ${took}${several}.`;
    const equals = order.filter((e) => e.value / best.value < 1.005).map((e) => e.policy);
    const after = `${worst.policy} takes ${longer(worst.value, best.value)}, ${text(worst.value, "ns")}${several}.`;
    if (equals.length > 3) return `${equals.length} of ${order.length} policies finish ${what} in ${took}; ${after}`;
    return `${list(equals)} ${equals.length > 1 ? "finish" : "finishes"} ${what} first, in ${took}; ${after}`;
}

function trainingSentence(run) {
    const job = run.training[0];
    const exposed = job.exposed_comm_ns;
    const part = job.total_ns > 0 && exposed > 0 ? `; ${share(exposed / job.total_ns)} of it is exposed communication` : "";
    return `${plural((job.iterations || []).length, "iteration")} of training on ${job.ranks} ranks took ${text(job.total_ns, "ns")}${part}.`;
}

function collectiveSentence(run) {
    const first = run.collectives[0];
    if (run.collectives.length > 1) return `${run.collectives.length} collectives took ${text(run.sim_time_ns, "ns")}.`;
    const ideal = first.efficiency ? `, ${share(first.efficiency)} of the ideal` : "";
    return `The ${operation(first.op)} of ${text(first.bytes, "bytes")} over ${first.ranks} ranks took ${text(first.duration_ns, "ns")}: ` +
        `${text(first.busbw_bps, "bit/s")} of bus bandwidth${ideal}.`;
}

function runSentence(run) {
    if (!completed(run)) {
        const after = run.sim_time_ns ? ` after ${text(run.sim_time_ns, "ns")} of simulated time` : "";
        return `The run ended ${run.status || "without results"}${after}${run.reason ? `: ${run.reason}` : ""}.`;
    }
    if (run.training) return trainingSentence(run);
    if (run.collectives) return collectiveSentence(run);
    const flows = run.flows_summary;
    if (flows && flows.fct_ns && flows.fct_ns.max) {
        const slow = flows.slowdown && flows.slowdown.max ? `, up to ${text(flows.slowdown.max, "ratio")} times as long as alone` : "";
        return `${plural(flows.count, "message")} took up to ${text(flows.fct_ns.max, "ns")}${slow}.`;
    }
    return `The run took ${text(run.sim_time_ns, "ns")}.`;
}

function pointText(columns, row, varied) {
    return list(varied.map((i) => `${columns[i]} = ${row[i]}`));
}

function sweepSentence() {
    const { columns, roles, rows } = doc.sweep;
    const status = roles.indexOf("status");
    const done = rows.filter((row) => row[status] === "completed");
    const failed = rows.length - done.length;
    const keys = ["iteration_ns", "collective_ns", "training_ns", "fct_max_ns", "time_ns", "sim_time_ns"];
    const at = keys.map((key) => columns.indexOf(key)).find((i) => i >= 0 && done.some((row) => typeof row[i] === "number"));
    const ended = failed ? ` ${plural(failed, "run")} did not complete.` : "";
    if (at === undefined) return `${plural(rows.length, "run")}.${ended}`;
    const varied = roles.map((role, i) => (role === "axis" && new Set(rows.map((row) => row[i])).size > 1 ? i : -1)).filter((i) => i >= 0);
    const order = done.filter((row) => typeof row[at] === "number").sort((a, b) => a[at] - b[at]);
    const [best, worst] = [order[0], order[order.length - 1]];
    const what = metric(columns[at]).name;
    if (worst[at] / best[at] < 1.005) return `Over ${plural(order.length, "run")} the ${what} is the same: ${text(best[at], "ns")}.${ended}`;
    return `The ${what} is shortest, ${text(best[at], "ns")}, with ${pointText(columns, best, varied)}; ` +
        `with ${pointText(columns, worst, varied)} it takes ${longer(worst[at], best[at])}.${ended}`;
}

export function headline() {
    if (doc.kind === "sweep") return sweepSentence();
    if (doc.kind === "run") return runSentence(runs[0]);
    if (scenarios.length > 1) return `${policies.length} policies in ${scenarios.length} scenarios.${incompleteText()}`;
    return compareSentence() + incompleteText();
}

// One sentence a scenario, where there are several.
export function perScenario() {
    if (doc.kind !== "compare" || scenarios.length < 2) return [];
    return scenarios.map((scenario) => `${scenario}: ${compareSentence(scenario)}`);
}

// The first reason: of the comparison, else of the worst policy, else of the run.
export function firstReason() {
    const shared = doc.comparison && (doc.comparison.explain || doc.comparison.why);
    if (Array.isArray(shared) && typeof shared[0] === "string") return shared[0];
    const order = doc.kind === "compare" ? ranking(primaryKey()) : [];
    const worst = order.length ? order[order.length - 1].good[0] : runs.find((run) => run.explain);
    const reason = worst && worst.explain && worst.explain[0];
    if (!reason) return null;
    return doc.kind === "compare" ? `${policyOf(worst)}: ${reason}` : reason;
}


