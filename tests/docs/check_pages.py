#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pages of docs/ for which every file and command shown is tried, in the order of the page, in a folder of its own.

- A block `json`, `text`, `xml`, `csv` or other after a line that ends in "`NAME`:" is written to the file NAME.
- A block `sh` is run, and so is a block without a language that begins with "$ ": its first line (with those that
  continue it after a backslash) is run by sh, and what it prints must be what the block shows. A block of several
  commands has a line "$ " for each.
- A block after a comment <!-- not run: REASON --> is left out, one after <!-- needs: PROGRAM --> where this is missing.
- The figures that the text repeats, listed in a comment <!-- shown: FIGURE, .. -->, are in the outputs of the page.
- Where words in italics are said to be in the glossary, they are.
- The links of a page lead to files, and their anchors to headings; commands and scenarios that the text names exist.

REGEN=1 writes the outputs anew. The lines that name files of results, and estimates, are not compared.

usage: check_pages.py ROOT PAGE..., with the executable in $COLLWIRE; pages are paths in ROOT.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?P<before>[^\n]*)\n\n?(?P<fence>```+)(?P<kind>[a-z]*)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S)
UNTOLD = re.compile(r"(report|results|estimate): |\d+ of \d+ points: |[\d.e+]+ packets and their ACKs|up to .* of output")


def shown(text):
    """Without the lines that name files, those that depend on whether the charts are built, and estimates."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and not UNTOLD.match(line)]


def commands(text):
    """The commands of a block, each with the output below it."""
    return re.findall(r"^(\$ (?:[^\n]*\\\n)*[^\n]*\n)((?:(?!\$ )[^\n]*\n)*)", text, re.M)


class Page:
    def __init__(self, root, name, tools):
        self.root, self.name, self.update = root, name, "REGEN" in os.environ
        self.failures, self.ran = [], 0
        self.environment = {key: value for key, value in os.environ.items() if key not in ("REGEN", "COLLWIRE", "COLLWIRE_SHARE")}
        self.environment["PATH"] = tools + ":" + os.environ["PATH"]
        with open(os.path.join(root, name), encoding="utf-8") as file:
            self.text = file.read()

    def fail(self, what):
        self.failures.append(what)
        print(f"FAILED: {self.name}: {what}")

    def run(self, script, folder):
        """What a script prints; stderr is part of it where the script says so."""
        self.ran += 1
        done = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, cwd=folder, env=self.environment,
                              timeout=250, check=False)
        if done.returncode:
            self.fail(f"exit code {done.returncode} of\n{script}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def session(self, text, folder):
        """A block of commands with their outputs; the block as it should be."""
        now = ""
        for command, output in commands(text):
            got = self.run(command[2:], folder)
            if " | " in command and not shown(got):
                self.fail(f"{command}prints nothing")  # an error of a command before a pipe
            if self.update and shown(got) != shown(output):
                output = re.sub(r"[ \t]+$", "", got, flags=re.M)
            now += command + output
            if not self.update and shown(got) != shown(output):
                self.fail(f"{command}shows\n{output}and prints\n{got}")
        return now

    def blocks(self, folder):
        text, kept = "", 0  # the page so far, and how much of the old one that is
        for block in BLOCK.finditer(self.text):
            needs = re.search(r"<!-- needs: (\S+) -->", block["before"])
            if "<!-- not run: " in block["before"] or needs and not shutil.which(needs[1]):
                continue
            name = re.search(r"`([\w./-]+)`[^`]*:$", block["before"])
            if block["text"].startswith("$ ") and not block["kind"]:
                text += self.text[kept:block.start("text")] + self.session(block["text"], folder)
                kept = block.end("text")
            elif block["kind"] == "sh":
                self.run(block["text"], folder)
            elif block["kind"] and name:
                path = os.path.join(folder, name[1])
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(block["text"])
            else:
                self.fail(f"a block is no command and no file with a name:\n{block['text']}")
        fences = len(re.findall(r"^```", self.text, re.M))
        if fences != 2 * len(BLOCK.findall(self.text)):
            self.fail("a block is not recognised: before it there is one line of text, and an empty one if you like")
        text += self.text[kept:]
        if text != self.text:
            with open(os.path.join(self.root, self.name), "w", encoding="utf-8") as file:
                file.write(text)

    def figures(self):
        """Figures of the text are those of the outputs, which may have been written anew."""
        outputs = " ".join(" ".join(output.split()) for block in BLOCK.finditer(self.text) for _, output in commands(block["text"]))
        for listed in re.findall(r"<!-- shown: (.*?) -->", self.text):
            for figure in listed.split(", "):
                prose = re.sub(r"<!--.*?-->|^```.*?^```$", "", self.text, flags=re.M | re.S)
                if figure not in outputs or figure not in prose:
                    self.fail(f"the figure {figure} is not in the text and in an output")

    def italics(self):
        """Words in italics are in the glossary, where the page says so."""
        if "Words in *italics* are in the [glossary](glossary.md)" not in self.text:
            return
        with open(os.path.join(self.root, "docs", "glossary.md"), encoding="utf-8") as file:
            words = re.findall(r"^\| ([^|]+) \|", file.read(), re.M)
        text = re.sub(r"^```.*?^```$|\*\*.*?\*\*|`[^`]*`", "", self.text, flags=re.M | re.S)
        for word in set(re.findall(r"(?<![*\w])\*([A-Za-z][\w -]*)\*", text)) - {"italics"}:
            if not re.search(rf"\b{re.escape(word.lower())}", " ".join(words).lower()):
                self.fail(f"{word} is not in the glossary")

    def names(self):
        """Commands and scenarios that the text names exist."""
        known = subprocess.run(["collwire", "--help"], capture_output=True, text=True, env=self.environment, check=True).stdout
        for name in set(re.findall(r"`collwire ([a-z]+)", self.text)):
            if not re.search(rf"^  {name} ", known, re.M):
                self.fail(f"command {name}")
        for path in set(re.findall(r"`(scenarios/[^`*\s]+)`", self.text)):
            if not os.path.exists(os.path.join(self.root, path)):
                self.fail(f"scenario {path}")

    def links(self):
        for path, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", self.text):
            if "://" in path:
                continue
            page = os.path.join(self.root, self.name)
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(target):
                self.fail(f"link to {path}")
            elif anchor and target.endswith(".md"):
                with open(target, encoding="utf-8") as file:
                    headings = [heading_anchor(line) for line in file if line.startswith("#")]
                if anchor[1:] not in headings:
                    self.fail(f"link to {path}{anchor}")
        for path in re.findall(r'src="([^"]+)"', self.text):
            if not os.path.exists(os.path.join(self.root, os.path.dirname(self.name), path)):
                self.fail(f"picture {path}")


