// SPDX-License-Identifier: MIT
// What the ratios of a comparison rest on: for each assumption that was drawn, the ratio with its lower and with
// its higher values, the widest first (a tornado chart), and how each ratio is spread over the draws.
import { axisStyle, legendStyle, nameAxis } from "./chart.js";
import { baseline, doc, noun, policies, scenarios, statistics } from "./data.js";
import { el, section, select, table } from "./dom.js";
import { figure, startCharts } from "./figure.js";
import { capital, html } from "./format.js";
import { colour } from "./theme.js";

const HALVES = ["lower values", "higher values"];
const COLOURS = ["line-1", "line-3"];

const assumptions = ((doc.comparison && doc.comparison.assumptions) || []).filter(
    (one) => one.state === "drawn",
);

function drawsOf(name, scenario) {
    const found = statistics(name, scenario);
    return (found && found.draws) || null;
}

// "12MB to 160MB", or "cluster or none" of two.
function rangeOf(one) {
    const values = one.words || one.range;
    const [first, last] = [values[0], values[values.length - 1]];
    return one.range.length === 2 && one.kind === "choice"
        ? `${first} or ${last}`
        : `${first} to ${last}`;
}

// The bars of a row: assumptions that have both halves, those that move the ratio most first.
function barsOf(name, scenario) {
    return assumptions
        .filter((one) => one.scenario === scenario)
        .map((one) => ({ one, row: (one.rows || []).find((row) => row.name === name) }))
        .filter(({ row }) => row)
        .sort((a, b) => b.row.moves - a.row.moves);
}

function rowsOf(scenario) {
    return policies.filter((name) => drawsOf(name, scenario) && barsOf(name, scenario).length);
}

// The row that an assumption moves most.
function widest(names) {
    const most = (name) =>
        Math.max(...scenarios.flatMap((s) => barsOf(name, s).map(({ row }) => row.moves)));
    return names.reduce((a, b) => (most(b) > most(a) ? b : a));
}

// One half of a bar: from the middle of both ratios to that of this half.
function half(params, api) {
    const [from, to, y] = [
        api.coord([api.value(0), api.value(2)])[0],
        api.coord([api.value(1), api.value(2)])[0],
        api.coord([0, api.value(2)])[1],
    ];
    const height = Math.min(18, api.size([0, 1])[1] * 0.6);
    return {
        type: "rect",
        shape: { x: Math.min(from, to), y: y - height / 2, width: Math.abs(to - from), height },
        style: { fill: colour(COLOURS[api.value(3)]), opacity: api.value(4) ? 1 : 0.4 },
    };
}

// A vertical line at a ratio, over all bars.
function upright(params, api) {
    const { x, y, width, height } = params.coordSys;
    const at = api.coord([api.value(0), 0])[0];
    if (at < x || at > x + width) return null;
    return {
        type: "line",
        shape: { x1: at, y1: y, x2: at, y2: y + height },
        style: { stroke: colour("muted"), lineWidth: 1, lineDash: api.value(1) ? [4, 3] : null },
    };
}

function tip(bars, draws, name) {
    return ({ value }) => {
        const { one, row } = bars[value[2]];
        const clear = row.clear ? "" : "<br>not clear in so few draws";
        return `<b>${html(one.name)}</b>, ${html(one.path)}<br>${html(rangeOf(one))}<br>${html(name)} / ${html(baseline)}: ${row.low.toFixed(2)} with lower, ${row.high.toFixed(2)} with higher values${clear}`;
    };
}

