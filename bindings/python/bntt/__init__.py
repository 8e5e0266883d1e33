"""Deep spiking neural networks with Batch Normalization Through Time.

>>> import bntt
>>> model = bntt.load("runs/demo")
>>> model.predict(bntt.picture("boot.png")).shape
(1, 10)

Arrays are NumPy arrays. Objects with ``__dlpack__``, such as PyTorch tensors on the CPU, are accepted too, without
copying. Wrong arguments raise `bntt.Error`, a `ValueError`, whose message is one sentence. Long computations release
the GIL and stop at Ctrl-C.
"""

from __future__ import annotations

import os as _os

# Waiting threads should sleep: on a machine with other work, spinning slows everything down. OpenMP reads this variable
# when it is loaded.
_os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from bntt._bntt import Error, Spikes, __version__, set_threads, threads
from bntt._analyses import Figure, activity, energy, exit_study, figure, figures, robustness
from bntt._data import Dataset, dataset, dataset_names, picture
from bntt._model import Model, Predictions, Session, load
from bntt._training import evaluate, preset, presets, train

Error.__module__ = Spikes.__module__ = "bntt"

__all__ = [
    "Dataset", "Error", "Figure", "Model", "Predictions", "Session", "Spikes", "__version__", "activity", "dataset",
    "dataset_names", "energy", "evaluate", "exit_study", "figure", "figures", "load", "picture", "preset", "presets",
    "robustness", "set_threads", "threads", "train",
]
