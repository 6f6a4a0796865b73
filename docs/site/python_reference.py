# SPDX-License-Identifier: MIT
"""The reference of the Python package, from its sources (nothing is imported, so no library is needed): what its __all__ names,
with signatures and docstrings, and the typed scenarios."""
import ast
import html

import markdown_page
from page import Page

PACKAGE = "collwire"


class Modules:
    """The modules of the package, parsed when they are needed."""

    def __init__(self, folder):
        self.folder, self.trees = folder, {}

    def tree(self, module):
        if module not in self.trees:
            parts = module.split(".")[1:]
            path = self.folder.joinpath(*parts).with_suffix(".py") if parts else self.folder / "__init__.py"
            self.trees[module] = ast.parse(path.read_text()) if path.exists() else None
        return self.trees[module]

    def find(self, module, name):
        """(module, node) of the definition of a name, through imports; (module, None) where it is a module itself."""
        for node in self.tree(module).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                return module, node
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    return module, node
            if isinstance(node, ast.ImportFrom) and any((item.asname or item.name) == name for item in node.names):
                real = next(item.name for item in node.names if (item.asname or item.name) == name)
                inner = f"{node.module}.{real}"
                if self.tree(inner) is not None:
                    return inner, None
                return self.find(node.module, real)
        raise LookupError(f"{module} exports {name}, but does not define it")


def exported(tree):
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [ast.literal_eval(item) for item in node.value.elts]
    return []


def signature(node):
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"def {node.name}({ast.unparse(node.args)}){result}"


def is_property(node):
    return any(ast.unparse(item).split(".")[-1] in ("property", "cached_property") for item in node.decorator_list)


def wrapped(text):
    """A signature on one line where it fits, else a line for each argument."""
    if len(text) <= 96 or not text.startswith("def "):
        return text
    node = ast.parse(text + ": ...").body[0]
    arguments = ast.unparse(node.args)
    parts, depth, last = [], 0, 0
    for at, letter in enumerate(arguments):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(arguments[last:at].strip())
            last = at + 1
    parts.append(arguments[last:].strip())
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"def {node.name}(\n    " + ",\n    ".join(parts) + f",\n){result}"


def members(node):
    """Public fields, properties and methods of a class: (name, code, docstring)."""
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and not item.target.id.startswith("_"):
            default = f" = {ast.unparse(item.value)}" if item.value is not None else ""
            yield item.target.id, f"{item.target.id}: {ast.unparse(item.annotation)}{default}", ""
        elif isinstance(item, ast.FunctionDef) and (not item.name.startswith("_") or item.name in ("__init__", "__enter__", "__call__")):
            code = wrapped(signature(item))
            if is_property(item):
                result = f": {ast.unparse(item.returns)}" if item.returns else ""
                code = f"property {item.name}{result}"
            yield item.name, code, ast.get_docstring(item) or ""


def class_html(node, anchor):
    fields, parts, words = [], [], []
    for name, code, text in members(node):
        words.append(f"{name} {text}")
        if not text and ":" in code and not code.startswith(("def ", "property ")):
            fields.append(code)
        else:
            parts.append(f'<div id="{anchor}.{name}">{markdown_page.code_html(code, "python")}{markdown_page.prose_html(text) if text else ""}</div>')
    shown = markdown_page.code_html("\n".join(fields), "python") if fields else ""
    inner = f'<div class="members">{shown}{"".join(parts)}</div>' if shown or parts else ""
    return inner, " ".join(words)


def entry(name, node, anchor):
    """HTML of a definition, and its words."""
    head = f'<section class="entry"><h3 id="{anchor}"><code>{html.escape(name)}</code></h3>'
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return f'{head}{markdown_page.code_html(ast.unparse(node), "python")}</section>', ""
    text = ast.get_docstring(node) or ""
    inner, words = class_html(node, anchor) if isinstance(node, ast.ClassDef) else ("", "")
    code = markdown_page.code_html(wrapped(signature(node)), "python")
    return f'{head}{code}{markdown_page.prose_html(text) if text else ""}{inner}</section>', f"{text} {words}"


def package_page(modules):
    tree = modules.tree(PACKAGE)
    text = ast.get_docstring(tree) or ""
    body = ['<h1 id="top">The Python package <code>collwire</code></h1>', markdown_page.prose_html(text)]
    headings, sections = [], [("", "The Python package collwire", text)]
    groups = {"Functions": [], "Classes": [], "Errors": [], "Modules and values": []}
    for name in exported(tree):
        _, node = modules.find(PACKAGE, name)
        kind = "Modules and values"
        if isinstance(node, ast.FunctionDef):
            kind = "Functions"
        elif isinstance(node, ast.ClassDef):
            kind = "Errors" if name.endswith("Error") or name in ("Error", "Cancelled") else "Classes"
        groups[kind].append((name, node))
    for group, names in groups.items():
        if names:
            anchor = group.lower().replace(" ", "-")
            headings.append((2, anchor, group))
            body.append(f'<h2 id="{anchor}">{group}</h2>')
        for name, node in names:
            headings.append((3, name, name))
            if node is None:
                body.append(f'<section class="entry"><h3 id="{name}"><code>{PACKAGE}.{name}</code></h3>'
                            f'<p>A module: <a href="{name}.html">its classes</a>.</p></section>')
                continue
            shown, words = entry(name, node, name)
            sections.append((name, name, words))
            body.append(shown)
    return Page("api/python/index.html", "Python: collwire", "\n".join(body), headings, sections, "reference")


def module_page(modules, module):
    tree = modules.tree(module)
    short = module.split(".")[-1]
    text = ast.get_docstring(tree) or ""
    body, headings = [f'<h1 id="top"><code>{module}</code></h1>', markdown_page.prose_html(text)], []
    sections = [("", module, text)]
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
            shown, words = entry(node.name, node, node.name)
            body.append(shown)
            headings.append((3, node.name, node.name))
            sections.append((node.name, node.name, words))
    return Page(f"api/python/{short}.html", f"Python: {module}", "\n".join(body), headings, sections, "reference")


def pages(build):
    """No page where the tree has no Python package."""
    folder = build / "python" / PACKAGE
    if not (folder / "__init__.py").exists():
        return []
    modules = Modules(folder)
    found = [package_page(modules)]
    for name in exported(modules.tree(PACKAGE)):
        module, node = modules.find(PACKAGE, name)
        if node is None:
            found.append(module_page(modules, module))
    return found
