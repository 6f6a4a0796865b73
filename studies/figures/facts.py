# SPDX-License-Identifier: MIT
"""What the rows of the redone figures show: claims, each a test, and the numbers and tables of the page."""
import statistics

import design
import tables
from results import Results

HOSTS = {"H1": 0, "H2": 10, "H3": 6, "H4": 9}
VICTIM = 4
FULL_ONLY = ("hpcc-hadoop-30", "hpcc-websearch-30", "hpcc-websearch-50", "irn-lossy", "irn-lossy-naks")  # sweeps that only the full study has, as the claims of full_only() need
PUBLISHED_THEMIS = {"baseline": 0.5631, "Themis+FIFO": 0.8767, "Themis+SCF": 0.9514}
PUBLISHED_GAIN = {"Themis+FIFO": 1.58, "Themis+SCF": 1.72, "most": 2.70}


def throughputs(d, sweep, way, rank):
    """Of a host of the DCQCN testbed, Gb/s: a value a draw."""
    return [row[f"gbps_{rank}"] for row in d.rows(sweep, way)]


def one(d, sweep, way, level="", key="queue_mean"):
    """A value of sweeps with one seed."""
    row, = d.rows(sweep, way, level)
    return row[key]


def sent(d, sweep, way):
    """(begin in ms, end in ms, Gb/s) of the sampled port between the ends of successive runs."""
    ends = sorted((float(str(row["level"]).split()[0]), row["port_bytes"]) for row in d.rows(sweep, way, None))
    return [(begin, end, 8 * (after - before) / (end - begin) / 1e6) for (begin, before), (end, after) in zip(ends, ends[1:])]


def burst(d, sweep, way):
    """Gb/s of the sampled port from the burst until the tenth flow begins: least of 100 us, from 100 us on, and mean."""
    bins = [each for each in sent(d, sweep, way) if each[0] > design.BURST_MS - 0.01 and each[1] < 7.61]
    least = min(rate for begin, end, rate in bins if begin > design.BURST_MS + 0.05 and end - begin < 0.15)
    return least, sum((end - begin) * rate for begin, end, rate in bins) / sum(end - begin for begin, end, rate in bins)


def timely_queue(flows):
    """KB: 10G x 50 us x (1 + N/8) x 1.25 of the fixed point less what the path holds, from the value for ten flows."""
    return 134.5 + 125 * (flows - 10) / 16


def utilization(d, way):
    """Mean over networks of the mean over sizes."""
    return tables.mean(tables.mean(row["used"] for row in d.rows(f"themis-{network}", way, None)) for network in design.THEMIS_NETWORKS)


def gains(d, way):
    """network -> time of the baseline over that of `way`, mean over sizes"""
    return {network: tables.mean(one(d, sweep, "baseline", level, "time_ns") / one(d, sweep, way, level, "time_ns") for level in d.levels(sweep))
            for network, sweep in ((network, f"themis-{network}") for network in design.THEMIS_NETWORKS)}


def balls(d):
    """flows on the fullest of eight uplinks -> share of leaves"""
    seen = [round(row[key]) for row in d.rows("ecmp-balls") for key in ("fullest_0", "fullest_1")]
    return {count: seen.count(count) / len(seen) for count in range(1, 9)}, len(seen)


def chi_square(d):
    """Of the simulated counts against the exact distribution, in the groups up to 2, 3, 4 and above: 3 degrees of freedom."""
    exact, (shares, count) = tables.largest_load(8, 8, 1), balls(d)
    groups = ((1, 2), (3,), (4,), (5, 6, 7, 8))
    pairs = [(sum(shares[c] for c in group), sum(exact[c] for c in group)) for group in groups]
    return sum(count * (seen - wanted) ** 2 / wanted for seen, wanted in pairs)


def fullest(d, level):
    return tables.mean(row[key] for row in d.rows("ecmp-queue-pairs", "none", level) for key in ("fullest_0", "fullest_1"))


def fullest_exact(queue_pairs):
    return sum(count * share for count, share in tables.largest_load(8 * queue_pairs, 8, 1).items()) / queue_pairs


def mean(d, sweep, way, key, level=""):
    return tables.mean(row[key] for row in d.rows(sweep, way, level))


