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
    of = {
        centre: {seed: (c, len(seeds)) for c, seeds in design.SEEDS[centre].items() for seed in seeds}
        for centre in design.CENTRES
    }
    first = {centre: {seeds[0]: c for c, seeds in design.SEEDS[centre].items()} for centre in design.CENTRES}

    def weight(sweep, level, seed):
        centre = sweep.rsplit("-", 1)[-1]
        if centre not in of or any(name in sweep for name in ("spines", "qps", "algorithm", "scale")):
            return 1
        if sweep.startswith("memory") and level == "per message":
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
    every = [("every run has completed", all(row["status"] == "completed" for row in rows), [len(rows)])]
    every += [*routes(d), *pod(d), *window(d), *platform(d), *harmed(d)]
    return [(sentence, bool(holds), ", ".join(f"{value:.3f}" for value in seen)) for sentence, holds, seen in every]


def routes(d):
    static, ecmp, sprayed = (d.mean("routing-2026", "none", level) for level in ("static", "ECMP", "spray"))
    sentence = "2026: without a policy ECMP takes more than 1.5 times as long as routes without collisions"
    yield sentence, ecmp > 1.5 * static, [ecmp / static]
    yield "2026: sprayed packets take at most 0.7 of ECMP's time", sprayed < 0.7 * ecmp, [sprayed / ecmp]
    free = [d.ratio("routing-2026", way, "spray") for way in d.ways("routing-2026")]
    sentence = "2026: with sprayed packets no policy is more than 5 % from no policy"
    yield sentence, all(abs(ratio - 1) < 0.05 for ratio in free), free
    eight = d.mean("qps-2026", "none", "8") / d.mean("qps-2026", "none", "1")
    yield "2026: eight queue pairs a pair take at most 0.9 of one's time", eight < 0.9, [eight]
    uec = d.ratio("centre-2026", "uec nscc")
    yield "2026: Ultra Ethernet takes at most 0.7 of the time of RoCE without a policy", uec < 0.7, [uec]
    fastest = min(lone(d))
    sentence = (
        "no rate or window control of RoCE makes a lone all-reduce more than 8 % faster than PFC alone, in any sweep"
    )
    yield sentence, fastest > 0.92, [fastest]


def pod(d):
    ways = ("window", "dcqcn khan2022 + window", "dcqcn scaled + window", "dctcp")
    windowed = [d.ratio("centre-2026", way) for way in ways]
    sentence = "2026: with a window of one BDP, DCQCN and DCTCP are within 8 % of no policy"
    yield sentence, all(abs(ratio - 1) < 0.08 for ratio in windowed), windowed
    scaled, nic, timely = (d.ratio("centre-2026", way) for way in ("dcqcn scaled", "dcqcn nic", "timely"))
    yield "2026: DCQCN with scaled gains, without a window, costs more than 40 %", scaled > 1.4, [scaled]
    yield "2026: so does TIMELY", timely > 1.4, [timely]
    yield "2026: DCQCN with the gains of NICs costs 25 to 75 %", 1.25 < nic < 1.75, [nic]
    for way in ("dcqcn scaled", "timely"):
        cold, warm = (d.ratio("warm-2026", way, key=key) - 1 for key in ("first_ns", "warm_ns"))
        sentence = f"2026: in iterations 7 to 12 {way} costs less than half of what it costs in the first"
        yield sentence, warm < cold / 2, [cold, warm]
    rails = [d.ratio("wiring-2026", way, "rails") for way in d.ways("wiring-2026")]
    yield "2026: wired by rails, no way is more than 5 % from no policy", all(abs(r - 1) < 0.05 for r in rails), rails


def window(d):
    busy = [d.mean("centre-2026", way, key="busy") for way in ("none", "dcqcn scaled")]
    sentence = "2026: the fullest uplink is busy for less than two thirds as much of the time under scaled DCQCN as under PFC alone"
    yield sentence, busy[1] < busy[0] * 2 / 3, busy
    for centre in design.CENTRES:
        near, far = (
            d.ratio(f"presets-fibre-{centre}", "dcqcn khan2022 + window", level) for level in ("100 m", "1 km")
        )
        sentence = f"{centre}: DCQCN with a window is within 8 % of no policy over 100 m of fibre and costs more than 25 % over 1 km"
        yield sentence, near < 1.08 and far > 1.25, [near, far]


def platform(d):
    ways = [way for way in d.ways("memory-2022") if way != "hpcc"]
    forgetting = [d.ratio("memory-2022", way, "per message") for way in ways]
    sentence = "2022: where queue pairs forget between messages, all policies but HPCC are within 8 % of no policy"
    yield sentence, all(abs(ratio - 1) < 0.08 for ratio in forgetting), forgetting
    kept = d.ratio("memory-2022", "dcqcn khan2022 + window", "persistent")
    yield "2022: where they remember, DCQCN with its window costs more than 10 %", kept > 1.1, [kept]
    one, sixteen = (d.ratio("presets-ack-2022", "dcqcn khan2022", level) for level in ("1", "16"))
    sentence = (
        "2022, 1D: DCQCN without a window costs more than 20 % with an ACK a packet, less than 5 % with one for 16"
    )
    yield sentence, one > 1.2 and sixteen < 1.05, [one, sixteen]


