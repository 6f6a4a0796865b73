# SPDX-License-Identifier: MIT
"""What the rows of the DLRM study show: its claims, each a test, and the numbers of its page."""
import design
from results import Results


def claims(rows):
    """(sentence, whether it holds, what was seen). They hold for the full study and for the reduced one."""
    d = Results(rows)
    made = []

    def claim(sentence, holds, *seen):
        made.append((sentence, bool(holds), ", ".join(f"{value:.3f}" for value in seen)))

    lossy = {"completed"} | (
        {"incomplete"} if any("go-back-N" in row["sweep"] or "selective" in row["sweep"] for row in rows) else set()
    )
    claim("every run has completed", all(row["status"] in lossy for row in rows), len(rows))
    time = {name: d.mean(f"step: {name}", "none") for name in design.STEPS}
    ecmp = d.mean("ecmp", "none")
    claim(
        "each step from the closed form to ECMP takes longer, and 2:1 trunks without collisions cost less than ECMP's collisions",
        time["closed form, no latency"]
        < time["closed form"]
        < time["packets, one switch"]
        < time["two tiers, 2:1"]
        < ecmp
        and time["two tiers, 2:1"] - time["packets, one switch"] < ecmp - time["two tiers, 2:1"],
        *(value / 1e6 for value in (*time.values(), ecmp)),
    )
    latency = time["two tiers, trunks of 10 Tb/s"] - time["packets, one switch"]
    tiers = time["two tiers, 2:1"] - time["packets, one switch"]
    claim(
        "the latency of two more hops is a third to two thirds of what two tiers cost over one switch",
        1 / 3 < latency / tiers < 2 / 3,
        latency / tiers,
    )
    static = [d.ratio("static", way) for way in ("window", "dcqcn scaled", "dcqcn nic", "dctcp", "swift")]
    claim(
        "on collision-free routes no policy but HPCC and TIMELY is more than 12 % from no policy",
        all(abs(ratio - 1) < 0.12 for ratio in static),
        *static,
    )
    windowed = [d.ratio("ecmp", way) for way in ("window", "dcqcn scaled + window", "dcqcn nic", "dctcp")]
    claim(
        "ECMP: a window, DCQCN with a window, DCQCN with the gains of NICs and DCTCP are within 10 % of no policy",
        all(abs(ratio - 1) < 0.1 for ratio in windowed),
        *windowed,
    )
    claim(
        "ECMP: DCQCN with scaled gains and TIMELY cost more than 10 %",
        d.ratio("ecmp", "dcqcn scaled") > 1.1 and d.ratio("ecmp", "timely") > 1.1,
        d.ratio("ecmp", "dcqcn scaled"),
        d.ratio("ecmp", "timely"),
    )
    claim(
        "ECMP: Ultra Ethernet takes at most 0.9 of the time of no policy",
        d.ratio("ecmp", "uec nscc") < 0.9,
        d.ratio("ecmp", "uec nscc"),
    )

    def buffer(what, fabric, name, size, way="none"):
        return d.mean(f"buffer-{what}-{fabric}", way, f"{name}, {size}")

    tcp = lambda what, name, size: buffer(what, "TCP", name, size, "cubic")  # noqa: E731
    claim(
        "TCP, all-reduces alone: the flat direct one depends on the buffer by more than a factor of 3, the hierarchical one by less than 5 %",
        tcp("dense", "flat, direct", "1MB") > 3 * tcp("dense", "flat, direct", "32MB")
        and tcp("dense", "hierarchical", "1MB") < 1.05 * tcp("dense", "hierarchical", "32MB"),
        tcp("dense", "flat, direct", "1MB") / tcp("dense", "flat, direct", "32MB"),
        tcp("dense", "hierarchical", "1MB") / tcp("dense", "hierarchical", "32MB"),
    )
    claim(
        "TCP, whole model: the hierarchical one depends on it too, by more than a factor of 3",
        tcp("model", "hierarchical", "1MB") > 3 * tcp("model", "hierarchical", "32MB"),
        tcp("model", "hierarchical", "1MB") / tcp("model", "hierarchical", "32MB"),
    )
    claim(
        "lossless, whole model: a buffer of 4 MB is as good as one of 32 MB",
        buffer("model", "lossless", "hierarchical", "4MB") < 1.05 * buffer("model", "lossless", "hierarchical", "32MB"),
        buffer("model", "lossless", "hierarchical", "4MB") / buffer("model", "lossless", "hierarchical", "32MB"),
    )
    return made


