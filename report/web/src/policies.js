// SPDX-License-Identifier: MIT
// Policies side by side: a table, and every run as a dot.
import { axisStyle, legendStyle, referenceLine } from "./chart.js";
import {
    baseline,
    completed,
    doc,
    mean,
    metric,
    noun,
    nouns,
    policies,
    policyOf,
    primaryKey,
    runs,
    runsOf,
    scenarios,
    statistics,
    styles,
    usedKeys,
    valueOf,
} from "./data.js";
import { el, section, select, table } from "./dom.js";
import { figure, startCharts } from "./figure.js";
import { axisUnit, capital, html, text } from "./format.js";
import { colour } from "./theme.js";

const SAME = 1.005; // values within half a percent are marked alike

function best(values, more) {
    const numbers = values.filter((v) => v !== null);
    return more ? Math.max(...numbers) : Math.min(...numbers);
}

function isBest(value, of, more) {
    return Boolean(value) && (more ? of / Math.max(value, 1e-30) <= SAME : value <= of * SAME);
}

// " [1.19 ms, 2.14 ms]": the 95 % interval of a mean over seeds.
function interval(s, unit) {
    return s && s.low !== null && s.low !== undefined && s.low !== s.high
        ? ` [${text(s.low, unit)}, ${text(s.high, unit)}]`
        : "";
}

// The ratio to the baseline and its interval; without statistics to the best.
function ratio(s, value, least) {
    if (value === null) return "–";
    if (!baseline || !s || s.ratio === null) return (value / least).toFixed(2);
    const between =
        s.ratio_low !== null && s.ratio_low !== s.ratio_high
            ? ` [${s.ratio_low.toFixed(2)}, ${s.ratio_high.toFixed(2)}]`
            : "";
    return `${s.ratio.toFixed(2)}${between}${!s.differs && Math.abs(s.ratio - 1) > 0.0005 ? " n.s." : ""}`;
}

// Leave out columns that repeat another one, such as the longest message where that is the run's time.
function dropRepeated(keys, means) {
    for (let k = keys.length - 1; k > 0; k--) {
        const shown = (i) => means[i].map((value) => text(value, metric(keys[i]).unit)).join();
        if (!keys.some((_, i) => i < k && shown(i) === shown(k))) continue;
        keys.splice(k, 1);
        means.splice(k, 1);
    }
}

// A table of policies in one scenario: means over seeds, the best of each column marked.
function comparison(scenario) {
    const groups = policies
        .map((policy) => runsOf(policy, scenario))
        .filter((group) => group.length);
    const all = groups.flat();
    const primary = primaryKey(all);
    const differs = (key) =>
        new Set(groups.map((group) => mean(group.map((run) => valueOf(run, key))))).size > 1;
    // beside the time of an iteration, sums over all of them would be taken for those of one
    const sums = primary === "iteration_ns" ? ["training_ns", "exposed_comm_ns"] : [];
    const keys = [
        primary,
        ...usedKeys(all).filter(
            (key) => ![primary, "sim_time_ns", ...sums].includes(key) && differs(key),
        ),
    ];
    const means = keys.map((key) =>
        groups.map((group) => mean(group.filter(completed).map((run) => valueOf(run, key)))),
    );
    dropRepeated(keys, means);
    const bests = keys.map((key, k) => best(means[k], metric(key).more));
    // where all are best none is
    const ranked = keys.map(
        (key, k) =>
            metric(key).unit !== "count" &&
            !means[k].every((value) => isBest(value, bests[k], metric(key).more)),
    );
    const failed = groups.some((group) => !group.every(completed));
    const columns = [
        { name: noun },
        ...(failed ? [{ name: "completed", number: true }] : []),
        ...keys.flatMap((key, k) => [
            {
                name: metric(key).heading || metric(key).name,
                help: `${metric(key).name}: ${metric(key).help}`,
                number: true,
            },
            ...(k === 0
                ? [
                      baseline
                          ? {
                                name: `vs ${baseline}`,
                                help: `ratio to ${baseline}, over runs with the same seed`,
                                number: true,
                            }
                          : { name: "× best", help: `ratio to the best ${noun}`, number: true },
                  ]
                : []),
        ]),
    ];
    const rows = groups.map((group, g) => [
        policyOf(group[0]),
        ...(failed ? [`${group.filter(completed).length} of ${group.length}`] : []),
        ...keys.flatMap((key, k) => {
            const value = means[k][g];
            const cell = {
                text: text(value, metric(key).unit),
                best: ranked[k] && isBest(value, bests[k], metric(key).more),
            };
            if (k > 0) return [cell];
            const s = statistics(policyOf(group[0]), group[0].scenario);
            return [
                { ...cell, text: cell.text + interval(s && s[key], metric(key).unit) },
                ratio(s && s[key], value, bests[0]),
            ];
        }),
    ]);
    return table(columns, rows, `${capital(nouns)}${scenario ? ` in ${scenario}` : ""}${seedsNote(groups)}`);
}

