// SPDX-License-Identifier: MIT
// The timeline: slices of a training job per rank and dimension; without one, the phases of collectives and
// the messages of ranks.
import { axisStyle, legendStyle, timeAxis, zoomStyle } from "./chart.js";
import { detailed, nameOf, shownRun } from "./data.js";
import { el, section } from "./dom.js";
import { figure } from "./figure.js";
import { axisUnit, html, text } from "./format.js";
import { colour } from "./theme.js";

const CATEGORIES = [
    ["computing", "part-compute"],
    ["waiting for communication", "part-others"],
    ["communication", "part-sending"],
    ["messages", "line-3"],
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
        style: {
            fill: colour(CATEGORIES[api.value(3)][1]),
            stroke: colour("surface"),
            lineWidth: right - left > 3 ? 0.5 : 0,
        },
    };
}

// Slices as [row, begin, duration, category, name].
function gantt({ rows, names, slices, title, label, noun }) {
    const end = slices.reduce((max, s) => Math.max(max, s[1] + s[2]), 0);
    const time = axisUnit("ns", end);
    const many = rows.length > ROWS;
    const used = CATEGORIES.map((_, i) => i).filter((i) => slices.some((s) => s[3] === i));
    const top = used.length > 1 ? 30 : 6;
    return figure({
        name: "timeline",
        title,
        label,
        renderer: "canvas",
        height: 66 + top + 20 * Math.min(rows.length, ROWS),
        keys: true,
        build: () => ({
            legend: used.length > 1 ? legendStyle() : undefined,
            grid: { left: 8, right: many ? 40 : 20, top, bottom: 54, containLabel: true },
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
                          top,
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
            series: used.map((category) => ({
                type: "custom",
                name: CATEGORIES[category][0],
                color: colour(CATEGORIES[category][1]),
                renderItem: slice,
                encode: { x: [1, 2], y: 0 },
                data: slices.filter((s) => s[3] === category),
                clip: true,
                progressive: 0,
            })),
        }),
        data: () => ({
            columns: [
                { name: noun, key: "row" },
                { name: "slice" },
                { name: "from", key: "from_ns", unit: "ns", number: true },
                { name: "duration", key: "duration_ns", unit: "ns", number: true },
                { name: "kind" },
            ],
            rows: slices.map((s) => [
                rows[s[0]],
                names[s[4]],
                s[1],
                s[2],
                CATEGORIES[s[3]][0],
            ]),
        }),
    });
}

function timelineOf(run) {
    const t = run.detail.timeline;
    if (!t) return [el("p", { class: "note" }, `${nameOf(run)} has no timeline.`)];
    return [
        gantt({
            ...t,
            title: null,
            noun: "row",
            label: ofRanks(run)
                ? "Computing, waiting and communication of ranks over time."
                : "Phases of collectives and messages of ranks over time.",
        }),
    ];
}

// True if the timeline has what ranks did, not messages alone.
function ofRanks(run) {
    return Boolean(run.detail.timeline && run.detail.timeline.slices.some((s) => s[3] < 2));
}

export function timelineSection(follow) {
    if (!detailed.some((run) => run.detail.timeline)) return null;
    const box = section(
        "timeline",
        "Timeline",
        detailed.some(ofRanks)
            ? "What each rank does, and what its dimensions carry."
            : "Phases of collectives by dimension, and the messages of each rank from the post to the last byte at the receiver; those that a rank sends at once lie upon each other.",
        detailed.length > 1 ? [follow.control()] : [],
    );
    const body = el("div");
    follow.fill(body, () => timelineOf(shownRun()));
    box.append(body);
    return box;
}
