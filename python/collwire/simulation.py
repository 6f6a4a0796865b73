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
from collwire import _hooks as hooks
from collwire import _library as lib
from collwire._arguments import file_name, one_of, utf8, whole
from collwire._errors import ArgumentError, Cancelled, Message, ScenarioError, StateError
from collwire._handle import Handle, Owned
from collwire._object import Object, plain
from collwire._scenario_file import ScenarioFile
from collwire.result import Result

LOG = logging.getLogger("collwire")

ScenarioLike = Union[ScenarioFile, Mapping[str, Any], str, "os.PathLike[str]"]
"""A typed scenario, a dictionary in the form of the JSON, a file's name, or the JSON as text (which begins with "{")."""

HOOK_S = 1.0  # so long a call of a hook may last after Ctrl-C

_STATUS = ("completed", "incomplete", "interrupted")


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
    return value if isinstance(value, str) else json_text("set", value)


def json_text(name: str, value: Any) -> str:
    """A value as JSON; `name` is what an error names."""
    try:
        return json.dumps(plain(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError([Message(name, f"the value cannot be written as JSON: {error}")]) from None


def settings_of(values: Optional[Mapping[str, Any]], seed: Optional[int]) -> List[Tuple[str, str]]:
    """Changed keys, by path, and a seed as pairs of texts."""
    given = one_of("set", {} if values is None else values, Mapping, "a dictionary of paths and values")
    pairs = [(path, setting_text(value)) for path, value in given.items()]
    return pairs + ([("seed", str(whole("seed", seed, 0, 2**64 - 1)))] if seed is not None else [])


def scenario_text(scenario: ScenarioLike) -> Tuple[Optional[str], str]:
    """The JSON of a scenario and the folder of its files; or None and the name of its file."""
    if isinstance(scenario, ScenarioFile):
        return json_text("scenario", scenario), scenario.folder
    if isinstance(scenario, (Mapping, Object)):
        return json_text("scenario", scenario), "."
    if isinstance(scenario, str) and scenario.lstrip().startswith("{"):
        return utf8("scenario", scenario).decode(), "."
    return None, file_name("scenario", scenario)


@dataclass(frozen=True)
class _Facts:
    """What is known of a simulation before its run. It is read once, so that no later state of the simulation matters."""

    name: str
    seed: int
    policy: str
    resolved: str
    description: str
    advice: str
    cost: Cost


def _facts(scenario: int, sim: int) -> _Facts:
    cost = lib.CostStruct(bytes=c.sizeof(lib.CostStruct))
    lib.sim_cost(sim, c.byref(cost))
    return _Facts(
        lib.scenario_name(scenario).decode(),
        lib.scenario_seed(scenario),
        lib.take_text(lib.scenario_policy(scenario)),
        lib.scenario_json(scenario).decode(),
        lib.take_text(lib.sim_describe(sim)),
        lib.take_text(lib.sim_advice(sim)),
        Cost(cost.memory_bytes, cost.memory_limit_bytes, cost.output_bytes, cost.packet_hops, cost.wall_s),
    )


class Simulation(Owned):
    """A scenario that has been read, checked and built, and can be run once.

    Raises ScenarioError with all that is wrong. `set` changes keys by their paths: {"switch.buffer": "2MB"}. `sharers`
    simulations share the memory of the machine. A simulation is also a context manager, which frees it.
    Any thread may use it. What it is can be read at any time, also after its run and its end.
    """

    def __init__(
        self, scenario: ScenarioLike, *, set: Optional[Mapping[str, Any]] = None, seed: Optional[int] = None, sharers: int = 1
    ) -> None:
        self._own()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._begun = False  # run() has been called
        self._worker: Optional[threading.Thread] = None
        self._inside = False  # the worker has the simulation
        self._left = False  # Ctrl-C has left the worker alone, whose hook does not return
        self._hooks_over = False  # hooks of policies in Python are not called any more, while the run ends
        self._failure: Optional[BaseException] = None
        self._progress: Optional[Progress] = None
        text, where = scenario_text(scenario)
        array, n = lib.settings_array(settings_of(set, seed))
        sharing = whole("sharers", sharers, 0, 2**32 - 1)
        messages = lib.Messages()
        with messages as reports:
            with catalogue.LOCK, catalogue.HANDLE as policies:
                if text is None:
                    made = lib.scenario_load(os.fsencode(where), array, n, policies, reports)
                else:
                    made = lib.scenario_parse(text.encode(), os.fsencode(where), array, n, policies, reports)
            scenario_handle = Handle("the scenario", made, lib.scenario_free)
            if made:
                sim = lib.sim_new(made, max(1, sharing), reports)
                if sim:
                    self._sim = Handle("the simulation", sim, lib.sim_free, over=scenario_handle)
                    self._facts = _facts(made, sim)
        scenario_handle.close()  # when the simulation is freed
        self._what = f"the simulation of {self.name}"
        self.warnings: List[Message] = messages.warnings
        for warning in self.warnings:
            LOG.warning("%s: %s", self.name, warning)

    # ---- what it is ----

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self._facts.name

    @property
    def seed(self) -> int:
        """The seed of every random choice."""
        return self._facts.seed

    @property
    def policy(self) -> str:
        """The policies of the outermost dimension, joined by "+"."""
        return self._facts.policy

    @property
    def resolved(self) -> Dict[str, Any]:
        """The scenario with every default filled in."""
        return dict(json.loads(self._facts.resolved))

    def describe(self) -> str:
        """What follows from the scenario, a line each: sizes, round-trip times, thresholds."""
        return self._facts.description

    def advice(self) -> Dict[str, Any]:
        """Settings that the network does not suit, and the values of those that are "auto" (docs/validate.md)."""
        return dict(json.loads(self._facts.advice))

    @property
    def cost(self) -> Cost:
        """What the run is expected to need."""
        return self._facts.cost

    # ---- its run ----

    def cancel(self) -> None:
        """End the run with the results so far; from any thread, also before it has begun. Too late is no error."""
        self._check_owner()
        try:
            with self._sim as sim:
                lib.sim_cancel(sim)
        except StateError:  # it is closed
            pass

    def run(
        self, *, progress: ProgressLike = None, threads: int = 1, captures: Union[None, str, "os.PathLike[str]"] = None
    ) -> Result:
        """Simulate to the end, once.

        The run has a thread of its own, so that Ctrl-C is seen at once: it then raises Cancelled, whose `result` has
        the results so far; None if a hook of a policy in Python does not return, which nothing can end. `threads` of the
        library give the same results. Captures of the scenario are written into the folder `captures`, and not at all
        without it. Lines of what is done go to the logger "collwire".
        """
        shown = _shown(progress)
        number = whole("threads", threads, 0, 2**32 - 1)
        folder = None if captures is None else _folder(captures)
        self._check_owner()
        with self._sim as sim:
            self._begin()
            try:
                return self._run(sim, shown, max(1, number), folder)
            finally:
                self.close()

    def _begin(self) -> None:
        with self._lock:
            if self._begun:
                raise StateError(f"{self._what} has been run; a simulation can be run once")
            self._begun = True

    def _run(self, sim: int, shown: Optional[Callable[[Progress], Any]], threads: int, folder: Optional[str]) -> Result:
        messages = lib.Messages()
        if folder is not None:
            with messages.handle as reports:
                lib.sim_open_captures(sim, os.fsencode(folder), os.fsencode(folder), reports)
        LOG.info("%s (%s, seed %d): begins", self.name, self.policy, self.seed)
        self._worker = threading.Thread(target=self._work, args=(messages, threads), daemon=True, name="collwire")
        interrupted = self._wait(self._worker, shown)
        if self._left:
            raise Cancelled(f"{self.name}: interrupted; a hook of {self.policy} does not return, so there are no results")
        if self._failure is not None and not interrupted:
            raise self._failure
        result = self._result(sim)
        result.errors, _ = messages.take()
        LOG.info("%s: %s after %.2f s, %.0f packet-hops", result.name, result.status, result.wall_s, result.packet_hops)
        for error in result.errors:
            LOG.error("%s: %s", result.name, error)
        if interrupted:
            raise Cancelled(f"{result.name}: interrupted at {result.sim_time_ns / 1e3:.0f} us of simulated time", result)
        return result

    def _work(self, messages: lib.Messages, threads: int) -> None:
        """The thread of the run. It holds the simulation itself, since run() may have to leave it alone."""

        def on_progress(_ctx: Any, now: Any) -> int:
            p = now.contents
            self._progress = Progress(p.done, p.now_ps / 1e3, p.packet_hops, p.events)
            return 0

        own = threading.get_ident()
        try:
            hooks.ACTIVE[own] = self
            function = lib.PROGRESS(on_progress)
            run = lib.RunStruct(bytes=c.sizeof(lib.RunStruct), progress=function, progress_s=0.1, threads=threads)
            with self._sim as sim, messages.handle as reports:
                self._inside = True
                lib.sim_run(sim, c.byref(run), reports)
        except BaseException as error:  # pylint: disable=broad-except
            self._failure = self._failure or error  # which run() raises
        finally:
            hooks.ACTIVE.pop(own, None)
            self._ended.set()

    def _wait(self, worker: threading.Thread, shown: Optional[Callable[[Progress], Any]]) -> bool:
        """Start the run and wait for it, and show its progress from this thread; True if Ctrl-C has ended it."""
        interrupted = False
        try:
            worker.start()
        except KeyboardInterrupt:
            interrupted = True
            self.cancel()
        while not self._ended.is_set() and not self._left:
            try:
                if interrupted:
                    self._wait_for_end()
                else:
                    self._poll(shown)
            except KeyboardInterrupt:
                interrupted = True
                self.cancel()
            except BaseException:
                self.cancel()
                raise
        return interrupted

    def _poll(self, progress: Optional[Callable[[Progress], Any]]) -> None:
        """Wait for the end of the run. Not by join(): one that Ctrl-C interrupts marks a thread as ended (bpo-45274)."""
        shown: Optional[Progress] = None
        while not self._ended.wait(0.05):
            self._check_owner()  # `progress` may have forked, and the child has no thread that would end the run
            now = self._progress
            if progress is not None and now is not None and now is not shown:
                shown = now
                if progress(now) is False:
                    self.cancel()

    def _wait_for_end(self) -> None:
        """Wait for a run that is to end, and leave it alone if a hook in Python does not return."""
        if self._ended.wait(HOOK_S):
            return
        self._hooks_over = True
        thread = self._worker.ident if self._worker else None
        call = hooks.running(thread)
        if call is not None and thread is not None:
            hooks.raise_in(thread, KeyboardInterrupt)  # ends a loop; sleep() does not notice
        while not self._ended.wait(HOOK_S):
            if not self._inside or call is not None and hooks.running(thread) is call:
                self._left = True
                return
            call = hooks.running(thread)

    def _fail(self, error: BaseException) -> None:
        """A hook of a policy has raised an exception: the run ends, and run() raises it."""
        if self._failure is None:
            self._failure = error
        self._hooks_over = True
        self.cancel()

    def _result(self, sim: int) -> Result:
        summary = lib.SummaryStruct(bytes=c.sizeof(lib.SummaryStruct))
        lib.sim_summary(sim, c.byref(summary))
        files: Dict[str, str] = {}
        i = 0
        while True:
            name = lib.sim_file(sim, i)
            if name is None:
                break
            text = lib.sim_result(sim, name)
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
        """Free the simulation; results stay. A run ends, and its run() returns the results so far.

        Memory that a run still uses, as where Ctrl-C comes during this call, is freed when the run has ended.
        """
        if self._foreign():
            return
        self.cancel()
        self._sim.close()
        # Where a policy's hook closes its own simulation, the run can only end after it.
        if self._inside and not self._left and not hooks.inside():
            self._wait_for_end()

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _folder(captures: Union[str, "os.PathLike[str]"]) -> str:
    name = file_name("captures", captures)
    try:
        os.makedirs(name, exist_ok=True)
    except OSError as error:
        raise ScenarioError([Message("captures", f"the folder cannot be made: {error}")]) from None
    return name


def _shown(progress: ProgressLike) -> Optional[Callable[[Progress], Any]]:
    if progress is None or progress is False:
        return None
    return _line if progress is True else one_of("progress", progress, Callable, "True or a function")


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
