// SPDX-License-Identifier: MIT
// Light or dark, the list of pages on a phone, and the search. No request leaves the site: the sections that are
// searched are a script beside this one, loaded when the field gets the focus for the first time.
"use strict";
(() => {
  const html = document.documentElement;
  const store = {
    get() { try { return localStorage.getItem("collwire-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("collwire-theme", value); } catch { /* private window */ } },
  };
  if (store.get()) html.dataset.theme = store.get();

  const LIMIT = 24, SNIPPET = 150;
  let pages = null, loading = null;

  function load() {
    if (!loading) loading = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = html.dataset.root + "search-index.js";
      script.onload = () => {
        pages = window.COLLWIRE_SECTIONS.map(([place, title, reference, sections]) => ({
          place, title, reference, lower: title.toLowerCase(),
          sections: sections.map(([anchor, name, text]) => ({anchor, name, text, lowerName: name.toLowerCase(), lower: text.toLowerCase()})),
        }));
        resolve();
      };
      script.onerror = reject;
      document.head.append(script);
    });
    return loading;
  }

  const begins = (text, at) => at === 0 || !/[a-z0-9]/.test(text[at - 1]);

  // The points of a word in a text: whole words count more than beginnings, and these more than parts of words.
  function points(text, word) {
    let at = text.indexOf(word), best = 0, count = 0;
    while (at >= 0 && count < 20) {
      const whole = begins(text, at) && !/[a-z0-9]/.test(text[at + word.length] || " ");
      best = Math.max(best, whole ? 3 : begins(text, at) ? 2 : 1);
      count++;
      at = text.indexOf(word, at + word.length);
    }
    return best ? best + Math.log2(1 + count) / 2 : 0;
  }

  function find(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean), found = [];
    if (!words.length) return found;
    for (const page of pages) for (const section of page.sections) {
      let sum = 0;
      for (const word of words) {
        const score = 6 * points(section.lowerName, word) + 4 * points(page.lower, word) + points(section.lower, word);
        if (!score) { sum = 0; break; }
        sum += score;
      }
      if (sum) found.push({page, section, sum: page.reference ? 0.8 * sum : sum});
    }
    return found.sort((a, b) => b.sum - a.sum).slice(0, LIMIT);
  }

  function snippet(section, words) {
    const first = Math.min(...words.map((word) => section.lower.indexOf(word)).filter((at) => at >= 0));
    const from = Number.isFinite(first) ? Math.max(0, first - 40) : 0;
    return (from ? "... " : "") + section.text.slice(from, from + SNIPPET);
  }

  // Text with the words marked, as nodes: names from pages are never taken as HTML.
  function marked(element, text, words) {
    const pattern = new RegExp("(" + words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "gi");
    text.split(pattern).forEach((part, i) => {
      const node = i % 2 ? document.createElement("mark") : document.createTextNode(part);
      if (i % 2) node.textContent = part;
      element.append(node);
    });
  }

  function show(results, query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    results.replaceChildren();
    const found = find(query);
    for (const {page, section} of found) {
      const row = document.createElement("a"), name = document.createElement("b"), text = document.createElement("span");
      row.href = html.dataset.root + page.place + (section.anchor ? "#" + encodeURIComponent(section.anchor) : "");
      row.setAttribute("role", "option");
      marked(name, section.name && section.name !== page.title ? page.title + " \u203a " + section.name : page.title, words);
      marked(text, snippet(section, words), words);
      row.append(name, text);
      results.append(row);
    }
    if (!found.length) results.append(Object.assign(document.createElement("p"), {textContent: "Nothing has all of these words."}));
    results.hidden = false;
  }

  function search() {
    const form = document.getElementById("site-search"), field = document.getElementById("site-query"), results = document.getElementById("site-results");
    const close = () => { results.hidden = true; };
    const update = () => {
      if (!field.value.trim()) { close(); return; }
      load().then(() => show(results, field.value));
    };
    field.addEventListener("focus", load);
    field.addEventListener("input", update);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const first = results.querySelector("a");
      if (first && !results.hidden) location.href = first.href;
    });
    form.addEventListener("keydown", (event) => {
      const rows = [...results.querySelectorAll("a")], at = rows.indexOf(document.activeElement);
      if (event.key === "Escape") { close(); field.blur(); }
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      const next = at + (event.key === "ArrowDown" ? 1 : -1);
      (next < 0 ? field : rows[Math.min(next, rows.length - 1)] || field).focus();
    });
    document.addEventListener("click", (event) => { if (!form.contains(event.target)) close(); });
    results.addEventListener("click", close);
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
      event.preventDefault();
      field.focus();
    });
  }

  function theme() {
    document.getElementById("site-theme").addEventListener("click", () => {
      const dark = html.dataset.theme ? html.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      html.dataset.theme = dark ? "light" : "dark";
      store.set(html.dataset.theme);
    });
  }

  function menu() {
    const button = document.getElementById("site-menu");
    button.addEventListener("click", () => {
      button.setAttribute("aria-expanded", String(document.body.classList.toggle("menu")));
    });
  }

  // The page that is shown, in the list of pages, in sight.
  function place() {
    const list = document.getElementById("site-pages"), here = list.querySelector("[aria-current]");
    if (here && here.offsetTop > list.clientHeight - 60) list.scrollTop = here.offsetTop - list.clientHeight / 2;
  }

  document.addEventListener("DOMContentLoaded", () => { search(); theme(); menu(); place(); });
})();
