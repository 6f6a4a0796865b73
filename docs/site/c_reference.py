# SPDX-License-Identifier: MIT
"""The reference of C: what the public headers declare, with the comments before it. The headers are read line by line, which
their format (.clang-format) makes possible; tests/site holds the result against the symbols of the shared library."""
import re

from words import fence, heading, prose

FIRST = ("collwire.h", "cc.h")  # the others follow by name
FUNCTION = re.compile(r"(\w+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:__attribute__.*)?$")


class Declaration:
    def __init__(self, name, kind, code, comment):
        self.name, self.kind, self.code, self.comment = name, kind, code, comment


def balanced(text):
    return text.count("{") == text.count("}") and text.count("(") == text.count(")")


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def helper(code):
    """CC_HELPER(type, name, (parameters), (arguments)) declares cc_NAME."""
    found = re.match(r"CC_HELPER\((.+?), (\w+),\s*(\(.*?\)),\s*\(", " ".join(code.split()))
    return f"{found[1]} cc_{found[2]}{found[3]};"


def declaration(code, comment):
    """What a piece of a header declares; None = nothing that a reader needs."""
    bare = " ".join(without_comments(code).split())
    if not bare.startswith("#define"):
        bare = bare.replace("COLLWIRE_API ", "")
    if bare.startswith("CC_HELPER("):
        code = helper(code)
        return Declaration(re.search(r"(\w+)\(", code)[1], "function", code, comment)
    if bare.startswith("#define"):
        name = re.match(r"#define\s+(\w+)", bare)[1]
        return None if name in ("COLLWIRE_API", "CC_HELPER") else Declaration(name, "constant", code, comment)
    if bare.startswith("typedef"):
        return Declaration(re.search(r"(\w+);$", bare)[1], "type", code, comment)
    found = re.match(r"(struct|enum|union)\s+(\w+)\s*[{;]", bare)
    if found:
        opaque = bare.endswith(f"{found[2]};")
        return Declaration(f"{found[1]} {found[2]}", "opaque" if opaque else found[1], code, comment)
    if re.match(r"enum\s*\{", bare):
        return Declaration("enum " + re.search(r"\{\s*(\w+)", bare)[1], "enum", code, comment)
    head = bare.split("{")[0].rstrip("; ")
    found = FUNCTION.search(head)
    if found:
        shown = code.split("{")[0].rstrip() + ";" if "{" in without_comments(code) else code
        return Declaration(found[1], "function", shown.replace("COLLWIRE_API ", "").replace("COLLWIRE_API\n", ""), comment)
    return None


def pieces(lines):
    """The pieces of a header: ("section", title), ("prose", text) or ("code", code, comment)."""
    comment, code, skip = [], [], 0
    for line in lines:
        if skip or line.startswith(("#if", "#include", "#pragma", "#undef", "#endif", "#else")):
            skip = 1 if line.startswith("#ifdef __cplusplus") or (skip and not line.startswith("#endif")) else 0
        elif code or (line.strip() and not line.startswith("//")):
            code.append(line)
            text = without_comments("\n".join(code)).rstrip()
            define = text.startswith("#define")
            ended = not line.endswith("\\") if define else balanced(text) and text.endswith((";", "}", ")"))
            if ended:
                yield ("code", "\n".join(code), "\n".join(comment))
                comment, code = [], []
        elif line.startswith("// ----"):
            yield ("section", line.strip("/- "))
        elif line.startswith("//"):
            comment.append(line[2:].removeprefix(" "))
        elif comment:
            yield ("prose", "\n".join(comment))
            comment = []


def parse(text):
    """The introduction of a header, and its pieces with declarations in place of code."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("#pragma once"))
    intro = "\n".join(line[2:].removeprefix(" ") for line in lines[:start] if line.startswith("//") and "SPDX" not in line)
    out = []
    for piece in pieces(lines[start:]):
        if piece[0] != "code":
            out.append(piece)
            continue
        found = declaration(piece[1], piece[2])
        if found:
            out.append(("declaration", found))
    return intro, out


def entry(item):
    shown, comment = item.code, item.comment
    tail = re.search(r";\s*//\s*(.*)$", shown) if item.kind == "function" else None
    if tail:
        shown, comment = shown[:tail.start() + 1], comment or tail[1]
    return f"{heading(3, item.name)}\n{fence(shown, 'c')}\n{prose(comment)}"


def page(name, text):
    intro, parts = parse(text)
    shown = {"section": "## {}\n".format, "prose": prose, "declaration": entry}
    return "\n".join([heading(1, f"collwire/{name}"), prose(intro), *(shown[kind](value) for kind, value in parts)])


def pages(root):
    names = sorted((path.name for path in (root / "include" / "collwire").glob("*.h")), key=lambda name: (name not in FIRST, name))
    return {f"api/c/{name.removesuffix('.h')}.md": page(name, (root / "include" / "collwire" / name).read_text()) for name in names}
