# SPDX-License-Identifier: MIT
"""Times, triggers and rings of captures: each capture is the part of a whole one that its keys say."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pcapng

COLLWIRE = os.environ["COLLWIRE"]
RING = 128000
SCENARIO = {
    "name": "triggers",
    "topology": {"dims": [{"kind": "switch", "size": 6, "link": {"rate": "100Gbps", "delay": "1us"}}]},
    "transport": {"mtu": "1000B"},
    "workload": {"kind": "incast", "senders": 5, "receiver": 5, "bytes": "800KB"},
}
LOSSY = {"switch": {"buffer": "800KB", "pfc": {"enabled": False}}}
PAUSED = {"switch": {"buffer": "1MB"}}
PLACE = "dim0.sw0"
NEVER = {"trigger": "start at queue > 1GB"}


def run(folder, more, captures):
    """Returns what each capture shows and its entry of run.json."""
    scenario = folder / "scenario.json"
    files = [dict(capture, at=PLACE, file=f"{i}.pcapng") for i, capture in enumerate(captures)]
    with open(scenario, "w", encoding="utf-8") as f:
        json.dump(dict(SCENARIO, **more, capture=files), f)
    subprocess.run([COLLWIRE, "run", scenario, "--out", folder / "out", "--quiet"], check=True)
    with open(folder / "out/run.json", encoding="utf-8") as f:
        rows = json.load(f)["captures"]
    return [pcapng.read(folder / "out" / row["file"]).packets for row in rows], rows


def last(packets, limit):
    """The last packets of at most `limit` bytes."""
    n = total = 0
    while n < len(packets) and total + packets[-1 - n].size <= limit:
        n += 1
        total += packets[-n].size
    return packets[len(packets) - n:]


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {len(got)} packets, not {len(want)}")


def check_loss(folder):
    (whole, times, stop, start, ring_start, ring, ring_stop, again, never, upto_it, late), rows = run(folder, LOSSY, [
        {}, {"from": "20us", "to": "60us"}, {"trigger": "stop at drop"}, {"trigger": "start at drop"},
        {"trigger": "start at drop", "ring": RING}, {"ring": RING}, {"trigger": "stop at drop", "ring": RING},
        {"trigger": "start at retransmission", "ring": RING}, NEVER, {"trigger": "stop at retransmission"},
        {"trigger": "start at retransmission", "to": "20us"}])
    first = next(i for i, p in enumerate(whole) if p.interface == PLACE + " drops")
    moment = whole[first].ns
    before, upto = [p for p in whole if p.ns < moment], [p for p in whole if p.ns <= moment]
    assert 0 < len(before) < len(whole) and sum(p.size for p in before) > 2 * RING
    same("from and to", times, [p for p in whole if 20000 <= p.ns <= 60000])
    same("stop at drop", stop, upto)
    same("start at drop", start, whole)
    same("start at drop with a ring", ring_start, last(before, RING) + whole[len(before):])
    same("ring", ring, last(whole, RING))
    same("stop at drop with a ring", ring_stop, last(upto, RING))
    same("never", never, [])
    for i in (2, 3, 4, 6):
        assert abs(rows[i]["trigger_ns"] - moment) <= 1, (rows[i], moment)
    assert rows[0]["trigger_ns"] is None and rows[8]["trigger_ns"] is None
    resent = [i for i, p in enumerate(whole) if p.facts and "retransmission" in p.facts.flags]
    moment = whole[resent[0]].ns
    for i in (7, 9):
        assert abs(rows[i]["trigger_ns"] - moment) <= 1, (rows[i], moment)
    before, upto = [p for p in whole if p.ns < moment], [p for p in whole if p.ns <= moment]
    same("start at retransmission", again, last(before, RING) + whole[len(before):])
    same("stop at retransmission", upto_it, upto)  # which is in the capture
    assert resent[0] < len(upto_it) < len(whole)
    assert rows[10]["trigger_ns"] is None and moment > 20000
    same("a trigger after the end", late, [])


def check_pauses(folder):
    (whole, paused, long, queue, _), rows = run(folder, PAUSED, [
        {}, {"trigger": "stop at pause > 1us"}, {"trigger": "stop at pause > 1s"}, {"trigger": "stop at queue > 100KB"},
        NEVER])
    same("pause of a second", long, whole)
    moment = rows[1]["trigger_ns"]
    same("stop at pause", paused, [p for p in whole if p.ns <= moment])
    # The pause ends when an XON has arrived; its frame left a delay and its own length before.
    ends = [p.ns for p in whole if p.comments and p.comments[0].startswith("XON")]
    assert any(abs(moment - 1000 - end) <= 1 for end in ends), (moment, ends[:3])
    moment = rows[3]["trigger_ns"]
    same("stop at queue", queue, [p for p in whole if p.ns <= moment])
    assert 0 < len(queue) < len(whole)
    # Five senders fill the queue at four times the rate of the link, after delay and first packet.
    assert abs(moment - 1000 - 85 - 100e3 * 8 / 400) < 2 * 85, moment


def check_mistakes(folder):
    bad = [("trigger", "start at dropp", "is no trigger"), ("trigger", "stop at pause", "is no trigger"),
           ("trigger", "stop at pause > 3", "is no trigger"), ("trigger", "now", "is no trigger"),
           ("ring", "1KB", "128KB"), ("at", "leaf7,rank0", 'no place is called "leaf7"'), ("from", "2s", "later"),
           ("format", "erf", "pcapng")]
    captures = [dict({"at": "rank0", "file": f"{i}.pcapng", "to": "1s"}, **{key: value})
                for i, (key, value, _) in enumerate(bad)]
    scenario = folder / "bad.json"
    for i, (key, _, words) in enumerate(bad):
        with open(scenario, "w", encoding="utf-8") as f:
            json.dump(dict(SCENARIO, capture=[captures[i]]), f)
        done = subprocess.run([COLLWIRE, "run", scenario, "--out", folder / "bad"], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and not (folder / "bad").exists(), done
        assert done.stderr.startswith("collwire: capture[0]") and words in done.stderr, (key, done.stderr)
        assert key in done.stderr or key == "from", done.stderr


def check_long_texts(folder):
    """Options hold 65535 bytes; longer texts are cut."""
    place, words = "*" * 70000, "udp" + " " * 70000
    scenario = folder / "long.json"
    with open(scenario, "w", encoding="utf-8") as f:
        json.dump(dict(SCENARIO, capture=[{"at": place, "filter": words, "file": "long.pcapng"}]), f)
    subprocess.run([COLLWIRE, "run", scenario, "--out", folder / "long", "--quiet"], check=True)
    shown = pcapng.read(folder / "long/long.pcapng")
    assert shown.packets and len(shown.interfaces) == 13, len(shown.interfaces)


with tempfile.TemporaryDirectory() as temporary:
    check_loss(pathlib.Path(temporary))
    check_pauses(pathlib.Path(temporary))
    check_mistakes(pathlib.Path(temporary))
    check_long_texts(pathlib.Path(temporary))
