#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of Chakra in JSON give the run that their records give; what is wrong with them is named, and nothing is written.

usage: check_json.py, with the executable in $COLLWIRE."""
import gzip
import json
import os
import subprocess
import sys
import tempfile

from trace_file import COLLS, TYPES, node, trace

COLLWIRE = os.environ["COLLWIRE"]
NAMES = {"COMP": "COMP_NODE", "COLL": "COMM_COLL_NODE", "SEND": "COMM_SEND_NODE", "RECV": "COMM_RECV_NODE", "LOAD": "MEM_LOAD_NODE", "METADATA": "METADATA_NODE"}
FAILED = []


def expect(what, holds, text=""):
    print(("ok: " if holds else "NOT: ") + what + ("" if holds else f": {text}"))
    if not holds:
        FAILED.append(what)


def nodes(rank):
    """Computations, a collective that waits for them, a group of the metadata, and a message."""
    listed = [node(1, "METADATA", inputs="['" + json.dumps([{"pg_name": "5", "ranks": [0, 1]}]) + "']", name="## process_group:init ##"),
              node(2, "COMP", us=7, is_cpu_op=False, num_ops=5, tensor_size=6),
              node(3, "COLL", [2], us=4, comm="ALL_REDUCE", comm_size=1 << 20, is_cpu_op=False, involved_dim=[True]),
              node(4, "COLL", [3], comm="ALL_GATHER", comm_size=1 << 16, pg_name="5", name='a "quoted" \\ {name}'),
              node(5, "COMP", [3, 4], us=11 + rank, is_cpu_op=True)]
    return listed + [node(6, "SEND" if rank == 0 else "RECV", [5], comm_size=5000, comm_tag=3, **({"comm_dst": 1} if rank == 0 else {"comm_src": 0}))]


def printed(listed, snake=False, indent=2):
    """As protobuf prints messages, one behind the other: camel case, and numbers of 64 bits as texts; or plainly."""
    def big(value):
        return value if snake else str(value)

    def attribute(name, value):
        if name == "comm":
            name, value = "comm_type", COLLS.index(value)
        if isinstance(value, bool):
            kind, value = "bool_val", value
        elif isinstance(value, int):
            kind, value = "int64_val", big(value)
        elif isinstance(value, list):
            kind, value = "bool_list", {"values": value}
        else:
            kind = "string_val"
        return {"name": name, kind if snake else "".join(w if i == 0 else w.capitalize() for i, w in enumerate(kind.split("_"))): value}

    objects = [{"version": "0.0.4"}]
    for n in listed:
        one = {"id": big(n["id"]), "name": n["name"] or f"n{n['id']}", "type": TYPES[n["kind"]] if snake else NAMES[n["kind"]]}
        if n["after"]:
            one["data_deps" if snake else "dataDeps"] = [big(a) for a in n["after"]]
        if n["us"]:
            one["duration_micros" if snake else "durationMicros"] = big(n["us"])
        if n["inputs"]:
            one["inputs"] = {"values": n["inputs"]}
        one["attr"] = [attribute(k, v) for k, v in n["attributes"].items()]
        one["somethingNew"] = {"of": ["later", "versions"]}
        objects.append(one)
    return "\n".join(json.dumps(o, indent=indent) for o in objects)


def run(folder, files):
    """metrics.json, or the errors."""
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    path, out = os.path.join(folder, "s.json"), os.path.join(folder, "out")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "s", "topology": {"dims": [{"kind": "switch", "size": 2}]}, "workload": {"kind": "chakra", "prefix": "t"}}, file)
    done = subprocess.run([COLLWIRE, "run", path, "--out", out, "--quiet"], capture_output=True, text=True, errors="replace", check=False, timeout=60)
    if done.returncode == 0:
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
            return done, json.load(file)
    return done, os.path.exists(out)


def check_same():
    with tempfile.TemporaryDirectory() as folder:
        done, wanted = run(folder, {f"t.{r}.et": trace(nodes(r)) for r in (0, 1)})
        expect("records", done.returncode == 0, done.stderr)
    for what, snake, indent, zipped in (("as protobuf prints", False, 2, False), ("plainly", True, None, False), ("in one line each, compressed", False, None, True),
                                        ("with blanks", True, 7, False)):
        with tempfile.TemporaryDirectory() as folder:
            texts = [printed(nodes(r), snake, indent) + "\n" for r in (0, 1)]
            done, got = run(folder, {f"t.{r}.et.gz" if zipped else f"t.{r}.json": gzip.compress(t.encode()) if zipped else t.replace("\n", "\r\n") for r, t in enumerate(texts)})
            expect(f"JSON {what}", done.returncode == 0 and got == wanted, done.stderr)
            if not zipped:
                os.remove(os.path.join(folder, "s.json"))
                shown = subprocess.run([COLLWIRE, "import", folder], capture_output=True, text=True, check=False, cwd=folder)
                expect(f"JSON {what}: import recognises it", shown.returncode == 0 and json.loads(shown.stdout)["workload"]["prefix"] == "t", shown.stderr)


def check_wrong():
    good = printed(nodes(0), False, None)
    cases = [
        ("cut", good[:-40], "t.0.json: record 6 at byte", "is cut off: the file ends in it"),
        ("no metadata", good.split("\n", 1)[1], "record 0 at byte 0", "must have the metadata"),
        ("no JSON", good + "\n{oops}", "record 7 at byte", "is no JSON: "),
        ("a list", good + "\n[]", "record 7 at byte", "is no JSON object"),
        ("negative", good.replace('"durationMicros": "7"', '"durationMicros": "7.5"'), "record 2 at byte", "duration_micros must be a whole number"),
        ("NaN", good.replace('"durationMicros": "7"', '"durationMicros": NaN'), "record 2 at byte", "is no JSON: "),
        ("too large", good.replace('"durationMicros": "7"', '"durationMicros": "99999999999999999999999"'), "record 2 at byte", "must be a whole number"),
        ("type", good.replace("COMP_NODE", "SPARKLE_NODE", 1), "record 2 at byte", "type is no type of node"),
        ("dependency", good.replace('"dataDeps": ["2"]', '"dataDeps": "2"'), "record 3 at byte", "data_deps must be a list"),
        ("attribute", good.replace('{"name": "comm_size", "int64Val": "1048576"}', "7"), "record 3 at byte", "attr must be an object"),
        ("text", good.replace('"name": "n2"', '"name": 2'), "record 2 at byte", "name must be a text"),
        ("nested", good + "\n" + '{"inputs":' * 3000, "record 7 at byte", "is cut off"),
        ("deep", good + "\n" + '{"inputs":' * 3000 + "1" + "}" * 3000, "record 7 at byte", "is no JSON: "),
        ("zero bytes", good.replace('"n2"', '"n\0"'), "record 2 at byte", "is no JSON: "),
        ("empty object", good + "\n{}", "record 7 at byte", "is empty: it is no node"),
        ("size", good.replace('"int64Val": "1048576"', '"stringVal": "much"'), "node 3", "comm_size must be a whole number"),
    ]
    for what, text, *parts in cases:
        with tempfile.TemporaryDirectory() as folder:
            done, left = run(folder, {"t.0.json": text, "t.1.json": printed(nodes(1))})
            expect(f"{what} is refused", done.returncode == 2 and left is False and all(p in done.stderr for p in parts), done.stderr)


def main():
    check_same()
    check_wrong()
    print(f"{len(FAILED)} failed" if FAILED else "all hold")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
