# SPDX-License-Identifier: MIT
"""Policies written in Python, to try an idea: the structure of a plugin in C (docs/plugins.md), and slow.

Every ACK calls a Python function, so a run takes some ten times as long as with the same policy in C. Hooks, parameters, state
and presets have the names of `include/collwire/cc.h`, so that a policy which proves itself is turned into C line by line.
"""
from __future__ import annotations

import atexit
import ctypes as c
import inspect
import os
import re
import shutil
import tempfile
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, ClassVar, Dict, List, Mapping, Optional, Sequence, Tuple, Type

from collwire import _catalogue as catalogue
from collwire import _contract as ct
from collwire._arguments import utf8, whole, wrong_type
from collwire._contract import Ack, Cc, Env, Hop, Post, Signal
from collwire._errors import Error, Message, ScenarioError
from collwire._hooks import ACTIVE, guarded, over

_TYPES: Dict[str, Tuple[int, Any]] = {
    "bool": (0, c.c_bool),
    "count": (1, c.c_uint64),
    "bytes": (2, c.c_uint64),
    "rate": (3, c.c_uint64),
    "time": (4, c.c_int64),
    "ratio": (5, c.c_double),
}
_STATE: Dict[Any, Any] = {int: c.c_int64, float: c.c_double, bool: c.c_bool}


class PolicyError(Error, RuntimeError):
    """A hook of a policy has raised an exception, which is the __cause__ of this one; the run has ended."""


@dataclass(frozen=True)
class Param:
    """A row of the table of parameters, PARAM_ROW in C: `type` is bool, count, bytes, rate, time or ratio.

    Texts are as in scenarios: "40Mbps", "12.5us", "0.5". In hooks rates are bit/s, times ps, sizes bytes.
    """

    name: str
    type: str
    default: str
    help: str
    min: Optional[str] = None
    max: Optional[str] = None


@dataclass(frozen=True)
class Red:
    """The marking that a preset expects of switches, CC_RED in C: from kmin to kmax bytes at a rate of the link."""

    kmin_bytes: int
    kmax_bytes: int
    pmax: float = 1.0
    ref_bps: int = 100_000_000_000
    scaled: bool = False


@dataclass(frozen=True)
class Preset:
    """A named set of values of parameters, with the marking that goes with it."""

    name: str = "default"
    doc: str = "the defaults of all parameters"
    values: Mapping[str, str] = field(default_factory=dict)
    red: Optional[Red] = None


class Policy:
    """The base of policies written in Python: a class with a table of parameters, a state for each flow, and hooks.

    A hook reads its arguments and writes `cc`: rate_bps, cwnd_bytes, timer_at_ps, and its state, `cc.state`. It has no
    other memory: what it keeps in `self` would make results depend on the order of runs. Hooks that are not defined
    are not called. `needs` joins NEEDS_ECN and others by `|`.
    """

    name: ClassVar[str] = ""
    doc: ClassVar[str] = ""
    paper: ClassVar[str] = "a prototype"
    needs: ClassVar[int] = 0
    params: ClassVar[Sequence[Param]] = ()
    state: ClassVar[Sequence[Tuple[str, type]]] = ()
    presets: ClassVar[Sequence[Preset]] = (Preset(),)
    observed: ClassVar[Sequence[str]] = ()

    NEEDS_ECN: ClassVar[int] = ct.NEEDS_ECN
    NEEDS_CNP: ClassVar[int] = ct.NEEDS_CNP
    NEEDS_INT: ClassVar[int] = ct.NEEDS_INT
    NEEDS_GLOBAL_RTT: ClassVar[int] = ct.NEEDS_GLOBAL_RTT
    NEEDS_CE_SHARE: ClassVar[int] = ct.NEEDS_CE_SHARE
    NEEDS_PACING: ClassVar[int] = ct.NEEDS_PACING
    NEEDS_SLOW_START: ClassVar[int] = ct.NEEDS_SLOW_START
    NEEDS_PACKET_NACKS: ClassVar[int] = ct.NEEDS_PACKET_NACKS
    SIGNAL_CNP: ClassVar[int] = ct.SIGNAL_CNP
    SIGNAL_NACK: ClassVar[int] = ct.SIGNAL_NACK
    SIGNAL_DUPACK: ClassVar[int] = ct.SIGNAL_DUPACK
    SIGNAL_ECE: ClassVar[int] = ct.SIGNAL_ECE
    SIGNAL_TRIM: ClassVar[int] = ct.SIGNAL_TRIM
    SIGNAL_TIMEOUT: ClassVar[int] = ct.SIGNAL_TIMEOUT
    NEVER: ClassVar[int] = ct.NEVER
    UNLIMITED: ClassVar[int] = ct.UNLIMITED

    def init(self, cc: Cc, now: int) -> None:
        """A flow begins; its state is zero. Required."""
        raise NotImplementedError

    def on_post(self, cc: Cc, post: Post) -> None:
        """A message is posted."""

    def on_send(self, cc: Cc, wire_bytes: int, now: int) -> None:
        """A packet is sent; must not set timers."""

    def on_ack(self, cc: Cc, ack: Ack) -> None:
        """An ACK has arrived."""

    def on_signal(self, cc: Cc, signal: Signal) -> None:
        """A CNP, a gap, a timeout, ..: signal.kind."""

    def on_timer(self, cc: Cc, timer: int, now: int) -> None:
        """Timer 0 or 1, which timer_at_ps has set, expires."""

    def observe(self, cc: Cc) -> Sequence[float]:
        """The values of time series that `observed` names."""
        return []


