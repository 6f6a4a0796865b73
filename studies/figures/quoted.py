# SPDX-License-Identifier: MIT
"""Numbers and tables of the page: name in page.md -> text."""
import statistics

import design
import facts
import tables
from observe import percentile
from results import Results
from tables import markdown


def values(rows):
    d = Results(rows)
    made = {"runs": f"{len(rows):,}"}
    for part in (testbed, stability, hpcc, irn, powertcp, many, themis, shifted, ecmp):
        made.update(part(d))
    return made


def kb(value, digits=0):
    return f"{value / 1e3:,.{digits}f}"


def testbed(d):
    made, rows, victims = {}, [], []
    for way, label in (("none", "PFC alone"), ("dcqcn paper", "DCQCN")):
        short, cells = label.split()[0], []
        for host, rank in facts.HOSTS.items():
            seen = facts.throughputs(d, "dcqcn-unfairness", way, rank)
            cells.append(f"{min(seen):.1f} / {statistics.median(seen):.1f} / {max(seen):.1f}")
            for name, value in (("least", min(seen)), ("median", statistics.median(seen)), ("most", max(seen))):
                made[f"{short} {host} {name}"] = f"{value:.1f}"
        pauses = statistics.median(row["pauses"] for row in d.rows("dcqcn-unfairness", way))
        rows.append([label, *cells, f"{pauses:,.0f}"])
        for n in range(3):
            seen = facts.throughputs(d, f"dcqcn-victim-{n}", way, facts.VICTIM)
            made[f"{short} victim {n}"], made[f"{short} victim {n} p10"] = f"{statistics.median(seen):.1f}", f"{percentile(seen, 10):.1f}"
    others = ("H1", "H2", "H3")
    made["PFC others most"] = f"{max(float(made[f'PFC {host} most']) for host in others):.1f}"
    for bound, pick in (("least", min), ("most", max)):
        made[f"DCQCN medians {bound}"] = f"{pick(float(made[f'DCQCN {host} median']) for host in facts.HOSTS):.1f}"
    for n in range(3):
        victims.append([str(n), *(f"{made[f'{way} victim {n}']} ({made[f'{way} victim {n} p10']})" for way in ("PFC", "DCQCN"))])
    made["table testbed"] = markdown(["policy", *facts.HOSTS, "pauses"], rows)
    made["table victim"] = markdown(["senders below T3", "PFC alone", "DCQCN"], victims)
    return made


def stability(d):
    sweeps = {loop: f"stability-40g-{loop.replace(' ', '-')}" for loop in design.LOOPS["40g"]}
    rows = []
    for flows in d.levels(sweeps["4 us"]):
        cells = []
        for way in design.RED:
            for sweep in sweeps.values():
                row, = d.rows(sweep, way, flows)
                cells.append(f"{kb(row['queue_mean'])} ({kb(row['queue_sd'])}); {row['port_share']:.3f}")
        rows.append([flows, *cells])
    made = {"table stability": markdown(["flows", *(f"{loop}, {way}" for way in design.RED for loop in sweeps)], rows)}
    rows = []
    for flows in d.levels("stability-100g-4-us"):
        got = [d.rows(f"stability-100g-{loop.replace(' ', '-')}", None, flows)[0] for loop in design.LOOPS["100g"]]
        rows.append([flows, *(f"{kb(row['queue_mean'])} ({kb(row['queue_sd'])}); {row['port_share']:.3f}" for row in got)])
    made["table stability 100g"] = markdown(["flows", *design.LOOPS["100g"]], rows)
    for loop, sweep in sweeps.items():
        made[f"use {loop}"] = f"{facts.one(d, sweep, '5 to 200 KB', '64', 'port_share'):.3f}"
        swing = [facts.one(d, sweep, "slope continued", flows, "queue_sd") / facts.one(d, sweep, "slope continued", flows) for flows in ("2", "10", "64")]
        made[f"swing {loop}"] = ", ".join(f"{value:.2f}" for value in swing)
    rows = []
    for way in d.ways("timely-patched"):
        row, = d.rows("timely-patched", way)
        made[f"timely {way}"], made[f"timely sd {way}"] = kb(row["queue_mean"]), kb(row["queue_sd"])
        made[f"formula {way}"] = f"{facts.timely_queue(int(way.split()[0])):.1f}"
        rows.append([way, made[f"timely {way}"], made[f"timely sd {way}"], made[f"formula {way}"]])
    made["table timely"] = markdown(["", "mean queue, KB", "deviation, KB", "formula, KB"], rows)
    row, = d.rows("timely-original", "10 flows")
    made["timely jain"], made["timely least"], made["timely most"] = f"{row['jain']:.2f}", f"{row['rate_least'] / 1e9:.2f}", f"{row['rate_most'] / 1e9:.1f}"
    return made


