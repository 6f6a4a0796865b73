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
import { diagnosisReason, diagnosisSentence } from "./diagnosis.js";
import { sweepReason, sweepSentence } from "./effects.js";
import { ofIteration } from "./savings.js";
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

export function headline() {
    if (doc.kind === "sweep") return sweepSentence();
    if (doc.kind === "diagnosis") return diagnosisSentence();
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
    if (doc.kind === "diagnosis") return diagnosisReason();
    const shared = doc.comparison && (doc.comparison.explain || doc.comparison.why);
    if (Array.isArray(shared) && typeof shared[0] === "string") return shared[0];
    if (scenarios.length > 1) return null;
    const order = doc.kind === "compare" ? ranking(primaryKey()) : [];
    const worst = order.length ? order[order.length - 1].good[0] : runs.find((run) => run.metrics.explain);
    const difference = worst && worst.difference && worst.difference[0];
    const seed = worst && runsOf(policyOf(worst)).length > 1 ? ` (Seed ${worst.seed}.)` : "";
    if (difference) return `${sentence(ofIteration(worst, difference))}${seed}`;
    const reason = worst && worst.metrics.explain && worst.metrics.explain[0];
    if (!reason) return null;
    return doc.kind === "compare"
        ? `${policyOf(worst)}: ${sentence(ofIteration(worst, reason))}${seed}`
        : sentence(reason);
}
