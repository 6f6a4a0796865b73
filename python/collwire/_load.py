# SPDX-License-Identifier: MIT
"""Results that are on the disk."""
from __future__ import annotations

import os
import pathlib
from typing import Union

from collwire._arguments import file_name
from collwire._errors import Error
from collwire._results_folder import Folder
from collwire.comparison import Comparison, load_comparison, load_run
from collwire.result import Result
from collwire.sweeps import Sweep, load_sweep


def load(path: Union[str, "os.PathLike[str]"]) -> Union[Result, Comparison, Sweep]:
    """The results of `collwire run`, `compare` or `sweep`: their folder, a metrics.json, or a results.sqlite."""
    where = pathlib.Path(file_name("path", path))
    if where.is_file():
        if where.suffix == ".sqlite" and where.name == "results.sqlite":
            return load_sweep(where.parent)
        try:
            result = Result({"metrics.json": where.read_text(encoding="utf-8")})
            result.metrics  # is read, and checked
        except (UnicodeDecodeError, Error) as error:
            raise Error(f"{os.fspath(path)}: {error}") from None
        return result
    if (where / "metrics.json").exists():
        return load_run(where)
    if (where / "compare.json").exists():
        return load_comparison(Folder(where))
    if (where / "results.sqlite").exists():
        return load_sweep(where)
    raise Error(f"{os.fspath(path)}: there are no results of collwire run, compare or sweep")
