# SPDX-License-Identifier: MIT
"""README.md, docs/ and all that they link to, copied for mkdocs: a source becomes a page with its text; a link to nothing is an
error. Also the groups of pages in docs/README.md."""
import posixpath
import re
import shutil
import sys

from words import fence, heading

LINK = re.compile(r"""(\]\(|\b(?:src|href)=")([^)"#\s]+)""")
BLOCK = re.compile(r"- |\d+\. |\|")
NAMED = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.md)")
PICTURES = (".png", ".svg", ".jpg", ".gif")
LANGUAGES = {"h": "c"}
LARGEST = 300_000  # bytes of a source that is shown


class Documents:
    def __init__(self, root, out):
        self.root, self.out = root, out
        first = [root / "README.md", *sorted((root / "docs").rglob("*.md")), root / "CHANGELOG.md", root / "CONTRIBUTING.md"]
        self.paths = [file.relative_to(root).as_posix() for file in first if file.exists()]
        for path in self.paths:  # grows by what they link to
            target = out / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.endswith(".md"):
                target.write_text(self.markdown(path))
            elif path.endswith(PICTURES):
                shutil.copyfile(root / path, target)
            else:
                target.with_name(target.name + ".md").write_text(self.source(path))

    def link(self, source, target):
        """The page of a link of a file of the tree, which is noted as needed."""
        if re.match(r"[a-z]+:", target):
            return target
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if (self.root / path / "README.md").exists():
            path, target = posixpath.join(path, "README.md"), posixpath.join(target, "README.md")
        if path.startswith("..") or not (self.root / path).is_file():
            sys.exit(f"site: {source}: {target} leads to nothing")
        if path not in self.paths:
            self.paths.append(path)
        return target if path.endswith((".md", *PICTURES)) else target + ".md"

    def markdown(self, path):
        """The text with its links, and what Python's Markdown wants and GitHub's does not: an empty line before a list or table, and a
        mark at HTML that has Markdown in it."""
        lines, fenced = [], False
        for line in (self.root / path).read_text().split("\n"):
            fenced ^= line.startswith("```")
            if not fenced and not line.startswith("```"):
                line = LINK.sub(lambda found: found[1] + self.link(path, found[2]), line).replace("<details>", '<details markdown="1">')
                if lines and BLOCK.match(line) and re.match(r"[^\s#]", lines[-1]) and not BLOCK.match(lines[-1]):
                    lines.append("")
            lines.append(line)
        return "\n".join(lines)

    def source(self, path):
        text = (self.root / path).read_text()
        if len(text) > LARGEST:
            sys.exit(f"site: {path} is linked to, and too large to be shown")
        kind = path.rpartition(".")[2]
        return f"{heading(1, path)}\n{fence(text, LANGUAGES.get(kind, kind))}"

    def groups(self):
        """[(group, [page or {title: page}])]: by the headings of docs/README.md, each page where it is named first and with the words
        of that link, which are short and weigh in the search; then the other pages of docs/."""
        groups, seen = [], {"README.md", "docs/README.md", "CHANGELOG.md", "CONTRIBUTING.md"}
        for block in re.split(r"^## ", (self.root / "docs" / "README.md").read_text(), flags=re.M)[1:]:
            found = [(text[0].upper() + text[1:], posixpath.normpath(posixpath.join("docs", target))) for text, target in NAMED.findall(block)]
            groups.append((block.partition("\n")[0], [path if text.endswith(".md") else {text: path} for text, path in found if not (path in seen or seen.add(path))]))
        more = [path for path in self.paths if path.startswith("docs/") and path.endswith(".md") and path not in seen]
        return [(name, paths) for name, paths in [*groups, ("More pages", more + ["CHANGELOG.md", "CONTRIBUTING.md"])] if paths]
