# SPDX-License-Identifier: MIT
"""docs/congestion.md: values, predictions, scores, and the cause of each miss (check_congestion.py)."""
import os
import statistics
import textwrap

PAGE = "docs/congestion.md"
WITHIN = 0.15
ORDERS = {"order-1": ("hpft_lab", "without ECN go-back-N loses most of the line to retransmission, and selective repeat does not"),
          "order-2": ("hpft_lab", "with ECN the two carry the same, within 15 %"),
          "order-3": ("hpft_lab", "behind a policer selective repeat carries less than go-back-N"),
          "order-4": ("simllm_cx5", "equal senders share losses evenly: each within 15 % of the mean")}
RANGES = {"hpft_lab-082"}  # bistable: both ends count
# Their values were used to find the 62.8 MB and the alpha of 1, means and largest of latencies under load, and what a packet and a segment
# cost in the preset `linux`.
FITTED = {f"sonic25347-{n:03d}" for n in (*range(9, 13), *range(17, 21), *range(24, 32))} | {"terabit_tcp-001", "terabit_tcp-002"}

# What the scenarios take from each source, and what is as shipped because the source does not tell it.
SETUPS = {
    "sonic25347":
        "Four ports of 400 Gb/s on one switch; weights, lossless classes, MTU, timer and retries of the source; testers are ideal"
        " NICs without a policy; WRED off. **Fitted**: the buffer of 62.8 MB and alpha 1, by those who collected the values, to "
        "the mean and largest latencies (marked f). Not told, as shipped: delay of cables (1 us), latency of the switch (0), "
        "store and forward. Rates and means are of 10 to 20 ms, in place of a minute; latencies are from last bit to last bit.",
    "sonic23240":
        "One flow through the same switch, empty. Not told, as shipped: delay of cables (1 us), latency of the switch (0).",
    "simllm_cx5":
        "`nic: connectx5`, DCQCN with the firmware's defaults (`nic`), links of 515 ns, a queue limit of 5.2 MB, neither PFC nor "
        "ECN, timer 67.1 ms. Not told, as shipped: MTU (4096), queue pairs (one a sender; the eight streams are four of each). "
        "Means over three seeds, 10 to 60 ms.",
    "hpft_lab":
        "`nic: bluefield3`, the only DPU that ships; DCQCN of the firmware; four functions of 20 Gb/s each, RDMA MTU 1024, 40 us "
        "there and back, PFC off. The policer is a meter of 21 Gb/s, which is what it lets pass; the quota that marks is one of 10 "
        "Gb/s for each kind, half of the 20. Left out: VXLAN. Not told, as shipped: TCP (CUBIC), the burst of the meters. The tests of order 1 and 2 have 16 flows of one port of 200 Gb/s into one of "
        "100 Gb/s and the buffer `spectrum4`. Means over three seeds, 0.5 to 1.5 s (of order: 50 to 150 ms).",
    "shs_gpcnet":
        "Collwire has neither Slingshot nor its congestion control: 72 NICs of 200 Gb/s in the dragonfly of "
        "`scenarios/congestion/impact-dragonfly.json`, transport `uec` as it ships, `collwire gpcnet --seeds 3`. Rates are "
        "divided by four, since four ranks share a NIC there. Not told: the switches.",
    "perftest130":
        "Two senders of `nic: connectx5` with the firmware's DCQCN, PFC off. Not told, as shipped: rate (100 Gb/s), ECN (as the "
        "policy expects), buffer (32 MB). Its two nodes are one value each row; predicted is the range of a sender over three "
        "seeds and four windows of 20 ms.",
    "terabit_tcp":
        "Two hosts on a cable of 100 Gb/s, `host: linux`, CUBIC; MTU 1500 or 9000 (jumbo); without offloads the segments of the "
        "host are packets. **Fitted**: what a packet and a segment cost in the preset (marked f). Not told, as shipped: delay of the cable. aRFS has no setting: the value beside it is the one of jumbo"
        " frames.",
    "moc_roce":
        "Two servers with one NIC (`connectx7`, bus of 210 Gb/s, as the source says), `library: nccl` for the all-reduce (1 GiB),"
        " pairs of 256 MiB both ways for sendrecv; MTU 4096. Not told, as shipped: everything else.",
    "daqiri_spark":
        "TCP between two hosts on a cable of 100 Gb/s, `host: linux`, CUBIC, MTU 9000; messages of the size named, all posted at "
        "once, over one connection a pair. Not told, as shipped: the policy, the delay of the cable.",
    "deepep_readme_v1":
        "",
    "meta24":
        "1,000 flows of one packet each between two leaves over 16 spines, by hash, over ten seeds; the source says *more than*, "
        "and the bound counts as the value.",
}

