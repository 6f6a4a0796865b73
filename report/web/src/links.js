// SPDX-License-Identifier: MIT
// Use of links as heat maps over the topology: a map for every pair of tiers, a row a switch, a column
// a port in the order of what it leads to.
import { axisStyle, figure, startCharts } from "./chart.js";
import { detailed, shownRun } from "./data.js";
import { el, section, select } from "./dom.js";
import { html, text } from "./format.js";
import { colour, isDark } from "./theme.js";

const VALUES = [
    ["utilization", "time spent sending", "share"],
    ["max_queue_bytes", "longest queue", "bytes"],
    ["paused_ns", "time paused", "ns"],
    ["dropped_packets", "dropped packets", "count"],
    ["bytes", "bytes sent", "bytes"],
];

// Numbers in names in numeric order.
const collator = new Intl.Collator("en", { numeric: true });

// "dim0.sw12.p1", a switch of plane 1, is of the tier "dim0 sw".
function tier(node) {
    return node.replace(/\d+(\.p\d+)?$/, "").replace(/^dim(\d+)\./, "dim$1 ");
}

function isRank(node) {
    return /^rank\d+$/.test(node);
}

// Links as {from, to, index}, grouped by the tiers that they join.
function groups(links) {
    const found = new Map();
    links.at.forEach((at, index) => {
        const [from, to] = at.split("->");
        if (to === undefined) return;
        const key = `${tier(from)} → ${tier(to)}`;
        if (!found.has(key)) found.set(key, []);
        found.get(key).push({ from, to, index });
    });
    return [...found.entries()];
}

// Rows and columns of a group: rows are switches; ranks at one switch are numbered columns.
function matrix(group) {
    const byTo = isRank(group[0].from) && !isRank(group[0].to);
    const rowOf = (link) => (byTo ? link.to : link.from);
    const otherOf = (link) => (byTo ? link.from : link.to);
    const rows = [...new Set(group.map(rowOf))].sort(collator.compare);
    const others = [...new Set(group.map(otherOf))].sort(collator.compare);
    const numbered = others.length > 16 || isRank(others[0]);
    const place = new Map(rows.map((row) => [row, new Map()]));
    if (numbered)
        for (const other of others)
            for (const link of group.filter((l) => otherOf(l) === other)) {
                const own = place.get(rowOf(link));
                if (!own.has(other)) own.set(other, own.size);
            }
    const columns = numbered
        ? Math.max(...[...place.values()].map((own) => own.size))
        : others.length;
    const names = numbered ? Array.from({ length: columns }, (_, i) => String(i + 1)) : others;
    const x = (link) =>
        numbered ? place.get(rowOf(link)).get(otherOf(link)) : others.indexOf(otherOf(link));
    return {
        rows,
        names,
        numbered,
        other: byTo ? "from" : "to",
        cells: group.map((link) => ({ x: x(link), y: rows.indexOf(rowOf(link)), ...link })),
    };
}

export function heatColours() {
    return [0, 1, 2, 3, 4].map((step) => colour(`heat-${step}`));
}

// A label that can be read on the colour of a value between 0 and 1.
export function heatInk(place) {
    const lower = isDark() ? place < 0.62 : place < 0.68;
    return colour(lower ? "ink" : "page");
}

function map(title, group, links, [key, what, unit], max) {
    const m = matrix(group);
    const values = links[key];
    const cell = Math.max(12, Math.min(22, 640 / m.names.length));
    return figure({
        title,
        label: `${what} of the links ${title}: a row a switch, a column a port.`,
        height: Math.max(96, 42 + m.rows.length * cell),
        renderer: m.cells.length > 600 ? "canvas" : "svg",
        build: () => ({
            grid: { left: 8, right: 12, top: 4, bottom: 34, containLabel: true },
            xAxis: {
                ...axisStyle(),
                type: "category",
                data: m.names,
                name: m.numbered ? `port, by rank` : "",
                nameLocation: "middle",
                nameGap: 22,
                splitArea: { show: false },
            },
            yAxis: {
                ...axisStyle(),
                type: "category",
                data: m.rows,
                inverse: true,
                axisLabel: {
                    color: colour("ink"),
                    width: 90,
                    overflow: "truncate",
                    hideOverlap: true,
                },
            },
            visualMap: {
                show: false,
                min: 0,
                max,
                dimension: 2,
                inRange: { color: heatColours() },
            },
            tooltip: { formatter: ({ data }) => tip(data.value[3], links) },
            series: [
                {
                    type: "heatmap",
                    data: m.cells.map((c) => ({ value: [c.x, c.y, values[c.index], c.index] })),
                    itemStyle: { borderColor: colour("page"), borderWidth: 1 },
                    emphasis: { itemStyle: { borderColor: colour("ink"), borderWidth: 1 } },
                },
            ],
        }),
        data: () => ({
            columns: [
                { name: "link" },
                ...present(links).map(([, name]) => ({ name, number: true })),
            ],
            rows: [...m.cells]
                .sort((a, b) => values[b.index] - values[a.index])
                .map((c) => [
                    links.at[c.index],
                    ...present(links).map(([k, , u]) => text(links[k][c.index], u)),
                ]),
        }),
    });
}

function present(links) {
    return VALUES.filter(([key]) => links[key] && links[key].some((v) => v));
}

function tip(index, links) {
    const rows = present(links)
        .filter(([key]) => links[key][index])
        .map(
            ([key, what, unit]) =>
                `<tr><td>${what}</td><td class="n">${html(text(links[key][index], unit))}</td></tr>`,
        );
    return `<b>${html(links.at[index])}</b><table class="tip">${rows.join("")}</table>`;
}

function scaleBar(max, unit) {
    return el(
        "p",
        { class: "scale" },
        text(0, unit === "share" ? "share" : unit),
        el("span", { class: "ramp", role: "presentation" }),
        text(max, unit),
    );
}

function maps(value) {
    const links = shownRun().detail.links;
    if (!links) return [];
    const chosen = present(links).find(([key]) => key === value) || present(links)[0];
    if (!chosen) return [];
    const max = chosen[0] === "utilization" ? 1 : Math.max(...links[chosen[0]]);
    const shown = groups(links).filter(([, group]) =>
        group.some((link) => links[chosen[0]][link.index]),
    );
    return [
        scaleBar(max, chosen[2]),
        el(
            "div",
            { class: "panels" },
            shown.map(([title, group]) => map(title, group, links, chosen, max)),
        ),
    ];
}

export function linksSection(follow) {
    const some = detailed.find((run) => run.detail.links && present(run.detail.links).length);
    if (!some) return null;
    let value = "utilization";
    const body = el("div");
    const keys = VALUES.filter(([key]) =>
        detailed.some(
            (run) =>
                run.detail.links && run.detail.links[key] && run.detail.links[key].some((v) => v),
        ),
    );
    const fill = follow.fill(body, () => maps(value));
    const choose = select(
        "Show",
        keys.map(([key, what]) => [key, what]),
        value,
        (v) => {
            value = v;
            fill();
            startCharts();
        },
    );
    const box = section(
        "links",
        "Links",
        "Each cell is one direction of a link; the colours have one scale for all maps. Uneven rows mean that paths collide.",
        [choose, ...(detailed.length > 1 ? [follow.control()] : [])],
    );
    box.append(body);
    return box;
}
