// SPDX-License-Identifier: MIT
// The document of the page, and what several sections derive from it.
import { doc } from "./document.js";
import { unitOfKey } from "./format.js";
import { policyStyles } from "./styles.js";

export { doc };

// Each run has its metrics.json in `metrics`, without lists and values that are empty (report/page/page_run.c); `{}`
// where they are missing. `detail` has what report/page makes of long parts: links, series, a timeline.
export const runs = doc.runs || [];

// Policies and scenarios in the order in which the results name them.
export const policies = [...new Set(runs.map((run) => run.policy || "run"))];
export const scenarios = [...new Set(runs.map((run) => run.scenario || doc.name || ""))];
export const styles = policyStyles(policies);

// The keys that a comparison varies, and what its rows are called: policies, or variants where the
// values of a key are compared.
export const varied = (doc.comparison && doc.comparison.varied) || [];
export const noun = varied.length ? "variant" : "policy";
export const nouns = varied.length ? "variants" : "policies";

export function policyOf(run) {
    return run.policy || "run";
}

// The name of a run where several are shown: policy, and scenario where there are several.
export function nameOf(run) {
    return scenarios.length > 1 ? `${policyOf(run)}, ${run.scenario}` : policyOf(run);
}

export function runsOf(policy, scenario) {
    return runs.filter(
        (run) =>
            policyOf(run) === policy &&
            (scenario === undefined || (run.scenario || doc.name || "") === scenario),
    );
}

export const detailed = runs.filter((run) => run.detail);

// ---- metrics by key ----

const known = new Map((doc.columns || []).map((column) => [column.key, column]));

const WORDS = {
    sim_time_ns: "time of the run",
    training_ns: "time of the training job",
    iteration_ns: "time of an iteration",
    exposed_iteration_ns: "exposed communication of an iteration",
    exposed_comm_ns: "exposed communication of the training job",
    program_ns: "time of the program",
    program_exposed_ns: "exposed communication and waiting",
    bubble_share: "share of pipeline bubbles",
    memory_bytes: "memory of a GPU",
    collective_ns: "time of the collective",
    busbw_bps: "bus bandwidth",
    algbw_bps: "algorithm bandwidth",
    efficiency: "efficiency",
    fct_mean_ns: "mean completion time",
    fct_p99_ns: "99th percentile of completion times",
    fct_max_ns: "longest completion time",
    tokens_per_s: "tokens a second",
    mfu: "model FLOPs utilization",
    jain: "Jain's fairness index",
    max_queue_bytes: "longest queue",
    marked_packets: "marked packets",
    cnps: "CNPs",
    pause_frames: "PFC pause frames",
    paused_ns: "time paused, sum over ports",
    dropped_packets: "dropped packets",
    tcp_retransmitted_segments: "TCP segments sent again",
    tcp_timeouts: "TCP timeouts",
};

// What has been left out of a larger scenario by `collwire shrink`; null = nothing.
export const shrunk =
    [].concat(doc.scenario || []).map((one) => one.shrunk).find(Boolean) ||
    runs.flatMap((run) => run.metrics.programs || []).map((one) => one.shrunk).find(Boolean) ||
    null;

// Rates of a shrunk job must not pass for those of the whole.
function ofShrunk(key) {
    return shrunk && /^(tokens_per_s|mfu)$/.test(key) ? " of the shrunk job" : "";
}

export function metric(key) {
    const column = known.get(key);
    return {
        key,
        unit: column ? column.unit || unitOfKey(key) : unitOfKey(key),
        name:
            (WORDS[key] || key.replace(/_(ns|bytes|bps)$/, "").replaceAll("_", " ")) + ofShrunk(key),
        heading: column && column.heading ? column.heading + ofShrunk(key) : null,
        help: column ? column.help : meaning(key),
        more: /^(busbw_bps|algbw_bps|efficiency|jain|goodput_bps)$/.test(key), // more is better
    };
}

export function meaning(path) {
    const entry = (doc.meanings || {})[path];
    return entry ? entry[1] : null;
}

export function valueOf(run, key) {
    const value = (run.values || {})[key];
    return typeof value === "number" ? value : null;
}

// Means over collectives of several kinds say nothing.
function mixed(run) {
    return new Set((run.metrics.collectives || []).map((c) => `${c.name} ${c.op} ${c.bytes}`)).size > 1;
}

const OF_COLLECTIVES = ["collective_ns", "busbw_bps", "efficiency"];

// Keys that have a value in some run and are not zero everywhere.
export function usedKeys(of = runs) {
    const several = of.some(mixed);
    return (doc.columns || [])
        .map((c) => c.key)
        .filter(
            (key) =>
                of.some((run) => valueOf(run, key)) && !(several && OF_COLLECTIVES.includes(key)),
        );
}

export function mean(values) {
    const numbers = values.filter((v) => v !== null && v !== undefined);
    return numbers.length ? numbers.reduce((a, b) => a + b, 0) / numbers.length : null;
}

export function completed(run) {
    return run.status === "completed";
}

