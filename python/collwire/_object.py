# SPDX-License-Identifier: MIT
"""The base of the typed objects of a scenario (collwire.scenarios): to and from plain dictionaries."""
from __future__ import annotations

import dataclasses
import difflib
from typing import Any, ClassVar, Dict, List, Mapping, Sequence, Tuple, Type, TypeVar, get_args

T = TypeVar("T", bound="Object")


class Object:
    """A typed object of a scenario. None as the value of a key leaves its default to collwire."""

    _keys: ClassVar[Dict[str, str]] = {}  # attribute -> key, where they differ
    _types: ClassVar[Dict[str, Tuple[str, ...]]] = {}  # attribute -> the classes of the objects that it may hold
    _kind: ClassVar[str] = ""  # the value of `kind` by which the class is known; "" = it has none
    _default: ClassVar[bool] = False  # the class of an object that does not name its kind

    def __setattr__(self, name: str, value: Any) -> None:
        known = [field.name for field in dataclasses.fields(self)]
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise AttributeError(f'{type(self).__name__} has no key "{name}"{hint}')
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        given = (f"{name}={value!r}" for name, value in self._given())
        return f"{type(self).__name__}({', '.join(given)})"

    def _given(self) -> List[Tuple[str, Any]]:
        pairs = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return [(name, value) for name, value in pairs if value is not None]

    def to_dict(self) -> Dict[str, Any]:
        """The object as a dictionary in the form of the scenario's JSON; keys that are None are left out."""
        return {self._keys.get(name, name): plain(value) for name, value in self._given()}

    @classmethod
    def from_dict(cls: Type[T], values: Mapping[str, Any]) -> T:
        """An object from a dictionary in the form of the scenario's JSON. Raises KeyError for a key it does not have."""
        attributes = {key: name for name, key in cls._keys.items()}
        made: Dict[str, Any] = {}
        known = {field.name for field in dataclasses.fields(cls)}
        for key, value in values.items():
            if key.startswith("$"):  # for editors, as "$schema"
                continue
            name = attributes.get(key, key)
            if name not in known:
                raise KeyError(f'{cls.__name__} has no key "{key}"')
            made[name] = _typed(value, cls._types.get(name, ()))
        return cls(**made)


def plain(value: Any) -> Any:
    """A value of a scenario with dictionaries in place of typed objects."""
    if isinstance(value, Object):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [plain(item) for item in value]
    return value


def _classes(names: Tuple[str, ...]) -> List[Type[Object]]:
    from collwire import scenarios  # the module whose classes have this base

    found: List[Type[Object]] = []
    for name in names:
        one = getattr(scenarios, name)
        parts = [one] if isinstance(one, type) else get_args(one)  # a class, or a union of them
        found += [part for part in parts if isinstance(part, type) and issubclass(part, Object)]
    return found


def _typed(value: Any, names: Tuple[str, ...]) -> Any:
    """A plain value as typed objects of one of the classes `names` ("*" first: of a dictionary's values)."""
    if not names:
        return value
    if isinstance(value, list):
        return [_typed(item, names) for item in value]
    if not isinstance(value, Mapping):
        return value
    if names[0] == "*":
        return {key: _typed(item, names[1:]) for key, item in value.items()}
    classes = _classes(names)
    kind = value.get("kind")
    fitting = [one for one in classes if (one._default if kind is None and one._kind else one._kind in ("", kind))]
    for one in fitting:
        try:
            return one.from_dict(value)
        except KeyError:
            if len(classes) == 1:
                raise
    return dict(value)  # a policy of a plugin, or a key that the library will name
