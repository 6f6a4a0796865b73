// SPDX-License-Identifier: MIT
// Numbers with units as engineers write them: three significant digits, decimal prefixes.

const MINUS = "\u2212";
const SPACE = "\u00a0"; // a number and its unit stay on one line

function digits(value) {
    const size = Math.abs(value);
    const text =
        size >= 100 || value === 0
            ? value.toFixed(0)
            : size >= 10
              ? value.toFixed(1)
              : value.toFixed(2);
    return text.replace("-", MINUS);
}

function scaled(value, steps) {
    const size = Math.abs(value);
    const step = steps.find((s) => size >= s[0] * 0.9995) || steps[steps.length - 1];
    return { factor: step[0], unit: step[1] };
}

const TIME = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
];
const BYTES = [
    [1e12, "TB"],
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "KB"],
    [1, "B"],
];
const RATE = [
    [1e12, "Tb/s"],
    [1e9, "Gb/s"],
    [1e6, "Mb/s"],
    [1e3, "kb/s"],
    [1, "b/s"],
];

function withUnit(steps) {
    return (value) => {
        if (value === 0) return "0";
        const { factor, unit } = scaled(value, steps);
        const whole = factor === 1 && Number.isInteger(value);
        return `${whole ? value.toFixed(0) : digits(value / factor)}${SPACE}${unit}`;
    };
}

export function count(value) {
    if (!Number.isInteger(value))
        return Math.abs(value) < 1000 ? digits(value) : count(Math.round(value));
    return String(value)
        .replace(/\B(?=(\d{3})+$)/g, ",")
        .replace("-", MINUS);
}

export function share(value) {
    const percent = value * 100;
    return percent === 0 || percent >= 9.95
        ? `${percent.toFixed(0)}${SPACE}%`
        : `${percent.toPrecision(2)}${SPACE}%`;
}

function ratio(value) {
    return Math.abs(value) >= 100
        ? value.toFixed(0)
        : Math.abs(value) >= 10
          ? value.toFixed(1)
          : value.toFixed(3);
}

const FORMATS = {
    ns: withUnit(TIME),
    us: (value) => FORMATS.ns(value * 1e3),
    s: (value) => FORMATS.ns(value * 1e9),
    bytes: withUnit(BYTES),
    "bit/s": withUnit(RATE),
    count,
    ratio,
    share,
};

// A size that is a multiple of 1024 and not of 1000 in binary units, any other one in decimal units.
export function size(value) {
    const steps = ["KiB", "MiB", "GiB", "TiB"];
    if (value < 1024 || value % 1024 !== 0 || value % 1000 === 0) {
        const { factor, unit } = scaled(value, BYTES);
        return `${Number((value / factor).toPrecision(5))}${SPACE}${unit}`;
    }
    let step = 0;
    let rest = value / 1024;
    for (; step + 1 < steps.length && rest % 1024 === 0; step++) rest /= 1024;
    return `${rest}${SPACE}${steps[step]}`;
}

// The unit of a key such as fct_p99_ns, or of a path such as workload.bytes.
export function unitOfKey(key) {
    const match = /[_.](ns|us|s|bytes|bps|share)$/.exec(key);
    if (match) return match[1] === "bps" ? "bit/s" : match[1];
    return /^(jain|efficiency|utilization|slowdown.*)$/.test(key) ? "ratio" : "count";
}

// A value as text; a dash where it is not known.
export function text(value, unit) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (typeof value !== "number") return String(value);
    return (FORMATS[unit] || ((v) => String(v)))(value);
}

// A value of an axis as text: ratios with four digits at most and no more than they need.
export function tick(value, unit) {
    return unit === "ratio" ? String(Number(value.toPrecision(4))) : text(value, unit);
}

// One unit for a whole axis: {name, factor, label(value)}.
export function axisUnit(unit, max) {
    const steps = { ns: TIME, bytes: BYTES, "bit/s": RATE }[unit];
    if (!steps) return { name: "", factor: 1, label: (v) => tick(v, unit) };
    const { factor, unit: name } = scaled(max || 0, steps);
    return { name, factor, label: (v) => String(Number((v / factor).toPrecision(4))) };
}

// "2.9 times as long", "4 % longer", "the same time".
export function longer(value, base) {
    const r = value / base;
    if (r < 1.005) return "the same time";
    return r < 1.5
        ? `${((r - 1) * 100).toFixed(r < 1.1 ? 1 : 0)}${SPACE}% longer`
        : `${r.toFixed(r < 10 ? 1 : 0)} times as long`;
}

// "rank", "2 ranks".
export function plural(n, one, many = `${one}s`) {
    return `${count(n)} ${n === 1 ? one : many}`;
}

// "a", "a and b", "a, b and c".
export function list(words) {
    if (words.length < 2) return words.join("");
    return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

// For the charts' tooltips, which are HTML.
export function html(value) {
    return String(value).replace(/[&<>"']/g, (c) => ENTITIES[c]);
}

export function capital(word) {
    return word.charAt(0).toUpperCase() + word.slice(1);
}

// The order of names, with numbers in them in numeric order: rank2 before rank10.
export function byName(one, other) {
    const [a, b] = [one, other].map((name) => name.match(/\d+|\D+/g) || []);
    for (let i = 0; i < a.length && i < b.length; i++) {
        const [x, y] = [Number(a[i]), Number(b[i])];
        if (a[i] === b[i]) continue;
        return Number.isNaN(x) || Number.isNaN(y) || x === y ? (a[i] < b[i] ? -1 : 1) : x - y;
    }
    return a.length - b.length;
}
