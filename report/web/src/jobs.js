// SPDX-License-Identifier: MIT
// The times of jobs, where there are several.
import { baseline, doc, metric, policies, rowName, runs, scenarios } from "./data.js";
import { el, section, table } from "./dom.js";
import { text } from "./format.js";

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

export function jobsSection() {
    const run = runs[0];
    if (doc.kind === "compare") return comparedJobs();
    if (doc.kind !== "run" || !run.metrics.jobs || run.metrics.jobs.length < 2) return null;
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
            run.metrics.jobs.map((job) => [
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
