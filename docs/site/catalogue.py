# SPDX-License-Identifier: MIT
"""The reference of what `collwire list` prints (every key, policy and metric) and the pages of the commands, from the program
itself: no text is wrapped, so that a line is a row."""
import os
import re
import subprocess
import sys

from words import code, fence, heading, plain, table

KEY = re.compile(r"^  (\S.*?)(?: {2,}(.*))?$")
PRESET_INDENT = 26
KEYS = ("Key", "Unit, default, range", "Meaning", "Source")


def text_of(program, *arguments):
    """What the program prints, no line of it wrapped."""
    environment = {**os.environ, "COLUMNS": "1000000", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([program, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"site: collwire {' '.join(arguments)} ended with {done.returncode}")
    return done.stdout


def words(text):
    """Text of a page one folder below the front page."""
    return plain(text, "../")


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
    """"bytes, default 32MB, 1KB..4GB" as lines of a cell; a default may have commas of its own."""
    kind, required, default, limits = re.match(r"^(.*?)(?:, (required|default (.*?)))?(?:, ((?:from |up to )\S+|\S+\.\.\S+))?$", text).groups()
    lines = [words(kind), f"default {code(default)}" if default else "**required**" if required else "", words(limits or "")]
    return [line for line in lines if line]


def key_row(name, texts):
    meaning, source = sourced(" ".join(texts[1:]))
    return [code(name), typed(texts[0]) if texts else "", words(meaning), words(source)]


def name_row(name, texts):
    return [code(name), [words(text) for text in texts]]


def entry(category, text):
    """One entry: its source, its keys, and the parts with a title below them."""
    lines = text.rstrip("\n").split("\n")
    parts, blocks, title = [words(lines[0].partition(": ")[2])], {"": []}, ""
    for line in lines[1:]:
        if re.match(r"^[A-Z][^:]*:$", line):
            title = line[:-1]
            blocks[title] = []
        elif re.match(r"^\S", line):
            parts.append(words(line))
        else:
            blocks[title].append(line)
    for name, block in blocks.items():
        parts += [f"**{name}**"] if name else []
        if category == "metrics" or name:
            parts.append(table(("Key" if category == "metrics" else "Name", "Meaning"), [name_row(*row) for row in rows(block)]))
        else:
            parts.append(table(KEYS, [key_row(*row) for row in rows(block)]))
    return "\n\n".join(parts)


def categories(program):
    """[(name, doc, [entry, ..])]"""
    found = []
    for line in text_of(program, "list").split("\n"):
        head = re.match(r"^([a-z_]+): (.*)$", line)
        if head:
            found.append((head[1], head[2], []))
        elif re.match(r"  \S", line):
            found[-1][2].append(re.split(r" {2,}", line.strip())[0])
    return found


def category_page(program, name, doc, entries):
    parts = [heading(1, name), words(doc)]
    if not entries:
        parts.append(entry(name, text_of(program, "list", name)))
    for one in entries:
        parts += [heading(2, one), entry(name, text_of(program, "list", name, one))]
    return "\n\n".join(parts)


def command_page(text):
    """A page of help: usage, paragraphs, lines of examples (indented), and the table of options."""
    head, _, options = text.partition("\nOptions:\n")
    title, *lines = head.rstrip("\n").split("\n")
    parts, examples = [heading(1, title.partition(": ")[0]), words(title.partition(": ")[2])], []
    for line in [*lines, ""]:
        if line.startswith(("  ", "usage: ")):
            examples.append(line.removeprefix("usage: ").strip())
            continue
        if examples:
            parts.append(fence("\n".join(examples), "sh"))
            examples = []
        parts.append(words(line))
    return "\n\n".join(parts) + ("\n\n## Options\n" + table(("Option", "Meaning"), [name_row(*row) for row in rows(options.split("\n"))]) if options else "")


def overview(title, text, entries):
    """A page that lists others."""
    return f"# {title}\n\n{text}\n" + table(("Name", "What it has"), [[f"[{name}]({name}.md)", words(doc)] for name, doc in entries])


def pages(program):
    """{place: text}"""
    found = categories(program)
    commands = [(name, texts[0]) for name, texts in rows(text_of(program, "help").split("\n")) if re.fullmatch(r"[a-z]+", name)]
    return {"commands/index.md": overview("All commands", "The pages of `collwire COMMAND --help`.", commands),
            **{f"commands/{name}.md": command_page(text_of(program, "help", name)) for name, _ in commands},
            "reference/index.md": overview("All keys and policies", "Everything that a scenario can name, and every key with its unit, default, "
                                           "range, meaning and source, as `collwire list` prints it.", [(name, doc) for name, doc, _ in found]),
            **{f"reference/{name}.md": category_page(program, name, doc, entries) for name, doc, entries in found}}
