// SPDX-License-Identifier: MIT
// Completion times and slowdowns of messages as cumulative distributions, by the dimension that messages
// cross where there are several, and the slowest messages.
import { axisStyle, legendStyle, lineSymbol } from "./chart.js";
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
import { el, section, select, table } from "./dom.js";
import { figure, startCharts } from "./figure.js";
import { axisUnit, html, text, tick } from "./format.js";
import { lineStyles } from "./styles.js";
import { colour } from "./theme.js";

const all = doc.distributions || {};
const dimensions = [...new Set((all.fct_ns || []).map((line) => line.dimension).filter(Boolean))];
const dimensionStyles = lineStyles(dimensions);

// The choices of a dimension beside the number of one.
const ALL = "all";
const EACH = "each";
const SEVERAL = "several";

// "1" of "dimension 1: leaf_spine of 4".
function numberOf(name) {
    const found = /^dimension (\d+)/.exec(name);
    return found ? found[1] : SEVERAL;
}

const numbers = [...new Set(dimensions.map(numberOf))];

// The lines of each chart of a scenario: those of all policies; where messages cross several dimensions, those of one
// of them, of all messages, or of each: then a chart for each dimension, and of a single run one chart with a line for
// each.
function groupsOf(key, scenario, dim) {
    const lines = (all[key] || []).filter((line) => scenario === undefined || line.scenario === scenario);
    const each = lines.filter((line) => line.dimension);
    if (!each.length) return [{ lines, by: noun, what: "" }];
    if (dim === ALL) return [{ lines: lines.filter((line) => !line.dimension), by: noun, what: "" }];
    const own = each.filter((line) => dim === EACH || numberOf(line.dimension) === dim);
    if (dim === EACH && doc.kind !== "compare") return [{ lines: own, by: "dimension", what: "" }];
    const names = [...new Set(own.map((line) => line.dimension))];
    return names.map((name) => ({
        lines: own.filter((line) => line.dimension === name),
        by: noun,
        what: `, ${name}`,
    }));
}

function quantile(line, at) {
    return line.points.find((p) => p[1] >= at - 1e-9)[0];
}

// The share of messages up to a value, from none on.
function upTo(line) {
    return [[line.points[0][0], 0], ...line.points];
}

// The share of messages of at least a value, which a logarithmic axis can show.
function atLeast(line) {
    return line.points.map(([value], i) => [value, i > 0 ? 1 - line.points[i - 1][1] : 1]);
}

function nameOfLine(line, by) {
    return by === "dimension" ? line.dimension : line.policy || "run";
}

function curve(line, k, tail, by) {
    const name = nameOfLine(line, by);
    const style = (by === "dimension" ? dimensionStyles : styles).get(name);
    return {
        name,
        type: "line",
        step: tail ? "start" : "end",
        ...lineSymbol(style.symbol, line.points.length, k),
        data: tail ? atLeast(line) : upTo(line),
        color: style.colour(),
        triggerLineEvent: true,
        lineStyle: { width: 2, type: style.dash },
        emphasis: { focus: "series" },
    };
}

function quantileTable(group, unit) {
    const names = ["least", "median", "90 %", "99 %", "largest"];
    return {
        columns: [
            { name: group.by },
            { name: "messages", unit: "count", number: true },
            ...names.map((name) => ({ name, unit, number: true })),
        ],
        rows: group.lines.map((line) => [
            nameOfLine(line, group.by),
            line.count,
            ...[0, 0.5, 0.9, 0.99, 1].map((q) => quantile(line, q)),
        ]),
    };
}

function pointTable(group, key) {
    const several = group.lines.some((line) => line.dimension);
    return {
        columns: [
            { name: "scenario" },
            { name: noun },
            { name: key },
            { name: "share_of_messages_up_to_it" },
            ...(several ? [{ name: "dimension" }] : []),
        ],
        rows: group.lines.flatMap((line) =>
            line.points.map(([value, share]) => [
                line.scenario,
                line.policy,
                value,
                share,
                ...(several ? [line.dimension] : []),
            ]),
        ),
    };
}

function valueAxis(name, unit, low, high) {
    const log = low > 0 && high / low > 20;
    const scale = axisUnit(unit, high);
    return {
        ...axisStyle(),
        type: log ? "log" : "value",
        min: log ? low : 0,
        max: log ? high : undefined,
        name: !log && scale.name ? `${name.toLowerCase()} (${scale.name})` : name.toLowerCase(),
        nameLocation: "middle",
        nameGap: 26,
        axisLabel: {
            color: colour("muted"),
            hideOverlap: true,
            showMaxLabel: !log,
            formatter: log ? (v) => tick(v, unit) : scale.label,
        },
    };
}

function shareAxis(tail) {
    return {
        ...axisStyle(),
        type: tail ? "log" : "value",
        min: tail ? undefined : 0,
        max: 1,
        name: tail ? "messages with at least" : "messages with at most",
        nameTextStyle: { color: colour("muted"), align: "left" },
        nameGap: 8,
        axisLabel: {
            color: colour("muted"),
            formatter: (v) => (tail ? `${Number((v * 100).toPrecision(2))} %` : `${(v * 100).toFixed(0)} %`),
        },
    };
}

function curveTip({ seriesName, value }, unit, tail) {
    const part = `${Number((value[1] * 100).toPrecision(3))} % of messages`;
    return `<b>${html(seriesName)}</b><br>${part}: at ${tail ? "least" : "most"} ${html(text(value[0], unit))}`;
}

