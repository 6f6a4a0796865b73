# SPDX-License-Identifier: MIT
"""The page of the tutorials' figures: what was published, what came out here, a verdict; and claims about the rows."""
import shlex

EXERCISE = {"vgg16 dgx2": 5632.316, "vgg16 tpu": 5489.225, "gpt3 dgx2": 787767.34, "gpt3 tpu": 1655238.43}  # us
SLIDE = (4875.201, 2710.301)  # us: total and exposed
LOOP = {64: 31, 256: 71, 1024: 90}  # per cent, shifted halving-doubling on a loop network below a ring on a fat tree
THEMIS = {"resnet152": (1.49, "ResNet-152"), "gnmt": (1.41, "GNMT"), "dlrm": (1.42, "DLRM"), "transformer-1t": (1.35, "Transformer-1T")}
DISTRIBUTED, ASTRA, COURSE = "tutorial on distributed training", "tutorial of ASTRA-sim 1.0", "course on large-scale training"
SCALES = ("1", "0.5", "0.25", "0.125")


class Data:
    def __init__(self, rows):
        self.rows = {(row["figure"], row["name"]): row for row in rows}

    def us(self, figure, name, key="total_ns"):
        return float(self.rows[figure, name][key]) / 1e3

    def drops(self, name):
        return int(self.rows["buffers", name]["drops"])

    def exposed(self, figure, name):
        """Share of the time."""
        return self.us(figure, name, "exposed_ns") / self.us(figure, name)

    def less(self, what, than):
        """Per cent by which a time on the loop network is below another."""
        return 100 * (1 - self.us("loop", what) / self.us("loop", than))

    def gain(self, model, scale):
        return self.us("themis", f"{model} {scale} baseline") / self.us("themis", f"{model} {scale} Themis")


def shifted(data, ranks, than):
    return data.less(f"loop shifted_halving_doubling {ranks}", f"{than} {ranks}")


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (head, ["---"] * len(head), *rows))


def claims(rows):
    """(text, whether it holds)"""
    d = Data(rows)
    nodes = [d.exposed("nodes", str(n)) for n in (8, 16, 32, 64, 128)]
    speed = [d.exposed("speed", s) for s in ("0.5", "1", "2", "4")]
    yield "64 KB: each further dimension is faster", d.us("torus", "1d 64KB") > d.us("torus", "2d 64KB") > d.us("torus", "3d 64KB")
    yield "16 MB: one dimension is as fast as any", d.us("torus", "1d 16MB") < 1.05 * min(d.us("torus", "2d 16MB"), d.us("torus", "3d 16MB"))
    bytes_ = [float(d.rows["torus", f"{n}d 16MB"]["bytes"]) for n in (1, 2, 3)]
    yield "more dimensions send more bytes", bytes_[0] < bytes_[1] < bytes_[2]
    yield "a wider inner dimension helps, and the algorithm that uses it more", (
        d.us("asymmetric", "equal") > d.us("asymmetric", "wide") > 2 * d.us("asymmetric", "wide, aware"))
    yield "the slide's total and exposed time to the digit", (
        round(d.us("resnet", "slide"), 3), round(d.us("resnet", "slide", "exposed_ns"), 3)) == SLIDE
    yield "the second phase's queue dominates", d.us("speed", "1", "queueing_2_ns") > 10 * max(
        d.us("speed", "1", "queueing_1_ns"), d.us("speed", "1", "queueing_3_ns"))
    yield "the exposed share grows with nodes", all(a <= b + 1e-3 for a, b in zip(nodes, nodes[1:])) and nodes[-1] > nodes[0]
    yield "the exposed share grows with the speed of computing", all(a < b for a, b in zip(speed, speed[1:]))
    yield "flat: a small buffer costs", d.us("buffers", "flat 300KB") > 3 * d.us("buffers", "flat 32MB")
    yield "hierarchical: it does not", d.us("buffers", "hierarchical 300KB") < 1.1 * d.us("buffers", "hierarchical 32MB")
    for ranks, published in LOOP.items():
        ours = shifted(d, ranks, "tree ring")
        yield f"{ranks} ranks: {ours:.0f} % below the ring on a fat tree, {published} published", abs(ours - published) < 8
    for model in THEMIS:
        gains = [d.gain(model, scale) for scale in SCALES]
        yield f"{model}: Themis gains with faster computing", all(a <= b + 0.01 for a, b in zip(gains, gains[1:]))
    for name, published in EXERCISE.items():
        yield f"exercise 3, {name}", abs(d.us("exercise", name) - published) < 0.006
    yield "circuits win", d.us("hybrid", "packets") > 1.5 * d.us("hybrid", "circuits")


