# SPDX-License-Identifier: MIT
"""Scenarios read and checked by the library, and simulations of them."""
from __future__ import annotations

import ctypes as c
import json
import logging
import os
import sys
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from collwire import _catalogue as catalogue
from collwire import _library as lib
from collwire._errors import Cancelled, Message, ScenarioError
from collwire._object import Object, plain
from collwire._scenario_file import ScenarioFile
from collwire.result import Result

LOG = logging.getLogger("collwire")

ScenarioLike = Union[ScenarioFile, Mapping[str, Any], str, "os.PathLike[str]"]
"""A typed scenario, a dictionary in the form of the JSON, a file's name, or the JSON as text (which begins with "{")."""

_STATUS = ("completed", "incomplete", "interrupted")
_active: Dict[int, "Simulation"] = {}  # thread -> what it simulates, for the hooks of policies in Python


@dataclass(frozen=True)
class Progress:
    """How far a run is: `done` from 0 to 1, the simulated time, and what has been processed."""

    done: float
    sim_time_ns: float
    packet_hops: int
    events: int


ProgressLike = Union[None, bool, Callable[[Progress], Any]]
"""True shows a line on stderr; a function is called some times a second and ends the run by returning False."""


@dataclass(frozen=True)
class Cost:
    """What a run is expected to need."""

    memory_bytes: int
    memory_limit_bytes: int
    output_bytes: int
    packet_hops: float
    wall_s: float


def setting_text(value: Any) -> str:
    """The value of a setting as `collwire --set` takes it: JSON, or else text."""
    return value if isinstance(value, str) else json.dumps(plain(value))


def settings_of(values: Optional[Mapping[str, Any]], seed: Optional[int]) -> List[Tuple[str, str]]:
    """Changed keys, by path, and a seed as pairs of texts."""
    pairs = [(path, setting_text(value)) for path, value in (values or {}).items()]
    return pairs + ([("seed", str(seed))] if seed is not None else [])


def scenario_text(scenario: ScenarioLike) -> Tuple[Optional[str], str]:
    """The JSON of a scenario and the folder of its files; or None and the name of its file."""
    if isinstance(scenario, ScenarioFile):
        return scenario.to_json(), scenario.folder
    if isinstance(scenario, (Mapping, Object)):
        return json.dumps(plain(scenario)), "."
    name = os.fspath(scenario)
    return (name, ".") if name.lstrip().startswith("{") else (None, name)


