"""Training and evaluation."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from bntt import _bntt

Path = Union[str, "os.PathLike[str]"]
Callback = Callable[["dict[str, Any]"], Optional[bool]]


def presets() -> "list[str]":
    """The names of the presets.

    >>> "demo-fashion-mnist" in bntt.presets()
    True
    """
    return _bntt.preset_names()


def preset(name: str) -> str:
    """The settings of a preset, as TOML.

    >>> "[model]" in bntt.preset("demo-fashion-mnist")
    True
    """
    return _bntt.preset_text(name)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = "".join(c if c >= " " and c not in '"\\' else f"\\u{ord(c):04x}" for c in value)
        return f'"{escaped}"'
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, os.PathLike):
        return _toml(os.fspath(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    raise _bntt.Error(f"settings: {value!r} is {type(value).__name__}, which no setting takes")


def _changes(sections: "Mapping[str, Mapping[str, Any]]") -> "list[str]":
    return [f"{section}.{key}={_toml(value)}" for section, keys in sections.items() for key, value in keys.items()]


def _settings(config: Union[str, Path, Mapping[str, Any], None], begun: bool) -> "tuple[str, str, list[str]]":
    """The text of the settings (empty: those of the run being resumed), its origin, and changes to it."""
    if config is None:
        return "", "settings", []
    if isinstance(config, Mapping):
        sections = dict(config)
        base = sections.pop("preset", None)
        for name, section in sections.items():
            if not isinstance(section, Mapping):
                raise _bntt.Error(f"settings: '{name}' is {type(section).__name__}, expected a dict of settings")
        if base is not None:
            return preset(base), f"preset {base}", _changes(sections)
        if begun:
            return "", "settings", _changes(sections)
        lines = []
        for section, keys in sections.items():
            lines.append(f"[{section}]")
            lines.extend(f"{key} = {_toml(value)}" for key, value in keys.items())
        return "\n".join(lines) + "\n", "settings", []
    name = os.fspath(config)
    if name.endswith(".toml"):
        with open(name, encoding="utf-8") as file:
            return file.read(), name, []
    return preset(name), f"preset {name}", []


class _Progress:
    """One line that is redrawn, on a terminal and in a notebook; a line remains for each epoch."""

    def __init__(self) -> None:
        self._drawn = 0.0

    def __call__(self, event: "dict[str, Any]") -> None:
        if event["kind"] == "epoch":
            text = f"epoch {event['epoch']}: loss {event['loss']:.4f}, accuracy {event['accuracy']:.2f} %"
            if "validation_accuracy" in event:
                text += f"; validation {event['validation_accuracy']:.2f} %"
            print("\r" + text.ljust(79), flush=True)
        elif event["kind"] == "step" and time.monotonic() - self._drawn > 0.2:
            self._drawn = time.monotonic()
            text = (f"epoch {event['epoch']}/{event['epochs']}, step {event['step']}/{event['steps']}: "
                    f"loss {event['loss']:.3f}, accuracy {event['accuracy']:.1f} %")
            print("\r" + text.ljust(79), end="", flush=True, file=sys.stdout)


def train(config: Union[str, Path, Mapping[str, Any], None] = None, out: Path = "", *, data: Optional[Path] = None,
          resume: bool = False, callbacks: Iterable[Callback] = (), progress: bool = True) -> "dict[str, Any]":
    """Train a run in the directory `out`, as `bntt train` does, and return its results.

    `config` is a preset's name, a .toml file, or a dict of sections such as {"preset": "demo-fashion-mnist", "train":
    {"epochs": 1}}; without a preset, missing settings have their defaults. With `resume` the run continues where it
    stopped; its settings need not be given again, and only the epochs may change: {"train": {"epochs": 20}} trains
    longer.

    Each callback gets dicts: {"kind": "step", "epoch", "epochs", "step", "steps", "loss", "accuracy",
    "learning_rate"}, {"kind": "epoch", "epoch", "loss", "accuracy", "validation_accuracy", ...} and {"kind":
    "evaluating", "what", "done", "images"}. A callback that returns True stops the run, and so does Ctrl-C; both leave
    a checkpoint for `resume`.

    >>> seen = []
    >>> result = bntt.train(settings, "runs/new", callbacks=[lambda event: seen.append(event["kind"])], progress=False)
    >>> result["finished"], "epoch" in seen
    (True, True)
    >>> result["test"]["images"]
    21
    """
    if not os.fspath(out):
        raise _bntt.Error("train: no directory for the run was given, expected out=...")
    listeners = [_Progress()] if progress else []
    listeners.extend(callbacks)
    begun = resume and os.path.exists(os.path.join(os.fspath(out), "run.toml"))
    text, origin, changes = _settings(config, begun)

    def tell(event: "dict[str, Any]") -> bool:
        answers = [listener(event) for listener in listeners]
        return any(answer is True for answer in answers)

    return _bntt.train(text, origin, changes, None if data is None else os.fspath(data), os.fspath(out), resume, tell)


def evaluate(run: Path, *, data: Optional[Path] = None, split: str = "test", limit: int = 0,
             steps: int = 0) -> "dict[str, Any]":
    """Measure a run on the images of its data set, as `bntt eval` does.

    `limit` is the number of images and `steps` the number of time steps to use; 0 means all.

    >>> result = bntt.evaluate("runs/demo")
    >>> result["images"], sorted(result["density"])[0]
    (21, 'conv1')
    """
    return _bntt.evaluate(os.fspath(run), None if data is None else os.fspath(data), split, limit, steps)
