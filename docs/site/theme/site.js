// SPDX-License-Identifier: MIT
// Light and dark follow the reader's system until the button is pressed: the theme keeps for ever what it finds first.
if (!__md_get("chosen")) localStorage.removeItem(__md_scope.pathname + ".__palette");
addEventListener("change", (event) => { if (event.target.name === "__palette") __md_set("chosen", true); });

// Search in pages that are opened as files, where a browser neither fetches the index nor starts a worker from a file: build.py
// puts the worker's text here in the place of WORKER, and writes search/index.js, which calls __search.found(INDEX).
if (location.protocol === "file:") {
  const index = new URL("search/index.js", document.currentScript.src).href;
  const Thread = Worker;
  window.Worker = function () { return new Thread(URL.createObjectURL(new Blob([WORKER]))); };
  window.__search = {};
  __search.index = new Promise((found) => { __search.found = found; });
  addEventListener("DOMContentLoaded", () => document.body.append(Object.assign(document.createElement("script"), { src: index })));
}
