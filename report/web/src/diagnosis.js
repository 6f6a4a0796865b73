// SPDX-License-Identifier: MIT
// A diagnosis: each measured value beside that of the healthy network and of the first cause, and all causes with what
// tells them apart.
import { axisStyle, legendStyle, referenceLine } from "./chart.js";
import { doc } from "./data.js";
import { el, section, table } from "./dom.js";
import { figure } from "./figure.js";
import { html, share } from "./format.js";
import { colour } from "./theme.js";

const LINES = [
    { key: "healthy", name: "healthy", symbol: "diamond", colour: "line-2" },
    { key: "first", name: "first cause", symbol: "circle", colour: "line-1" },
];
const FAR = 100; // times; a value that is farther from the measured one stands at the edge
const ROW = 26; // px

const number = (value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(4)).toString());
const nameOf = ({ quantity, place, size }) => [quantity, place, size && `of ${size}`].filter(Boolean).join(" ");

export function diagnosisSentence() {
    const { healthy, causes, units } = doc.diagnosis;
    if (units !== 1) return `All measured values are ${number(units)} times those of the healthy network: units are mixed up.`;
    if (healthy) return "Healthy: the network gives what was measured, within its spread; no cause is needed for it.";
    if (!causes.length) return "Not healthy, and none of the causes that were tried comes nearer.";
    return `The first cause explains ${share(causes[0].explains)} of the gap: ${causes[0].words}.`;
}

export function diagnosisReason() {
    const { healthy, causes } = doc.diagnosis;
    if (healthy || !causes.length) return null;
    const others = causes.filter((cause, i) => i > 0 && cause.tie).length;
    const ties = others ? `What was measured does not tell it from ${others} other${others > 1 ? "s" : ""}. ` : "";
    return `${ties}Next: ${causes[0].next}.`;
}

function bars(values) {
    const shown = values.filter((value) => value.measured > 0);
    const ratio = (value, key) => Math.min(FAR, Math.max(1 / FAR, value[key] / value.measured));
    const lines = LINES.filter(({ key }) => shown.some((value) => value[key] !== null));
    return figure({
        name: "diagnosis",
        title: "Simulated by measured values",
        label: "The healthy network and the first cause by what was measured; at 1 they are equal.",
        height: 90 + ROW * shown.length,
        build: () => ({
            legend: { ...legendStyle(), data: lines.map(({ name }) => name) },
            grid: { left: 8, right: 24, top: 36, bottom: 36, containLabel: true },
            xAxis: {
                ...axisStyle(),
                type: "log",
                name: "by what was measured",
                nameLocation: "middle",
                nameGap: 24,
                min: ({ min }) => Math.min(0.5, min),
                max: ({ max }) => Math.max(2, max),
                axisLabel: { color: colour("muted"), hideOverlap: true, formatter: number },
            },
            yAxis: {
                ...axisStyle(),
                type: "category",
                inverse: true,
                data: shown.map(nameOf),
                axisLabel: { color: colour("muted"), width: 240, overflow: "truncate" },
            },
            tooltip: {
                trigger: "item",
                formatter: ({ seriesName, dataIndex, seriesIndex }) => {
                    const value = shown[dataIndex];
                    const here = number(value[lines[seriesIndex].key]);
                    return `<b>${html(nameOf(value))}</b><br>measured ${number(value.measured)}, ${html(seriesName)} ${here} ${html(value.unit)}`;
                },
            },
            series: lines.map((line, k) => ({
                name: line.name,
                type: "scatter",
                symbol: line.symbol,
                symbolSize: 11,
                itemStyle: { color: colour(line.colour) },
                data: shown.map((value, i) => (value[line.key] === null ? null : [ratio(value, line.key), i])),
                markLine: k === 0 ? referenceLine([{ xAxis: 1 }]) : undefined,
            })),
        }),
        csv: () => ({ columns: COLUMNS, rows: values.map(rowOf) }),
    });
}

const COLUMNS = [
    { name: "value" },
    { name: "measured", number: true },
    { name: "healthy", number: true },
    { name: "first cause", number: true },
    { name: "unit" },
];

function rowOf(value) {
    return [nameOf(value), number(value.measured), number(value.healthy), number(value.first), value.unit];
}

function causesTable(causes) {
    return table(
        [
            { name: "cause" },
            { name: "kind" },
            { name: "explains", number: true, help: "share of the gap between healthy and measured" },
            { name: "also at" },
            { name: "ties", help: "not told from the first one by what was measured" },
        ],
        causes.map((cause, i) => [
            cause.words,
            cause.kind,
            share(cause.explains),
            cause.also.slice(0, 3).join(", ") + (cause.also.length > 3 ? `, ${cause.also.length - 3} more` : ""),
            i > 0 && cause.tie ? "yes" : "",
        ]),
        "Causes, the nearest first",
    );
}

function nextOf(causes) {
    return causes.slice(0, 5).map((cause) => el("li", {}, `${cause.words}: ${cause.next}.`));
}

export function diagnosisSection() {
    if (!doc.diagnosis) return null;
    const { causes, values, unexplained, runs, interrupted } = doc.diagnosis;
    const box = section(
        "diagnosis",
        "Measured, healthy and explained",
        `Each value as it was measured, of the healthy network and of the first cause, from ${runs} runs${interrupted ? " until it was interrupted" : ""}.`,
    );
    box.append(bars(values), table(COLUMNS, values.map(rowOf), "Values"));
    if (causes.length) box.append(causesTable(causes), el("h3", {}, "What to measure next"), el("ol", {}, nextOf(causes)));
    if (unexplained > 0.25 && causes.length)
        box.append(el("p", { class: "note" }, `None of these: ${share(unexplained)} unexplained.`));
    return box;
}