function seedsNote(groups) {
    const seeds = Math.max(...groups.map((group) => group.length));
    const bounds = seeds > 4 ? "; [low, high]: 95 % interval (bootstrap)" : "";
    return seeds > 1
        ? `, means over ${seeds} seeds${bounds}; n.s.: the seeds do not agree which one is faster`
        : "";
}

// A whisker from the low to the high end of an interval.
function whisker(params, api) {
    const [from, to] = [
        api.coord([api.value(0), api.value(2)]),
        api.coord([api.value(1), api.value(2)]),
    ];
    return {
        type: "line",
        shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] },
        style: { stroke: colour("muted"), lineWidth: 2 },
    };
}

function whiskers(key, scenario) {
    return policies
        .map((policy, row) => [(statistics(policy, scenario) || {})[key], row])
        .filter(([s]) => s && s.low !== null && s.low !== s.high)
        .map(([s, row]) => [s.low, s.high, row]);
}

// A dot for each value of a policy; seeds with the same value share it. Dots of a policy are shifted a
// little, so that near ones remain visible.
function dots(key, scenario) {
    const points = [];
    policies.forEach((policy, row) => {
        const found = new Map();
        for (const run of runsOf(policy, scenario).filter((r) => valueOf(r, key) !== null)) {
            const same = `${valueOf(run, key)} ${run.status}`;
            if (!found.has(same))
                found.set(same, { run, row, value: valueOf(run, key), seeds: [] });
            found.get(same).seeds.push(run.seed);
        }
        const own = [...found.values()];
        own.forEach((point, i) =>
            points.push({
                ...point,
                shift: own.length > 1 ? (i / (own.length - 1) - 0.5) * 12 : 0,
            }),
        );
    });
    return points;
}

// What the pointer shows of a dot, or of a mean.
function dotTip(data, m) {
    const seeds = data.seeds
        ? `${data.seeds.length > 1 ? "seeds" : "seed"} ${html(data.seeds.join(", "))}`
        : "mean";
    const status = data.status && data.status !== "completed" ? `<br>${html(data.status)}` : "";
    const value = html(text(data.value[0], m.unit));
    return `<b>${html(policies[data.value[1]])}</b>, ${seeds}<br>${value}${status}`;
}

// A dot for each point; hollow for runs that did not complete.
function runDot(p) {
    const own = styles.get(policies[p.row]).colour();
    const done = completed(p.run);
    return {
        value: [p.value, p.row],
        seeds: p.seeds,
        status: p.run.status,
        symbolOffset: [0, p.shift],
        symbol: done ? "circle" : "emptyCircle",
        itemStyle: {
            color: own,
            borderColor: done ? colour("surface") : own,
            borderWidth: done ? 1 : 2,
            opacity: 0.9,
        },
    };
}

function runDots(points) {
    return { type: "scatter", name: "runs", symbolSize: 11, z: 2, data: points.map(runDot) };
}

// Policies on the left, their means on the right.
function policyAxes(means, m) {
    const shared = { ...axisStyle(), type: "category", inverse: true };
    return [
        {
            ...shared,
            data: policies,
            splitLine: { show: true, lineStyle: { color: colour("grid") } },
            axisLabel: { color: colour("ink") },
        },
        {
            ...shared,
            position: "right",
            data: means.map((value) => text(value, m.unit)),
            axisLine: { show: false },
            splitLine: { show: false },
            axisLabel: { color: colour("muted") },
        },
    ];
}

function dotOption(key, scenario) {
    const m = metric(key);
    const points = dots(key, scenario);
    const scale = axisUnit(m.unit, Math.max(...points.map((p) => p.value)));
    const means = policies.map((policy) =>
        mean(runsOf(policy, scenario).map((run) => valueOf(run, key))),
    );
    return {
        grid: { left: 8, right: 4, top: 8, bottom: 40, containLabel: true },
        xAxis: {
            ...axisStyle(),
            type: "value",
            min: 0,
            name: `${m.name}${scale.name ? ` (${scale.name})` : ""}`,
            nameLocation: "middle",
            nameGap: 28,
            axisLabel: { color: colour("muted"), hideOverlap: true, formatter: scale.label },
        },
        yAxis: policyAxes(means, m),
        tooltip: {
            trigger: "item",
            formatter: ({ data }) => dotTip(data, m),
        },
        series: [
            {
                type: "custom",
                name: "95 % interval",
                silent: true,
                renderItem: whisker,
                encode: { x: [0, 1], y: 2 },
                data: whiskers(key, scenario),
                z: 0,
            },
            {
                type: "scatter",
                name: "mean",
                symbol: "rect",
                symbolSize: [3, 24],
                z: 1,
                itemStyle: { color: colour("muted"), opacity: 0.55 },
                data: means
                    .map((value, row) => (value === null ? null : { value: [value, row] }))
                    .filter(Boolean),
            },
            runDots(points),
        ],
    };
}

function dotTable(key, scenario) {
    const m = metric(key);
    return {
        columns: [
            { name: noun },
            { name: "seed", number: true },
            { name: "status" },
            { name: m.name, key: m.key, help: m.help, unit: m.unit, number: true },
        ],
        rows: runs
            .filter((run) => scenarios.length < 2 || run.scenario === scenario)
            .map((run) => [
                policyOf(run),
                String(run.seed),
                run.failure || run.status || "failed",
                valueOf(run, key),
            ]),
    };
}

