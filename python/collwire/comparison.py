# SPDX-License-Identifier: MIT
"""Comparisons of policies, or of values of a key, over seeds: `collwire compare` (docs/compare.md)."""
from __future__ import annotations

import html
import itertools
import json
import os
import pathlib
import re
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Type, Union

from collwire import _charts as charts
from collwire import _library as lib
from collwire import _program as program
from collwire._arguments import file_name, one_of, utf8, whole
from collwire._errors import ArgumentError, Cancelled, Error, Message, ScenarioError
from collwire._handle import Handle
from collwire._result_set import write_set
from collwire._results_folder import Folder, scenario_file
from collwire._tables import Row, axis, flat, frame, number
from collwire.policy import Policy, name_of
from collwire.result import Report, Result, report_of
from collwire.simulation import ScenarioLike, run, setting_text, settings_of

if TYPE_CHECKING:
    import pandas

PolicyLike = Union[str, Type[Policy]]
"""A policy by name, with a preset or settings ("dcqcn:khan2022", "window{k=0.5}"), or one written in Python."""
DRAWS_KEYS = ("median", "p10", "p90", "order_holds", "n", "slower", "same", "faster", "moved_by")
RunsProgress = Union[None, bool, Callable[[program.RunsDone], Any]]
"""True shows a line on stderr; a function is called with the number of runs that have ended."""


