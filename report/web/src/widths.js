// SPDX-License-Identifier: MIT
// Widths of the texts of saved charts: those of Arial, which Helvetica and Liberation Sans share.

// Thousandths of the size of the font, and the characters that are so wide.
const WIDTHS = [
    [191, "'"],
    [222, "ijl"],
    [260, "|"],
    [278, " !,./:;I[\\]ft\u00a0\u00b7"],
    [333, "()-`r"],
    [334, "{}"],
    [355, "\""],
    [389, "*"],
    [469, "^"],
    [500, "Jcksvxyz"],
    [549, "\u00b1"],
    [576, "\u00b5"],
    [584, "+<=>~\u00d7\u2212"],
    [611, "FTZ"],
    [667, "&ABEKPSVXY"],
    [722, "CDHNRUw"],
    [778, "GOQ"],
    [833, "Mm"],
    [889, "%"],
    [944, "W"],
    [1000, "\u2026\u2192"],
    [1015, "@"],
];
const OTHER = 556; // digits, and most letters
const WIDE = 1000; // letters that are as wide as high

const known = {};
for (const [width, letters] of WIDTHS) for (const letter of letters.split("")) known[letter] = width;

function widthOf(letter) {
    if (known[letter]) return known[letter];
    const code = letter.charCodeAt(0);
    if (code >= 0xdc00 && code < 0xe000) return 0; // the second half of a pair
    return code < 0x1100 || (code >= 0x2000 && code < 0x2e80) ? OTHER : WIDE;
}

// The width of a text in px; `font` is "12px Arial, ..".
export function savedWidth(words, font) {
    const size = Number(/([\d.]+)px/.exec(font)?.[1] ?? 12);
    let sum = 0;
    for (const letter of String(words ?? "").split("")) sum += widthOf(letter);
    return (sum / 1000) * size;
}
