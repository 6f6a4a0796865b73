// SPDX-License-Identifier: MIT
// Light and dark: the style sheet has the colours, the charts read them from it.

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = [];
let chosen = null; // "light", "dark"; null = as the system says
let printing = false;

function name() {
    if (printing) return "light";
    return chosen || (dark.matches ? "dark" : "light");
}

function apply() {
    root.dataset.theme = name();
    for (const listener of listeners) listener();
}

// The value of a colour of style.css, for charts.
export function colour(variable) {
    return getComputedStyle(root).getPropertyValue(`--${variable}`).trim();
}

export function isDark() {
    return name() === "dark";
}

export function isPrinting() {
    return printing;
}

export function onTheme(listener) {
    listeners.push(listener);
}

export function setPrinting(value) {
    printing = value;
    root.dataset.theme = name();
}

export function toggleTheme() {
    chosen = name() === "dark" ? "light" : "dark";
    apply();
    return chosen;
}

// Colours of policies, in the order in which the comparison names them; the baseline `none` is grey.
// Eight colours that remain apart with colour vision deficiencies (after Okabe and Ito), then the same
// with dashed lines.
export function policyStyles(policies) {
    const styles = new Map();
    let next = 0;
    for (const policy of policies) {
        const plain = policy === "none";
        const index = plain ? 0 : next++;
        styles.set(policy, {
            colour: plain ? "policy-none" : `policy-${(index % 7) + 1}`,
            dash: index < 7 || plain ? "solid" : index < 14 ? "dashed" : "dotted",
            symbol: plain
                ? "circle"
                : ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow"][index % 7],
        });
    }
    return styles;
}

dark.addEventListener("change", apply);
root.dataset.theme = name();
