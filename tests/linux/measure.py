# SPDX-License-Identifier: MIT
"""The metrics of a run, as the notes of the measured data define them (tests/data/linux-tcp)."""
import bisect
import statistics

from box import MSS, PACKET

RECOVERING = 2  # from this state on: 2 reduction after ECN, 3 fast recovery, 4 after a timeout


def originals(run, port=None):
    seen, found = set(), []
    for p in run.data:
        if (port is None or p.port == port) and (p.port, p.seq) not in seen:
            seen.add((p.port, p.seq))
            found.append(p)
    return found


def resent(run):
    seen, found = set(), []
    for p in run.data:
        if (p.port, p.seq) in seen:
            found.append(p)
        seen.add((p.port, p.seq))
    return found


class States:
    """The state of a sender just after each time, from the series."""

    def __init__(self, run, flow="0"):
        self.times = run.times()
        self.run, self.flow = run, flow

    def at(self, field, t):
        i = min(bisect.bisect_right(self.times, t + 1e-6), len(self.times) - 1)
        return self.run.state(field, self.flow)[i]

    def last(self, field):
        return self.run.state(field, self.flow)[-2]

    def episodes(self, begin=float("-inf")):
        """Index ranges of samples in which the sender recovers."""
        state, found, start = self.run.state("state", self.flow), [], None
        for i, value in enumerate(state):
            value = value or 0
            if value >= RECOVERING and start is None:
                start = i
            elif value < RECOVERING and start is not None:
                if self.times[start] >= begin:
                    found.append((start, i))
                start = None
        return found


def event_before(run, t):
    """The time of the last ACK or transmission that the sample at `t` includes."""
    times = [p.t for p in run.packets]
    return times[bisect.bisect_right(times, t + 1e-6) - 1]


def done(run):
    """The time at which the last byte of the first message has arrived in order."""
    flow = run.metrics["flows"][0]
    return (flow["start_ns"] + flow["delivered_ns"]) / 1e6 - run.t0


def round_sizes(run):
    """Packets sent from the start of a round until its first packet is acknowledged."""
    sizes, number, ends = [], 0, -1.0
    for p in run.data:
        if p.t > ends:
            ack = next((a.t for a in run.acks if run.acked(a) > number), float("inf"))
            sizes.append(0)
            ends = ack - 1e-6
        sizes[-1] += 1
        number += 1
    return sizes


def group_a(run):
    states, window = States(run), run.state("window_pkts")
    last_ack = run.acks[-1].t
    rtt = run.box["dly"] + run.box["rdly"]
    rounds = round_sizes(run)
    steps = [states.at("window_pkts", k * rtt - 0.02) for k in range(1, 1 + int(last_ack / rtt))]
    out = {"packets_sent_per_round": rounds, "cwnd_at_40ms_steps_from_t40": steps,
           "last_data_deliv_ms": done(run),
           "last_ack_ms": last_ack, "acks": len(run.acks), "cwnd_end": states.last("window_pkts"),
           "maxq": max(run.metrics["series"]["queue_bytes"]["dim0.sw0->rank1"]) / PACKET,
           "max_rtt_us": max(run.state("srtt_us"))}
    slow = run.state("slow_start")
    left = next((i for i, s in enumerate(slow) if s == 0 and window[i] > 10), None)
    if left is not None:
        t = event_before(run, states.times[left])
        acked = [run.acked(p) for p in run.acks if p.t <= t + 1e-6]
        out |= {"ss_exit_t": t, "ss_exit_cwnd": window[left], "ss_exit_acked_pk": max(acked)}
    return out


