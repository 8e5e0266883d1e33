"""Deep spiking neural networks with Batch Normalization Through Time.

>>> import bntt
>>> model = bntt.load("runs/demo")
>>> model.predict(bntt.picture("boot.png")).shape
(1, 10)

Arrays are NumPy's. Whatever has ``__dlpack__``, such as a PyTorch tensor on the CPU, is taken too, without copying.
Mistakes raise `bntt.Error`, a `ValueError`, with one sentence. Long work releases the interpreter's lock and stops at
Ctrl-C.
"""

from __future__ import annotations

import os as _os

# Threads that wait should sleep: on a machine that does other work too, spinning makes everything slower. OpenMP reads
# this when it is loaded.
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
