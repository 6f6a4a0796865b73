# SPDX-License-Identifier: MIT
"""The site: the same bytes twice, no dead link or anchor, nothing loaded from elsewhere, complete references; and in a headless
Chromium no error on any page, words that the search finds, dark pages, and pages as wide as a phone.

usage: check_site.py SOURCE_DIR BUILD_DIR WORK_DIR quick      one build, its links and references
       check_site.py SOURCE_DIR BUILD_DIR WORK_DIR static
       check_site.py SOURCE_DIR BUILD_DIR WORK_DIR browser     skipped (77) without Chromium
"""
import filecmp
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

WORDS = {  # what a reader types -> a page that has to be among the first results
    "dcqcn": "reference/cc.html", "incast": "docs/incasts.html", "nccl": "docs/nccl.html", "wireshark": "docs/wireshark.html",
    "ultra ethernet": "docs/uec.html", "sweep": "docs/sweeps.html",
    "collwire_sim_run": "api/c/collwire.html", "ScenarioError": "api/python/index.html", "memory of a GPU": "docs/memory.html",
    "switch.buffer": "docs/sweeps.html", "glossary": "docs/glossary.html"}
FIRST_RESULTS = 8
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)


class Reader(html.parser.HTMLParser):
    """The anchors of a page, its links, what it loads, and its text."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.text, self.closed = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        words = dict(attrs)
        if "id" in words:
            self.ids.append(words["id"])
        if tag == "a" and words.get("href"):
            self.links.append(words["href"])
        for name in ("src", "srcset", "poster", "data"):
            if name in words:
                self.loaded.append(words[name])
        if tag == "link":
            self.loaded.append(words["href"])
        if "style" in words and "url(" in words["style"]:
            self.loaded.append(words["style"])

    def handle_data(self, data):
        self.text.append(data)


def build(source, program, out, *options, seed="0"):
    done = subprocess.run([sys.executable, "-B", source / "docs" / "site" / "build.py", *options, source, program, out], check=False,
                          env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True)
    return done


def made(source, program, out, *options, seed="0"):
    done = build(source, program, out, *options, seed=seed)
    if done.returncode != 0:
        sys.exit(f"build.py ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def check_same(one, two):
    expect(files(one) == files(two), "two builds have different files")
    _, different, errors = filecmp.cmpfiles(one, two, files(one), shallow=False)
    expect(not different and not errors, f"two builds differ in {different[:5]}{errors[:5]}")


def read_pages(site):
    return {name: Reader((site / name).read_text()) for name in files(site)
            if name.endswith(".html") and (name == "gallery/index.html" or not name.startswith("gallery/"))}


def check_links(site, pages):
    for name, page in pages.items():
        doubled = {one for one in page.ids if page.ids.count(one) > 1}
        expect(not doubled, f"{name}: anchors {sorted(doubled)[:3]} stand twice")
        for target in page.loaded:
            expect(target == "data:," or (not re.match(r"[a-z]+:|//", target) and (site / name).parent.joinpath(target).exists()),
                   f"{name} loads {target}, which is elsewhere or not there")
        for target in page.links:
            if re.match(r"(https?|mailto):", target):
                continue
            path, _, anchor = target.partition("#")
            file = ((site / name).parent / urllib.parse.unquote(path)).resolve() if path else (site / name).resolve()
            expect(file.is_file(), f"{name}: {target} leads to nothing")
            place = file.relative_to(site.resolve()).as_posix() if file.is_file() else ""
            if anchor and place in pages:
                expect(urllib.parse.unquote(anchor) in pages[place].ids, f"{name}: {target}: {place} has no such anchor")
    for name in files(site):
        if name.endswith(".css"):
            expect(not re.search(r"@import|url\((?![\"']?data:)", (site / name).read_text()), f"{name} loads something from elsewhere")


def check_documents(source, pages):
    """Every page of docs/ is there and in the list of pages, new ones too."""
    listed = set(pages["index.html"].links)
    for file in sorted((source / "docs").rglob("*.md")):
        path = file.relative_to(source).as_posix()
        place = path.removesuffix("README.md") + "index.html" if path.endswith("README.md") else path.removesuffix(".md") + ".html"
        expect(place in pages, f"{path} has no page")
        expect(place in listed, f"{path} is not in the list of pages")
        title = re.search(r"^# (.+)$", file.read_text(), re.M)
        if title and place in pages:
            words = "".join(pages[place].text)
            expect(title[1].replace("`", "").strip() in words, f"{place} has not the title {title[1]}")


def check_c(source, program, pages):
    ids = {one for name, page in pages.items() if name.startswith("api/c/") for one in page.ids}
    library = program / "library" / "libcollwire.so"
    if library.exists():
        symbols = re.findall(r" T (collwire_\w+)", subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout)
        expect(len(symbols) > 30, f"only {len(symbols)} functions in {library}")
        missing = [name for name in symbols if name not in ids]
        expect(not missing, f"functions of the library without an entry: {missing}")
    for header in sorted((source / "include" / "collwire").glob("*.h")):
        text = header.read_text()
        names = [f"{kind}-{name}" for kind, name in re.findall(r"^(struct|enum) (\w+)(?: \{|;)", text, re.M)]
        names += [name.lower() for name in re.findall(r"^#define (\w+)", text, re.M) if name not in ("COLLWIRE_API", "CC_HELPER")]
        names += re.findall(r"^static inline [^\n(]*?(\w+)\(", text, re.M)
        missing = [name for name in names if name not in ids]
        expect(not missing, f"{header.name}: without an entry: {missing}")


def keys_of(node):
    """The names of all properties of a JSON Schema."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "properties":
                yield from value
            yield from keys_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from keys_of(value)