def group_b(run):
    states, out = States(run), {}
    again = resent(run)
    out |= {"done_ms": done(run), "pk_sent": len(run.data), "retransmissions": len(again)}
    episodes = states.episodes()
    out["n_episodes"] = len(episodes)
    window = run.state("window_pkts")
    for n, (first, end) in enumerate(episodes[:2], 1):
        t, until = (event_before(run, states.times[i]) for i in (first, end))
        out |= {f"ep{n}_start_ms": t, f"ep{n}_cwnd_before": window[first - 1],
                f"ep{n}_unacked_before": run.state("unacked_pkts")[first - 1],
                f"ep{n}_sacked_at_start": run.state("sacked_pkts")[first],
                f"ep{n}_cwnd_at_start": window[first],
                f"ep{n}_ssthresh": run.state("ssthresh_pkts")[first],
                f"ep{n}_duration_ms": until - t, f"ep{n}_cwnd_after": window[end],
                f"ep{n}_min_cwnd": min(window[first:end + 1]),
                f"ep{n}_retrans": sum(t - 1e-6 <= p.t <= until for p in again)}
    for n, (lost, number) in enumerate(dropped(run), 1):
        copies = [p for p in run.data if run.k(p) == number and p.t > lost.t]
        same = [p for p in run.acks if run.acked(p) == number - 1]
        dups = [p.t for i, p in enumerate(same) if p.sacks or i > 0]
        out[f"drop{n}_sent_ms"] = lost.t
        if not copies:
            continue
        rtx = copies[0].t
        if dups:
            out[f"drop{n}_to_first_dupack_ms"] = dups[0] - lost.t
        out[f"drop{n}_to_rtx_ms"] = rtx - lost.t
        out[f"drop{n}_dupacks_before_rtx"] = sum(lost.t < t <= rtx + 1e-6 for t in dups)
        out[f"drop{n}_pk_sent_between"] = sum(lost.t < p.t < rtx for p in run.data)
    return out


def dropped(run):
    """(packet, number) of each loss that `drop` lists, in the order of sending."""
    fault, found = run.faults, []
    for number in fault["packets"]:
        copies = [p for p in run.data if run.k(p) == number]
        found += [(p, number) for p in copies[:fault.get("times", 1)]]
    return sorted(found, key=lambda item: item[0].t)


def group_c(run):
    states, again = States(run), resent(run)
    last = originals(run)[-1].t
    out = {"done_ms": done(run), "cwnd_end": states.last("window_pkts"),
           "ssthresh_end": states.last("ssthresh_pkts")}
    for n, p in enumerate(again, 1):
        out[f"rtx{n}_ms_after_last_new"] = p.t - last
    episodes = states.episodes()
    if episodes:
        out["episode_ssthresh"] = run.state("ssthresh_pkts")[episodes[0][0]]
    return out


def group_d(run):
    states, again = States(run), resent(run)
    first = next(p for p in run.data if run.k(p) == int(run.box["blackidx"]))
    out = {"done_ms": done(run), "n_rtx": len(again),
           "n_dropped": run.metrics["drops"]["packets"]}
    for n, p in enumerate(again, 1):
        out[f"rtx{n}_ms_after_first_drop"] = p.t - first.t
        out[f"rtx{n}_rto_us"] = states.at("rto_ms", p.t) * 1000
    episodes = states.episodes()
    if episodes:
        begin, end = episodes[0]
        out |= {"cwnd_before": run.state("window_pkts")[begin - 1],
                "ssthresh": run.state("ssthresh_pkts")[begin],
                "episode_ms": states.times[end] - states.times[begin],
                "cwnd_after": run.state("window_pkts")[end]}
    return out


def mean(values):
    return statistics.fmean(values) if values else float("nan")


