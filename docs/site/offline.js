// SPDX-License-Identifier: MIT
// Search in pages that are opened as files, where a browser neither fetches the index nor starts a worker: both come by <script>.
// build.py puts the worker's text in the place of WORKER, and writes index.js beside this file, which calls __search.found(INDEX).
if (location.protocol === "file:") {
  const place = document.currentScript.src.replace(/[^/]*$/, "");
  const Thread = Worker;
  window.Worker = function () { return new Thread(URL.createObjectURL(new Blob([WORKER]))); };
  window.__search = {};
  __search.index = new Promise((found) => { __search.found = found; });
  addEventListener("DOMContentLoaded", () => {
    document.body.append(Object.assign(document.createElement("script"), { src: place + "index.js" }));
  });
}
