// SPDX-License-Identifier: MIT
// The memory that a GPU needs: an iteration of the rank that needs most, and all ranks.
import { axisStyle, legendStyle, moreLegend, nameAxis, timeAxis, zoomStyle } from "./chart.js";
import { detailed, meaning, nameOf, shownRun } from "./data.js";
import { el, section } from "./dom.js";
import { figure } from "./figure.js";
import { axisUnit, html, share, text } from "./format.js";
import { colour } from "./theme.js";

// What stays for the whole iteration first, so that it is at the bottom.
const COLOURS = {
    weights: "part-sending",
    gradients: "part-network",
    optimizer: "part-behind",
    activations: "part-queued",
    temporary: "part-paused",
    communication: "part-window",
};

const SEEN = 0.1; // a capacity of which less is used would flatten the chart: it is in the text only

function total(values) {
    return values.reduce((a, b) => a + b, 0);
}

function kindsOf(memory) {
    return Object.keys(memory.by_kind);
}

// The bytes of each kind in a step of an iteration, or of a class of ranks.
function valuesOf(memory, one) {
    return kindsOf(memory).map((name) => one.by_kind[name]);
}

function kindsUsed(memory, lists) {
    return kindsOf(memory).map((name, i) => ({ name, i })).filter(({ i }) => lists.some((v) => v[i] > 0));
}

// Columns of tables: the sum, and a column for each kind.
function byKindColumns(memory) {
    const bytes = { unit: "bytes", number: true };
    return [
        { name: "total", ...bytes },
        ...kindsOf(memory).map((name) => ({ name, help: meaning(`memory.by_kind.${name}`), ...bytes })),
    ];
}

function tooltip(title, kinds, values) {
    const sum = total(values);
    const lines = kinds.map(
        ({ name, i }) =>
            `<tr><td>${html(name)}</td><td class="n">${html(text(values[i], "bytes"))}</td><td class="n">${html(share(values[i] / sum))}</td></tr>`,
    );
    return `<b>${html(title)}</b> ${html(text(sum, "bytes"))}<table class="tip">${lines.join("")}</table>`;
}

function capacityLine(memory, max, key) {
    if (!memory.capacity_bytes || max < memory.capacity_bytes * SEEN) return undefined;
    return {
        silent: true,
        symbol: "none",
        animation: false,
        lineStyle: { color: colour("ink"), type: "dashed", width: 1.5 },
        label: {
            ...(key === "yAxis"
                ? { position: "insideEndTop" }
                : { position: "start", align: "right", rotate: 0 }),
            color: colour("ink"),
            formatter: `a GPU has ${text(memory.capacity_bytes, "bytes")}`,
        },
        data: [{ [key]: memory.capacity_bytes }],
    };
}

function top(memory, max) {
    return memory.capacity_bytes && max >= memory.capacity_bytes * SEEN
        ? Math.max(max, memory.capacity_bytes) * 1.06
        : undefined;
}

function byteAxis(memory, max, more) {
    const scale = axisUnit("bytes", Math.max(max, top(memory, max) || 0));
    return {
        ...axisStyle(),
        type: "value",
        min: 0,
        max: top(memory, max),
        axisLabel: {
            color: colour("muted"),
            hideOverlap: true,
            showMaxLabel: !top(memory, max),
            formatter: (v) => `${scale.label(v)}${v ? ` ${scale.name}` : ""}`,
        },
        ...more,
    };
}

// The steps of an iteration. A step lasts from the end of the one before it; where ends are not known each
// takes a place.
function iteration(memory) {
    const steps = memory.iteration;
    const values = steps.map((step) => valuesOf(memory, step));
    const kinds = kindsUsed(memory, values);
    const known = steps.every((step) => step.end_ns !== null);
    const ends = steps.map((step, i) => (known ? step.end_ns : i + 1));
    const max = Math.max(...values.map(total));
    const end = ends[ends.length - 1];
    const time = axisUnit("ns", end);
    const at = (x) => Math.max(0, ends.findIndex((one) => one >= x));
    return figure({
        name: "memory",
        title: `An iteration of rank${memory.rank}`,
        label: "The memory within each pass of an iteration, by kind.",
        height: (width) => 310 + moreLegend(kinds.map((k) => k.name), width),
        keys: true,
        build: (width) => ({
            legend: { ...legendStyle(), type: "plain", data: kinds.map((k) => k.name) },
            grid: {
                left: 8,
                right: 20,
                top: 36 + moreLegend(kinds.map((k) => k.name), width),
                bottom: 54,
                containLabel: true,
            },
            dataZoom: zoomStyle(),
            xAxis: known
                ? { ...timeAxis(time, end), splitLine: { show: false } }
                : {
                      ...timeAxis({ name: "", label: (v) => v }, end),
                      name: "step",
                      splitLine: { show: false },
                  },
            yAxis: byteAxis(memory, max, {}),
            tooltip: {
                trigger: "axis",
                axisPointer: { lineStyle: { color: colour("muted") } },
                formatter: (items) => {
                    const i = at(items[0].value[0]);
                    return tooltip(steps[i].step, kinds, values[i]);
                },
            },
            series: kinds.map(({ name, i }, k) => ({
                name,
                type: "line",
                stack: "memory",
                step: "start",
                showSymbol: false,
                color: colour(COLOURS[name] || "part-others"),
                lineStyle: { width: 0.5 },
                areaStyle: { opacity: 0.9 },
                emphasis: { focus: "series" },
                markLine: k === 0 ? capacityLine(memory, max, "yAxis") : undefined,
                data: [[0, values[0][i]], ...values.map((v, j) => [ends[j], v[i]])],
            })),
        }),
        data: () => ({
            columns: [
                { name: "step" },
                { name: "end", unit: "ns", number: true },
                ...byKindColumns(memory),
            ],
            rows: steps.map((step, i) => [step.step, step.end_ns, total(values[i]), ...values[i]]),
        }),
        csv: () => ({
            columns: [
                { name: "step" },
                { name: "end", unit: "ns" },
                { name: "kind" },
                { name: "memory", unit: "bytes" },
            ],
            rows: steps.flatMap((step, i) =>
                kindsOf(memory).map((name, k) => [step.step, step.end_ns, name, values[i][k]]),
            ),
        }),
    });
}