class _Host:
    """The structs of one policy, which the library refers to as long as the process lives."""

    def __init__(self, policy: Type[Policy]) -> None:
        self.policy, self.own = policy, policy()
        self.kept: List[Any] = []
        self.failure: Optional[BaseException] = None
        self.params = self._struct("Params", [(row.name, self._type(row)) for row in policy.params])
        self.state = ct.checked("FlowState", self._struct("State", [(name, _STATE.get(kind, kind)) for name, kind in policy.state]))
        self.cc = self._cc()
        self.ops = self._ops()

    @staticmethod
    def _type(row: Param) -> Any:
        if row.type not in _TYPES:
            raise ScenarioError([Message(row.name, f'the type "{row.type}" is not one of {", ".join(_TYPES)}')])
        return _TYPES[row.type][1]

    @staticmethod
    def _struct(name: str, fields: List[Tuple[str, Any]]) -> Type[c.Structure]:
        return type(name, (c.Structure,), {"_fields_": fields})

    def _cc(self) -> Type[Cc]:
        params, state = self.params, self.state
        views = {
            "params": property(lambda cc: params.from_address(cc.params_pointer)),
            "state": property(lambda cc: state.from_address(c.addressof(cc) + ct.PRIV)),
        }
        return type("FlowCc", (Cc,), views)

    # ---- tables ----

    def _keep(self, thing: Any) -> Any:
        self.kept.append(thing)
        return thing

    def _param(self, row: Param) -> ct.ParamStruct:
        offset = getattr(self.params, row.name).offset
        texts = [None if text is None else utf8(row.name, text) for text in (row.default, row.min, row.max)]
        name, doc = utf8("params", row.name), utf8(row.name, row.help)
        return ct.ParamStruct(name, _TYPES[row.type][0], offset, *texts, None, False, doc, None, 0, None)

    def _preset(self, preset: Preset) -> ct.PresetStruct:
        pairs = [ct.PresetValue(utf8(preset.name, name), utf8(name, value)) for name, value in preset.values.items()]
        values = self._keep((ct.PresetValue * len(pairs))(*pairs))
        profile = ct.Profile()
        if preset.red is not None:
            red = preset.red
            profile = ct.Profile(True, red.kmin_bytes, red.kmax_bytes, red.pmax, red.ref_bps, red.scaled)
        name, doc = utf8("presets", preset.name), utf8(preset.name, preset.doc)
        return ct.PresetStruct(name, doc, values, len(pairs), None, 0, profile, ct.Notification(), 0)

    def _ops(self) -> ct.Ops:
        policy = self.policy
        params = self._keep((ct.ParamStruct * len(policy.params))(*(self._param(row) for row in policy.params)))
        presets = self._keep((ct.PresetStruct * len(policy.presets))(*(self._preset(preset) for preset in policy.presets)))
        doc = policy.doc or (inspect.getdoc(policy) or policy.name).split("\n")[0].rstrip(".")
        texts = {"name": utf8("policy", policy.name), "doc": utf8(policy.name, doc), "paper": utf8(policy.name, policy.paper)}
        ops = ct.Ops(contract=ct.contract(), needs=whole(policy.name, policy.needs, 0, 2**32 - 1), **texts)
        ops.params, ops.n_params, ops.params_bytes = params, len(policy.params), c.sizeof(self.params)
        ops.priv_bytes, ops.presets, ops.n_presets = c.sizeof(self.state), presets, len(policy.presets)
        ops.init = self._hook(ct.INIT, self.own.init)
        for name, kind in (("on_post", ct.ON_POST), ("on_ack", ct.ON_ACK), ("on_signal", ct.ON_SIGNAL)):
            if getattr(policy, name) is not getattr(Policy, name):
                setattr(ops, name, self._hook(kind, self._with_contents(getattr(self.own, name))))
        for name, kind in (("on_send", ct.ON_SEND), ("on_timer", ct.ON_TIMER)):
            if getattr(policy, name) is not getattr(Policy, name):
                setattr(ops, name, self._hook(kind, getattr(self.own, name)))
        if policy.observed:
            names = (c.c_char_p * (len(policy.observed) + 1))(*(utf8("observed", name) for name in policy.observed), None)
            ops.observed = c.cast(self._keep(names), c.c_void_p)
            ops.observe = self._keep(ct.OBSERVE(self._observe))
        return ops

    # ---- hooks ----

    @staticmethod
    def _with_contents(hook: Callable[[Cc, Any], None]) -> Callable[[Cc, Any], None]:
        return lambda cc, event: hook(cc, event.contents)

    def _hook(self, kind: Any, hook: Callable[..., None]) -> Any:
        def call(address: int, *arguments: Any) -> None:
            if self.failure is None and not over():
                guarded(self._fail, hook, self.cc.from_address(address), *arguments)

        return self._keep(kind(call))

    def _observe(self, address: int, out: Any, cap: int) -> int:
        def observe() -> int:
            values = list(self.own.observe(self.cc.from_address(address)))[:cap]
            for i, value in enumerate(values):
                out[i] = value
            return len(values)

        return 0 if self.failure is not None or over() else guarded(self._fail, observe) or 0

    def _fail(self, error: BaseException) -> None:
        failure = PolicyError(f"policy {self.policy.name}: {type(error).__name__}: {error}")
        failure.__cause__ = error
        own = ACTIVE.get(threading.get_ident())
        running = [own] if own is not None else list(ACTIVE.values())
        if not running:  # in the trial, when the policy is added
            self.failure = failure
        for one in running:
            one._fail(failure)


