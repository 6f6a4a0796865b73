# SPDX-License-Identifier: MIT
"""Sets of results as `collwire` writes them: files in a folder, and run.json, which lists them with their digests."""
from __future__ import annotations

import hashlib
import json
import pathlib
from typing import Any, Dict, List, Mapping

from collwire import _library as lib


def write_set(folder: pathlib.Path, texts: Mapping[str, str], about: Mapping[str, Any]) -> None:
    """Write the files of a set, which `collwire` reads and may replace; files of an earlier set there are removed.

    `about` is what run.json says beside the list of files; versions, command and id are added where it has none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in _listed(folder):
        if name not in texts:
            (folder / name).unlink(missing_ok=True)
    (folder / "run.json").unlink(missing_ok=True)
    listed: List[Dict[str, Any]] = []
    for name, text in texts.items():
        data = text.encode("utf-8")
        (folder / name).write_bytes(data)
        listed.append({"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()})
    made: Dict[str, Any] = dict(about)
    made.setdefault("versions", {"collwire": lib.version()})
    made.setdefault("command", "collwire from Python")
    made.setdefault("id", hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:32])
    made["files"] = listed
    (folder / "run.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def _listed(folder: pathlib.Path) -> List[str]:
    """The names of the files of the set that is in the folder, without those that would lead out of it."""
    try:
        files = json.loads((folder / "run.json").read_text(encoding="utf-8"))["files"]
        return [file["name"] for file in files if pathlib.PurePath(file["name"]).name == file["name"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
