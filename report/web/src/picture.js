// SPDX-License-Identifier: MIT
// A picture of one or several charts: SVG for papers.
import { doc } from "./data.js";

export const SAVED_WIDTH = 380; // px of a saved chart, which is as wide as a column of a paper
const WIDTH_MM = 85;

function escaped(words) {
    return words.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
}

// The ids and classes of ECharts, which counts on from chart to chart, by the order in which they are named.
function numbered(svg) {
    const known = {};
    let n = 0;
    return svg.replace(/zr\d+-[a-z-]*\d+/g, (id) => {
        if (known[id] === undefined) known[id] = n++;
        return `zr-${known[id]}`;
    });
}

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
        // pictures may stand in one document
        const svg = numbered(chart.svg);
        const own = svg
            .replace(/zr-(?=\d)/g, `${chart.name.replace(/[^a-z]/g, "")}${digest(svg)}${i}-`)
            .replace(/^<svg /, `<svg x="0" y="${y}" `)
            .replace(/ width="\d+" height="\d+"/, ` width="${chart.width}" height="${chart.height}"`);
        y += chart.height;
        return head + own;
    });
    const height = ((y / SAVED_WIDTH) * WIDTH_MM).toFixed(2);
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH_MM}mm" height="${height}mm" viewBox="0 0 ${SAVED_WIDTH} ${y}">` +
        `<title>${escaped(label)}</title><desc>${escaped(origin())}</desc>` +
        `<rect width="${SAVED_WIDTH}" height="${y}" fill="#ffffff"/>${parts.join("")}</svg>\n`
    );
}