class Simulation:
    """A scenario that has been read, checked and built, and can be run once.

    Raises ScenarioError with all that is wrong. `set` changes keys by their paths: {"switch.buffer": "2MB"}. `sharers`
    simulations share the memory of the machine. A simulation is also a context manager, which frees it.
    """

    def __init__(
        self, scenario: ScenarioLike, *, set: Optional[Mapping[str, Any]] = None, seed: Optional[int] = None, sharers: int = 1
    ) -> None:
        self._scenario: Optional[int] = None
        self._sim: Optional[int] = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._started = False
        self._failure: Optional[BaseException] = None
        self._progress: Optional[Progress] = None
        text, where = scenario_text(scenario)
        array, n = lib.settings_array(settings_of(set, seed))
        messages = lib.Messages()
        try:
            with messages as handle:
                with catalogue.LOCK:
                    if text is None:
                        self._scenario = lib.scenario_load(os.fsencode(where), array, n, catalogue.HANDLE, handle)
                    else:
                        self._scenario = lib.scenario_parse(text.encode(), os.fsencode(where), array, n, catalogue.HANDLE, handle)
                if self._scenario:
                    self._sim = lib.sim_new(self._scenario, max(1, sharers), handle)
        except ScenarioError:
            self.close()
            raise
        self.warnings: List[Message] = messages.warnings
        for warning in self.warnings:
            LOG.warning("%s: %s", self.name, warning)

    # ---- what it is ----

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return str(lib.scenario_name(self._scenario).decode())

    @property
    def seed(self) -> int:
        """The seed of every random choice."""
        return int(lib.scenario_seed(self._scenario))

    @property
    def policy(self) -> str:
        """The policies of the outermost dimension, joined by "+"."""
        return lib.take_text(lib.scenario_policy(self._scenario))

    @property
    def resolved(self) -> Dict[str, Any]:
        """The scenario with every default filled in."""
        return dict(json.loads(lib.scenario_json(self._scenario)))

    def describe(self) -> str:
        """What follows from the scenario, a line each: sizes, round-trip times, thresholds."""
        return lib.take_text(lib.sim_describe(self._sim))

    def advice(self) -> Dict[str, Any]:
        """Settings that the network does not suit, and the values of those that are "auto" (docs/validate.md)."""
        return dict(json.loads(lib.take_text(lib.sim_advice(self._sim))))

    @property
    def cost(self) -> Cost:
        """What the run is expected to need."""
        cost = lib.CostStruct(bytes=c.sizeof(lib.CostStruct))
        lib.sim_cost(self._sim, c.byref(cost))
        return Cost(cost.memory_bytes, cost.memory_limit_bytes, cost.output_bytes, cost.packet_hops, cost.wall_s)

    # ---- its run ----

    def cancel(self) -> None:
        """End the run with the results so far; from any thread, also before it has begun."""
        with self._lock:
            if self._sim:
                lib.sim_cancel(self._sim)

    def run(
        self, *, progress: ProgressLike = None, threads: int = 1, captures: Union[None, str, "os.PathLike[str]"] = None
    ) -> Result:
        """Simulate to the end, once.

        The run has a thread of its own, so that Ctrl-C is seen at once: it then raises Cancelled, whose `result` has
        the results so far. `threads` of the library give the same results. Captures of the scenario are written
        into the folder `captures`, and not at all without it. Lines of what is done go to the logger "collwire".
        """
        if not self._sim:
            raise ValueError("a simulation can be run once")
        if captures is not None:
            os.makedirs(captures, exist_ok=True)
        messages = lib.Messages()
        try:
            if captures is not None:
                folder = os.fsencode(captures)
                lib.sim_open_captures(self._sim, folder, folder, messages.handle)
            LOG.info("%s (%s, seed %d): begins", self.name, self.policy, self.seed)
            worker = threading.Thread(target=self._work, args=(messages.handle, max(1, threads)), daemon=True, name="collwire")
            interrupted = self._watch(worker, _shown(progress))
        finally:
            if not self._started or self._ended.is_set():
                errors, _ = messages.take()
        if self._failure is not None:
            self.close()
            raise self._failure
        result = self._result()
        result.errors = errors
        LOG.info("%s: %s after %.2f s, %.0f packet-hops", result.name, result.status, result.wall_s, result.packet_hops)
        for error in errors:
            LOG.error("%s: %s", result.name, error)
        self.close()
        if interrupted:
            raise Cancelled(f"{result.name}: interrupted at {result.sim_time_ns / 1e3:.0f} us of simulated time", result)
        return result

    def _work(self, messages: Any, threads: int) -> None:
        def on_progress(_ctx: Any, now: Any) -> int:
            p = now.contents
            self._progress = Progress(p.done, p.now_ps / 1e3, p.packet_hops, p.events)
            return 0

        _active[threading.get_ident()] = self
        function = lib.PROGRESS(on_progress)
        run = lib.RunStruct(bytes=c.sizeof(lib.RunStruct), progress=function, progress_s=0.1, threads=threads)
        try:
            lib.sim_run(self._sim, c.byref(run), messages)
        finally:
            del _active[threading.get_ident()]
            self._ended.set()

    def _watch(self, worker: threading.Thread, progress: Optional[Callable[[Progress], Any]]) -> bool:
        """Wait for the run, and show its progress from this thread; True if Ctrl-C has ended it."""
        interrupted = False
        self._started = True
        try:
            worker.start()
        except RuntimeError:  # no thread can be made
            self._ended.set()
            raise
        while not self._ended.is_set():
            try:
                self._poll(progress)
            except KeyboardInterrupt:
                interrupted = True
                self.cancel()
            except BaseException:
                self.cancel()
                self._ended.wait()
                self.close()
                raise
        return interrupted

    def _poll(self, progress: Optional[Callable[[Progress], Any]]) -> None:
        """Wait for the end of the run. Not by join(): one that Ctrl-C interrupts marks a thread as ended (bpo-45274)."""
        shown: Optional[Progress] = None
        while not self._ended.wait(0.05):
            now = self._progress
            if progress is not None and now is not None and now is not shown:
                shown = now
                if progress(now) is False:
                    self.cancel()

    def _fail(self, error: BaseException) -> None:
        """A hook of a policy has raised an exception: the run ends, and run() raises it."""
        if self._failure is None:
            self._failure = error
        lib.sim_cancel(self._sim)

    def _result(self) -> Result:
        summary = lib.SummaryStruct(bytes=c.sizeof(lib.SummaryStruct))
        lib.sim_summary(self._sim, c.byref(summary))
        files: Dict[str, str] = {}
        i = 0
        while True:
            name = lib.sim_file(self._sim, i)
            if name is None:
                break
            text = lib.sim_result(self._sim, name)
            if text:
                files[name.decode()] = lib.take_text(text)
            i += 1
        return Result(
            files,
            policy=self.policy,
            status=_STATUS[summary.status],
            wall_s=summary.wall_s,
            packet_hops=summary.packet_hops,
            warnings=self.warnings,
        )

    # ---- its end ----

    def close(self) -> None:
        """Free the simulation, after its run has ended if it has begun; results stay."""
        if self._started and not self._ended.is_set():  # Ctrl-C came where run() could not see it
            lib.sim_cancel(self._sim)
            self._ended.wait()
        with self._lock:
            lib.sim_free(self._sim)
            if self._scenario:
                lib.scenario_free(self._scenario)
            self._sim = self._scenario = None

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_sim", None) or getattr(self, "_scenario", None):
            self.close()


