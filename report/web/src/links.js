// SPDX-License-Identifier: MIT
// Use of links as heat maps over the topology: a map for every pair of tiers, a row a switch, the busiest
// first. Tiers with little use are folded.
import { axisStyle, heatScale } from "./chart.js";
import { detailed, shownRun } from "./data.js";
import { el, section, select } from "./dom.js";
import { figure, startCharts } from "./figure.js";
import { byName, html, list, plural, text } from "./format.js";
import { colour, isDark } from "./theme.js";

const VALUES = [
    ["utilization", "time spent sending", "share"],
    ["max_queue_bytes", "longest queue", "bytes"],
    ["paused_ns", "time paused", "ns"],
    ["dropped_packets", "dropped packets", "count"],
    ["bytes", "bytes sent", "bytes"],
];

const FOLDED = 0.1; // of the time, or of the largest value: tiers below it are one line

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

// Names by the largest value of their links, the busiest first; equal ones by name.
function byLoad(links, nameOf, values) {
    const most = new Map();
    for (const link of links)
        most.set(nameOf(link), Math.max(most.get(nameOf(link)) || 0, values[link.index]));
    return [...most.keys()].sort((a, b) => most.get(b) - most.get(a) || byName(a, b));
}

// Rows and columns of a group, the busiest first: rows are switches; where a row has many links, or those of
// ranks, its columns are its links in the order of their load.
function matrix(group, values) {
    const byTo = isRank(group[0].from) && !isRank(group[0].to);
    const rowOf = (link) => (byTo ? link.to : link.from);
    const otherOf = (link) => (byTo ? link.from : link.to);
    const rows = byLoad(group, rowOf, values);
    const others = byLoad(group, otherOf, values);
    const numbered = others.length > 16 || isRank(others[0]);
    const ordered = [...group].sort(
        (a, b) =>
            values[b.index] - values[a.index] || byName(otherOf(a), otherOf(b)),
    );
    const filled = new Map(rows.map((row) => [row, 0]));
    const cells = ordered.map((link) => {
        const x = numbered ? filled.get(rowOf(link)) : others.indexOf(otherOf(link));
        filled.set(rowOf(link), filled.get(rowOf(link)) + 1);
        return { x, y: rows.indexOf(rowOf(link)), ...link };
    });
    const columns = Math.max(...filled.values());
    const names = numbered ? Array.from({ length: columns }, (_, i) => String(i + 1)) : others;
    return { rows, names, numbered, cells };
}

// A label that can be read on the colour of a value between 0 and 1.
export function heatInk(place) {
    const lower = isDark() ? place < 0.62 : place < 0.68;
    return colour(lower ? "ink" : "page");
}

function map(title, group, links, [key, what, unit], max) {
    const values = links[key];
    const m = matrix(group, values);
    const cell = Math.max(12, Math.min(22, 640 / m.names.length));
    return figure({
        name: "links",
        title,
        label: `${what} of the links ${title}: a row a switch, the busiest first.`,
        height: Math.max(96, 42 + m.rows.length * cell),
        renderer: m.cells.length > 600 ? "canvas" : "svg",
        build: () => ({
            grid: { left: 8, right: 12, top: 4, bottom: 34, containLabel: true },
            xAxis: {
                ...axisStyle(),
                type: "category",
                data: m.names,
                name: m.numbered ? "links, the busiest first" : "",
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
            visualMap: heatScale(0, max, unit, what),
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
                ...present(links).map(([k, name, u]) => ({ name, key: k, unit: u, number: true })),
            ],
            rows: m.cells.map((c) => [
                links.at[c.index],
                ...present(links).map(([k]) => links[k][c.index]),
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
    const values = links[chosen[0]];
    // to the busiest: a scale to 100 % leaves all maps pale where no link is in use for long
    const max = values.reduce((a, b) => Math.max(a, b), 0);
    const least = FOLDED * (chosen[0] === "utilization" ? 1 : max);
    const all = groups(links)
        .map(([title, group]) => ({
            title,
            group,
            most: group.reduce((a, link) => Math.max(a, values[link.index]), 0),
        }))
        .filter((tier) => tier.most > 0)
        .sort((a, b) => b.most - a.most);
    const busy = all.filter((tier, i) => i === 0 || tier.most >= least);
    const panels = (tiers) =>
        el(
            "div",
            { class: "panels" },
            tiers.map((tier) => map(tier.title, tier.group, links, chosen, max)),
        );
    const rest = all.filter((tier) => !busy.includes(tier));
    return [
        scaleBar(max, chosen[2]),
        panels(busy),
        ...(rest.length ? [folded(rest, chosen, least, () => panels(rest))] : []),
    ];
}

// Tiers whose links are all below a tenth, as one line; their maps are made when it is opened.
function folded(tiers, [, what, unit], least, make) {
    const links = tiers.reduce((n, tier) => n + tier.group.length, 0);
    const names = tiers.map((t) => `${t.title} (${t.group.length}, at most ${text(t.most, unit)})`);
    const line = `${plural(links, "more link")} in ${plural(tiers.length, "tier")} below ${text(least, unit)} of ${what}: ${list(names)}`;
    const details = el("details", {}, el("summary", {}, line));
    details.addEventListener("toggle", () => {
        if (!details.open || details.children.length > 1) return;
        details.append(make());
        startCharts();
    });
    return details;
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
        "Each cell is one direction of a link; the colours have one scale for all maps, and the busiest stand first. A row with dark and pale cells means that paths collide.",
        [choose, ...(detailed.length > 1 ? [follow.control()] : [])],
    );
    box.append(body);
    return box;
}
