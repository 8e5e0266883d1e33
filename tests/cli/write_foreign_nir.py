"""Writes a NIR file as other tools do, with h5py alone, for the recordings of TinyRuns: digit k is a bar of events in the
columns 3 k to 3 k + 3. Every event makes a spike, spikes are counted in squares of 2x2 pixels, and the neuron of each
class sees the columns of its digit. usage: write_foreign_nir.py FILE"""
import sys

import h5py
import numpy as np

SIDE, DIGITS = 34, 10


def lif(shape, tau, threshold):
    full = {"tau": tau, "r": 1.0, "v_leak": 0.0, "v_threshold": threshold, "v_reset": 0.0}
    return {"type": "LIF", **{name: np.full(shape, value, np.float32) for name, value in full.items()}}


def pair(value):
    return np.array([value, value])


# What each of the two polarities is multiplied by must not matter: an event is above the threshold in any case.
events = np.array([4.0, 6.0], np.float32).reshape(1, 2, 1, 1)
columns = np.zeros((DIGITS, SIDE // 2), np.float32)
for digit in range(DIGITS):
    for x in range(3 * digit, 3 * digit + 4):
        columns[digit, x // 2] += 2.0
weight = np.repeat(columns[:, None, :], SIDE // 2, axis=1)  # [class, y, x]

nodes = {
    "input": {"type": "Input", "shape": np.array([2, SIDE, SIDE])},
    "events": {"type": "Conv2d", "input_shape": pair(SIDE), "weight": events, "bias": np.zeros(1, np.float32),
               "stride": pair(1), "padding": pair(0), "dilation": pair(1), "groups": 1},
    "pixels": lif((1, SIDE, SIDE), 2e-3, 1.0),
    "squares": {"type": "SumPool2d", "kernel_size": pair(2), "stride": pair(2), "padding": pair(0)},
    "flat": {"type": "Flatten", "start_dim": 0, "end_dim": -1, "input_type": np.array([1, SIDE // 2, SIDE // 2])},
    "bars": {"type": "Affine", "weight": weight.reshape(DIGITS, -1), "bias": np.full(DIGITS, -0.5, np.float32)},
    "digits": lif((DIGITS,), 1e-2, 1.0),
    "output": {"type": "Output", "shape": np.array([DIGITS])},
}
with h5py.File(sys.argv[1], "w") as file:
    file["version"] = "1.0.6"
    graph = file.create_group("node")
    graph["type"] = "NIRGraph"
    for name, node in nodes.items():
        group = graph.create_group(f"nodes/{name}")
        for key, value in node.items():
            group[key] = value
    names = list(nodes)
    graph.create_dataset("edges", data=list(zip(names, names[1:])), dtype=h5py.string_dtype())
