#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes scenarios/models: networks as matrix products, and the text workloads made of them.

A layer is a product of M x K (inputs, M rows for the whole batch of a rank) and K x N (weights). A
convolution is one by im2col: M counts output pixels, K is input channels times the kernel's area.
Biases, normalisation, pooling and products without weights (attention's scores and their use) are
left out.
"""
import argparse
import os
import pathlib
import subprocess
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "scenarios/models"


class Layer(typing.NamedTuple):
    name: str
    m: int
    n: int
    k: int


def convolution(name, batch, pixels, inputs, outputs, kernel):
    """A square picture of `pixels` a side comes out."""
    return Layer(name, batch * pixels * pixels, outputs, inputs * kernel * kernel)


def resnet50(batch=32):
    """He et al., CVPR 2016, table 1: bottleneck blocks, shortcuts by projection where shapes change."""
    layers = [convolution("conv1", batch, 112, 3, 64, 7)]
    inputs = 64
    for stage, (blocks, width, pixels) in enumerate([(3, 64, 56), (4, 128, 28), (6, 256, 14), (3, 512, 7)], 2):
        for block in range(blocks):
            name = f"conv{stage}_{block + 1}"
            # the first block of a stage halves the picture in its first convolution
            layers += [convolution(f"{name}a", batch, pixels, inputs, width, 1),
                       convolution(f"{name}b", batch, pixels, width, width, 3),
                       convolution(f"{name}c", batch, pixels, width, 4 * width, 1)]
            if block == 0:
                layers.append(convolution(f"{name}s", batch, pixels, inputs, 4 * width, 1))
            inputs = 4 * width
    return layers + [Layer("fc", batch, 1000, inputs)]


def vgg16(batch=4):
    """Simonyan & Zisserman, ICLR 2015, table 1, column D."""
    layers, inputs = [], 3
    for stage, (count, width, pixels) in enumerate(
            [(2, 64, 224), (2, 128, 112), (3, 256, 56), (3, 512, 28), (3, 512, 14)], 1):
        for index in range(count):
            layers.append(convolution(f"conv{stage}_{index + 1}", batch, pixels, inputs, width, 3))
            inputs = width
    return layers + [Layer("fc6", batch, 4096, 512 * 7 * 7), Layer("fc7", batch, 4096, 4096),
                     Layer("fc8", batch, 1000, 4096)]


def gpt3(layers=3, sequences=1):
    """Brown et al., NeurIPS 2020, table 2.1 (175B): hidden size 12288, 96 heads of 128, 2048 tokens."""
    tokens, hidden = 2048 * sequences, 12288
    return [layer for i in range(1, layers + 1) for layer in (
        Layer(f"layer{i}_qkv", tokens, 3 * hidden, hidden), Layer(f"layer{i}_out", tokens, hidden, hidden),
        Layer(f"layer{i}_up", tokens, 4 * hidden, hidden), Layer(f"layer{i}_down", tokens, hidden, 4 * hidden))]


def transformer(tokens=3072):
    """Vaswani et al., NeurIPS 2017, table 3, base; 37000 words; 25000 tokens a step over 8 ranks."""
    d, inner, layers = 512, 2048, []
    feed = lambda name: [Layer(f"{name}_up", tokens, inner, d), Layer(f"{name}_down", tokens, d, inner)]
    attention = lambda name: [Layer(f"{name}_qkv", tokens, 3 * d, d), Layer(f"{name}_out", tokens, d, d)]
    for i in range(1, 7):
        layers += attention(f"enc{i}") + feed(f"enc{i}")
    for i in range(1, 7):
        layers += attention(f"dec{i}")
        layers += [Layer(f"dec{i}_cross_q", tokens, d, d), Layer(f"dec{i}_cross_kv", tokens, 2 * d, d),
                   Layer(f"dec{i}_cross_out", tokens, d, d)] + feed(f"dec{i}")
    return layers + [Layer("words", tokens, 37000, d)]


class Model(typing.NamedTuple):
    layers: list
    file: str
    workload: str
    options: list


MADE = {
    "resnet50": Model(resnet50(), "resnet50.csv", "resnet50.txt", ["--parallel", "data"]),
    "vgg16": Model(vgg16(), "vgg16.csv", "vgg16.txt", ["--parallel", "data"]),
    "gpt3": Model(gpt3(), "gpt3-3layers.csv", "gpt3.txt", ["--parallel", "hybrid", "--set", "group=8"]),
    "transformer": Model(transformer(), "transformer.csv", "transformer.txt", ["--parallel", "data"]),
}


def weights(layers):
    return sum(layer.k * layer.n for layer in layers)


def text(layers):
    return "Layer,M,N,K,\n" + "".join(f"{l.name},{l.m},{l.n},{l.k},\n" for l in layers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collwire", type=pathlib.Path, help="the binary",
                        default=os.environ.get("COLLWIRE", ROOT / "build/collwire"))
    binary = parser.parse_args().collwire.resolve()
    MODELS.mkdir(exist_ok=True)
    for name, model in MADE.items():
        (MODELS / model.file).write_text(text(model.layers))
        command = ["workload", "gemm", f"scenarios/models/{model.file}", *model.options,
                   "-o", f"scenarios/models/{model.workload}"]
        subprocess.run([binary, *command], cwd=ROOT, check=True)
        print(f"{name}: {len(model.layers)} layers, {weights(model.layers) / 1e6:.1f} M weights: "
              f"collwire {' '.join(command)}")


if __name__ == "__main__":
    main()
