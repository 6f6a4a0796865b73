# SPDX-License-Identifier: MIT
"""Read and write pcapng files with code that is independent of the simulator (draft-ietf-opsawg-pcapng)."""
import dataclasses
import gzip
import struct

SECTION, INTERFACE, NAMES, PACKET = 0x0A0D0D0A, 1, 4, 6
END, COMMENT, IF_NAME, IF_DESCRIPTION, IF_SPEED = 0, 1, 2, 3, 8
FLAGS, PACKET_ID, QUEUE, VERDICT = 2, 5, 6, 7
HARDWARE = 0


@dataclasses.dataclass
class Packet:
    """An Enhanced Packet Block."""
    interface: dict
    ns: int
    length: int
    frame: bytes
    options: list  # (code, value)

    def all(self, code):
        return [value for at, value in self.options if at == code]

    def one(self, code):
        """The value of an option that occurs once; None if it does not occur."""
        values = self.all(code)
        assert len(values) < 2, f"option {code} occurs {len(values)} times"
        return values[0] if values else None

    def comments(self):
        return [value.decode() for value in self.all(COMMENT)]

    def facts(self):
        """The bytes of the packet facts, or None."""
        verdict = self.one(VERDICT)
        assert verdict is None or verdict[0] == HARDWARE
        return None if verdict is None else verdict[1:]


def options(body):
    """Yield (code, value) of a list of options."""
    at = 0
    while at + 4 <= len(body):
        code, n = struct.unpack_from("<HH", body, at)
        if code == END:
            return
        yield code, body[at + 4 : at + 4 + n]
        at += 4 + n + (-n & 3)


def blocks(blob):
    at = 0
    while at < len(blob):
        kind, n = struct.unpack_from("<II", blob, at)
        assert n >= 12 and n % 4 == 0 and struct.unpack_from("<I", blob, at + n - 4)[0] == n, "block length"
        yield kind, blob[at + 8 : at + n - 4]
        at += n


def read(path):
    """Return (interfaces, packets); an interface is {name, description, speed}."""
    with open(path, "rb") as file:
        blob = file.read()
    if blob[:2] == b"\x1f\x8b":
        blob = gzip.decompress(blob)
    interfaces, packets = [], []
    for kind, body in blocks(blob):
        if kind == INTERFACE:
            found = dict(options(body[8:]))
            interfaces.append({"name": found[IF_NAME].decode(), "description": found[IF_DESCRIPTION].decode(),
                               "speed": int.from_bytes(found.get(IF_SPEED, b""), "little")})
        elif kind == PACKET:
            number, high, low, kept, length = struct.unpack_from("<5I", body)
            packets.append(Packet(interfaces[number], high << 32 | low, length, body[20 : 20 + kept],
                                  list(options(body[20 + kept + (-kept & 3):]))))
    return interfaces, packets


def block(kind, body):
    body += bytes(-len(body) & 3)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def option(code, value):
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) & 3)


def write(path, interfaces, packets):
    """Write packets that `read` has returned, perhaps changed."""
    with open(path, "wb") as file:
        file.write(block(SECTION, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        for interface in interfaces:
            file.write(block(INTERFACE, struct.pack("<HHI", 1, 0, 0) + option(IF_NAME, interface["name"].encode()) +
                             option(IF_DESCRIPTION, interface["description"].encode()) + option(9, b"\x09") +
                             option(END, b"")))
        for packet in packets:
            kept = packet.frame + bytes(-len(packet.frame) & 3)
            head = struct.pack("<5I", interfaces.index(packet.interface), packet.ns >> 32, packet.ns & 0xFFFFFFFF,
                               len(packet.frame), max(packet.length, len(packet.frame)))
            listed = b"".join(option(code, value) for code, value in packet.options)
            file.write(block(PACKET, head + kept + listed + option(END, b"")))
