#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check `collwire replay` with captures made byte by byte: the flows, and what is said of the rest."""
import gzip
import os
import re
import subprocess
import sys
import tempfile

from frames import *  # noqa: F403

A, B, C = "192.168.1.10", "192.168.1.20", "192.168.1.30"  # ranks 0, 1 and 2 by their order
A6, B6 = "fd00::10", "fd00::20"
T = 1_700_000_000 * 10**9  # time of the first packet
US, MS = 1000, 10**6
PORTS, BACK = (40000, 80), (80, 40000)


def replay(capture, *options, folder=None):
    """Exit code, rows, and counts by their words."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(folder or scratch, "trace.cap")
        with open(path, "wb") as file:
            file.write(capture)
        run = subprocess.run([os.environ["COLLWIRE"], "replay", path, *options], capture_output=True, text=True,
                             timeout=60)
    lines = run.stdout.splitlines()
    assert not lines or lines[0] == "src,dst,bytes,start_ns,measured_ns", lines[0]
    counts = {}
    for line in run.stderr.splitlines():
        if match := re.fullmatch(r" +(\d+)  (.*)", line):
            counts[match[2]] = int(match[1])
        elif match := re.fullmatch(r"  ([^:]*): (\d+)", line):
            counts[match[1]] = int(match[2])
        elif match := re.fullmatch(r"collwire: .*: (\d+) packets in .*", line):
            counts["packets"] = int(match[1])
    rows = [line.split(",") for line in lines[1:]]
    counts["measured"] = [int(row[4]) if row[4] else None for row in rows]
    return run.returncode, [tuple(map(int, row[:4])) for row in rows], counts, run.stderr


def expect(name, capture, rows, counts=None, code=0, options=(), text=None):
    got_code, got_rows, got_counts, stderr = replay(capture, *options)
    assert got_code == code, f"{name}: exit code {got_code}\n{stderr}"
    assert got_rows == rows, f"{name}: {got_rows}, not {rows}\n{stderr}"
    for words, count in (counts or {}).items():
        found = [n for key, n in got_counts.items() if key.startswith(words)]
        assert found == [count], f"{name}: {words}: {found}, not {count}\n{stderr}"
    assert text is None or text in stderr, f"{name}: {text!r} is not in\n{stderr}"
    return got_counts


def frames_at(frames, step=US):
    return [(T + i * step, frame) for i, frame in enumerate(frames)]


def write_message(psn, n, rest, qpn=7, src=A, dst=B, mtu=1024, dma=None, **link):
    """A WRITE of n packets."""
    size = (n - 1) * mtu + rest if dma is None else dma
    if n == 1:
        return [roce(src, dst, WRITE_ONLY, qpn, psn, rest, size, **link)]
    return [roce(src, dst, WRITE_FIRST, qpn, psn, mtu, size, **link),
            *(roce(src, dst, WRITE_MIDDLE, qpn, psn + i, mtu, **link) for i in range(1, n - 1)),
            roce(src, dst, WRITE_LAST, qpn, psn + n - 1, rest, **link)]


def send_message(psn, n, rest, qpn=7, src=A, dst=B, mtu=1024, last=SEND_LAST, only=SEND_ONLY, kind=0):
    if n == 1:
        return [roce(src, dst, only + kind, qpn, psn, rest)]
    return [roce(src, dst, SEND_FIRST + kind, qpn, psn, mtu),
            *(roce(src, dst, SEND_MIDDLE + kind, qpn, psn + i, mtu) for i in range(1, n - 1)),
            roce(src, dst, last + kind, qpn, psn + n - 1, rest)]


SEEN = "retransmissions"
BEGIN, END = "the beginning is not", "the end is not"


def check_measured():
    """The duration is that from the first packet to the latest sighting of any packet."""
    def expect_measured(name, capture, measured, **more):
        code, _, counts, stderr = replay(capture, **more)
        assert code == 0 and counts["measured"] == measured, f"{name}: {counts['measured']}, not {measured}\n{stderr}"

    frames = write_message(5, 4, 100) + write_message(9, 1, 50) + write_message(10, 2, 60)
    expect_measured("WRITEs", pcap(frames_at(frames)), [3 * US, None, US])
    expect_measured("SENDs", pcap(frames_at(send_message(1, 3, 10, src=B, dst=A))), [2 * US])
    again = frames_at(frames) + [(T + 50 * US, frames[1]), (T + 70 * US, frames[3]), (T + 90 * US, frames[6])]
    expect_measured("sent again, or at another interface", pcap(again), [70 * US, None, 85 * US])
    expect_measured("without an end", pcap(frames_at(write_message(5, 4, 100)[:3])), [None])
    expect_measured("unordered", pcap([(T + 9 * US, frames[5]), (T + 4 * US, frames[6])]), [5 * US])
    transfer = tcp_transfer(0)
    expect_measured("TCP", pcap([(T + ns, frame) for ns, frame in transfer]), [30 * US])
    expect_measured("TCP, sent again", pcap([(T + ns, frame) for ns, frame in transfer] + [(T + 95 * US, transfer[-1][1])]),
                    [95 * US])


def tcp_transfer(at):
    """SYN, its answer, and three segments: (time, frame)."""
    segments = [(at + (10 + 10 * i) * US, tcp(A, B, PORTS, 100 + 1000 * i, ACK, 1000, 500)) for i in range(3)]
    return [(at, tcp(A, B, PORTS, 99, SYN)), (at + 5 * US, tcp(B, A, BACK, 499, SYN | ACK, ack=100)), *segments]


def check_links():
    """Link types, tags, IP versions, byte orders, resolutions, compression."""
    frames = write_message(5, 3, 100)
    rows = [(0, 1, 2148, 0)]
    expect("pcap", pcap(frames_at(frames)), rows, {"packets": 3})
    expect("big-endian", pcap(frames_at(frames), order=">"), rows)
    expect("microseconds", pcap(frames_at(frames), nano=False), rows)
    expect("gzip", gzip.compress(pcap(frames_at(frames))), rows)
    for tags in [(0x8100,), (0x88A8, 0x8100)]:
        expect("VLAN", pcap(frames_at(write_message(5, 3, 100, tags=tags))), rows)
    expect("IPv6", pcap(frames_at(write_message(5, 3, 100, src=A6, dst=B6))), rows)
    bare = [frame[14:] for frame in write_message(5, 3, 100)]
    expect("raw IP", pcap(frames_at(bare), link=RAW), rows)
    expect("raw IPv6", pcap(frames_at([f[14:] for f in write_message(5, 3, 100, src=A6, dst=B6)]), link=RAW), rows)
    expect("cooked", pcap(frames_at([sll(x) for x in bare]), link=SLL), rows)
    expect("cooked 2", pcap(frames_at([sll2(x) for x in bare]), link=SLL2), rows)
    extended = ethernet(ip(A6, B6, 17, udp(bth(SEND_ONLY, 7, 1, 64)),
                           extensions=bytes([0, 0]) + b"\1\4\0\0\0\0" + bytes([17, 1]) + b"\1\14" + bytes(12)))
    expect("IPv6 extensions", pcap([(T, extended)]), [(0, 1, 64, 0)])
    expect("another link", pcap(frames_at(frames), link=105), [], {"link types": 3}, code=2)


def check_pcapng():
    frames = write_message(5, 3, 100)
    for order in "<>":
        png = Pcapng(order)
        png.interface("leaf0->rank1", resolution=9)
        png.interface("leaf0->spine0", snaplen=100, resolution=6)
        png.interface("any", link=SLL, resolution=0x80 | 20, offset=T // 10**9)
        png.interface("leaf0 drops", resolution=9)
        png.bytes += png.block(0x0BAD, b"custom")
        for i, frame in enumerate(frames):
            png.packet(3, T + 500 * US + i * US, roce(A, B, WRITE_ONLY, 9, i, 100))  # dropped
            png.packet(0, T + i * US, frame)
            png.packet(1, T // 1000 + 50 + i, frame, kept=100)
        png.packet(2, 3 << 20, sll(send_message(1, 1, 60, src=C)[0][14:]))  # 3 s after T
        png.old_packet(0, T + 9 * US, roce(B, A, ACKNOWLEDGE, 8, 7))
        png.simple_packet(frames[0])
        expect("pcapng", png.bytes, [(0, 1, 2148, 0), (2, 1, 60, 3 * 10**9)],
               {"drops": 3, SEEN: 3, "without a time": 1, "acknowledgments": 1,
                "packets with an earlier time": 4})
    other = Pcapng(">")
    other.interface(link=RAW, resolution=6)
    other.packet(0, (T + MS) // 1000, roce(B, A, SEND_ONLY, 8, 1, 10)[14:])
    expect("two sections", png.bytes + other.bytes,
           [(0, 1, 2148, 0), (1, 0, 10, MS), (2, 1, 60, 3 * 10**9)])
    expect("damaged block", png.bytes + struct.pack(">III", 6, 13, 0), [(0, 1, 2148, 0), (2, 1, 60, 3 * 10**9)],
           code=1, text="a block has an impossible length")
    expect("unknown interface", png.bytes + png.block(6, struct.pack(">IIIII", 9, 0, 0, 0, 0)),
           [(0, 1, 2148, 0), (2, 1, 60, 3 * 10**9)], code=1, text="of an interface that is not described")


def check_roce():
    """Messages of every operation; retransmission, loss, disorder; wrapping PSNs."""
    kinds = send_message(1, 3, 5) + send_message(4, 1, 9) + send_message(5, 2, 3, last=SEND_LAST_IMM) + \
        send_message(7, 1, 2, only=SEND_ONLY_IMM) + send_message(8, 2, 1, last=SEND_LAST_INV) + \
        send_message(10, 1, 6, only=SEND_ONLY_INV) + \
        [roce(A, B, WRITE_FIRST, 7, 11, 1024, 1030), roce(A, B, WRITE_LAST_IMM, 7, 12, 6),
         roce(A, B, WRITE_ONLY_IMM, 7, 13, 77, 77), roce(A, B, WRITE_ONLY_IMM, 7, 14, 0, 0)]
    sizes = [(0, 2053), (3, 9), (4, 1027), (6, 2), (7, 1025), (9, 6), (10, 1030), (12, 77)]
    expect("operations", pcap(frames_at(kinds)), [(0, 1, n, at * US) for at, n in sizes], {"no payload": 1})
    expect("UC", pcap(frames_at(send_message(1, 3, 5, kind=UC))), [(0, 1, 2053, 0)])
    xrc = [roce(A, B, WRITE_FIRST + XRC, 7, 11, 1024, 5000), roce(A, B, WRITE_LAST + XRC, 7, 12, 6),
           roce(B, A, READ_ONLY + XRC, 7, 11, 100)]
    expect("XRC", pcap(frames_at(xrc)), [(0, 1, 5000, 0), (1, 0, 100, 2 * US)])

    frames = write_message(0xFFFFFE, 5, 8)
    again = frames + frames[1:] + write_message(3, 1, 60)
    expect("retransmission over the wrap", pcap(frames_at(again)), [(0, 1, 4104, 0), (0, 1, 60, 9 * US)], {SEEN: 4})
    long = [roce(A, B, SEND_FIRST, 7, 100, 4096), roce(A, B, SEND_LAST, 7, 100 + 2**20 - 1, 1)]
    expect("a gap in the capture", pcap(frames_at(long)), [(0, 1, 4096 * (2**20 - 1) + 1, 0)])
    lost = frames[1:] + [frames[0]] + frames[1:]
    expect("first packet lost before the capture", pcap(frames_at(lost)), [(0, 1, 4104, 0)], {SEEN: 4})
    mixed = [frames[i] for i in (4, 0, 2, 1, 3)]
    expect("disorder", pcap(frames_at(mixed)), [(0, 1, 4104, 0)])
    two = send_message(1, 3, 5) + send_message(4, 3, 9)
    for order in ([5, 0, 3, 2, 4, 1], [3, 4, 5, 0, 1, 2], [2, 5, 0, 3, 1, 4], [5, 4, 3, 2, 1, 0]):
        got = replay(pcap(frames_at([two[i] for i in order])))[1]
        assert sorted(row[2] for row in got) == [2053, 2057], f"{order}: {got}"
        assert sorted(row[3] for row in got)[0] == 0, f"{order}: {got}"

    expect("the beginning is cut", pcap(frames_at(write_message(1, 4, 9)[1:] + send_message(5, 1, 3))),
           [(0, 1, 3, 3 * US)], {BEGIN: 1})
    expect("the ends are cut", pcap(frames_at(write_message(1, 4, 9)[:3] + send_message(9, 3, 1, qpn=8)[:2])),
           [(0, 1, 3081, 0)], {END: 1, "messages whose end is not in the capture, with their full size": 1})
    many = [frame for i in range(200) for frame in write_message(10 * i, 3, 1)[1:2]]
    expect("many without ends", pcap(frames_at(many + write_message(5000, 1, 7))), [(0, 1, 7, 200 * US)], {BEGIN: 1})
    heads = [write_message(10 * i, 3, 1)[0] for i in range(200)]
    expect("many without last packets", pcap(frames_at(heads)), [(0, 1, 2049, i * US) for i in range(200)])
    reused = write_message(1, 2, 5) + write_message(0x700000, 2, 6) + write_message(1, 2, 7)
    expect("a number used again", pcap(frames_at(reused)),
           [(0, 1, 1029, 0), (0, 1, 1030, 2 * US), (0, 1, 1031, 4 * US)])
    unrelated = send_message(1, 3, 5)[:2] + send_message(0x700000, 3, 6)[2:] + send_message(0x700003, 1, 7)
    expect("a number used again, cut messages", pcap(frames_at(unrelated)), [(0, 1, 7, 3 * US)], {BEGIN: 1, END: 1})
    pairs = write_message(1, 2, 5) + write_message(1, 2, 5, qpn=8) + write_message(1, 2, 5, src=C)
    expect("queue pairs", pcap(frames_at(pairs)),
           [(0, 1, 1029, 0), (0, 1, 1029, 2 * US), (2, 1, 1029, 4 * US)])


def check_reads():
    request = roce(A, B, READ_REQUEST, 7, 50, 0, 2500)
    # the request carries no payload: its DMA length stands in the RETH
    answer = [roce(B, A, READ_FIRST, 9, 50, 1024), roce(B, A, READ_MIDDLE, 9, 51, 1024), roce(B, A, READ_LAST, 9, 52, 452)]
    following = [roce(A, B, READ_REQUEST, 7, 53, 0, 64), roce(B, A, READ_ONLY, 9, 53, 64)]
    expect("READ", pcap(frames_at([request, *answer, *following])), [(1, 0, 2500, US), (1, 0, 64, 5 * US)])
    expect("READ, requests only", pcap(frames_at([request, request, following[0]])),
           [(1, 0, 2500, 0), (1, 0, 64, 2 * US)], {SEEN: 1})
    expect("READ, responses only", pcap(frames_at(answer)), [(1, 0, 2500, 0)])
    others = [request, *answer, roce(A, C, READ_REQUEST, 7, 1, 0, 99)]
    expect("READ, responses of one of two", pcap(frames_at(others)), [(1, 0, 2500, US), (2, 0, 99, 4 * US)])
    beside = [request, answer[0], roce(B, A, SEND_ONLY, 9, 51, 8), *answer[1:]]
    expect("READ beside a SEND with the same PSN", pcap(frames_at(beside)), [(1, 0, 2500, US), (1, 0, 8, 2 * US)])


def check_skipped():
    """Everything that is no message is counted by its kind."""
    good = write_message(1, 1, 40)[0]
    plain = ip(A, B, 17, udp(b"x" * 20, dport=53))
    frames = {
        "acknowledgments": roce(B, A, ACKNOWLEDGE, 9, 1),
        "congestion notifications": ethernet(ip(B, A, 17, udp(bth(CNP, 9, 0, 16)))),
        "atomic": roce(A, B, FETCH_ADD, 7, 2, 28),
        "datagrams": roce(A, B, UD + SEND_ONLY, 7, 2, 28),
        "other operations": roce(A, B, 0x1C, 7, 2, 28),
        "PFC": ethernet(b"\1\1" + bytes(44), kind=0x8808),
        "RoCE version 1": ethernet(bytes(60), kind=0x8915),
        "other protocols than IP": ethernet(bytes(28), kind=0x0806),
        "other IP protocols": ethernet(plain),
        "tunnels": ethernet(ip(A, B, 17, udp(bytes(60), dport=4789))),
        "encrypted by MACsec": ethernet(bytes(60), kind=0x88E5),
        "encrypted or authenticated": ethernet(ip(A6, B6, 50, bytes(60))),
        "encrypted by PSP": ethernet(ip(A, B, 17, udp(bytes(60), dport=1000))),
        "IP fragments": ethernet(ip(A, B, 17, udp(bth(SEND_ONLY, 7, 2, 100)), fragment=0x2000)),
        "malformed": ethernet(ip(A, B, 17, udp(bth(SEND_ONLY, 7, 2, 0), length=9))),
        "TCP segments": tcp(A, B, PORTS, 1, ACK),
    }
    counts = expect("skipped", pcap(frames_at([good, *frames.values()])), [(0, 1, 40, 0)],
                    {**{words: 1 for words in frames}, "packets that carry no flow": len(frames)})
    assert counts["packets"] == len(frames) + 1
    for words, frame in frames.items():
        expect(words, pcap([(T, frame)]), [], {words: 1}, code=2, text="has no message")
    more = {"tunnels": [ip(A, B, 47, bytes(60)), ip(A, B, 4, bytes(60)), ip(A, B, 17, udp(bytes(60), dport=6081))],
            "encrypted or": [ip(A, B, 51, bytes(60)), ip(A, B, 17, udp(bytes(60), dport=4500))],
            "IP fragments": [ip(A, B, 17, bytes(60), fragment=100), ip(A6, B6, 44, bytes(60))],
            "other IP": [ip(A, B, 1, bytes(60))],
            "malformed": [b"\x41" + plain[1:], ip(A, B, 17, udp(bth(SEND_ONLY, 7, 2, 0, pad=3)[:16])),
                          ip(A, B, 6, bytes(40)), ip(A, B, 17, udp(bytes(20)), total=10),
                          ip(A, B, 17, udp(bytes(20), length=7))]}
    for words, packets in more.items():
        for packet in packets:
            expect(words, pcap([(T, ethernet(packet))]), [], {words: 1}, code=2)


def check_cut():
    """Snap lengths, and files that end early."""
    frames = write_message(1, 3, 100) + send_message(4, 2, 8, qpn=8)
    rows = [(0, 1, 2148, 0), (0, 1, 1032, 3 * US)]
    expect("snaplen 96", pcap(frames_at(frames), snaplen=96), rows)
    expect("snaplen 54, without RETH", pcap(frames_at(frames), snaplen=54), rows)
    expect("snaplen 50", pcap(frames_at(frames), snaplen=50), [], {"cut before": 5}, code=2)
    expect("TCP, snaplen 54", pcap(frames_at([tcp(A, B, PORTS, 1, ACK, 1000)]), snaplen=54), [(0, 1, 1000, 0)])
    whole = pcap(frames_at(frames))
    expect("a cut file", whole[:-1], rows[:1], {END: 1}, code=1, text="cannot be read behind packet 4:")
    expect("a cut gzip file", gzip.compress(whole)[:-9], rows, code=1, text="the compressed data end too early")
    noise = [ethernet(os.urandom(1000), kind=0x1234) for _ in range(1000)]
    damaged = bytearray(gzip.compress(pcap(frames_at(frames + noise))))
    damaged[-6] ^= 255
    expect("a damaged gzip file", bytes(damaged), rows, code=1, text="the compressed data are damaged")
    for n in (24, 10):
        assert replay(whole[:n])[0] == 2, f"the first {n} bytes"
    png = Pcapng()
    png.interface(resolution=9)
    for ns, frame in frames_at(frames):
        png.packet(0, ns, frame)
    expect("a cut pcapng", png.bytes[:-30], rows[:1], code=1, text="the file ends within a block")
    for text in (b"", b"a", b"src,dst,bytes\n0,1,2\n", gzip.compress(b"no capture")):
        code, _, _, stderr = replay(text)
        assert code == 2 and stderr.count("\n") == 1, stderr


def check_tcp():
    hello = [tcp(A, B, PORTS, 99, SYN), tcp(B, A, BACK, 499, SYN | ACK, ack=100), tcp(A, B, PORTS, 100, ACK, ack=500)]
    # a request of 300 bytes, a response of 3000, a second request and its response
    talk = hello + [
        tcp(A, B, PORTS, 100, ACK | PSH, 300, 500), tcp(B, A, BACK, 500, ACK, 1000, 400),
        tcp(B, A, BACK, 1500, ACK, 1000, 400), tcp(A, B, PORTS, 400, ACK, 0, 2500),
        tcp(B, A, BACK, 2500, ACK | PSH, 1000, 400), tcp(A, B, PORTS, 400, ACK | PSH, 50, 3500),
        tcp(B, A, BACK, 3500, ACK | PSH, 70, 450), tcp(A, B, PORTS, 450, ACK | FIN, 0, 3570),
        tcp(B, A, BACK, 3570, ACK | FIN, 0, 451)]
    rows = [(0, 1, 300, 0), (1, 0, 3000, 4 * US), (0, 1, 50, 8 * US), (1, 0, 70, 9 * US)]
    expect("turns", pcap(frames_at(talk)), rows, {"TCP segments without payload": 6})
    assert replay(pcap(frames_at(talk)), "--gap", "1ns")[1] == rows
    pause = frames_at(hello) + [(ns + MS, frame) for ns, frame in frames_at(talk)[3:]]
    assert replay(pcap(pause))[1][0] == (0, 1, 300, MS + 3 * US), "a pause after the handshake"

    def burst(seq, n, size=1000):
        return [tcp(A, B, PORTS, seq + i * size, ACK, size, 500) for i in range(n)]

    def ack(number):
        return tcp(B, A, BACK, 500, ACK, 0, number)

    at = [T, T + 5 * US, T + 10 * US]
    records = list(zip(at, hello))
    records += [(T + 20 * US, burst(100, 1)[0]), (T + 30 * US, ack(1100)),
                (T + 2 * MS, burst(1100, 1)[0]), (T + 2 * MS + 10, burst(2100, 1)[0]), (T + 3 * MS, ack(3100)),
                (T + 3 * MS + 900 * US, burst(3100, 1)[0])]
    expect("silence", pcap(records), [(0, 1, 1000, 0), (0, 1, 3000, 2 * MS)])
    expect("silence, another gap", pcap(records), [(0, 1, 1000, 0), (0, 1, 2000, 2 * MS),
                                                   (0, 1, 1000, 3 * MS + 900 * US)], options=("--gap", "800us"))
    one_way = [record for record in records if record[1][26:30] == bytes(map(int, A.split(".")))]
    expect("silence, one direction", pcap(one_way), [(0, 1, 1000, 0), (0, 1, 2000, 2 * MS),
                                                     (0, 1, 1000, 3 * MS + 900 * US)])
    stalled = records[:4] + [(T + 300 * MS, burst(100, 1)[0]), (T + 301 * MS, ack(1100)),
                             (T + 301 * MS + 1, burst(1100, 1)[0])]
    expect("a retransmission timer is no end", pcap(stalled), [(0, 1, 2000, 0)], {SEEN: 1})
    slow = [(T + (ns - T) * 1000, frame) for ns, frame in records[:3]]  # a round trip of 10 ms
    slow += [(T + 20 * MS, burst(100, 1)[0]), (T + 21 * MS, ack(1100)), (T + 40 * MS, burst(1100, 1)[0]),
             (T + 41 * MS, ack(2100)), (T + 62 * MS, burst(2100, 1)[0])]
    expect("a long round trip", pcap(slow), [(0, 1, 2000, 0), (0, 1, 1000, 62 * MS)])

    base = 2**32 - 1500
    wrap = [tcp(A, B, PORTS, base - 1, SYN), *[tcp(A, B, PORTS, base + 1000 * i, ACK, 1000) for i in (0, 2, 1, 1, 3)]]
    expect("wrap, disorder, retransmission", pcap(frames_at(wrap)), [(0, 1, 4000, 0)], {SEEN: 2})
    overlap = [tcp(A, B, PORTS, 100, ACK, 1000), tcp(A, B, PORTS, 600, ACK, 1000)]
    expect("overlapping segments", pcap(frames_at(overlap)), [(0, 1, 1500, 0)])
    missed = [tcp(A, B, PORTS, 100, ACK, 1000), tcp(A, B, PORTS, 5100, ACK, 1000)]
    expect("segments that the capture has missed", pcap(frames_at(missed)), [(0, 1, 6000, 0)])
    again = [tcp(A, B, PORTS, 99, SYN), tcp(A, B, PORTS, 100, ACK, 10), tcp(A, B, PORTS, 70_000_099 + 2**31, SYN),
             tcp(A, B, PORTS, 70_000_100 + 2**31, ACK, 20), tcp(A, B, PORTS, 70_000_099 + 2**31, SYN)]
    expect("ports used again", pcap(frames_at(again)), [(0, 1, 10, 0), (0, 1, 20, 2 * US)])
    after_turn = talk[:8] + [tcp(A, B, PORTS, 400, ACK, 50, 3500), tcp(B, A, BACK, 3500, ACK, 0, 450),
                             tcp(A, B, PORTS, 450, ACK, 50, 3500)]
    expect("one transfer after a turn", pcap(frames_at(after_turn)), [*rows[:2], (0, 1, 100, 8 * US)])
    expect("data with the SYN alone", pcap(frames_at([tcp(A, B, PORTS, 99, SYN, 30)])), [(0, 1, 30, 0)])
    short = struct.pack("!HHIIBBHHH", *PORTS, 7, 0, 0x50, ACK, 1, 0, 0) + b"x"
    expect("a padded frame", pcap([(T, ethernet(ip(A, B, 6, short)))]), [(0, 1, 1, 0)])
    fast_open = [tcp(A, B, PORTS, 99, SYN, 30), tcp(A, B, PORTS, 130, ACK, 10)]
    expect("data with the SYN", pcap(frames_at(fast_open)), [(0, 1, 40, 0)])
    offload = ip(A, B, 6, struct.pack("!HHIIBBHHH", *PORTS, 1, 0, 0x50, ACK, 1, 0, 0) + bytes(70000), total=0)
    expect("segmentation offload", pcap([(T, ethernet(offload))], snaplen=100), [(0, 1, 70000, 0)])


def check_times():
    frames = write_message(1, 1, 40) + write_message(1, 1, 50, src=C)
    expect("unordered", pcap([(T + 7, frames[0]), (T, frames[1])]), [(2, 1, 50, 0), (0, 1, 40, 7)],
           {"packets with an earlier time": 1})
    late = [(T, frames[0]), (T + 100_001 * 10**9, frames[1])]
    expect("two days", pcap(late), [(0, 1, 40, 0)], {"more than 100000 s": 1})
    for days, words in ((1, " in 86400 s"), (12, " in 12 days"), (200, " in 200 days")):  # ps_t ends at 106 days
        last = [(T, frames[0]), (T + days * 86400 * 10**9, frames[1])]
        expect(f"{days} days", pcap(last), [(0, 1, 40, 0)] + [(2, 1, 50, 86400 * 10**9)] * (days == 1),
               {"more than 100000 s": 1} if days > 1 else None, text=words)
    far = Pcapng()
    far.interface(resolution=0)
    far.interface(resolution=9, offset=-2**63)
    for stamp in (2**64 - 1, 0):
        far.packet(0, stamp, frames[0])
        far.packet(1, stamp, frames[1])
    assert replay(far.bytes)[0] == 0


def check_map():
    frames = write_message(1, 1, 40) + write_message(1, 1, 50, src=C) + write_message(1, 1, 60, src=B6, dst=A6)
    capture = pcap(frames_at(frames))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "map.csv")

        def given(text):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return replay(capture, "--map", path)

        code, rows, counts, _ = given(f"address,rank\n{A}, 5\n {B} ,3\n\n{A6},9\n{B6},3\n")
        assert (code, rows) == (0, [(5, 3, 40, 0), (3, 9, 60, 2 * US)])
        assert counts["between addresses that are not in the map"] == 1
        code, rows, counts, _ = given(f"{A},5\n{B},5\n{C},7\n")
        assert (code, rows) == (0, [(7, 5, 50, US)])
        assert counts["within one rank"] == 1 and counts["between addresses that are not in the map"] == 1
        assert given(f"{A},5\n")[0] == 2
        wrong = {f"{A}\n": "line 1: is not address,rank", f"{A},1,2\n": "line 1: is not address,rank",
                 "host,1\n": 'line 1: "host" is not an', f"address,rank\n{A},-1\n": 'line 2: "-1" is not a rank',
                 f"{A},1\n{B},2\n{A},3\n": "line 3: 192.168.1.10 is in line 1 already", "\n": "contains no addresses",
                 f"{A},99999999999\n": "is not a rank"}
        for text, message in wrong.items():
            code, rows, _, stderr = given(text)
            assert code == 2 and not rows and message in stderr, stderr
        code, _, _, stderr = given("a,1\nb,2\n")
        assert stderr.count("\n") == 2, "all errors at once"
        out, flows = os.path.join(folder, "out.csv"), os.path.join(folder, "flows.csv")
        assert replay(capture, "-o", flows, "--map-out", out)[:2] == (0, [])
        with open(out, encoding="utf-8") as file:
            table = file.read()
        assert table == f"address,rank\n{A},0\n{B},1\n{C},2\n{A6},3\n{B6},4\n", table
        assert replay(capture, "--map", out)[1] == replay(capture)[1]
        with open(flows, encoding="utf-8") as file:
            before = file.read()
        assert before.count("\n") == 4
        assert replay(b"nothing", "-o", flows, "--map-out", out)[0] == 2
        with open(flows, encoding="utf-8") as file:
            assert file.read() == before, "a failure leaves the files as they are"
        assert sorted(os.listdir(folder)) == ["flows.csv", "map.csv", "out.csv"], "no file is left behind"
        assert replay(capture, "-o", os.path.join(folder, "none", "x"))[0] == 2


def check_usage():
    for arguments in ([], ["a", "b"], ["a", "--gap", "0"], ["a", "--gap", "fast"], ["a", "--gap", "1ps"]):
        run = subprocess.run([os.environ["COLLWIRE"], "replay", *arguments], capture_output=True, text=True)
        assert run.returncode == 2 and run.stderr.count("\n") == 1, run.stderr
    capture = pcap(frames_at(write_message(1, 3, 100)))
    run = subprocess.run([os.environ["COLLWIRE"], "replay", "-", "--quiet"], input=gzip.compress(capture),
                         capture_output=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"src,dst,bytes,start_ns,measured_ns\n0,1,2148,0,2000\n", b"")
    with tempfile.TemporaryDirectory() as folder:
        path, rows = os.path.join(folder, "trace.cap"), os.path.join(folder, "rows.csv")
        for options, errors in ((["-o", path], 1), (["--map-out", path], 1), (["-o", rows, "--map-out", rows], 1),
                                (["-o", path, "--map-out", path], 3)):  # nothing that is read is replaced
            code, _, _, stderr = replay(capture, *options, folder=folder)
            assert (code, stderr.count("\n"), os.listdir(folder)) == (2, errors, ["trace.cap"]), stderr
            with open(path, "rb") as file:
                assert file.read() == capture


def main():
    failed = False
    for check in (check_measured, check_links, check_pcapng, check_roce, check_reads, check_skipped, check_cut, check_tcp, check_times,
                  check_map, check_usage):
        try:
            check()
            print(check.__name__)
        except AssertionError as error:
            failed = True
            print(f"{check.__name__}: {error}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