def _shown(progress: ProgressLike) -> Optional[Callable[[Progress], Any]]:
    if progress is True:
        return _line
    return progress if callable(progress) else None


def _line(p: Progress) -> None:
    end = "\n" if p.done >= 1 else ""
    sys.stderr.write(f"\r{100 * p.done:3.0f} %, {p.sim_time_ns / 1e3:.0f} us, {p.packet_hops} packet-hops {end}")
    sys.stderr.flush()


def run(
    scenario: ScenarioLike,
    *,
    set: Optional[Mapping[str, Any]] = None,
    seed: Optional[int] = None,
    progress: ProgressLike = None,
    threads: int = 1,
    captures: Union[None, str, "os.PathLike[str]"] = None,
    sharers: int = 1,
) -> Result:
    """Simulate a scenario; see Simulation and Simulation.run for what the arguments are.

    Several runs in threads of one program use several cores, with the results that each has alone.
    """
    with Simulation(scenario, set=set, seed=seed, sharers=sharers) as simulation:
        return simulation.run(progress=progress, threads=threads, captures=captures)


@dataclass(frozen=True)
class Validation:
    """What a check of a scenario has found. It is true if the scenario can be run."""

    errors: List[Message]
    warnings: List[Message]
    advice: Dict[str, Any]
    cost: Optional[Cost]
    resolved: Optional[Dict[str, Any]]
    text: str

    def __bool__(self) -> bool:
        return not self.errors

    def __str__(self) -> str:
        return "\n".join([str(message) for message in self.errors + self.warnings] + [self.text]).strip()


def validate(scenario: ScenarioLike, *, set: Optional[Mapping[str, Any]] = None, seed: Optional[int] = None) -> Validation:
    """Check a scenario without running it: all errors with their paths, warnings, values of "auto", the expected cost."""
    try:
        with Simulation(scenario, set=set, seed=seed) as simulation:
            advice = simulation.advice()
            return Validation([], simulation.warnings, advice, simulation.cost, simulation.resolved, simulation.describe())
    except ScenarioError as error:
        return Validation(error.errors, error.warnings, {}, None, None, "")
