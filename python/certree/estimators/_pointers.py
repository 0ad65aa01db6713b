"""Compiled functions that cost leaves: where they stand in memory."""

from __future__ import annotations

import ctypes
import re
from typing import Any

#: What a compiled ``leaf_cost`` looks like in C.
SIGNATURE = "void (const double *sums, int64_t n_leaves, int64_t width, double *costs)"

_ARGUMENTS = ("double*", "int64_t", "int64_t", "double*")
#: Other names of the same types.
_NAMES = {"float64*": "double*", "int64": "int64_t", "long": "int64_t", "longlong": "int64_t"}
_CTYPES = {ctypes.c_int64: "int64_t", ctypes.POINTER(ctypes.c_double): "double*"}


def address_of(function: Any) -> int | None:
    """The address of a numba ``cfunc``, a ctypes function or a ``scipy.LowLevelCallable``; ``None``
    of anything else. An error if it says that its signature is another one."""
    if _is_low_level(function):
        _check(_of_text(function.signature), function.signature)
        inner = function.function
        return _capsule_pointer(inner) if type(inner).__name__ == "PyCapsule" else address_of(inner)
    if isinstance(function, ctypes._CFuncPtr):
        if function.argtypes is not None:
            given = [_CTYPES.get(kind, str(kind)) for kind in function.argtypes]
            _check(given, given)
        return ctypes.cast(function, ctypes.c_void_p).value
    address = getattr(function, "address", None)
    if not isinstance(address, int):
        return None
    signature = getattr(function, "_sig", None)
    if signature is not None:
        given = [_NAMES.get(str(kind), str(kind)) for kind in signature.args]
        _check(given, signature)
    return address


def _is_low_level(function: Any) -> bool:
    return isinstance(function, tuple) and type(function).__name__ == "LowLevelCallable"


def _of_text(signature: Any) -> list[str]:
    """The types of the arguments, without their names."""
    inside = re.search(r"\((.*)\)", str(signature))
    kinds = []
    for argument in inside.group(1).split(",") if inside else []:
        words = argument.replace("const", " ").replace("*", " * ").split()
        kind = words[0] if words else ""
        kind = _NAMES.get(kind, kind) + ("*" if "*" in words else "")
        kinds.append(_NAMES.get(kind, kind))
    return kinds


def _check(given: Any, shown: Any) -> None:
    if tuple(given) != _ARGUMENTS:
        raise ValueError(f"a compiled leaf_cost must be {SIGNATURE!r}, and not {str(shown)!r}")


def _capsule_pointer(capsule: Any) -> int:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule))
