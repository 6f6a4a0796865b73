# SPDX-License-Identifier: MIT
"""collwire from Python, over ctypes: scenarios in, metrics as dictionaries and pandas tables out.

    import collwire
    metrics = collwire.run("job.json", cc="dcqcn", **{"workload.bytes": "64MB"})
    table = collwire.compare("job.json", cc=["none", "dcqcn", "swift"], seed=[1, 2, 3])

The library is that of the environment variable COLLWIRE_LIBRARY, or the installed one. Runs in several
threads use several cores: Python's lock is free while a simulation runs.
"""
import ctypes as c
import ctypes.util
import itertools
import json
import os
from concurrent.futures import ThreadPoolExecutor

_LIB = c.CDLL(os.environ.get("COLLWIRE_LIBRARY") or ctypes.util.find_library("collwire") or "libcollwire.so.0")


class _Setting(c.Structure):
    _fields_ = [("path", c.c_char_p), ("value", c.c_char_p)]


_SYMBOL = c.CFUNCTYPE(c.c_void_p, c.c_void_p, c.c_char_p, c.c_char_p, c.c_void_p, c.c_size_t)


class _Loader(c.Structure):
    _fields_ = [("ctx", c.c_void_p), ("symbol", _SYMBOL), ("activity", c.c_void_p)]


def _function(name, result, *arguments):
    function = getattr(_LIB, f"collwire_{name}")
    function.restype, function.argtypes = result, arguments
    return function


_ptr, _text = c.c_void_p, c.c_char_p
_free = _function("free", None, _ptr)
_version = _function("version", _text)
_messages_new = _function("messages_new", _ptr)
_messages_free = _function("messages_free", None, _ptr)
_messages_count = _function("messages_count", c.c_size_t, _ptr)
_messages_text = _function("messages_text", _text, _ptr, c.c_size_t)
_messages_is_warning = _function("messages_is_warning", c.c_int, _ptr, c.c_size_t)
_policies_new = _function("policies_new", _ptr, c.POINTER(_Loader))
_policies_add = _function("policies_add", c.c_int, _ptr, _text, _ptr)
_policies_name = _function("policies_name", _text, _ptr, c.c_size_t)
_scenario_load = _function("scenario_load", _ptr, _text, c.POINTER(_Setting), c.c_size_t, _ptr, _ptr)
_scenario_parse = _function("scenario_parse", _ptr, _text, _text, c.POINTER(_Setting), c.c_size_t, _ptr, _ptr)
_scenario_free = _function("scenario_free", None, _ptr)
_sim_new = _function("sim_new", _ptr, _ptr, c.c_uint64, _ptr)
_sim_free = _function("sim_free", None, _ptr)
_sim_run = _function("sim_run", c.c_int, _ptr, _ptr, _ptr)
_sim_result = _function("sim_result", _ptr, _ptr, _text)


class Error(Exception):
    """All errors of a scenario, one per line."""


def version():
    return _version().decode()


# ---- policies ----

_LIBRARIES = []  # plugins stay loaded


@_SYMBOL
def _symbol(_ctx, path, name, why, room):
    try:
        _LIBRARIES.append(c.CDLL(path.decode()))
        return c.addressof(c.c_char.in_dll(_LIBRARIES[-1], name.decode()))
    except (OSError, ValueError) as error:
        text = str(error).encode()[: room - 1] + b"\0"
        c.memmove(why, text, len(text))
        return None


_LOADER = _Loader(None, _symbol, None)
_POLICIES = _policies_new(c.byref(_LOADER))


def _check(messages):
    texts = [(_messages_text(messages, i).decode(), _messages_is_warning(messages, i))
             for i in range(_messages_count(messages))]
    _messages_free(messages)
    errors = [text for text, warning in texts if not warning]
    if errors:
        raise Error("\n".join(errors))
    return [text for text, _ in texts]


def load_plugin(path):
    """Add the policies of a plugin; before any run begins."""
    messages = _messages_new()
    _policies_add(_POLICIES, os.fsencode(path), messages)
    _check(messages)


def policies():
    names = (_policies_name(_POLICIES, i) for i in itertools.count())
    return [name.decode() for name in itertools.takewhile(lambda name: name is not None, names)]


# ---- runs ----

def _settings(keys):
    pairs = []
    for path, value in keys.items():
        if path == "cc" and isinstance(value, str):
            value = {"kind": value}
        text = value if isinstance(value, str) else json.dumps(value)
        pairs.append(_Setting(path.encode(), text.encode()))
    return (_Setting * len(pairs))(*pairs), len(pairs)


def run(scenario, _files=("metrics.json",), **keys):
    """Simulate a scenario (a file's name, or a dictionary) with changed keys; returns its metrics."""
    messages, (settings, n) = _messages_new(), _settings(keys)
    if isinstance(scenario, dict):
        loaded = _scenario_parse(json.dumps(scenario).encode(), b".", settings, n, _POLICIES, messages)
    else:
        loaded = _scenario_load(os.fsencode(scenario), settings, n, _POLICIES, messages)
    sim = _sim_new(loaded, os.cpu_count() or 1, messages) if loaded else None
    texts = []
    if sim:
        _sim_run(sim, None, messages)
        for name in _files:
            text = _sim_result(sim, name.encode())
            texts.append(c.string_at(text).decode() if text else None)
            _free(text)
    _sim_free(sim)
    _scenario_free(loaded)
    _check(messages)
    return json.loads(texts[0]) if _files == ("metrics.json",) else texts


def compare(scenario, jobs=os.cpu_count(), **keys):
    """Run every combination of the keys' values (each a list or one value); a pandas table, a row a run."""
    import pandas  # only here, so that run() needs nothing beyond Python

    lists = {path: value if isinstance(value, list) else [value] for path, value in keys.items()}
    points = [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda point: run(scenario, **point), points))
    rows = [{**point, "status": m["status"], "time_us": m["sim_time_ns"] / 1e3,
             "max_queue_bytes": m["queues"]["max_bytes"], "drops": m["drops"]["packets"],
             "marks": m["ecn"]["marked_packets"], "paused_us": m["pfc"]["paused_ns"] / 1e3}
            for point, m in zip(points, results)]
    return pandas.DataFrame(rows)
