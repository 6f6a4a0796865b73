// SPDX-License-Identifier: MIT
// Who paused whom: the node that sent XOFF against the port that it stopped.
import { axisStyle, heatScale } from "./chart.js";
import { detailed, nameOf, shownRun } from "./data.js";
import { el, section } from "./dom.js";
import { figure } from "./figure.js";
import { byName, html, plural, text } from "./format.js";
import { heatInk } from "./links.js";
import { colour } from "./theme.js";

const SHOWN = 40;

// A port "rank3->leaf0" was stopped by leaf0.
function edges(run) {
    const { ports = [] } = run.metrics.pfc || {};
    const found = new Map();
    for (const port of ports) {
        const [paused, by] = port.at.split("->");
        const edge = found.get(port.at) || { paused, by: by || "", pauses: 0, ns: 0 };
        edge.pauses += port.pauses;
        edge.ns += port.paused_ns;
        found.set(port.at, edge);
    }
    return [...found.values()].sort((a, b) => b.ns - a.ns);
}

function matrix(all) {
    const list = all.slice(0, SHOWN);
    const by = [...new Set(list.map((e) => e.by))].sort(byName);
    const paused = [...new Set(list.map((e) => e.paused))].sort(byName);
    const max = list[0].ns;
    return figure({
        name: "pauses",
        title: `Time stopped${all.length > SHOWN ? `, the ${SHOWN} longest of ${all.length}` : ""}`,
        label: "Time for which each node stopped each port by PFC.",
        height: 56 + 24 * paused.length,
        width: 140 + Math.max(120, by.length * 110),
        build: () => ({
            grid: { left: 8, right: 12, top: 4, bottom: 44, containLabel: true },
            xAxis: {
                ...axisStyle(),
                type: "category",
                data: by,
                name: "sent XOFF",
                nameLocation: "middle",
                nameGap: 26,
                axisLabel: { color: colour("ink"), hideOverlap: true },
            },
            yAxis: {
                ...axisStyle(),
                type: "category",
                data: paused,
                inverse: true,
                name: "",
                axisLabel: { color: colour("ink"), hideOverlap: true },
            },
            visualMap: heatScale(0, max, "ns", "time stopped"),
            tooltip: {
                formatter: ({ data }) =>
                    `<b>${html(by[data.value[0]])} stopped ${html(paused[data.value[1]])}</b><br>${html(text(data.value[2], "ns"))} in ${html(plural(data.value[3], "pause"))}`,
            },
            series: [
                {
                    type: "heatmap",
                    data: list.map((e) => ({
                        value: [by.indexOf(e.by), paused.indexOf(e.paused), e.ns, e.pauses],
                        label: { color: heatInk(e.ns / max) },
                    })),
                    label: {
                        show: by.length < 9,
                        formatter: ({ data }) => text(data.value[2], "ns"),
                        fontSize: 11,
                    },
                    itemStyle: { borderColor: colour("page"), borderWidth: 1 },
                },
            ],
        }),
        data: () => ({
            columns: [
                { name: "sent XOFF", key: "sent_xoff" },
                { name: "stopped" },
                { name: "time stopped", key: "stopped_ns", unit: "ns", number: true },
                { name: "pauses", unit: "count", number: true },
            ],
            rows: all.map((e) => [e.by, e.paused, e.ns, e.pauses]),
        }),
    });
}

function pausesOf(run) {
    const all = edges(run);
    if (!all.length)
        return [
            el(
                "p",
                { class: "note" },
                `No port was stopped${detailed.length > 1 ? ` under ${nameOf(run)}` : ""}.`,
            ),
        ];
    const total = all.reduce((sum, e) => sum + e.ns, 0);
    const deadlock = run.metrics.pfc.deadlock;
    return [
        el(
            "p",
            {},
            `${plural(all.length, "port")} stopped for ${text(total, "ns")} in all. A row is the port that was stopped, a column the node that stopped it.`,
        ),
        deadlock ? el("p", { class: "warning" }, `Deadlock: ${deadlock.join(" → ")}.`) : null,
        matrix(all),
    ].filter(Boolean);
}

export function pausesSection(follow) {
    if (!detailed.some((run) => edges(run).length)) return null;
    const box = section(
        "pauses",
        "Who paused whom",
        null,
        detailed.length > 1 ? [follow.control()] : [],
    );
    const body = el("div");
    follow.fill(body, () => pausesOf(shownRun()));
    box.append(body);
    return box;
}
