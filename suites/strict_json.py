"""JSON lines with nothing left to chance: no NaN, no Infinity, no unknown field, no missing one, no wrong type.

Works for flat frozen dataclasses whose fields are plain values, dicts, or tuples of plain values or of dataclasses.
"""

import functools
import gc
import json
import types
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar

T = TypeVar("T")
Check = Callable[[Any], Any]  # returns the value to store, raises ValueError on another type


def dumps(value: Any) -> str:
    """`value`, a dataclass, as one line of JSON without its newline. Raises ValueError on NaN and Infinity.

    A nested dataclass leaves out the fields that hold their default, so that a step costs few bytes.
    """
    return json.dumps(_plain(value), default=_sparse, allow_nan=False, separators=(",", ":"))


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for cycles meanwhile: values that are read form none, and a million of them are searched in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def loads(cls: type[T], text: str) -> T:
    """The `cls` written in `text`. Raises ValueError, saying what was got, on anything else."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return build(cls, value)


def build(cls: type[T], value: Any) -> T:
    """The `cls` whose fields are the keys of the dict `value`. Raises ValueError naming the field that is wrong."""
    if not isinstance(value, dict):
        raise ValueError(f"expected an object with the fields of {cls.__name__}, got {value!r:.60}")
    kind: Any = cls
    checks, required = _schema(kind)
    if not value.keys() <= checks.keys():
        raise ValueError(f"unknown field {min(value.keys() - checks.keys())!r}")
    if not required <= value.keys():
        raise ValueError(f"missing field {min(required - value.keys())!r}")
    try:
        return cls(**{name: checks[name](item) for name, item in value.items()})
    except ValueError:
        return cls(**{name: _checked(name, checks[name], item) for name, item in value.items()})  # says which field


def _plain(value: Any) -> dict[str, Any]:
    kind: Any = type(value)
    return {name: getattr(value, name) for name in _names(kind)}


@functools.cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))


def _sparse(value: Any) -> dict[str, Any]:
    if not is_dataclass(value) or isinstance(value, type):
        raise ValueError(f"cannot write {type(value).__name__} as JSON")
    return {f.name: item for f in fields(value) if (item := getattr(value, f.name)) != f.default}


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number a file may hold")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)  # made once: a file has many lines


def _checked(name: str, check: Check, item: Any) -> Any:
    try:
        return check(item)
    except ValueError as wrong:
        raise ValueError(f"field {name!r}: {wrong}") from None


@functools.cache
def _schema(cls: Any) -> tuple[dict[str, Check], frozenset[str]]:
    hints = typing.get_type_hints(cls)
    required = [f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING]
    return {name: _check_for(hints[name]) for name in _names(cls)}, frozenset(required)


def _check_for(hint: Any) -> Check:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return lambda item: item
    if origin is types.UnionType:
        plain = _check_for(next(a for a in arguments if a is not types.NoneType))
        return lambda item: None if item is None else plain(item)
    if origin is tuple:
        return _tuple_of(_check_for(arguments[0]))
    if origin is dict:
        return _dict_of(_check_for(arguments[1]))
    if origin is typing.Literal:
        return _one_of(arguments)
    if isinstance(hint, type) and is_dataclass(hint):
        return functools.partial(build, hint)
    return _instance_of(hint)


def _tuple_of(check: Check) -> Check:
    as_list = _instance_of(list)
    return lambda item: tuple(map(check, as_list(item)))


def _dict_of(check: Check) -> Check:
    as_dict = _instance_of(dict)
    return lambda item: {key: check(one) for key, one in as_dict(item).items()}


def _one_of(allowed: tuple[Any, ...]) -> Check:
    def check(item: Any) -> Any:
        if item not in allowed:
            raise ValueError(f"expected one of {', '.join(map(str, allowed))}, got {item!r:.60}")
        return item

    return check


def _instance_of(wanted: type) -> Check:
    kinds = (int, float) if wanted is float else (wanted,)

    def check(item: Any) -> Any:
        if type(item) is wanted:  # the usual case, and a file has millions of values
            return item
        if not isinstance(item, kinds) or (isinstance(item, bool) and wanted is not bool):
            raise ValueError(f"expected {wanted.__name__}, got {item!r:.60}")
        return item

    return check
