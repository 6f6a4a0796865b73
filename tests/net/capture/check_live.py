# SPDX-License-Identifier: MIT
"""Captures that a program reads from stdout while the run goes on: every packet arrives in order, a
reader that ends or stops does not stop the run, and a paced run follows the clock.

usage: check_live.py SCENARIO PACKETS     PACKETS: at least so many of every port of the scenario"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

COLLWIRE = os.environ["COLLWIRE"]
PACKET = 6


def start(folder, *more, out=subprocess.PIPE):
    command = [COLLWIRE, "run", sys.argv[1], "--out", folder / "out", "--capture", "rank*,leaf*,spine*", "-w", "-", *more]
    return subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)  # pylint: disable=consider-using-with


def result(folder, name):
    with open(folder / "out" / name, encoding="utf-8") as f:
        return json.load(f)


def count(stream):
    """Packets of a pcapng stream; their times must not decrease."""
    rest, packets, before = b"", 0, 0
    while True:
        data = stream.read(1 << 22)
        if not data:
            assert rest == b"", "the stream ends within a block"
            return packets
        data = rest + data
        at, end = 0, len(data)
        while at + 20 <= end:
            kind, length, _, high, low = struct.unpack_from("<IIIII", data, at)
            if at + length > end:
                break
            if kind == PACKET:
                now = high << 32 | low
                assert now >= before, (now, before)
                before = now
                packets += 1
            at += length
        rest = data[at:]


def check_all(folder, least):
    began = time.monotonic()
    run = start(folder, "--quiet", "--set", "explain.try=0")
    packets = count(run.stdout)
    took = time.monotonic() - began
    assert run.wait() == 0, run.stderr.read()
    assert packets == result(folder, "run.json")["captures"][0]["packets"] >= least, packets
    print(f"{packets} packets in {took:.2f} s: {packets / took:.0f} a second")
    return result(folder, "metrics.json")


def check_reader_ends(folder, metrics):
    run = start(folder, "--set", "explain.try=0")  # as a quiet run
    run.stdout.read(1 << 20)
    run.stdout.close()
    text = run.stderr.read().decode()
    assert run.wait() == 0, text
    assert "the program that reads the capture closed it before the run ended" in text and "results: " in text, text
    assert result(folder, "metrics.json") == metrics


def check_reader_stops(folder):
    """The run waits for a reader that reads nothing, and still ends at a signal."""
    run = start(folder, "--quiet")
    time.sleep(1)
    assert run.poll() is None, "the run did not wait"
    began = time.monotonic()
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=30) == 130, run.stderr.read()
    assert time.monotonic() - began < 10
    assert result(folder, "metrics.json")["status"] == "interrupted"
    run.stdout.close()


def check_pace(folder, metrics):
    began = time.monotonic()
    run = start(folder, "--quiet", "--pace", "1ms/s", "--set", "limits.sim_time=1200us")
    first = run.stdout.read(1 << 16)
    shown = time.monotonic() - began
    packets = count_rest(first, run.stdout)
    took = time.monotonic() - began
    assert run.wait() == 1, run.stderr.read()
    assert packets > 0 and shown < 0.8 * took and 1.1 < took < 60, (packets, shown, took)
    assert metrics["sim_time_ns"] > 1200000


def count_rest(first, stream):
    with tempfile.TemporaryFile() as f:
        f.write(first)
        while data := stream.read(1 << 20):
            f.write(data)
        f.seek(0)
        return count(f)


def check_mistakes(folder):
    for more, words in ((["--pace", "fast"], "is not TIME/TIME"), (["--pace", "0ns/s"], "is not TIME/TIME"),
                        (["--capture", "rank1"], "every --capture needs a -w")):
        run = start(folder, *more)
        assert words in run.stderr.read().decode() and run.wait() == 2, more
        run.stdout.close()


with tempfile.TemporaryDirectory() as temporary:
    home = pathlib.Path(temporary)
    whole = check_all(home, int(sys.argv[2]))
    check_reader_ends(home, whole)
    check_reader_stops(home)
    check_pace(home, whole)
    check_mistakes(home)