def hpcc(d):
    made = {}
    for load in design.HPCC_LOADS:
        rows = []
        for way in design.HPCC:
            row, = d.rows(f"hpcc-{load}", way)
            cells = [" / ".join(f"{row[f'{name}_p{part}']:.3g}" for part in (50, 95, 99)) for name in ("short", "long")]
            rows.append([way, *cells, f"{row['pauses']:,}", f"{100 * row['hosts_paused']:.0f} %", f"{row['queue_max'] / 1e6:.1f}"])
            made[f"{load} {way} pauses"] = f"{row['pauses']:,}"
            made |= {f"{load} {way} p{part}": f"{row[f'short_p{part}']:.3g}" for part in (95, 99)}
        made[f"table hpcc {load}"] = markdown(["way", "shortest flows, p50 / p95 / p99", "longest flows", "pauses", "hosts paused", "longest queue, MB"], rows)
        for part in (95, 99):
            ratio = facts.one(d, f"hpcc-{load}", "hpcc", key=f"short_p{part}") / facts.one(d, f"hpcc-{load}", "dcqcn", key=f"short_p{part}")
            made[f"{load} saved p{part}"] = f"{100 * (1 - ratio):.0f}"
    return made


def irn(d):
    labels, rows, made = (*design.IRN_FAMILIES, "go-back-N without PFC"), [], {}
    for label in labels:
        sweep = "irn" if label in design.IRN_FAMILIES else "irn-lossy"
        cells = []
        for policy in design.IRN_POLICIES:
            seen = [facts.mean(d, sweep, f"{policy}, {label}", key) / scale for key, scale in (("slowdown", 1), ("fct_mean_ns", 1e6), ("fct_p99_ns", 1e6))]
            cells.append(" / ".join(f"{value:.3g}" if value < 1000 else f"{value:.0f}" for value in seen))
        rows.append([label, *cells, str(len(d.rows(sweep, f"none, {label}")))])
    made["table irn"] = markdown(["", "no congestion control", "TIMELY", "DCQCN", "seeds"], rows)
    pfc, lossy, saved, factors = [], [], [], []
    for policy in design.IRN_POLICIES:
        of = {label: facts.mean(d, "irn" if label in design.IRN_FAMILIES else "irn-lossy", f"{policy}, {label}", "slowdown") for label in labels}
        pfc.append(of["IRN with PFC"] / of["IRN"])
        lossy.append(of["go-back-N without PFC"] / of["RoCE"])
        for key in ("slowdown", "fct_mean_ns", "fct_p99_ns"):
            factor = facts.mean(d, "irn", f"{policy}, RoCE", key) / facts.mean(d, "irn", f"{policy}, IRN", key)
            saved.append(1 - 1 / factor)
            if policy == "none":
                factors.append(factor)
    made["irn least"], made["irn most"] = f"{100 * min(saved):.0f}", f"{100 * max(saved):.0f}"
    made["irn factors"] = ", ".join(f"{value:.2f}" for value in factors)
    made["irn pfc none"], made["irn pfc others"] = f"{pfc[0]:.2f}", f"{100 * max(abs(value - 1) for value in pfc[1:]):.1f}"
    for policy in design.IRN_POLICIES:
        naks = facts.mean(d, "irn-lossy-naks", f"{policy}, go-back-N without PFC", "slowdown") / facts.mean(d, "irn", f"{policy}, RoCE", "slowdown")
        made[f"naks {policy}"] = f"{naks:.3g}"
    made["lossy none"], made["lossy timely"], made["lossy dcqcn"] = (f"{value:.3g}" for value in lossy)
    return made


def powertcp(d):
    made, rows = {}, []
    for way in design.POWERTCP:
        cells = []
        for flows in (10, 255):
            sweep = f"powertcp-incast-{flows}"
            row, = d.rows(sweep, way, "7.6 ms")
            least, average = facts.burst(d, sweep, way)
            drained = f"{row['drain_ns'] / 1e3:.0f}" if row["drain_ns"] != "" else "never"
            texts = {"peak": kb(row["queue_peak"]), "drained": drained, "least": f"{least:.1f}", "mean": f"{average:.1f}", "rest": kb(row["queue_rest"], 1)}
            made.update({f"{flows} {way} {name}": text for name, text in texts.items()})
            cells += [text for name, text in texts.items() if name != "rest" or flows == 10]
        rows.append([way, *cells])
    head = ["10:1: peak, KB", "below 20 KB after, us", "least, Gb/s", "mean, Gb/s", "rest, KB", "255:1: peak, KB", "below 20 KB after, us", "least, Gb/s", "mean, Gb/s"]
    made["table powertcp"] = markdown(["way", *head], rows)
    return made


