# SPDX-License-Identifier: MIT
"""README.md, docs/ and all that they link to, copied for mkdocs: a source becomes a page with its text; a link to nothing is an
error. Also the groups of pages in docs/README.md."""
import posixpath
import re
import shutil
import sys

from words import code, fence

LINK = re.compile(r"""(\]\(|\b(?:src|href)=")([^)"#\s]+)""")
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
        """The text with its links, and with the empty line before a list that Python's Markdown wants and GitHub's does not."""
        lines, fenced = [], False
        for line in (self.root / path).read_text().split("\n"):
            fenced ^= line.startswith("```")
            if not fenced and not line.startswith("```"):
                line = LINK.sub(lambda found: found[1] + self.link(path, found[2]), line)
                if re.match(r"(- |1\. )", line) and lines and re.match(r"[^\s#]", lines[-1]) and not re.match(r"(- |\d+\. )", lines[-1]):
                    lines.append("")
            lines.append(line)
        return "\n".join(lines)

    def source(self, path):
        text = (self.root / path).read_text()
        if len(text) > LARGEST:
            sys.exit(f"site: {path} is linked to, and too large to be shown")
        kind = path.rpartition(".")[2]
        return f"# {code(path)}\n\n{fence(text, LANGUAGES.get(kind, kind))}"

    def groups(self):
        """The pages by the headings of docs/README.md, each where it is named first, then the other pages of docs/."""
        groups, seen = [], {"README.md", "docs/README.md", "CHANGELOG.md", "CONTRIBUTING.md"}
        for block in re.split(r"^## ", (self.root / "docs" / "README.md").read_text(), flags=re.M)[1:]:
            found = [posixpath.normpath(posixpath.join("docs", target)) for _, target in LINK.findall(block) if target.endswith(".md")]
            groups.append((block.partition("\n")[0], [path for path in found if not (path in seen or seen.add(path))]))
        more = [path for path in self.paths if path.startswith("docs/") and path.endswith(".md") and path not in seen]
        return [(name, paths) for name, paths in [*groups, ("More pages", more + ["CHANGELOG.md", "CONTRIBUTING.md"])] if paths]
