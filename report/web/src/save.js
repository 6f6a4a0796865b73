// SPDX-License-Identifier: MIT
// Charts as files: SVG and PNG for papers, CSV of what they are drawn from.
import { doc } from "./data.js";
import { el } from "./dom.js";
import { picture, SAVED_WIDTH } from "./picture.js";

const PNG_SCALE = 4; // 450 dots an inch

const SUFFIXES = { ns: "ns", bytes: "bytes", "bit/s": "bps" };

// "completion time" in ns is completion_time_ns.
function heading(column) {
    if (column.key) return column.key;
    const suffix = SUFFIXES[column.unit];
    const name = column.name.toLowerCase().replace(/[^\p{L}\p{N}.:+-]+/gu, "_");
    return suffix && !name.endsWith(suffix) ? `${name}_${suffix}` : name;
}

function cell(value) {
    if (value === null || value === undefined) return "";
    const words = String(value);
    return /[",\r\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
}

export function csvText({ columns, rows }) {
    return `${[columns.map(heading), ...rows].map((row) => row.map(cell).join(",")).join("\n")}\n`;
}

// ---- files ----

function fileName(chart, ending) {
    const words = [doc.name || "report", chart.name, chart.title].filter(Boolean).join("-");
    return `${words.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/-+$/, "")}.${ending}`;
}

function save(blob, name) {
    const link = el("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function saveSvg(chart, svgOf) {
    const svg = picture([{ name: chart.name, ...svgOf(chart, SAVED_WIDTH) }], chart.label);
    save(new Blob([svg], { type: "image/svg+xml" }), fileName(chart, "svg"));
}

async function savePng(chart, svgOf) {
    const one = { name: chart.name, ...svgOf(chart, SAVED_WIDTH) };
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(picture([one], chart.label))}`;
    await image.decode();
    const canvas = el("canvas", {
        width: one.width * PNG_SCALE,
        height: one.height * PNG_SCALE,
    });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, fileName(chart, "png")), "image/png");
}

function saveCsv(chart) {
    save(new Blob([csvText(chart.csv())], { type: "text/csv" }), fileName(chart, "csv"));
}

// The buttons of a chart. `svgOf` draws it.
export function saveButtons(chart, svgOf) {
    const button = (words, what, onclick) =>
        el("button", { type: "button", title: what, "aria-label": `${what}: ${chart.title || chart.label}`, onclick }, words);
    return el(
        "p",
        { class: "save" },
        "Save as ",
        button("SVG", "Save the chart as SVG", () => saveSvg(chart, svgOf)),
        button("PNG", "Save the chart as PNG", () => savePng(chart, svgOf)),
        chart.csv ? button("CSV", "Save the data of the chart as CSV", () => saveCsv(chart)) : null,
    );
}
