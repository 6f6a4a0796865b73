# SPDX-License-Identifier: MIT
"""The program `collwire`, for what many processes do: comparisons, sweeps, plans; and for pages of charts."""
from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from typing import Callable, List, NamedTuple, Optional, Sequence

from collwire import _catalogue as catalogue
from collwire._arguments import file_name
from collwire._errors import Message, ProgramError, ScenarioError, message_of
from collwire._handle import Owned
from collwire._library import NATIVE

LOG = logging.getLogger("collwire")

_PROGRESS = re.compile(r"(\d+) of (\d+) \w+ done, (\d+) running")
_PREFIX = "collwire: "


class RunsDone(NamedTuple):
    """How many of the runs of a comparison, a sweep or a plan have ended."""

    done: int
    total: int
    running: int


class Done(NamedTuple):
    """A command that has ended."""

    returncode: int
    stdout: str
    stderr: str


def path() -> str:
    """The program: that of the environment variable COLLWIRE, of the wheel, or of PATH."""
    named = os.environ.get("COLLWIRE")
    bundled = NATIVE / "bin" / "collwire"
    found = named or (str(bundled) if bundled.exists() else shutil.which("collwire"))
    if not found:
        raise ProgramError("the program collwire is not found; COLLWIRE may name it")
    return found


class Command(Owned):
    """A command of the program that runs in a process of its own."""

    def __init__(self, arguments: Sequence[str], stdin: Optional[str] = None, folder: Optional[str] = None) -> None:
        self._own()
        self._what = f"collwire {arguments[0]}"
        for argument in filter(None, arguments):
            file_name("argument", argument)  # which may have bytes that are no UTF-8
        plugins = [f"--cc-plugin={file}" for file in catalogue.PLUGIN_FILES] if arguments[0] in ("compare", "sweep") else []
        # Its stdin is a pipe that nothing is written to: when this process ends, even by SIGKILL, the program ends too, with
        # the results so far. A child that was forked without exec() keeps the pipe open.
        ends = ["--end-with-stdin"] if arguments[0] in ("compare", "sweep", "plan") else []
        self.progress: Optional[RunsDone] = None
        self._texts = {"stdout": "", "stderr": ""}
        # A session of its own, so that a terminal's Ctrl-C reaches it through interrupt() alone, once.
        self._process = subprocess.Popen(
            [path(), *arguments, *plugins, *ends],
            stdin=subprocess.PIPE if stdin is not None or ends else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            start_new_session=True,
        )
        self._readers = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        LOG.debug("collwire %s", " ".join(arguments))
        for reader in self._readers:
            reader.start()
        if stdin is not None and self._process.stdin is not None:
            try:
                self._process.stdin.write(stdin.encode())
                self._process.stdin.close()
            except BrokenPipeError:
                pass

    def _read_stdout(self) -> None:
        assert self._process.stdout is not None
        self._texts["stdout"] = self._process.stdout.read().decode("utf-8", "replace")

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        kept: List[str] = []
        rest = ""
        while True:
            chunk = os.read(self._process.stderr.fileno(), 65536)
            if not chunk:
                break
            *lines, rest = re.split(r"[\r\n]", rest + chunk.decode("utf-8", "replace"))
            for line in lines + [rest]:
                found = _PROGRESS.search(line)
                if found:
                    self.progress = RunsDone(*(int(group) for group in found.groups()))
            kept += lines
        texts = (line.replace("\x1b[K", "").strip() for line in kept + [rest] if not _PROGRESS.search(line))
        self._texts["stderr"] = "\n".join(text for text in texts if text)

    @property
    def running(self) -> bool:
        """False when it has ended."""
        self._check_owner()
        return self._process.poll() is None

    def interrupt(self) -> None:
        """End it as Ctrl-C does: it keeps the results so far."""
        if self.running:
            self._process.send_signal(signal.SIGINT)

    def _poll(self, progress: Optional[Callable[[RunsDone], None]]) -> None:
        shown: Optional[RunsDone] = None
        while True:
            try:
                self._process.wait(0.05)
                return
            except subprocess.TimeoutExpired:
                pass
            if progress is not None and self.progress is not None and self.progress != shown:
                shown = self.progress
                progress(shown)

    def wait(self, progress: Optional[Callable[[RunsDone], None]] = None) -> Done:
        """Wait for its end. Ctrl-C ends it, and is raised again when it has ended."""
        self._check_owner()
        interrupted = False
        while self._process.returncode is None:
            try:
                self._poll(progress)
            except KeyboardInterrupt:
                interrupted = True
                self.interrupt()
        for reader in self._readers:
            reader.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        if interrupted:
            raise KeyboardInterrupt
        return Done(self._process.returncode, self._texts["stdout"], self._texts["stderr"])


def raise_of(done: Done) -> None:
    """Raise what a command has reported: ScenarioError for what is wrong with its input, else ProgramError."""
    lines = [line[len(_PREFIX) :] if line.startswith(_PREFIX) else line for line in done.stderr.split("\n") if line]
    if done.returncode == 2:
        raise ScenarioError([message_of(line) for line in lines] or [Message("", "the program refused its input")])
    raise ProgramError("\n".join(lines) or f"collwire ended with {done.returncode}", done.returncode)


def must(arguments: Sequence[str], stdin: Optional[str] = None, folder: Optional[str] = None) -> str:
    """Run a command that has to succeed; returns what it prints."""
    done = Command(arguments, stdin, folder).wait()
    if done.returncode != 0:
        raise_of(done)
    return done.stdout


def main() -> None:
    """The command `collwire` of a wheel: the bundled program takes the place of this process."""
    os.execv(path(), ["collwire", *sys.argv[1:]])
