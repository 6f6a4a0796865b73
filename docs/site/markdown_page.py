# SPDX-License-Identifier: MIT
"""Markdown as GitHub shows it (CommonMark with tables), as HTML: anchors of headings have GitHub's names, and every link is
passed through a function that says where its target is on the site."""
import html
import re

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

LEXERS = {"sh": "bash", "json": "json", "python": "python", "c": "c", "xml": "xml", "make": "make"}
ITEM = re.compile(r"^    (\S[^:]*): (.*)$")
ATTRIBUTE = re.compile(r'\b(src|href)="([^"]*)"')


def code_html(text, language):
    """A block of code; of commands without a language the lines that begin with a prompt are marked."""
    name = LEXERS.get(language)
    try:
        body = highlight(text, get_lexer_by_name(name), HtmlFormatter(nowrap=True)) if name else None
    except ClassNotFound:
        body = None
    if body is None:
        lines = (html.escape(line, quote=False) for line in text.rstrip("\n").split("\n"))
        body = "\n".join(f'<b class="prompt">{line}</b>' if line.startswith("$ ") else line for line in lines) + "\n"
    return f'<pre><code>{body}</code></pre>\n'


class Anchors:
    """Names of headings as GitHub makes them; the second of a name gets -1."""

    def __init__(self):
        self.seen = {}

    def name(self, title):
        base = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        count = self.seen.get(base, 0)
        self.seen[base] = count + 1
        return f"{base}-{count}" if count else base


def plain(token):
    """The text of an inline token, without its marks."""
    words = []
    for child in token.children or []:
        if child.type in ("text", "code_inline"):
            words.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif child.type == "image":
            words.append(child.content)
    return "".join(words)


class Document:
    """A page of Markdown: `body`, `headings` [(level, anchor, title)], `sections` [(anchor, title, text)] for the search,
    and `title`, its first heading."""

    def __init__(self, text, link):
        parser = MarkdownIt("commonmark", {"html": True}).enable("table")
        self.link = link
        self.headings, self.sections = [], []
        tokens = parser.parse(text)
        self._walk(tokens)
        self.title = next((title for level, _, title in self.headings if level == 1), "")
        rules = parser.renderer.rules
        rules["fence"] = lambda items, at, *_: code_html(items[at].content, items[at].info.strip())
        rules["code_block"] = lambda items, at, *_: code_html(items[at].content, "")
        body = parser.renderer.render(tokens, parser.options, {})
        self.body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")

    def _walk(self, tokens):
        anchors, words, section = Anchors(), [], ("", "")
        for at, token in enumerate(tokens):
            if token.type == "heading_open":
                title = plain(tokens[at + 1])
                anchor = anchors.name(title)
                token.attrs["id"] = anchor
                self.sections.append((*section, " ".join(words)))
                section, words = (anchor, title), []
                self.headings.append((int(token.tag[1]), anchor, title))
            elif token.type == "inline":
                self._links(token)
                if not (at and tokens[at - 1].type == "heading_open"):
                    words.append(plain(token))
            elif token.type in ("fence", "code_block"):
                words.append(token.content)
            elif token.type == "html_block":
                text = self._raw(token.content)
                token.content = f"<p>{text.strip()}</p>\n" if text.startswith("<img") else text
        self.sections.append((*section, " ".join(words)))
        self.sections = [part for part in self.sections if part[1] or part[2].strip()]

    def _links(self, token):
        for child in token.children or []:
            for name in ("href", "src"):
                if child.type in ("link_open", "image") and name in child.attrs:
                    child.attrs[name] = self.link(child.attrs[name])
            if child.type == "html_inline":
                child.content = self._raw(child.content)

    def _raw(self, text):
        return ATTRIBUTE.sub(lambda found: f'{found[1]}="{html.escape(self.link(html.unescape(found[2])))}"', text)


def prose_html(text):
    """Plain text of a comment or docstring: paragraphs at empty lines, code between backticks, indented blocks as they are."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.split("\n")
        if len(lines) > 1 and lines[0].endswith(":") and ITEM.match(lines[1]):
            blocks.append(items_html(lines))
        elif all(line.startswith("    ") for line in lines if line.strip()):
            inner = html.escape("\n".join(line[4:] for line in lines), quote=False)
            blocks.append(f"<pre><code>{inner}</code></pre>")
        elif any(line.startswith(("- ", "* ")) for line in lines):
            blocks.append(f"<pre><code>{html.escape(block, quote=False)}</code></pre>")
        else:
            blocks.append(f"<p>{words_html(' '.join(line.strip() for line in lines))}</p>")
    return "\n".join(blocks)


def items_html(lines):
    """A title, and lines "    NAME: TEXT" which go on where they are indented further."""
    items = []
    for line in lines[1:]:
        found = ITEM.match(line)
        if found:
            items.append([found[1], found[2]])
        else:
            items[-1][1] += " " + line.strip()
    rows = "".join(f"<dt><code>{html.escape(name)}</code></dt><dd>{words_html(text)}</dd>" for name, text in items)
    return f"<p>{words_html(lines[0])}</p><dl>{rows}</dl>"


def words_html(text):
    """A line of plain text, with code between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
