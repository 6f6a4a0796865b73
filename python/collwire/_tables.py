# SPDX-License-Identifier: MIT
"""Records of results as tidy tables: lists of flat dictionaries, and frames of pandas."""
from __future__ import annotations

import csv
import importlib
import io
import re
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Tuple

from collwire._errors import Error

if TYPE_CHECKING:
    import pandas

Row = Dict[str, Any]


class Values(Dict[str, Any]):
    """A dictionary of results whose keys are attributes too. Type checkers know those that a subclass names."""

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError:
                raise AttributeError(f'there is no "{name}"; there are {", ".join(map(str, self))}') from None

    def __dir__(self) -> List[str]:
        return sorted(set(super().__dir__()) | {key for key in self if key.isidentifier()})


class Record(Values):
    """A dictionary of results whose keys are attributes too: record.pfc.paused_ns is record["pfc"]["paused_ns"]."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def flat(record: Mapping[str, Any], before: str = "") -> Row:
    """A record without records in it: {"fct_ns": {"p99": 1}} becomes {"fct_ns.p99": 1}; lists stay as they are."""
    row: Row = {}
    for key, value in record.items():
        if isinstance(value, Mapping):
            row.update(flat(value, f"{before}{key}."))
        else:
            row[before + key] = value
    return row


def csv_rows(text: str) -> List[Row]:
    """The rows of a CSV with numbers as numbers and None for what is empty."""
    return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(io.StringIO(text))]


def number(text: Any) -> Any:
    """A text as an int or a float where it is one; None if it is empty."""
    if not isinstance(text, str):
        return text
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


_SIZES = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "": 1.0}
_TIMES = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def axis(path: str, value: Any) -> Tuple[str, Any]:
    """A varied value as a number, with the column's name, which has the unit, as in sweep.csv; others as they are."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(?:([KMGTP]?)(i?)(B|bps)|(ps|ns|us|ms|s))", str(value)) if isinstance(value, str) else None
    if not found:
        return path, value
    amount, prefix, binary, kind, time_unit = found.groups()
    if time_unit:
        unit, size = "ns", _TIMES[time_unit]
    else:
        steps = "KMGTP".index(prefix) + 1 if prefix else 0
        unit, size = ("bps" if kind == "bps" else "bytes"), 1024.0**steps if binary else _SIZES[prefix]
    name = path if re.search(rf"(^|[._]){unit}$", path) else f"{path}_{unit}"
    scaled = float(amount) * size
    return name, int(scaled) if scaled == int(scaled) else scaled


def has_pandas() -> bool:
    """True if pandas is installed."""
    try:
        importlib.import_module("pandas")
        return True
    except ImportError:
        return False


def frame(rows: Iterable[Row]) -> "pandas.DataFrame":
    """Rows as a DataFrame. Raises Error where pandas is not installed."""
    try:
        found = importlib.import_module("pandas")
    except ImportError:
        raise Error("pandas is not installed (pip install 'collwire[pandas]'); `rows` has the same as dictionaries") from None
    rows = list(rows)
    made = found.DataFrame(rows)
    for name in made.columns:  # a column of numbers in which some are unknown
        if made[name].dtype == object and all(row.get(name) is None or _is_number(row.get(name)) for row in rows):
            made[name] = found.to_numeric(made[name])
    return made


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