function option(name, bars, draws, width) {
    const names = bars.map(({ one }) => one.name);
    const ends = bars.flatMap(({ row }) => [row.low, row.high]).concat(draws.median);
    const margin = 0.06 * (Math.max(...ends) - Math.min(...ends)) || 0.01;
    return {
        legend: { ...legendStyle(), data: HALVES },
        grid: { left: 8, right: 8, top: 30, bottom: 40, containLabel: true },
        xAxis: {
            ...axisStyle(),
            type: "value",
            min: Math.min(...ends) - margin,
            max: Math.max(...ends) + margin,
            name: `${name} / ${baseline}; line: median of ${draws.n} draws`,
            nameLocation: "middle",
            nameGap: 28,
            axisLabel: {
                color: colour("muted"),
                hideOverlap: true,
                showMinLabel: false,
                showMaxLabel: false,
                formatter: (value) => value.toFixed(2),
            },
        },
        yAxis: [
            nameAxis(names, width),
            {
                ...nameAxis(
                    bars.map(({ one }) => rangeOf(one)),
                    width,
                ),
                position: "right",
                axisLine: { show: false },
                splitLine: { show: false },
                axisLabel: { color: colour("muted") },
            },
        ],
        tooltip: { trigger: "item", formatter: tip(bars, draws, name) },
        series: [
            ...HALVES.map((words, side) => ({
                type: "custom",
                name: words,
                color: colour(COLOURS[side]),
                renderItem: half,
                encode: { x: [0, 1], y: 2 },
                data: bars.map(({ row }, i) => [
                    Math.sqrt(row.low * row.high),
                    side ? row.high : row.low,
                    i,
                    side,
                    row.clear ? 1 : 0,
                ]),
            })),
            {
                type: "custom",
                silent: true,
                renderItem: upright,
                encode: { x: 0 },
                data: [
                    [draws.median, 0],
                    [1, 1],
                ],
            },
        ],
    };
}

function tornado(name, scenario) {
    const bars = barsOf(name, scenario);
    const draws = drawsOf(name, scenario);
    const title = `${name} over ${baseline}${scenarios.length > 1 ? ` in ${scenario}` : ""}`;
    return figure({
        name: "assumptions",
        title,
        label: `How far each assumption moves the ratio of ${title}.`,
        height: 84 + 28 * bars.length,
        build: (width) => option(name, bars, draws, width),
        data: () => ({
            columns: [
                { name: "assumption" },
                { name: "key", key: "path" },
                { name: "range" },
                { name: "lower values", key: "low", unit: "ratio", number: true },
                { name: "higher values", key: "high", unit: "ratio", number: true },
                { name: "clear" },
            ],
            rows: bars.map(({ one, row }) => [
                one.name,
                one.path,
                rangeOf(one),
                row.low,
                row.high,
                row.clear ? "yes" : "no",
            ]),
        }),
    });
}

function ranges(scenario) {
    const two = (value) => (value === null ? "–" : value.toFixed(2));
    return table(
        [
            { name: noun },
            { name: "median", number: true },
            { name: "10 %", number: true },
            { name: "90 %", number: true },
            { name: "order stands", help: "draws in which it is as without draws", number: true },
            { name: "moved most by" },
        ],
        policies
            .map((name) => [name, drawsOf(name, scenario)])
            .filter(([, draws]) => draws)
            .map(([name, draws]) => [
                name,
                two(draws.median),
                two(draws.p10),
                two(draws.p90),
                `${draws.order_holds} of ${draws.n}`,
                draws.moved_by || "–",
            ]),
        `Ratios to ${baseline} over the draws${scenarios.length > 1 ? ` in ${scenario}` : ""}`,
    );
}

export function assumptionsSection() {
    const names = [...new Set(scenarios.flatMap(rowsOf))];
    if (!names.length) return null;
    let shown = widest(names);
    const charts = el("div");
    const fill = () => {
        charts.replaceChildren(
            ...scenarios
                .filter((scenario) => rowsOf(scenario).includes(shown))
                .map((scenario) => tornado(shown, scenario)),
        );
        startCharts();
    };
    const choose = (value) => {
        shown = value;
        fill();
    };
    const few = doc.comparison.draws_n < 10 ? " So few draws give a rough picture." : "";
    const box = section(
        "assumptions",
        "What the ratios rest on",
        `${doc.comparison.draws_n} draws of what the scenario leaves open, the same for every ${noun}. A bar goes from the mean ratio in draws with the lower values of an assumption to that with the higher ones; pale bars may be chance.${few}`,
        names.length > 1
            ? [
                  select(
                      capital(noun),
                      names.map((name) => [name, name]),
                      shown,
                      choose,
                  ),
              ]
            : [],
    );
    box.append(charts, ...scenarios.map(ranges));
    fill();
    return box;
}
