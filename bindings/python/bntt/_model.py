"""Models and sessions."""

from __future__ import annotations

import os
from typing import Any, Mapping, NamedTuple, Optional, Union

import numpy

from bntt import _bntt
from bntt._arrays import array_of

Path = Union[str, "os.PathLike[str]"]


class Predictions(NamedTuple):
    """What a model says of some samples."""

    labels: numpy.ndarray  #: [sample]: the class with the largest logit
    logits: numpy.ndarray  #: [sample, class]
    probabilities: numpy.ndarray  #: [sample, class]: their softmax
    steps: numpy.ndarray  #: [sample]: that it took
    spikes: numpy.ndarray  #: [sample]: of hidden neurons


class Model:
    """A trained network with all that inference needs. It does not change, and threads may share it."""

    def __init__(self, compiled: _bntt.Model) -> None:
        self._compiled = compiled

    def predict(self, samples: Any, *, steps: int = 0, exit_confidence: Optional[float] = None,
                first_sample: int = 0) -> numpy.ndarray:
        """Probabilities [sample, class].

        `samples` are images [n, y, x, channel]: uint8 0 to 255 of any size, which are brought to the model's own, or
        floats 0 to 1 of that size. A model of event recordings takes counts [n, frame, y, x, polarity] as uint8.
        Every step counts, unless `steps` stops all samples, or `exit_confidence` each one as soon as a class has that
        probability. Random spikes are drawn from the run's seed and a sample's number, which begin at `first_sample`.

        >>> model = bntt.load("runs/demo")
        >>> probabilities = model.predict(images)
        >>> probabilities.shape, probabilities.dtype
        ((4, 10), dtype('float32'))
        >>> model.predict(images.astype("float32") / 255).argmax(1).tolist() == probabilities.argmax(1).tolist()
        True
        >>> model.predict(images[0])
        Traceback (most recent call last):
        ...
        bntt.Error: images: shape (12, 12, 1), expected 4 axes: [image, y, x, channel]
        """
        return self._compiled.predict(array_of(samples, "samples"), steps, exit_confidence, first_sample,
                                      False)["probabilities"]

    def predict_details(self, samples: Any, *, steps: int = 0, exit_confidence: Optional[float] = None,
                        first_sample: int = 0) -> Predictions:
        """Labels, logits, probabilities, steps and spikes of each sample. Samples run one by one.

        >>> answer = bntt.load("runs/demo").predict_details(images, exit_confidence=0.0)
        >>> answer.steps.tolist()
        [1, 1, 1, 1]
        >>> answer.logits.shape
        (4, 10)
        """
        return Predictions(**self._compiled.predict(array_of(samples, "samples"), steps, exit_confidence, first_sample,
                                                    True))

    def encode(self, samples: Any, *, first_step: int = 0, steps: int = 0,
               first_sample: int = 0) -> Union[_bntt.Spikes, numpy.ndarray]:
        """What the network reads in steps [first_step, first_step + steps); 0 steps: all that are left.

        Spikes, or with direct encoding floats [1, sample, y, x, channel], which stand for every step.

        >>> bntt.load("runs/demo").encode(images, steps=2)
        Spikes(steps=2, samples=4, y=12, x=12, channels=1, planes=2)
        """
        wanted = steps if steps > 0 else self._compiled.active_steps - first_step
        return self._compiled.encode(array_of(samples, "samples"), first_step, wanted, first_sample)

    def outputs(self, samples: Any, *, steps: int = 0,
                first_sample: int = 0) -> "dict[str, Union[_bntt.Spikes, numpy.ndarray]]":
        """What fires when: the spikes of every hidden layer, by its name.

        >>> spikes = bntt.load("runs/demo").outputs(images)["conv1"]
        >>> spikes.shape == spikes.dense().shape
        True
        >>> spikes.packed.dtype
        dtype('uint64')
        """
        return self._compiled.outputs(array_of(samples, "samples"), first_sample, steps)

    def session(self, batch: int = 1) -> "Session":
        """For running step by step."""
        return Session(self, batch)

    def state_dict(self) -> "dict[str, numpy.ndarray]":
        """Every parameter and running statistic by name, float32, in PyTorch's order of axes.

        >>> state = bntt.load("runs/demo").state_dict()
        >>> sorted(state)[:3]
        ['conv1.norm.running_mean', 'conv1.norm.running_var', 'conv1.norm.weight']
        """
        return self._compiled.state_dict()

    def with_state_dict(self, state: Mapping[str, Any]) -> "Model":
        """The same model with other numbers: NumPy arrays or PyTorch tensors of float32.

        >>> model = bntt.load("runs/demo")
        >>> again = model.with_state_dict(model.state_dict())
        >>> bool((again.predict(images) == model.predict(images)).all())
        True
        """
        return Model(self._compiled.with_state_dict({name: array_of(value, f"state: '{name}'")
                                                     for name, value in state.items()}))

    def save(self, file: Path) -> None:
        """One .safetensors file that `load`, `bntt predict` and the C interface take.

        >>> model = bntt.load("runs/demo")
        >>> model.save("model.safetensors")
        >>> bntt.load("model.safetensors").classes == model.classes
        True
        """
        self._compiled.save(os.fspath(file))

    def recording(self, file: Path, *, sensor: "tuple[int, int]" = (0, 0)) -> numpy.ndarray:
        """An event camera's recording as one sample of this model: uint8 [1, frame, y, x, polarity].

        `sensor` (width, height) is for files that do not say theirs.
        """
        return _bntt.recording(self._compiled, os.fspath(file), *sensor)

    @property
    def classes(self) -> "list[str]":
        """The names of the classes, or their numbers where no names are known."""
        return [self._compiled.class_name(label) for label in range(self._compiled.classes)]

    @property
    def steps(self) -> int:
        """Time steps of a whole run."""
        return self._compiled.steps

    @property
    def input_shape(self) -> "tuple[int, int, int]":
        """(y, x, channel) of what the network reads."""
        return self._compiled.input_shape

    @property
    def card(self) -> "dict[str, Any]":
        """Encoder, normalisation, class names and how the model was trained."""
        return self._compiled.card

    @property
    def network(self) -> "dict[str, Any]":
        """The description of the network."""
        return self._compiled.network

    def __repr__(self) -> str:
        y, x, channels = self.input_shape
        return f"Model({y}x{x}x{channels}, {self._compiled.classes} classes, {self.steps} steps)"