def flow_long(run, flow, begin, end, port):
    states = States(run, flow)
    window, threshold = run.state("window_pkts", flow), run.state("ssthresh_pkts", flow)
    episodes = [(a, b) for a, b in states.episodes(begin) if states.times[a] <= end]
    starts = [states.times[a] for a, _ in episodes]
    gaps = [b - a for a, b in zip(starts, starts[1:])]
    inside = [i for i, t in enumerate(states.times) if begin <= t <= end]
    data = [p for p in run.data if p.port == port and begin <= p.t <= end]
    again = [p for p in resent(run) if p.port == port and begin <= p.t <= end]
    before = [window[a - 1] for a, _ in episodes]
    after = [threshold[a] for a, _ in episodes]
    acks = [run.acked(p) for p in run.acks if p.port == port and begin <= p.t <= end]
    return {"pk": len(data), "rtx": len(again), "n_ev": len(episodes),
            "goodput_mbps": (max(acks) - min(acks)) * MSS * 8 / (end - begin) / 1e3 if acks else 0,
            "cwnd_mean": mean([window[i] for i in inside]),
            "period_ms_mean": mean(gaps), "period_ms_med": statistics.median(gaps) if gaps else 0,
            "cwnd_before_mean": mean(before), "ssthresh_mean": mean(after),
            "beta_mean": mean([b / a for a, b in zip(before, after)]),
            "cwnd_after_mean": mean([window[b] for _, b in episodes]),
            "rec_ms_mean": mean([states.times[b] - states.times[a] for a, b in episodes]),
            "n_rto": 0 if not run.metrics["tcp"]["timeouts"] else run.metrics["tcp"]["timeouts"]}


def group_long(run, seconds):
    """Groups e, f, g: the last `seconds` of the run, as in the measured statistics."""
    end = run.box["maxr"] / 10
    begin = end - seconds * 1e3
    ports = sorted({p.port for p in run.data})
    out = {}
    for n, port in enumerate(ports):
        name = f"flow{n}_" if len(ports) > 1 else ""
        for key, value in flow_long(run, str(n), begin, end, port).items():
            out[name + key] = value
    goodput = [out[key] for key in out if key.endswith("goodput_mbps")]
    out["total_goodput_mbps"] = sum(goodput)
    if len(ports) > 1:
        out["share_flow0"] = goodput[0] / sum(goodput)
    times = run.times()
    queue = run.metrics["series"]["queue_bytes"]["dim0.sw0->rank1"]
    inside = [q / PACKET for t, q in zip(times, queue) if begin <= t <= end]
    out["queue_max_pk"] = max(inside)
    out["mark"] = run.metrics["ecn"]["marked_packets"]
    if out.get("pk"):
        out["lossrate_eff"] = out["rtx"] / out["pk"]
    return out


def group_h_idle(run):
    states = States(run)
    second = run.metrics["flows"][1]["start_ns"] / 1e6 - run.t0
    restart = next(p.t for p in run.data if p.t >= second - 1e-6)
    before = [p.t for p in run.data if p.t < restart]
    last = run.metrics["flows"][1]
    burst = [p.t for p in run.data if restart <= p.t < restart + 20]
    return {"idle_ms": restart - before[-1], "rto": states.at("rto_ms", restart - 1) * 1000,
            "cwnd_before": states.at("window_pkts", restart - 1),
            "ss_before": states.at("ssthresh_pkts", restart - 1),
            "cwnd_at": states.at("window_pkts", restart), "burst": len(burst),
            "done2_ms_after_restart":
                (last["start_ns"] + last["delivered_ns"]) / 1e6 - run.t0 - restart}


def group_h_window(run):
    zero = next(p for p in run.acks if p.window == 0)
    probes = [p.t for p in run.packets if p.out and p.size == 0 and p.t > zero.t]
    resume = run.box["rstart"]
    out = {"zero_window_ack_delivered_ms": zero.t}
    for n, t in enumerate([t for t in probes if t < resume], 1):
        out[f"probe{n}_ms_after_zero_window_ack"] = t - zero.t
    update = next(p for p in run.acks if p.t > resume and p.window > 0)
    out["window_update_sent_ms"] = update.t - run.box["rdly"]
    out["first_data_after_ms"] = next(p.t for p in run.data if p.t > resume)
    return out


def group_i(run):
    ends = sorted(f["start_ns"] / 1e6 + f["fct_ns"] / 1e6 - run.t0 for f in run.metrics["flows"]
                  if f["job"] == 0)
    flows = [f for f in run.metrics["flows"] if f["job"] == 0]
    return {"all_ms": ends[-1], "med_ms": statistics.median(ends), "min_ms": ends[0],
            "rto_flows": sum(f["timeouts"] > 0 for f in flows), "pk": len(run.data),
            "rtx": len(resent(run)), "qdrop": run.metrics["drops"]["packets"]}
