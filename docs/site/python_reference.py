# SPDX-License-Identifier: MIT
"""The reference of the Python package, from its sources (nothing is imported, so no library is needed): what its __all__ names,
with signatures and docstrings, and the typed scenarios."""
import ast

from words import fence, heading, prose

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


def entry(node, name):
    """A definition, with the members of a class below it."""
    head = heading(3, name, "" if name.startswith("_") else name) + "\n"
    if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        return head + fence(ast.unparse(node), "python")
    parts = [head + fence(wrapped(signature(node)), "python"), prose(ast.get_docstring(node) or "")]
    found = list(members(node)) if isinstance(node, ast.ClassDef) else []
    fields = [code for _, code, text in found if not text and not code.startswith(("def ", "property "))]
    parts += [fence("\n".join(fields), "python")] if fields else []
    parts += [f"{fence(code, 'python')}\n{prose(text)}" for _, code, text in found if code not in fields]
    return "\n".join(parts)


def package_page(modules):
    tree = modules.tree(PACKAGE)
    groups = {"Functions": [], "Classes": [], "Errors": [], "Modules and values": []}
    for name in exported(tree):
        _, node = modules.find(PACKAGE, name)
        error = isinstance(node, ast.ClassDef) and (name.endswith("Error") or name == "Cancelled")
        kind = {ast.FunctionDef: "Functions", ast.ClassDef: "Errors" if error else "Classes"}.get(type(node), "Modules and values")
        groups[kind].append(entry(node, name) if node else f"{heading(3, name, name)}\nA module: [its classes]({name}.md).\n")
    return "\n".join(["# The Python package collwire\n", prose(ast.get_docstring(tree) or ""),
                      *("\n".join([f"## {group}\n", *entries]) for group, entries in groups.items() if entries)])


def module_page(tree, module):
    nodes = [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")]
    return "\n".join([heading(1, module), prose(ast.get_docstring(tree) or ""), *(entry(node, node.name) for node in nodes)])


def pages(build):
    """No page where the tree has no Python package."""
    folder = build / "python" / PACKAGE
    if not (folder / "__init__.py").exists():
        return {}
    modules = Modules(folder)
    found = {"api/python/index.md": package_page(modules)}
    for name in exported(modules.tree(PACKAGE)):
        module, node = modules.find(PACKAGE, name)
        if node is None:
            found[f"api/python/{module.split('.')[-1]}.md"] = module_page(modules.tree(module), module)
    return found
