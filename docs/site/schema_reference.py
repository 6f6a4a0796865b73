# SPDX-License-Identifier: MIT
"""Keys of objects that `collwire list` does not name, such as the settings of libraries of collectives, from the JSON Schema of
scenarios."""
import json

from words import code, heading, plain, table


def objects(node, name):
    """(name, kind or "", {key: schema}) of all objects below a part of a schema."""
    if isinstance(node, list):
        for item in node:
            yield from objects(item, name)
    elif isinstance(node, dict):
        if "properties" in node:
            kind = node["properties"].get("kind", {})
            value = (kind.get("const") or "/".join(kind.get("enum", []))) if isinstance(kind, dict) else "" # true: said elsewhere
            yield name, value, node["properties"]
        for key, value in node.items():
            if key in ("properties", "$defs"):
                for inner, part in value.items():
                    yield from objects(part, inner)
            elif key != "required":
                yield from objects(value, name)


def kind_text(part):
    """What a value may be."""
    if "$ref" in part:
        return part["$ref"].rpartition("/")[2].replace("_", " ")
    if "const" in part:
        return str(part["const"])
    if "enum" in part:
        return " | ".join(map(str, part["enum"]))
    for name in ("anyOf", "oneOf"):
        if name in part:
            return " | ".join(dict.fromkeys(kind_text(item) for item in part[name]))
    if part.get("type") == "array":
        return f"list of {kind_text(part.get('items', {}))}"
    types = part.get("type", "any")
    names = {"integer": "count", "number": "ratio", "boolean": "bool", "string": "text"}
    return " | ".join(names.get(one, one) for one in (types if isinstance(types, list) else [types]))


def row(key, part):
    limits = f"{part.get('minimum', '')}..{part.get('maximum', '')}" if "minimum" in part or "maximum" in part else ""
    default = f"default {code(json.dumps(part['default']))}" if "default" in part else ""
    return [code(key), [line for line in (plain(kind_text(part)), default, limits) if line], plain(part.get("description", ""))]


def page(root, known):
    """`known`: the words of the other pages of the reference."""
    parts, seen = [], set()
    for name, kind, properties in objects(json.loads((root / "scenarios" / "schema.json").read_text()), "scenario"):
        shown = f"{name}: {kind}" if kind else name
        words = json.dumps(properties, sort_keys=True)
        if all(key in known for key in properties) or (shown, words) in seen:
            continue
        seen.add((shown, words))
        rows = [row(key, part) for key, part in properties.items() if isinstance(part, dict)]
        parts.append(f"{heading(2, shown)}{table(('Key', 'Unit, default, range', 'Meaning'), rows)}")
    return ("# Objects within objects\n\nKeys of objects that `collwire list` has only by name: libraries of collectives, machines, and forms of "
            "jobs, from `scenarios/schema.json`.\n\n" + "\n".join(parts))
