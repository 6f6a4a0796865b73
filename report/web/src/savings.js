// SPDX-License-Identifier: MIT
// Sentences of reasons on a page whose times are those of an iteration.
import { doc, primaryKey, trainingOf } from "./data.js";
import { text } from "./format.js";

// The sentence of a reason states what the whole run would save. Beside times of an iteration it states what an
// iteration would: "1.31 ms less" of two iterations is "655 µs less an iteration".
export function ofIteration(run, sentence) {
    const [job, ...more] = trainingOf(run);
    const count = job && !more.length ? (job.iterations || []).length : 0;
    if (doc.kind !== "compare" || count < 2 || primaryKey() !== "iteration_ns") return sentence;
    const reason = (run.metrics.reasons || []).find((one) => sentence.endsWith(one.sentence));
    if (!reason || !reason.saving_ns) return sentence;
    return sentence.replace(
        /[\d.]+ (?:ns|us|ms|s) (less|shorter)/,
        (_, word) => `${text(reason.saving_ns / count, "ns")} ${word} an iteration`,
    );
}
