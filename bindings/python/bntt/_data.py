"""Data sets and pictures as arrays."""

from __future__ import annotations

import os
from typing import NamedTuple, Union

import numpy

from bntt import _bntt

Path = Union[str, "os.PathLike[str]"]


class Dataset(NamedTuple):
    """One split of a data set."""

    samples: numpy.ndarray  #: uint8 [n, y, x, channel], or counts [n, frame, y, x, polarity] of events
    labels: numpy.ndarray  #: int64 [n]
    class_names: "list[str]"  #: empty if the data set has none


def dataset_names() -> "list[str]":
    """The names of the supported data sets.

    >>> "cifar10" in bntt.dataset_names()
    True
    """
    return _bntt.dataset_names()


def dataset(name: str, directory: Path = "", *, split: str = "test", limit: int = 0, size: int = 0,
            frames: int = 0) -> Dataset:
    """Read a data set as arrays, in its fixed order. The samples share the library's memory and are read-only.

    `limit` is the number of samples to read (0: all), `size` the side that images and events are scaled to if the data
    set allows it, and `frames` the number of frames of an event recording; 0 means the default of the data set.

    >>> data = bntt.dataset("mnist", "data")
    >>> data.samples.shape, data.labels[:4].tolist()
    ((21, 12, 12, 1), [0, 1, 2, 3])
    """
    return Dataset(*_bntt.dataset(name, os.fspath(directory), split, limit, size, frames))


def picture(file: Path) -> numpy.ndarray:
    """Read a PNG or JPEG file as one image: uint8 [1, y, x, 3].

    >>> bntt.picture("boot.png").shape
    (1, 28, 28, 3)
    """
    return _bntt.picture(os.fspath(file))