def heading_anchor(line):
    """The anchor that a heading has on a page."""
    words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
    return words.replace(" ", "-")


def check(root, name, tools):
    page = Page(root, name, tools)
    with tempfile.TemporaryDirectory() as folder:
        for shared in ("scenarios", "examples", "include", "net", "studies"):
            os.symlink(os.path.join(root, shared), os.path.join(folder, shared))
        page.blocks(folder)
    page.figures()
    page.italics()
    page.names()
    page.links()
    print(f"{name}: {page.ran} commands")
    return len(page.failures)


def lua_refused(root, names):
    """Whether a page runs a plugin in Lua, which Wireshark from 4.4 on refuses to root."""
    if os.geteuid() != 0 or not any("lua_script" in pathlib.Path(root, name).read_text(encoding="utf-8") for name in names):
        return False
    said = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=False).stdout
    version = re.match(r"TShark \(Wireshark\) (\d+)\.(\d+)", said)
    return version is not None and (int(version[1]), int(version[2])) >= (4, 4)


def main():
    root = os.path.abspath(sys.argv[1])
    if lua_refused(root, sys.argv[2:]):
        print("this tshark runs no plugin in Lua for root")
        return 77
    with tempfile.TemporaryDirectory() as tools:
        os.symlink(os.path.abspath(os.environ["COLLWIRE"]), os.path.join(tools, "collwire"))
        failures = sum(check(root, name, tools) for name in sys.argv[2:])
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
