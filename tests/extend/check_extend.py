#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds one of each thing to a copy of the tree, as a newcomer would, and runs it.

usage: check_extend.py SOURCE WORK [quick]
Each toy lists the files that it brings and the lines that it adds to others. The files outside of tests/ that had
to be touched are the touch points of docs/architecture.md: more than the number given here is a failure, and so
is another number in that page's table. The copy is built without transport/roce, so that the toy transport is
the only one. quick: the toys and the files that they touch are compiled, nothing is linked or run.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
SOURCE, WORK = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
FAILURES = []


class Toy:
    """The additions: {path: file in this folder}, {path: [(line before the new one, new line)]}."""

    def __init__(self, name, limit, files, lines=None):
        self.name, self.limit, self.files, self.lines = name, limit, files, lines or {}

    def places(self):
        """A new folder counts as one place."""
        brought = {re.sub(r"^(transport/[^/]+)/.*", r"\1", path) for path in self.files}
        return sorted(brought | set(self.lines))

    def add(self, tree):
        for path, origin in self.files.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / origin, tree / path)
        for path, lines in self.lines.items():
            text = (tree / path).read_text()
            for after, new in lines:
                if text.count(after) != 1:
                    sys.exit(f"{path}: {text.count(after)} times {after!r}")
                text = text.replace(after, f"{after}\n{new}")
            (tree / path).write_text(text)


TOYS = [
    Toy("key in an existing object", 3, {}, {
        "switch/switch_spec.h": [("    uint64_t buffer_bytes;", "    uint64_t toy_bytes;")],
        "switch/switch_spec.c": [("const struct param switch_params[] = {",
                                  '    {.name = "toy", .type = PARAM_BYTES, .offset = SW(toy_bytes), .def = "5B", '
                                  '.help = "a toy"},')],
        "sim/fabric/fabric_switches.c": [("    fabric_buffer_init(fabric, index, err);",
                            '    if (dim->sw.toy_bytes == 6)\n        err_add(err, "switch.toy", "6 is not liked");')],
    }),
    Toy("top-level object", 3, {"config/object/object_toys.c": "object/object_toys.c"}, {
        "sim/spec/spec.h": [("enum network_model { NETWORK_PACKET, NETWORK_ANALYTICAL, NETWORK_HYBRID };",
                        "struct toy_spec {\n    uint64_t size;\n};"),
                       ("    struct limits_spec limits;", "    struct toy_spec *toys;\n    size_t n_toys;")],
        "config/object/objects.c": [('#include "engine/text/read.h"', "extern const struct object toys_object;"),
                             ("static const struct object *const objects[] = {", "    &toys_object,")]}),
    Toy("policy", 2, {"cc/halving.c": "policy/halving.c"}, {
        "cc/registry.c": [("extern const struct cc_ops cc_powertcp_delay;", "extern const struct cc_ops cc_halving;"),
                          ("    &cc_powertcp_delay,", "    &cc_halving,")]}),
    Toy("collective algorithm with a setting", 2, {"collective/algorithm/star.c": "algorithm/star.c"}, {
        "collective/algorithm/registry.c": [("extern const struct coll_algorithm coll_shifted_halving_doubling;",
                                   "extern const struct coll_algorithm coll_star;"),
                                  ("    &coll_shifted_halving_doubling,", "    &coll_star,")]}),
    Toy("topology kind", 3, {"net/topology/pair_of_switches.c": "topology/pair_of_switches.c"}, {
        "net/topology/kinds.h": [('#include "net/topology/topology.h"', "extern const struct topology_kind topology_pair;")],
        "net/topology/registry.c": [("    &topology_dln,", "    &topology_pair,")]}),
    Toy("workload kind", 3, {"workload/pairwise.c": "workload/pairwise.c"}, {
        "config/object/job_registry.c": [('#include "workload/training/training_job.h"', "extern const struct job_kind pairwise_kind;"),
                                  ("    {&poisson_kind, &poisson_reader},", "    {&pairwise_kind, NULL},")]}),
    Toy("transport", 2, {"transport/toy/toy.c": "transport/toy/toy.c"}, {
        "transport/registry.c": [("extern const struct transport_ops roce_transport;",
                                  "extern const struct transport_ops toy_transport;"),
                                 ("    &roce_transport,", "    &toy_transport,")]}),
    Toy("metric", 1, {}, {
        "report/metric_flows.c": [("static const struct metric flow_rows[] = {",
                                   '    {"toy", METRIC_COUNT, "packets again", INTEGER(flow_record, packets)},')]}),
    Toy("counter of a switch", 3, {}, {
        "switch/counters.h": [("    uint64_t marked;  // packets that got a CE mark", "    uint64_t toys;")],
        "switch/switch.c": [("    uint32_t out_local = p->onward;", "    sw->ports[s->first_port + local].counters.toys++;")],
        "report/metric_fabric.c": [("static const struct metric queue_port_rows[] = {",
                                    '    {"toys", METRIC_COUNT, "packets that were sent on", INTEGER(port_result, counters.toys)},')]}),
    Toy("output file", 3, {"report/toy_txt.c": "output/toy_txt.c"}, {
        "report/metrics.h": [('#include "sim/result/result.h"', "bool toy_txt(FILE *out, const struct result *r);")],
        "sim/spec/output_list.h": [("#define OUTPUT_LIST(X)" + " " * 77 + "\\", '    X("toy.txt", toy_txt, true) \\')]}),
    Toy("drop reason", 2, {}, {
        "net/drop.h": [("#define DROP_LIST(X)" + " " * 79 + "\\",
                        '    X(TOY, "toy", "a toy", "packets were dropped by a toy") \\')],
        "switch/switch.c": [("    uint32_t out_local = p->onward;",
                             "    if (p->kind == PACKET_DATA && p->entropy % 2 == 1 && meta_at(&net->meta, p->meta)->seq == 3 && \n"
                             "        net->drops[DROP_TOY].packets == 0) {\n"
                             "        network_drop(net, s->first_port + local, p, DROP_TOY, (struct drop_level){0}, now);\n        return;\n    }")]}),
]


