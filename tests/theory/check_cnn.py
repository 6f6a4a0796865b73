#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training of convolutional networks (`kind: cnn`): strategies over packets against their closed forms.

On one switch, without headers and overlap, the projection of the Oracle study holds but for what it counts
differently: whole packets are stored and forwarded, and the slowest stage of a pipeline is not the slowest of both
passes. Bytes of every strategy are exact.

usage: check_cnn.py, with the executable in $COLLWIRE.
"""
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def scenario(ranks, strategy, batch, network="packet", **job):
    return {"name": "cnn", "network": network,
            "topology": {"dims": [{"kind": "switch", "size": ranks, "link": {"rate": "100Gbps", "delay": "500ns"}}]},
            "transport": {"wire_overhead": {"data": "0B", "ack": "1B"}},
            "workload": {"kind": "cnn", "strategy": strategy, "batch": batch, "overlap": False, **job}}


def run(folder, made):
    path, out = os.path.join(folder, "scenario.json"), os.path.join(folder, "out")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)["programs"][0]


PARAMETERS = {"resnet50": 25557032, "vgg16": 138357544, "cosmoflow": 5597604}


def check_strategies(folder):
    """Accuracy as the study counts it, 1 - |projection - run| / run, and the bytes that ranks send."""
    cases = (  # model, strategy, ranks, batch, other keys, least accuracy
        ("resnet50", "data", 16, 512, {}, 0.99), ("resnet50", "data", 64, 512, {}, 0.99),
        ("vgg16", "data", 16, 256, {}, 0.99), ("cosmoflow", "data", 16, 16, {}, 0.99),
        ("cosmoflow", "filter", 8, 4, {}, 0.99), ("cosmoflow", "channel", 8, 4, {}, 0.99),
        ("resnet50", "filter", 4, 8, {}, 0.99), ("cosmoflow", "data_filter", 16, 16, {"parts": 4}, 0.99),
        ("cosmoflow", "spatial", 64, 2, {}, 0.98), ("resnet50", "spatial", 16, 16, {}, 0.99))
    for model, strategy, ranks, batch, more, least in cases:
        p = run(folder, scenario(ranks, strategy, batch, model=model, **more))
        what = f"{model}, {strategy} on {ranks}"
        expect(f"{what}: accuracy {p['projection_accuracy']:.4f}", p["projection_accuracy"] >= least)
        uses = {u["name"]: u["bytes"] for u in p["uses"]}
        if strategy == "data":  # a ring sends all but one part twice
            wanted = 2 * (ranks - 1) * 4 * PARAMETERS[model]
            expect(f"{what}: {uses['gradients']} bytes of gradients", abs(uses["gradients"] / wanted - 1) < 1e-6)
    # all-gather of outputs forward and all-reduce of their gradients: three times all but one part, of all samples
    outputs = 32 * 128**3 + 64 * 64**3 + 128 * 32**3 + 256 * 16**3 + 512 * 8**3 + 128 + 64
    for strategy in ("filter", "channel"):
        p = run(folder, scenario(8, strategy, 4, model="cosmoflow"))
        sent = p["uses"][0]["bytes"]
        expect(f"{strategy}: {sent} bytes of outputs", abs(sent / (3 * 7 * 4 * 4 * outputs) - 1) < 1e-6)


def check_overlap(folder):
    """Gradients of a layer travel while earlier layers compute."""
    alone = run(folder, scenario(16, "data", 512, model="resnet50"))
    hidden = run(folder, scenario(16, "data", 512, model="resnet50", overlap=True))
    expect("overlap hides gradients", hidden["total_ns"] < 0.75 * alone["total_ns"])
    expect("and not computations", abs(hidden["compute_ns"] - alone["compute_ns"]) <= 2000)


def check_borders(folder):
    """Borders of a domain that is cut along one axis: each of the inner edges is sent both ways, in both passes."""
    shapes = os.path.join(folder, "two.csv")
    with open(shapes, "w", encoding="utf-8") as file:
        file.write("name,kind,channels,filters,width,height,depth,kernel,stride\n"
                   "a,conv,3,8,1,64,1,3,1\n# a comment\nb,conv,8,4,1,64,1,5,1\n")
    p = run(folder, scenario(4, "spatial", 10, model="custom", shapes=shapes))
    uses = {u["name"]: u["bytes"] for u in p["uses"]}
    wanted = 4 * 10 * 3 * 2 * (1 * (3 + 8) + 2 * (8 + 4))  # bytes, samples, edges, ways, elements of both layers
    expect(f"{uses['borders']} bytes of borders", uses["borders"] == wanted)


def check_pipeline(folder):
    """Four equal layers in four stages: (p + S - 1) / S of a layer's time, and the messages of the chain."""
    shapes = os.path.join(folder, "four.csv")
    with open(shapes, "w", encoding="utf-8") as file:
        for i in range(4):
            file.write(f"l{i},fc,256,256,1,1,1,1,1\n")
    made = scenario(4, "pipeline", 64, model="custom", shapes=shapes, segments=8, peak_tflops=1e-6, optimizer_bytes=0,
                    efficiency=1, memory_bandwidth=1000000)
    p = run(folder, made)
    one = 64 * 2 * 256 * 256 / 1e6 * 1e6  # us of a layer forward
    expect(f"pipeline: {p['total_ns'] / 1e3:.0f} us", abs(p["total_ns"] / 1e3 / (3 * one * (4 + 8 - 1) / 8) - 1) < 1e-3)
    expect("its projection", abs(p["projection_accuracy"] - 1) < 1e-3)
    expect("its bubble", abs(p["bubble_share"] - 3 / 11) < 1e-3)


