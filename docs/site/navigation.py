# SPDX-License-Identifier: MIT
"""The list of pages: the groups and questions of docs/README.md, then the pages of docs/ that it does not name, and the reference."""
import posixpath
import re

from documents import site_place

LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+)(#[^)]*)?\)")


def groups(text, link):
    """[(group, [(question or None, [(place, text)])])] of the second-level headings of docs/README.md. A row of a table is a
    question; links in other text have none. A page is listed where it is named first."""
    found, seen = [], set()
    for block in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, body = block.partition("\n")
        rows, loose = [], []
        for line in body.split("\n"):
            links = [(link(target), words) for words, target, _ in LINK.findall(line) if target.endswith(".md")]
            links = [(place, words) for place, words in links if not (place in seen or seen.add(place))]
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
            if links and len(cells) > 1 and not LINK.search(cells[0]):
                rows.append((cells[0], links))
            else:
                loose += links
        if loose:
            rows.append((None, loose))
        if rows:
            found.append((title.strip(), rows))
    return found


def reference(pages):
    """The groups of the generated pages, as far as there are any."""
    places = {page.place: page.title for page in pages}

    def under(folder, text):
        return [(place, text(title)) for place, title in places.items() if place.startswith(folder)]
    commands = under("commands/", lambda title: title.removeprefix("collwire "))
    keys = under("reference/", lambda title: title.removeprefix("Reference: "))
    c, python = under("api/c/", lambda title: title), under("api/python/", lambda title: title.removeprefix("Python: "))
    rows = [("Commands", commands), ("Keys of scenarios, policies, metrics", keys), ("C", c), ("Python", python)]
    return [(label, sorted(links, key=lambda entry: not entry[0].endswith("index.html"))) for label, links in rows if links]


def build(root, documents, generated):
    """`documents`: pages of Markdown; `generated`: all others."""
    readme = root / "docs" / "README.md"

    def link(target):
        return site_place(posixpath.normpath(posixpath.join("docs", target)))
    found = groups(readme.read_text(), link)
    named = {place for _, rows in found for _, links in rows for place, _ in links}
    start = [("index.html", "What it is"), ("docs/index.html", "Documentation, by question"), ("gallery/index.html", "Gallery of reports")]
    start = [entry for entry in start if any(page.place == entry[0] for page in documents + generated)]
    named |= {place for place, _ in start}
    others = [(page.place, page.title) for page in documents if page.place.startswith("docs/") and page.place not in named]
    project = [(name, text) for name, text in (("CHANGELOG.html", "Changelog"), ("CONTRIBUTING.html", "Contributing"))
               if name not in named and any(page.place == name for page in documents)]
    more = [(None, sorted(others) + project)] if others or project else []
    return [("Start", [(None, start)]), *found, *([("More pages", more)] if more else []), ("Reference", reference(generated))]
