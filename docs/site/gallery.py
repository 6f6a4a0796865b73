# SPDX-License-Identifier: MIT
"""The gallery: reports that the program makes of scenarios of this tree, which open live, each with a picture of its first
screen where a Chromium is installed. gallery.json lists them."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from words import fence, plain

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
    """Writes the reports and their pictures into a folder; returns the page."""
    entries = json.loads((pathlib.Path(__file__).parent / "gallery.json").read_text())
    out.mkdir(parents=True)
    for entry in entries:
        with tempfile.TemporaryDirectory() as work:
            # The folder's name is in the page, so it is the same wherever the site is made.
            shutil.copy(run(root, program, entry, f"{work}/{entry['name']}"), out / f"{entry['name']}.html")
    pictures = pictures and photograph(root, out, entries)
    parts = ["# Gallery of reports\n\nEach title opens the page that the command below it writes (`report.html`, one file, no server): its "
             "charts can be searched, sorted and saved.\n"]
    for entry in entries:
        name, title = entry["name"], plain(entry["title"])
        picture = f"[![The report: {title}]({name}.png){{loading=lazy width={PICTURE[0]} height={PICTURE[1]}}}]({name}.html)\n\n" if pictures else ""
        parts.append(f"## [{title}]({name}.html) {{#{name}}}\n\n{picture}{plain(entry['text'])}\n\n{fence(shown(entry))}")
    return "\n".join(parts)