def queues(d):
    """us, of phases 1 to 3."""
    return [d.us("speed", "1", f"queueing_{k}_ns") for k in (1, 2, 3)]


def summary(d):
    loop = {ranks: shifted(d, ranks, "tree ring") for ranks in LOOP}
    plain = [shifted(d, ranks, "tree halving_doubling") for ranks in LOOP]
    own = [shifted(d, ranks, "loop halving_doubling") for ranks in LOOP]
    ring = [d.less(f"loop ring {ranks}", f"tree ring {ranks}") for ranks in LOOP]
    queue = queues(d)
    slide = "total {:,.3f} us, exposed {:,.3f} us".format(*SLIDE)
    return table(("figure", "source", "published", "ours", "verdict"), (
        ("[1D, 2D, 3D torus](#tori)", DISTRIBUTED, "more dimensions have fewer steps but send more bytes: a trade-off",
         f"64 KB: {d.us('torus', '1d 64KB'):.0f}, {d.us('torus', '2d 64KB'):.1f}, {d.us('torus', '3d 64KB'):.1f} us; 16 MB: "
         f"{d.us('torus', '1d 16MB'):,.0f}, {d.us('torus', '2d 16MB'):,.0f}, {d.us('torus', '3d 16MB'):,.0f} us", "agrees; at 16 MB the order is 1D, 3D, 2D"),
        ("[asymmetric bandwidth, and algorithm](#tori)", DISTRIBUTED, "a faster local dimension helps; an algorithm that knows it helps more",
         f"16 MB: equal links {d.us('asymmetric', 'equal'):,.0f} us, a faster dimension {d.us('asymmetric', 'wide'):,.0f}, and an algorithm that uses it "
         f"{d.us('asymmetric', 'wide, aware'):,.0f}", "agrees"),
        ("[ResNet-50's slide](#resnet-50)", ASTRA, slide,
         f"total {d.us('resnet', 'slide'):,.3f} us, exposed {d.us('resnet', 'slide', 'exposed_ns'):,.3f} us", "agrees to the digit"),
        ("[exposed share against nodes](#resnet-50)", ASTRA, "grows", f"{d.exposed('nodes', '8'):.2f} at 8 nodes to {d.exposed('nodes', '128'):.2f} at 128", "agrees, in steps: only a longer second dimension counts"),
        ("[exposed share against compute speed](#resnet-50)", ASTRA, "grows", f"{d.exposed('speed', '0.5'):.2f} at half the speed to "
         f"{d.exposed('speed', '4'):.2f} at four times", "agrees"),
        ("[which phase waits](#resnet-50)", ASTRA, "the queue of phase 2 dominates", f"{queue[0]:.1f}, {queue[1]:.0f} and {queue[2]:.0f} us, mean wait in phases 1 to 3, 32 nodes", "agrees"),
        ("[buffers under TCP](#buffers)", DISTRIBUTED, "flat collectives need buffers, hierarchical ones do not",
         f"300 KB against 32 MB: flat {d.us('buffers', 'flat 300KB') / d.us('buffers', 'flat 32MB'):.1f} times as long, hierarchical "
         f"{d.us('buffers', 'hierarchical 300KB') / d.us('buffers', 'hierarchical 32MB'):.2f}", "agrees"),
        ("[loop network, shifted halving-doubling](#loop-networks)", COURSE, "31, 71, 90 % less time than a ring on a fat tree",
         f"{', '.join(f'{loop[r]:.0f}' for r in LOOP)} % at 64, 256, 1,024 ranks and 2 MB", "near (38 for 31 at most); the numbers of ranks and the size are our choice"),
        ("[loop network, ring](#loop-networks)", COURSE, "2 to 5 % less than on a fat tree", f"{', '.join(f'{each:.1f}' for each in ring)} %",
         "agrees in sign; none of three lies within"),
        ("[loop network, plain halving-doubling](#loop-networks)", COURSE, "shifted against plain saves some 25 % on the loop, some 50 % of plain on a fat tree",
         f"loop {', '.join(f'{each:.0f}' for each in own)} %; fat tree {', '.join(f'{each:.0f}' for each in plain)} %", "sign agrees; ours gains more"),
        ("[Themis, whole training](#themis)", "slides on Themis (Rashidi et al., ISCA 2022) in the tutorials", "speed-ups 1.49, 1.41, 1.42, 1.35 (ResNet, GNMT, DLRM, Transformer-1T)",
         ", ".join(f"{d.gain(model, '1'):.2f}" for model in THEMIS) + " with an A100's times; "
         + ", ".join(f"{d.gain(model, '0.25'):.2f}" for model in THEMIS) + " where computing takes a quarter",
         "same direction; no factor of the compute times gives all four, and DLRM stays below at any"),
        ("[exercise 3](#exercise-3)", ASTRA, "four totals", f"the same to {max(abs(d.us('exercise', n) - v) for n, v in EXERCISE.items()):.3f} us",
         "agrees: to the digits that are published, or 0.005 us off"),
        ("[hybrid switching](#hybrid-switching)", COURSE, "large messages win on circuits",
         f"{d.us('hybrid', 'packets'):,.0f} us over packets, {d.us('hybrid', 'circuits'):,.0f} us with circuits", "agrees")))


