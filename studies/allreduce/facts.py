# SPDX-License-Identifier: MIT
"""What the rows of the all-reduce study show: its claims, each a test, and the numbers and tables of its page."""
import design
import tables
from results import Results

RATE_BASED = {"2022": "dcqcn khan2022 + window", "2026": "dcqcn scaled"}


def weights():
    """Exact probabilities of how full the fullest of 8 leaves' uplinks is, divided among the seeds of its class."""
    exact = tables.largest_load(8, 8, 8)
    classes = {3: exact[1] + exact[2] + exact[3], 4: exact[4], 5: sum(exact[c] for c in (5, 6, 7, 8))}
    of = {centre: {seed: (c, len(seeds)) for c, seeds in design.SEEDS[centre].items() for seed in seeds} for centre in design.CENTRES}
    first = {centre: {seeds[0]: c for c, seeds in design.SEEDS[centre].items()} for centre in design.CENTRES}

    def weight(sweep, level, seed):
        centre = sweep.rsplit("-", 1)[-1]
        if centre not in of or any(name in sweep for name in ("spines", "qps", "memory", "algorithm", "scale")):
            return 1
        if sweep.startswith("centre"):
            c, count = of[centre][seed]
            return classes[c] / count
        return classes[first[centre][seed]]
    return weight


def results(rows):
    full = {row["seed"] for row in rows if row["sweep"] == "centre-2026"} == set(design.ten("2026"))
    return Results(rows, weights()) if full else Results(rows)


def claims(rows):
    """(sentence, whether it holds, what was seen). They hold for the full study and for the reduced one."""
    d = results(rows)
    made = []

    def claim(sentence, holds, *seen):
        made.append((sentence, bool(holds), ", ".join(f"{value:.3f}" for value in seen)))

    def at(sweep, way, level="", **base):
        return d.ratio(sweep, way, level, **base)

    claim("every run has completed", all(row["status"] == "completed" for row in rows), len(rows))
    static, sprayed = d.mean("routing-2026", "none", "static"), d.mean("routing-2026", "none", "spray")
    ecmp = d.mean("routing-2026", "none", "ECMP")
    claim("2026: ECMP takes more than 1.5 times as long as routes without collisions, under no policy", ecmp > 1.5 * static, ecmp / static)
    claim("2026: spraying packets takes at most 0.7 of ECMP's time", sprayed < 0.7 * ecmp, sprayed / ecmp)
    free = [at("routing-2026", way, "spray") for way in d.ways("routing-2026") if way not in ("window", "hpcc")]
    claim("2026: with sprayed packets no policy but a window and HPCC is more than 5 % from no policy", all(abs(ratio - 1) < 0.05 for ratio in free), *free)
    windowed = ("window", "dcqcn khan2022 + window", "dcqcn scaled + window", "dctcp")
    claim("2026: with a window of one BDP, DCQCN and DCTCP are within 8 % of no policy", all(abs(at("centre-2026", way) - 1) < 0.08 for way in windowed),
          *(at("centre-2026", way) for way in windowed))
    for way in ("dcqcn scaled", "timely"):
        claim(f"2026: {way} without a window takes at least 1.4 times as long as no policy", at("centre-2026", way) > 1.4, at("centre-2026", way))
    claim("2026: DCQCN with the gains of NICs is within 10 % of no policy where scaled gains cost more than 40 %",
          at("centre-2026", "dcqcn nic") < 1.1 and at("centre-2026", "dcqcn scaled") > 1.4, at("centre-2026", "dcqcn nic"), at("centre-2026", "dcqcn scaled"))
    for centre, way in (("2026", "dcqcn khan2022 + window"), ("2022", "dcqcn khan2022 + window")):
        near, far = at(f"presets-fibre-{centre}", way, "100 m"), at(f"presets-fibre-{centre}", way, "1 km")
        claim(f"{centre}: DCQCN with a window is within 8 % of no policy over 100 m of fibre and costs more than 25 % over 1 km", near < 1.08 and far > 1.25, near, far)
    forgetting = [at("memory-2022", way, "per message") for way in d.ways("memory-2022") if way != "hpcc"]
    claim("2022: where queue pairs forget between messages, all policies but HPCC are within 8 % of no policy", all(abs(ratio - 1) < 0.08 for ratio in forgetting), *forgetting)
    claim("2022: where they remember, DCQCN with its window costs more than 10 %", at("memory-2022", "dcqcn khan2022 + window", "persistent") > 1.1,
          at("memory-2022", "dcqcn khan2022 + window", "persistent"))
    one, sixteen = (at("presets-ack-2022", "dcqcn khan2022", level) for level in ("1", "16"))
    claim("2022, 1D: DCQCN without a window costs more than 20 % with an ACK a packet and less than 5 % with one for 16", one > 1.2 and sixteen < 1.05, one, sixteen)
    spread_over = d.mean("qps-2026", "none", "8") / d.mean("qps-2026", "none", "1")
    claim("2026: eight queue pairs a pair take at most 0.9 of one's time", spread_over < 0.9, spread_over)
    claim("2026: Ultra Ethernet takes at most 0.7 of the time of RoCE without a policy", at("centre-2026", "uec nscc") < 0.7, at("centre-2026", "uec nscc"))
    fastest = min(lone(d))
    claim("no rate or window control of RoCE makes a lone all-reduce more than 8 % faster than PFC alone, in any sweep", fastest > 0.92, fastest)
    victim = {way: at("pfc-victim", way) for way in ("window", "dctcp", "hpcc", "swift", "dcqcn nic")}
    claim("a flow beside an incast: a window, DCTCP, HPCC and Swift take at most half of the time under PFC alone",
          all(victim[way] < 0.5 for way in ("window", "dctcp", "hpcc", "swift")), *victim.values())
    claim("the same: DCQCN with the gains of NICs does not help it", victim["dcqcn nic"] > 0.9, victim["dcqcn nic"])
    slow = [at("pfc-slow-receiver", way) for way in ("window", "dctcp", "hpcc", "swift")]
    claim("flows beside a slow receiver: the same four take at most half of the time", all(ratio < 0.5 for ratio in slow), *slow)
    storage = [at("pfc-storage", way) for way in ("dctcp", "swift", "uec nscc")]
    claim("an all-reduce beside checkpoints: DCTCP, Swift and Ultra Ethernet save at least 10 %", all(ratio < 0.9 for ratio in storage), *storage)
    jobs = [at("pfc-two-jobs", way) for way in ("window", "dcqcn nic", "dctcp", "hpcc", "swift")]
    claim("a ring beside an all-to-all: no policy of RoCE but tally saves more than 5 %", all(ratio > 0.95 for ratio in jobs), *jobs)
    claim("the same: Ultra Ethernet saves at least 20 %", at("pfc-two-jobs", "uec nscc") < 0.8, at("pfc-two-jobs", "uec nscc"))
    return made