# Values that the simulator has no model for, by number, with the reason.
NOT_MODELLED = (
    ("sonic25347", (34,),
     "NAKs in a minute with a timer of 5 s: a minute of 400 Gb/s cannot be simulated here"),
    ("simllm_cx5", (6, 7),
     "packet rates of a UD receive queue pair: no UD"),
    ("simllm_cx5", (8,),
     "a fixed cost of messages at end hosts, itself a fit"),
    ("moc_roce", range(1, 17),
     "perftest by size of message without congestion, bound by PCIe and by outstanding READs: no model of either beyond a rate"
     " of the bus, and no READ"),
    ("daqiri_spark", range(1, 6),
     "SEND by size of message, one at a time, without congestion: costs of the host's work queue"),
    ("daqiri_spark", range(6, 11),
     "packet rates of raw Ethernet: no such transport"),
    ("daqiri_spark", range(20, 26),
     "UDP without pacing: no such transport, and the loss is in the host"),
    ("deepep_readme_v1", range(1, 19),
     "kernels of expert dispatch and combine: no model of the kernels ([validation](validation.md) has all-to-alls in their "
     "place)"),
    ("meta24", (2,),
     "the gain of queue-pair scaling *up to*: neither hosts nor sizes are told"),
)

# Misses and their mechanisms; each miss must be in one, and each of these must be a miss.
MECHANISMS = (
    ("sonic25347", (13, 14, 15, 16),
     "The links have the delay that ships, 1 us each, a hundred times that of the cables of a bench; and since all senders "
     "start at once, the first frames of flows 3 and 4 wait behind those of others. With cables of 2 m and the words of "
     "[switches](switches.md#latency-and-cut-through) for a switch of 400 Gb/s (`fabric_2026`, `rs544`) an empty switch takes "
     "{bench:.0f} ns."),
    ("sonic25347", (23,),
     "Messages complete only before the first loss. Here all senders start at once at full rate, and the queue takes a "
     "millisecond to fill; how the tester starts is not told. After the first loss none completes, there and here."),
    ("sonic23240", range(1, 7),
     "The same 1 us of each link: with cables of 2 m and the words for a switch of 400 Gb/s it is {bench:.0f} ns."),
    ("simllm_cx5", (2,),
     "How a ConnectX-5 slows down after a loss is estimated: its rate falls to half, and climbs. One that kept nine tenths "
     "would drop 6.1 % and carry 75 Gb/s."),
    ("simllm_cx5", (3,),
     "What differs are random draws, and the source counts for longer: it is 0.9 points after 60 ms, and with two seeds 0.4 "
     "after 240 ms and 0.15 after 960."),
    ("simllm_cx5", (4,),
     "Each NAK brings a CNP, and a NAK is repeated each 100 us while its gap lasts, an estimate; with 400 us it would be 403 "
     "CNPs a second (and 78 Gb/s)."),
    ("simllm_cx5", (5,),
     "The NIC loses some packets in its own receiver near the line rate. The model of the receiver has a rate of the bus, "
     "above the line here, and no irregular stops."),
    ("perftest130", range(1, 9),
     "Not known: switch, buffer and marking are not told. Here marks keep both senders at half of the line; without marks and "
     "with the same buffer it is 3,900 MiB/s each, in a single run: neither starves as there."),
    ("hpft_lab", (72, 73, 75, 76, 78, 79),
     "What the NIC does to its rate after a loss is not known, and it decides: RDMA of go-back-N backs off four times as far there,"
     " and TCP, which here loses 16 windows of a few packets each to a bucket of 64 KB, has most of the rate. A bucket of 2.5 GB, "
     "a second at the rate, changes little (RDMA 9.8, TCP 8.0 Gb/s; one that does not empty would pass everything)."),
    ("hpft_lab", (74, 77, 80),
     "As above: the share that is dropped follows from how fast the NIC climbs again. Selective repeat here sends twice what "
     "passes, at one rate for all losses."),
    ("hpft_lab", (82, 83),
     "The measured sums are 10 Gb/s and steps of 18, the limit of a function: with go-back-N and a fast climb whole functions "
     "leave control, which none does with selective repeat. Here all stay under control. What releases them is not told; a rate "
     "limiter that ends at line rate would."),
    ("shs_gpcnet", (1, 2, 3, 4, 9, 10, 11, 12),
     "Links of 1 us, as shipped, up to five of them on a path, and nothing for NIC, library and switch; with 32 ranks a node, "
     "most steps of an all-reduce stay in a node there. With links of 10 ns it is 0.07 us and 0.6 us (one seed): neither the "
     "delay of the links nor the costs of hosts and switches is told by the source or by a preset."),
    ("shs_gpcnet", (7, 8),
     "The switches are not told. In the dragonfly in their place two of the three seeds have slow turns, also without "
     "congestors, probably since their rings put several ranks on one link; the first seed has 5,400 MiB/s a rank."),
    ("terabit_tcp", (3,),
     "The preset stands for a core with its cache near the NIC; without aRFS the thread of the application and the interrupt "
     "are on other cores. With aRFS it is the value below."),
    ("daqiri_spark", (13, 14, 15, 17, 18, 19),
     "Both ends are in one host there and share its cores and its memory; here each is a server of its own. The preset is of "
     "servers with x86 cores."),
    ("moc_roce", (17, 18),
     "Not the NIC: four GPUs over the same one carry 23.2 GB/s together, as here. What limits a single GPU to 14 to 15 GB/s is"
     " not told; the way through its PCIe tree is a guess."),
)

