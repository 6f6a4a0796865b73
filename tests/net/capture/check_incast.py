#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check captures of an incast (a receiver, a sender, the whole switch) against its metrics.

Runs collwire on the incast scenario under DCQCN with a small buffer, so that marks, CNPs and PFC all
occur, then lets check_capture.py dissect every file with tshark and compare the counts.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile


def run(scenario, out, snaplen):
    captures = [{"at": at, "file": file, "snaplen": snaplen} for at, file in
                (("rank8", "receiver.pcap"), ("rank0", "sender.pcap"), ("dim0.sw0", "switch.pcap"))]
    command = [os.environ["COLLWIRE"], "run", scenario, "--quiet", "--out", out,
               "--set", 'cc={"kind":"dcqcn"}', "--set", "capture=" + json.dumps(captures),
               "--set", 'switch.ecn={"enabled":true,"kmin":"50KB","kmax":"1000KB","pmax":0.1}']
    subprocess.run(command, check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as f:
        metrics = json.load(f)
    with open(os.path.join(out, "run.json"), encoding="utf-8") as f:
        return metrics, {c["file"]: c["packets"] for c in json.load(f)["captures"]}


def check(out, file, **expected):
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_capture.py")
    arguments = []
    for name, count in expected.items():
        arguments += [f"--expect-{name}", str(count)]
    return subprocess.run([sys.executable, tool, os.path.join(out, file)] + arguments).returncode


def main():
    if not shutil.which("tshark"):
        print("skipped: no tshark")
        return 77
    scenario, snaplen = sys.argv[1], sys.argv[2]
    worst = 0
    with tempfile.TemporaryDirectory() as out:
        metrics, packets = run(scenario, out, snaplen)
        links = {link["at"]: link["packets"] for link in metrics["links"]}
        marks, cnps = metrics["ecn"]["marked_packets"], metrics["cnps"]
        pfc = metrics["pfc"]["pause_frames"] + metrics["pfc"]["resume_frames"]
        data = sum(flow["packets"] for flow in metrics["flows"])
        if not (marks and cnps and pfc):
            print(f"the scenario shows too little: {marks} marks, {cnps} CNPs, {pfc} PFC frames")
            return 1
        receiver = links["rank8->dim0.sw0"] + links["dim0.sw0->rank8"]
        sender = links["rank0->dim0.sw0"] + links["dim0.sw0->rank0"]
        for file, total in (("receiver.pcap", receiver), ("sender.pcap", sender),
                            ("switch.pcap", sum(links.values()))):
            if packets[file] != total:
                print(f"{file}: run.json says {packets[file]} packets, the links carried {total}")
                worst = 1
        worst |= check(out, "receiver.pcap", total=receiver, data=data, ce=marks, cnp=cnps)
        worst |= check(out, "sender.pcap", total=sender, data=metrics["flows"][0]["packets"],
                       cnp=metrics["flows"][0]["cnps"], ce=0)
        worst |= check(out, "switch.pcap", total=sum(links.values()), pfc=pfc, data=2 * data,
                       ce=marks, cnp=2 * cnps)
    return worst


sys.exit(main())