def many(d):
    ways = d.ways("dcqcn-many-flows")
    rows = [[level, *(kb(facts.one(d, "dcqcn-many-flows", way, level)) for way in ways)] for level in d.levels("dcqcn-many-flows")]
    collapsed = [row for row in d.rows("dcqcn-many-flows", None, None) if row["queue_mean"] > 9e6]
    standing = [row for row in d.rows("dcqcn-many-flows", None, None) if row["queue_mean"] < 1e6]
    return {"table many": markdown(["flows", *ways], rows), "many pauses least": f"{min(row['pauses'] for row in collapsed):,}", "many pauses most": f"{max(row['pauses'] for row in collapsed):,}",
            "many standing pauses": f"{max(row['pauses'] for row in standing):,}", "many use": f"{min(row['port_share'] for row in collapsed):.3f}",
            "scaled 640": kb(facts.one(d, "dcqcn-many-flows", "no limit, scaled gains", "640"))}


def themis(d):
    made, rows = {}, []
    gains = {way: facts.gains(d, way) for way in design.THEMIS}
    for network, label in design.THEMIS_NETWORKS.items():
        used = {way: tables.mean(row["used"] for row in d.rows(f"themis-{network}", way, None)) for way in design.THEMIS}
        rows.append([label, f"{used['baseline']:.3f}", *(f"{used[way]:.3f}; {gains[way][network]:.2f}" for way in ("Themis+FIFO", "Themis+SCF"))])
    means = {way: facts.utilization(d, way) for way in design.THEMIS}
    factors = {way: tables.mean(of.values()) for way, of in gains.items()}
    rows.append(["mean", f"{means['baseline']:.3f}", *(f"{means[way]:.3f}; {factors[way]:.2f}" for way in ("Themis+FIFO", "Themis+SCF"))])
    rows.append(["published mean", *(f"{value:.3f}" + (f"; {facts.PUBLISHED_GAIN[way]:.2f}" if way in facts.PUBLISHED_GAIN else "") for way, value in facts.PUBLISHED_THEMIS.items())])
    made["table themis"] = markdown(["network", "baseline", "Themis+FIFO", "Themis+SCF"], rows)
    for way in design.THEMIS:
        made[f"used {way}"], made[f"gain {way}"] = f"{100 * means[way]:.1f}", f"{factors[way]:.2f}"
    made["gain most"] = f"{max(gains['Themis+SCF'].values()):.2f}"
    return made


def shifted(d):
    levels, rows = list(design.SHD_BYTES.levels), []
    for sweep, label in (("shd-loop", "loop network"), ("shd-leaf-spine", "leaf-spine")):
        for way in d.ways(sweep):
            rows.append([f"{label}, {way}", *(kb(facts.mean(d, sweep, way, "time_ns", level), 0) for level in levels)])
    name = "shifted halving-doubling"
    over = [facts.one(d, "shd-loop", name, level, "time_ns") / facts.one(d, "shd-loop", name, level, "ideal_ns") for level in levels]
    plain = [facts.one(d, "shd-loop", "halving-doubling", level, "time_ns") / facts.one(d, "shd-loop", name, level, "time_ns") for level in levels]
    return {"table shd": markdown(["us", *levels], rows), "shd over": f"{100 * (max(over) - 1):.1f}", "shd plain least": f"{min(plain):.1f}", "shd plain most": f"{max(plain):.1f}"}


def ecmp(d):
    exact, (shares, count) = tables.largest_load(8, 8, 1), facts.balls(d)
    rows = [[str(flows), f"{shares[flows]:.4f}", f"{exact[flows]:.4f}"] for flows in range(1, 7)]
    loads = [[level, f"{facts.fullest(d, level):.2f}", f"{facts.fullest_exact(int(level)):.2f}", kb(facts.mean(d, "ecmp-queue-pairs", "none", "fct_max_ns", level))]
             for level in d.levels("ecmp-queue-pairs")]
    off = max(abs(facts.fullest(d, level) / facts.fullest_exact(int(level)) - 1) for level in d.levels("ecmp-queue-pairs"))
    return {"table balls": markdown(["flows on the fullest uplink", "simulated", "exact"], rows), "table queue pairs": markdown(["queue pairs", "simulated", "exact", "last flow, us"], loads),
            "leaves": f"{count:,}", "chi square": f"{facts.chi_square(d):.2f}", "fullest off": f"{100 * off:.0f}"}
