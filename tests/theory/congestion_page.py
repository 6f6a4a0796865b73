# SPDX-License-Identifier: MIT
"""docs/congestion.md: values, predictions, scores, and the cause of each miss (check_congestion.py)."""
import os
import statistics

PAGE = "docs/congestion.md"
WITHIN = 0.15
ORDERS = {"order-1": ("hpft_lab", "without ECN go-back-N loses most of the line to retransmission, and selective repeat does not"),
          "order-2": ("hpft_lab", "with ECN the two carry the same, within 15 %"),
          "order-3": ("hpft_lab", "behind a policer selective repeat carries less than go-back-N"),
          "order-4": ("simllm_cx5", "equal senders share losses evenly: each within 15 % of the mean")}
RANGES = {"hpft_lab-082"}  # bistable: both ends count
# Their values were used to find the 62.8 MB and the alpha of 1: means and largest of latencies under load.
FITTED = {f"sonic25347-{n:03d}" for n in (*range(9, 13), *range(17, 21), *range(24, 32))}

# What the scenarios take from each source, and what is as shipped because the source does not tell it. Written before any run.
SETUPS = {
    "sonic25347": "Four ports of 400 Gb/s on one switch; weights, lossless classes, MTU, timer and retries of the source; testers are ideal NICs without a policy; WRED off. "
                  "**Fitted**: the buffer of 62.8 MB and alpha 1, by those who collected the values, to the mean and largest latencies (marked f). Not told, as shipped: delay of cables (1 us), latency of "
                  "the switch (0), store and forward. Rates and means are of 10 to 20 ms, in place of a minute; latencies are from last bit to last bit.",
    "sonic23240": "One flow through the same switch, empty. Not told, as shipped: delay of cables (1 us), latency of the switch (0).",
    "simllm_cx5": "`nic: connectx5`, DCQCN with the firmware's defaults (`nic`), links of 515 ns, a queue limit of 5.2 MB, neither PFC nor ECN, timer 67.1 ms. Not told, as shipped: MTU (4096), queue pairs (one a "
                  "sender; the eight streams are four of each). Means over three seeds, 10 to 60 ms.",
    "hpft_lab": "`nic: bluefield3`, the only DPU that ships; DCQCN of the firmware; four functions of 20 Gb/s each, RDMA MTU 1024, 40 us there and back, PFC off. The policer is a link of 21 Gb/s, which is what it lets pass, "
                "with a queue of 64 KB, one burst; the quota that marks is a link of 20 Gb/s with thresholds as shipped and equal weights. Left out: VXLAN. Not told, as shipped: TCP (CUBIC), thresholds of ECN. The two "
                "tests of order with ECN have 16 flows of one port of 200 Gb/s into one of 100 Gb/s and the buffer `spectrum4`. Means over three seeds, 0.5 to 1.5 s (of order: 50 to 150 ms).",
    "shs_gpcnet": "Collwire has neither Slingshot nor its congestion control: 72 NICs of 200 Gb/s in the dragonfly of `scenarios/congestion/impact-dragonfly.json`, transport `uec` as it ships, `collwire gpcnet --seeds 3`. "
                  "Rates are divided by four, since four ranks share a NIC there. Not told: the switches.",
    "perftest130": "Two senders of `nic: connectx5` with the firmware's DCQCN, PFC off. Not told, as shipped: rate (100 Gb/s), ECN (as the policy expects), buffer (32 MB). Its two nodes are one value each row; predicted is "
                   "the range of a sender over three seeds and four windows of 20 ms.",
    "terabit_tcp": "Two hosts on a cable of 100 Gb/s, `host: linux`, CUBIC; MTU 1500 or 9000 (jumbo); without offloads the segments of the host are packets. Not told, as shipped: delay of the cable. aRFS has no setting: the value "
                   "beside it is the one of jumbo frames.",
    "moc_roce": "Two servers with one NIC (`connectx7`, bus of 210 Gb/s, as the source says), `library: nccl` for the all-reduce (1 GiB), pairs of 256 MiB both ways for sendrecv; MTU 4096. Not told, as shipped: everything else.",
    "daqiri_spark": "TCP between two hosts on a cable of 100 Gb/s, `host: linux`, CUBIC, MTU 9000; messages of the size named, all posted at once, over one connection a pair. Not told, as shipped: the policy, the delay of the cable.",
    "deepep_readme_v1": "",
    "meta24": "1,000 flows of one packet each between two leaves over 16 spines, by hash, over ten seeds; the source says *more than*, and the bound counts as the value.",
}

# Values that the simulator has no model for, by number, with the reason.
NOT_MODELLED = (
    ("sonic25347", (34,), "NAKs in a minute with a timer of 5 s: a minute of 400 Gb/s cannot be simulated here"),
    ("simllm_cx5", (6, 7), "packet rates of a UD receive queue pair: no UD"),
    ("simllm_cx5", (8,), "a fixed cost of messages at end hosts, itself a fit"),
    ("moc_roce", range(1, 17), "perftest by size of message without congestion, bound by PCIe and by outstanding READs: no model of either beyond a rate of the bus, and no READ"),
    ("daqiri_spark", range(1, 6), "SEND by size of message, one at a time, without congestion: costs of the host's work queue"),
    ("daqiri_spark", range(6, 11), "packet rates of raw Ethernet: no such transport"),
    ("daqiri_spark", range(20, 26), "UDP without pacing: no such transport, and the loss is in the host"),
    ("deepep_readme_v1", range(1, 19), "kernels of expert dispatch and combine: no model of the kernels ([validation](validation.md) has all-to-alls in their place)"),
    ("meta24", (2,), "the gain of queue-pair scaling *up to*: neither hosts nor sizes are told"),
)

# Misses and their mechanisms, in order; each miss must be in one.
MECHANISMS = ()
