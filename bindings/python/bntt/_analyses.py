"""Analyses of a run as dicts of arrays, and figures."""

from __future__ import annotations

import os
from typing import Any, Optional, Sequence, Union

from bntt import _bntt

Path = Union[str, "os.PathLike[str]"]


def _given(data: Optional[Path]) -> Optional[str]:
    return None if data is None else os.fspath(data)


def activity(run: Path, *, data: Optional[Path] = None, limit: int = 0,
             exit_threshold: float = 0.1) -> "dict[str, Any]":
    """Measure spikes, gains and membranes of every layer on the first `limit` test images (0: all).

    docs/analyses.md defines every number of this and the other analyses.

    >>> study = bntt.activity("runs/demo", limit=8)
    >>> [stage["name"] for stage in study["stages"]][:2]
    ['conv1', 'conv2']
    >>> study["stages"][0]["spikes_per_step"].shape
    (3,)
    """
    return _bntt.activity(os.fspath(run), _given(data), limit, exit_threshold)


def energy(run: Path, *, data: Optional[Path] = None, limit: int = 0, steps: int = 0) -> "dict[str, Any]":
    """Estimate the energy per image, by the paper's formula and from counted operations, and compare it with an ANN.

    >>> bntt.energy("runs/demo", limit=8)["images"]
    8
    """
    return _bntt.energy(os.fspath(run), _given(data), limit, steps)


def exit_study(run: Path, *, data: Optional[Path] = None, limit: int = 0, max_loss: float = 0.3) -> "dict[str, Any]":
    """Measure what early exit costs and saves: by the paper's rule, per image, and with windows per layer.

    >>> study = bntt.exit_study("runs/demo", limit=8)
    >>> study["methods"][0]["name"]
    'all-steps'
    """
    return _bntt.exit(os.fspath(run), _given(data), limit, max_loss)


def robustness(run: Path, *, data: Optional[Path] = None, limit: int = 0, noise: Sequence[float] = (0.0, 0.1, 0.2),
               fgsm: Sequence[float] = (), pgd: Sequence[float] = ()) -> "dict[str, Any]":
    """Measure the accuracy under noise and attacks. Strengths are in units of pixels from 0 to 1.

    >>> curves = bntt.robustness("runs/demo", limit=8, noise=[0.0, 0.2], fgsm=[0.0, 0.05])["curves"]
    >>> [curve["kind"] for curve in curves]
    ['noise', 'fgsm']
    """
    return _bntt.robustness(os.fspath(run), _given(data), limit, list(noise), list(fgsm), list(pgd))


class Figure:
    """A figure as SVG, which notebooks display."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Figure({len(self.svg)} characters of SVG)"

    def save(self, file: Path) -> None:
        with open(file, "w", encoding="utf-8") as out:
            out.write(self.svg)


def figures() -> "dict[str, str]":
    """The names of all figures, with what they show.

    >>> "gamma" in bntt.figures()
    True
    """
    return _bntt.figures()


def figure(run: Path, name: str, *, layer: str = "", data: Optional[Path] = None, limit: int = 2000) -> Figure:
    """Draw one figure of a run, as `bntt plot` does (needs gnuplot).

    >>> bntt.figure("runs/demo", "gamma")._repr_svg_()[:5]
    '<?xml'
    """
    return Figure(_bntt.figure(os.fspath(run), name, layer, _given(data), limit))
