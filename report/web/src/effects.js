// SPDX-License-Identifier: MIT
// What the axes of a sweep do to the time of the run or, where there are several jobs, of each job, in sentences.
// The document has the numbers (report/page/effects.h).
import { doc, metric } from "./data.js";
import { model, named, plainName } from "./grid.js";
import { list, plural, text } from "./format.js";

const LEAST = 1.01; // the ratio of times from which on an axis matters

function effects() {
    return doc.sweep.effects || [];
}

export function ofJobs() {
    return effects().some((effect) => effect.job !== null);
}

function factor(r) {
    return r < 1.5
        ? `${((r - 1) * 100).toFixed(0)}\u00a0%`
        : `a factor of ${r.toFixed(r < 10 ? 1 : 0)}`;
}

function times(r) {
    return `${r.toFixed(r < 1.1 ? 2 : 1)} times`;
}

// The axes of an effect with their ratios, the strongest first.
function strengths(m, effect) {
    return m.axes
        .filter((axis) => effect.axes[axis.name])
        .map((axis) => [plainName(axis), effect.axes[axis.name]])
        .sort((a, b) => b[1] - a[1]);
}

// "switch.buffer changes the time of the run by up to 40 %, policy by up to 3 %; seed does not matter"; null where
// no axis matters.
function changes(m, effect, what) {
    const all = strengths(m, effect);
    const [first, ...rest] = all.filter(([, r]) => r >= LEAST);
    const weak = all.filter(([, r]) => r < LEAST).map(([name]) => name);
    if (!first) return null;
    const others = rest.length
        ? `, ${list(rest.map(([name, r]) => `${name} by up to ${factor(r)}`))}`
        : "";
    const none = weak.length
        ? `; ${list(weak)} ${weak.length > 1 ? "do" : "does"} not matter`
        : "";
    return `${first[0]} changes ${what} by up to ${factor(first[1])}${others}${none}`;
}

// "1.55 ms with policy = dcqcn": a point by its values on the axes that matter there.
function point(m, at) {
    const axes = m.axes.filter((axis) => at.matters.includes(axis.name));
    const values = axes.map(
        (axis) => `${plainName(axis)}\u00a0=\u00a0${named(axis, at.at[axis.name])}`,
    );
    return `${text(at.ns, "ns")}${values.length ? ` with ${list(values)}` : ""}`;
}

function extremes(m, effect) {
    return `Shortest: ${point(m, effect.shortest)}. Longest: ${point(m, effect.longest)}.`;
}

function incomplete(m) {
    const failed = m.whole.filter((row) => row[m.status] !== "completed").length;
    return failed ? ` ${plural(failed, "run")} did not complete.` : "";
}

function sentenceOfRun(m, effect) {
    const done = m.whole.filter((row) => row[m.status] === "completed").length;
    if (!effect || !Object.keys(effect.axes).length)
        return `${plural(effect ? done : m.whole.length, "run")}.`;
    const what = metric(effect.metric).name;
    const said = changes(m, effect, `the ${what}`);
    return said
        ? `${said}.`
        : `The ${what} is the same in ${plural(done, "run")}: ${text(effect.shortest.ns, "ns")}.`;
}

// The pair of jobs of which one loses most where the other one is shortest; null where one point suits all.
function worstPair() {
    const pairs = effects().flatMap((effect) =>
        Object.entries(effect.others).map(([other, ratio]) => ({ job: effect.job, other, ratio })),
    );
    const [worst] = pairs.sort((a, b) => b.ratio - a.ratio);
    return worst && worst.ratio >= LEAST ? worst : null;
}

function sentenceOfJobs(m) {
    const jobs = effects().filter((effect) => effect.job !== null);
    const worst = worstPair();
    if (worst)
        return `The jobs disagree: where ${worst.job} is shortest, ${worst.other} takes ${times(worst.ratio)} its own shortest time.`;
    const moved = jobs
        .map((effect) => [effect.job, strengths(m, effect)[0]])
        .filter(([, first]) => first && first[1] >= LEAST)
        .map(([job, [name, r]]) => `the time of ${job} by up to ${factor(r)} (${name})`);
    if (!moved.length) return `The time of each of ${jobs.length} jobs is the same at every point.`;
    const more = moved.length > 3 ? [`those of ${moved.length - 3} more jobs`] : [];
    return `The axes change ${list([...moved.slice(0, 3), ...more])}.`;
}

export function sweepSentence() {
    const m = model();
    const said = ofJobs() ? sentenceOfJobs(m) : sentenceOfRun(m, effects()[0]);
    return said + incomplete(m);
}

// The best and the worst point of the run; those of jobs stand in their list.
export function sweepReason() {
    const [effect] = effects();
    if (!effect || ofJobs() || effect.points < 2) return null;
    const m = model();
    return text(effect.shortest.ns, "ns") === text(effect.longest.ns, "ns")
        ? null
        : extremes(m, effect);
}

// One sentence a job.
export function perJob() {
    if (doc.kind !== "sweep" || !ofJobs()) return [];
    const m = model();
    return effects().map((effect) => {
        const said = changes(m, effect, "its time");
        const ns = text(effect.shortest.ns, "ns");
        return `${effect.job === null ? "Runs of one job" : effect.job}: ${said ? `${said}. ${extremes(m, effect)}` : `${ns} at every point.`}`;
    });
}
