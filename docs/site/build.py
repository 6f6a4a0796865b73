# SPDX-License-Identifier: MIT
"""Writes the site: README.md, docs/ and what they link to, the references of commands, keys, C and Python, and a gallery of
reports, as static pages that need no network. The same tree and program give the same bytes.

usage: build.py [--no-gallery | --no-pictures] SOURCE_DIR BUILD_DIR OUTPUT_DIR
"""
import argparse
import pathlib
import re
import shutil
import sys

import c_reference
import catalogue
import gallery
import markdown_page
import navigation
import python_reference
import schema_reference
from documents import Documents
from page import Frame, link, search_script

HERE = pathlib.Path(__file__).resolve().parent
CARDS = [("docs/index.html", "Documentation", "By question: networks, policies, workloads, results."),
         ("gallery/index.html", "Gallery", "Reports of runs, comparisons and sweeps, open in your browser."),
         ("reference/index.html", "Keys and policies", "Every key with unit, default, range and source."),
         ("commands/index.html", "Commands", "The page of each command."),
         ("api/c/collwire.html", "From C", "The library and the contract of policies."),
         ("api/python/index.html", "From Python", "Runs, comparisons, sweeps, tables, policies.")]


def version(root):
    return re.search(r"project\(collwire VERSION (\S+)", (root / "CMakeLists.txt").read_text())[1]


def mentions(documents):
    """Text of the program with `docs/x.md` as a link to that page."""
    def words(text, place):
        def turn(found):
            target = found[0].removesuffix(".md") + ".html"
            return link(place, target, found[0]) if any(page.place == target for page in documents) else found[0]
        return re.sub(r"\bdocs/[\w/-]+\.md", turn, markdown_page.words_html(text))
    return words


def front(page, pages):
    """The cards below the first paragraphs of README.md."""
    there = {other.place for other in pages}
    cards = "".join(f'<a class="card" href="{place}"><b>{name}</b><span>{words}</span></a>' for place, name, words in CARDS if place in there)
    at = page.body.find("<p><img")
    at = page.body.index("<h2") if at < 0 else at
    page.body = f'{page.body[:at]}<div class="cards">{cards}</div>{page.body[at:]}'


def write(root, out, documents, generated):
    pages = documents + generated
    front(next(page for page in documents if page.place == "index.html"), pages)
    groups = navigation.build(root, documents, generated)
    frame = Frame((HERE / "layout.html").read_text(), version(root))
    for page in pages:
        file = out / page.place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(frame.render(page, groups))
    (out / "search-index.js").write_text(search_script(pages))
    for name in ("style.css", "site.js"):
        shutil.copyfile(HERE / name, out / name)
    return pages


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--no-gallery", action="store_true")
    parser.add_argument("--no-pictures", action="store_true")
    parser.add_argument("folders", nargs=3, type=pathlib.Path)
    options = parser.parse_args()
    root, build, final = (folder.resolve() for folder in options.folders)
    out = final.with_name(final.name + ".new")  # a site is replaced whole or not at all
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    documents = Documents(root, out).build()
    keys = catalogue.Catalogue(catalogue.Program(build / "collwire"))
    keys.docs = mentions(documents)
    catalogued = keys.pages()
    known = set(re.findall(r"[\w$]+", " ".join(re.sub(r"<[^>]*>", " ", page.body) for page in catalogued)))
    generated = [*catalogued, schema_reference.page(root, known), *c_reference.pages(root), *python_reference.pages(build)]
    if not options.no_gallery:
        generated.append(gallery.page(root, str(build / "collwire"), out, not options.no_pictures))
    pages = write(root, out, documents, generated)
    shutil.rmtree(final, ignore_errors=True)
    out.rename(final)
    size = sum(file.stat().st_size for file in final.rglob("*") if file.is_file())
    print(f"{final / 'index.html'}: {len(pages)} pages, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    sys.exit(main())
