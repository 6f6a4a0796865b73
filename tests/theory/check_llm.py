# SPDX-License-Identifier: MIT
"""Closed forms of transformer training, counted from runs of `kind: llm`.

check_llm.py PRIORITIES.json: runs small transformers over the analytical network and compares
 - the bubble share of each pipeline schedule with (p - 1)/(v m + p - 1) (Narayanan et al., SC 2021, 2.2),
   with messages that take next to no time (1 ns of 10 ms);
 - the bytes that every rank sends for each kind of parallelism with the published volumes: tensor
   (Narayanan et al., 3.2), sequence parallelism (Korthikanti et al.), pipeline, ZeRO 0 to 3 (Rajbhandari et
   al., section 7), context parallelism by all-gather (Llama 3), experts (GShard), all by ring or direct
   algorithms, whose ranks send (n - 1)/n of a vector a pass;
 - the operations of an iteration with the published 72 b s l h^2 (1 + s/6h + V/12lh) (SC 2021, 3.3,
   without recomputation; our attention counts the full square, as there).
"""
import json
import os
import subprocess
import sys
import tempfile

BASE = {"kind": "llm", "layers": 8, "hidden": 256, "heads": 8, "sequence": 128, "vocabulary": 1024,
        "global_batch": 32, "efficiency": 1, "peak_tflops": 0.001, "memory_bandwidth": 1000000}
failures = 0


def expect(what, got, want, most):
    global failures
    if abs(got - want) > most:
        failures += 1
        print(f"FAIL {what}: got {got}, want {want} within {most}")


def run(changes, network="analytical"):
    job = {**BASE, **changes}
    ranks = 1
    for key in ("tensor", "context", "expert", "data", "pipeline"):
        ranks *= job.get(key, 1)
    scenario = {"name": "llm", "network": network, "workload": job, "topology": {"dims": [
        {"kind": "switch", "size": ranks, "link": {"rate": "10Tbps", "delay": "0ns"}}]}}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.environ["COLLWIRE"], "run", "-", "--out", folder, "--quiet"], check=True,
                       input=json.dumps(scenario).encode())
        with open(f"{folder}/metrics.json", encoding="utf-8") as f:
            metrics = json.load(f)
    assert metrics["status"] == "completed"
    return metrics, job


def uses(rank):
    return {u["name"]: u["bytes"] for u in rank["uses"]}


def bubbles():
    for schedule, stages, parts, batch in (("gpipe", 4, 1, 8), ("1f1b", 4, 1, 8), ("1f1b", 8, 1, 4),
                                           ("interleaved", 4, 2, 8), ("interleaved", 2, 4, 8)):
        metrics, _ = run({"schedule": schedule, "pipeline": stages, "virtual_stages": parts,
                          "global_batch": batch, "vocabulary": 1, "optimizer_bytes": 0})
        want = (stages - 1) / (parts * batch + stages - 1)
        expect(f"bubble of {schedule} p={stages} v={parts} m={batch}",
               metrics["programs"][0]["bubble_share"], want, 1e-4)


def tables_as_layers():
    """Stages of 1, 2, 2 and 1 layers: the first stage computes half as long as the second."""
    metrics, _ = run({"layers": 6, "pipeline": 4, "tables_as_layers": True, "vocabulary": 1, "optimizer_bytes": 0})
    compute = [rank["compute_ns"] for rank in metrics["ranks"]]
    for stage, layers in enumerate((1, 2, 2, 1)):
        expect(f"computing of stage {stage}", compute[stage] / compute[1], layers / 2, 1e-3)


