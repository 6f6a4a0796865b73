// SPDX-License-Identifier: MIT
// Bundles the page's program and style into one template: node build.mjs NODE_MODULES OUT.html
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, out] = process.argv.slice(2).map((name) => path.resolve(name));
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

// A function as replacement: "$&" in the program is no pattern.
const script = bundle.outputFiles[0].text
    .replaceAll("</script", "<\\/script")
    .replaceAll("<!--", "<\\!--");
const html = page
    .replace("/*STYLE*/", () => style.code.trim())
    .replace("/*SCRIPT*/", () => script.trim());
await writeFile(out, html);
console.log(`${out}: ${(html.length / 1000).toFixed(0)} KB`);