def run(*args, **options):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True, check=False, **options)


def must(what, *args, code=0):
    done = run(*args)
    if done.returncode != code:
        sys.exit(f"{what}: exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def claim(what, holds, seen=""):
    print(f"{'ok  ' if holds else 'FAIL'} {what} {seen}")
    if not holds:
        FAILURES.append(what)


def copy_tree():
    shutil.rmtree(WORK / "tree", ignore_errors=True)
    tree = WORK / "tree"
    for folder in sorted(path for path in SOURCE.iterdir() if path.is_dir()):
        if list(folder.glob("*.c")) or list(folder.glob("*.h")) or folder.name in ("cmake", "include"):
            shutil.copytree(folder, tree / folder.name)
    shutil.copy(SOURCE / "CMakeLists.txt", tree)
    return tree


def remove_roce(tree):
    shutil.rmtree(tree / "transport" / "roce")
    registry = tree / "transport" / "registry.c"
    registry.write_text("\n".join(line for line in registry.read_text().split("\n") if "roce" not in line))


def count_places():
    page = (SOURCE / "docs" / "architecture.md").read_text()
    for toy in TOYS:
        n = len(toy.places())
        claim(f"{toy.name}: {n} places, at most {toy.limit}", n <= toy.limit, " ".join(toy.places()))
        row = re.search(rf"^\| {re.escape(toy.name)} \| (\d+) \|", page, re.M)
        claim(f"{toy.name}: the table of docs/architecture.md says so", bool(row) and int(row[1]) == n)


SCENARIO = {
    "name": "toys",
    "topology": {"dims": [{"kind": "pair", "size": 8, "trunks": 2}]},
    "cc": {"kind": "halving", "factor": 4},
    "transport": {"kind": "toy", "datagram": "1000B"},
    "toys": [{"size": 7}, {}],
    "capture": [{"at": "rank0", "file": "rank0.pcap"}],
    "workload": [
        {"kind": "collective", "op": "all_reduce", "algorithm": "star", "fan": 2, "bytes": "200KB"},
        {"kind": "pairwise", "bytes": "10KB", "rounds": 3, "compute": "5us"},
    ],
}


def check_run(binary):
    scenario, out = WORK / "toys.json", WORK / "out"
    scenario.write_text(json.dumps(SCENARIO))
    shutil.rmtree(out, ignore_errors=True)
    must("validate", binary, "validate", scenario)
    table = must("run", binary, "run", scenario, "--out", out)
    metrics = json.loads((out / "metrics.json").read_text())
    claim("the run completes", metrics["status"] == "completed", str(metrics["reason"]))
    claim("the all-reduce ends", metrics["collectives"][0]["duration_ns"] > 0)
    claim("the run is explained", any("halving" in line for line in metrics["explain"]), str(metrics["explain"]))
    claim("the toy's packets are dropped, counted and explained",
          metrics["drops"]["by_reason"]["toy"] == 1 and "dropped by a toy" in table, str(metrics["drops"]))
    claim("and sent again", sum(flow["retransmitted_packets"] for flow in metrics["flows"]) > 0)
    claim("the toy file is written", (out / "toy.txt").read_text() == f"{len(metrics['flows'])} messages\n")
    claim("the toy object is resolved", metrics["scenario"]["toys"] == [{"size": 7}, {"size": 3}],
          str(metrics["scenario"].get("toys")))
    claim("the toy metric is written", all(flow["toy"] == flow["packets"] for flow in metrics["flows"]))
    capture = (out / "rank0.pcap").read_bytes()
    frames = [frame for frame in frames_of(capture) if len(frame) > 50]
    claim("the capture has the toy's datagrams", len(frames) > 100 and
          all(9000 in (int.from_bytes(f[34:36], "big"), int.from_bytes(f[36:38], "big")) for f in frames), str(len(frames)))
    resolved = json.loads(must("print", binary, "validate", scenario, "--print"))
    claim("the toy key has its default", resolved["switch"]["toy"] in (5, "5B"), str(resolved["switch"].get("toy")))
    done = run(binary, "validate", scenario, "--set", "switch.toy=6")
    claim("and is read", done.returncode == 2 and "6 is not liked" in done.stderr, done.stderr)
    done = run(binary, "validate", scenario, "--set", "transport.datagram=9KB")
    claim("the toy transport's range is checked", done.returncode == 2 and "transport.datagram" in done.stderr, done.stderr)
    for category, name in (("cc", "halving"), ("collective", "star"), ("topology", "pair"), ("workload", "pairwise"),
                           ("transport", "toy")):
        claim(f"list {category} {name}", name in must("list", binary, "list", category, name))
    done = run(binary, "validate", scenario, "--set", "toys[0].size=10")
    claim("the toy object's range is checked", done.returncode == 2 and "toys[0].size" in done.stderr, done.stderr)
    done = run(binary, "run", scenario, "--set", "transport.kind=roce", "--out", WORK / "none")
    claim("there is no RoCE", done.returncode == 2 and 'unknown transport kind "roce"' in done.stderr, done.stderr)
    symbols = must("nm", "nm", binary)
    claim("nor its code", "roce_fill" not in symbols and "roce_on_data" not in symbols)


def frames_of(pcap):
    at = 24
    while at < len(pcap):
        kept = int.from_bytes(pcap[at + 8:at + 12], "little")
        yield pcap[at + 16:at + 16 + kept]
        at += 16 + kept


def check_compiles(tree):
    """The sources that the toys bring or touch are valid C in the tree with all toys."""
    sources = sorted({path for toy in TOYS for path in toy.places() + list(toy.files) if path.endswith(".c")})
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-DCOLLWIRE_HOST", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{tree}", f"-I{tree}/include"]
    for path in sources:
        done = run("cc", *flags, tree / path)
        claim(f"{path} compiles", done.returncode == 0, done.stderr[-2000:])


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    count_places()
    tree = copy_tree()
    for toy in TOYS:
        toy.add(tree)
    if sys.argv[3:] == ["quick"]:
        check_compiles(tree)
        return bool(FAILURES)
    remove_roce(tree)
    build = WORK / "build"
    must("cmake", "cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DBUILD_TESTING=OFF", "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_C_FLAGS_DEBUG=-O0")
    must("build", "cmake", "--build", build, "--parallel", "2")
    check_run(build / "collwire")
    return bool(FAILURES)


if __name__ == "__main__":
    sys.exit(main())