class Session:
    """A model that runs over time, for `batch` samples at once. One thread at a time may use it.

    >>> session = bntt.load("runs/demo").session(batch=4)
    >>> session.show(images)
    >>> while not session.done and session.probabilities.max() < 0.99:
    ...     session.advance()
    >>> session.steps_done
    3
    """

    def __init__(self, model: Model, batch: int = 1) -> None:
        self._compiled = _bntt.Session(model._compiled, batch)

    def show(self, samples: Any, *, first_sample: int = 0) -> None:
        """Neurons back to rest; these samples are the input of the steps to come."""
        self._compiled.show(array_of(samples, "samples"), first_sample)

    def restart(self) -> None:
        """Neurons back to rest."""
        self._compiled.restart()

    def advance(self, steps: int = 1) -> None:
        """Takes so many steps of the samples shown."""
        self._compiled.advance(steps)

    def advance_events(self, counts: Any) -> None:
        """Takes one step: counts of events [recording, y, x, polarity] as they come, uint8."""
        self._compiled.advance_events(array_of(counts, "counts"))

    def advance_spikes(self, spikes: _bntt.Spikes) -> None:
        """Takes the steps of these input spikes."""
        self._compiled.advance_spikes(spikes)

    @property
    def steps_done(self) -> int:
        return self._compiled.steps_done

    @property
    def done(self) -> bool:
        """Whether all steps are done."""
        return self._compiled.done

    @property
    def logits(self) -> numpy.ndarray:
        """What the readout's voltage so far says: [sample, class]."""
        return self._compiled.logits

    @property
    def probabilities(self) -> numpy.ndarray:
        """[sample, class]: the softmax of the voltage, divided by the steps so far if the network divides."""
        return self._compiled.probabilities


def load(path: Path) -> Model:
    """The model of a run's directory (its best weights) or of one .safetensors file.

    >>> bntt.load("runs/demo")
    Model(12x12x1, 10 classes, 3 steps)
    >>> bntt.load("runs/none")
    Traceback (most recent call last):
    ...
    bntt.Error: runs/none: holds no run: it does not exist
    """
    return Model(_bntt.Model.load(os.fspath(path)))