def show(progress: RunsProgress) -> Optional[Callable[[program.RunsDone], Any]]:
    """What is called to show progress."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return lambda p: print(f"\r{p.done} of {p.total} done, {p.running} running ", end="", file=sys.stderr, flush=True)
    return one_of("progress", progress, Callable, "True or a function")  # type: ignore[no-any-return]


def search_options(
    command: str,
    counts: Mapping[str, Optional[int]],
    set: Optional[Mapping[str, Any]],
    out: Union[None, str, "os.PathLike[str]"],
    progress: RunsProgress,
) -> List[str]:
    """What the commands that search by runs, tune and diagnose, have in common."""
    options = [command, "--format=json"]
    for name, value in counts.items():
        options += count_option(name, 0 if value is None else value, 0)
    options += [f"--set={path}={value}" for path, value in settings_of(set, None)]
    options += [f"--out={os.path.abspath(file_name('out', out))}"] if out is not None else []
    return [*options, *(["--progress=always"] if progress else [])]


def search_document(arguments: Sequence[str], progress: RunsProgress, what: str) -> Any:
    """Run such a command: the JSON that it prints."""
    try:
        done = program.Command(list(arguments)).wait(show(progress))
    except KeyboardInterrupt:
        raise Cancelled(f"{what} was interrupted") from None
    if done.returncode not in (0, 1) or not done.stdout.strip():
        program.raise_of(done)
    return json.loads(done.stdout)


def list_text(values: Sequence[Any]) -> str:
    """Values as the program divides them: at commas outside of brackets and quotes."""
    texts = [setting_text(value) for value in values]
    return ",".join(json.dumps(text) if "," in text and text[:1] not in "{[" else text for text in texts)


def axis_text(path: Any, values: Any) -> str:
    """An axis as --vary takes it. A tuple of paths advances together, with a tuple of values at each point."""
    if isinstance(path, tuple):
        lists = [[point[i] for point in values] for i in range(len(path))]
        return ";".join(f"{one}={list_text(column)}" for one, column in zip(path, lists))
    return f"{path}={list_text(list(values))}"


def scenario_list(scenario: Any) -> List[Any]:
    """One scenario or several as a list, not empty."""
    found = list(scenario) if isinstance(scenario, (list, tuple)) else [scenario]
    if not found:
        raise ScenarioError([Message("scenario", "the list is empty")])
    return found


def policy_list(policies: Any) -> List[PolicyLike]:
    """Policies as a list: names, and classes that are written in Python."""
    given = one_of("policies", [] if policies is None else policies, Iterable, "a list of policies")
    if isinstance(given, (str, bytes)):
        raise ArgumentError([Message("policies", f"a list is expected, as [{given!r}]")])
    return [one_of("policies", policy, (str, type), "the name or the class of a policy") for policy in given]


def vary_options(vary: Any) -> List[str]:
    """The axes as options."""
    given = one_of("vary", {} if vary is None else vary, Mapping, "a dictionary of paths and lists of values")
    found = []
    for path, values in given.items():
        for one in path if isinstance(path, tuple) else [path]:
            utf8("vary", one)
        listed = one_of(f"vary {path}", values, Iterable, "a list of values")
        found.append(f"--vary={axis_text(path, listed)}")
    return found


def arguments_of(
    set: Optional[Mapping[str, Any]],
    seed: Optional[int],
    seeds: int,
    jobs: Optional[int],
    threads: int,
) -> List[str]:
    """The options that comparisons and sweeps share."""
    found = [f"--set={path}={value}" for path, value in settings_of(set, None)]
    found += [f"--seed={whole('seed', seed, 0, 2**64 - 1)}"] if seed is not None else []
    found += count_option("seeds", seeds, 1)
    return found + count_option("jobs", 0 if jobs is None else jobs, 0) + count_option("threads", threads, 1)


def count_option(name: str, value: Any, default: int) -> List[str]:
    """An option that takes a number, unless it has its default."""
    number = whole(name, value, 0, 2**32 - 1)
    return [f"--{name}={number}"] if number != default else []


class Comparison:
    """The runs of a comparison. `rows` has a row a run (and a job), `statistics` a record a policy or value.

    `status` is "completed", "incomplete" if a run did not complete, or "interrupted". The runs themselves are read from
    their folder when they are asked for.
    """

    def __init__(self, folder: Folder, document: Mapping[str, Any], status: str) -> None:
        self._folder = folder
        self.status = status
        self.document: Dict[str, Any] = dict(document)
        self.name = str(document["name"])
        self.baseline: Optional[str] = document.get("baseline")
        self.statistics: List[Row] = [flat(record) for record in document.get("statistics", [])]
        self.rows: List[Row] = [_row(row, "draws_n" in document) for row in document["rows"]]
        self._own: Dict[Any, Result] = {}

    @property
    def folder(self) -> pathlib.Path:
        """Where the results are; a temporary folder unless `out` named one."""
        return self._folder.path

    def frame(self) -> "pandas.DataFrame":
        """The rows as a DataFrame; units stand at the ends of the columns' names."""
        return frame(self.rows)

    def statistics_frame(self) -> "pandas.DataFrame":
        """Mean, median, interval and ratio to the baseline of every metric, a row a policy or value."""
        return frame(self.statistics)

    @property
    def names(self) -> List[str]:
        """The policies, or values, in order."""
        return list(dict.fromkeys(str(row["name"]) for row in self.rows))

    @property
    def assumptions(self) -> List[Row]:
        """What was drawn, with its range, its source and how far it moves the ratios, the largest first; empty without draws."""
        return [dict(one) for one in self.document.get("assumptions", [])]

    @property
    def draws(self) -> List[Row]:
        """Every draw: the values of its assumptions, and the time of each row; empty without draws."""
        return [flat(one) for one in self.document.get("draws", [])]

    @property
    def best(self) -> Optional[str]:
        """The policy, or value, with the least time."""
        found = [record for record in self.document.get("statistics", []) if record.get("best") and not record.get("job")]
        return str(found[0].get("name", found[0]["cc"])) if found else None

    def result(self, name: str, seed: Optional[int] = None, scenario: Optional[str] = None) -> Result:
        """The run of a policy or value; of the first seed and scenario unless they are given."""
        for row in self.rows:
            if row["name"] == name and not row["job"] and seed in (None, row["seed"]) and scenario in (None, row["scenario"]):
                return self._result(row)
        raise KeyError(f'there is no run of "{name}" with seed {seed}; there are {", ".join(self.names)}')

    def _result(self, row: Row) -> Result:
        key = (row["scenario"], row["name"], row["seed"])
        if key not in self._own:
            several = len({one["seed"] for one in self.rows}) > 1
            leaf = leaf_of(str(row["name"]), row["seed"] if several else None)
            self._own[key] = load_run(self.folder / str(row["scenario"]) / leaf, str(row["policy"]))
        return self._own[key]

    def results(self) -> List[Result]:
        """All runs, in the order of the rows."""
        return [self._result(row) for row in self.rows if not row["job"]]

    def records(self, table: str) -> List[Row]:
        """A table of all runs that have results (Result.records); the first columns say which run a row is of."""
        found: List[Row] = []
        for row in self.rows:
            if row["job"] or row["status"] == "failed":
                continue
            run_is = {key: row[key] for key in itertools.takewhile(lambda key: key != "job", row)}
            found += [{**run_is, **record} for record in prefixed(self._result(row).records(table), table, run_is)]
        return found

    def table(self, table: str) -> "pandas.DataFrame":
        """The same as a DataFrame."""
        return frame(self.records(table))

    def report(self) -> Report:
        """The page of charts (docs/report.md)."""
        return report_of(self.folder)

    def chart(self, metric: str = "") -> charts.Chart:
        """A bar for each policy or value: the mean of a metric over seeds; by default of what the scenario is about."""
        metric = metric or str((self.document.get("statistics") or [{}])[0].get("headline", "sim_time_ns"))
        bars = []
        for name in self.names:
            values = [row[metric] for row in self.rows if row["name"] == name and not row["job"] and row[metric] is not None]
            if values:
                bars.append((name, [charts.Part(metric, sum(values) / len(values))]))
        return charts.stacked(f"{self.name}: {metric}, mean over seeds", bars, lambda value: charts.value_text(metric, value))

    def __repr__(self) -> str:
        return f"<Comparison {self.name}: {', '.join(self.names)}: {self.status}>"

    def _repr_html_(self) -> str:
        columns = [key for key in self.rows[0] if any(row[key] is not None for row in self.rows)] if self.rows else []
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(str(row[key]))}</td>" for key in columns) + "</tr>" for row in self.rows[:50])
        return f"{self.chart().svg}<table><tr>{head}</tr>{body}</table>"