class Claims(list):
    def add(self, sentence, holds, *seen):
        self.append((sentence, bool(holds), ", ".join(f"{value:.3f}" for value in seen)))


def claims(rows):
    """(sentence, whether it holds, what was seen). They hold for the full study and, but for full_only(), for the reduced one."""
    d, made = Results(rows), Claims()
    made.add("every run has completed", all(row["status"] == "completed" for row in rows), len(rows))
    for part in (testbed, stability, hpcc, irn, powertcp, many, themis, shifted, ecmp):
        part(d, made)
    if any(name in d.sweeps for name in FULL_ONLY):
        full_only(d, made)
    return made


def testbed(d, made):
    shares = {way: {host: throughputs(d, "dcqcn-unfairness", way, rank) for host, rank in HOSTS.items()} for way in design.TESTBED}
    lone = min(h4 / max(others) for h4, *others in zip(shares["none"]["H4"], *(shares["none"][host] for host in ("H1", "H2", "H3"))))
    medians = {way: [statistics.median(values) for values in of.values()] for way, of in shares.items()}
    made.add("PFC alone: H4 gets at least 1.4 times the median of each other sender, and in no draw less than 0.95 of any", medians["none"][3] > 1.4 * max(medians["none"][:3]) and lone > 0.95,
             *medians["none"], lone)
    made.add("DCQCN: the medians of the four senders differ by at most 10 %, without a pause",
             max(medians["dcqcn paper"]) < 1.1 * min(medians["dcqcn paper"]) and not any(row["pauses"] for row in d.rows("dcqcn-unfairness", "dcqcn paper")), *medians["dcqcn paper"])
    victim = {way: [statistics.median(throughputs(d, f"dcqcn-victim-{n}", way, VICTIM)) for n in range(3)] for way in design.TESTBED}
    made.add("PFC alone: the victim loses at least a quarter of its throughput to two senders that share no link with it", victim["none"][2] < 0.75 * victim["none"][0], *victim["none"])
    made.add("DCQCN: the victim loses nothing to them, and has at least 1.5 times as much as under PFC alone",
             victim["dcqcn paper"][2] > 0.97 * victim["dcqcn paper"][0] and all(with_ > 1.5 * without for without, with_ in zip(*victim.values())), *victim["dcqcn paper"])


def stability(d, made):
    near, far = "stability-40g-4-us", "stability-40g-85-us"
    flows = ("2", "10", "64")
    more = [one(d, far, "slope continued", n, "queue_sd") / one(d, near, "slope continued", n, "queue_sd") for n in flows]
    made.add("DCQCN: the queue varies at least 1.1 times as much with 85 us of feedback delay as with 4 us, for 2, 10 and 64 flows", min(more) > 1.1, *more)
    swing = [one(d, far, "slope continued", n, "queue_sd") / one(d, far, "slope continued", n) for n in flows]
    made.add("DCQCN, not as published: with 85 us it oscillates for all three numbers of flows (deviation above 0.7 of the mean)", min(swing) > 0.7, *swing)
    use = [one(d, sweep, "5 to 200 KB", "64", "port_share") for sweep in (near, far)]
    made.add("DCQCN, 64 flows: 85 us leave the link at least 10 % less used", use[1] < 0.9 * use[0], *use)
    still, mean_10 = (one(d, "timely-patched", "10 flows", key=key) for key in ("queue_sd", "queue_mean"))
    made.add("Patched TIMELY, 10 flows: the queue stands still within 3 % of the formula", still < 1000 and abs(mean_10 / 1e3 / timely_queue(10) - 1) < 0.03, mean_10 / 1e3, still / 1e3)
    lost, mean_40 = (one(d, "timely-patched", "40 flows", key=key) for key in ("queue_sd", "queue_mean"))
    made.add("Patched TIMELY, 40 flows: it does not, and is more than 1.3 times as long as the formula says", lost > 10e3 and mean_40 / 1e3 > 1.3 * timely_queue(40), mean_40 / 1e3, lost / 1e3)
    made.add("TIMELY, 10 flows: unfair (Jain's index below 0.7)", one(d, "timely-original", "10 flows", key="jain") < 0.7, one(d, "timely-original", "10 flows", key="jain"))


