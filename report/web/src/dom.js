// SPDX-License-Identifier: MIT
// Elements and tables; all text is set as text, never as HTML.
import { text } from "./format.js";

export function el(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else if (value !== null && value !== undefined && value !== false)
            element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
    return element;
}

// A table. `columns`: {name, help, number, unit}; a cell is a text, a node, {text, best}, or in a column
// with a unit a number, null where it is not known.
export function table(columns, rows, caption) {
    const head = columns.map((c) =>
        el(
            "th",
            { scope: "col", class: c.number ? "number" : null, title: c.help || null },
            c.name,
        ),
    );
    const body = rows.map((row) =>
        el(
            "tr",
            {},
            row.map((cell, i) => {
                const c = columns[i];
                const marked = cell && typeof cell === "object" && !(cell instanceof Node);
                const classes = [c.number && "number", marked && cell.best && "best"]
                    .filter(Boolean)
                    .join(" ");
                return el(
                    i === 0 ? "th" : "td",
                    { scope: i === 0 ? "row" : null, class: classes || null },
                    marked ? cell.text : c.unit ? text(cell, c.unit) : cell,
                );
            }),
        ),
    );
    return el(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        el(
            "table",
            {},
            el("caption", {}, caption),
            el("thead", {}, el("tr", {}, head)),
            el("tbody", {}, body),
        ),
    );
}

const TABLE_ROWS = 1000;

// A table behind a chart; it is made when it is opened. `make` returns {columns, rows}.
export function tableBehind(caption, make) {
    const details = el("details", { class: "data" }, el("summary", {}, "Table"));
    details.fill = () => {
        if (details.children.length > 1) return;
        const { columns, rows } = make();
        details.append(table(columns, rows.slice(0, TABLE_ROWS), caption));
        if (rows.length > TABLE_ROWS)
            details.append(
                el("p", { class: "note" }, `The first ${TABLE_ROWS} of ${rows.length} rows.`),
            );
    };
    details.addEventListener("toggle", () => details.open && details.fill());
    details.rowCount = () => make().rows.length;
    return details;
}

let ids = 0;

// A labelled <select>. `options`: [[value, text]].
export function select(label, options, value, onchange) {
    const id = `select-${++ids}`;
    const input = el(
        "select",
        { id, onchange: () => onchange(input.value) },
        options.map(([v, text]) =>
            el("option", { value: v, selected: String(v) === String(value) }, text),
        ),
    );
    const control = el("span", { class: "control" }, el("label", { for: id }, label), input);
    control.input = input;
    return control;
}

// Other controls in a bar; the one at the place of that which has the focus has it then.
export function replaceControls(bar, controls) {
    const focused = [...bar.querySelectorAll("select")].indexOf(document.activeElement);
    bar.replaceChildren(...controls);
    if (focused >= 0) bar.querySelectorAll("select")[focused]?.focus();
}

// A section of the page with a heading; controls stand beside the heading.
export function section(id, title, lede, controls = []) {
    return el(
        "section",
        { id, "aria-labelledby": `${id}-title` },
        el(
            "header",
            {},
            el("h2", { id: `${id}-title` }, title),
            controls.length ? el("div", { class: "controls" }, controls) : null,
        ),
        lede ? el("p", { class: /zoom/.test(lede) ? "lede screen" : "lede" }, lede) : null,
    );
}