def other_gpus():
    """Ranks with another GPU compute as long as in a job of such GPUs alone, factors are exact, and all end with the slowest; MFU is of the
    mean peak; a stage fits into the memory of its own GPU."""
    shape = {"hidden": 2048, "heads": 16, "sequence": 1024, "layers": 4, "efficiency": "auto", "peak_tflops": 0, "memory_bandwidth": 0, "vocabulary": 8000}
    alone = {gpu: run({**shape, "data": 4, "gpu": gpu})[0] for gpu in ("h100", "a100")}
    mixed = run({**shape, "data": 4, "gpus": [{"from": 2, "to": 2, "gpu": "a100"}, {"from": 3, "to": 3, "gpu": "a100", "factor": 1.25}]})[0]
    h100, a100 = (alone[gpu]["ranks"][0]["compute_ns"] for gpu in ("h100", "a100"))
    for rank, want in enumerate((h100, h100, a100, 1.25 * a100)):
        expect(f"computing of rank {rank}", mixed["ranks"][rank]["compute_ns"], want, 20)
    ends = [rank["finish_ns"] for rank in mixed["ranks"]]
    expect("the time beyond computing", max(ends) - 1.25 * a100, alone["a100"]["sim_time_ns"] - a100, 100)
    expect("all wait for the slowest", min(ends) / max(ends), 1, 0.05)
    job = mixed["programs"][0]
    mean = (2 * 989.4 + 2 * 312) / 4
    mfu = alone["h100"]["programs"][0]["mfu"] * alone["h100"]["programs"][0]["total_ns"] / job["total_ns"] * 989.4 / mean
    expect("mfu of the mean peak", job["mfu"], mfu, 1e-3 * mfu)
    stages = {**shape, "layers": 48, "hidden": 4096, "heads": 32, "pipeline": 2, "zero": 1, "data": 2}
    fits = [call_refused({**stages, "gpus": [{"from": 2, "to": 3, "gpu": gpu}], "gpu": "h200"}) for gpu in ("h200", "a100_40gb", "v100")]
    expect("refused where a stage does not fit", [bool(f) for f in fits].count(True), 2, 0)
    expect("the smaller GPU is named", sum("A100 40 GB" in f or "V100" in f for f in fits), 2, 0)
    for gpus, says in (([{"from": 0, "to": 4, "gpu": "a100"}], "gpus[0].to: rank 4 of a job of 4 ranks"),
                       ([{"from": 1, "to": 0}], "gpus[0].from: is after"),
                       ([{"from": 0, "to": 1}, {"from": 1, "to": 2}], "gpus[1].from: rank 1 has a GPU already"),
                       ([{"from": 0, "to": 1, "gpu": "tpu"}], "gpus[0].gpu"), ([{"from": 0, "to": 1, "factor": 1000}], "gpus[0].factor"),
                       ([{"from": 0, "to": 1, "gpu": "v100"}, {"from": 2, "to": 3, "other": 1}], "gpus[1].other: unknown key"), (3, "gpus")):
        said = call_refused({**shape, "data": 4, "gpus": gpus})
        expect(f"{gpus}: {said}", says in said, True, 0)


