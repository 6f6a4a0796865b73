# SPDX-License-Identifier: MIT
"""Properties of the metrics of every run, for any scenario: conservation, sums, bounds."""
import json

import draw

NS_PER_S = 10**9


def refuse_constant(text):
    raise ValueError(f"{text} is no number of JSON")


def load(text):
    return json.loads(text, parse_constant=refuse_constant)


def numbers(value, path=""):
    """All numbers below a value, with their paths."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from numbers(inner, f"{path}[{i}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


class Check:
    """Collects violated properties."""

    def __init__(self, metrics, code, ideals=True):
        self.m, self.code, self.ideals = metrics, code, ideals
        self.failures = []
        self.analytical = metrics["scenario"]["network"] == "analytical"

    def expect(self, condition, what):
        if not condition:
            self.failures.append(what)

    def status(self):
        m = self.m
        self.expect(m["status"] == ("completed", "incomplete")[self.code], f"{m['status']}, exit {self.code}")
        self.expect((m["reason"] is None) == (m["status"] == "completed"), f"reason {m['reason']!r}")
        if m["status"] == "incomplete" and ("stall" in m["reason"] or "deadlock" in m["reason"]):
            self.expect(m["waiting"], f"{m['reason']!r}, but nobody waits")

    def signs(self):
        for key, value in self.m.items():
            if key not in ("scenario", "series"):
                for path, number in numbers(value, key):
                    self.expect(number >= 0 or path.endswith("saved_ns"), f"{path} = {number}")

    def flows(self):
        listed, summary = self.m["flows"], self.m["flows_summary"]
        for f in listed:
            name = f"flow {f['id']}"
            self.expect(f["delivered_bytes"] <= f["bytes"], f"{name}: more delivered than asked for")
            self.expect(f["status"] in ("completed", "failed", "running"), f"{name}: {f['status']}")
            self.expect((f["status"] == "completed") == (f["fct_ns"] is not None), f"{name}: fct")
            self.expect(f["retransmitted_packets"] <= f["packets"], f"{name}: retransmissions")
            if f["status"] == "completed":
                self.expect(f["delivered_bytes"] == f["bytes"], f"{name}: not all delivered")
                self.expect(f["delivered_ns"] is not None and f["delivered_ns"] <= f["fct_ns"],
                            f"{name}: delivered {f['delivered_ns']}, acknowledged {f['fct_ns']}")
                self.expect(f["start_ns"] + f["fct_ns"] <= self.m["sim_time_ns"] + 1, f"{name}: ends late")
                if self.ideals:  # docs/hybrid.md: messages that meet end within a packet's time of packets, which is at most this
                    slack = 1 if "hybrid" not in self.m else 1 + f["ideal_ns"] / (f["packets"] if f["packets"] > 1 else 1000)
                    self.expect(f["slowdown"] is None or f["fct_ns"] + slack >= f["ideal_ns"],
                                f"{name}: slowdown {f['slowdown']}")
        if len(listed) < summary["count"]:
            return
        self.expect(len(listed) == summary["count"], "count of flows")
        self.expect(sum(f["bytes"] for f in listed) == summary["bytes"], "bytes of flows")
        for status in ("failed", "running"):
            n = sum(f["status"] == status for f in listed)
            self.expect(n == summary[status], f"{n} flows {status}, summary {summary[status]}")

    def rank_rate(self):
        """Bits per second of all ports of the fastest rank: no rank can send or receive more."""
        topology, best = self.m["scenario"]["topology"], 0
        if "dims" not in topology:
            return None
        for dim in topology["dims"]:
            if dim["kind"] == "graph":
                return None  # unequal links
            ports = {"ring": 2, "mesh": 2, "dln": 2 * max(1, dim["size"]).bit_length(),
                     "fully_connected": dim["size"], "circuit": dim.get("ports", 1)}.get(dim["kind"], 1)
            ports *= dim.get("parallel", 1) * dim.get("planes", 1)
            link = dim["link"]
            back = (link.get("reverse") or {}).get("rate", link["rate"])
            best += ports * max(draw.parse(rate, draw.RATE) for rate in (link["rate"], back))
        settings = [place.get("transport", {}) for place in (*topology["dims"], self.m["scenario"])]
        ppm = [one.get("clock_ppm", 0) for item in settings
               for one in (item if isinstance(item, list) else [item])]
        return best * (1 + max(ppm) / 1e6)

    def wire_precision(self):
        jobs = self.m["scenario"]["workload"]
        return min(job.get("wire_precision", 1) for job in (jobs if isinstance(jobs, list) else [jobs]))

    def physical(self):
        rate = None if self.analytical else self.rank_rate()
        if rate is None:
            return
        for f in self.m["flows"]:
            if f["delivered_ns"] is not None and f["delivered_bytes"] == f["bytes"]:
                least = f["bytes"] * 8 * NS_PER_S / rate
                self.expect(f["delivered_ns"] + 1 >= least, f"flow {f['id']}: faster than its ports")
        for c in self.m["collectives"]:
            if c["duration_ns"]:
                # the bandwidth is that of the buffers, of which wire_precision sends a share
                most = (rate * 1.0001 + 8 * NS_PER_S / c["duration_ns"]) / self.wire_precision()
                self.expect(c["busbw_bps"] <= most or
                            c["op"] == "all_to_all" or c["duration_ns"] < 10 or
                            "sparse_" in c["algorithm"],  # sends a part of the buffer only
                            f"{c['name']}: busbw {c['busbw_bps']} above the ports' {rate}")

    def collectives(self):
        for c in self.m["collectives"]:
            name = f"{c['op']} of job {c['job']}"
            if c["end_ns"] is not None and c["duration_ns"] is not None:
                self.expect(abs(c["duration_ns"] - c["end_ns"] + c["start_ns"]) <= 1, f"{name}: duration")
            if self.ideals and c["efficiency"] is not None:
                self.expect(c["ideal_ns"] <= c["duration_ns"] + 1 or c["efficiency"] <= 1,
                            f"{name}: efficiency {c['efficiency']}")

    def sums(self):
        m, drops, pfc = self.m, self.m["drops"], self.m["pfc"]
        if self.analytical:
            return
        reasons, places = sum(drops["by_reason"].values()), sum(p["packets"] for p in drops["by_place"])
        self.expect(drops["packets"] == reasons == places,
                    f"{drops['packets']} drops, {reasons} by reason, {places} by place")
        self.expect(drops["bytes"] == sum(p["bytes"] for p in drops["by_place"]), "bytes dropped")
        paused = sum(p["paused_ns"] for p in pfc["ports"])
        self.expect(abs(paused - pfc["paused_ns"]) <= len(pfc["ports"]) + 1,
                    f"paused {pfc['paused_ns']} ns, ports {paused}")
        self.expect(all(p["paused_ns"] <= m["sim_time_ns"] + 1 for p in pfc["ports"]), "paused too long")
        marks = sum(p["marked_packets"] for p in m["queues"]["ports"])
        self.expect(marks == m["ecn"]["marked_packets"], f"{marks} marks by place")
        self.expect(m["ecn"]["marked_share"] is None or m["ecn"]["marked_share"] <= 1, "share of marks")
        longest = max((p["max_bytes"] for p in m["queues"]["ports"]), default=0)
        self.expect(longest == m["queues"]["max_bytes"], "longest queue")
        for s in m["queues"]["switches"]:
            self.expect(s["max_shared_used_bytes"] <= s["shared_bytes"], f"{s['at']}: shared part")
            self.expect(s["max_headroom_bytes"] <= s["headroom_limit_bytes"], f"{s['at']}: headroom")
        # ACKs of packets do not delay quiet data (docs/hybrid.md).
        most = 1.03 if self.m["scenario"]["network"] == "hybrid" else 1 + 1e-3
        for link in m["links"]:
            self.expect(link["utilization"] is None or link["utilization"] <= most,
                        f"{link['at']}: utilization {link['utilization']}")
        if len(m["flows"]) == m["flows_summary"]["count"]:
            for key in ("timeouts", "retransmitted_packets"):
                n = sum(f[key] for f in m["flows"])
                self.expect(n <= m["recovery"][key], f"{key}: {n} by flow, {m['recovery'][key]} in all")

    def parts(self, parts, total, name):
        self.expect(sum(parts.values()) == total, f"{name}: parts {sum(parts.values())}, total {total}")

    def paths(self):
        """Times by cause add up; what a run's critical path waited for is known throughout."""
        for f in self.m["flows"]:
            if f["delivered_ns"] is not None and f["status"] != "failed":
                self.parts(f["time"], f["delivered_ns"], f"flow {f['id']}")
        for c in self.m["collectives"]:
            if c["duration_ns"] is not None:
                self.parts(c["critical"]["parts"], c["duration_ns"], f"{c['op']} of job {c['job']}")
        s = self.m["slowest"]
        if s is None:
            # a run may complete at its planned end, before any job has ended
            self.expect(self.m["status"] != "completed" or self.m["scenario"].get("duration") or
                        self.m["flows_summary"]["running"] or not self.m["flows_summary"]["count"], "no slowest")
            return
        self.parts(s["parts"], s["total_ns"], "slowest")
        self.expect(abs(s["end_ns"] - s["begin_ns"] - s["total_ns"]) <= 1, "slowest: begin, end, total")
        self.expect("others_ns" not in s["parts"] or self.m["flows_summary"]["failed"], "unknown time on the path")
        layers = sum(layer["compute_ns"] + layer["comm_ns"] for layer in s["layers"])
        self.expect(layers <= s["total_ns"] + len(s["layers"]), f"layers {layers} of {s['total_ns']}")

    def all(self):
        for part in (self.status, self.signs, self.flows, self.physical, self.collectives, self.sums, self.paths):
            part()
        return self.failures
