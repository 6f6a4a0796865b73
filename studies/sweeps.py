# SPDX-License-Identifier: MIT
"""Sweeps of a study: one scenario, the levels of one factor, ways to send, and seeds.

A way is a policy, and what of the transport and the switches belongs to it. `collwire sweep` varies policies within
one command; ways that need other settings besides have a command, and so a store, of their own. A store is resumed,
so that a second call makes only what is missing.
"""
import json
import pathlib
import shlex
import sqlite3
import subprocess
import typing
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
USAGE = 2  # exit code of collwire for what it does not accept


class Failed(Exception):
    """What a user of the study has to read; no fault of the study itself."""


class Way(typing.NamedTuple):
    """`cc`: the policy; `family`: name of the settings that go with it; `sets`: path -> value."""

    cc: dict
    family: str = "roce"
    sets: tuple = ()


class Axis(typing.NamedTuple):
    """A factor. `levels`: label -> {path: value}, the same paths in each."""

    title: str
    levels: dict


NO_AXIS = Axis("", {"": {}})


class Sweep(typing.NamedTuple):
    name: str
    scenario: str
    ways: dict
    seeds: tuple
    axis: Axis = NO_AXIS
    sets: tuple = ()

    def families(self):
        names = {}
        for label, way in self.ways.items():
            names.setdefault(way.family, []).append(label)
        return names

    def commands(self, binary, out):
        """(words, folder of the store) of each family."""
        for family, labels in self.families().items():
            sets = {**dict(self.sets), **dict(self.ways[labels[0]].sets)}
            words = [str(binary), "sweep", f"scenarios/{self.scenario}.json"]
            for path, value in sets.items():
                words += ["--set", f"{path}={text(value)}"]
            levels = list(self.axis.levels.values())
            if levels[0]:
                words += [
                    "--vary",
                    ";".join(f"{path}={','.join(text(level[path]) for level in levels)}" for path in levels[0]),
                ]
            words += [
                "--vary",
                "seed=" + ",".join(map(str, self.seeds)),
                "--vary",
                "cc=" + ",".join(text(self.ways[label].cc) for label in labels),
            ]
            yield words, pathlib.Path(out) / self.name / family

    def points(self):
        return len(self.axis.levels) * len(self.ways) * len(self.seeds)

    def run(self, binary, out, jobs, shard=None):
        for words, folder in self.commands(binary, out):
            extra = ["--jobs", str(jobs), "--out", str(folder), "--quiet"] + (["--shard", shard] if shard else [])
            call(words + extra, lambda: all_ended(folder))

    def merge(self, binary, parts, out):
        for family in self.families():
            folders = [str(pathlib.Path(part) / self.name / family) for part in parts]
            words = [str(binary), "sweep", "--merge", *folders, "--out", str(pathlib.Path(out) / self.name / family)]
            call(words)

    def results(self, out):
        """(level, way, seed, metrics) of each point, in the order of the sweep."""
        for family, labels in self.families().items():
            ways = {text(self.ways[label].cc): label for label in labels}
            levels = {
                json.dumps({path: text(value) for path, value in level.items()}, sort_keys=True): label
                for label, level in self.axis.levels.items()
            }
            store = pathlib.Path(out) / self.name / family / "results.sqlite"
            base = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
            rows = base.execute("select varied, metrics from points where varied <> '{}' order by position")
            for varied, packed in rows:
                varied = json.loads(varied)
                way, seed = ways[varied.pop("cc")], int(varied.pop("seed"))
                yield levels[json.dumps(varied, sort_keys=True)], way, seed, json.loads(zlib.decompress(packed))
            base.close()


def call(words, accepts=lambda: False):
    """Runs collwire; `accepts`: whether what it left will do although it failed, unless it did not accept the words."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == USAGE or done.returncode != 0 and not accepts():
        raise Failed(f"{done.stderr.rstrip()}\nfrom: {shlex.join(words)}")


def all_ended(folder):
    """Whether all points of a sweep have a result; one that is incomplete (a message whose retries were used up) is a result too."""
    store = folder / "results.sqlite"
    if not store.exists():
        return False
    base = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    states = {status for status, in base.execute("select status from runs")}
    base.close()
    return states <= {"completed", "incomplete"}


def text(value):
    """A value as --set and --vary take it."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
