# SPDX-License-Identifier: MIT
"""The structs of the contract of policies (include/collwire/cc.h), as ctypes has them.

The library compares their sizes with its own when a policy is added, so that a difference is an error and no crash.
"""
from __future__ import annotations

import ctypes as c
from typing import Any, Sequence

VERSION = 10  # CC_VERSION
NEVER = 0x7FFFFFFFFFFFFFFF  # PS_NEVER: a timer that is off
UNLIMITED = 0xFFFFFFFFFFFFFFFF  # CC_UNLIMITED: no window
TIMERS = 2

NEEDS_ECN, NEEDS_CNP, NEEDS_INT, NEEDS_GLOBAL_RTT, NEEDS_CE_SHARE = 1, 2, 4, 8, 16
NEEDS_PACING, NEEDS_SLOW_START, NEEDS_PACKET_NACKS = 32, 64, 128
SIGNAL_CNP, SIGNAL_NACK, SIGNAL_DUPACK, SIGNAL_ECE, SIGNAL_TRIM, SIGNAL_TIMEOUT = range(6)


def _check(name: str, kind: Any, value: Any) -> None:
    """A number must fit: ctypes keeps the low bits of others, so that a window of -5 would be 2**64 - 5."""
    signed, bits = kind(-1).value < 0, 8 * c.sizeof(kind)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if isinstance(value, int) and not least <= value <= most:
        raise OverflowError(f"{name} = {value} is not from {least} to {most}")


def _checked_field(fields: Any, name: str, kind: Any) -> property:
    field = getattr(fields, name)

    def put(struct: Any, value: Any) -> None:
        _check(name, kind, value)
        field.__set__(struct, value)

    return property(field.__get__, put)


def checked(name: str, fields: Any) -> Any:
    """A class of the struct `fields` that refuses integers which do not fit into their fields."""
    integers = [row for row in fields._fields_ if len(row) == 2 and getattr(row[1], "_type_", None) in tuple("bBhHiIlLqQ")]
    return type(name, (fields,), {row[0]: _checked_field(fields, *row) for row in integers})


class LineRate(c.Structure):
    """struct line_rate"""

    _fields_ = [("bps", c.c_uint64), ("divisor", c.c_uint64)]


class Helpers(c.Structure):
    """struct cc_helpers"""

    _fields_ = [
        ("bytes", c.c_uint32),
        ("bdp_bytes", c.CFUNCTYPE(c.c_uint64, c.c_void_p)),
        ("window_bytes", c.CFUNCTYPE(c.c_uint64, c.c_void_p, c.c_double)),
        ("cap_bytes", c.CFUNCTYPE(c.c_uint64, c.c_void_p, c.c_void_p, c.c_uint64)),
        ("line_rate_bps", c.CFUNCTYPE(c.c_uint64, c.c_void_p, LineRate)),
        ("rate_of", c.CFUNCTYPE(c.c_uint64, c.c_void_p, c.c_double, c.c_int64)),
        ("payload_share", c.CFUNCTYPE(c.c_double, c.c_void_p)),
        ("packet_ps", c.CFUNCTYPE(c.c_int64, c.c_void_p)),
    ]


class Env(c.Structure):
    """struct cc_env: the environment of a flow; constant for its life."""

    line_bps: int
    base_rtt_ps: int
    global_rtt_ps: int
    mtu_bytes: int
    full_wire_bytes: int
    ack_packets: int
    hops: int
    initial_window_bytes: int
    trims: bool
    helpers: Any
    _fields_ = [
        ("line_bps", c.c_uint64),
        ("base_rtt_ps", c.c_int64),
        ("global_rtt_ps", c.c_int64),
        ("mtu_bytes", c.c_uint32),
        ("full_wire_bytes", c.c_uint32),
        ("ack_packets", c.c_uint32),
        ("hops", c.c_uint32),
        ("initial_window_bytes", c.c_uint32),
        ("trims", c.c_bool),
        ("helpers", c.POINTER(Helpers)),
        ("watch", c.c_void_p),
    ]

    def bdp_bytes(self) -> int:
        """cc_bdp_bytes(): bytes in flight that fill the line."""
        return int(self.helpers.contents.bdp_bytes(c.addressof(self)))

    def window_bytes(self, k: float) -> int:
        """cc_window_bytes(): a window of k bandwidth-delay products."""
        return int(self.helpers.contents.window_bytes(c.addressof(self), k))

    def rate_of(self, amount: float, in_ps: int) -> int:
        """cc_rate_of(): bytes over a time as a rate, from 1 to the line rate."""
        return int(self.helpers.contents.rate_of(c.addressof(self), amount, in_ps))

    def payload_share(self) -> float:
        """cc_payload_share(): payload of a full packet over its bytes on the wire."""
        return float(self.helpers.contents.payload_share(c.addressof(self)))

    def packet_ps(self) -> int:
        """cc_packet_ps(): the time of a full packet on the line."""
        return int(self.helpers.contents.packet_ps(c.addressof(self)))