def values(rows):
    """name in page.md -> text."""
    d = Results(rows)
    two = "{:.2f}".format
    made = {
        "runs": f"{len(rows):,}",
        "latency share": f"{100 * (d.mean('step: two tiers, trunks of 10 Tb/s', 'none') - d.mean('step: packets, one switch', 'none')) / (d.mean('step: two tiers, 2:1', 'none') - d.mean('step: packets, one switch', 'none')):.0f}",
        "big buffer": two(d.mean("big-buffer", "none") / d.mean("ecmp", "none")),
        "least": two(min(d.of("ecmp", "none").values()) / 1e6),
        "most": two(max(d.of("ecmp", "none").values()) / 1e6),
        "closed static": two(d.mean("step: two tiers, 2:1", "none") / d.mean("step: closed form", "none")),
        "closed ECMP": two(d.mean("ecmp", "none") / d.mean("step: closed form", "none")),
        "uec flat": two(
            d.mean("buffer-model-Ultra-Ethernet", "uec nscc", "flat, direct, 500KB")
            / d.mean("buffer-model-Ultra-Ethernet", "uec nscc", "flat, direct, 32MB")
        ),
    }
    for name in design.STEPS:
        made[f"ms {name}"] = two(d.mean(f"step: {name}", "none") / 1e6)
    made["ms ECMP"] = two(d.mean("ecmp", "none") / 1e6)
    for way in d.ways("ecmp"):
        made[f"ecmp {way}"] = two(d.ratio("ecmp", way))
    for way in d.ways("static"):
        made[f"static {way}"] = two(d.ratio("static", way))
    for way in ("window", "hpcc", "swift"):
        for level in ("1", "4", "16"):
            made[f"acks {way} {level}"] = two(d.ratio("acks-static", way, level))
    for what in ("dense", "model"):
        for name in design.ALL_REDUCES:
            for fabric in design.FABRICS:
                (sweep, way), sizes = design.buffer_sweep(what, fabric), design.FABRICS[fabric].sizes
                made[f"{what} {fabric} {name}"] = two(
                    d.mean(sweep, way, f"{name}, {sizes[0]}") / d.mean(sweep, way, f"{name}, 32MB")
                )
                made[f"{what} {fabric} {name} ms"] = two(d.mean(sweep, way, f"{name}, 32MB") / 1e6)
    made["uec hierarchical"] = two(
        d.mean("buffer-model-Ultra-Ethernet", "uec nscc", "hierarchical, 500KB")
        / d.mean("buffer-model-Ultra-Ethernet", "uec nscc", "hierarchical, 32MB")
    )
    made["uec hierarchical ms"] = two(d.mean("buffer-model-Ultra-Ethernet", "uec nscc", "hierarchical, 500KB") / 1e6)
    for gpus in ("16", "64", "256"):
        for name in design.SHARDINGS:
            level = f"{gpus}, {name}"
            made[f"scale {level} static"] = two(
                d.mean("scale-static", "none", level) / d.mean("scale-closed", "none", level)
            )
            made[f"scale {level} ECMP"] = two(
                d.mean("scale-ecmp", "none", level) / d.mean("scale-closed", "none", level)
            )
    for name in ("table", "column"):
        made[f"scale 1024, {name} ECMP"] = two(
            d.mean("scale-large", "none", f"1024, {name}") / d.mean("scale-closed", "none", f"1024, {name}")
        )
        made[f"ms 1024, {name}"] = two(d.mean("scale-large", "none", f"1024, {name}") / 1e6)
    for way in ("timely", "hpcc", "swift"):
        made[f"spray {way}"] = two(d.ratio("routing", way, "spray"))
    for level in ("64, table", "256, table", "256, row", "256, copies"):
        made[f"collisions {level}"] = two(d.mean("scale-ecmp", "none", level) / d.mean("scale-static", "none", level))
        made[f"uec {level}"] = two(d.mean("scale-ecmp", "uec nscc", level) / d.mean("scale-ecmp", "none", level))
    made["late"] = two(d.mean("buffer-model-go-back-N", "none", "hierarchical, 16MB") / 1e6)
    made["late flat"] = two(d.mean("buffer-model-go-back-N", "none", "flat, direct, 16MB") / 1e6)
    made["qps 4"] = two(d.mean("qps", "none", "4") / d.mean("qps", "none", "1"))
    made["routing spray"] = two(d.mean("routing", "none", "spray") / d.mean("routing", "none", "ECMP"))
    parts = {part: sum(row[part] for row in d.rows("ecmp", "none")) for part in design.PARTS}
    for part in ("queued", "network", "sending", "compute"):
        made[f"share {part}"] = f"{100 * parts[part] / sum(parts.values()):.0f}"
    return made
