# SPDX-License-Identifier: MIT
"""Plain text of the program and of comments as Markdown."""
import re

ITEM = re.compile(r"^    (\S[^:]*): (.*)$")


def plain(text, docs=""):
    """A line of text in which nothing is a mark but `code` and, where the way to docs/ is given, names of its pages."""
    parts = []
    for at, part in enumerate(text.split("`")):
        inner = re.sub(r"[&<>|*_{}\[\]\\#~]", lambda found: f"&#{ord(found[0])};", part)
        if docs and not at % 2:
            inner = re.sub(r"\bdocs/[\w/-]+\.md", lambda found: f"[{found[0]}]({docs}{found[0]})", inner)
        parts.append(f"<code>{inner}</code>" if at % 2 else inner)
    return "".join(parts)


def code(text):
    return f"<code>{plain(text)}</code>"


def heading(level, name, anchor=""):
    """A name as a heading; that of a page is plain, since it is also in lists."""
    return f"{'#' * level} {name if level == 1 else f'`{name}`'}{f' {{#{anchor}}}' if anchor else ''}\n"


def fence(text, language=""):
    return f"~~~~{language}\n{text.strip(chr(10))}\n~~~~\n"


def table(head, rows):
    """Rows of cells that are Markdown; a cell may be a list of lines."""
    if not rows:
        return ""
    lines = [" | ".join("<br>".join(cell) if isinstance(cell, list) else cell for cell in row) for row in [head, ["---"] * len(head), *rows]]
    return "\n" + "\n".join(f"| {line} |" for line in lines) + "\n"


def prose(text):
    """A comment or docstring: paragraphs at empty lines, code between backticks, and what is indented or a list as it is."""
    blocks = []
    if not text.strip():
        return ""
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.split("\n")
        if len(lines) > 1 and lines[0].endswith(":") and ITEM.match(lines[1]):
            items = re.sub(r"\n(?!    \S[^:]*: )\s+", " ", block).split("\n")
            block = plain(lines[0]) + "\n\n" + "\n".join(f"- {code(name)}: {plain(words)}" for name, words in (ITEM.match(item).groups() for item in items[1:]))
        elif all(line.startswith("    ") for line in lines if line.strip()) or any(line.startswith(("- ", "* ")) for line in lines):
            block = fence(re.sub(r"^    ", "", block, flags=re.M))
        else:
            block = plain(" ".join(line.strip() for line in lines))
        blocks.append(block)
    return "\n\n".join(blocks) + "\n"
