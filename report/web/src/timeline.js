// SPDX-License-Identifier: MIT
// The timeline: slices of a training job per rank and dimension; without one, the phases of
// collectives.
import { axisStyle, figure, timeAxis, zoomStyle } from "./chart.js";
import { detailed, nameOf, operation, shownRun } from "./data.js";
import { el, section } from "./dom.js";
import { axisUnit, html, text } from "./format.js";
import { colour } from "./theme.js";

const CATEGORIES = [
    ["computing", "part-compute"],
    ["waiting for communication", "part-others"],
    ["communication", "part-sending"],
];
const ROWS = 24; // shown at once; more scroll

function slice(params, api) {
    const from = api.coord([api.value(1), api.value(0)]);
    const to = api.coord([api.value(1) + api.value(2), api.value(0)]);
    const height = Math.min(16, api.size([0, 1])[1] * 0.78);
    const width = Math.max(0.6, to[0] - from[0]);
    const { x, width: inner } = params.coordSys;
    const left = Math.max(from[0], x);
    const right = Math.min(from[0] + width, x + inner);
    if (right <= left) return null;
    return {
        type: "rect",
        shape: { x: left, y: from[1] - height / 2, width: right - left, height },
        style: { fill: colour(CATEGORIES[api.value(3)][1]) },
    };
}

// Slices as [row, begin, duration, category, name].
function gantt({ rows, names, slices, title, label, noun }) {
    const end = slices.reduce((max, s) => Math.max(max, s[1] + s[2]), 0);
    const time = axisUnit("ns", end);
    const many = rows.length > ROWS;
    return figure({
        title,
        label,
        renderer: "canvas",
        height: 96 + 20 * Math.min(rows.length, ROWS),
        keys: true,
        build: () => ({
            grid: { left: 8, right: many ? 40 : 20, top: 6, bottom: 54, containLabel: true },
            dataZoom: [
                ...zoomStyle(),
                ...(many
                    ? zoomStyle({
                          yAxisIndex: 0,
                          xAxisIndex: undefined,
                          orient: "vertical",
                          width: 14,
                          height: undefined,
                          right: 4,
                          top: 6,
                          bottom: 54,
                          startValue: 0,
                          endValue: ROWS - 1,
                      }).slice(1)
                    : []),
            ],
            xAxis: timeAxis(time, end),
            yAxis: {
                ...axisStyle(),
                type: "category",
                data: rows,
                inverse: true,
                axisLabel: { color: colour("ink"), width: 130, overflow: "truncate" },
            },
            tooltip: {
                formatter: ({ value }) =>
                    `<b>${html(names[value[4]])}</b><br>${html(rows[value[0]])}<br>from ${html(text(value[1], "ns"))}, ${html(text(value[2], "ns"))} long`,
            },
            series: [
                {
                    type: "custom",
                    renderItem: slice,
                    encode: { x: [1, 2], y: 0 },
                    data: slices,
                    clip: true,
                    progressive: 0,
                },
            ],
        }),
        data: () => ({
            columns: [
                { name: noun },
                { name: "slice" },
                { name: "from", number: true },
                { name: "duration", number: true },
            ],
            rows: slices.map((s) => [rows[s[0]], names[s[4]], text(s[1], "ns"), text(s[2], "ns")]),
        }),
    });
}

function key() {
    return el(
        "p",
        { class: "key" },
        CATEGORIES.map(([name, variable]) =>
            el("span", {}, el("i", { style: `background:var(--${variable})` }), name),
        ),
    );
}

function phases(run) {
    const rows = [];
    const names = [];
    const slices = [];
    for (const collective of run.collectives || []) {
        for (const phase of collective.phases || []) {
            if (phase.start_ns === null || phase.end_ns === null || slices.length > 2000) continue;
            const row = `dimension ${phase.dim}`;
            const name = `${collective.name === "collective" ? "" : `${collective.name}: `}${operation(phase.op)}, ${phase.algorithm}`;
            if (!rows.includes(row)) rows.push(row);
            names.push(name);
            slices.push([
                rows.indexOf(row),
                phase.start_ns,
                phase.end_ns - phase.start_ns,
                2,
                names.length - 1,
            ]);
        }
    }
    return slices.length > 1 ? { rows, names, slices } : null;
}

function timelineOf(run) {
    const t = run.detail.timeline;
    if (t)
        return [
            key(),
            gantt({
                ...t,
                title: null,
                noun: "rank",
                label: "Computing, waiting and communication of ranks over time.",
            }),
        ];
    const p = phases(run);
    if (p)
        return [
            gantt({
                ...p,
                title: null,
                noun: "dimension",
                label: "Phases of collectives along each dimension over time.",
            }),
        ];
    return [el("p", { class: "note" }, `${nameOf(run)} has no timeline.`)];
}

export function timelineSection(follow) {
    const any = detailed.some((run) => run.detail.timeline);
    if (!any && !detailed.some(phases)) return null;
    const box = section(
        "timeline",
        "Timeline",
        any
            ? "What each rank does, and what its dimensions carry."
            : "Phases of collectives, by dimension.",
        detailed.length > 1 ? [follow.control()] : [],
    );
    const body = el("div");
    follow.fill(body, () => timelineOf(shownRun()));
    box.append(body);
    return box;
}
