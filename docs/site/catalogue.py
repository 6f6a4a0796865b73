# SPDX-License-Identifier: MIT
"""The reference of what `collwire list` prints (every key, policy and metric) and the pages of the commands, from the program
itself: no text is wrapped, so that a line is a row."""
import html
import os
import re
import subprocess
import sys

import markdown_page
from page import Page, link

KEY = re.compile(r"^  (\S.*?)(?: {2,}(.*))?$")
PRESET_INDENT = 26


class Program:
    def __init__(self, path):
        self.path = path

    def text(self, *arguments):
        """What the program prints, no line of it wrapped."""
        environment = {**os.environ, "COLUMNS": "1000000", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
        done = subprocess.run([self.path, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"site: collwire {' '.join(arguments)} ended with {done.returncode}")
        return done.stdout


def rows(lines):
    """(name, [text, ..]) of lines "  NAME   TEXT", with the lines below that are indented further."""
    found = []
    for line in lines:
        match = KEY.match(line)
        if match:
            found.append((match[1], [match[2]] if match[2] else []))
        elif found and line.strip():
            found[-1][1].append(line[PRESET_INDENT:] if line.startswith(" " * PRESET_INDENT) else line.strip())
    return found


def sourced(text):
    """A text and its source, which stands in brackets at its end."""
    if not text.endswith("]"):
        return text, ""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == "]") - (text[at] == "[")
        if depth == 0:
            return text[:at].rstrip(), text[at + 1:-1]
    return text, ""


def typed(text):
    """"bytes, default 32MB, 1KB..4GB" as type, default and range; a default may have commas of its own."""
    found = re.match(r"^(.*?)(?:, (required|default (.*?)))?(?:, ((?:from |up to )\S+|\S+\.\.\S+))?$", text)
    kind, required, default, limits = found.groups()
    return kind, "required" if required == "required" else (default or ""), limits or ""


def optional(text):
    """HTML with names of options as code."""
    return re.sub(r"(?<![\w>-])--[a-z][a-z-]*", lambda found: f"<code>{found[0]}</code>", text)


class Catalogue:
    def __init__(self, program):
        self.program = program
        self.docs = lambda text, place: markdown_page.words_html(text)

    def categories(self):
        """[(name, doc, [(entry, doc)])]"""
        found = []
        for line in self.program.text("list").split("\n"):
            head = re.match(r"^([a-z_]+): (.*)$", line)
            if head:
                found.append((head[1], head[2], []))
            elif line.strip():
                name, words = (re.split(r" {2,}", line.strip(), maxsplit=1) + [""])[:2]
                if name and line.startswith("  ") and line[2] != " ":
                    found[-1][2].append((name, words))
                else:
                    found[-1][2][-1] = (found[-1][2][-1][0], line.strip())
        return found

    def keys_html(self, lines, place):
        body = []
        for name, texts in rows(lines):
            kind, default, limits = typed(texts[0]) if texts else ("", "", "")
            meaning, source = sourced(" ".join(texts[1:]))
            body.append(f"<tr><td><code>{html.escape(name)}</code></td><td>{self.docs(kind, place)}"
                        f"{f'<br>default <code>{html.escape(default)}</code>' if default and default != 'required' else ''}"
                        f"{'<br><b>required</b>' if default == 'required' else ''}"
                        f"{f'<br>{html.escape(limits)}' if limits else ''}</td>"
                        f"<td>{self.docs(meaning, place)}</td><td class=\"soft\">{self.docs(source, place)}</td></tr>")
        head = "<tr><th>Key</th><th>Unit, default, range</th><th>Meaning</th><th>Source</th></tr>"
        return f'<div class="scroll keys" tabindex="0"><table><thead>{head}</thead><tbody>{"".join(body)}</tbody></table></div>' if body else ""

    def plain_rows_html(self, lines, place, first):
        """Rows of a name and a text: metrics and presets."""
        body = []
        for name, texts in rows(lines):
            parts = [self.docs(text, place) for text in texts]
            body.append(f"<tr><td><code>{html.escape(name)}</code></td><td>{'<br>'.join(parts)}</td></tr>")
        return (f'<div class="scroll keys" tabindex="0"><table><thead><tr><th>{first}</th><th>Meaning</th></tr></thead>'
                f'<tbody>{"".join(body)}</tbody></table></div>') if body else ""

    def entry_html(self, category, text, place):
        """One entry: its source, its keys, and the parts with a title below them."""
        lines = text.rstrip("\n").split("\n")
        parts = [f"<p>{self.docs(lines[0].partition(': ')[2], place)}</p>"]
        blocks, title = {"": []}, ""
        for line in lines[1:]:
            if line.startswith("Source: "):
                parts.append(f'<p class="soft">Source: {self.docs(line[8:], place)}</p>')
            elif re.match(r"^[A-Z][^:]*:$", line):
                title = line[:-1]
                blocks[title] = []
            elif re.match(r"^\S", line):
                parts.append(f"<p>{self.docs(line, place)}</p>")
            else:
                blocks[title].append(line)
        for name, block in blocks.items():
            if name:
                parts.append(f"<h4>{html.escape(name)}</h4>")
            if category == "metrics" or name:
                parts.append(self.plain_rows_html(block, place, "Key" if category == "metrics" else "Name"))
            else:
                parts.append(self.keys_html(block, place))
        return "".join(parts)

    def category_page(self, name, doc, entries):
        place = f"reference/{name}.html"
        anchors = markdown_page.Anchors()
        anchors.name(name)
        body = [f'<h1 id="top"><code>{name}</code></h1>', f"<p>{self.docs(doc, place)}</p>"]
        headings, sections = [], [("", name, doc)]
        if not entries:
            text = self.program.text("list", name)
            body.append(self.entry_html(name, text, place))
            sections = [("", name, text)]
        texts = {entry: self.program.text("list", name, entry) for entry, _ in entries}
        plain = [entry for entry in texts if name == "metrics" and not re.search(r"^  ", texts[entry], re.M)]
        if plain:
            table = ""
            for entry in plain:
                anchor = anchors.name(entry)
                sections.append((anchor, entry, texts[entry]))
                table += f'<tr id="{anchor}"><td><code>{html.escape(entry)}</code></td><td>{self.docs(dict(entries)[entry], place)}</td></tr>'
            body.append(f'<div class="scroll keys"><table><tbody>{table}</tbody></table></div>')
        for entry, words in entries:
            if entry in plain:
                continue
            text = texts[entry]
            anchor = anchors.name(entry)
            headings.append((2, anchor, entry))
            sections.append((anchor, entry, f"{words} {text}"))
            body.append(f'<h2 id="{anchor}"><code>{html.escape(entry)}</code></h2>{self.entry_html(name, text, place)}')
        return Page(place, f"Reference: {name}", "\n".join(body), headings, sections, "reference", wide=True)

    def command_names(self):
        text = self.program.text("help")
        return [(name, " ".join(words)) for name, words in rows(text.split("\n")) if re.fullmatch(r"[a-z]+", name)]

    def command_page(self, name):
        """A page of help: usage, paragraphs, lines of examples (indented), and the table of options."""
        place = f"commands/{name}.html"
        text = self.program.text("help", name)
        words, _, options = text.partition("\nOptions:\n")
        lines = words.rstrip("\n").split("\n")
        parts = [f'<h1 id="top"><code>{html.escape(lines[0].partition(": ")[0])}</code></h1>',
                 f"<p>{self.docs(lines[0].partition(': ')[2], place)}</p>"]
        code = []
        for line in [*lines[1:], ""]:
            if line.startswith("  ") or line.startswith("usage: ") or (code and line.startswith("       ")):
                code.append(line.removeprefix("usage: ") if line.startswith("usage: ") else line.strip())
                continue
            if code:
                parts.append(markdown_page.code_html("\n".join(code) + "\n", "sh"))
                code = []
            if line:
                parts.append(f"<p>{optional(self.docs(line, place))}</p>")
        if options:
            parts.append('<h2 id="options">Options</h2>' + self.plain_rows_html(options.split("\n"), place, "Option"))
        return Page(place, f"collwire {name}", "\n".join(parts), [], [("", f"collwire {name}", text)], "reference")

    def pages(self):
        categories = self.categories()
        found = [self.category_page(*category) for category in categories]
        commands = self.command_names()
        found += [self.command_page(name) for name, _ in commands]
        found.append(overview("reference/index.html", "All keys and policies", "Everything that a scenario can name, and every key with its "
                              "unit, default, range, meaning and source, as <code>collwire list</code> prints it.",
                              [(f"reference/{name}.html", name, doc) for name, doc, _ in categories]))
        found.append(overview("commands/index.html", "All commands", "The pages of <code>collwire COMMAND --help</code>.",
                              [(f"commands/{name}.html", name, doc) for name, doc in commands]))
        return found


def overview(place, title, words, entries):
    """A page that lists others: (place, name, what it has)."""
    body = "".join(f"<tr><td>{link(place, target, name)}</td><td>{markdown_page.words_html(doc)}</td></tr>" for target, name, doc in entries)
    return Page(place, title, f'<h1 id="top">{title}</h1><p>{words}</p><div class="scroll"><table><tbody>{body}</tbody></table></div>',
                [], [("", title, " ".join(f"{name} {doc}" for _, name, doc in entries))], "reference")
