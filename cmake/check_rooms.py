#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The order of the rooms. A source includes its own folder, folders before it in the line of its room's README.md (where `*` stands
for folders that the line does not name, which do not see each other), rooms before its own in the line of cmake/Rooms.cmake, collwire/,
and the libraries that its room's README.md names. A header *_internal.h is for the
files beside it. With BUILD also: an object uses no symbol of a later room, only cli/ prints, exits and loads code, and no circle
of files is longer than FILES_IN_A_CIRCLE. usage: check_rooms.py SOURCE [BUILD]
"""
import json
import pathlib
import re
import subprocess
import sys

FILES_IN_A_CIRCLE = 4
CLI_ONLY = set("printf puts putchar perror stderr exit _exit quick_exit dlopen".split())
ALSO = {("engine", "stderr")}  # a failed assertion
LIBRARY_HEADERS = set("ev.h jansson.h mpi.h sqlite3.h yaml.h pcap.h zlib.h expat.h metis.h nlopt.h dlfcn.h duktape.h".split())
STANDARD = re.compile(r"^(sys/\w+|arpa/inet|getopt|[a-z]+)\.h$")
LINE = re.compile(r"^(Order|Libraries): (.+)$", re.M)


def room_rules(source, room):
    """{folder: place in the line}; folders joined by + are one place, * is that of all others. And the library headers of a room."""
    found = {key: re.findall(r"`<?([^`>]+)>?`", text) for key, text in LINE.findall((source / room / "README.md").read_text())}
    places = found["Order"][0].split(" < ")
    return {folder: at for at, place in enumerate(places) for folder in place.split(" + ")}, set(found.get("Libraries", []))


def include_faults(source, rooms):
    for number, room in enumerate(rooms):
        order, libraries = room_rules(source, room)
        for path in sorted((source / room).rglob("*.[ch]")):
            folder = path.parent.relative_to(source / room).as_posix()
            at = order.get(folder, order.get("*"))
            if at is None:
                yield f"{room}/README.md: the line Order has no {folder}"
                continue
            for mark, name in re.findall(r'^\s*#\s*include\s+(["<])([^">]+)', path.read_text(), re.M):
                other, _, rest = name.partition("/")
                where = f"{path.relative_to(source)}: {name}"
                inner = str(pathlib.PurePosixPath(rest).parent)
                if name.endswith("_internal.h") and not (source / name).parent == path.parent:
                    yield f"{where} is for the files beside it"
                elif other == room and inner != folder and (order.get(inner, order.get("*", -1)) > at or inner not in order and folder not in order):
                    yield f"{where} is after {folder} in the order of {room}/README.md"
                elif other in rooms and rooms.index(other) > number:
                    yield f"{where} is of a later room"
                elif other not in rooms and other != "collwire" and name not in libraries and (mark == '"' or not STANDARD.match(name)
                                                                                                  or name in LIBRARY_HEADERS):
                    yield f"{where} is of a library that {room}/README.md does not name"


def objects(build, rooms):
    """Name of the source without its end -> object file."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.PurePosixPath(re.search(r" -o (\S+)", entry["command"])[1])
        if path.parts[0] == "CMakeFiles" and path.parts[1].removesuffix(".dir") in {f"collwire_{room}" for room in rooms}:
            yield str(pathlib.PurePosixPath(*path.parts[2:]))[: -len(".c.o")], build / path


def circle(graph, start):
    """The files that `start` reaches and that reach it."""
    def reached(edges):
        seen, todo = {start}, [start]
        while todo:
            fresh = edges[todo.pop()] - seen
            seen |= fresh
            todo += fresh
        return seen
    back = {name: set() for name in graph}
    for name, others in graph.items():
        for other in others:
            back[other].add(name)
    return sorted(reached(graph) & reached(back))


def symbol_faults(build, rooms):
    names = {str(path): name for name, path in objects(build, rooms)}
    home, uses = {}, {name: set() for name in names.values()}
    for line in subprocess.run(["nm", "-A", *names], capture_output=True, text=True, check=True).stdout.splitlines():
        path, _, words = line.partition(":")
        kind, symbol = words.split()[-2:]
        if kind in "TDRBW":
            home[symbol] = names[path]
        elif kind in "Uwv":
            uses[names[path]].add(symbol)
    graph = {name: {home[symbol] for symbol in used if symbol in home} - {name} for name, used in uses.items()}
    rank = {name: rooms.index(name.split("/")[0]) for name in graph}
    for name, used in sorted(uses.items()):
        room = name.split("/")[0]
        yield from (f"{name} uses {symbol} of {home[symbol]}, a later room" for symbol in used if symbol in home and rank[home[symbol]] > rank[name])
        yield from (f"{name} uses {symbol}: only cli/ prints, exits and loads code" for symbol in used & CLI_ONLY
                    if room != "cli" and (room, symbol) not in ALSO)
    yield from {f"a circle of {len(files)} files: {' '.join(files)}" for files in (circle(graph, name) for name in graph)
                if len(files) > FILES_IN_A_CIRCLE}
    if len(graph) < 300:
        yield f"{len(graph)} objects: these are not all"


def main():
    source = pathlib.Path(sys.argv[1])
    rooms = re.search(r"set\(COLLWIRE_ROOMS ([a-z ]+)\)", (source / "cmake" / "Rooms.cmake").read_text())[1].split()
    faults = list(include_faults(source, rooms)) + (list(symbol_faults(pathlib.Path(sys.argv[2]), rooms)) if len(sys.argv) > 2 else [])
    print("\n".join(faults) or "the rooms are in their order")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
