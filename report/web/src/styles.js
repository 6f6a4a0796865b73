// SPDX-License-Identifier: MIT
// Colour, dash and symbol of the lines of charts. Those of a policy are fixed: the same on every page, and
// in the charts of studies/, which read the same table.
import table from "./policy-styles.json";
import { colour, isDark } from "./theme.js";

const DASHES = { "-": "solid", "--": "dashed", ":": "dotted", "-.": [7, 3, 2, 3] };

// Markers by the letters of Matplotlib, as shapes of ECharts.
const SYMBOLS = {
    o: "circle",
    s: "rect",
    D: "diamond",
    d: "path://M5,0L8,5L5,10L2,5Z",
    "^": "triangle",
    v: "path://M0,0L10,0L5,10Z",
    "<": "path://M10,0L10,10L0,5Z",
    ">": "path://M0,0L10,5L0,10Z",
    P: "path://M3,0L7,0L7,3L10,3L10,7L7,7L7,10L3,10L3,7L0,7L0,3L3,3Z",
    X: "path://M0,2L2,0L5,3L8,0L10,2L7,5L10,8L8,10L5,7L2,10L0,8L3,5Z",
    "*": "path://M5,0L6.2,3.6L10,3.8L7,6.2L8.1,10L5,7.8L1.9,10L3,6.2L0,3.8L3.8,3.6Z",
    h: "path://M5,0L9.3,2.5L9.3,7.5L5,10L0.7,7.5L0.7,2.5Z",
    p: "path://M5,0L10,3.8L8.1,10L1.9,10L0,3.8Z",
};

// A style of the table for a policy that it does not have, by the name alone.
function entryByName(name) {
    const sum = [...name].reduce((n, c) => (n * 31 + c.charCodeAt(0)) % 65521, 7);
    return table[sum % table.length];
}

// "dcqcn:nic" is the table's "dcqcn nic".
function entryOf(name) {
    const plain = name.replace(/[:{]/, " ");
    return table.find(([start]) => plain.startsWith(start)) || entryByName(name);
}

// A colour mixed with `share` of another one; both as #rrggbb.
function mixed(one, other, share) {
    const part = (hex, i) => Number.parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
    const hex = [0, 1, 2].map((i) =>
        Math.round(part(one, i) * (1 - share) + part(other, i) * share)
            .toString(16)
            .padStart(2, "0"),
    );
    return `#${hex.join("")}`;
}

const SHADES = [0, 0.45, -0.4, 0.25, -0.65, 0.65]; // towards the page; negative: towards the ink

// Styles of policies {colour(), dash, symbol}. Several variants of one policy have shades of its colour, and
// other dashes and symbols, in the order in which the results name them.
export function policyStyles(policies) {
    const used = new Map();
    return new Map(
        policies.map((policy) => {
            const [start, light, dark, symbol, dash] = entryOf(policy);
            const variant = used.get(start) || 0;
            used.set(start, variant + 1);
            const share = SHADES[variant % SHADES.length];
            const dashes = Object.values(DASHES);
            const at = Object.keys(DASHES).indexOf(dash) + variant;
            const symbols = Object.values(SYMBOLS);
            const shape = Object.keys(SYMBOLS).indexOf(symbol) + variant;
            return [
                policy,
                {
                    colour: () => {
                        const towards = share > 0 === isDark() ? "#000000" : "#ffffff";
                        return mixed(isDark() ? dark : light, towards, Math.abs(share));
                    },
                    dash: dashes[at % dashes.length],
                    symbol: symbols[shape % symbols.length],
                },
            ];
        }),
    );
}

const LINES = 7; // colours of style.css

// Styles of lines that are not policies, by their order.
export function lineStyles(names) {
    const symbols = Object.values(SYMBOLS);
    const dashes = Object.values(DASHES);
    return new Map(
        names.map((name, i) => [
            name,
            {
                colour: () => colour(`line-${(i % LINES) + 1}`),
                dash: dashes[i % dashes.length],
                symbol: symbols[i % symbols.length],
            },
        ]),
    );
}