def hpcc(d, made):
    short = {(way, part): one(d, "hpcc-hadoop-50", way, key=f"short_p{part}") for way in ("hpcc", "dcqcn + window", "dcqcn") for part in (95, 99)}
    for part in (95, 99):
        seen = [short[way, part] for way in ("hpcc", "dcqcn + window", "dcqcn")]
        made.add(f"Hadoop, 50 %: for the shortest flows HPCC has at most half of DCQCN's slowdown at p{part}, and a window helps DCQCN", seen[0] < 0.5 * seen[2] and seen[0] < seen[1] < seen[2], *seen)
    made.add("Hadoop, 50 %: HPCC pauses nobody", one(d, "hpcc-hadoop-50", "hpcc", key="pauses") == 0, one(d, "hpcc-hadoop-50", "hpcc", key="pauses"))
    long = [one(d, "hpcc-hadoop-50", way, key="long_p50") for way in ("hpcc", "dcqcn + window")]
    made.add("Hadoop, 50 %: HPCC's long flows are slower than DCQCN's with a window", long[0] > 1.05 * long[1], *long)


def irn(d, made):
    policies = [policy for policy in design.IRN_POLICIES if f"{policy}, IRN" in d.ways("irn")]
    for key, words in (("slowdown", "mean slowdown"), ("fct_mean_ns", "mean completion time"), ("fct_p99_ns", "99th percentile of the completion time")):
        saved = [1 - mean(d, "irn", f"{policy}, IRN", key) / mean(d, "irn", f"{policy}, RoCE", key) for policy in policies]
        made.add(f"IRN without PFC has a shorter {words} than RoCE with PFC under every policy, by 6 to 83 %", all(0.06 < value < 0.83 for value in saved), *saved)
    pfc = {policy: mean(d, "irn", f"{policy}, IRN with PFC", "slowdown") / mean(d, "irn", f"{policy}, IRN", "slowdown") for policy in policies}
    made.add("PFC makes IRN at least 1.15 times slower without congestion control, and changes it by at most 5 % with it",
             pfc["none"] > 1.15 and all(abs(ratio - 1) < 0.05 for policy, ratio in pfc.items() if policy != "none"), *pfc.values())


def powertcp(d, made):
    ten, most = "powertcp-incast-10", "powertcp-incast-255"
    held = {way: burst(d, ten, way) for way in ("powertcp", "hpcc", "timely")}
    made.add("incast of ten: PowerTCP never sends less than 24 Gb/s of 25", held["powertcp"][0] > 24, held["powertcp"][0])
    made.add("the same: HPCC gives 3 to 8 % away, TIMELY more than 20 %", 0.92 < held["hpcc"][1] / 25 < 0.97 and held["timely"][1] < 20, *(held[way][1] for way in held))
    drained = [one(d, ten, way, "7.6 ms", "drain_ns") / 1e3 for way in ("powertcp", "hpcc", "timely")]
    made.add("the same: PowerTCP's and HPCC's queue is below 20 KB again within 300 us of its peak, TIMELY's takes more than twice as long", max(drained[:2]) < 300 and drained[2] > 600, *drained)
    peaks = [one(d, ten, way, "7.6 ms", "queue_peak") / 1e3 for way in ("powertcp", "timely")]
    made.add("the same: TIMELY's queue peaks above 1800 KB, PowerTCP's below 200 KB", peaks[0] < 200 and peaks[1] > 1800, *peaks)
    large = {way: burst(d, most, way) for way in ("powertcp", "hpcc", "timely")}
    made.add("255 flows: PowerTCP never sends less than 23.5 Gb/s, HPCC falls below 20, TIMELY below 5", large["powertcp"][0] > 23.5 and large["hpcc"][0] < 20 and large["timely"][0] < 5,
             *(large[way][0] for way in large))


def many(d, made):
    for way, below, above in (("one CNP in 1 us", "128", "160"), ("no limit", "320", "480")):
        seen = [one(d, "dcqcn-many-flows", way, level) / 1e3 for level in (below, above)]
        made.add(f"DCQCN, {way}: the queue stands below 1 MB with {below} flows and at PFC's threshold, above 9 MB, with {above}", seen[0] < 1000 and seen[1] > 9000, *seen)


