# SPDX-License-Identifier: MIT
"""The tables of a metrics.json: every list of records within it as rows without nesting.

A table has the path of its list as its name, such as "collectives.phases". A list within the records of another list becomes
one table, whose first columns say to which record each row belongs: the number of that record, from 0, and its words that
name it ("collectives.row", "collectives.name"). What is in no list is one row, the table "summary". Names and units of all
other columns are those of docs/metrics.md.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Tuple

from collwire._tables import Row
from collwire.metrics import LISTS

SUMMARY, CRITICAL_PATH, RUN = "summary", "critical_path", "run"
_NAMING = ("job", "name", "id", "rank", "iteration")  # keys of a record by which rows of inner tables name it
_LIKE_LISTS = ("training",)  # objects that are one record of a list (several are in `jobs`)
_PARTS = {  # where the times of a critical path are: table -> the column before which they stand, and the column of their sum
    "flows": ("time.", ""),
    "collectives": ("critical.parts.", "critical.total_ns"),
    "collectives.phases": ("critical.parts.", "critical.total_ns"),
    "slowest.iterations": ("parts.", "total_ns"),
}
_SERIES = ("queue_bytes", "rate_bps", "cwnd_bytes", "paused", "observe")
_OTHER_LISTS = (  # which docs/metrics.md does not write as lists
    "flows_summary.fct_ns_histogram",
    "flows_summary.slowdown_histogram",
    "jobs.servers.by_staleness",
    "reasons.set",
)
NAMES = frozenset((SUMMARY, CRITICAL_PATH, RUN, *LISTS, *_OTHER_LISTS, *(f"series.{kind}" for kind in _SERIES)))
"""The names of all tables that a run may have, apart from files."""

Tables = Dict[str, List[Row]]


def tables_of(metrics: Mapping[str, Any]) -> Tables:
    """All tables of a metrics.json that have rows, in its order."""
    made: Tables = {SUMMARY: []}
    record = {key: value for key, value in metrics.items() if key not in ("scenario", "series")}
    training = [job["training"] for job in metrics.get("jobs") or [] if job.get("training")]
    if training:  # where several jobs train
        record["training"] = training
    record["jobs"] = [{key: value for key, value in job.items() if key != "training"} for job in metrics.get("jobs") or []]
    _add_record(made, SUMMARY, "", {}, record)
    made[CRITICAL_PATH] = _critical_path(made)
    made.update(_series(metrics.get("series") or {}))
    return {name: rows for name, rows in made.items() if rows}


def machine_tables_of(about: Mapping[str, Any]) -> Tables:
    """The tables of a run.json: "run", a row, and its lists as "run.captures" and the like."""
    made: Tables = {}
    if about:
        _add_record(made, RUN, f"{RUN}.", {}, about)
    return {name: rows for name, rows in made.items() if rows}


def _add_record(made: Tables, table: str, path: str, owner: Row, record: Mapping[str, Any]) -> None:
    """Add a record as a row of a table, and the lists within it as tables of their own, whose names begin with `path`."""
    row: Row = dict(owner)
    rows = made.setdefault(table, [])
    rows.append(row)
    inner = owner if table in (SUMMARY, RUN) else _owner(table, len(rows) - 1, record)
    _fill(made, row, "", path, inner, record)


def _fill(made: Tables, row: Row, before: str, path: str, owner: Row, record: Mapping[str, Any]) -> None:
    for key, value in record.items():
        inside = f"{path}{before}{key}"
        if _is_lists(value):
            _add(made, inside, owner, [dict(zip(value, items)) for items in zip(*value.values())])
        elif isinstance(value, Mapping) and inside not in _LIKE_LISTS:
            _fill(made, row, f"{before}{key}.", path, owner, value)
        elif isinstance(value, Mapping):
            _add(made, inside, owner, [value])
        elif isinstance(value, list):
            _add(made, inside, owner, [item if isinstance(item, Mapping) else {"index": i, key: item} for i, item in enumerate(value)])
        else:
            row[before + key] = value


def _add(made: Tables, table: str, owner: Row, records: Iterable[Mapping[str, Any]]) -> None:
    for record in records:
        _add_record(made, table, f"{table}.", owner, record)


def _owner(table: str, number: int, record: Mapping[str, Any]) -> Row:
    """The columns by which rows of inner tables name a record: of the innermost list alone, whose rows name the next."""
    named = {f"{table}.{key}": record[key] for key in _NAMING if not isinstance(record.get(key, []), (list, Mapping))}
    return {f"{table}.row": number, **named}


def _is_lists(value: Any) -> bool:
    """True for columns of equal length, as histograms are."""
    if not isinstance(value, Mapping) or not value or not all(isinstance(column, list) for column in value.values()):
        return False
    return len({len(column) for column in value.values()}) == 1


def _critical_path(made: Tables) -> List[Row]:
    """Where the time went, a row a cause: of the run, and of all records that have it."""
    summary = made[SUMMARY][0]
    rows = list(_causes("slowest", 0, summary.get("slowest.name"), summary, "slowest.parts.", summary.get("slowest.total_ns")))
    for table, (before, total) in _PARTS.items():
        for number, record in enumerate(made.get(table, [])):
            named = [record.get(key) for key in ("name", "id", "iteration", "dim") if key in record]
            rows += _causes(table, number, named[0] if named else None, record, before, record.get(total))
    return rows


def _causes(table: str, number: int, name: Any, record: Row, before: str, total: Any) -> Iterator[Row]:
    times = {key[len(before) :]: value for key, value in record.items() if key.startswith(before) and value is not None}
    total = total if isinstance(total, (int, float)) else sum(times.values())
    for key, value in times.items():
        share = value / total if total else None
        yield {"of": table, "row": number, "name": name, "cause": key[: -len("_ns")], "ns": value, "share": share}


# ---- series ----


def _series(series: Mapping[str, Any]) -> Tables:
    """`series` as tables: a row for each sample of each place or queue pair."""
    times = series.get("t_ns", [])
    made: Tables = {}
    for kind, lines in series.items():
        if kind == "t_ns":
            continue
        key: Tuple[str, Callable[[str], Any]] = ("at", str) if kind in ("queue_bytes", "paused") else ("qp", int)
        rows: List[Row] = []
        for name, line in lines.items():
            fields = line.items() if isinstance(line, Mapping) else [(None, line)]
            for field, values in fields:
                extra = {} if field is None else {"name": field}
                rows += [{"t_ns": t, key[0]: key[1](name), **extra, kind: value} for t, value in zip(times, values)]
        made[f"series.{kind}"] = rows
    return made