ROUNDED = "{:.4g}"


def ident(source, number):
    return f"{source}-{number:03d}"


def measured(row):
    """The value of a row as a number, or as its least and largest where it is bistable."""
    found = [float(part) for part in row["value"].split(",")]
    return [min(found), max(found)] if row["id"] in RANGES else statistics.fmean(found)


def error(here, there):
    """Relative error; of a range that is predicted the distance to it; of two ranges the larger error of their ends."""
    if isinstance(there, list):
        return max(abs(a / b - 1) for a, b in zip(here, there))
    if isinstance(here, list):
        return max(0, here[0] / there - 1, 1 - here[1] / there)
    return abs(here / there - 1) if there else float(here != 0)


def shown(value):
    return " to ".join(ROUNDED.format(v) for v in value) if isinstance(value, list) else ROUNDED.format(value)


def ratio(here, there):
    if isinstance(here, list) or isinstance(there, list):
        return "within" if error(here, there) == 0 else "range"
    return f"{here / there:.2f}" if there else ("equal" if here == 0 else "-")


def value_row(row, predicted):
    here, there = predicted[row["id"]], measured(row)
    mark = (" f" if row["id"] in FITTED else "") + ("" if error(here, there) <= WITHIN else " **miss**")
    return f"| {row['id']} | {row['case']}: {row['quantity']} | {row['unit']} | {shown(there)} | {shown(here)} | {ratio(here, there)}{mark} |"


def order_row(name, predicted):
    here, mark = ("holds", "") if predicted[name] else ("does not hold", "**miss**")
    return f"| {name} | {ORDERS[name][1]} | order | holds | {here} | {mark} |"


def missed(values, predicted):
    return [row["id"] for row in values if row["id"] in predicted and error(predicted[row["id"]], measured(row)) > WITHIN]


def mechanisms(source, misses, predicted):
    rows = []
    for name, numbers, text in MECHANISMS:
        ids = [ident(name, n) for n in numbers]
        assert all(i in misses for i in ids), f"a mechanism of what is no miss: {[i for i in ids if i not in misses]}"
        if name == source:
            rows.append(wrapped(f"- **{span(numbers)}**: {text.format(**predicted)}"))
    return rows


