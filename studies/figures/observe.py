# SPDX-License-Identifier: MIT
"""What is kept of a run: one flat row from its metrics, with "" where a figure does not need a value, and points of curves."""
import re
import statistics

SETTLED_NS = 20e6  # of the two figures of the DCQCN testbed: what senders got before is not counted
SENDERS = (0, 4, 6, 9, 10)  # ranks of H1, the victim, H3, H4, H2 there
SHORT_LONG = {"hadoop": (1e3, 1e6), "websearch": (10e3, 5e6)}  # flows up to, and above, so many bytes
PARTS = (50, 95, 99)
EMPTY, LOW = 1500, 20e3  # bytes: a queue that holds no packet or one, and one that counts as drained


def percentile(values, part):
    """Nearest rank; `part` in per cent."""
    ordered = sorted(values)
    return ordered[max(0, -(-part * len(ordered) // 100) - 1)]


def measures(metrics):
    collective = metrics["collectives"][0] if metrics["collectives"] else None
    summary = metrics["flows_summary"]
    return {
        "status": metrics["status"],
        "time_ns": collective["duration_ns"] if collective else metrics["sim_time_ns"],
        "ideal_ns": known(collective["ideal_ns"]) if collective else "",
        **{f"fct_{name}_ns": known(summary["fct_ns"][name]) for name in ("mean", "p99", "max")},
        "slowdown": known(summary["slowdown"]["mean"]),
        "queue_max": metrics["queues"]["max_bytes"],
        "pauses": metrics["pfc"]["pause_frames"],
        "drops": metrics["drops"]["packets"],
        **hosts_paused(metrics), **sampled(metrics), **rates(metrics), **classes(metrics), **used(metrics, collective), **uplinks(metrics),
    }


def known(value):
    return "" if value is None else round(value, 4)


def hosts_paused(metrics):
    """Share of the time for which PFC held a host back, mean over hosts."""
    hosts = sum(dim["size"] for dim in metrics["scenario"]["topology"]["dims"][:1])
    paused = sum(port["paused_ns"] for port in metrics["pfc"]["ports"] if port["at"].startswith("rank"))
    return {"hosts_paused": round(paused / hosts / metrics["sim_time_ns"], 4)}


def sampled(metrics):
    """Of the port whose queue was sampled: its queue, what it sent, and how equal the flows were."""
    names = ("queue_mean", "queue_sd", "queue_empty", "queue_peak", "drain_ns", "queue_rest", "port_bytes", "port_share", "jain", "rate_least", "rate_most")
    series = metrics.get("series")
    if not series:
        return dict.fromkeys(names, "")
    times = series["t_ns"]
    (place, queue), = series["queue_bytes"].items()
    half = next(index for index, time in enumerate(times) if time >= metrics["sim_time_ns"] / 2)
    later, peak = queue[half:], max(range(len(queue)), key=queue.__getitem__)
    drained = next((times[index] - times[peak] for index in range(peak, len(queue)) if queue[index] < LOW), "")
    link, = (link for link in metrics["links"] if link["at"] == place)
    allowed = [statistics.fmean(seen) for seen in ([rate for rate in line[half:] if rate] for line in series["rate_bps"].values()) if seen]
    values = (round(statistics.fmean(later)), round(statistics.pstdev(later)), round(sum(held < EMPTY for held in later) / len(later), 4), queue[peak], drained,
              round(statistics.fmean(queue[-len(queue) // 8:])), link["bytes"], round(link["utilization"], 4),
              round(jain(allowed), 4) if allowed else "", round(min(allowed)) if allowed else "", round(max(allowed)) if allowed else "")
    return dict(zip(names, values))


def jain(values):
    return sum(values) ** 2 / len(values) / sum(value * value for value in values)


def rates(metrics):
    """Mean throughput (Gb/s) of senders of 4 MB messages back to back, once settled."""
    if not metrics["name"].startswith(("dcqcn-unfairness", "dcqcn-victim")):
        return {f"gbps_{rank}": "" for rank in SENDERS}
    return {f"gbps_{rank}": throughput([flow for flow in metrics["flows"] if flow["src"] == rank and flow["delivered_ns"]]) for rank in SENDERS}


def throughput(transfers):
    ends = sorted((flow["start_ns"] + flow["delivered_ns"], flow["bytes"]) for flow in transfers)
    first = next((index for index, (end, _) in enumerate(ends) if end > SETTLED_NS), None)
    if first is None:
        return ""
    begin = ends[first - 1][0] if first else 0
    return round(8 * sum(size for _, size in ends[first:]) / (ends[-1][0] - begin), 3)


def background(metrics):
    """Completed flows of the first job, the smallest first."""
    return sorted((flow for flow in metrics["flows"] if flow["job"] == 0 and flow["fct_ns"]), key=lambda flow: flow["bytes"])


def classes(metrics):
    """Percentiles of the slowdown of the shortest and of the longest flows."""
    sizes = next((bounds for name, bounds in SHORT_LONG.items() if name in metrics["name"]), None)
    if not sizes:
        return {f"{name}_p{part}": "" for name in ("short", "long") for part in PARTS}
    flows = background(metrics)
    of = {"short": [flow["slowdown"] for flow in flows if flow["bytes"] <= sizes[0]], "long": [flow["slowdown"] for flow in flows if flow["bytes"] > sizes[1]]}
    return {f"{name}_p{part}": round(percentile(values, part), 3) for name, values in of.items() for part in PARTS}


def rate_of(dim):
    """Gb/s of a rank in a dimension."""
    ways = {"switch": 1, "ring": 2, "fully_connected": dim["size"] - 1}[dim["kind"]]
    number, unit = re.fullmatch(r"([\d.]+)([GT])bps", dim["link"]["rate"]).groups()
    return float(number) * {"G": 1, "T": 1000}[unit] * dim["parallel" if "parallel" in dim else "planes"] * ways


def used(metrics, collective):
    """Share of all dimensions' rate that a hierarchical collective used."""
    if not metrics["name"].startswith("themis"):
        return {"used": ""}
    sent = sum(dim["bytes"] for dim in collective["dims"]) / collective["ranks"]
    return {"used": round(8 * sent / collective["duration_ns"] / sum(rate_of(dim) for dim in metrics["scenario"]["topology"]["dims"]), 4)}


def uplinks(metrics):
    """Bytes of the fullest of eight uplinks over their mean, of either leaf."""
    if metrics["name"] != "ecmp-balls":
        return {"fullest_0": "", "fullest_1": ""}
    sent = [[link["bytes"] for link in metrics["links"] if link["at"].startswith(f"leaf{leaf}->spine")] for leaf in (0, 1)]
    return {f"fullest_{leaf}": round(max(links) * len(links) / sum(links), 3) for leaf, links in enumerate(sent)}


def slowdowns_by_size(metrics, bins=20):
    """Percentile -> points (largest size, slowdown) of bins with equal numbers of flows, as in the authors' analysis."""
    flows = background(metrics)
    parts = [flows[index * len(flows) // bins:(index + 1) * len(flows) // bins] for index in range(bins)]
    return {part: [(some[-1]["bytes"], round(percentile([flow["slowdown"] for flow in some], part), 3)) for some in parts] for part in PARTS}


def queue_between(metrics, begin, end):
    """Points (us, KB) of the sampled queue."""
    (queue,) = metrics["series"]["queue_bytes"].values()
    return [(time / 1e3, held / 1e3) for time, held in zip(metrics["series"]["t_ns"], queue) if begin <= time <= end]
