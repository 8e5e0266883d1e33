"""Models and sessions."""

from __future__ import annotations

import os
from typing import Any, Mapping, NamedTuple, Optional, Union

import numpy

from bntt import _bntt
from bntt._arrays import array_of

Path = Union[str, "os.PathLike[str]"]


class Predictions(NamedTuple):
    """The answers of a model for some samples."""

    labels: numpy.ndarray  #: [sample]: the class with the largest logit
    logits: numpy.ndarray  #: [sample, class]
    probabilities: numpy.ndarray  #: [sample, class]: their softmax
    steps: numpy.ndarray  #: [sample]: number of steps taken
    spikes: numpy.ndarray  #: [sample]: number of spikes of hidden neurons


class Model:
    """A trained network with everything that inference needs. It is immutable, and threads may share it."""

    def __init__(self, compiled: _bntt.Model) -> None:
        self._compiled = compiled

    def predict(self, samples: Any, *, steps: int = 0, exit_confidence: Optional[float] = None,
                first_sample: int = 0) -> numpy.ndarray:
        """Classify samples and return probabilities [sample, class].

        `samples` are images [n, y, x, channel]: uint8 from 0 to 255 of any size, which are scaled to the model's size,
        or floats from 0 to 1 of that size. A model of event recordings takes counts [n, frame, y, x, polarity] as
        uint8. By default all steps are run; `steps` stops all samples after that many steps, `exit_confidence` each
        sample as soon as a class has that probability. Random spikes depend on the run's seed and on the index of the
        sample; the first sample has the index `first_sample`.

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
        """Classify samples and return labels, logits, probabilities, steps and spikes. Samples run one by one.

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
        """Encode samples as the network's input for steps [first_step, first_step + steps); 0 steps: all that are left.

        The result is spikes or, with direct encoding, floats [1, sample, y, x, channel], which are the same for every
        step.

        >>> bntt.load("runs/demo").encode(images, steps=2)
        Spikes(steps=2, samples=4, y=12, x=12, channels=1, planes=2)
        """
        wanted = steps if steps > 0 else self._compiled.active_steps - first_step
        return self._compiled.encode(array_of(samples, "samples"), first_step, wanted, first_sample)

    def outputs(self, samples: Any, *, steps: int = 0,
                first_sample: int = 0) -> "dict[str, Union[_bntt.Spikes, numpy.ndarray]]":
        """Run samples and return the spikes of every hidden layer, by name.

        >>> spikes = bntt.load("runs/demo").outputs(images)["conv1"]
        >>> spikes.shape == spikes.dense().shape
        True
        >>> spikes.packed.dtype
        dtype('uint64')
        """
        return self._compiled.outputs(array_of(samples, "samples"), first_sample, steps)

    def session(self, batch: int = 1) -> "Session":
        """Create a session, which runs the model step by step."""
        return Session(self, batch)

    def state_dict(self) -> "dict[str, numpy.ndarray]":
        """Every parameter and running statistic by name, as float32 with PyTorch's order of axes.

        >>> state = bntt.load("runs/demo").state_dict()
        >>> sorted(state)[:3]
        ['conv1.norm.running_mean', 'conv1.norm.running_var', 'conv1.norm.weight']
        """
        return self._compiled.state_dict()

    def with_state_dict(self, state: Mapping[str, Any]) -> "Model":
        """The same model with other values, given as NumPy arrays or PyTorch tensors of float32.

        >>> model = bntt.load("runs/demo")
        >>> again = model.with_state_dict(model.state_dict())
        >>> bool((again.predict(images) == model.predict(images)).all())
        True
        """
        return Model(self._compiled.with_state_dict({name: array_of(value, f"state: '{name}'")
                                                     for name, value in state.items()}))

    def save(self, file: Path) -> None:
        """Save the model as one .safetensors file, for `load`, `bntt predict` and the C interface.

        >>> model = bntt.load("runs/demo")
        >>> model.save("model.safetensors")
        >>> bntt.load("model.safetensors").classes == model.classes
        True
        """
        self._compiled.save(os.fspath(file))

    def recording(self, file: Path, *, sensor: "tuple[int, int]" = (0, 0)) -> numpy.ndarray:
        """Read an event recording as one sample of this model: uint8 [1, frame, y, x, polarity].

        `sensor` (width, height) is needed only for files that do not contain it, if the training did not know it
        either.
        """
        return _bntt.recording(self._compiled, os.fspath(file), *sensor)

    @property
    def classes(self) -> "list[str]":
        """The names of the classes, or their numbers if the model has no names."""
        return [self._compiled.class_name(label) for label in range(self._compiled.classes)]

    @property
    def steps(self) -> int:
        """Number of time steps of the network."""
        return self._compiled.steps

    @property
    def input_shape(self) -> "tuple[int, int, int]":
        """(y, x, channel) of the network's input."""
        return self._compiled.input_shape

    @property
    def card(self) -> "dict[str, Any]":
        """Encoder, normalisation, class names and record of the training."""
        return self._compiled.card

    @property
    def network(self) -> "dict[str, Any]":
        """The description of the network."""
        return self._compiled.network

    def __repr__(self) -> str:
        y, x, channels = self.input_shape
        return f"Model({y}x{x}x{channels}, {self._compiled.classes} classes, {self.steps} steps)"


class Session:
    """Runs a model step by step, for `batch` samples at once. Only one thread at a time may use it.

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
        """Reset the neurons and use these samples as the input of the following steps."""
        self._compiled.show(array_of(samples, "samples"), first_sample)

    def restart(self) -> None:
        """Reset the neurons."""
        self._compiled.restart()

    def advance(self, steps: int = 1) -> None:
        """Run the next `steps` steps on the samples given to `show`."""
        self._compiled.advance(steps)

    def advance_events(self, counts: Any) -> None:
        """Run one step on event counts [recording, y, x, polarity], uint8."""
        self._compiled.advance_events(array_of(counts, "counts"))

    def advance_spikes(self, spikes: _bntt.Spikes) -> None:
        """Run as many steps as these input spikes have."""
        self._compiled.advance_spikes(spikes)

    def membranes(self, layer: str) -> numpy.ndarray:
        """The voltages of a layer's neurons after the last step and its resets: [sample, y, x, channel].

        >>> session = bntt.load("runs/demo").session(batch=4)
        >>> session.show(images)
        >>> session.advance()
        >>> session.membranes("conv1").shape
        (4, 12, 12, 3)
        """
        return self._compiled.membranes(layer)

    @property
    def steps_done(self) -> int:
        return self._compiled.steps_done

    @property
    def done(self) -> bool:
        """Whether all steps have been run."""
        return self._compiled.done

    @property
    def logits(self) -> numpy.ndarray:
        """Logits from the readout's voltage so far: [sample, class]."""
        return self._compiled.logits

    @property
    def probabilities(self) -> numpy.ndarray:
        """[sample, class]: softmax of the voltage, divided by the steps so far if the network divides by its steps."""
        return self._compiled.probabilities


def load(path: Path) -> Model:
    """Load the model of a run directory (its best weights) or of one .safetensors file.

    >>> bntt.load("runs/demo")
    Model(12x12x1, 10 classes, 3 steps)
    >>> bntt.load("runs/none")
    Traceback (most recent call last):
    ...
    bntt.Error: runs/none: does not exist
    """
    return Model(_bntt.Model.load(os.fspath(path)))