def commands_of(commands, *keys):
    lines = [" ".join(shlex.quote(part) for part in commands[key]) + f"  # {key[1]}" for key in keys]
    return "```sh\n" + "\n".join(lines) + "\n```"


def make(rows, commands):
    d = Data(rows)

    def sh(figure, *names):
        return commands_of(commands, *((figure, name) for name in names))

    themis = table(("compute time", *(THEMIS[model][1] for model in THEMIS)),
                   [[f"x {scale}", *(f"{d.gain(model, scale):.2f} ({100 * d.exposed('themis', f'{model} {scale} baseline'):.0f} %)" for model in THEMIS)]
                    for scale in SCALES])
    nodes = table(("nodes", "8", "16", "32", "64", "128"),
                  [["exposed share", *(f"{d.exposed('nodes', str(n)):.3f}" for n in (8, 16, 32, 64, 128))]])
    speed = table(("speed", "0.5", "1", "2", "4"), [["exposed share", *(f"{d.exposed('speed', s):.3f}" for s in ("0.5", "1", "2", "4"))]])
    buffers = table(("buffer", "300 KB", "1 MB", "4 MB", "32 MB"),
                    [[name, *(f"{d.us('buffers', f'{name} {size}') / 1e3:.2f} ms, {d.drops(f'{name} {size}'):,} drops"
                              for size in ("300KB", "1MB", "4MB", "32MB"))] for name in ("flat", "hierarchical")])
    loops = table(("ranks", "loop, shifted", "loop, plain", "loop, ring", "fat tree, plain", "fat tree, ring"),
                  [[f"{ranks:,}", *(f"{d.us('loop', f'{what} {ranks}'):,.0f} us" for what in (
                      "loop shifted_halving_doubling", "loop halving_doubling", "loop ring", "tree halving_doubling", "tree ring"))]
                   for ranks in LOOP])
    exercise = table(("run", "published, us", "ours, us"),
                     [[name, f"{value:,.3f}", f"{d.us('exercise', name):,.3f}"] for name, value in EXERCISE.items()])
    queue = queues(d)
    return f"""# The tutorials' figures, redone

Made by `studies/tutorials/run.py` from {len(rows)} runs; change that, not this page.

collwire began from tutorials on distributed training and a course on large-scale training ([what they ask, and where it is answered](../../docs/seeds.md)). Their slides
have figures: some numbers, more often a direction. Each is redone here with a scenario. Another page redoes the [figures of papers](../figures/README.md).

{summary(d)}

The slides carry no numbers by which to cite them. Where numbers are published they are totals (ResNet-50, exercise 3), percentages (loop) or speed-ups (Themis); sizes of messages and links are mostly
not on the slides, so directions are what most rows compare. Each row has a scenario; the commands below each section give some of its runs, and comments say how the others differ.
`python3 studies/tutorials/run.py` makes all. "Exposed share" is the time for which computing waits for communication over the whole time.

## Tori

64 ranks in a ring, a torus of 8 x 8 and one of 4 x 4 x 4, all links 200 Gb/s and 200 ns, 16 chunks, ring algorithms in each dimension. Four chunks are under way at once. A ring has 126 steps for
each, the torus of three dimensions 18, so small vectors gain; but every dimension all-reduces the whole vector, so the whole network sends
{float(d.rows['torus', '1d 16MB']['bytes']) / 1e9:.1f}, {float(d.rows['torus', '2d 16MB']['bytes']) / 1e9:.1f} and {float(d.rows['torus', '3d 16MB']['bytes']) / 1e9:.1f} GB for 16 MB a rank. With an inner
dimension of 1,600 Gb/s the same schedule gains little, because every dimension still carries the whole vector; `bandwidth_aware` reduce-scatters inside first, so that the others carry a quarter.

{sh("torus", "1d 64KB", "2d 64KB", "3d 64KB", "1d 16MB")}
{sh("asymmetric", "equal", "wide", "wide, aware")}

## ResNet-50

Two iterations of data parallelism, in closed form. The slide's run has 4 x 4 x 4 ranks with ASTRA-sim's layers, network and system; its total and its exposed time come out to the digit.

The other figures have packages of two ranks at 1,600 Gb/s in a torus of 200 Gb/s. With more nodes the ring of the second dimension grows from 2 to 8, and each collective takes longer; a longer
third dimension does not show, since it carries a smaller share and overlaps. Faster computing leaves less to hide behind (`compute_scale` is the inverse of the speed). Queues form at the second
dimension, the first of slow links: chunks wait there for {queue[1]:.0f} us in the mean, and {queue[0]:.1f} and {queue[2]:.0f} us in phases 1 and 3 (32 nodes, first phase of each dimension; `collectives[].phases[].queueing_ns`).

{nodes}

{speed}

{sh("resnet", "slide")}
{sh("nodes", "128")}
{sh("speed", "4")}

## Buffers

An all-reduce of 64 MB a rank over TCP among 32 ranks in servers of eight, 100 Gb/s outside of them, starts jittered by 20 us. Flat, everyone sends to everyone at once: with a buffer of 300 KB the incasts lose packets and wait for timers.
In two dimensions four ranks meet in each switch.

{buffers}

{sh("buffers", "flat 300KB", "flat 32MB", "hierarchical 300KB", "hierarchical 32MB")}

## Loop networks

A distributed loop network has switches in a circle with further links of 2, 4, 8 .. switches; four ranks a switch, 100 Gb/s, 500 ns. Plain halving-doubling puts several exchanges on one link; the
shifted order does not. Published, in per cent of time saved: shifted against a ring on a fat tree 31, 71 and 90, against plain halving-doubling on a fat tree some 50 and on the loop some 25, and a ring on
the loop against one on the fat tree 2 to 5. The course does not say for which numbers of ranks and sizes; for 64, 256 and 1,024 ranks and 2 MB ours are nearest. Plain halving-doubling
loses more here than there, on both networks; why is not known (their placement, or the number of links).

{loops}

{sh("loop", "loop shifted_halving_doubling 256", "loop halving_doubling 256", "loop ring 256", "tree halving_doubling 256", "tree ring 256")}

(64 and 1,024 ranks: dln-64, dln-1024, fat-tree-64, fat-tree-1024.)

## Themis

Speed-up of whole training iterations by Themis over the baseline on 16 x 8 x 8 NPUs at 800 Gb/s, in closed form (no packets); in brackets the baseline's exposed share. Themis can only save what is exposed.
Compute times are multiples of those of our roofline of an A100; what the slides' runs had is not published. GNMT comes to its published speed-up where computing takes half to a quarter, ResNet-152 stays
below it, DLRM is exposed nearly wholly and stays below, and Transformer-1T is above at any.

{themis}

{sh("themis", "resnet152 0.25 baseline", "resnet152 0.25 Themis", "gnmt 1 Themis", "dlrm 1 Themis", "transformer-1t 1 Themis")}

## Exercise 3

VGG-16 and GPT-3 on servers like a DGX-2 and pods of TPUs, in closed form, with the exercise's own layers.

{exercise}

{sh("exercise", *EXERCISE)}

## Hybrid switching

A ring all-reduce of 32 MB among 16 ranks, four below each of four leaves with one spine, and an optical switch of two ports a rank whose circuits join the ring; with a threshold of 1 GB
all is sent over packets.

{sh("hybrid", "packets", "circuits")}
"""
