#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the tables of docs/study-dlrm.md.

Every row is a committed scenario with overrides; `run.py --show` prints all runs as command lines.
A finished run is kept in --out, so that a second call makes only what is missing.
"""
import json
import pathlib
import sys
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import runner  # noqa: E402
from runner import Run, cc, size, spread  # noqa: E402

NONE = cc("none")
STATIC = "switch.routing.kind=static"
ANALYTICAL = "network=analytical"
BARE = "transport.wire_overhead=none"
POLICIES = ["none", "window", "dcqcn", "dctcp", "timely", "hpcc", "swift", "powertcp"]
OUT_OF_ORDER = ["switch.routing.kind=adaptive", "transport.recovery=selective_repeat", "transport.reorder=64",
                "transport.rto_low=100us", "transport.bdp_cap=false"]
ONE_SWITCH = ["topology.dims[1].ranks_per_leaf=64", "topology.dims[1].spines=1"]


def closed_forms(servers):
    """The same links without contention: the analytical network knows no Clos, only one switch."""
    link = {"rate": "200Gbps", "delay": "500ns"}
    return [ANALYTICAL, "topology.dims[1]=" + json.dumps({"kind": "switch", "size": servers, "link": link},
                                                         separators=(",", ":"))]


def summary(metrics, run):
    """What the tables show of a run."""
    training = metrics["training"]
    layers = training["layers"]
    exposed = [layer[part]["exposed_ns"] for layer in layers if layer["name"] == "embedding"
               for part in ("fwd", "ig", "wg")]
    embedding = [c for c in metrics["collectives"] if c["name"] == "embedding"]
    sent = [sum(phase["bytes"] for phase in c["phases"]) for c in embedding]
    # An all-to-all's `bytes` are those of the rank that has most; a rank keeps one share of n. The closed
    # forms of ranks that are alike count none.
    uneven = [c["bytes"] / (c["phases"][0]["bytes"] / (c["ranks"] - 1)) for c in embedding
              if c["op"] == "all_to_all" and c["phases"][0]["bytes"] > 0]
    return {
        "status": metrics["status"],
        "ranks": training["ranks"],
        "iterations": len(training["iterations"]),
        "total_ns": training["total_ns"],
        "compute_ns": training["compute_ns"],
        "exposed_ns": training["exposed_comm_ns"],
        "exposed_embedding_ns": sum(exposed),
        "embedding_bytes": sum(sent) / training["ranks"] / len(training["iterations"]),
        "uneven": max(uneven, default=None),
        "queue": metrics["queues"]["max_bytes"],
        "marks": metrics["ecn"]["marked_packets"],
        "pauses": metrics["pfc"]["pause_frames"],
        "drops": metrics["drops"]["packets"],
        "timeouts": metrics["recovery"]["timeouts"],
        "probes": (metrics["tcp"] or {}).get("tail_loss_probes", 0),
        "cpu_s": run["cpu_s"],
        "packet_hops": run["packet_hops"],
    }


class Row(typing.NamedTuple):
    words: tuple
    scenario: str
    overrides: tuple = ()
    seeds: int = 1

    def runs(self):
        return [Run(self.scenario, self.overrides, seed) for seed in range(1, self.seeds + 1)]


def row(words, scenario, *overrides, seeds=1):
    return Row(words if isinstance(words, tuple) else (words,), scenario, overrides, seeds)


SMALL = ["workload.iterations=1", "workload.dlrm.batch=64"]  # 256 ranks row by row send 256 times as much
SHARDINGS = {  # copies of all rows would be 3.3 GB a rank
    "table": ["workload.dlrm.sharding=table"],
    "column": ["workload.dlrm.sharding=column"],
    "row": ["workload.dlrm.sharding=row"],
    "data": ["workload.dlrm.sharding=data", "workload.dlrm.rows=100000"],
}
DENSE = ["workload.dlrm.sharding=data", "workload.dlrm.rows=1"]  # all-reduces, and nothing beside them
UNEVEN_STARTS = ["transport.start_jitter=10us", "transport.clock_ppm=100"]
LOSSY = "topology.dims[1].switch.pfc.enabled=false"
FABRICS = {  # overrides; buffers, smallest first
    "lossless": ([], ["4MB", "8MB", "32MB"]),
    "lossy, go-back-N": ([LOSSY, "transport.rto=4194304ns"], ["1MB", "2MB", "4MB", "8MB", "32MB"]),
    "lossy, selective repeat": ([LOSSY, "transport.recovery=selective_repeat", "transport.rto_low=100us",
                                 "transport.bdp_cap=false"],
                                ["1MB", "2MB", "4MB", "8MB", "32MB"]),
}
ALL_REDUCES = {"flat, direct": "oneDirect", "flat, ring": "oneRing", "hierarchical": "ring_ring"}


def buffer_row(what, dense, name, fabric, buffer):
    overrides = [*UNEVEN_STARTS, *(DENSE if dense else []), *FABRICS[fabric][0],
                 f"workload.system.all-reduce-implementation={ALL_REDUCES[name]}",
                 f"topology.dims[1].switch.buffer={buffer}"]
    return row((what, name, fabric, buffer), "dlrm/dlrm-global-buffer", *overrides)


def buffers(what, dense):
    return [buffer_row(what, dense, name, fabric, buffer)
            for fabric in FABRICS for name in ALL_REDUCES for buffer in FABRICS[fabric][1]]


TCP_BUFFERS = ["500KB", "1MB", "2MB", "4MB", "8MB", "16MB", "32MB"]


def tcp_row(what, dense, name, buffer, rto):
    return row((what, name, rto, buffer), "dlrm/dlrm-global-buffer-tcp", *UNEVEN_STARTS, *(DENSE if dense else []),
               f"transport.rto_min={rto}", f"workload.system.all-reduce-implementation={ALL_REDUCES[name]}",
               f"topology.dims[1].switch.buffer={buffer}", seeds=5)


def tcp_buffers():
    rows = [tcp_row(what, what == "all-reduces", name, buffer, "1ms")
            for what in ("all-reduces", "whole model") for name in ALL_REDUCES for buffer in TCP_BUFFERS]
    return rows + [tcp_row("all-reduces", True, name, buffer, "200ms")
                   for name in ("flat, direct", "hierarchical") for buffer in TCP_BUFFERS]


RESNET, DGX, TPU = "models/resnet50-64", "models/vgg16-dgx2", "models/vgg16-tpu"
MODELS = {
    "ResNet-50, 64 GPUs": [RESNET],
    "VGG-16, like a DGX-2": [DGX],
    "the same, one chunk a layer": [DGX, "workload.system.preferred-dataset-splits=1"],
    "VGG-16, like a TPU": [TPU],
    "Transformer, 64 GPUs": ["models/transformer-64"],
    "GPT-3, 3 layers, 64 GPUs": ["models/gpt3-64"],
}
NO_DELAY = ["topology.dims[0].link.delay=0ns", "topology.dims[1].link.delay=0ns"]
TABLES = {
    "policies": [row((policy, "ECMP"), "dlrm/dlrm-64", cc(policy), seeds=5) for policy in POLICIES] +
                [row((policy, "static"), "dlrm/dlrm-64", cc(policy), STATIC)
                 for policy in ("none", "window", "dcqcn", "hpcc")] +
                [row((policy, "static, an ACK a packet"), "dlrm/dlrm-64", cc(policy), STATIC, "transport.ack_interval=1")
                 for policy in ("none", "window", "dcqcn", "hpcc")] +
                [row(("none", "ECMP, 4 queue pairs a pair"), "dlrm/dlrm-64", NONE, "transport.qps_per_pair=4", seeds=5),
                 row(("none", "adaptive, packets out of order"), "dlrm/dlrm-64", NONE, *OUT_OF_ORDER)],
    "gap": [
        row("DLRM: closed forms, no latency", "dlrm/dlrm-64", *closed_forms(8), *NO_DELAY),
        row("closed forms", "dlrm/dlrm-64", *closed_forms(8)),
        row("packets, one switch, no headers", "dlrm/dlrm-64", NONE, *ONE_SWITCH, BARE),
        row("with headers and ACKs", "dlrm/dlrm-64", NONE, *ONE_SWITCH),
        row("two tiers, static routes", "dlrm/dlrm-64", NONE, STATIC),
        row("ECMP", "dlrm/dlrm-64", NONE),
        row("ECMP, 1 GB of buffer", "dlrm/dlrm-64", NONE, "switch.buffer=1GB"),
        row("ResNet-50: closed forms, no latency", RESNET, ANALYTICAL, *NO_DELAY),
        row("closed forms", RESNET, ANALYTICAL),
        row("packets of 512 B, no headers", RESNET, BARE, "transport.mtu=512B"),
        row("packets of 4096 B, no headers", RESNET, BARE),
        row("with headers and ACKs", RESNET),
        row("1 GB of buffer", RESNET, "switch.buffer=1GB"),
    ],
    "scale": [row((str(8 * servers), name, network), f"dlrm/dlrm-{8 * servers}", *SMALL, *overrides,
                  *(closed_forms(servers) if network == "closed forms" else [NONE]))
              for servers in (2, 8, 32) for name, overrides in SHARDINGS.items()
              for network in ("closed forms", "packets")],
    "buffer": buffers("whole model", False),
    "buffer-dense": buffers("all-reduces alone", True),
    "tcp": tcp_buffers(),
    "models": [row((name, network), scenario, *more, *([ANALYTICAL] if network == "closed forms" else []))
               for name, (scenario, *more) in MODELS.items() for network in ("closed forms", "packets")],
}


def ms(value, digits=3):
    return f"{value / 1e6:.{digits}f}"


def found(rows, cache):
    """Rows with their results; None where a run is missing."""
    results = [(r, [cache.get(run) for run in r.runs()]) for r in rows]
    return None if any(None in got for _, got in results) else results


def block(rows):
    lines = ["```sh"]
    for r in rows:
        seeds = f"--seed 1  # and 2 to {r.seeds}" if r.seeds > 1 else ""
        lines += runner.example(", ".join(r.words), r.scenario, r.overrides, seeds)
    return [*lines, "```", ""]


def policies(results):
    none = {r.words[1]: got for r, got in results if r.words[0] == "none"}
    rows = []
    for r, got in results:
        over = [a["total_ns"] / b["total_ns"] for a, b in zip(got, none[r.words[1]])]
        each = lambda key: [g[key] / g["iterations"] / 1e6 for g in got]
        rows.append([*r.words, spread(each("total_ns"), 2), "1" if r.words[0] == "none" else spread(over, 2),
                     spread(each("exposed_ns"), 2), spread(each("exposed_embedding_ns"), 2),
                     size(max(g["queue"] for g in got)),
                     f"{runner.mean([g['marks'] for g in got]):.0f}",
                     f"{runner.mean([g['pauses'] for g in got]):.0f}"])
    return runner.markdown(["policy", "routes", "iteration, ms", "over none", "exposed, ms", "of it all-to-all",
                            "queue", "marks", "pauses"], rows)


def gap(results):
    rows, before = [], None
    for r, (g,) in results:
        total = g["total_ns"] / g["iterations"]
        first = before is None or ":" in r.words[0]
        rows.append([r.words[0], ms(total), "" if first else f"{(total - before) / 1e6:+.3f}",
                     ms(g["exposed_ns"] / g["iterations"]), ms(g["exposed_embedding_ns"] / g["iterations"]),
                     str(g["pauses"])])
        before = total
    return runner.markdown(["", "iteration, ms", "more", "exposed, ms", "of it all-to-all", "pauses"], rows, words=1)


def pairs(results):
    """Closed forms and packets of the same, in one."""
    return [(a[0], *a[1], *b[1]) for a, b in zip(results[::2], results[1::2])]


def scale(results):
    rows = []
    for r, closed, packet in pairs(results):
        uneven = packet["uneven"]
        rows.append([*r.words[:2], size(packet["embedding_bytes"]), f"{uneven:.2f}" if uneven else "-",
                     ms(closed["total_ns"]), ms(packet["total_ns"]),
                     f"{packet['total_ns'] / closed['total_ns']:.2f}", ms(packet["exposed_ns"]),
                     ms(packet["exposed_embedding_ns"]), str(packet["pauses"]), f"{packet['cpu_s']:.1f}"])
    return runner.markdown(["GPUs", "sharding", "sent by a GPU", "largest over mean", "closed forms, ms",
                            "packets, ms", "ratio", "exposed, ms", "of it all-to-all", "pauses", "run, s"],
                           rows)


def sweep(results):
    by = {r.words[1:]: got[0] for r, got in results}
    sizes = FABRICS["lossy, go-back-N"][1]
    rows = []
    for fabric in FABRICS:
        for name in ALL_REDUCES:
            cells = [by.get((name, fabric, buffer)) for buffer in sizes]
            most = by[(name, fabric, sizes[-1])]
            least = by[(name, fabric, FABRICS[fabric][1][0])]
            rows.append([name, fabric, *("" if c is None else ms(c["total_ns"]) for c in cells),
                         f"{least['total_ns'] / most['total_ns']:.2f}", size(most["queue"]),
                         *(str(least[key]) for key in ("pauses", "drops", "timeouts"))])
    return runner.markdown(["all-reduce", "global switch", *(f"{s[:-2]} MB" for s in sizes), "smallest over 32 MB",
                            "queue at 32 MB", "pauses, smallest", "drops, smallest", "timeouts, smallest"], rows)


def tcp(results):
    by = {r.words: got for r, got in results}
    rows = []
    for what, name, rto in dict.fromkeys(r.words[:3] for r, _ in results):
        got = [by[(what, name, rto, buffer)] for buffer in TCP_BUFFERS]
        times = [[g["total_ns"] / 1e6 for g in each] for each in got]
        least, most = runner.mean(times[0]), runner.mean(times[-1])
        lost = [f"{runner.mean([g[key] for g in got[0]]):.0f}" for key in ("drops", "timeouts", "probes")]
        rows.append([what, name, rto, *(spread(each, 2) for each in times), f"{least / most:.2f}", *lost])
    return runner.markdown(["", "all-reduce", "rto_min", *(buffer.replace("KB", " KB").replace("MB", " MB")
                                                         for buffer in TCP_BUFFERS),
                            "500 KB over 32 MB", "drops, 500 KB", "timeouts", "probes"], rows)


def models(results):
    rows = []
    for r, closed, packet in pairs(results):
        rows.append([r.words[0], str(packet["ranks"]), ms(packet["compute_ns"]), ms(closed["total_ns"]),
                     ms(packet["total_ns"]), f"{packet['total_ns'] / closed['total_ns']:.4f}",
                     ms(closed["exposed_ns"]), ms(packet["exposed_ns"]), f"{closed['cpu_s']:.3f}",
                     f"{packet['cpu_s']:.1f}", f"{packet['packet_hops'] / 1e6:.1f}"])
    return runner.markdown(["model", "ranks", "compute, ms", "closed forms, ms", "packets, ms", "ratio",
                            "exposed, closed forms", "exposed, packets", "run of closed forms, s",
                            "run of packets, s", "M packet-hops"], rows, words=1)


MAKE = {"policies": policies, "gap": gap, "scale": scale, "buffer": sweep, "buffer-dense": sweep, "tcp": tcp, "models": models}
SHOWN = {  # rows whose command stands above the table
    "policies": lambda rows: [rows[0], *rows[-3:]],
    "gap": lambda rows: rows[:7],
    "scale": lambda rows: [*rows[:2], rows[-2], rows[-1]],
    "buffer": lambda rows: [rows[0], rows[len(rows) // 2], rows[-1]],
    "buffer-dense": lambda rows: [rows[0], rows[-1]],
    "tcp": lambda rows: [rows[0], rows[len(TCP_BUFFERS) * 2], rows[-1]],
    "models": lambda rows: rows,
}


def texts(chosen, cache):
    made = {}
    for name in chosen:
        results = found(TABLES[name], cache)
        made[name] = results and "\n".join([*block(SHOWN[name](TABLES[name])), MAKE[name](results)])
    return made


if __name__ == "__main__":
    wanted = {name: [run for r in rows for run in r.runs()] for name, rows in TABLES.items()}
    sys.exit(runner.main("dlrm", __doc__, wanted, summary, lambda result: result["total_ns"], texts))