class Hop(c.Structure):
    """struct int_hop: a record of in-band telemetry."""

    t_ps: int
    tx_bytes: int
    rate_bps: int
    queue_bytes: int
    port: int
    wraps: int
    _fields_ = [
        ("t_ps", c.c_int64),
        ("tx_bytes", c.c_uint64),
        ("rate_bps", c.c_uint64),
        ("queue_bytes", c.c_uint32),
        ("port", c.c_uint32, 31),
        ("wraps", c.c_uint32, 1),
    ]


class Ack(c.Structure):
    """struct cc_ack: one ACK."""

    now_ps: int
    rtt_ps: int
    seq: int
    snd_una: int
    snd_nxt: int
    acked_bytes: int
    ce_bytes: int
    inflight_bytes: int
    ce: bool
    recovering: bool
    window_limited: bool
    penalty: int
    restore: bool
    n_hops: int
    pint: int
    _fields_ = [
        ("now_ps", c.c_int64),
        ("rtt_ps", c.c_int64),
        ("seq", c.c_uint64),
        ("snd_una", c.c_uint64),
        ("snd_nxt", c.c_uint64),
        ("acked_bytes", c.c_uint32),
        ("ce_bytes", c.c_uint32),
        ("inflight_bytes", c.c_uint64),
        ("ce", c.c_bool),
        ("recovering", c.c_bool),
        ("window_limited", c.c_bool),
        ("penalty", c.c_uint8),
        ("restore", c.c_bool),
        ("hop_records", c.POINTER(Hop)),
        ("n_hops", c.c_uint8),
        ("pint", c.c_uint8),
    ]

    @property
    def hops(self) -> Sequence[Hop]:
        """The INT records of the path, the first switch first; valid during the call."""
        return [self.hop_records[i] for i in range(self.n_hops)]


class Signal(c.Structure):
    """struct cc_signal: an event other than an ACK."""

    now_ps: int
    kind: int
    snd_nxt: int
    inflight_bytes: int
    again: bool
    bytes: int
    rtt_ps: int
    last_hop: bool
    _fields_ = [
        ("now_ps", c.c_int64),
        ("kind", c.c_int),
        ("snd_nxt", c.c_uint64),
        ("inflight_bytes", c.c_uint64),
        ("again", c.c_bool),
        ("bytes", c.c_uint32),
        ("rtt_ps", c.c_int64),
        ("last_hop", c.c_bool),
    ]


class Hint(c.Structure):
    """struct cc_hint: the load that follows from the algorithm of a collective."""

    at_source: int
    at_destination: int
    turn: int
    _fields_ = [("at_source", c.c_uint32), ("at_destination", c.c_uint32), ("turn", c.c_uint32)]


class Post(c.Structure):
    """struct cc_post: a message is posted to the flow."""

    now_ps: int
    bytes: int
    idle_ps: int
    idle_rtos: int
    hint: Hint
    _fields_ = [("now_ps", c.c_int64), ("bytes", c.c_uint64), ("idle_ps", c.c_int64), ("idle_rtos", c.c_uint32), ("hint", Hint)]


class Times(c.c_int64 * TIMERS):  # type: ignore[misc]
    """The times of timers in ps."""

    def __setitem__(self, place: Any, value: Any) -> None:
        for one in value if isinstance(place, slice) else [value]:
            _check("timer_at_ps", c.c_int64, one)
        super().__setitem__(place, value)


class CcFields(c.Structure):
    """The fields of struct cc."""

    _fields_ = [
        ("ops", c.c_void_p),
        ("params_pointer", c.c_void_p),
        ("env_pointer", c.POINTER(Env)),
        ("rate_bps", c.c_uint64),
        ("cwnd_bytes", c.c_uint64),
        ("path", c.c_uint32),
        ("timer_at_ps", Times),
    ]


class Cc(checked("CheckedCc", CcFields)):  # type: ignore[misc]
    """struct cc: the state of a flow, valid during the call of a hook, which writes rate_bps, cwnd_bytes, path, timer_at_ps
    and `state`."""

    rate_bps: int
    cwnd_bytes: int
    path: int
    env_pointer: Any
    params_pointer: Any

    @property
    def timer_at_ps(self) -> Any:
        """The times of timers 0 and 1."""
        return CcFields.timer_at_ps.__get__(self)  # type: ignore[attr-defined]

    @timer_at_ps.setter
    def timer_at_ps(self, times: Sequence[int]) -> None:
        self.timer_at_ps[:] = times

    @property
    def env(self) -> Env:
        """The environment of the flow."""
        return self.env_pointer.contents  # type: ignore[no-any-return]

    @property
    def params(self) -> Any:
        """The policy's parameters, with their names; constant."""
        raise NotImplementedError

    @property
    def state(self) -> Any:
        """The policy's private state of the flow, with the names that `Policy.state` has."""
        raise NotImplementedError


