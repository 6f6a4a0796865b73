// SPDX-License-Identifier: MIT
// Bundles the page's program and style into one template, the program that draws one chart without a page, and the
// licences of what both contain into one text: node build.mjs NODE_MODULES FOLDER
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, out] = process.argv.slice(2).map((name) => path.resolve(name));
const here = path.dirname(new URL(import.meta.url).pathname);
const require = createRequire(path.join(modules, "x.js"));
const { build, transform } = await import(pathToFileURL(require.resolve("esbuild")).href);
const typescript = require("typescript");

// The digest of all sources, by which tests/report/check_template.py finds built files that are older.
const files = ["build.mjs", "package-lock.json", "package.json", "page.html", "style.css"];
for (const folder of ["src", "src/plot"])
    for (const name of await readdir(path.join(here, folder))) files.push(`${folder}/${name}`);
const digest = createHash("sha256");
for (const name of files.filter((one) => one !== "src/plot").sort()) {
    const content = await readFile(path.join(here, name));
    digest.update(`${name} ${content.length}\n`).update(content);
}
const about = `From report/web (SHA-256 ${digest.digest("hex")}), Apache ECharts, zrender and tslib,
     whose licences are in report/web/built/LICENCES.txt.`;

async function bundle(entry, options) {
    const made = await build({
        entryPoints: [path.join(here, "src", entry)],
        nodePaths: [modules],
        bundle: true,
        write: false,
        format: "iife",
        logLevel: "warning",
        ...options,
        define: { "process.env.NODE_ENV": '"production"', ...options.define },
    });
    return made.outputFiles[0].text;
}

async function save(name, text) {
    await writeFile(path.join(out, name), text);
    console.log(`${name}: ${(text.length / 1000).toFixed(0)} KB`);
}

// ---- the page ----

const script = await bundle("main.js", {
    minify: true,
    target: ["chrome100", "firefox100", "safari15"],
    charset: "ascii",
    legalComments: "eof",
});
const sheet = await readFile(path.join(here, "style.css"), "utf8");
const style = await transform(sheet, { loader: "css", minify: true });
const page = await readFile(path.join(here, "page.html"), "utf8");
// Functions as replacements: "$&" in the program is no pattern.
await save(
    "report-template.html",
    page
        .replace("<html", () => `<!-- ${about} -->\n<html`)
        .replace("/*STYLE*/", () => style.code.trim())
        .replace("/*SCRIPT*/", () =>
            script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--").trim(),
        ),
);

// ---- one chart without a page ----

// The variables of style.css under a selector that are colours.
function colours(selector) {
    const [, block] = sheet.split(`${selector} {`);
    const found = block.slice(0, block.indexOf("}")).matchAll(/--([a-z0-9-]+): *([^;]+);/g);
    return Object.fromEntries([...found].map(([, name, value]) => [name, value]));
}

// A file in src/plot stands for the one of the same name in src, which needs a page.
const withoutPage = {
    name: "without-page",
    setup: ({ onResolve }) =>
        onResolve({ filter: /^\.\.?\/[a-z0-9-]+\.js$/ }, ({ path: name, resolveDir }) => {
            const other = path.join(here, "src/plot", path.basename(name));
            return resolveDir.startsWith(path.join(here, "src")) && existsSync(other) ? { path: other } : undefined;
        }),
};
const modern = await bundle("plot/main.js", {
    target: "es2020",
    globalName: "collwire",
    footer: { js: "collwire.result;" }, // what the program evaluates to
    legalComments: "none",
    define: { PAPER_COLOURS: JSON.stringify({ ...colours(":root"), ...colours(':root[data-theme="paper"]') }) },
    plugins: [withoutPage],
});
const older = typescript.transpileModule(modern, {
    compilerOptions: { target: typescript.ScriptTarget.ES5, downlevelIteration: true, removeComments: true },
});
// minifySyntax would move declarations into heads of loops, where Duktape takes no operator `in`.
const small = await transform(older.outputText, {
    target: "es5",
    minifyWhitespace: true,
    minifyIdentifiers: true,
    charset: "ascii",
});
await save("report-plot.js", `/* ${about} */\n${small.code.trim()}\n`);

// ---- licences ----

const texts = ["echarts/NOTICE", "echarts/LICENSE", "echarts/licenses/LICENSE-d3", "zrender/LICENSE",
    "tslib/LICENSE.txt"];
const parts = [];
for (const name of texts) {
    const text = (await readFile(path.join(modules, name), "utf8")).replaceAll("\r", "");
    parts.push(`==== ${name}\n\n${text.trim()}\n`);
}
const both = "report-template.html and report-plot.js contain parts of these packages.";
await writeFile(path.join(out, "LICENCES.txt"), `${both}\n\n${parts.join("\n")}`);
