#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The inventory of state (engine/state.h) against the headers: every member of a struct that has a table is
declared in it, once, and every struct in which state is known to lie has a table.

usage: check_inventory.py SOURCE_FOLDER
A new member of such a struct, without a declaration of how it repeats, fails this test.
"""
import pathlib
import re
import sys

# Structs of the network whose contents change in a run.
STRUCTS = (
    "port",
    "queue",
    "port_cold",
    "pause",
    "port_pfc",
    "packet",
    "packet_meta",
    "meta_waits",
    "fault",
    "network",
    "switch_node",
    "switch_port",
    "pfc_sender",
    "mmu",
    "mmu_ingress",
    "routing",
    "marking",
    "switches",
    "sender",
    "sender_cold",
    "sender_rare",
    "sender_time",
    "sender_time_mark",
    "sender_cuts",
    "message",
    "nic",
    "hosts",
    "pair",
    "cc",
    "roce_selective",
    "roce_receiver",
    "np_window",
)
TABLE = re.compile(
    r"static const struct state_field (\w+)\[\] = \{(.*?)\};\s*STATE_TABLE\(\w+, struct (\w+), (\w+)\);", re.S
)
FLEXIBLE = {"cc": {"priv"}}  # cc_ops.shift moves what it declares


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def body(text, name):
    """What is between the braces of `struct name {`, or None."""
    match = re.search(rf"\bstruct {name} \{{", text)
    if not match:
        return None
    depth, at = 1, match.end()
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[match.end() : at - 1]


def pieces(text):
    """The declarations of a body, with their nested bodies."""
    depth, begin = 0, 0
    for at, c in enumerate(text):
        depth += {"{": 1, "}": -1}.get(c, 0)
        if c == ";" and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1


def members(text):
    """The names that a body declares; those of unnamed structs and unions count as its own."""
    names = []
    for piece in pieces(text):
        if "{" in piece:
            inner, declared = piece[piece.index("{") + 1 : piece.rindex("}")], piece[piece.rindex("}") + 1 :]
            if declared.strip(" *\n"):
                names += re.findall(r"\w+", re.sub(r"\[[^\]]*\]", "", declared))
            else:
                names += members(inner)
            continue
        pointer = re.search(r"\(\*(\w+)\)\(", piece)
        if pointer:
            names.append(pointer.group(1))
            continue
        piece = re.sub(r"alignas\([^()]*\)|\[[^\]]*\]", "", piece)
        first, *others = piece.split(",")
        for declarator in (first, *others):
            name = re.findall(r"\w+", declarator.split(":")[0])
            if name:
                names.append(name[-1])
    return names


def tables(folder):
    """{struct: [declared names of each of its tables]}"""
    found = {}
    for path in sorted(folder.glob("*/state*.c")) + sorted(folder.glob("*/*/state*.c")):
        if path.parts[-2] == "engine" or "build" in path.parts:
            continue
        for _, fields, struct, _ in TABLE.findall(without_comments(path.read_text(encoding="utf-8"))):
            names = re.findall(r"\bF\((\w+), \w+\)", fields)
            for words in re.findall(r"STATE_(?:BETWEEN|BEHIND)\([^\"]*\"([^\"]*)\"", fields):
                names += words.split()
            found.setdefault(struct, []).append(names)
    return found


def findings(found, headers):
    """What is wrong with the tables, one sentence each."""
    wrong = [f"struct {name} has no table" for name in STRUCTS if name not in found]
    wrong += [f"struct {name} has a table and is not in this list" for name in found if name not in STRUCTS]
    for name, lists in found.items():
        text = body(headers, name)
        if text is None:
            wrong.append(f"struct {name} is in no header")
            continue
        want = [member for member in members(text) if member not in FLEXIBLE.get(name, ())]
        for declared in lists:
            wrong += [f"struct {name}: {member} is not declared" for member in want if member not in declared]
            wrong += [
                f"struct {name}: {member} is declared, and is no member" for member in declared if member not in want
            ]
            wrong += [
                f"struct {name}: {member} is declared twice" for member in set(declared) if declared.count(member) > 1
            ]
    return wrong


def main():
    folder = pathlib.Path(sys.argv[1])
    headers = "\n".join(
        without_comments(path.read_text(encoding="utf-8"))
        for pattern in ("*/*.h", "*/*/*.h")
        for path in sorted(folder.glob(pattern))
        if path.relative_to(folder).parts[0] not in ("build", "out", "tests")
    )
    found = tables(folder)
    wrong = findings(found, headers)
    for name in STRUCTS:  # a new member is found
        more = re.sub(rf"\bstruct {name} \{{", f"struct {name} {{ unsigned news : 1;", headers, count=1)
        if f"struct {name}: news is not declared" not in findings(found, more):
            wrong.append(f"struct {name}: a new member would not be noticed")
    print(
        "\n".join(wrong) if wrong else f"{len(found)} structs, {sum(len(lists[0]) for lists in found.values())} members"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
