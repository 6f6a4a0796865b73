# SPDX-License-Identifier: MIT
"""Reads pcap and pcapng files of Ethernet frames with nanosecond times, in little-endian order, and writes pcapng
files, independently of any library: draft-ietf-opsawg-pcapng and the packet facts of net/capture/capture_facts.h."""
import dataclasses
import gzip
import struct

SECTION, INTERFACE, NAMES, PACKET = 0x0A0D0D0A, 1, 4, 6
COMMENT, VERDICT = 1, 7
KINDS = ("data", "ack", "cnp", "pfc", "trimmed", "credit")
FLAGS = {"retransmission": 1, "message": 2, "collective": 4, "window": 8, "rate": 16, "marked": 32, "dropped": 64,
         "held": 128, "triggered": 256}


@dataclasses.dataclass
class Facts:
    kind: str
    flags: set
    src: int
    dst: int
    flow: int
    number: int  # of the message
    job: int
    step: int
    collective: int
    chunk: int
    phase: int
    window: int
    rate: int
    communicator: int
    op: str
    name: str


@dataclasses.dataclass
class Packet:
    ns: int
    interface: str
    length: int
    data: bytes
    comments: list
    outbound: object  # None = not known
    ident: object
    queue: object
    facts: object
    size: int = 0  # bytes in the file
    options: list = dataclasses.field(default_factory=list)  # (code, value)


@dataclasses.dataclass
class Capture:
    interfaces: list  # dicts
    names: dict
    packets: list
    application: str


def options(data):
    at = 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from("<HH", data, at)
        if code == 0:
            return
        yield code, data[at + 4:at + 4 + length]
        at += 4 + (length + 3) // 4 * 4


def facts_of(value):
    if value[0] != 0 or value[1] != 1:
        raise ValueError(f"facts of version {value[1]}")
    (kind, flags, src, dst, flow, number, job, step, collective, chunk, phase, window, rate, communicator, op,
     name) = struct.unpack_from(">BHIIIIHHIHHQQHBB", value, 2)
    text = value[53:].decode()
    assert len(value) == 53 + op + name
    return Facts(KINDS[kind], {word for word, bit in FLAGS.items() if flags & bit}, src, dst, flow, number, job, step,
                 collective, chunk, phase, window, rate, communicator, text[:op], text[op:])


def interface_of(body):
    made = {"snaplen": struct.unpack_from("<I", body, 4)[0]}
    for code, value in options(body[8:]):
        if code in (2, 3):
            made["name" if code == 2 else "description"] = value.decode()
        elif code == 8:
            made["rate"] = struct.unpack("<Q", value)[0]
        elif code == 9:
            made["resolution"] = value[0]
        elif code == 11:
            made["filter"] = value[1:].decode()
    if struct.unpack_from("<H", body)[0] != 1 or made["resolution"] != 9:
        raise ValueError("not Ethernet in nanoseconds")
    return made


def packet_of(body, interfaces):
    interface, high, low, kept, length = struct.unpack_from("<IIIII", body)
    p = Packet(high << 32 | low, interfaces[interface]["name"], length, body[20:20 + kept], [], None, None, None, None)
    p.options = list(options(body[20 + (kept + 3) // 4 * 4:]))
    for code, value in p.options:
        if code == COMMENT:
            p.comments.append(value.decode())
        elif code == 2:
            p.outbound = {1: False, 2: True}[struct.unpack("<I", value)[0]]
        elif code == 5:
            p.ident = struct.unpack("<Q", value)[0]
        elif code == 6:
            p.queue = struct.unpack("<I", value)[0]
        elif code == VERDICT:
            p.facts = facts_of(value)
    return p


def names_of(body):
    for code, value in options(body):
        size = {1: 4, 3: 6}[code]
        yield value[:size], value[size:].rstrip(b"\0").decode()


def read_pcapng(data):
    made, at = Capture([], {}, [], ""), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if length % 4 or length != struct.unpack_from("<I", data, at + length - 4)[0]:
            raise ValueError(f"block at {at} has two lengths")
        body = data[at + 8:at + length - 4]
        if kind == SECTION:
            made.application = dict(options(body[16:]))[4].decode()
        elif kind == INTERFACE:
            made.interfaces.append(interface_of(body))
        elif kind == NAMES:
            made.names.update(names_of(body))
        elif kind == PACKET:
            made.packets.append(packet_of(body, made.interfaces))
            made.packets[-1].size = length
        else:
            raise ValueError(f"block of type {kind}")
        at += length
    return made


def read_pcap(data):
    made, at = Capture([], {}, [], ""), 24
    while at < len(data):
        seconds, ns, kept, length = struct.unpack_from("<IIII", data, at)
        if kept > length or at + 16 + kept > len(data):
            raise ValueError(f"record {len(made.packets)} is cut")
        made.packets.append(Packet(seconds * 10**9 + ns, None, length, data[at + 16:at + 16 + kept], [], None, None,
                                   None, None))
        at += 16 + kept
    return made


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    magic = struct.unpack_from("<I", data)[0]
    if magic not in (SECTION, 0xA1B23C4D):
        raise ValueError(f"magic {magic:x}")
    made = read_pcapng(data) if magic == SECTION else read_pcap(data)
    times = [p.ns for p in made.packets]
    if times != sorted(times):
        raise ValueError("the order of packets is not that of time")
    return made


def block(kind, body):
    body += bytes(-len(body) & 3)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def option(code, value):
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) & 3)


def write(path, capture):
    """Write the packets of a pcapng file that `read` has returned, perhaps with other `data` and `options`."""
    numbers = {interface["name"]: i for i, interface in enumerate(capture.interfaces)}
    with open(path, "wb") as f:
        f.write(block(SECTION, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        for interface in capture.interfaces:
            texts = option(2, interface["name"].encode()) + option(3, interface["description"].encode())
            f.write(block(INTERFACE, struct.pack("<HHI", 1, 0, 0) + texts + option(9, b"\x09") + option(0, b"")))
        for p in capture.packets:
            head = struct.pack("<5I", numbers[p.interface], p.ns >> 32, p.ns & 0xFFFFFFFF, len(p.data),
                               max(p.length, len(p.data)))
            listed = b"".join(option(code, value) for code, value in p.options)
            f.write(block(PACKET, head + p.data + bytes(-len(p.data) & 3) + listed + option(0, b"")))
