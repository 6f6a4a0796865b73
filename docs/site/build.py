# SPDX-License-Identifier: MIT
"""Writes the site by mkdocs: README.md, docs/ and what they link to, the references of commands, keys, C and Python, and a
gallery of reports, as static pages that need no network. The same tree and program give the same bytes.

usage: build.py [--no-gallery | --no-pictures] SOURCE_DIR BUILD_DIR OUTPUT_DIR
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import c_reference
import catalogue
import gallery
import python_reference
import schema_reference
from documents import Documents

HERE = pathlib.Path(__file__).resolve().parent


def stage(root, build, folder, options):
    """The pages as Markdown, and the settings of mkdocs."""
    documents = Documents(root, folder / "pages")
    program = str(build / "collwire")
    keys = catalogue.pages(program)
    known = set(re.findall(r"[\w$]+", re.sub(r"<[^>]*>", " ", " ".join(keys.values()).replace("&#95;", "_"))))
    texts = {**keys, "reference/objects.md": schema_reference.page(root, known), **c_reference.pages(root), **python_reference.pages(build)}
    start = [{"What it is": "README.md"}, {"Documentation, by question": "docs/README.md"}]
    if not options.no_gallery:
        texts["gallery/index.md"] = gallery.page(root, program, folder / "pages" / "gallery", not options.no_pictures)
        start.append({"Gallery of reports": "gallery/index.md"})
    for place, text in texts.items():
        (folder / "pages" / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / "pages" / place).write_text(text)
    references = [("Commands", "commands/"), ("Keys, policies, metrics", "reference/"), ("C", "api/c/"), ("Python", "api/python/")]
    references = [{name: [place for place in texts if place.startswith(under)]} for name, under in references]
    version = re.search(r"project\(collwire VERSION (\S+)", (root / "CMakeLists.txt").read_text())[1]
    settings = {"INHERIT": str(HERE / "mkdocs.yml"), "site_name": "collwire", "docs_dir": "pages", "theme": {"custom_dir": str(HERE / "theme")},
                "copyright": f"collwire {version}", "nav": [*start, *({name: paths} for name, paths in documents.groups()), *references]}
    (folder / "mkdocs.yml").write_text(json.dumps(settings, indent=1))


def finish(out):
    """Leaves out what has dates or only serves a site with an address, and makes the search work in files."""
    for name in ("sitemap.xml", "sitemap.xml.gz", "404.html"):
        (out / name).unlink()
    worker = next((out / "assets" / "javascripts" / "workers").glob("search.*.js")).read_text()
    script = out / "site.js"
    script.write_text(script.read_text().replace("[WORKER]", f"[{json.dumps(worker)}]"))
    (out / "search" / "index.js").write_text(f"__search.found({(out / 'search' / 'search_index.json').read_text()});\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--no-gallery", action="store_true")
    parser.add_argument("--no-pictures", action="store_true")
    parser.add_argument("folders", nargs=3, type=pathlib.Path)
    options = parser.parse_args()
    root, build, final = (folder.resolve() for folder in options.folders)
    if not shutil.which("mkdocs"):
        sys.exit("site: there is no mkdocs: sh cmake/setup.sh --site installs it")
    os.environ.pop("COLLWIRE_SHARE", None)  # the charts that stand beside the program
    out, staged = final.with_name(final.name + ".new"), final.with_name(final.name + ".pages")
    for folder in (out, staged):
        shutil.rmtree(folder, ignore_errors=True)
    stage(root, build, staged, options)
    done = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--config-file", staged / "mkdocs.yml", "--site-dir", out], check=False)
    if done.returncode != 0:
        sys.exit("site: mkdocs refuses the pages")
    finish(out)
    shutil.rmtree(final, ignore_errors=True)  # a site is replaced whole or not at all
    out.rename(final)
    shutil.rmtree(staged)
    size = sum(file.stat().st_size for file in final.rglob("*") if file.is_file())
    print(f"{final / 'index.html'}: {len(list(final.rglob('*.html')))} pages, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    sys.exit(main())
