// SPDX-License-Identifier: MIT
// The run that detailed sections show: one choice for the page.
import { detailed, doc, nameOf, noun, primaryKey, show, shown } from "./data.js";
import { select } from "./dom.js";
import { capital } from "./format.js";
import { ranking } from "./headline.js";

const controls = [];

export const follow = {
    control() {
        const box = select(
            capital(noun),
            detailed.map((run, i) => [i, nameOf(run)]),
            shown.index,
            show,
        );
        controls.push(box.input);
        return box;
    },
    // Fill `body` anew whenever another run is chosen. Returns a function that fills it.
    fill(body, make) {
        const fill = () => body.replaceChildren(...make());
        shown.listeners.push(fill);
        fill();
        return fill;
    },
};

shown.listeners.push(() => {
    for (const input of controls) input.value = String(shown.index);
});

// First the run that needs an explanation: that of the policy which takes longest.
if (doc.kind === "compare") {
    const order = ranking(primaryKey());
    const worst = order.length
        ? detailed.findIndex((run) => nameOf(run) === nameOf(order[order.length - 1].runs[0]))
        : -1;
    shown.index = Math.max(0, worst);
}
