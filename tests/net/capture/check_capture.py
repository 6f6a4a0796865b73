#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check a RoCEv2 capture with code that is independent of the simulator.

1. tshark dissects it without malformed packets, expert warnings or errors; IPv4 checksums are correct.
2. Every ICRC is recomputed here for records that are not truncated.
3. Times never decrease, and every length field agrees with the record.
4. Packets of each kind are counted and compared with the --expect-... options.

On failure the exit status is 1, with one line per finding. Limits of tshark 4.0: it shows the ICRC but
does not verify it, does not know the CNP opcode, and writes "Invalid Packet Length from LRH!
[Malformed Packet]" into the info column of any RoCE payload cut by the snaplen, hardware captures
included. That text is not a dissection error (_ws.malformed) and cannot occur for full records, in
which the ICRC field must be shown.
"""

import argparse
import collections
import struct
import subprocess
import sys
import zlib

PCAP_NANO = 0xA1B23C4D
ETHERTYPE_IPV4, ETHERTYPE_MAC_CONTROL = 0x0800, 0x8808
PFC_MAC, PFC_OPCODE = bytes.fromhex("0180c2000001"), 0x0101
FIRST, MIDDLE, LAST, ONLY, ACK, CNP = 0x06, 0x07, 0x08, 0x0A, 0x11, 0x81
EXTENSION = {FIRST: 16, MIDDLE: 0, LAST: 0, ONLY: 16, ACK: 4, CNP: 16}
NAK_SEQUENCE, ACK_NO_CREDITS = 0x60, 0x1F
KINDS = ("data", "ack", "nak", "ce", "cnp", "pfc", "total")
EXPERT_WARNING = 0x600000
SHOWN = 10
TSHARK_FIELDS = ("frame.number", "frame.len", "frame.cap_len", "frame.protocols", "_ws.malformed",
                 "_ws.expert.severity", "_ws.expert.message", "ip.checksum.status",
                 "infiniband.bth.opcode", "infiniband.invariant.crc", "macc.opcode")


def records(path):
    """Yield (seconds, nanoseconds, original length, bytes) of a nanosecond pcap file."""
    with open(path, "rb") as file:
        blob = file.read()
    if len(blob) < 24:
        raise ValueError("no pcap header")
    order = "<" if struct.unpack_from("<I", blob)[0] == PCAP_NANO else ">"
    magic, _, _, _, _, _, link = struct.unpack_from(order + "IHHiIII", blob)
    if magic != PCAP_NANO or link != 1:
        raise ValueError(f"not a nanosecond Ethernet pcap (magic {magic:#x}, link type {link})")
    at, header = 24, struct.Struct(order + "IIII")
    while at < len(blob):
        if at + 16 > len(blob):
            raise ValueError("file ends inside a record header")
        s, ns, kept, length = header.unpack_from(blob, at)
        at += 16
        if at + kept > len(blob):
            raise ValueError("file ends inside a record")
        yield s, ns, length, blob[at : at + kept]
        at += kept


def ones_sum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def icrc(ip_packet):
    """ICRC of an IP packet (without its last 4 bytes), as the 4 bytes on the wire."""
    masked = bytearray(b"\xff" * 8 + ip_packet[:-4])
    for at in (1, 8, 10, 11, 20 + 6, 20 + 7, 20 + 8 + 4):
        masked[8 + at] = 0xFF
    return struct.pack("<I", zlib.crc32(masked))


def check_pfc(frame, length, count):
    count["pfc"] += 1
    if length != 60 or frame[:6] != PFC_MAC:
        return "PFC frame of wrong length or destination"
    opcode, vector = struct.unpack_from("!HH", frame, 14)
    quanta = struct.unpack_from("!8H", frame, 18) if len(frame) >= 34 else (0,) * 8
    if opcode != PFC_OPCODE or vector >> 8 or not vector:
        return f"PFC opcode {opcode:#x}, class vector {vector:#x}"
    if any(q and not vector >> cls & 1 for cls, q in enumerate(quanta)):
        return "PFC quanta of a class that is not enabled"
    return None


def check_roce(frame, length, count):
    """Count a RoCEv2 packet; return a description of the error, or None."""
    ip_bytes, tos = struct.unpack_from("!H", frame, 16)[0], frame[15]
    udp_port, udp_bytes, udp_sum = struct.unpack_from("!HHH", frame, 36)
    opcode, flags = frame[42], frame[43]
    if frame[14] != 0x45 or frame[23] != 17 or frame[22] != 64 or frame[20:22] != b"\x40\x00":
        return "not UDP in IPv4 with TTL 64 and DF"
    if ones_sum(frame[14:34]) != 0xFFFF:
        return "bad IPv4 checksum"
    if udp_port != 4791 or udp_sum or udp_bytes != ip_bytes - 20 or length < 14 + ip_bytes:
        return f"port {udp_port}, UDP length {udp_bytes}, IP length {ip_bytes}, frame {length}"
    if opcode not in EXTENSION:
        return f"opcode {opcode:#x}"
    pad, payload = flags >> 4 & 3, udp_bytes - 8 - 12 - EXTENSION[opcode] - 4
    if payload % 4 or payload < pad or (opcode in (ACK, CNP) and payload):
        return f"payload {payload} with PadCnt {pad}"
    if frame[44:46] != b"\xff\xff" or flags & 0x0F or frame[50] & 0x7F:
        return "P_Key, TVer or reserved bits of the BTH"
    if (frame[46] == 0x40) != (opcode == CNP):
        return "BECN is for CNPs alone"
    if opcode == ACK and len(frame) > 54 and frame[54] not in (ACK_NO_CREDITS, NAK_SEQUENCE):
        return f"syndrome {frame[54]:#x}"
    count["cnp" if opcode == CNP else "ack" if opcode == ACK else "data"] += 1
    count["nak"] += opcode == ACK and len(frame) > 54 and frame[54] == NAK_SEQUENCE
    count["ce"] += tos & 3 == 3
    if len(frame) >= 14 + ip_bytes:
        packet = frame[14 : 14 + ip_bytes]
        count["icrc checked"] += 1
        if icrc(packet) != packet[-4:]:
            return f"ICRC {packet[-4:].hex()}, expected {icrc(packet).hex()}"
    return None


def check_frame(frame, length, count):
    count["total"] += 1
    if len(frame) > length or length < 60:
        return f"{len(frame)} bytes kept of a frame of {length}"
    ethertype = struct.unpack_from("!H", frame, 12)[0]
    if ethertype == ETHERTYPE_MAC_CONTROL and len(frame) >= 18:
        return check_pfc(frame, length, count)
    if ethertype == ETHERTYPE_IPV4 and len(frame) >= 54:
        return check_roce(frame, length, count)
    return f"cannot parse ethertype {ethertype:#06x} in {len(frame)} bytes"


def own_findings(path, count):
    before = (0, 0)
    for number, (s, ns, length, frame) in enumerate(records(path), 1):
        if (s, ns) < before or ns >= 10**9:
            yield f"packet {number}: time {s}.{ns:09} after {before[0]}.{before[1]:09}"
        before = (s, ns)
        wrong = check_frame(frame, length, count)
        if wrong:
            yield f"packet {number}: {wrong}"


def tshark_findings(path, count):
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=/t",
               "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    for field in TSHARK_FIELDS:
        command += ["-e", field]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        yield f"tshark: {run.stderr.strip()}"
    for line in run.stdout.splitlines():
        count["tshark"] += 1
        (number, length, kept, protocols, malformed, severity, message, checksum, opcode, crc,
         pause) = line.split("\t")
        if malformed or "_ws.malformed" in protocols:
            yield f"packet {number}: tshark: malformed ({protocols}) {malformed}"
        if any(int(level, 0) >= EXPERT_WARNING for level in severity.split(",") if level):
            yield f"packet {number}: tshark: {message}"
        if "ip" in protocols.split(":") and checksum not in ("1", "Good"):
            yield f"packet {number}: tshark: IPv4 checksum status {checksum!r}"
        if length == kept and opcode and int(opcode, 0) != CNP and not crc:
            yield f"packet {number}: tshark: payload does not dissect up to the ICRC"
        if not opcode and not pause:
            yield f"packet {number}: tshark sees neither RoCE nor PFC ({protocols})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    for kind in KINDS:
        parser.add_argument(f"--expect-{kind}", type=int, metavar="N")
    args = parser.parse_args()

    count = collections.Counter()
    try:
        findings = list(own_findings(args.file, count)) + list(tshark_findings(args.file, count))
    except (OSError, ValueError) as error:
        findings = [str(error)]
    if count["tshark"] != count["total"]:
        findings.append(f"tshark sees {count['tshark']} packets of {count['total']}")
    for kind in KINDS:
        expected = getattr(args, f"expect_{kind}")
        if expected is not None and expected != count[kind]:
            findings.append(f"{count[kind]} {kind} packets, expected {expected}")

    print(", ".join(f"{count[kind]} {kind}" for kind in (*KINDS, "icrc checked")))
    for finding in findings[:SHOWN]:
        print(f"{args.file}: {finding}", file=sys.stderr)
    if len(findings) > SHOWN:
        print(f"{args.file}: and {len(findings) - SHOWN} more", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
