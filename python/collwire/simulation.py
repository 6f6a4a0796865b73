# SPDX-License-Identifier: MIT
"""Scenarios read and checked by the library, and simulations of them."""
from __future__ import annotations

import contextlib
import ctypes as c
import json
import logging
import os
import sys
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from collwire import _catalogue as catalogue
from collwire import _library as lib
from collwire._errors import Cancelled, Message, ScenarioError, StateError
from collwire._object import Object, plain
from collwire._scenario_file import ScenarioFile
from collwire.result import Result

LOG = logging.getLogger("collwire")

ScenarioLike = Union[ScenarioFile, Mapping[str, Any], str, "os.PathLike[str]"]
"""A typed scenario, a dictionary in the form of the JSON, a file's name, or the JSON as text (which begins with "{")."""

_STATUS = ("completed", "incomplete", "interrupted")
_THREADS = 64  # of a run at most
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
    if not isinstance(name, str):
        raise TypeError(f"a scenario must be an object, a file's name or JSON as a str, not {type(name).__name__}")
    if "\0" in name:
        raise ScenarioError([Message("", "a scenario has a NUL character")])
    return (name, ".") if name.lstrip().startswith("{") else (None, name)


class Simulation:
    """A scenario that has been read, checked and built, and can be run once.

    Raises ScenarioError with all that is wrong. `set` changes keys by their paths: {"switch.buffer": "2MB"}. `sharers`
    simulations share the memory of the machine. A simulation is also a context manager, which frees it.

    What it is (name, seed, policy, resolved) can be read at any time; what needs the network (describe, advice, cost) not
    while it runs, and not after its run or close(). All else raises StateError: a second run, one in another process.
    """

    def __init__(
        self, scenario: ScenarioLike, *, set: Optional[Mapping[str, Any]] = None, seed: Optional[int] = None, sharers: int = 1
    ) -> None:
        self._scenario: Optional[int] = None
        self._sim: Optional[int] = None
        self._lock = threading.RLock()  # held while the library uses the handles, but for the run itself
        self._ended = threading.Event()  # the run is over in the library
        self._left = threading.Event()  # run() does not use the handles any more
        self._runner: Optional[int] = None  # the thread that called run()
        self._started = False
        self._process = os.getpid()
        self._abandoned = False
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
                        json_text = lib.encoded(text, "the scenario")
                        self._scenario = lib.scenario_parse(json_text, os.fsencode(where), array, n, catalogue.HANDLE, handle)
                if self._scenario:
                    self._sim = lib.sim_new(self._scenario, lib.count(sharers, "sharers", 1, 1 << 20), handle)
        except BaseException:
            self.close()
            raise
        self._name = str(lib.scenario_name(self._scenario).decode())
        self._seed = int(lib.scenario_seed(self._scenario))
        self._policy = lib.take_text(lib.scenario_policy(self._scenario))
        self._resolved = lib.scenario_json(self._scenario)
        self.warnings: List[Message] = messages.warnings
        for warning in self.warnings:
            LOG.warning("%s: %s", self.name, warning)

    # ---- what it is ----

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self._name

    @property
    def seed(self) -> int:
        """The seed of every random choice."""
        return self._seed

    @property
    def policy(self) -> str:
        """The policies of the outermost dimension, joined by "+"."""
        return self._policy

    @property
    def resolved(self) -> Dict[str, Any]:
        """The scenario with every default filled in."""
        return dict(json.loads(self._resolved))

    def describe(self) -> str:
        """What follows from the scenario, a line each: sizes, round-trip times, thresholds."""
        with self._idle() as sim:
            return lib.take_text(lib.sim_describe(sim))

    def advice(self) -> Dict[str, Any]:
        """Settings that the network does not suit, and the values of those that are "auto" (docs/validate.md)."""
        with self._idle() as sim:
            return dict(json.loads(lib.take_text(lib.sim_advice(sim))))

    @property
    def cost(self) -> Cost:
        """What the run is expected to need."""
        cost = lib.CostStruct(bytes=c.sizeof(lib.CostStruct))
        with self._idle() as sim:
            lib.sim_cost(sim, c.byref(cost))
        return Cost(cost.memory_bytes, cost.memory_limit_bytes, cost.output_bytes, cost.packet_hops, cost.wall_s)

    # ---- its state ----

    @contextlib.contextmanager
    def _idle(self) -> Iterator[Any]:
        """The handle of a simulation that is neither running nor closed, and stays so meanwhile."""
        self._check_process()  # before the lock, which another thread may have had at the fork
        with self._lock:
            if self._started:
                raise StateError("a simulation can be run once, and has then nothing but its results")
            if not self._sim:
                raise StateError("this simulation has been closed")
            yield self._sim

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StateError(f"this simulation belongs to process {self._process}: make another one in this process")

    def __copy__(self) -> "Simulation":
        raise TypeError("a Simulation cannot be copied: make another one of its scenario")

    def __deepcopy__(self, _memo: Any) -> "Simulation":
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise TypeError("a Simulation cannot be pickled: send its scenario")

    # ---- its run ----

    def cancel(self) -> None:
        """End the run with the results so far; from any thread, also before it has begun."""
        if os.getpid() != self._process:
            return
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
        threads = lib.count(threads, "threads", 1, _THREADS)
        shown = _shown(progress)
        if captures is not None:
            os.makedirs(captures, exist_ok=True)
        with self._idle():
            self._started = True
            self._runner = threading.get_ident()
        try:
            return self._run_once(shown, threads, captures)
        finally:
            self._left.set()
            self._free()

    def _run_once(
        self, progress: Optional[Callable[[Progress], Any]], threads: int, captures: Union[None, str, "os.PathLike[str]"]
    ) -> Result:
        messages = lib.Messages()
        worker: Optional[threading.Thread] = None
        try:
            if captures is not None:
                folder = os.fsencode(captures)
                lib.sim_open_captures(self._sim, folder, folder, messages.handle)
            LOG.info("%s (%s, seed %d): begins", self.name, self.policy, self.seed)
            worker = threading.Thread(target=self._work, args=(messages.handle, threads), daemon=True, name="collwire")
            interrupted = self._watch(worker, progress)
        finally:
            if worker is None or self._ended.is_set():
                errors, _ = messages.take()
        if self._failure is not None:
            raise self._failure
        result = self._result()
        result.errors = errors
        LOG.info("%s: %s after %.2f s, %.0f packet-hops", result.name, result.status, result.wall_s, result.packet_hops)
        for error in errors:
            LOG.error("%s: %s", result.name, error)
        if interrupted:
            raise Cancelled(f"{result.name}: interrupted at {result.sim_time_ns / 1e3:.0f} us of simulated time", result)
        return result

    def _work(self, messages: Any, threads: int) -> None:
        def on_progress(_ctx: Any, now: Any) -> int:
            p = now.contents
            self._progress = Progress(p.done, p.now_ps / 1e3, p.packet_hops, p.events)
            return 0

        try:
            _active[threading.get_ident()] = self
            function = lib.PROGRESS(on_progress)
            run = lib.RunStruct(bytes=c.sizeof(lib.RunStruct), progress=function, progress_s=0.1, threads=threads)
            lib.sim_run(self._sim, c.byref(run), messages)
        except BaseException as error:  # pylint: disable=broad-except
            self._failure = self._failure or error
        finally:
            _active.pop(threading.get_ident(), None)
            self._ended.set()  # whatever has happened, or run() would wait for ever

    def _watch(self, worker: threading.Thread, progress: Optional[Callable[[Progress], Any]]) -> bool:
        """Wait for the run, and show its progress from this thread; True if Ctrl-C has ended it."""
        interrupted = False
        try:
            worker.start()
        except RuntimeError:  # no thread can be made
            self._ended.set()
            raise
        while not self._ended.is_set():
            try:
                self._poll(progress)
            except KeyboardInterrupt:
                if interrupted:  # again: a policy's hook may never return. Its thread keeps the simulation.
                    self._abandoned = True
                    raise
                interrupted = True
                self.cancel()
            except BaseException:
                self.cancel()
                self._ended.wait()
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
        self.cancel()

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
        """Free the simulation; results stay. One that runs is ended first, and its run() returns the results so far."""
        if os.getpid() != self._process:
            return
        inside = threading.get_ident() == self._runner or _active.get(threading.get_ident()) is self
        if self._started and not self._left.is_set():
            self.cancel()
            if inside:  # from its own progress function, or a hook of its policy: run() frees it
                return
            self._left.wait()
        self._free()

    def _free(self) -> None:
        if self._abandoned or os.getpid() != self._process:
            return
        with self._lock:
            sim, scenario, self._sim, self._scenario = self._sim, self._scenario, None, None
            lib.sim_free(sim)
            if scenario:
                lib.scenario_free(scenario)

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_sim", None) or getattr(self, "_scenario", None):
            self._free()


def _shown(progress: ProgressLike) -> Optional[Callable[[Progress], Any]]:
    if progress is None or isinstance(progress, bool):
        return _line if progress else None
    if not callable(progress):
        raise TypeError(f"progress must be None, a bool or a function, not {type(progress).__name__}")
    return progress


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
