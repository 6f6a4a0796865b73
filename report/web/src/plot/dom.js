// SPDX-License-Identifier: MIT
// Elements where there is no page: what is inside of what, so that charts and choices can be found. Nothing is
// shown, so that attributes, texts and tables are left out.

export function el(tag, attributes, ...children) {
    const element = {
        children: [],
        append(...more) {
            for (const part of more.flat()) if (part && typeof part === "object") this.children.push(part);
        },
        replaceChildren(...others) {
            this.children = [];
            this.append(...others);
        },
        addEventListener() {},
    };
    element.append(...children);
    return element;
}

export function table() {
    return el("table");
}

export function section(id, title, lede, controls = []) {
    return el("section", {}, controls);
}

// `choose` takes one of the values of `options`.
export function select(label, options, value, choose) {
    const control = el("select");
    control.choices = { values: options.map(([one]) => one), choose };
    control.input = { value };
    return control;
}

export function replaceControls(bar, controls) {
    bar.replaceChildren(...controls);
}

// What `pick` returns for an element and all that is inside of it, without what is undefined.
export function within(element, pick) {
    const own = pick(element);
    return [...(own === undefined ? [] : [own]), ...element.children.flatMap((child) => within(child, pick))];
}