// Values that no seed changes are said to be such.
function seedsSentence() {
    const key = primaryKey();
    const groups = policies
        .flatMap((policy) =>
            scenarios.map((scenario) =>
                runsOf(policy, scenarios.length > 1 ? scenario : undefined),
            ),
        )
        .filter((g) => g.length > 1);
    if (!groups.length) return "";
    const same = groups.filter(
        (group) => new Set(group.map((run) => valueOf(run, key))).size === 1,
    );
    if (same.length === groups.length) return " The seeds change nothing here.";
    return same.length
        ? ` The seeds change nothing for ${same.length} of ${groups.length} ${nouns}.`
        : "";
}

// ---- scenarios against policies ----

// A policy's metric in a scenario: its value, and that by the baseline's (else by the best one's).
function relative(key, policy, scenario) {
    const of = (name) => mean(runsOf(name, scenario).filter(completed).map((r) => valueOf(r, key)));
    const value = of(policy);
    const known = policies.map(of).filter((v) => v !== null);
    const base = baseline ? of(baseline) : best(known, metric(key).more);
    return { value, ratio: value === null || !base ? null : value / base };
}

// One chart of all scenarios: a group of bars a scenario, a bar a policy.
function grouped(key) {
    const m = metric(key);
    const all = policies.map((policy) => ({
        policy,
        points: scenarios.map((scenario) => relative(key, policy, scenario)),
    }));
    const against = baseline || "the best policy";
    return figure({
        name: "scenarios",
        title: `${m.name} by that of ${against}, in every scenario`,
        label: `${m.name} of every policy in every scenario, by that of ${against}.`,
        height: 300,
        build: () => ({
            legend: { ...legendStyle(), data: policies },
            grid: { left: 8, right: 12, top: 48, bottom: 30, containLabel: true },
            xAxis: {
                ...axisStyle(),
                type: "category",
                data: scenarios,
                axisLabel: { color: colour("ink"), interval: 0, width: 90, overflow: "break" },
            },
            yAxis: {
                ...axisStyle(),
                type: "value",
                min: 0,
                name: `${m.name} / ${against}`,
                nameTextStyle: { color: colour("muted"), align: "left" },
                nameGap: 8,
            },
            tooltip: {
                trigger: "item",
                formatter: ({ seriesIndex, dataIndex }) => {
                    const { value, ratio: r } = all[seriesIndex].points[dataIndex];
                    return `<b>${html(policies[seriesIndex])}</b>, ${html(scenarios[dataIndex])}<br>${html(text(value, m.unit))}, ${html(r.toFixed(3))} of ${html(against)}`;
                },
            },
            series: all.map(({ policy, points }) => ({
                name: policy,
                type: "bar",
                color: styles.get(policy).colour(),
                barGap: "8%",
                barMaxWidth: 28,
                itemStyle: { borderColor: colour("page"), borderWidth: 0.5 },
                emphasis: { focus: "series" },
                data: points.map((p) => p.ratio),
                markLine: policy === policies[0] ? referenceLine([{ yAxis: 1 }], "solid") : undefined,
            })),
        }),
        data: () => ({
            columns: [
                { name: "scenario" },
                { name: "policy" },
                { name: m.name, key, unit: m.unit, number: true },
                { name: `by ${against}`, key: "ratio", unit: "ratio", number: true },
            ],
            rows: scenarios.flatMap((scenario, i) =>
                all.map((one) => [scenario, one.policy, one.points[i].value, one.points[i].ratio]),
            ),
        }),
    });
}

export function policiesSection() {
    if (doc.kind !== "compare") return null;
    let key = primaryKey();
    const keys = [key, ...usedKeys().filter((k) => k !== key)];
    const charts = el("div");
    const fill = () => {
        charts.replaceChildren(
            ...(scenarios.length > 1 ? [grouped(key)] : []),
            ...scenarios.map((name) => {
                const scenario = scenarios.length > 1 ? name : undefined;
                return figure({
                    name: "policies",
                    title: scenario,
                    height: 52 + 30 * policies.length,
                    label: `${metric(key).name} of every run, by ${noun}${scenario ? ` in ${scenario}` : ""}.`,
                    build: () => dotOption(key, scenario),
                    data: () => dotTable(key, scenario),
                });
            }),
        );
        startCharts();
    };
    const box = section(
        "policies",
        capital(nouns),
        `Every run is a dot, the bar is the mean of a ${noun}${whiskers(key).length ? ", the line its 95 % interval" : ""}.${seedsSentence()}`,
        [
            select(
                "Metric",
                keys.map((k) => [k, metric(k).name]),
                key,
                (value) => {
                    key = value;
                    fill();
                },
            ),
        ],
    );
    box.append(
        charts,
        ...scenarios.map((name) => comparison(scenarios.length > 1 ? name : undefined)),
    );
    fill();
    return box;
}
