// SPDX-License-Identifier: MIT
// Bundles the page's program and style into one template, and the licences of what it contains into one
// text: node build.mjs NODE_MODULES OUT.html LICENCES.txt
import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, out, licences] = process.argv.slice(2).map((name) => path.resolve(name));
const here = path.dirname(new URL(import.meta.url).pathname);
const require = createRequire(path.join(modules, "x.js"));
const { build, transform } = await import(pathToFileURL(require.resolve("esbuild")).href);

const bundle = await build({
    entryPoints: [path.join(here, "src/main.js")],
    nodePaths: [modules],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: ["chrome100", "firefox100", "safari15"],
    charset: "ascii",
    legalComments: "eof",
    logLevel: "warning",
    define: { "process.env.NODE_ENV": '"production"' },
});
const style = await transform(await readFile(path.join(here, "style.css"), "utf8"), {
    loader: "css",
    minify: true,
});
const page = await readFile(path.join(here, "page.html"), "utf8");

// The digest of all sources, by which tests/report/check_template.py finds a template that is older.
const files = ["build.mjs", "package-lock.json", "package.json", "page.html", "style.css"];
for (const name of (await readdir(path.join(here, "src"))).sort()) files.push(`src/${name}`);
const digest = createHash("sha256");
for (const name of files) {
    const content = await readFile(path.join(here, name));
    digest.update(`${name} ${content.length}\n`).update(content);
}

// A function as replacement: "$&" in the program is no pattern.
const script = bundle.outputFiles[0].text
    .replaceAll("</script", "<\\/script")
    .replaceAll("<!--", "<\\!--");
const comment = `<!-- From report/web (SHA-256 ${digest.digest("hex")}), Apache ECharts, zrender and tslib,
     whose licences are in report/web/built/LICENCES.txt. -->`;
const html = page
    .replace("<html", () => `${comment}\n<html`)
    .replace("/*STYLE*/", () => style.code.trim())
    .replace("/*SCRIPT*/", () => script.trim());
await writeFile(out, html);
console.log(`${out}: ${(html.length / 1000).toFixed(0)} KB`);

const texts = ["echarts/NOTICE", "echarts/LICENSE", "echarts/licenses/LICENSE-d3", "zrender/LICENSE",
    "tslib/LICENSE.txt"];
const parts = [];
for (const name of texts) {
    const text = (await readFile(path.join(modules, name), "utf8")).replaceAll("\r", "");
    parts.push(`==== ${name}\n\n${text.trim()}\n`);
}
await writeFile(licences, `report-template.html contains parts of these packages.\n\n${parts.join("\n")}`);