// Training jobs: one is an object, several are a list.
export function trainingOf(run) {
    return [].concat(run.metrics.training || []);
}

function severalJobs(run) {
    return (
        new Set([...(run.metrics.collectives || []), ...trainingOf(run)].map((one) => one.job)).size > 1 ||
        (run.metrics.jobs || []).length > 1
    );
}

// The name of a row of a comparison's statistics.
export function rowName(s) {
    return s.name || s.cc;
}

// Statistics of a policy over its seeds, as the comparison has them; null = there are none.
export function statistics(policy, scenario, job = null) {
    const all = (doc.comparison && doc.comparison.statistics) || [];
    return (
        all.find(
            (s) =>
                rowName(s) === policy &&
                s.job === job &&
                (scenario === undefined || s.scenario === scenario),
        ) || null
    );
}

export const baseline = (doc.comparison && doc.comparison.baseline) || null;

// What a comparison is about: an iteration of training, a collective, the longest message; of scenarios that
// are about different things the time of the run.
export function primaryKey(of = runs) {
    const names = [...new Set(of.map((run) => run.scenario))];
    if (names.length > 1) {
        const keys = names.map((name) => primaryKey(of.filter((run) => run.scenario === name)));
        return new Set(keys).size === 1 ? keys[0] : "sim_time_ns";
    }
    const chosen = ((doc.comparison && doc.comparison.statistics) || []).find(
        (s) => s.job === null && of.some((run) => run.scenario === s.scenario),
    );
    if (chosen && of.some((run) => valueOf(run, chosen.headline))) return chosen.headline;
    if (of.some(severalJobs)) return "sim_time_ns";
    return (
        ["iteration_ns", "program_ns", "collective_ns", "fct_max_ns"].find((key) =>
            of.some((run) => valueOf(run, key)),
        ) || "sim_time_ns"
    );
}

const OPERATIONS = {
    all_reduce: "all-reduce",
    reduce_scatter: "reduce-scatter",
    all_gather: "all-gather",
    all_to_all: "all-to-all",
    send_recv: "send-receive",
};

export function operation(name) {
    return OPERATIONS[name] || name;
}

// True if the run is over when its longest message is, as in an incast.
function endsWithMessage(run) {
    const longest = valueOf(run, "fct_max_ns");
    return longest > 0 && Math.abs(longest / valueOf(run, "sim_time_ns") - 1) < 0.001;
}

// The subject of sentences about the primary key: "the all-reduce".
export function subject(key, of = runs) {
    if (key === "iteration_ns") return "an iteration";
    if (key === "fct_max_ns") return "the last message";
    if (key === "sim_time_ns" && of.every(endsWithMessage)) return "the last message";
    if (key !== "collective_ns") return "the run";
    const names = new Set(of.flatMap((run) => (run.metrics.collectives || []).map((c) => operation(c.op))));
    return names.size === 1 ? `the ${[...names][0]}` : "the collectives";
}

// ---- parts of time ----

// Order from work to waste; the colours are those of style.css.
export const PARTS = {
    compute_ns: ["computing", "part-compute"],
    sending_ns: ["sending", "part-sending"],
    network_ns: ["propagation and switches", "part-network"],
    scheduled_ns: ["before the planned start", "part-scheduled"],
    nic_ns: ["NIC busy with other flows", "part-nic"],
    behind_ns: ["behind earlier messages", "part-behind"],
    queued_ns: ["queued in switches", "part-queued"],
    paused_ns: ["paused by PFC", "part-paused"],
    window_ns: ["waiting for the window", "part-window"],
    pace_ns: ["held back by the pace", "part-pace"],
    resending_ns: ["sending again", "part-resending"],
    timeout_ns: ["waiting for a timeout", "part-timeout"],
    others_ns: ["waiting for other ranks", "part-others"],
    comm_ns: ["communication", "part-sending"],
    exposed_ns: ["exposed communication", "part-others"],
    tensor_ns: ["tensor", "part-sending"],
    pipeline_ns: ["pipeline", "part-queued"],
    data_ns: ["data", "part-window"],
    expert_ns: ["expert", "part-paused"],
    context_ns: ["context", "part-pace"],
    collective_ns: ["collectives", "part-network"],
    point_to_point_ns: ["messages", "part-nic"],
    early_ns: ["after its end", "part-behind"],
};

export function partName(key) {
    return PARTS[key] ? PARTS[key][0] : key.replace(/_ns$/, "").replaceAll("_", " ");
}

export function partKeys(listOfParts) {
    const used = new Set(
        listOfParts.flatMap((parts) => Object.keys(parts || {}).filter((key) => parts[key])),
    );
    return [
        ...Object.keys(PARTS).filter((key) => used.has(key)),
        ...[...used].filter((key) => !PARTS[key]),
    ];
}

// ---- the run that the detailed sections show ----

export const shown = { index: 0, listeners: [] };

export function shownRun() {
    return detailed[shown.index];
}

export function show(index) {
    shown.index = Number(index);
    for (const listener of shown.listeners) listener();
}