def span(numbers):
    numbers = list(numbers)
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]:03d} to {numbers[-1]:03d}"
    return ", ".join(f"{n:03d}" for n in numbers)


def percent(value):
    return f"{100 * value:.0f} %"


def score(rows, predicted):
    """Values, errors and the number of hits of some rows of values.csv."""
    errors = [error(predicted[row["id"]], measured(row)) for row in rows]
    return len(errors), errors, sum(e <= WITHIN for e in errors)


def summary(values, predicted):
    sources = list(dict.fromkeys(row["source"] for row in values))
    lines, medians, shares, all_errors, all_hits = [], [], [], [], 0
    for source in sources:
        rows = [row for row in values if row["source"] == source]
        here = [row for row in rows if row["id"] in predicted]
        orders = [name for name in ORDERS if ORDERS[name][0] == source]
        if not here:
            lines.append(f"| {source} | 0 | | | {len(rows)} |")
            continue
        count, errors, hits = score(here, predicted)
        hits += sum(predicted[name] for name in orders)
        count += len(orders)
        medians.append(statistics.median(errors))
        shares.append(hits / count)
        all_errors += errors
        all_hits += hits
        held = f"{hits} of {count}" + (f", {len(orders)} of them of order" if orders else "")
        lines.append(f"| {source} | {count} | {100 * medians[-1]:.1f} % | {held} ({100 * shares[-1]:.0f} %) | {len(rows) - len(here)} |")
    total = len(all_errors) + len(ORDERS)
    fitted = [row for row in values if row["id"] in FITTED]
    assert score(fitted, predicted)[2] == len(fitted), "fitted values are hits"
    free = [error(predicted[row["id"]], measured(row)) for row in values if row["id"] in predicted and row["id"] not in FITTED]
    left = len([row for row in values if row["id"] not in predicted])

    def part(errors, hits, count):
        return f"{percent(statistics.median(errors))}, and {hits} of {count} ({percent(hits / count)}) are within 15 %"

    text = [f"- {total} values of {len(medians)} sources are predicted, {len(ORDERS)} of them tests of order; {left} more have no model here, "
            "and count for nothing ([below](#not-modelled)).",
            f"- **Over all values**: the median error is {part(all_errors, all_hits, total)}. Without the {len(fitted)} values to which the buffer of "
            f"one switch or costs of a host were fitted: {part(free, all_hits - len(fitted), total - len(fitted))}.",
            f"- **Over sources**: the median of their medians is {percent(statistics.median(medians))}, and the mean of their shares within 15 % is "
            f"{percent(statistics.fmean(shares))}."]
    table = ["| source | values | median error | within 15 % | not modelled |", "|---|---:|---:|---|---:|"] + lines
    return "\n".join(text), "\n".join(table)


def impact(predicted):
    pairs = [predicted[ident("shs_gpcnet", n + 1)] / predicted[ident("shs_gpcnet", n)] for n in range(1, 12, 2)]
    return ", ".join(f"{pair:.2f}" for pair in pairs)


HEAD = """# Held against measurements

Generated and checked by tests/theory/check_congestion.py. What NICs and switches did under congestion, in public sources that tell their set-up, beside what the
simulator predicts with the settings that ship. Copies of the values, their sources and set-ups: [tests/data/congestion](../tests/data/congestion/README.md). None of
it was measured by this project.

## The answer

"""

