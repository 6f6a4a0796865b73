#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The symbol graph of the objects: no circle of rooms, no large circle of files, no more arrows than counted.

usage: check_symbols.py BUILD [--list]

A room is a folder with sources; an arrow leads from the room of an object that uses a symbol to the room of the
object that defines it, weak symbols included. The ceilings below are counts: whoever lowers one by his work writes
the lower number here. --list prints the arrows, and how many symbols of each room others use.
"""
import collections
import json
import pathlib
import subprocess
import sys

FILES_IN_A_CIRCLE = 4
ROOMS = 75
ARROWS = 414


def objects(build):
    """Name of the source without its end -> object file, of all layers."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = entry["command"].split()
        path = pathlib.PurePosixPath(words[words.index("-o") + 1])
        layer = path.parts[1].removesuffix(".dir")
        if path.parts[0] == "CMakeFiles" and layer.startswith("collwire_") and (build / "lib" / f"lib{layer}.a").exists():
            found[str(pathlib.PurePosixPath(*path.parts[2:]))[: -len(".c.o")]] = build / path
    return found


def symbols(path):
    """The symbols that an object defines, and those that it uses."""
    defined, used = set(), set()
    text = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        kind, name = line.split()[-2:]
        if kind in "TDRBW":
            defined.add(name)
        elif kind in "Uwv":
            used.add(name)
    return defined, used


def circles(graph):
    """Strongly connected components of more than one node (Tarjan, SIAM J. Comput. 1972)."""
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on.add(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while not component or component[-1] != node:
                component.append(stack.pop())
                on.discard(component[-1])
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=lambda c: (-len(c), c))


def main():
    build = pathlib.Path(sys.argv[1])
    home, uses = {}, {}
    for name, path in objects(build).items():
        defined, uses[name] = symbols(path)
        home.update(dict.fromkeys(defined, name))
    room = lambda name: str(pathlib.PurePosixPath(name).parent)
    files = {name: set() for name in uses}
    rooms = collections.defaultdict(lambda: collections.defaultdict(set))
    interface = collections.defaultdict(set)
    for name, used in uses.items():
        rooms[room(name)]  # pylint: disable=pointless-statement
        for symbol in used & home.keys():
            other = home[symbol]
            if other != name:
                files[name].add(other)
            if room(other) != room(name):
                rooms[room(name)][room(other)].add(symbol)
                interface[room(other)].add(symbol)
    arrows = sum(map(len, rooms.values()))
    if "--list" in sys.argv:
        for a in sorted(rooms):
            print(f"{a}: {len(interface[a])} symbols used by others; uses "
                  + (", ".join(f"{b} ({len(s)})" for b, s in sorted(rooms[a].items())) or "nothing"))
    failures = [f"a circle of rooms: {' '.join(c)}" for c in circles({a: set(b) for a, b in rooms.items()})]
    failures += [f"a circle of {len(c)} files, {FILES_IN_A_CIRCLE} are the most: {' '.join(c)}"
                 for c in circles(files) if len(c) > FILES_IN_A_CIRCLE]
    if len(rooms) > ROOMS:
        failures.append(f"{len(rooms)} rooms, counted were {ROOMS}")
    if arrows > ARROWS:
        failures.append(f"{arrows} arrows between rooms, counted were {ARROWS}")
    largest = max(map(len, circles(files)), default=1)
    print(f"{len(files)} objects, {len(rooms)} rooms, {arrows} arrows between them, "
          f"largest circle {largest} files, no circle of rooms" if not failures else "\n".join(failures))
    return bool(failures) or not files


if __name__ == "__main__":
    sys.exit(main())
