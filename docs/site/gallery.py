# SPDX-License-Identifier: MIT
"""The gallery: reports that the program makes of scenarios of this tree, which open live, each with a picture of its first
screen where a Chromium is installed. gallery.json lists them."""
import html
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from page import Page

PICTURE = (1200, 800)


def shown(entry):
    words = [f"'{word}'" if "{" in word else word for word in entry["arguments"]]
    return " ".join(["collwire", entry["command"], *words])


def run(root, program, entry, folder):
    """The report of an entry, as a file."""
    command = [program, entry["command"], *entry["arguments"], "--out", folder, "--quiet"]
    for words in (command, [program, "report", folder]):
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"site: {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stderr}")
    return pathlib.Path(folder) / "report.html"


def photograph(root, out, entries):
    """A picture of the first screen of each report; False where there is no Chromium."""
    sys.path.insert(0, str(root / "tests" / "report"))
    from browser import Browser, find_browser  # pylint: disable=import-outside-toplevel
    if not find_browser():
        return False
    with Browser(*PICTURE) as browser:
        browser.scheme("light")
        for entry in entries:
            browser.open(str(out / f"{entry['name']}.html"))
            browser.run("document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))")
            browser.picture(str(out / f"{entry['name']}.png"))
    return True


def page(root, program, out, pictures=True):
    entries = json.loads((pathlib.Path(__file__).parent / "gallery.json").read_text())
    folder = out / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for entry in entries:
        with tempfile.TemporaryDirectory() as work:
            # The folder's name is in the page, so it is the same wherever the site is made.
            shutil.copy(run(root, program, entry, f"{work}/{entry['name']}"), folder / f"{entry['name']}.html")
    has_pictures = pictures and photograph(root, folder, entries)
    figures, sections = [], []
    for entry in entries:
        name, title, text = entry["name"], html.escape(entry["title"]), html.escape(entry["text"])
        picture = f'<a href="{name}.html"><img src="{name}.png" width="{PICTURE[0]}" height="{PICTURE[1]}" alt="The report: {title}" loading="lazy"></a>'
        figures.append(f'<figure id="{name}">{picture if has_pictures else ""}<figcaption><a href="{name}.html"><b>{title}</b></a>'
                       f"<p>{text}</p><pre><code>{html.escape(shown(entry))}</code></pre></figcaption></figure>")
        sections.append((name, entry["title"], f"{entry['text']} {shown(entry)}"))
    body = ('<h1 id="top">Gallery of reports</h1><p>Each picture opens the page that the command below it writes '
            "(<code>report.html</code>, one file, no server): its charts can be searched, sorted and saved.</p>"
            f'<div class="gallery">{"".join(figures)}</div>')
    return Page("gallery/index.html", "Gallery of reports", body, [], [("", "Gallery of reports", "reports charts examples"), *sections], wide=True)