def themis(d, made):
    for way, published in PUBLISHED_THEMIS.items():
        seen = utilization(d, way)
        made.add(f"{way}: mean utilization within 3 % of the published {published:.3f}", abs(seen / published - 1) < 0.03, seen)
    for way in ("Themis+FIFO", "Themis+SCF"):
        of = gains(d, way).values()
        made.add(f"{way}: mean gain within 5 % of the published {PUBLISHED_GAIN[way]}, and above 1 on every network",
                 abs(tables.mean(of) / PUBLISHED_GAIN[way] - 1) < 0.05 and min(of) > 1, tables.mean(of), min(of))
    made.add("the largest gain is within 3 % of the published 2.70", abs(max(gains(d, "Themis+SCF").values()) / 2.70 - 1) < 0.03, max(gains(d, "Themis+SCF").values()))


def shifted(d, made):
    name = "shifted halving-doubling"
    ideal = [one(d, "shd-loop", name, level, "time_ns") / one(d, "shd-loop", name, level, "ideal_ns") for level in ("64 KB", "1 MB")]
    made.add("shifted halving-doubling on the loop network takes at most 2 % longer than its steps on an empty network", max(ideal) < 1.02, *ideal)
    plain = [one(d, "shd-loop", "halving-doubling", level, "time_ns") / one(d, "shd-loop", name, level, "time_ns") for level in ("64 KB", "1 MB")]
    made.add("plain halving-doubling takes at least 1.4 times as long there with 64 KB, 2.5 times with 1 MB", plain[0] > 1.4 and plain[1] > 2.5, *plain)
    tree = mean(d, "shd-leaf-spine", "halving-doubling", "time_ns", "1 MB") / one(d, "shd-loop", name, "1 MB", "time_ns")
    made.add("on the leaf-spine network, where its flows collide under ECMP, it takes at least twice as long", tree > 2, tree)


def ecmp(d, made):
    made.add("the fullest uplink follows the multinomial distribution (chi-square with 3 degrees of freedom below 11.3, the 1 % point)", chi_square(d) < 11.3, chi_square(d))
    ratios = [fullest(d, level) / fullest_exact(int(level)) for level in d.levels("ecmp-queue-pairs")]
    made.add("its mean follows the exact expectation within 6 % for every number of queue pairs", all(abs(ratio - 1) < 0.06 for ratio in ratios), *ratios)


def full_only(d, made):
    others = [way for way in design.HPCC if way != "hpcc"]
    for load in design.HPCC_LOADS:
        least = {part: one(d, f"hpcc-{load}", "hpcc", key=f"short_p{part}") / min(one(d, f"hpcc-{load}", way, key=f"short_p{part}") for way in others) for part in (95, 99)}
        made.add(f"{load}: HPCC has the least slowdown of all for the shortest flows, at p95 and p99", max(least.values()) < 1, *least.values())
    for load in ("hadoop-30", "websearch-30"):
        held = {way: one(d, f"hpcc-{load}", way, key="pauses") for way in design.HPCC}
        made.add(f"{load} with incasts: DCQCN and TIMELY pause at least ten times as often without windows as with them, and HPCC least of all",
                 all(held[way] > 10 * held[f"{way} + window"] for way in ("dcqcn", "timely")) and held["hpcc"] == min(held.values()), *held.values())
        saved = 1 - one(d, f"hpcc-{load}", "hpcc", key="short_p99") / one(d, f"hpcc-{load}", "dcqcn", key="short_p99")
        made.add(f"{load} with incasts: HPCC shortens DCQCN's p99 of the shortest flows by 90 to 97 %", 0.9 < saved < 0.97, saved)
    lost = {policy: mean(d, "irn-lossy", f"{policy}, go-back-N without PFC", "slowdown") / mean(d, "irn", f"{policy}, RoCE", "slowdown") for policy in design.IRN_POLICIES}
    made.add("go-back-N without PFC, not as published: more than 5 times slower than with PFC under no policy and TIMELY, within 10 % under DCQCN",
             lost["none"] > 5 and lost["timely"] > 5 and abs(lost["dcqcn"] - 1) < 0.1, *lost.values())
    limits = [one(d, "dcqcn-many-flows", way, level) / 1e3 for way, level in (("one CNP in 4 us", "32"), ("one CNP in 4 us", "64"))]
    made.add("DCQCN, one CNP in 4 us: the collapse lies between 32 and 64 flows", limits[0] < 1000 and limits[1] > 9000, *limits)
