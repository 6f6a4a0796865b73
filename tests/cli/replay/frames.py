# SPDX-License-Identifier: MIT
"""Frames and capture files for tests of `collwire replay`, made byte by byte."""
import ipaddress
import struct

ETHERNET, RAW, SLL, SLL2 = 1, 101, 113, 276
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16

# RoCE: opcodes of reliable connections
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_ONLY, SEND_ONLY_IMM = range(6)
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM, WRITE_ONLY, WRITE_ONLY_IMM = range(6, 12)
READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY = range(12, 17)
ACKNOWLEDGE, ATOMIC_ACK, COMPARE_SWAP, FETCH_ADD = range(17, 21)
SEND_LAST_INV, SEND_ONLY_INV = 22, 23
UC, UD, XRC = 0x20, 0x60, 0xA0
CNP = 0x81
RETH = {WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM, READ_REQUEST}
IMMEDIATE = {SEND_LAST_IMM, SEND_ONLY_IMM, WRITE_LAST_IMM, WRITE_ONLY_IMM, SEND_LAST_INV, SEND_ONLY_INV}
AETH = {READ_FIRST, READ_LAST, READ_ONLY, ACKNOWLEDGE}


def ip(src, dst, protocol, payload, fragment=0, extensions=b"", total=None):
    """An IPv4 or IPv6 packet; `extensions` are those of IPv6, whose first one has number 60."""
    src, dst = ipaddress.ip_address(src), ipaddress.ip_address(dst)
    if src.version == 6:
        first = 60 if extensions else protocol
        return (struct.pack("!IHBB", 6 << 28, len(extensions) + len(payload), first, 64) +
                src.packed + dst.packed + extensions + payload)
    size = 20 + len(payload) if total is None else total
    return struct.pack("!BBHHHBBH", 0x45, 0, size, 0, fragment, 64, protocol, 0) + \
        src.packed + dst.packed + payload


def ethernet(packet, tags=(), kind=None, src=b"\x02\x11\x22\x33\x44\x55", dst=b"\x02\x66\x77\x88\x99\xaa"):
    kind = kind or (0x86DD if packet[0] >> 4 == 6 else 0x0800)
    head = dst + src + b"".join(struct.pack("!HH", tag, 100) for tag in tags)
    return (head + struct.pack("!H", kind) + packet).ljust(60, b"\0")


def sll(packet):
    return struct.pack("!HHH8sH", 4, 1, 6, b"", 0x0800) + packet


def sll2(packet):
    return struct.pack("!HHIHBB8s", 0x0800, 0, 3, 1, 4, 6, b"") + packet


def bth(opcode, qpn, psn, payload=0, dma=None, pad=None):
    """RoCE headers and a payload of zeros behind UDP."""
    low, pad = opcode & 0x1F, -payload % 4 if pad is None else pad
    out = struct.pack("!BBHII", opcode, pad << 4, 0xFFFF, qpn, psn & 0xFFFFFF)
    if opcode & 0xE0 == XRC and low not in AETH | {READ_MIDDLE}:
        out += struct.pack("!I", 77)
    if opcode & 0xE0 != UD and opcode != CNP:
        if low in RETH:
            out += struct.pack("!QII", 0x1000, 1, payload if dma is None else dma)
        if low in IMMEDIATE:
            out += struct.pack("!I", 5)
        if low in AETH:
            out += struct.pack("!I", 0x1F000001)
    return out + b"\0" * (payload + pad + 4)


def udp(payload, dport=4791, sport=50000, length=None):
    return struct.pack("!HHHH", sport, dport, 8 + len(payload) if length is None else length, 0) + payload


def roce(src, dst, opcode, qpn, psn, payload=0, dma=None, **link):
    return ethernet(ip(src, dst, 17, udp(bth(opcode, qpn, psn, payload, dma))), **link)


def tcp(src, dst, ports, seq, flags, payload=0, ack=0, **link):
    head = struct.pack("!HHIIBBHHH", *ports, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x80, flags, 1000, 0, 0)
    return ethernet(ip(src, dst, 6, head + b"\1" * 12 + b"x" * payload), **link)


def pcap(records, link=ETHERNET, snaplen=65535, order="<", nano=True):
    """A pcap file of (ns, frame)."""
    out = struct.pack(order + "IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snaplen, link)
    for ns, frame in records:
        part = ns % 10**9 if nano else ns % 10**9 // 1000
        out += struct.pack(order + "IIII", ns // 10**9, part, min(snaplen, len(frame)), len(frame))
        out += frame[:snaplen]
    return out


class Pcapng:
    """A section of a pcapng file."""

    def __init__(self, order="<"):
        self.order = order
        self.bytes = self.block(0x0A0D0D0A, self.pack("IHHq", 0x1A2B3C4D, 1, 0, -1))

    def pack(self, kinds, *values):
        return struct.pack(self.order + kinds, *values)

    def block(self, kind, body):
        body += b"\0" * (-len(body) % 4)
        length = 12 + len(body)
        return self.pack("II", kind, length) + body + self.pack("I", length)

    def option(self, code, value):
        return self.pack("HH", code, len(value)) + value + b"\0" * (-len(value) % 4)

    def interface(self, name=None, link=ETHERNET, snaplen=0, resolution=None, offset=None):
        options = b""
        if name is not None:
            options += self.option(2, name.encode())
        if resolution is not None:
            options += self.option(9, bytes([resolution]))
        if offset is not None:
            options += self.option(14, self.pack("q", offset))
        self.bytes += self.block(1, self.pack("HHI", link, 0, snaplen) + options + self.option(0, b""))

    def packet(self, interface, stamp, frame, kept=None):
        kept = len(frame) if kept is None else kept
        self.bytes += self.block(6, self.pack("IIIII", interface, stamp >> 32, stamp & 0xFFFFFFFF, kept,
                                              len(frame)) + frame[:kept])

    def old_packet(self, interface, stamp, frame):
        self.bytes += self.block(2, self.pack("HHIIII", interface, 0, stamp >> 32, stamp & 0xFFFFFFFF,
                                              len(frame), len(frame)) + frame)

    def simple_packet(self, frame):
        self.bytes += self.block(3, self.pack("I", len(frame)) + frame)
