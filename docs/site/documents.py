# SPDX-License-Identifier: MIT
"""The pages of Markdown: README.md, docs/ and all that they link to. A link to a source file leads to a page with its text,
one to a folder to a list of its files; a link to nothing is an error."""
import html
import pathlib
import posixpath
import shutil
import sys

import markdown_page
from page import Page, link, relative

PICTURES = {".png", ".svg", ".jpg", ".gif"}
LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".json": "json", ".sh": "sh", ".xml": "xml"}
LARGEST = 300_000  # bytes of a source that is shown


def site_place(path):
    """Where a file of the tree is on the site."""
    if path == "README.md":
        return "index.html"
    if path.endswith("README.md"):
        return path.removesuffix("README.md") + "index.html"
    if path.endswith(".md"):
        return path.removesuffix(".md") + ".html"
    return path if pathlib.PurePosixPath(path).suffix in PICTURES else path + ".html"


class Documents:
    def __init__(self, root, out):
        self.root, self.out = root, out
        self.waiting, self.pages, self.errors = [], {}, []

    def add(self, path):
        """Note that the site needs a file of the tree; returns its place."""
        if (self.root / path).is_dir():
            readme = posixpath.join(path, "README.md")
            if (self.root / readme).exists():
                return self.add(readme)
            place = f"{path}/index.html"
        else:
            place = site_place(path)
        if place not in self.pages:
            self.pages[place] = None
            self.waiting.append((path, place))
        return place

    def link(self, source, target):
        """The address on the site of a link of a file of the tree."""
        if target.startswith(("https://", "http://", "mailto:", "#")):
            return target
        name, mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
        if path.startswith("..") or not (self.root / path).exists():
            self.errors.append(f"{source}: {target} leads to nothing")
            return target
        return relative(site_place(source), self.add(path)) + mark + anchor

    def markdown(self, path, place):
        document = markdown_page.Document((self.root / path).read_text(), lambda target: self.link(path, target))
        title = "collwire" if path == "README.md" else document.title or path
        return Page(place, title, document.body, document.headings, document.sections)

    def source(self, path, place):
        file = self.root / path
        if file.stat().st_size > LARGEST:
            sys.exit(f"site: {path} is linked to, and too large to be shown")
        text = file.read_text()
        body = f'<h1 id="top"><code>{html.escape(path)}</code></h1>{markdown_page.code_html(text, LANGUAGES.get(file.suffix, ""))}'
        return Page(place, path, body, [], [("", path, "")], "reference", wide=True)

    def folder(self, path, place):
        names = sorted(item.name for item in (self.root / path).iterdir() if item.is_file() and not item.name.startswith("."))
        rows = "".join(f"<li>{link(place, self.add(posixpath.join(path, name)), name)}</li>" for name in names)
        return Page(place, path, f'<h1 id="top"><code>{html.escape(path)}</code></h1><ul>{rows}</ul>', [], [("", path, " ".join(names))], "reference")

    def build(self):
        """All pages, from README.md and docs/ on."""
        self.add("README.md")
        for file in sorted((self.root / "docs").rglob("*.md")):
            self.add(file.relative_to(self.root).as_posix())
        for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
            if (self.root / name).exists():
                self.add(name)
        while self.waiting:
            path, place = self.waiting.pop(0)
            if (self.root / path).is_dir():
                self.pages[place] = self.folder(path, place)
            elif path.endswith(".md"):
                self.pages[place] = self.markdown(path, place)
            elif pathlib.PurePosixPath(path).suffix in PICTURES:
                (self.out / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.root / path, self.out / place)
                del self.pages[place]
                self.pages[place] = "copied"
            else:
                self.pages[place] = self.source(path, place)
        if self.errors:
            sys.exit("site: " + "\n      ".join(sorted(set(self.errors))))
        return [page for page in self.pages.values() if page != "copied"]