function rangeOf(lines) {
    const values = lines.flatMap((line) => [line.points[0][0], line.points.at(-1)[0]]);
    return [Math.min(...values), Math.max(...values)];
}

function distribution(key, name, unit, scenario, tail, group) {
    const where = `${group.what}${scenario ? ` in ${scenario}` : ""}`;
    const drawn = group.lines;
    const [low, high] = rangeOf(drawn);
    if (!drawn.length || low === high) return null;
    const legend = drawn.length > 1;
    return figure({
        name: key === "slowdown" ? "messages.slowdown" : "messages.time",
        title: `${name}${where}`,
        label: tail
            ? `Share of messages with at least a ${name.toLowerCase()}${where}, by ${group.by}.`
            : `Cumulative distribution of ${name.toLowerCase()}s${where}, by ${group.by}.`,
        height: 280,
        build: () => ({
            legend: legend ? legendStyle() : undefined,
            grid: { left: 8, right: 20, top: legend ? 50 : 28, bottom: 40, containLabel: true },
            xAxis: valueAxis(name, unit, low, high),
            yAxis: shareAxis(tail),
            tooltip: { trigger: "item", formatter: (item) => curveTip(item, unit, tail) },
            series: drawn.map((line, k) => curve(line, k, tail, group.by)),
        }),
        data: () => quantileTable(group, unit),
        csv: () => pointTable(group, key),
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

const SHOWN = [
    ["slowdown", "Slowdown", "ratio"],
    ["fct_ns", "Completion time", "ns"],
];

// The scenarios by which charts are divided; undefined = there is one.
function parts() {
    return scenarios.length > 1 ? scenarios : [undefined];
}

// True if the messages of a dimension have a chart of everything that those of all dimensions have.
function isDrawn(dim) {
    const has = (key, scenario, one) =>
        groupsOf(key, scenario, one).some(({ lines }) => {
            const [low, high] = rangeOf(lines);
            return lines.length > 0 && low !== high;
        });
    return parts().every((scenario) =>
        SHOWN.every(([key]) => !has(key, scenario, EACH) || has(key, scenario, dim)),
    );
}

// What is shown first: policies differ most in the outermost dimension, whose links are slow and shared, while most
// messages stay within servers. A run has a line for each dimension.
function firstDimension() {
    const outermost = numbers
        .filter((one) => one !== SEVERAL)
        .sort((a, b) => b - a)
        .find((one) => one !== "0");
    const first = outermost || numbers.find((one) => one === SEVERAL) || EACH;
    return doc.kind === "compare" && first !== EACH && isDrawn(first) ? first : EACH;
}

// The control of the dimension, where messages cross several.
function dimensionControl(first, change) {
    if (!numbers.length) return [];
    const named = numbers.map((number) => {
        const names = dimensions.filter((name) => numberOf(name) === number);
        return [number, names.length > 1 ? `dimension ${number}` : names[0]];
    });
    const each = doc.kind === "compare" ? "a chart for each" : "a line for each";
    return [select("Dimension", [...named, [EACH, each], [ALL, "all messages"]], first, change)];
}

// Slowdown and time of the same messages stand beside each other.
function charts(tail, dim) {
    return parts()
        .flatMap((scenario) => {
            const groups = SHOWN.map(([key]) => groupsOf(key, scenario, dim));
            return groups[0].flatMap((_, g) =>
                SHOWN.map(([key, name, unit], k) =>
                    groups[k][g]
                        ? distribution(key, name, unit, scenario, tail, groups[k][g])
                        : null,
                ),
            );
        })
        .filter(Boolean);
}

function lede(total) {
    const seeds = Math.max(
        ...policies.map(
            (policy) => runsOf(policy, scenarios.length > 1 ? scenarios[0] : undefined).length,
        ),
    );
    const several = doc.kind === "compare" && seeds > 1;
    return `Share of the ${text(total, "count")} messages${doc.kind === "compare" ? " of a run" : ""} that completed within a time, or that took at least as long. Slowdown is the completion time divided by that of the same message alone.${several ? " All seeds together." : ""}${dimensions.length ? " Dimensions are those that messages cross." : ""}`;
}

export function messagesSection(follow) {
    const chosen = { way: "up", dim: firstDimension() };
    const first = charts(false, chosen.dim);
    if (!first.length) return null;
    const total = runs.reduce((n, run) => Math.max(n, (run.metrics.flows_summary || {}).count || 0), 0);
    const panels = el("div", { class: "panels wide" }, first);
    const change = (key) => (value) => {
        chosen[key] = value;
        const drawn = charts(chosen.way === "tail", chosen.dim);
        const none = el("p", { class: "note" }, "These messages all took the same time.");
        panels.replaceChildren(...(drawn.length ? drawn : [none]));
        startCharts();
    };
    const box = section("messages", "Messages", lede(total), [
        select(
            "Show",
            [
                ["up", "within a time"],
                ["tail", "at least a time, logarithmic"],
            ],
            "up",
            change("way"),
        ),
        ...dimensionControl(chosen.dim, change("dim")),
    ]);
    box.append(panels);
    if (detailed.length) {
        const body = el("div");
        follow.fill(body, () => slowest(shownRun()));
        box.append(body);
    }
    return box;
}