// ---- ranks ----

function rankName(one, memory) {
    const several = memory.classes.some((other) => other.job !== memory.classes[0].job);
    const more = one.ranks > 1 ? ` and ${one.ranks - 1} more` : "";
    return `${several ? `job ${one.job}, ` : ""}rank${one.rank}${more}`;
}

function ranks(memory) {
    const values = memory.classes.map((one) => valuesOf(memory, one));
    const kinds = kindsUsed(memory, values);
    const max = Math.max(...values.map(total));
    const more = (width) => moreLegend(kinds.map((k) => k.name), width);
    return figure({
        name: "memory.ranks",
        title: "Ranks",
        label: "The most that ranks need, by kind.",
        height: (width) => 80 + more(width) + 26 * memory.classes.length,
        build: (width) => ({
            legend: { ...legendStyle(), type: "plain", data: kinds.map((k) => k.name) },
            grid: { left: 8, right: 24, top: 36 + more(width), bottom: 26, containLabel: true },
            xAxis: byteAxis(memory, max, {}),
            yAxis: nameAxis(memory.classes.map((one) => rankName(one, memory)), width),
            tooltip: {
                trigger: "axis",
                axisPointer: { type: "shadow" },
                formatter: (items) => {
                    const i = items[0].dataIndex;
                    return tooltip(`${rankName(memory.classes[i], memory)}, ${memory.classes[i].when}`, kinds, values[i]);
                },
            },
            series: kinds.map(({ name, i }, k) => ({
                name,
                type: "bar",
                stack: "memory",
                barMaxWidth: 20,
                itemStyle: {
                    color: colour(COLOURS[name] || "part-others"),
                    borderColor: colour("page"),
                    borderWidth: 0.5,
                },
                emphasis: { focus: "series" },
                markLine: k === 0 ? capacityLine(memory, max, "xAxis") : undefined,
                data: values.map((v) => v[i]),
            })),
        }),
        data: () => ({
            columns: [
                { name: "ranks" },
                { name: "when" },
                ...byKindColumns(memory),
            ],
            rows: memory.classes.map((one, i) => [
                rankName(one, memory),
                one.when,
                total(values[i]),
                ...values[i],
            ]),
        }),
        csv: () => ({
            columns: [
                { name: "rank" },
                { name: "ranks" },
                { name: "kind" },
                { name: "memory", unit: "bytes" },
            ],
            rows: memory.classes.flatMap((one, i) =>
                kindsOf(memory).map((name, k) => [one.rank, one.ranks, name, values[i][k]]),
            ),
        }),
    });
}

function sentence(memory) {
    const has = memory.capacity_bytes
        ? `, ${share(memory.max_bytes / memory.capacity_bytes)} of the ${text(memory.capacity_bytes, "bytes")} that a GPU has`
        : "";
    const least = memory.at_least ? "at least " : "";
    return `A rank needs ${least}${text(memory.max_bytes, "bytes")}${has}: rank${memory.rank}, within the ${memory.when}.`;
}

export function memorySection(follow) {
    if (!detailed.some((run) => run.metrics.memory)) return null;
    const box = section(
        "memory",
        "Memory of a GPU",
        "What ranks hold, from the shapes and the schedule of the jobs; fragmentation and buffers of libraries are not counted.",
        detailed.length > 1 ? [follow.control()] : [],
    );
    const body = el("div");
    follow.fill(body, () => {
        const { memory } = shownRun().metrics;
        if (!memory) return [el("p", { class: "note" }, `Nothing is known of ${nameOf(shownRun())}.`)];
        return [
            el("p", {}, sentence(memory)),
            memory.iteration.length ? iteration(memory) : null,
            memory.classes.length > 1 ? ranks(memory) : null,
        ].filter(Boolean);
    });
    box.append(body);
    return box;
}