def harmed(d):
    def of(case, *ways):
        return [d.ratio(f"pfc-{case}", way) for way in ways]

    bounded = ("window", "dctcp", "hpcc", "swift")
    victim, slow, nic = of("victim", *bounded), of("slow-receiver", *bounded), of("victim", "dcqcn nic")
    sentence = "a flow beside an incast: a window, DCTCP, HPCC and Swift take at most half of the time under PFC alone"
    yield sentence, max(victim) < 0.5, victim
    yield "the same: DCQCN with the gains of NICs saves it 5 to 30 %", 0.7 < nic[0] < 0.95, nic
    yield "flows beside a slow receiver: the same four take at most half of the time", max(slow) < 0.5, slow
    storage = of("storage", "dctcp", "swift", "uec nscc")
    yield "an all-reduce beside checkpoints: DCTCP, Swift and Ultra Ethernet save at least 10 %", max(
        storage
    ) < 0.9, storage
    jobs, uec = of("two-jobs", *bounded, "dcqcn nic"), of("two-jobs", "uec nscc")
    yield "a ring beside an all-to-all: no policy of RoCE saves more than 5 %", min(jobs) > 0.95, jobs
    yield "the same: Ultra Ethernet saves at least 20 %", uec[0] < 0.8, uec


def lone(d):
    """Ratios to no policy of all RoCE policies that change neither paths nor admission, where nothing else runs."""
    spread = ("none", "tally", "clear", "uec", "tcp")
    for sweep in d.sweeps:
        if not sweep.startswith("pfc") and "none" in d.ways(sweep):
            for level in d.levels(sweep):
                yield from (
                    d.ratio(sweep, way, level)
                    for way in d.ways(sweep)
                    if not way.startswith(spread) and d.rows(sweep, way, level)
                )


def dots(d, sweep, ways):
    return {way: (list(d.over(sweep, way).values()), d.ratio(sweep, way)) for way in ways}


def lines(d, sweep):
    made = {}
    for way in d.ways(sweep):
        if way != "none":
            series = {level: list(d.over(sweep, way, level).values()) for level in d.levels(sweep)}
            made[way] = {
                level: (d.ratio(sweep, way, level), min(values), max(values)) for level, values in series.items()
            }
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
        "spray window": ratio("routing-2026", "window", "spray"),
        "spray hpcc": ratio("routing-2026", "hpcc", "spray"),
        "static ms": ms("routing-2026", "none", "static"),
        "ecmp ms": ms("routing-2026", "none", "ECMP"),
    }
    for centre in design.CENTRES:
        for way in d.ways(f"centre-{centre}"):
            made[f"{centre} {way}"] = ratio(f"centre-{centre}", way)
        for level in d.levels(f"fibre-{centre}"):
            made[f"{centre} dcqcn khan2022 + window {level}"] = ratio(
                f"presets-fibre-{centre}", "dcqcn khan2022 + window", level
            )
        for way in ("none", "hpcc", "dcqcn nic", RATE_BASED[centre]):
            made[f"{centre} {way} busy"] = f"{100 * d.mean(f'centre-{centre}', way, key='busy'):.0f}"
        for level in ("1", "4", "16", "64"):
            made[f"{centre} hpcc ack {level}"] = ratio(f"ack-{centre}", "hpcc", level)
    for way in ("dcqcn khan2022", "dcqcn khan2022 + window", "dcqcn nic", "dcqcn scaled", "none"):
        for level in ("1", "4", "16"):
            made[f"1D {way} ack {level}"] = ratio("presets-ack-2022", way, level)
    for level in ("persistent", "per message"):
        for way in design.CORE["2022"]:
            made[f"{level} {way}"] = ratio("memory-2022", way, level)
    for level in ("persistent", "per message"):
        made[f"{level} busy"] = f"{100 * d.mean('memory-2022', 'none', level, 'busy'):.0f}"
        made[f"{level} marks"] = f"{d.mean('memory-2022', 'dcqcn khan2022 + window', level, 'marks'):,.0f}"
    for way in ("window", "hpcc"):
        made[f"2026 1D {way}"] = ratio("algorithm-2026", way, "1D ring")
    made["static window"], made["static hpcc"] = ratio("routing-2026", "window", "static"), ratio(
        "routing-2026", "hpcc", "static"
    )
    made["eight over static"] = two(d.mean("qps-2026", "none", "8") / d.mean("routing-2026", "none", "static"))
    for case in design.PFC_CASES:
        for way in d.ways(f"pfc-{case}"):
            made[f"{case} {way}"] = ratio(f"pfc-{case}", way)
    for case in ("victim", "storage", "two-jobs"):
        made[f"{case} alone"] = two(d.mean(f"pfc-{case}-alone", "none") / d.mean(f"pfc-{case}", "none"))
    for level in ("1", "2", "4", "8"):
        made[f"qps nic {level}"] = two(
            d.mean("qps-2026", "dcqcn nic", level) / d.mean("qps-2026", "dcqcn nic", "1")
        )
        made[f"qps {level}"] = two(d.mean("qps-2026", "none", level) / d.mean("qps-2026", "none", "1"))
    for way in design.CORE["2026"]:
        made[f"chunks one {way}"] = ratio("chunks-2026", way, "4, 1")
        made[f"chunks all {way}"] = ratio("chunks-2026", way, "4, 4")
    for way in d.ways("warm-2026"):
        made[f"cold {way}"] = two(d.ratio("warm-2026", way, key="first_ns"))
        made[f"warm {way}"] = two(d.ratio("warm-2026", way, key="warm_ns"))
    for way in d.ways("wiring-2026"):
        made[f"rails {way}"] = ratio("wiring-2026", way, "rails")
    largest = d.levels("scale-large-2026")[0]
    for way in d.ways("scale-large-2026"):
        made[f"1024 {way}"] = ratio("scale-large-2026", way, largest)
    return made
