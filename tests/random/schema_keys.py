# SPDX-License-Identifier: MIT
"""The keys of scenarios by the schema: "switch.ecn.kmin", "job<llm>.zero", "library<nccl>.proto"; and which of them a
scenario has."""
UNITS = ("time", "bytes", "rate", "line_rate", "ranks")


def _kind(part):
    kind = part.get("properties", {}).get("kind", {})
    words = [kind.get("const")] if "const" in kind else kind.get("enum", []) if isinstance(kind, dict) else []
    return words[0] if len(words) == 1 else None


def _alternatives(part):
    return [inner for word in ("anyOf", "oneOf", "allOf") for inner in part.get(word, ())] or [part]


def _resolved(schema, part, name):
    """A part and its name: of a definition its own one."""
    while isinstance(part, dict) and "$ref" in part:
        name = part["$ref"].split("/")[-1]
        if name in UNITS:
            return {}, name
        part = schema["$defs"][name]
    return part if isinstance(part, dict) else {}, name


def _named(name, part):
    kind = _kind(part)
    return f"{name}<{kind}>" if kind is not None else name


def all_keys(schema):
    found, open_parts, seen = set(), [(schema, "")], set()
    while open_parts:
        part, name = _resolved(schema, *open_parts.pop())
        if (id(part), name) in seen:
            continue
        seen.add((id(part), name))
        for inner in _alternatives(part):
            if inner is not part:
                open_parts.append((inner, name))
                continue
            own = _named(name, part)
            for key, value in part.get("properties", {}).items():
                if value is not False:
                    found.add(f"{own}.{key}".lstrip("."))
                    open_parts.append((value, f"{own}.{key}".lstrip(".")))
            for word in ("items", "additionalProperties"):
                if isinstance(part.get(word), dict):
                    open_parts.append((part[word], name))
    return found


def _fits(part, value):
    kind = _kind(part)
    if isinstance(value, dict):
        return "properties" in part and (kind is None or value.get("kind", kind) == kind) or "additionalProperties" in part or "$ref" in part
    return isinstance(value, list) and "items" in part or "$ref" in part


def used_keys(schema, value, part=None, name="", found=None):
    found = set() if found is None else found
    part, name = _resolved(schema, schema if part is None else part, name)
    for inner in _alternatives(part):
        if inner is not part:
            if _fits(inner, value):
                used_keys(schema, value, inner, name, found)
            continue
        if isinstance(value, list) and isinstance(part.get("items"), dict):
            for item in value:
                used_keys(schema, item, part["items"], name, found)
        if not isinstance(value, dict) or _kind(part) not in (None, value.get("kind", _kind(part))):
            continue
        own = _named(name, part)
        for key, item in value.items():
            if isinstance(part.get("properties", {}).get(key), dict):
                found.add(f"{own}.{key}".lstrip("."))
                used_keys(schema, item, part["properties"][key], f"{own}.{key}".lstrip("."), found)
            elif isinstance(part.get("additionalProperties"), dict):
                used_keys(schema, item, part["additionalProperties"], name, found)
    return found
