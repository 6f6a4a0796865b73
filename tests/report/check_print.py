#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports on paper: no heading stands alone at the end of a page, no table is cut at the margin, and no row is split.

Texts of the page are wrapped in links before it is printed: a PDF has the rectangle of each link, by page, as plain text, so
that no reader of PDF is needed. Skipped where no Chromium is installed.

usage: check_print.py SCENARIOS
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, find_browser

os.environ.pop("COLLWIRE_SHARE", None)  # the charts of this build
COLLWIRE = os.environ["COLLWIRE"]
POLICIES = "none,swift,hpcc,dcqcn,timely,dctcp,powertcp"
MARGIN = 15 / 25.4 * 72  # points: 15 mm, as style.css says
ROOM = 40  # points that must be left below a heading: two lines, or the upper part of a chart

# Links around all texts that the check looks at: ROLE/NUMBER of the section/NUMBER of the part. What stands for a chart is its caption.
MARK = """(() => {
    dispatchEvent(new Event('beforeprint')); // opens the tables that are printed
    const wrap = (e, role, ...numbers) => {
        const a = document.createElement('a');
        a.href = `http://mark/${[role, ...numbers].join('/')}`;
        a.append(...e.childNodes);
        e.append(a);
    };
    let [cells, row, table] = [0, 0, 0];
    document.querySelectorAll('main > section').forEach((section, s) => {
        for (const e of section.querySelectorAll('h2, h3')) wrap(e, e.tagName.toLowerCase(), s);
        for (const e of section.querySelectorAll('p, figcaption, li, dt')) wrap(e, e.tagName.toLowerCase(), s);
        for (const t of section.querySelectorAll('table')) {
            if (t.closest('details:not([open])')) continue; // not printed
            wrap(t.caption, 'caption', s, ++table);
            for (const r of t.rows) {
                row++;
                for (const cell of r.cells) if (cell.textContent) wrap(cell, 'cell', s, table, row, ++cells);
            }
        }
    });
    return cells;
})()"""

Mark = collections.namedtuple("Mark", "page role numbers left low right high")
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def pages_of(objects, number):
    """Numbers of the objects of pages, in order."""
    kids = re.search(rb"/Kids \[(.*?)\]", objects[number], re.S)
    if not kids:
        return [number]
    return [page for kid in re.findall(rb"(\d+) 0 R", kids[1]) for page in pages_of(objects, int(kid))]


def marks_of(path):
    """The rectangles of all marks, in points from the lower left corner; and the width of the paper."""
    with open(path, "rb") as file:
        objects = {int(m[1]): m[2] for m in re.finditer(rb"(\d+) 0 obj\n(.*?)\nendobj", file.read(), re.S)}
    root = next(n for n, text in objects.items() if b"/Type /Catalog" in text)
    tree = int(re.search(rb"/Pages (\d+) 0 R", objects[root])[1])
    marks, width = [], 0
    for page, number in enumerate(pages_of(objects, tree), 1):
        width = float(re.search(rb"/MediaBox \[0 0 ([\d.]+)", objects[number])[1])
        found = re.search(rb"/Annots \[(.*?)\]", objects[number], re.S)
        for one in re.findall(rb"(\d+) 0 R", found[1] if found else b""):
            text = objects[int(one)]
            uri = re.search(rb"/URI \(http://mark/(\w+)/([\d/]+)\)", text)
            if not uri:
                continue
            left, low, right, high = map(float, re.search(rb"/Rect \[([-\d. ]+)\]", text)[1].split())
            marks.append(Mark(page, uri[1].decode(), tuple(map(int, uri[2].split(b"/"))), left, low, right, high))
    return marks, width


def check_headings(what, marks):
    """Below each heading and caption stands what it is for, on the same page."""
    content = ("figcaption", "li", "dt", "cell")
    for section in sorted({m.numbers[0] for m in marks}):
        own = [m for m in marks if m.numbers[0] == section]
        for head in (m for m in own if m.role in ("h2", "h3", "figcaption", "caption")):
            expect(head.low - MARGIN >= (ROOM if head.role != "caption" else 8), f"{what}: {head} at the end of page {head.page}")
        for head in (m for m in own if m.role in ("h2", "h3", "p")):
            after = [m for m in own if (m.page, -m.high) > (head.page, -head.high) and m.role in content]
            below = [m for m in after if m.page == head.page]
            expect(below or not after, f"{what}: {head} is on page {head.page}, what it is for on the next one")


def check_tables(what, marks, width):
    cells = [m for m in marks if m.role == "cell"]
    for cell in cells: # what is cut ends at the margin; what is not has the cell's padding before it
        expect(MARGIN <= cell.left and cell.right < width - MARGIN - 1, f"{what}: a cell is cut: {cell}")
    pages = collections.defaultdict(set)
    for cell in cells:
        pages[cell.numbers[:3]].add(cell.page)
    expect(all(len(of) == 1 for of in pages.values()), f"{what}: rows on two pages")
    # of tables beside each other none reaches into the next one
    for a in cells:
        for b in cells:
            if a.page == b.page and a.numbers[1] < b.numbers[1] and a.low < b.high - 1 and b.low < a.high - 1:
                expect(a.right <= b.left + 1 or b.right <= a.left + 1, f"{what}: {a} is upon {b}")


def check(browser, what, folder):
    pdf = os.path.join(folder, "report.pdf")
    browser.scheme("light")
    browser.open(os.path.join(folder, "report.html"))
    cells = browser.run(MARK)
    browser.pdf(pdf)
    marks, width = marks_of(pdf)
    roles = collections.Counter(m.role for m in marks)
    drawn = len({m.numbers[3] for m in marks if m.role == "cell"})
    expect(roles["h2"] >= 5 and roles["figcaption"] >= 5 and cells > 100, f"{what}: marks {roles}, {cells} cells")
    expect(drawn == cells, f"{what}: {drawn} of {cells} cells are on paper")
    check_headings(what, marks)
    check_tables(what, marks, width)
    print(f"{what}: {max(m.page for m in marks)} pages, {cells} cells of tables")
    expect(browser.errors == [], f"{what}: {browser.errors}")


def main():
    if not find_browser():
        print("no Chromium: skipped")
        return 77
    scenarios = os.path.abspath(sys.argv[1])
    def collwire(*words):
        subprocess.run([COLLWIRE, *words, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as tmp:
        run, seeds = os.path.join(tmp, "run"), os.path.join(tmp, "seeds")
        start = os.path.join(scenarios, "start")
        collwire("run", os.path.join(start, "dlrm.json"), "--set", "workload.iterations=3", "--out", run)
        subprocess.run([COLLWIRE, "report", run], check=True, stdout=subprocess.DEVNULL)
        collwire("compare", os.path.join(start, "allreduce-2d.json"), "--cc", POLICIES, "--set", "workload.bytes=4MB", "--seeds", "5",
                 "--set", 'noise={"preset":"cluster"}', "--out", seeds)
        with Browser() as browser:
            for what, folder in {"run": run, "seeds": seeds}.items():
                check(browser, what, folder)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
