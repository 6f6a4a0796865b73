# SPDX-License-Identifier: MIT
"""What the rows of the DLRM study show: its claims, each a test, and the numbers of its page."""
import statistics

import design
import ranges
from results import Results


def claims(rows):
    """(sentence, whether it holds, what was seen). They hold for the full study and for the reduced one."""
    d, made = Results(rows), []

    def claim(sentence, holds, *seen):
        made.append((sentence, bool(holds), ", ".join(f"{value:.3f}" for value in seen)))

    lossy = ("go-back-N", "selective")
    may_fail = any(name in row["sweep"] for row in rows for name in lossy)
    ended = {"completed", "incomplete"} if may_fail else {"completed"}
    claim("every run has completed", all(row["status"] in ended for row in rows), len(rows))
    claim_steps(d, claim)
    claim_policies(d, claim)
    claim_buffers(d, claim)
    return made


def claim_steps(d, claim):
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


def claim_policies(d, claim):
    ways = [way for way in ("window", "dcqcn scaled", "dctcp", "swift", "hpcc") if way in d.ways("static")]
    static = [d.ratio("static", way) for way in ways]
    claim(
        "on collision-free routes a window, scaled DCQCN, DCTCP, Swift and HPCC are within 5 % of no policy",
        all(abs(ratio - 1) < 0.05 for ratio in static),
        *static,
    )
    windowed = [d.ratio("ecmp", way) for way in ("window", "dcqcn scaled + window", "dctcp")]
    claim(
        "ECMP: a window, DCQCN with a window and DCTCP are within 10 % of no policy",
        all(abs(ratio - 1) < 0.1 for ratio in windowed),
        *windowed,
    )
    claim(
        "ECMP: DCQCN with the gains of NICs costs 5 to 25 %",
        1.05 < d.ratio("ecmp", "dcqcn nic") < 1.25,
        d.ratio("ecmp", "dcqcn nic"),
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


def claim_buffers(d, claim):
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


def values(rows):
    """name in page.md -> text."""
    d = Results(rows)
    made = {"runs": f"{len(rows):,}"}
    for part in (step_values, policy_values, buffer_values, scale_values):
        made.update(part(d))
    return {**made, **drawn_values()}


def drawn_values():
    """Ranges of the claim `dlrm` of studies/claims over drawn assumptions, with what moves each most."""
    claim = ranges.Ranges("dlrm")
    steps = {name: ranges.step(*ends) for name, ends in ranges.STEPS["dlrm"].items()}
    made = {"draws": str(len(claim.drawn))}
    for name, count in claim.largest(steps).items():
        made[f"largest {name}"] = str(count)
        shares = [100 * share for share in claim.values(steps[name])]
        made[f"drawn {name}"] = f"{min(shares):.0f} to {max(shares):.0f}"
        made[f"median {name}"] = f"{statistics.median(shares):.0f}"
        made[f"mover {name}"] = claim.moved_most(steps[name])[0]
    for way in ("spray", "window", "dcqcn nic", "dcqcn scaled", "timely", "hpcc"):
        ratios = claim.values(ranges.ratio(way))
        made[f"drawn {way}"] = f"{two(min(ratios))} to {two(max(ratios))}"
        made[f"median {way}"] = two(statistics.median(ratios))
        made[f"mover {way}"] = claim.moved_most(ranges.ratio(way))[0]
    return made


def two(value):
    return f"{value:.2f}"


def milliseconds(d, sweep, way="none", level=""):
    return two(d.mean(sweep, way, level) / 1e6)


def factor(d, sweep, base, level=""):
    """Time without a policy over that of another sweep."""
    return two(d.mean(sweep, "none", level) / d.mean(base, "none", level))


def step_values(d):
    made = {f"ms {name}": milliseconds(d, f"step: {name}") for name in design.STEPS}
    time = {name: d.mean(f"step: {name}", "none") for name in design.STEPS}
    switch = time["packets, one switch"]
    latency = (time["two tiers, trunks of 10 Tb/s"] - switch) / (time["two tiers, 2:1"] - switch)
    parts = {part: sum(row[part] for row in d.rows("ecmp", "none")) for part in design.PARTS}
    for part in ("queued", "network", "sending", "compute"):
        made[f"share {part}"] = f"{100 * parts[part] / sum(parts.values()):.0f}"
    draws = d.of("ecmp", "none").values()
    return {
        **made,
        "ms ECMP": milliseconds(d, "ecmp"),
        "latency share": f"{100 * latency:.0f}",
        "least": two(min(draws) / 1e6),
        "most": two(max(draws) / 1e6),
        "big buffer": factor(d, "big-buffer", "ecmp"),
        "closed static": factor(d, "step: two tiers, 2:1", "step: closed form"),
        "closed ECMP": factor(d, "ecmp", "step: closed form"),
    }


def policy_values(d):
    made = {f"{sweep} {way}": two(d.ratio(sweep, way)) for sweep in ("ecmp", "static") for way in d.ways(sweep)}
    for way in ("window", "hpcc"):
        for level in ("1", "16"):
            made[f"acks {way} {level}"] = two(d.ratio("acks-static", way, level))
    for way in ("timely", "hpcc", "swift"):
        made[f"spray {way}"] = two(d.ratio("routing", way, "spray"))
    made["qps 4"] = two(d.mean("qps", "none", "4") / d.mean("qps", "none", "1"))
    made["routing spray"] = two(d.mean("routing", "none", "spray") / d.mean("routing", "none", "ECMP"))
    return made


def buffer_values(d):
    made = {}
    for what in ("dense", "model"):
        for name in design.ALL_REDUCES:
            for fabric in design.FABRICS:
                (sweep, way), sizes = design.buffer_sweep(what, fabric), design.FABRICS[fabric].sizes
                least, most = (d.mean(sweep, way, f"{name}, {size}") for size in (sizes[0], sizes[-1]))
                made[f"{what} {fabric} {name}"] = two(least / most)
                made[f"{what} {fabric} {name} ms"] = two(most / 1e6)
    made["late"] = milliseconds(d, "buffer-model-go-back-N", "none", "hierarchical, 16MB")
    made["late flat"] = milliseconds(d, "buffer-model-go-back-N", "none", "flat, direct, 16MB")
    return made


def scale_values(d):
    made = {}
    for gpus in ("16", "64", "256"):
        for name in design.SHARDINGS:
            level = f"{gpus}, {name}"
            made[f"scale {level} static"] = factor(d, "scale-static", "scale-closed", level)
            made[f"scale {level} ECMP"] = factor(d, "scale-ecmp", "scale-closed", level)
            made[f"collisions {level}"] = factor(d, "scale-ecmp", "scale-static", level)
            made[f"uec {level}"] = two(d.mean("scale-ecmp", "uec nscc", level) / d.mean("scale-ecmp", "none", level))
    for name in ("table", "column"):
        level = f"1024, {name}"
        made[f"scale {level} ECMP"] = factor(d, "scale-large", "scale-closed", level)
        made[f"ms {level}"] = milliseconds(d, "scale-large", "none", level)
    return made
