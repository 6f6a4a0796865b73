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


def resnet(counts, batch=32):
    """He et al., CVPR 2016, table 1: bottleneck blocks, shortcuts by projection where shapes change."""
    layers = [convolution("conv1", batch, 112, 3, 64, 7)]
    inputs = 64
    for stage, (blocks, width, pixels) in enumerate(zip(counts, (64, 128, 256, 512), (56, 28, 14, 7)), 2):
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


def gnmt(batch=128, words=32000, length=32):
    """Wu et al., 2016, and MLPerf's GNMT: 8 encoder layers of LSTMs of 1024, the first in both
    directions, 8 decoder layers that also read the attention's context, and the projection to words.
    The matrix of an LSTM has 4 x 1024 columns; the products of all positions of a sentence are one
    layer here. Embeddings and attention's products are left out."""
    rows, h = batch * length, 1024
    layers = [Layer("enc1_forward", rows, 4 * h, 2 * h), Layer("enc1_backward", rows, 4 * h, 2 * h)]
    layers += [Layer(f"enc{i}", rows, 4 * h, (3 if i == 2 else 2) * h) for i in range(2, 9)]
    layers += [Layer(f"dec{i}", rows, 4 * h, (2 if i == 1 else 3) * h) for i in range(1, 9)]
    return layers + [Layer("words", rows, words, h)]


class Tensor(typing.NamedTuple):
    """A transformer whose matrices are shared by `group` ranks, by columns and rows in turn (Shoeybi et
    al., 2019): two all-reduces of activations in a layer's forward pass and two in its backward pass. The
    first rank's work; all data of 2 bytes. `checkpoints`: activations are computed again layer by
    layer in the backward pass."""
    hidden: int
    layers: int
    sequences: int
    group: int
    words: int
    checkpoints: bool
    workload: str

    def rows(self):
        """Rows of the text: name, forward, input gradient, weight gradient; each with ns, op and bytes."""
        h, tokens, made = self.hidden, 2048 * self.sequences, []
        activations, none = ("ALLREDUCE", tokens * h * 2), ("NONE", 0)
        ns = lambda products: int(2 * products / self.group / 312e12 * 1e9)

        def product(name, n, k, forward, backward):
            takes = ns(tokens * n * k)
            made.append((name, takes, *forward, takes, *backward, takes, "ALLREDUCE", n * k * 2 // self.group))

        for i in range(1, self.layers + 1):
            product(f"layer{i}_qkv", 3 * h, h, none, activations)
            scores = ns(2 * tokens * 2048 * h)
            made.append((f"layer{i}_attention", scores, *none, 2 * scores, *none, 0, *none))
            product(f"layer{i}_out", h, h, activations, none)
            product(f"layer{i}_up", 4 * h, h, none, activations)
            product(f"layer{i}_down", h, 4 * h, activations, none)
        product("words", self.words, h, none, activations)
        return made

    def text(self):
        rows, first = self.rows(), [5 * i for i in range(self.layers)]
        last = [f + 4 for f in reversed(first)]
        head = f"HYBRID_TRANSFORMER model_parallel_NPU_group: {self.group}"
        if self.checkpoints:
            head = (f"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {self.group} checkpoints: {len(first)} "
                    f"{' '.join(map(str, first))} checkpoint_initiates: {len(last)} {' '.join(map(str, last))}")
        lines = [" ".join(map(str, (row[0], -1, *row[1:], 0))) for row in rows]
        return "\n".join([head, str(len(rows)), *lines]) + "\n"


class Model(typing.NamedTuple):
    layers: list
    file: str
    workload: str
    options: list


MADE = {
    "resnet50": Model(resnet((3, 4, 6, 3)), "resnet50.csv", "resnet50.txt", ["--parallel", "data"]),
    "vgg16": Model(vgg16(), "vgg16.csv", "vgg16.txt", ["--parallel", "data"]),
    "gpt3": Model(gpt3(), "gpt3-3layers.csv", "gpt3.txt", ["--parallel", "hybrid", "--set", "group=8"]),
    "transformer": Model(transformer(), "transformer.csv", "transformer.txt", ["--parallel", "data"]),
    "resnet152": Model(resnet((3, 8, 36, 3)), "resnet152.csv", "resnet152.txt", ["--parallel", "data"]),
    "gnmt": Model(gnmt(), "gnmt.csv", "gnmt.txt", ["--parallel", "data"]),
}
BUCKETED = {"resnet152", "gnmt"}
# GPT-3 (Brown et al., 2020) and a transformer of 10^12 weights (Narayanan et al., SC 2021), some layers
# of each.
SHARED = {
    "gpt3-tp16": Tensor(12288, 3, 16, 16, 50257, True, "gpt3-tp16.txt"),
    "transformer-1t": Tensor(25600, 2, 16, 128, 51200, False, "transformer-1t.txt"),
}


def bucketed(text, size=25_000_000):
    """The same workload with the gradients of neighbouring layers reduced together, when the lowest of
    them is ready, in buckets of at least `size` bytes (Li et al., VLDB 2020)."""
    head, count, *rows = text.splitlines()
    cells, bucket = [row.split() for row in rows], 0
    for row in reversed(cells):
        bucket += int(row[10])
        full = bucket >= size or row is cells[0]
        row[9], row[10] = ("ALLREDUCE", str(bucket)) if full else ("NONE", "0")
        bucket = 0 if full else bucket
    return "\n".join([head, count, *(" ".join(row) for row in cells)]) + "\n"


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
        if name in BUCKETED:
            made = MODELS / model.workload
            made.write_text(bucketed(made.read_text()))
        print(f"{name}: {len(model.layers)} layers, {weights(model.layers) / 1e6:.1f} M weights: "
              f"collwire {' '.join(command)}")
    for name, model in SHARED.items():
        (MODELS / model.workload).write_text(model.text())
        print(f"{name}: {len(model.rows())} rows for {model.group} ranks a group")


if __name__ == "__main__":
    main()
