// SPDX-License-Identifier: MIT
// The document of the page: what report/page has collected.
export const doc = JSON.parse(document.getElementById("data").textContent);