READING = """
What this says:

- **Queues, shares and losses of a switch** are right: what three senders get of a port, how much is lost, and how long frames wait, with one buffer that was fitted.
- **NICs that lose packets** are right in kind and not in figures: two ConnectX-5 carry 66 of 73.9 Gb/s, and the four tests of order hold. How a NIC slows down after
  a loss, and how it climbs again, no source tells, and it decides.
- **Latency without load** is that of the links, and those that ship have a delay of 1 us: ten misses come from it. With cables of 2 m and the words for a switch of
  400 Gb/s it is {bench:.0f} ns where 915 to 952 were measured.
- **A quota that marks** holds within 2 % where the NIC stays under control (two of four settings), and not where it leaves it. Behind a meter that drops, what the NIC
  does after a loss decides again.
- **Hosts and PCIe** are outside of the presets: TCP without aRFS, or between two ends in one host, a single GPU behind PCIe, MPI.

## How it is scored

The scenarios, the bound of 15 %, the tests of order, which values are ranges, which were fitted, and the list of what is not modelled were committed before the runs
of this page (two scenarios had been tried, of the 400 Gb/s switch and of TCP). After the runs came the sentences about misses and how the error of a range counts;
the number of messages and the window of one source were reduced for their time, and four bytes of the check sequence were added to captured frames. When meters came, the policer and the quota took them in place of slower links, before they ran.
A scenario takes
what its source tells and the defaults for the rest; nothing was chosen to make a row fit. **Error** is the prediction over the measured value less one; *miss* is
more than 15 %. Where the simulator or the source scatters between two states, the prediction is the range over seeds: a single measured value has no error inside of
it, and of two ranges both ends count. Tests of order count as values within 15 % where they hold, and not in medians. f: a buffer or a cost was fitted to this value.
"""


def wrapped(text):
    """Paragraphs and items of a list in lines of 170 columns."""
    lines = []
    for line in text.split("\n"):
        indent = "  " if line.startswith("- ") else ""
        lines += textwrap.wrap(line, 170, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join(lines)


def text(values, predicted):
    first, table = summary(values, predicted)
    misses = missed(values, predicted)
    with_cause = {ident(name, n) for name, numbers, _ in MECHANISMS for n in numbers}
    assert set(misses) <= with_cause, f"no mechanism: {sorted(set(misses) - with_cause)}"
    parts = [HEAD, wrapped(first), "\n\n", table, "\n", READING.format(**predicted)]
    for source in dict.fromkeys(row["source"] for row in values):
        rows = [value_row(row, predicted) for row in values if row["source"] == source and row["id"] in predicted]
        rows += [order_row(name, predicted) for name in ORDERS if ORDERS[name][0] == source]
        if not rows:
            continue
        parts += [f"\n## {source}\n\n{wrapped(SETUPS[source])}\n\n| value | what | unit | measured | here | ratio |\n|---|---|---|---:|---:|---|\n",
                  "\n".join(rows), "\n"]
        if source == "hpft_lab":
            back, again, repeat, repeated, one, other = (percent(v) for v in predicted["order-1-detail"] + predicted["order-2-detail"])
            parts.append("\n" + wrapped(f"Order 1: go-back-N delivers {back} of the line and {again} of its packets are sent again; selective repeat "
                                        f"{repeat} and {repeated}. Order 2: {one} and {other}.") + "\n")
        if source == "shs_gpcnet":
            parts.append("\n" + wrapped("The impact of the congestors, which the benchmark is about, is 1.00 in the mean and at 99 % of all three tests "
                                        f"there; here it is {impact(predicted)} (of the rates below 1 is worse).") + "\n")
        causes = mechanisms(source, misses, predicted)
        if causes:
            parts.append("\n" + "\n".join(causes) + "\n")
    parts.append("\n## Not modelled\n\n| values | what |\n|---|---|\n")
    parts += [f"| {source} {span(numbers)} | {reason} |\n" for source, numbers, reason in NOT_MODELLED]
    return "".join(parts)


def check_or_write(root, values, predicted, mode):
    named = {ident(source, n) for source, numbers, _ in NOT_MODELLED for n in numbers}
    path = os.path.join(root, PAGE)
    if mode == "short":
        with open(path, encoding="utf-8") as file:
            stored = file.read().split("\n")
        rows = [value_row(row, predicted) for row in values if row["id"] in predicted]
        other = [row for row in rows if row not in stored]
        assert not other, f"{PAGE} does not have what was simulated (mode write writes it):\n" + "\n".join(other)
        print(f"{len(rows)} values")
        return
    assert {row["id"] for row in values} == {i for i in predicted if i.rpartition("-")[0] in SETUPS} | named, "each value is predicted or named"
    made = text(values, predicted)
    if mode == "write":
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
    with open(path, encoding="utf-8") as file:
        assert file.read() == made, f"{PAGE} is not what was simulated: mode write writes it"
    print(made[made.index("## The answer"):made.index("What this says")])
