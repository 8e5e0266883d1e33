"""Conversion of arrays of other libraries to NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy

from bntt._bntt import Error


def array_of(given: Any, name: str) -> numpy.ndarray:
    """A NumPy array that shares the memory of `given`; lists are copied."""
    if isinstance(given, numpy.ndarray):
        return given
    if hasattr(given, "__dlpack__"):
        try:
            return numpy.from_dlpack(given)
        except (BufferError, RuntimeError, TypeError) as problem:
            raise Error(f"{name}: cannot be shared through DLPack: {problem}") from None
    array = numpy.asarray(given)
    if array.dtype == object:
        raise Error(f"{name}: is {type(given).__name__}, expected an array of numbers")
    return array