def lone(d):
    """Ratios to no policy of all RoCE policies that change neither paths nor admission, where nothing else runs."""
    spread = ("none", "tally", "clear", "uec", "tcp")
    for sweep in d.sweeps:
        if not sweep.startswith("pfc") and "none" in d.ways(sweep):
            for level in d.levels(sweep):
                yield from (d.ratio(sweep, way, level) for way in d.ways(sweep) if not way.startswith(spread) and d.rows(sweep, way, level))


def dots(d, sweep, ways):
    return {way: (list(d.over(sweep, way).values()), d.ratio(sweep, way)) for way in ways}


def lines(d, sweep):
    made = {}
    for way in d.ways(sweep):
        if way != "none":
            series = {level: list(d.over(sweep, way, level).values()) for level in d.levels(sweep)}
            made[way] = {level: (d.ratio(sweep, way, level), min(values), max(values)) for level, values in series.items()}
    return made


def values(rows):
    """name in page.md -> text."""
    d = results(rows)
    two = "{:.2f}".format
    ratio = lambda sweep, way, level="": two(d.ratio(sweep, way, level))  # noqa: E731
    ms = lambda sweep, way, level="": two(d.mean(sweep, way, level) / 1e6)  # noqa: E731
    exact, one = tables.largest_load(8, 8, 8), tables.largest_load(8, 8, 1)
    made = {
        "runs": f"{len(rows) + design.TIMELINE.points():,}",
        "ecmp over static": two(d.mean("routing-2026", "none", "ECMP") / d.mean("routing-2026", "none", "static")),
        "spray over static": two(d.mean("routing-2026", "none", "spray") / d.mean("routing-2026", "none", "static")),
        "uec over static": two(d.mean("centre-2026", "uec nscc") / d.mean("routing-2026", "none", "static")),
        "tally over static": two(d.mean("centre-2026", "tally") / d.mean("routing-2026", "none", "static")),
        "odds": ", ".join(f"{c} flows {100 * p:.1f} %" for c, p in exact.items() if p > 5e-3),
        "odds of one leaf": ", ".join(f"{c} flows {100 * p:.1f} %" for c, p in one.items() if p > 5e-3),
        "fastest": two(min(lone(d))),
        "spray window": ratio("routing-2026", "window", "spray"), "spray hpcc": ratio("routing-2026", "hpcc", "spray"),
        "static ms": ms("routing-2026", "none", "static"), "ecmp ms": ms("routing-2026", "none", "ECMP"),
    }
    for centre in design.CENTRES:
        for way in d.ways(f"centre-{centre}"):
            made[f"{centre} {way}"] = ratio(f"centre-{centre}", way)
        for level in d.levels(f"fibre-{centre}"):
            made[f"{centre} dcqcn khan2022 + window {level}"] = ratio(f"presets-fibre-{centre}", "dcqcn khan2022 + window", level)
        for level in ("1", "4", "16", "64"):
            made[f"{centre} hpcc ack {level}"] = ratio(f"ack-{centre}", "hpcc", level)
    for way in ("dcqcn khan2022", "dcqcn khan2022 + window", "dcqcn nic", "dcqcn scaled", "none"):
        for level in ("1", "4", "16"):
            made[f"1D {way} ack {level}"] = ratio("presets-ack-2022", way, level)
    for level in ("persistent", "per message"):
        for way in design.CORE["2022"]:
            made[f"{level} {way}"] = ratio("memory-2022", way, level)
    for case in design.PFC_CASES:
        for way in d.ways(f"pfc-{case}"):
            made[f"{case} {way}"] = ratio(f"pfc-{case}", way)
    for case in ("victim", "storage", "two-jobs"):
        made[f"{case} alone"] = two(d.mean(f"pfc-{case}-alone", "none") / d.mean(f"pfc-{case}", "none"))
    for level in ("1", "2", "4", "8"):
        made[f"qps {level}"] = two(d.mean("qps-2026", "none", level) / d.mean("qps-2026", "none", "1"))
    for way in design.CORE["2026"]:
        made[f"chunks one {way}"] = ratio("chunks-2026", way, "4, 1")
        made[f"chunks all {way}"] = ratio("chunks-2026", way, "4, 4")
    largest = d.levels("scale-large-2026")[0]
    for way in d.ways("scale-large-2026"):
        made[f"1024 {way}"] = ratio("scale-large-2026", way, largest)
    return made
