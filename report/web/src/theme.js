// SPDX-License-Identifier: MIT
// Light and dark: the style sheet has the colours, the charts read them from it.

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = [];
let chosen = null; // "light", "dark"; null = as the system says
let printing = false;
let saving = false;

function name() {
    if (saving) return "paper";
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

// The font of the page.
export function fontFamily() {
    return getComputedStyle(document.body).fontFamily;
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

// True while a chart is drawn to be saved: black on white, and with what stands beside it on the page.
export function isSaved() {
    return saving;
}

// What `draw` returns, with the colours of saved charts. The page itself is not painted in between.
export function asSaved(draw) {
    saving = true;
    root.dataset.theme = name();
    try {
        return draw();
    } finally {
        saving = false;
        root.dataset.theme = name();
    }
}

export function toggleTheme() {
    chosen = name() === "dark" ? "light" : "dark";
    apply();
    return chosen;
}

dark.addEventListener("change", apply);
root.dataset.theme = name();