def prefixed(records: Sequence[Row], table: str, taken: Mapping[str, Any]) -> List[Row]:
    """Records whose columns do not collide with those that say of which run they are: `name` of a flow becomes `flows.name`."""
    return [{(f"{table}.{key}" if key in taken else key): value for key, value in record.items()} for record in records]


def _row(row: Mapping[str, Any], drawn: bool = False) -> Row:
    """A row of compare.json as one of compare.csv, with the name of its policy or value, and numbers on varied paths.

    `drawn`: the comparison has draws; those of the baseline and of jobs are None."""
    made: Row = {"scenario": row["scenario"], "name": row.get("name", row["cc"])}
    made.update(axis(path, number(value)) for path, value in row.get("vary", {}).items())
    made["policy"] = row["cc"]
    made.update({key: value for key, value in row.items() if key not in ("scenario", "name", "vary", "cc", "explain", "draws")})
    made.update({f"draws.{key}": (row.get("draws") or {}).get(key) for key in DRAWS_KEYS} if drawn else {})
    return made


def load_run(folder: pathlib.Path, policy: str = "") -> Result:
    """The results of a run in a folder."""
    if not (folder / "metrics.json").exists():
        raise Error(f"{folder}: there are no results of a run")
    texts = [file for file in sorted(folder.iterdir()) if file.is_file() and file.suffix in (".json", ".csv")]
    files = {file.name: file.read_text(encoding="utf-8") for file in texts}
    return Result(files, policy=policy)


def load_comparison(folder: Folder) -> Comparison:
    """The results of a comparison in a folder."""
    document = json.loads((folder.path / "compare.json").read_text(encoding="utf-8"))
    complete = all(row["status"] == "completed" for row in document["rows"])
    return Comparison(folder, document, "completed" if complete else "incomplete")


def compare(
    scenario: Union[ScenarioLike, Sequence[ScenarioLike]],
    policies: Optional[Sequence[PolicyLike]] = None,
    *,
    seeds: int = 1,
    draws: int = 0,
    vary: Optional[Mapping[Any, Sequence[Any]]] = None,
    baseline: Optional[str] = None,
    set: Optional[Mapping[str, Any]] = None,
    seed: Optional[int] = None,
    out: Union[None, str, "os.PathLike[str]"] = None,
    jobs: Optional[int] = None,
    threads: int = 1,
    progress: RunsProgress = None,
) -> Comparison:
    """Run scenarios under several policies and seeds, each run in a process of its own, `jobs` at a time.

    `policies` may have presets and settings ("window{k=0.5}"), or be ["all"]. `vary` has one axis: values of a key in
    place of policies, or each under each policy. With `draws`, all rows are run again under so many draws of what the
    scenario leaves open; `draws` of the rows, `assumptions` and `draws` say how far the ratios move (docs/compare.md).
    Results are kept in `out`, else as long as the comparison that is
    returned. Ctrl-C raises Cancelled, whose `result` is the comparison of the runs that have ended.
    Policies written in Python run in this process, one run after the other; `jobs` has no effect then.
    """
    scenarios, given = scenario_list(scenario), policy_list(policies)
    own = [policy for policy in given if isinstance(policy, type)]
    if own:
        if vary or draws or len(scenarios) > 1:
            raise Error("policies written in Python are compared in one scenario, without `vary` and `draws`: call compare() for each")
        runs = _Runs(scenarios[0], set, seed, show(progress))
        return runs.compare(given, max(1, whole("seeds", seeds, 0, 2**32 - 1)), baseline, Folder(out), threads)
    named = [str(policy) for policy in given]
    arguments = ["compare", *arguments_of(set, seed, seeds, jobs, threads), "--quiet", "--format=json"]
    arguments += ["--cc=" + ",".join(named)] if named else []
    arguments += count_option("draws", draws, 0)
    arguments += vary_options(vary)
    arguments += [f"--baseline={one_of('baseline', baseline, str, 'a str')}"] if baseline is not None else []
    arguments += ["--progress=always"] if progress else []
    return _run_program(scenarios, arguments, Folder(out), progress)


