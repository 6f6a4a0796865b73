#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files and folders that README.md, CONTRIBUTING.md, the READMEs of rooms and the pages of docs/ name in backticks exist,
and a file that follows a function, as in `mmu_admit` (`switch/mmu.c`), has the function's name in it.

A name is that of a source file, a folder that ends in a slash, or a path whose first folder is one of the tree's; it may
leave out the folders before it. A source file in C that is named alone lies in a folder that the same row of a table, or the
same section, names: files of the same name in other rooms would hide one that has moved. Not looked for are names with x or TARGET, READER, PREFIX, X for
what the reader calls his own, files that the page makes the reader save, and what OTHERS lists with the reason.

usage: check_names.py ROOT
"""
import os
import pathlib
import re
import sys
import tempfile

SOURCE = re.compile(r"\.(c|h|py|js|mjs|sh|cmake)$")
PLACEHOLDER = re.compile(r"(^|[/_])x([./]|$)|TARGET|READER|PREFIX|/X\d*\.json$")
OTHERS = {
    "coll_tuned_decision_fixed.c": "Open MPI's",
    "examples/notebook/collwire.py": "of version 0.2.0, in a table of what has changed",
    "share/collwire/": "of a build folder and of an installation",
    "/share/collwire/": "the same, after two dots",
    "share/doc/collwire/licenses": "of an installation",
}


def tree(root):
    """Paths of files and folders, and every end of these that begins at a folder's name; the folders at the root."""
    ends, firsts, files = set(), set(), {}
    for folder, folders, names in os.walk(root):
        here = pathlib.Path(folder).relative_to(root).parts
        folders[:] = [name for name in folders if name not in (".git", "__pycache__")
                      and not (not here and name.startswith(("build", "out")))]
        for name in folders + names:
            parts = (*here, name)
            ends.update("/".join(parts[i:]) for i in range(len(parts)))
            firsts.add(parts[0])
            if name in names:
                files.setdefault(name, []).append("/".join(parts))
    return ends, firsts, files


def named(text):
    """(line, name) of what is in backticks, outside of blocks."""
    for quoted in re.finditer(r"`([^`\n]+)`", text):
        for word in quoted[1].split():
            word = word.strip(".,;:()\"'")
            if re.fullmatch(r"[\w./-]*\w[\w./-]*", word):
                yield text[:quoted.start()].count("\n") + 1, word


def wrong_names(text, ends, firsts):
    saved = set(re.findall(r"^Save as `([^`]+)`", text, re.M))
    for line, name in named(text):
        is_path = "/" in name and name.split("/")[0] in firsts
        if (SOURCE.search(name) or name.endswith("/") or is_path) and name.rstrip("/") not in ends \
                and not PLACEHOLDER.search(name) and name not in saved and name not in OTHERS:
            yield f"{line}: {name} is not in the tree"


def folders_of(text):
    return {name.rstrip("/") if name.endswith("/") else name.rsplit("/", 1)[0] for _, name in named(text) if "/" in name}


def wrong_folders(text, files):
    """Sources that are named alone and lie in no folder that their row or section names."""
    line = 1
    for section in re.split(r"^(?=#)", text, flags=re.M):
        for row in section.split("\n"):
            around = folders_of(row if row.startswith("|") else section)
            for _, name in named(row):
                known = files.get(name, []) if re.search(r"\.[ch]$", name) else []
                if known and not any(f"/{folder}/" in f"/{path}" for path in known for folder in around):
                    yield f"{line}: {name} lies in none of the folders named beside it, but is {known[0]}"
            line += 1
        line -= 1


def wrong_places(root, text, files):
    """Functions that are not in the file that stands behind them."""
    for found in re.finditer(r"`(\w+)(?:\(\))?`\s+\(`([\w/]+\.[ch])`", text):
        places = [path for path in files.get(found[2].split("/")[-1], []) if f"/{path}".endswith(f"/{found[2]}")]
        if not any(re.search(rf"\b{found[1]}\b", (root / path).read_text(encoding="utf-8")) for path in places):
            yield f"{text[:found.start()].count(chr(10)) + 1}: {found[1]} is not in {found[2]}"


def check(root, pages):
    ends, firsts, files = tree(root)
    wrong = []
    for page in pages:
        text = re.sub(r"^(```+).*?^\1", lambda block: "\n" * block[0].count("\n"), (root / page).read_text(encoding="utf-8"),
                      flags=re.M | re.S)
        wrong += [f"{page}:{what}" for what in (*wrong_names(text, ends, firsts), *wrong_folders(text, files),
                                                *wrong_places(root, text, files))]
    return wrong


def check_itself():
    """Four mistakes in a page of a small tree are found, and nothing else is."""
    page = ("`port_kick` (`net/port.c`), `port.c`, `net/x.c`, `cc/` and `net/gone`\n\n```\n`net/block.c`\n```\n"
            "`port_pull()`\n(`port.c`) and `job.json`\n# Rows\n\n| `net/` | `port.c` |\n| `sim/` | `port.c` |\n")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "net").mkdir()
        (root / "sim").mkdir()
        (root / "net/port.c").write_text("void port_kick(void);\n", encoding="utf-8")
        (root / "page.md").write_text(page, encoding="utf-8")
        found = check(root, ["page.md"])
    assert found == ["page.md:1: cc/ is not in the tree", "page.md:1: net/gone is not in the tree",
                     "page.md:11: port.c lies in none of the folders named beside it, but is net/port.c",
                     "page.md:6: port_pull is not in port.c"], found


def main():
    check_itself()
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = [page.relative_to(root) for page in (root / "README.md", root / "CONTRIBUTING.md", *sorted(root.glob("*/README.md")),
                                                 *sorted(root.glob("docs/**/*.md"))) if not page.match("build*/*")]
    wrong = check(root, dict.fromkeys(pages))
    print("\n".join(wrong) or f"{len(pages)} pages name files and folders that exist")
    return int(bool(wrong) or len(pages) < 50)


if __name__ == "__main__":
    sys.exit(main())
