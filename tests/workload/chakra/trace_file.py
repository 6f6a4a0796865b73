# SPDX-License-Identifier: MIT
"""Writes execution traces of Chakra, in both generations of the schema, as bytes."""

TYPES = {"INVALID": 0, "METADATA": 1, "LOAD": 2, "STORE": 3, "COMP": 4, "SEND": 5, "RECV": 6, "COLL": 7}
COLLS = ["ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST", "ALL_TO_ALL",
         "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"]
OLD_COLLS = ["ALL_REDUCE", "ALL_TO_ALL", "ALL_GATHER", "REDUCE_SCATTER", "BROADCAST"]


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value & (1 << 64) - 1)


def data(field, value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    if isinstance(value, bool):
        return data(1, name) + number(27, value)
    if isinstance(value, int):
        return data(1, name) + number(9, value)
    if isinstance(value, list):
        return data(1, name) + data(28, data(1, bytes(value)))
    return data(1, name) + data(29, value)


def old_attribute(name, value):
    if isinstance(value, bool):
        return data(1, name) + number(2, 0) + number(4, value)
    if isinstance(value, int):
        return data(1, name) + number(2, 2) + number(6, value)
    if isinstance(value, list):
        return data(1, name) + number(2, 5) + b"".join(number(9, v) for v in value)
    return data(1, name) + number(2, 4) + data(8, value)


def node(i, kind, after=(), us=0, inputs=None, name=None, **attributes):
    """A node as a dictionary; `comm` names a collective."""
    return dict(id=i, kind=kind, after=list(after), us=us, inputs=inputs, name=name,
                attributes=attributes)


def encode(n):
    attributes = dict(n["attributes"])
    if "comm" in attributes:
        attributes["comm_type"] = COLLS.index(attributes.pop("comm"))
    kind = n["kind"] if isinstance(n["kind"], int) else TYPES[n["kind"]]
    out = number(1, n["id"]) + data(2, n["name"] or f"n{n['id']}") + number(3, kind)
    if n["after"]:
        out += data(5, b"".join(varint(i) for i in n["after"]))
    out += number(7, n["us"])
    if n["inputs"]:
        out += data(8, data(1, n["inputs"]))
    return out + b"".join(data(10, attribute(k, v)) for k, v in attributes.items())


def encode_old(n):
    attributes = dict(n["attributes"])
    if "comm" in attributes:
        attributes["comm_type"] = OLD_COLLS.index(attributes.pop("comm"))
    if n["us"]:
        attributes["runtime"] = n["us"]
    out = number(1, n["id"]) + data(2, n["name"] or f"n{n['id']}") + number(3, TYPES[n["kind"]])
    out += b"".join(number(4, i) for i in n["after"])
    return out + b"".join(data(11, old_attribute(k, v)) for k, v in attributes.items())


def trace(nodes, old=False):
    records = [b"" if old else data(1, "0.0.4")]
    records += [n if isinstance(n, bytes) else (encode_old if old else encode)(n) for n in nodes]
    return b"".join(varint(len(r)) + r for r in records)