PRIV = (c.sizeof(Cc) + 15) // 16 * 16  # offset of the private state, which is aligned as max_align_t is


class Profile(c.Structure):
    """struct cc_profile"""

    _fields_ = [
        ("ecn", c.c_bool),
        ("kmin_bytes", c.c_uint64),
        ("kmax_bytes", c.c_uint64),
        ("pmax", c.c_double),
        ("ref_bps", c.c_uint64),
        ("scaled", c.c_bool),
        ("kmin_bdp", c.c_double),
        ("kmax_bdp", c.c_double),
        ("spares_last_hop", c.c_bool),
    ]


class Notification(c.Structure):
    """struct cc_notification"""

    _fields_ = [("cnp", c.c_int), ("scope", c.c_int), ("interval_ps", c.c_int64)]


class PresetValue(c.Structure):
    """struct cc_preset_value"""

    _fields_ = [("param", c.c_char_p), ("value", c.c_char_p)]


class PresetStruct(c.Structure):
    """struct cc_preset"""

    _fields_ = [
        ("name", c.c_char_p),
        ("doc", c.c_char_p),
        ("values", c.POINTER(PresetValue)),
        ("n_values", c.c_size_t),
        ("bases", c.c_void_p),
        ("n_bases", c.c_size_t),
        ("profile", Profile),
        ("notification", Notification),
        ("holds_bps", c.c_uint64),
    ]


class ParamStruct(c.Structure):
    """struct param"""

    _fields_ = [
        ("name", c.c_char_p),
        ("type", c.c_int),
        ("offset", c.c_size_t),
        ("default", c.c_char_p),
        ("min", c.c_char_p),
        ("max", c.c_char_p),
        ("choices", c.c_void_p),
        ("can_auto", c.c_bool),
        ("help", c.c_char_p),
        ("source", c.c_char_p),
        ("evidence", c.c_int),
        ("include", c.c_void_p),
    ]


class Credits(c.Structure):
    """struct cc_credits"""

    _fields_ = [("rate_bps", c.c_uint64), ("grant_bytes", c.c_uint32), ("initial_bytes", c.c_uint64), ("max_bytes", c.c_uint64)]


class Contract(c.Structure):
    """struct cc_contract"""

    _fields_ = [("version", c.c_uint32)] + [
        (f"{name}_bytes", c.c_uint32)
        for name in ("ops", "cc", "env", "ack", "signal", "post", "credits", "preset", "param", "hop", "helpers")
    ]


INIT = c.CFUNCTYPE(None, c.c_void_p, c.c_int64)
ON_POST = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Post))
ON_SEND = c.CFUNCTYPE(None, c.c_void_p, c.c_uint32, c.c_int64)
ON_ACK = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Ack))
ON_SIGNAL = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Signal))
ON_TIMER = c.CFUNCTYPE(None, c.c_void_p, c.c_uint, c.c_int64)
OBSERVE = c.CFUNCTYPE(c.c_size_t, c.c_void_p, c.POINTER(c.c_double), c.c_size_t)


class Ops(c.Structure):
    """struct cc_ops"""

    _fields_ = [
        ("contract", Contract),
        ("name", c.c_char_p),
        ("doc", c.c_char_p),
        ("paper", c.c_char_p),
        ("needs", c.c_uint),
        ("params", c.POINTER(ParamStruct)),
        ("n_params", c.c_size_t),
        ("params_bytes", c.c_size_t),
        ("priv_bytes", c.c_size_t),
        ("presets", c.POINTER(PresetStruct)),
        ("n_presets", c.c_size_t),
        ("init", INIT),
        ("on_post", ON_POST),
        ("on_send", ON_SEND),
        ("on_ack", ON_ACK),
        ("on_signal", ON_SIGNAL),
        ("on_timer", ON_TIMER),
        ("observe", OBSERVE),
        ("observed", c.c_void_p),
        ("check", c.c_void_p),
        ("wants_pint", c.c_void_p),
        ("credits", c.c_void_p),
        ("extras", c.c_void_p),
    ]


class Plugin(c.Structure):
    """struct cc_plugin"""

    _fields_ = [("version", c.c_uint32), ("bytes", c.c_uint32), ("policies", c.POINTER(c.POINTER(Ops))), ("n_policies", c.c_size_t)]


def contract() -> Contract:
    """CC_CONTRACT"""
    cc_bytes = PRIV  # the flexible array at its end is aligned, and so is the size
    structs = (Env, Ack, Signal, Post, Credits, PresetStruct, ParamStruct, Hop, Helpers)
    return Contract(VERSION, c.sizeof(Ops), cc_bytes, *(c.sizeof(struct) for struct in structs))
