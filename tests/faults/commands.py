# SPDX-License-Identifier: MIT
"""Every command of the program with small inputs, for tests that interrupt commands or let their system calls fail.

The commands are those that the program lists: one without a row here is an error.
"""
import gzip
import json
import os
import pathlib
import subprocess

COLLWIRE = os.environ["COLLWIRE"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
INCAST = {"name": "small", "seed": 1, "topology": {"dims": [{"kind": "switch", "size": 3}]}, "cc": {"kind": "dcqcn"},
          "workload": {"kind": "incast", "receiver": 0, "bytes": "20KB"}}
TRAINING = {"name": "train", "topology": {"dims": [{"kind": "switch", "size": 4}]}, "workload": {
    "kind": "training", "parallelism": "DATA", "layers": [{"name": "fc", "wg": {"op": "all_reduce", "bytes": "10KB"}}]}}
LLM = {"name": "llm", "topology": {"dims": [{"kind": "switch", "size": 4}]}, "workload": {
    "kind": "llm", "layers": 2, "hidden": 64, "heads": 4, "sequence": 32, "vocabulary": 256, "global_batch": 4, "data": 4, "gpu": "a100"}}
NETWORK = {"name": "net", "topology": {"dims": [{"kind": "switch", "size": 10}]},
           "workload": {"kind": "incast", "receiver": 0, "bytes": "1KB"}}
GRAPH = {"operators": [{"name": f"o{i}", "time_ns": 1000, "memory_bytes": 1} for i in range(6)],
         "edges": [{"from": f"o{i}", "to": f"o{i + 1}", "bytes": 1000} for i in range(5)]}

# command -> its arguments. What it writes goes below "out", which exists; "was" has an earlier run and a comparison of it.
ROWS = {
    "run": ["small.json", "--out", "out/run", "--quiet"],
    "compare": ["small.json", "--cc", "none,dcqcn", "--jobs", "2", "--out", "out/compare"],
    "sweep": ["small.json", "--vary", "workload.bytes=1KB,2KB", "--jobs", "2", "--out", "out/sweep"],
    "explain": ["out/was", "--verify"],
    "report": ["out/was"],
    "plot": ["out/was", "--chart", "messages.slowdown", "-o", "out/chart.csv"],
    "validate": ["small.json", "--print"],
    "new": ["incast", "-o", "out/new.json"],
    "list": ["cc", "dcqcn"],
    "import": ["kineto", "traces", "-o", "out/job.json"],
    "gpcnet": ["net.json", "--cc", "none", "--jobs", "2", "--out", "out/impact"],
    "fit": ["measured.csv", "open.json", "--budget", "8", "--jobs", "2", "--out", "out/fit", "-o", "out/fitted.json"],
    "tune": ["small.json", "--vary", "switch.ecn.kmin=20KB..1MB", "--budget", "10", "--jobs", "2", "--out", "out/tune", "-o", "out/tuned.json"],
    "diagnose": ["measured.csv", "--network", "small.json", "--jobs", "2", "--out", "out/diagnose", "-o", "out/found.json"],
    "plan": ["llm.json", "--gpus", "4", "--best", "3", "--jobs", "2", "--out", "out/plan"],
    "partition": ["graph.json", "--parts", "2", "-o", "out/program.json"],
    "synth": ["llm.json", "-o", "out/like.json"],
    "shrink": ["llm.json", "-o", "out/less.json"],
    "export": ["chakra", "train.json", "-o", "out/traces"],
    "workload": ["llm", "llm.json", "-o", "out/nodes.jsonl"],
    "replay": ["out/was/a.pcap", "-o", "out/flows.csv"],
    "library": ["nccl", "--machine", "dgx_h100", "--nodes", "2"],
    "extcap": ["install", "--scenarios", "."],
    "help": ["run"],
    "generate": ["bash"],
}
SETS = ("run", "compare", "sweep", "gpcnet", "explain", "report")  # whose folder may have results of what has ended, marked as such


def check_table():
    """All commands have a row, and no other."""
    text = subprocess.run([COLLWIRE, "generate", "bash"], capture_output=True, text=True, check=True).stdout
    overview = subprocess.run([COLLWIRE, "--help"], capture_output=True, text=True, check=True).stdout
    listed = {line.split()[0] for line in overview.splitlines() if line.startswith("  ") and line[2:3].isalpha()}
    assert listed | {"generate"} == set(ROWS), f"commands without a row, or rows without a command: {(listed | {'generate'}) ^ set(ROWS)}"
    assert text


def prepare(folder):
    """The inputs of all rows."""
    small = {**INCAST, "capture": [{"at": "rank0", "file": "a.pcap"}]}
    for name, scenario in (("small", INCAST), ("train", TRAINING), ("llm", LLM), ("net", NETWORK), ("graph", GRAPH), ("captured", small)):
        (folder / f"{name}.json").write_text(json.dumps(scenario), encoding="utf-8")
    unknown = {**INCAST, "switch": {"buffer": {"from": "400KB", "to": "2MB"}}}
    (folder / "open.json").write_text(json.dumps(unknown), encoding="utf-8")
    (folder / "measured.csv").write_text("quantity,place,value\nfct,,4000\n", encoding="utf-8")
    (folder / "out").mkdir()
    (folder / "traces").mkdir()
    trace = gzip.decompress((ROOT / "tests/data/profile/kineto/rank0.json.gz").read_bytes())
    for rank in (0, 1):  # the second rank does as the first
        text = trace.replace(b'"rank": 0, "world_size"', b'"rank": %d, "world_size"' % rank)
        (folder / f"traces/rank{rank}.json").write_bytes(text)
    subprocess.run([COLLWIRE, "run", "captured.json", "--out", "out/was", "--quiet"], cwd=folder, check=True)


def call(command, folder, **environment):
    """Run the row of a command in a folder that prepare() has filled."""
    words = [COLLWIRE, command, *ROWS[command]]
    try:
        return subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60,
                              env={**clean(), "HOME": str(folder / "out"), "XDG_CONFIG_HOME": "", **environment},
                              pass_fds=[int(environment["FAIL_COUNT"])] if "FAIL_COUNT" in environment else [])
    except subprocess.TimeoutExpired as error:
        return subprocess.CompletedProcess(words, 124, error.stdout or b"", b"does not end")


def clean():
    """The environment without what a sanitizer counts, without Wireshark's folders, and with the program's own charts."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("ASAN", "WIRESHARK", "XDG", "COLLWIRE_SHARE"))}


def tree(folder):
    """The files below a folder: name -> bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}