def _run_program(scenarios: Sequence[Any], arguments: List[str], folder: Folder, progress: RunsProgress) -> Comparison:
    if scenarios[1:]:
        with scenario_file(scenarios[0]) as file:
            return _run_program(scenarios[1:], arguments + [file], folder, progress)
    with scenario_file(scenarios[0]) as file:
        command = program.Command([*arguments, file, f"--out={folder.path.absolute()}"])
        try:
            done = command.wait(show(progress))
        except KeyboardInterrupt:
            kept = load_comparison(folder) if (folder.path / "compare.json").exists() else None
            if kept is not None:
                kept.status = "interrupted"
            raise Cancelled("the comparison was interrupted", kept) from None  # type: ignore[arg-type]
    if done.returncode not in (0, 1):
        program.raise_of(done)
    if not (folder.path / "compare.json").exists():
        program.raise_of(done)
    return load_comparison(folder)


class _Runs:
    """The runs of a comparison in this process, as policies written in Python need it."""

    def __init__(
        self,
        scenario: ScenarioLike,
        set: Optional[Mapping[str, Any]],
        seed: Optional[int],
        shown: Optional[Callable[[program.RunsDone], Any]],
    ) -> None:
        self._scenario, self._set, self._seed, self._shown = scenario, dict(set or {}), seed, shown
        self._results: List[Tuple[str, Result]] = []

    def compare(
        self, policies: Sequence[PolicyLike], seeds: int, baseline: Optional[str], folder: Folder, threads: int
    ) -> Comparison:
        """Run every policy with every seed, and write what `collwire compare` writes."""
        choices = [_choice(policy) for policy in policies]
        names = [name for name, _ in choices]
        if baseline is not None and baseline not in names:
            raise ScenarioError([Message("--baseline", f'"{baseline}" is not one of the policies that are compared')])
        if len({*names}) < len(names):
            raise ScenarioError([Message("policies", "a policy is named twice")])
        total, interrupted = len(choices) * seeds, None
        try:
            for name, cc in choices:
                for i in range(seeds):
                    if self._shown:
                        self._shown(program.RunsDone(len(self._results), total, 1))
                    self._results.append((name, self._run(cc, i, threads)))
            if self._shown:
                self._shown(program.RunsDone(total, total, 0))
        except Cancelled as ended:
            interrupted = ended
        if interrupted is not None and not self._results:
            raise Cancelled("the comparison was interrupted") from None
        self._write(folder.path, seeds > 1, baseline if baseline in [name for name, _ in self._results] else None)
        found = load_comparison(folder)
        if interrupted is not None:
            found.status = "interrupted"
            raise Cancelled("the comparison was interrupted", found) from None  # type: ignore[arg-type]
        return found

    def _run(self, cc: Mapping[str, Any], number: int, threads: int) -> Result:
        result = run(self._scenario, set={**self._set, "cc": cc}, seed=None if self._seed is None else self._seed + number, threads=threads)
        self._seed = result.seed if self._seed is None else self._seed
        return result

    def _write(self, folder: pathlib.Path, several: bool, baseline: Optional[str]) -> None:
        own = Handle("the comparison", lib.comparison_new(), lib.comparison_free)
        with own as pointer:
            for name, result in self._results:
                result.save(folder / result.name / leaf_of(name, result.seed if several else None))
                lib.comparison_add(pointer, name.encode(), result.files["metrics.json"].encode())
            first = None if baseline is None else baseline.encode()
            texts = {file: lib.take_text(lib.comparison_result(pointer, first, file.encode())) for file in ("compare.json", "compare.csv")}
        own.close()
        write_set(folder, texts, {})


def _choice(policy: PolicyLike) -> Tuple[str, Dict[str, Any]]:
    """The name of a policy, and its `cc` object."""
    name = name_of(policy) if isinstance(policy, type) else policy
    if not re.fullmatch(r"\w+(:\w+)?", name):
        raise ScenarioError([Message("policies", f'"{name}": beside policies written in Python others have no settings')])
    kind, _, preset = name.partition(":")
    return name, {"kind": kind, **({"preset": preset} if preset else {})}


def leaf_of(name: str, seed: Optional[int]) -> str:
    """The folder of a run within that of its scenario; `seed` is None where there is one."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).rstrip("-") + (f"-seed{seed}" if seed is not None else "")
