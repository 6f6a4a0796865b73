// SPDX-License-Identifier: MIT
// Charts as files: SVG and PNG for papers, CSV of what they are drawn from.
import { doc } from "./data.js";
import { el } from "./dom.js";

const WIDTH = 380; // px of a saved chart, which is as wide as a column of a paper
const WIDTH_MM = 85;
const PNG_SCALE = 4; // 450 dots an inch

function escaped(words) {
    return words.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
}

// ---- SVG ----

// A number that differs between charts.
function digest(words) {
    let sum = 7;
    for (let i = 0; i < words.length; i++) sum = (sum * 31 + words.charCodeAt(i)) % 65521;
    return sum;
}

function origin() {
    return [doc.version ? `collwire ${doc.version}` : "collwire", doc.command].filter(Boolean).join(": ");
}

// One picture of charts below each other, each {name, svg, width, height, title}; titles where there are several.
export function picture(charts, label) {
    const headed = charts.length > 1;
    let y = 0;
    const parts = charts.map((chart, i) => {
        const head =
            headed && chart.title
                ? `<text x="4" y="${y + 14}" font-family="Arial, Helvetica, sans-serif" font-size="12" font-weight="bold">${escaped(chart.title)}</text>`
                : "";
        if (head) y += 20;
        // ids and classes of all charts begin alike, and pictures may stand in one document
        const own = chart.svg
            .replace(/zr\d+-/g, `${chart.name.replace(/[^a-z]/g, "")}${digest(chart.svg)}${i}-`)
            .replace(/^<svg /, `<svg x="0" y="${y}" `)
            .replace(/ width="\d+" height="\d+"/, ` width="${chart.width}" height="${chart.height}"`);
        y += chart.height;
        return head + own;
    });
    const height = ((y / WIDTH) * WIDTH_MM).toFixed(2);
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH_MM}mm" height="${height}mm" viewBox="0 0 ${WIDTH} ${y}">` +
        `<title>${escaped(label)}</title><desc>${escaped(origin())}</desc>` +
        `<rect width="${WIDTH}" height="${y}" fill="#ffffff"/>${parts.join("")}</svg>\n`
    );
}

// ---- CSV ----

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
    const svg = picture([{ name: chart.name, ...svgOf(chart, WIDTH) }], chart.label);
    save(new Blob([svg], { type: "image/svg+xml" }), fileName(chart, "svg"));
}

async function savePng(chart, svgOf) {
    const one = { name: chart.name, ...svgOf(chart, WIDTH) };
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

export { WIDTH as SAVED_WIDTH };
