#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares TCP of the simulator with measured runs of Linux TCP (tests/data/linux-tcp).

check_linux.py [CASE...] runs the cases, or groups of cases by letter (default: all), prints a line for each value that is
outside its tolerance and a summary, and fails if fewer than 90 % of the values are inside.
--table prints all values (Linux, ours, ratio, tolerance).

The tolerances come from the spread that the notes of the data state: see tolerance().
"""
import csv
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(__file__))
import box
import measure

DATA = os.path.join(os.path.dirname(__file__), "..", "data", "linux-tcp", "runs.csv")
SHARE = 0.9
SHIFTS_MS = (0.0, 1.3, 2.7)  # starts against the ticks of the timers, whose phase is not known

# Values that the notes call unsafe, or that describe the measurement.
UNSAFE = {"new_pk_sent_in_1st_recovery", "burst_ms", "startup_episodes", "period_ms_sd",
          "share_flow0_per_10s", "srtt_mean_ms", "rounds_after_restart",
          "queue_mean_at_arrival_pk", "tx_after_last_original", "rec_flows", "rto_flows", "all_ms",
          "min_ms", "rtx", "zero_window_ack_delivered_ms", "qdrop", "ldrop", "n_rto", "max_rtt_us", "pk", "cwr_flagged_packets_whole_run"}


def is_safe(case, metric):
    if any(metric == u or metric.endswith("_" + u) for u in UNSAFE):
        return False
    group = case[0]
    if group == "c" and "rtt100.n10_l3" in case:
        return False
    if group == "g":
        return case in ("g.reno.K42", "g.reno.K83") and metric in ("period_ms_med", "mark")
    if group == "b" and metric == "done_ms" and case.rsplit(".k", 1)[-1] in ("1", "3", "15"):
        return False
    if group == "i":
        return metric == "med_ms"
    if metric == "mark":
        return False  # none: these cases have no ECN
    if metric == "share_flow0" or metric.startswith("flow"):
        return False  # chaotic phase
    if group == "f" and ("q21" in case or "q42" in case):
        return metric in ("total_goodput_mbps", "goodput_mbps", "period_ms_med")
    return True


def tolerance(case, metric, median, low, high):
    """Half width around [low, high] of the measured values: the spread that the notes state."""
    group = case[0]
    share = {"a": 0.01, "b": 0.01, "e": 0.01, "f": 0.015, "h": 0.01}.get(group, 0.05)
    slack = share * abs(median)
    if group == "e" and "N100." in case + ".":
        slack = 0.04 * abs(median)
    if group == "b" and metric.endswith("_ms"):
        slack = max(slack, 0.15)  # the kernel's stack takes up to that for a burst
    if group == "f" and ("q21" in case or "q42" in case):
        slack = 0.02 * abs(median)
    timed = metric.startswith(("rtx", "probe", "done", "episode_ms", "zero_window", "first_data"))
    if group in "cd" and timed and metric.endswith(("_ms", "_new", "_drop", "_ack")):
        slack = 8 if median < 256 else max(30, 0.07 * abs(median))
    if group == "h" and metric.startswith("probe"):
        slack = max(30, 0.07 * abs(median))
    if metric.endswith("rto_us") or metric == "rto":
        slack = max(slack, 4000)  # a tick
    if group in "cd" and metric.startswith(("cwnd", "ssthresh", "episode_ssthresh", "n_")):
        slack = 0.05 * abs(median)
    return slack


def measured(row):
    """(median, low, high) of a numeric row, or None."""
    try:
        return float(row["median"]), float(row["min"]), float(row["max"])
    except ValueError:
        return None


LIST_ROWS = {"packets_sent_per_round", "cwnd_at_40ms_steps_from_t40"}


def listed(row):
    """The first of the runs' lists of numbers."""
    words = row["values"].split("||")[0].split()
    return [float(word) for word in words[1:]]


def window_seconds(rows):
    """The time over which the statistics of a long run were taken."""
    by = {r["metric"]: r for r in rows}
    prefix = "" if "pk" in by else "flow0_"
    pk = float(by[prefix + "pk"]["median"])
    rate = float(by[prefix + "goodput_mbps"]["median"])
    return pk * box.MSS * 8 / (rate * 1e6)


def simulate(binary, case, rows):
    """The metrics of our runs: the median over the shifts against the timer ticks."""
    text, group = rows[0]["box_parameters"], case[0]
    long = group in "efg"
    shifts = SHIFTS_MS if group in "cdhi" else (0.0,)
    found = []
    for shift in shifts:
        sample = "1ms" if long else "20us" if group != "h" and group != "d" else "100us"
        run = box.Run(binary, case, text, sample if group != "i" else None, shift)
        if long:
            found.append(measure.group_long(run, window_seconds(rows)))
        elif case.startswith("h.zerowin"):
            found.append(measure.group_h_window(run))
        elif group == "h":
            found.append(measure.group_h_idle(run))
        else:
            found.append(getattr(measure, f"group_{group}")(run))
    out = {}
    for key in found[0]:
        values = [f[key] for f in found if key in f]
        out[key] = values[0] if isinstance(values[0], list) else statistics.median(values)
    return out


def compare(case, rows, ours):
    """Yields (metric, Linux, ours, tolerance, inside) of every safe value."""
    for row in rows:
        metric = row["metric"]
        if metric in LIST_ROWS:
            values = listed(row)
            mine = (ours.get(metric) or []) + [0] * len(values)
            for i, value in enumerate(values):
                slack = max(0.01 * value, 1)
                yield (f"{metric}[{i}]", value, mine[i], slack, abs(mine[i] - value) <= slack)
            continue
        numbers = measured(row)
        if numbers is None or not is_safe(case, metric) or metric not in ours:
            continue
        median, low, high = numbers
        slack = tolerance(case, metric, median, low, high)
        inside = low - slack <= ours[metric] <= high + slack
        yield metric, median, ours[metric], slack, inside


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    table, binary, wanted = "--table" in sys.argv, os.environ["COLLWIRE"], words
    cases = {}
    for row in csv.DictReader(open(DATA)):
        cases.setdefault(row["case"], []).append(row)
    total = good = 0
    for case, rows in cases.items():
        if wanted and case not in wanted and case[0] not in wanted:
            continue
        n = hits = 0
        for metric, linux, mine, slack, inside in compare(case, rows, simulate(binary, case, rows)):
            n += 1
            hits += inside
            if table or not inside:
                ratio = mine / linux if linux else float("nan")
                print(f"{'' if inside else 'OUT '}{case} {metric}: Linux {linux:.6g}, "
                      f"ours {mine:.6g}, ratio {ratio:.3f}, tolerance {slack:.3g}")
        total, good = total + n, good + hits
        print(f"{case}: {hits} of {n}", flush=True)
    print(f"{good} of {total} values inside, {100 * good / max(total, 1):.1f} %")
    return 0 if total and good >= SHARE * total else 1


if __name__ == "__main__":
    sys.exit(main())
