#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the tables of studies/training-policy/README.md: tally beside the other policies, clear-to-send and Ultra
Ethernet, with wrong and missing hints, on scenarios that were not used to design it.

A finished run is kept in --out, so that a second call makes only what is missing. With --way only these are run, and the
cells of other ways stay as the page has them.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import runner  # noqa: E402
from runner import Run, cc, interval, mean, spread  # noqa: E402

SEEDS = range(1, 6)
SCENARIOS = ["allreduce-1d", "allreduce-2d", "allreduce-tree", "alltoall", "alltoall-window", "moe", "llm", "dlrm", "two-jobs",
             "incast", "victim", "oversubscribed", "degraded", "lossy"]
UEC = ['transport={"kind":"uec","mtu":"4096B","start_jitter":"1us"}', "switch.trimming.enabled=true", 'switch.queue_limit={"bytes":"216KB"}']
WAYS = {  # what the columns of the tables are called: overrides
    "none": [cc("none")],
    "window": [cc("window")],
    "dcqcn": [cc("dcqcn")],
    "dctcp": [cc("dctcp")],
    "timely": [cc("timely")],
    "hpcc": [cc("hpcc")],
    "swift": [cc("swift")],
    "powertcp": [cc("powertcp")],
    "cts": [cc("none"), "transport.admission=cts", "transport.slots=2", "transport.slot_bytes=256KB"],
    "uec": [*UEC, cc("nscc")],
    "tally": [cc("tally")],
    "no hints": [cc("tally"), "transport.hints=false"],
    "no paths": [cc("tally", paths=False)],
}
TCP = ['transport={"kind":"tcp","mss":"4096B","rto_min":"1ms","start_jitter":"1us"}']
OTHERS = {
    "timely_patched": [cc("timely_patched")],
    "powertcp_delay": [cc("powertcp_delay")],
    "rccc": [*UEC, cc("rccc")],
    "nscc_rccc": [*UEC, cc("nscc_rccc")],
    "newreno": [*TCP, cc("newreno")],
    "cubic": [*TCP, cc("cubic")],
}
ERRORS = {"exact": [], "10 %": ["transport.hint_error=0.1"], "25 %": ["transport.hint_error=0.25"],
          "50 %": ["transport.hint_error=0.5"], "missing": ["transport.hints=false"]}
HINTED = ["incast", "alltoall", "alltoall-window", "allreduce-tree", "moe", "dlrm", "lossy"]


def run(scenario, overrides, seed):
    return Run(f"reproduce/training-policy/{scenario}", tuple(overrides), seed)


def time_ns(metrics):
    """Iteration of training jobs, else the end of the last collective or flow."""
    return metrics["sim_time_ns"]


def summary(metrics, facts):
    flows = metrics["flows_summary"]
    return {
        "status": metrics["status"],
        "time_ns": time_ns(metrics),
        "p99_ns": flows["fct_ns"]["p99"],
        "queue": metrics["queues"]["max_bytes"],
        "paused_ns": metrics["pfc"]["paused_ns"],
        "drops": metrics["drops"]["packets"],
        "jain": flows["jain"],
        "packet_hops": facts["packet_hops"],
    }


TABLES = {
    "times": [run(s, w, seed) for s in SCENARIOS for w in WAYS.values() for seed in SEEDS],
    "hints": [run(s, [cc("tally"), *e], seed) for s in HINTED for e in ERRORS.values() for seed in SEEDS],
}
TABLES["others"] = [run(s, w, seed) for s in SCENARIOS for w in OTHERS.values() for seed in SEEDS]
TABLES["queues"] = TABLES["pauses"] = TABLES["best"] = TABLES["times"]


def values(cache, scenario, overrides, key, scale):
    results = [cache.get(run(scenario, overrides, seed)) for seed in SEEDS]
    return None if None in results else [result[key] / scale for result in results]


def first_number(cell):
    return float(cell.strip("* ").split(" ")[0])


def cells(cache, key, scale, page, table, intervals=False, ways=None):
    """A row a scenario: mean and interval over the seeds, the smallest mean of WAYS in bold. Without runs of a way the page's cell."""
    rows, old = [], runner.cells_of(page, table)
    for scenario in SCENARIOS:
        texts, means, anew = {}, {}, set()
        for way, overrides in (ways or WAYS).items():
            v = values(cache, scenario, overrides, key, scale)
            texts[way] = old[scenario, way].strip("*") if v is None else spread(v, 0) if intervals else f"{mean(v):.0f}"
            means[way] = first_number(texts[way]) if v is None else mean(v)
            if v is not None:
                anew.add(way)
        least = min(mean for way, mean in means.items() if not way.startswith("no "))
        for way in texts:  # cells of the page are rounded: of two that are equal the one in bold stays
            first = way in anew and means[way] == least or old[scenario, way].startswith("**")
            if not ways and first and round(means[way]) == round(least):
                texts[way] = f"**{texts[way]}**"
        rows.append([scenario, *texts.values()])
    return runner.markdown(["scenario", *(ways or WAYS)], rows, words=1)


def hints(cache):
    rows = []
    for scenario in HINTED:
        row = [scenario]
        for overrides in ERRORS.values():
            v = values(cache, scenario, [cc("tally"), *overrides], "time_ns", 1e3)
            queue = values(cache, scenario, [cc("tally"), *overrides], "queue", 1e3)
            if v is None:
                return None
            row.append(f"{mean(v):.0f} ± {interval(v):.0f} ({mean(queue):.0f})")
        rows.append(row)
    return runner.markdown(["scenario", *ERRORS], rows, words=1)


def best(cache, page):
    """tally against the best of the others, and against each; a row of the page stays if runs of its ways are missing."""
    rows, old, times = [], runner.cells_of(page, "best"), runner.cells_of(page, "times")
    for scenario in SCENARIOS:
        of = {way: values(cache, scenario, overrides, "time_ns", 1e3) for way, overrides in WAYS.items() if not way.startswith("no ")}
        means = {way: first_number(times[scenario, way]) if v is None else mean(v) for way, v in of.items()}
        first = min((way for way in means if way != "tally"), key=means.get)
        if None in (of["tally"], of[first], of["window"]):
            row = [cell for (name, _), cell in old.items() if name == scenario]
            if row[1] != first:
                print(f"{scenario}: {first} is the best now: run it, tally and window too", file=sys.stderr)
            rows.append(row)
            continue
        ratios, window = ([a / b for a, b in zip(of["tally"], of[way])] for way in (first, "window"))
        rows.append([scenario, first, f"{mean(ratios):.3f} ± {interval(ratios):.3f}", f"{mean(window):.3f} ± {interval(window):.3f}"])
    return runner.markdown(["scenario", "best of the others", "tally's time by the best's", "by that of window"], rows, words=2)


def texts(chosen, cache, page):
    made = {"times": lambda: cells(cache, "time_ns", 1e3, page, "times", True), "queues": lambda: cells(cache, "queue", 1e3, page, "queues"),
            "others": lambda: cells(cache, "time_ns", 1e3, page, "others", True, OTHERS),
            "pauses": lambda: cells(cache, "paused_ns", 1e3, page, "pauses"), "hints": lambda: hints(cache), "best": lambda: best(cache, page)}
    return {name: made[name]() for name in chosen}


if __name__ == "__main__":
    sys.exit(runner.main("training-policy", __doc__, TABLES, summary, lambda result: result["time_ns"], texts, {**WAYS, **OTHERS}))