def refused(folder, made, *parts):
    path = os.path.join(folder, "scenario.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    got = subprocess.run([COLLWIRE, "validate", path], capture_output=True, text=True, check=False)
    expect(f"refused: {parts[0]}", got.returncode == 2 and all(part in got.stderr for part in parts))


def check_refusals(folder):
    def no(ranks, strategy, batch, part, **job):
        refused(folder, scenario(ranks, strategy, batch, **{"model": "resnet50", **job}), part)

    no(128, "filter", 8, "workload.strategy: filter can use at most 64 ranks (the fewest filters of a layer), and the job has 128")
    no(128, "channel", 8, "channel can use at most 64 ranks")
    no(32, "data", 16, "data can use at most 16 ranks (samples of the batch)")
    no(64, "pipeline", 64, "pipeline can use at most 56 ranks (layers)")
    no(2, "serial", 8, "serial can use at most 1 ranks")
    no(16, "data", 24, "workload.batch: 24 is not a multiple of 16")
    no(16, "data_filter", 16, "workload.parts: 3 do not make groups", parts=3)
    no(4, "spatial", 4, "cannot be cut into 2 x 2 x 1 parts", cut_layers=55)
    no(4, "spatial", 4, "workload.cut_layers: the model has 56 layers", cut_layers=60)
    no(4, "pipeline", 9, "workload.segments: 2 do not divide the batch of 9", segments=2)
    no(4, "data", 4, "workload.model: custom needs `shapes`", model="custom")
    no(4, "data", 4, "workload.shapes: belongs to `model` custom", shapes="x.csv")
    no(4, "data", 4, "none.csv", model="custom", shapes="none.csv")
    for text, part in (("a,conv,3,8,4,4,1,3\n", "line 1: is not name,kind"), ("a,dense,3,8,4,4,1,3,1\n", "none of conv, pool, fc"),
                       ("a,conv,3,0,4,4,1,3,1\n", "is not a size"), ("", "contains no layers"),
                       ("a,conv,3,8,4,4,1,3,1\nb,conv,4,8,4,4,1,3,1\n", "layer b takes 4 channels, but a makes 8")):
        shapes = os.path.join(folder, "bad.csv")
        with open(shapes, "w", encoding="utf-8") as file:
            file.write(text)
        no(4, "data", 4, part, model="custom", shapes=shapes)
    narrow = os.path.join(folder, "narrow.csv")
    with open(narrow, "w", encoding="utf-8") as file:
        file.write("a,conv,3,8,8,1,1,7,1\n")
    no(4, "spatial", 4, "workload.strategy: layer a, 8 x 1 x 1 with a kernel of 7, cannot be cut into 4 x 1 x 1 parts: the border",
       model="custom", shapes=narrow)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_strategies(folder)
        check_overlap(folder)
        check_borders(folder)
        check_pipeline(folder)
        check_refusals(folder)
    sys.exit(1 if FAILED else 0)


main()
