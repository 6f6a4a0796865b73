// SPDX-License-Identifier: MIT
// Completion times and slowdowns of messages as cumulative distributions, and the slowest messages.
import { axisStyle, figure, legendStyle } from "./chart.js";
import {
    detailed,
    doc,
    nameOf,
    noun,
    policies,
    runs,
    runsOf,
    scenarios,
    shownRun,
    styles,
} from "./data.js";
import { el, section, table } from "./dom.js";
import { axisUnit, html, text } from "./format.js";
import { colour } from "./theme.js";

// Points [value, share] of a group of runs: all their quantiles together, each with the same weight.
function pooled(group, key) {
    const values = group
        .flatMap((run) => (run[key] ? run[key].quantiles : []))
        .sort((a, b) => a - b);
    if (values.length)
        return values.map((v, i) => [v, values.length > 1 ? i / (values.length - 1) : 1]);
    const known = group
        .map((run) => run.flows_summary && run.flows_summary[key])
        .find((s) => s && s.max);
    if (!known) return [];
    return [
        [known.min, 0],
        [known.p50, 0.5],
        [known.p95, 0.95],
        [known.p99, 0.99],
        [known.max, 1],
    ];
}

function lines(key, scenario) {
    return policies
        .map((policy) => ({
            name: policy,
            policy,
            points: pooled(runsOf(policy, scenario), key),
            coarse: !runsOf(policy, scenario).some((run) => run[key] && run[key].quantiles.length),
        }))
        .filter((line) => line.points.length);
}

function quantile(points, at) {
    return points.find((p) => p[1] >= at - 1e-9)[0];
}

// The caption of a chart of which only five values are known, the case above report.flows_max messages.
const COARSE =
    "only the least, median, 95 %, 99 % and largest are known, above report.flows_max messages; " +
    "the lines between these points are not measured";

// A line from none to all of a policy's messages.
function cumulative(line) {
    const style = styles.get(line.policy);
    return {
        name: line.name,
        type: "line",
        step: line.points.length > 5 ? "start" : false,
        symbol: "circle",
        symbolSize: 7,
        showSymbol: line.points.length < 12,
        data: line.points,
        color: colour(style.colour),
        triggerLineEvent: true,
        lineStyle: { width: 2, type: style.dash },
        emphasis: { focus: "series" },
    };
}

function quantileTable(all, unit) {
    const names = ["least", "median", "90 %", "99 %", "largest"];
    return {
        columns: [{ name: noun }, ...names.map((name) => ({ name, number: true }))],
        rows: all.map((line) => [
            line.name,
            ...[0, 0.5, 0.9, 0.99, 1].map((q) => text(quantile(line.points, q), unit)),
        ]),
    };
}

function distribution(key, name, unit, scenario) {
    const where = scenario ? ` in ${scenario}` : "";
    const all = lines(key, scenario);
    const coarse = all.some((line) => line.coarse);
    const title = `${name}${where}${coarse ? `: ${COARSE}` : ""}`;
    const label = `Cumulative distribution of ${name.toLowerCase()}s${where}, by ${noun}${coarse ? `: ${COARSE}` : ""}.`;
    const values = all.flatMap((line) => line.points.map((p) => p[0]));
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (!all.length || low === high) return null;
    const log = low > 0 && high / low > 20;
    const scale = axisUnit(unit, high);
    const axis = log ? (v) => text(v, unit === "ratio" ? "" : unit) : scale.label;
    return figure({
        title,
        label,
        height: 280,
        build: () => ({
            legend: all.length > 1 ? legendStyle() : undefined,
            grid: {
                left: 8,
                right: 20,
                top: all.length > 1 ? 32 : 12,
                bottom: 40,
                containLabel: true,
            },
            xAxis: {
                ...axisStyle(),
                type: log ? "log" : "value",
                min: log ? low : 0,
                max: log ? high : undefined,
                name:
                    !log && scale.name
                        ? `${name.toLowerCase()} (${scale.name})`
                        : name.toLowerCase(),
                nameLocation: "middle",
                nameGap: 26,
                axisLabel: {
                    color: colour("muted"),
                    hideOverlap: true,
                    showMaxLabel: !log,
                    formatter: axis,
                },
            },
            yAxis: {
                ...axisStyle(),
                type: "value",
                min: 0,
                max: 1,
                axisLabel: {
                    color: colour("muted"),
                    formatter: (v) => `${(v * 100).toFixed(0)} %`,
                },
            },
            tooltip: {
                trigger: "item",
                formatter: ({ seriesName, value }) =>
                    `<b>${html(seriesName)}</b><br>${(value[1] * 100).toFixed(1)} % of messages: at most ${html(text(value[0], unit))}`,
            },
            series: all.map(cumulative),
        }),
        data: () => quantileTable(all, unit),
    });
}

// ---- the slowest ----

function slowest(run) {
    const flows = run.detail.slowest_flows || [];
    if (!flows.length || !flows.some((f) => f.slowdown > 1.005)) return [];
    const some = (key) => flows.some((f) => f[key]);
    const optional = [
        ["cnps", "CNPs"],
        ["retransmitted_packets", "packets sent again"],
        ["timeouts", "timeouts"],
    ].filter(([key]) => some(key));
    const details = el(
        "details",
        { class: "data" },
        el(
            "summary",
            {},
            `The ${flows.length} slowest messages${doc.kind === "compare" ? ` of ${nameOf(run)}` : ""}`,
        ),
        table(
            [
                { name: "from" },
                { name: "to" },
                { name: "bytes", number: true },
                { name: "start", number: true },
                { name: "completion time", number: true },
                { name: "alone", number: true },
                { name: "slowdown", number: true },
                ...optional.map(([, name]) => ({ name, number: true })),
            ],
            flows.map((f) => [
                `rank${f.src}`,
                `rank${f.dst}`,
                text(f.bytes, "bytes"),
                text(f.start_ns, "ns"),
                text(f.fct_ns, "ns"),
                text(f.ideal_ns, "ns"),
                text(f.slowdown, "ratio"),
                ...optional.map(([key]) => text(f[key], "count")),
            ]),
            "The slowest messages",
        ),
    );
    details.rowCount = () => flows.length;
    details.fill = () => {};
    return [details];
}

export function messagesSection(follow) {
    const charts = scenarios
        .map((name) => (scenarios.length > 1 ? name : undefined))
        .flatMap((scenario) => [
            distribution("slowdown", "Slowdown", "ratio", scenario),
            distribution("fct_ns", "Completion time", "ns", scenario),
        ])
        .filter(Boolean);
    if (!charts.length) return null;
    const seeds =
        Math.max(
            ...policies.map(
                (policy) => runsOf(policy, scenarios.length > 1 ? scenarios[0] : undefined).length,
            ),
        ) > 1 && doc.kind === "compare";
    const total = runs.reduce((n, run) => Math.max(n, (run.flows_summary || {}).count || 0), 0);
    const box = section(
        "messages",
        "Messages",
        `Share of the ${text(total, "count")} messages${doc.kind === "compare" ? " of a run" : ""} that completed within a time. Slowdown is the completion time divided by that of the same message alone.${seeds ? " All seeds together." : ""}`,
    );
    box.append(el("div", { class: "panels wide" }, charts));
    if (detailed.length) {
        const body = el("div");
        follow.fill(body, () => slowest(shownRun()));
        box.append(body);
    }
    return box;
}