def call_refused(changes):
    """What validate says of a job; empty if it is valid."""
    job = {**BASE, **changes}
    ranks = job.get("data", 1) * job.get("pipeline", 1)
    scenario = {"name": "llm", "workload": job, "topology": {"dims": [{"kind": "switch", "size": ranks, "link": {"rate": "10Tbps", "delay": "0ns"}}]}}
    done = subprocess.run([os.environ["COLLWIRE"], "validate", "-"], input=json.dumps(scenario), capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def parameters(job, layer_is_moe=False):
    """Of a layer on one rank: outside of experts, and in experts."""
    h, t = job["hidden"], job.get("tensor", 1)
    kv = h // job["heads"] * job.get("kv_heads", job["heads"])
    ffn = job.get("ffn", 4 * h)
    attention = h * (h + 2 * kv) + h * h
    if layer_is_moe:
        own = job["experts"] // job.get("expert", 1)
        return attention // t + h * job["experts"] + 2 * h, own * 2 * h * ffn // t
    return (attention + 2 * h * ffn) // t + 2 * h, 0


def volumes():
    """Tensor, pipeline and data parallelism together."""
    for sequence_parallel in (True, False):
        for zero in range(4):
            metrics, job = run({"tensor": 2, "pipeline": 2, "data": 4, "zero": zero,
                                "sequence_parallel": sequence_parallel})
            t, d, layers = 2, 4, job["layers"] // 2
            micro = job["global_batch"] // d
            activations = job["sequence"] * job["hidden"] * 2
            dense, _ = parameters(job)
            table = job["vocabulary"] * job["hidden"] // t
            sharded = (dense * layers + table) * 2 * (d - 1) / d
            passes = {0: 2, 1: 2, 2: micro + 1}.get(zero)
            for rank in metrics["ranks"]:
                stage = rank["rank"] // (t * d)
                # the embedding's table is gathered forward, that of the logits also backward
                data = (passes * sharded if passes else
                        micro * (3 * dense * layers + (2 + stage) * table) * 2 * (d - 1) / d)
                what = f"zero {zero}, sequence_parallel {sequence_parallel}, rank {rank['rank']}: "
                sent = uses(rank)
                expect(what + "tensor", sent["tensor"],
                       micro * layers * 4 * activations * 2 * (t - 1) / t, 0)
                expect(what + "pipeline", sent["pipeline"],
                       micro * activations / (t if sequence_parallel else 1), 0)
                expect(what + "data", sent["data"], data, 8 * layers * micro * 4)
                assert stage in (0, 1)
        for zero in (2, 3):  # without overlap the same bytes
            both = [run({"data": 4, "zero": zero, "overlap": overlap,
                         "sequence_parallel": sequence_parallel})[0]["ranks"][1]["uses"][0]["bytes"]
                    for overlap in (True, False)]
            expect(f"zero {zero} without overlap", both[1], both[0], 0)


def context_and_experts():
    metrics, job = run({"context": 4, "kv_heads": 2})
    gathered = 2 * job["sequence"] * job["hidden"] // job["heads"] * 2 * 2
    for rank in metrics["ranks"]:
        expect("context", uses(rank)["context"],
               job["global_batch"] * job["layers"] * 2 * gathered * 3 / 4, 0)
    metrics, job = run({"expert": 4, "data": 2, "experts": 8, "top_k": 2, "moe_every": 2})
    vector = job["sequence"] * 2 * job["hidden"] * 2
    micro = job["global_batch"] // 8
    dense = [parameters(job, layer % 2 == 1) for layer in range(job["layers"])]
    table = 2 * job["vocabulary"] * job["hidden"]
    for rank in metrics["ranks"]:
        expect("expert", uses(rank)["expert"], micro * job["layers"] / 2 * 4 * vector * 3 / 4, 0)
        expect("data beside experts", uses(rank)["data"],
               2 * 2 * (7 / 8 * (sum(d for d, _ in dense) + table) + sum(e for _, e in dense) / 2),
               400)
    # Zipf: the sum over ranks stays, the largest share follows the law; capacity 1 drops what is above
    metrics, job = run({"expert": 4, "experts": 4, "top_k": 1, "skew": 1, "global_batch": 4})
    rank_bytes = [uses(r)["expert"] for r in metrics["ranks"]]
    vector = job["sequence"] * job["hidden"] * 2
    expect("skewed dispatch", sum(rank_bytes), job["layers"] * 4 * 4 * vector * 3 / 4,
           64 * job["layers"])
    computed = [r["compute_ns"] for r in metrics["ranks"]]
    even = run({"expert": 4, "experts": 4, "top_k": 1, "global_batch": 4})[0]["ranks"]
    assert max(computed) > even[0]["compute_ns"] > min(computed)
    # top_k = experts: every token goes to all experts, whatever their popularity
    everywhere = run({"expert": 4, "experts": 4, "top_k": 4, "skew": 3, "global_batch": 4})[0]
    assert len({r["compute_ns"] for r in everywhere["ranks"]}) == 1
    # tensor parallelism inside experts exchanges the rows that they compute: top_k times the tokens
    metrics, job = run({"tensor": 2, "expert": 2, "experts": 4, "top_k": 2, "global_batch": 2})
    rows = job["sequence"] * job["hidden"] * 2
    for rank in metrics["ranks"]:
        expect("tensor beside experts", uses(rank)["tensor"],
               job["layers"] * (4 * rows / 2 + 4 * 2 * rows / 2), 0)
    limited = run({"expert": 4, "experts": 4, "top_k": 1, "skew": 1, "capacity": 1,
                   "global_batch": 4})[0]
    assert sum(uses(r)["expert"] for r in limited["ranks"]) < sum(rank_bytes)


def operations():
    metrics, job = run({"optimizer_bytes": 0, "global_batch": 4})
    b, s, l, h, v = 4, job["sequence"], job["layers"], job["hidden"], job["vocabulary"]
    flops = 72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h))
    expect("operations", metrics["ranks"][0]["compute_ns"], flops / 1e9 * 1e9 / 1, flops * 1e-6)
    full = run({"optimizer_bytes": 0, "global_batch": 4, "recompute": "full"})[0]
    again = 24 * b * s * l * h * h * (1 + s / (6 * h))
    expect("recomputation", full["ranks"][0]["compute_ns"], flops + again, flops * 1e-6)


def accounts():
    """All idle time of a rank has a use, also where hundreds of collectives end in one gap."""
    metrics, _ = run({"layers": 120, "data": 4, "zero": 1, "overlap": False, "global_batch": 4})
    for rank in metrics["ranks"]:
        idle = sum(u["exposed_ns"] + u["waiting_ns"] for u in rank["uses"])
        expect(f"idle time of rank {rank['rank']}", idle, rank["exposed_comm_ns"], 2)


def priorities():
    """Gradients that are needed first go first: the second iteration begins earlier (MLSL)."""
    with open(sys.argv[1], encoding="utf-8") as f:
        scenario = {**json.load(f), "network": "analytical"}
    took = []
    for keep in (True, False):
        for node in scenario["workload"]["nodes"]:
            if not keep:
                node.pop("priority", None)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.environ["COLLWIRE"], "run", "-", "--out", folder, "--quiet"], check=True,
                           input=json.dumps(scenario).encode())
            with open(f"{folder}/metrics.json", encoding="utf-8") as f:
                took.append(json.load(f)["programs"][0]["total_ns"])
    if not took[0] < 0.97 * took[1]:
        expect("priorities", took[0], took[1], 0)


def main():
    accounts()
    priorities()
    bubbles()
    tables_as_layers()
    other_gpus()
    volumes()
    context_and_experts()
    operations()
    return 1 if failures else 0


sys.exit(main())
