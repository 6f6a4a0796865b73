# SPDX-License-Identifier: MIT
"""A page of the site: its place, its words, and the frame around them."""
import html
import json
import os
import string
from dataclasses import dataclass, field


@dataclass
class Page:
    place: str                                    # "docs/uec.html", below the site's folder
    title: str
    body: str                                     # HTML inside of <main>
    headings: list = field(default_factory=list)  # (level, anchor, title)
    sections: list = field(default_factory=list)  # (anchor, title, text), for the search
    kind: str = "page"                            # "page" or "reference": the search lists pages first
    wide: bool = False                            # tables that need the whole width


def relative(place, target):
    """The address of a place of the site, seen from another one."""
    target, mark, anchor = target.partition("#")
    path = os.path.relpath(target, os.path.dirname(place) or ".") if target else ""
    return path.replace(os.sep, "/") + mark + anchor


def link(place, target, text, **attributes):
    words = "".join(f' {name.rstrip("_")}="{html.escape(value)}"' for name, value in attributes.items())
    return f'<a href="{html.escape(relative(place, target))}"{words}>{html.escape(text, quote=False)}</a>'


def contents_html(page):
    """The list of a page's sections, to the third level."""
    rows = [(level, anchor, title) for level, anchor, title in page.headings if level in (2, 3)]
    if len(rows) < 2:
        return ""
    items = "".join(f'<li class="level{level}"><a href="#{html.escape(anchor)}">{html.escape(title, quote=False)}</a></li>'
                    for level, anchor, title in rows)
    return f'<nav class="contents" aria-label="On this page"><p>On this page</p><ul>{items}</ul></nav>'


def navigation_html(page, navigation):
    """`navigation`: [(group, [(label or None, [(place, text)])])]. The group that has the page is open."""
    parts = []
    for group, rows in navigation:
        here = any(place == page.place for _, links in rows for place, _ in links)
        items = []
        for label, links in rows:
            if label:
                items.append(f'<li class="label">{html.escape(label, quote=False)}</li>')
            for place, text in links:
                current = {"aria_current": "page"} if place == page.place else {}
                words = {name.replace("_", "-"): value for name, value in current.items()}
                items.append(f"<li>{link(page.place, place, text, **words)}</li>")
        parts.append(f'<details{" open" if here else ""}><summary>{html.escape(group, quote=False)}</summary>'
                     f'<ul>{"".join(items)}</ul></details>')
    return "\n".join(parts)


def neighbours_html(page, navigation):
    order = [entry for _, rows in navigation for _, links in rows for entry in links]
    places = [place for place, _ in order]
    if page.place not in places:
        return ""
    at = places.index(page.place)
    parts = []
    if at > 0:
        parts.append(link(page.place, *order[at - 1], rel="prev"))
    if at + 1 < len(order):
        parts.append(link(page.place, *order[at + 1], rel="next"))
    return f'<nav class="neighbours" aria-label="Before and after">{"".join(parts)}</nav>'


class Frame:
    def __init__(self, template, version):
        self.template, self.version = string.Template(template), version

    def render(self, page, navigation):
        root = relative(page.place, ".")
        return self.template.substitute(
            title=html.escape(page.title if page.title == "collwire" else f"{page.title} - collwire", quote=False),
            root="" if root == "." else root + "/",
            version=html.escape(self.version), navigation=navigation_html(page, navigation), body=page.body,
            contents=contents_html(page), neighbours=neighbours_html(page, navigation),
            width="wide" if page.wide else "text")


def search_script(pages):
    """All sections of all pages, for site.js: [place, title of the page, is a reference, [[anchor, title, text], ..]]."""
    entries = [[page.place, page.title, int(page.kind == "reference"),
                [[anchor, title, " ".join(text.split())] for anchor, title, text in page.sections]]
               for page in pages if page.sections]
    return "window.COLLWIRE_SECTIONS = " + json.dumps(entries, ensure_ascii=False, separators=(",", ":")) + ";\n"
