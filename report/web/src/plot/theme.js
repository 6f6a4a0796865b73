// SPDX-License-Identifier: MIT
// The colours of saved charts alone; build.mjs takes them from ../../style.css.

export function colour(variable) {
    return PAPER_COLOURS[variable];
}

export function isDark() {
    return false;
}

export function isSaved() {
    return true;
}

export function asSaved(draw) {
    return draw();
}

export function fontFamily() {
    return undefined;
}