def check_references(source, program, pages):
    words = set(re.findall(r"[\w$]+", " ".join(text for name, page in pages.items() if name.startswith("reference/") for text in page.text)))
    missing = sorted({name for name in keys_of(json.loads((source / "scenarios" / "schema.json").read_text())) if name not in words})
    expect(not missing, f"keys of the schema without an entry: {missing[:10]}")
    overview = subprocess.run([program / "collwire", "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  ([a-z]+) +\S", overview, re.M)
    expect(len(commands) > 10, "no commands in the overview")
    for name in commands:
        expect(f"commands/{name}.html" in pages, f"the command {name} has no page")
    catalogue = subprocess.run([program / "collwire", "list"], capture_output=True, text=True, check=True).stdout
    for part in re.split(r"\n\n", catalogue):
        category = part.partition(":")[0].strip()
        for entry in re.findall(r"^  (\S+)(?:  |$)", part, re.M):
            anchor = re.sub(r"[^\w-]", "", entry.lower())
            expect(anchor in pages[f"reference/{category}.html"].ids, f"{category} {entry} has no entry")
    package = program / "python" / "collwire" / "__init__.py"
    if package.exists():
        names = re.findall(r'"(\w+)"', re.search(r"__all__ = \[(.*?)\]", package.read_text(), re.S)[1])
        missing = [name for name in names if name not in pages["api/python/index.html"].ids]
        expect(not missing, f"Python: without an entry: {missing}")


def check_refusal(source, program, work):
    """A page with a dead link is refused, and the earlier site stays; a new page needs no other change."""
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for path in source.iterdir():
        if path.name != "docs" and not path.name.startswith((".", "build")):
            (tree / path.name).symlink_to(path)
    shutil.copytree(source / "docs", tree / "docs")
    (tree / "docs" / "zz-new.md").write_text("# A new page\n\nSee [switches](switches.md).\n\n## Two\n\n## Two\n")
    made(tree, program, work / "new", "--no-gallery")
    pages = read_pages(work / "new")
    check_links(work / "new", pages)
    check_documents(tree, pages)
    expect("two_1" in pages["docs/zz-new.html"].ids, "the second heading of a name has no anchor of its own")
    before = files(work / "new")
    (tree / "docs" / "zz-new.md").write_text("# A new page\n\n[nothing](no-such-page.md)\n")
    done = build(tree, program, work / "new", "--no-gallery")
    expect(done.returncode != 0 and "docs/zz-new.md: no-such-page.md leads to nothing" in done.stderr, f"a dead link is taken: {done.stderr}")
    expect(files(work / "new") == before, "a build that failed has changed the site")
    page = work / "new" / "docs" / "zz-new.html"
    page.write_text(page.read_text().replace('href="switches.html"', 'href="switches.html#no-such-part"'))
    count = len(failures)
    check_links(work / "new", read_pages(work / "new"))
    found = failures[count:]
    del failures[count:]
    expect(any("no-such-part" in text for text in found), "this test does not find a dead anchor")


def static(source, program, work, quick):
    made(source, program, work / "one", "--no-gallery", seed="1")
    if not quick:
        made(source, program, work / "two", "--no-gallery", seed="2")
        check_same(work / "one", work / "two")
    pages = read_pages(work / "one")
    check_links(work / "one", pages)
    check_documents(source, pages)
    check_c(source, program, pages)
    check_references(source, program, pages)
    if not quick:
        check_refusal(source, program, work)
    return f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links"


# ---- in a browser ----

COLOUR = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(46, 48, 62)"
BUTTON = "[...document.querySelectorAll('[data-md-component=palette] label')].find((label) => !label.hidden).click()"
LIST = "document.querySelector('.md-sidebar--primary').getBoundingClientRect().right"


def check_page(browser, site, name):
    browser.open(str(site / name))
    wide = browser.run("document.documentElement.scrollWidth - window.innerWidth")
    expect(wide <= 0, f"{name}: {wide} px wider than a phone")
    dark = browser.run(COLOUR)
    expect(dark == DARK, f"{name}: {dark} on a dark page")
    expect(not browser.errors, f"{name}: {browser.errors[:2]}")
    browser.errors.clear()


def search(browser, words):
    browser.run(f"var field = document.querySelector('.md-search__input'); field.focus(); field.value = {json.dumps(words)}; field.dispatchEvent(new Event('keyup'))")


def check_search(browser, site):
    browser.resize(1400, 900)
    browser.open(str(site / "docs" / "uec.html"))
    for words, page in WORDS.items():
        search(browser, "zzzqqq")
        browser.wait("document.querySelector('.md-search-result__meta').textContent.includes('No matching') && !document.querySelector('.md-search-result__link')")
        search(browser, words)
        browser.wait("document.querySelector('.md-search-result__link') !== null")
        found = browser.run("[...document.querySelectorAll('.md-search-result__item > .md-search-result__link:first-child')].map((row) => row.pathname)")
        expect(any(row.endswith("/" + page) for row in found[:FIRST_RESULTS]), f"search for {words}: {found[:FIRST_RESULTS]}, not {page}")
    search(browser, "collwire_sim_run")
    browser.wait("document.querySelector('.md-search-result__link[href*=\"#collwire_sim_run\"]') !== null")
    browser.run("document.querySelector('.md-search-result__link[href*=\"#collwire_sim_run\"]').click()")
    browser.wait("location.hash === '#collwire_sim_run' && document.querySelector(':target') !== null")


def check_modes(browser, site):
    browser.resize(1400, 900)
    for scheme, expected in (("light", LIGHT), ("dark", DARK), ("light", LIGHT)):
        browser.scheme(scheme)
        browser.open(str(site / "index.html"))
        browser.wait(f"{COLOUR} === '{expected}'")
    browser.run(BUTTON)
    browser.wait(f"{COLOUR} === '{DARK}'")
    browser.open(str(site / "docs" / "index.html"))
    expect(browser.run(COLOUR) == DARK, "the next page forgets the choice")
    browser.run(BUTTON)
    browser.call("Emulation.setEmulatedMedia", media="print")
    shown = browser.run("['.md-header', '.md-sidebar'].filter((part) => getComputedStyle(document.querySelector(part)).display !== 'none')")
    expect(not shown, f"on paper there are {shown}")
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.resize(390, 844)
    browser.open(str(site / "docs" / "uec.html"))
    expect(browser.run(LIST) <= 0, "the list of pages covers a phone")
    browser.run("document.querySelector('.md-header label[for=__drawer]').click()")
    browser.wait(f"{LIST} > 200")


def check_gallery(browser, site):
    browser.resize(1200, 800)
    browser.open(str(site / "gallery" / "index.html"))
    reports = browser.run("[...document.querySelectorAll('h2 > a:first-child')].map((row) => row.getAttribute('href'))")
    expect(5 <= len(reports) <= 12, f"{len(reports)} reports in the gallery")
    pictures = browser.run("Promise.all([...document.querySelectorAll('article img')].map((image) => { image.loading = 'eager'; return image.decode().then(() => image.naturalWidth); }))")
    expect(len(pictures) == len(reports) and all(width > 600 for width in pictures), f"pictures of the gallery: {pictures}")
    for report in reports:
        browser.open(str(site / "gallery" / report))
        expect(browser.run("document.querySelectorAll('main svg').length > 0"), f"{report} has no chart")
        expect(not browser.errors, f"{report}: {browser.errors[:2]}")
        browser.errors.clear()


def in_browser(source, program, work):
    sys.path.insert(0, str(source / "tests" / "report"))
    from browser import Browser, find_browser  # pylint: disable=import-outside-toplevel
    if not find_browser():
        print("skipped: Chromium is not installed")
        sys.exit(77)
    site = work / "site"
    made(source, program, site)
    pages = read_pages(site)
    check_links(site, pages)
    with Browser(390, 844) as browser:
        browser.scheme("dark")
        for name in pages:
            check_page(browser, site, name)
        check_search(browser, site)
        check_modes(browser, site)
        check_gallery(browser, site)
        outside = sorted({url for url in browser.requests if not url.startswith(("file:", "data:", "about:", "blob:"))})
        expect(not outside, f"requests: {outside[:5]}")
        expect(not browser.errors, f"{browser.errors[:3]}")
    return f"{len(pages)} pages"


def main():
    source, program, work = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    work.mkdir(parents=True, exist_ok=True)
    said = static(source, program, work, sys.argv[4] == "quick") if sys.argv[4] != "browser" else in_browser(source, program, work)
    for text in failures[:40]:
        print("FAILED:", text)
    print(f"{said}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