_hosts: Dict[str, _Host] = {}
_folder: List[str] = []


def name_of(policy: Type[Policy]) -> str:
    """The name of a policy written in Python, which is added if it is not known yet."""
    if policy.name not in _hosts:
        add_policy(policy)
    elif _hosts[policy.name].policy is not policy:
        raise ScenarioError([Message("policy", f'there is already another policy "{policy.name}"; give this one another name')])
    return policy.name


def add_policy(policy: Type[Policy]) -> Type[Policy]:
    """Make a policy known, so that scenarios may name it: {"kind": policy.name}. Also a decorator of a class.

    Raises ScenarioError if its tables are not sound, and PolicyError if a hook fails in the trial that every policy
    passes. Runs with policies in Python should have one thread.
    """
    if not (isinstance(policy, type) and issubclass(policy, Policy)):
        raise wrong_type("policy", policy, "a subclass of collwire.Policy")
    if not policy.name or policy.init is Policy.init:
        raise ScenarioError([Message("policy", f"{policy.__name__} needs a name, and the hook init")])
    if not re.fullmatch(r"\w[\w.-]*", utf8("policy", policy.name).decode()):
        raise ScenarioError([Message("policy", f"the name {policy.name!r} has other characters than letters, digits, _, - and .")])
    try:
        host = _Host(policy)
    except (AttributeError, OverflowError, TypeError) as error:
        raise error if isinstance(error, Error) else ScenarioError([Message(policy.name, f"its tables are not sound: {error}")])
    pointers = host._keep((c.POINTER(ct.Ops) * 1)(c.pointer(host.ops)))
    plugin = host._keep(ct.Plugin(ct.VERSION, c.sizeof(ct.Plugin), pointers, 1))
    if not _folder:
        _folder.append(tempfile.mkdtemp(prefix="collwire"))
        atexit.register(_remove, _folder[0], os.getpid())
    # A plugin has a file, whose digest run.json has: here the source of the class.
    file = os.path.join(_folder[0], f"{policy.name}.py")
    with open(file, "w", encoding="utf-8") as out:
        out.write(_source(policy))
    _kept.append(host)
    try:
        catalogue.add_exported(file, lambda: c.addressof(plugin))
    except ScenarioError:
        if host.failure is not None:
            raise host.failure from host.failure.__cause__
        raise
    if host.failure is not None:
        raise host.failure from host.failure.__cause__
    _hosts[policy.name] = host
    return policy


_kept: List[_Host] = []


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # and not a child of it, which ends first
        shutil.rmtree(folder, ignore_errors=True)


def _source(policy: Type[Policy]) -> str:
    try:
        return inspect.getsource(policy)
    except (OSError, TypeError):
        return repr(policy)


__all__ = ["Ack", "Cc", "Env", "Hop", "Param", "Policy", "PolicyError", "Post", "Preset", "Red", "Signal", "add_policy"]
