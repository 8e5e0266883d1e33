"""Reads exported NIR files with h5py, simulates them with NumPy and compares every spike with bntt's.

The simulation knows NIR's definitions and nothing of bntt: forward Euler with the dt of the metadata, hard reset,
spikes above the threshold, several edges into a node add up. Where metadata keep the norms of every step, weights
change from step to step as docs/nir.md says. usage: simulate_nir.py DIRECTORY"""
import json
import pathlib
import struct
import sys

import h5py
import numpy as np


def read_tensors(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"]).astype(float)
    return tensors


def text(dataset):
    value = dataset[()]
    return value.decode() if isinstance(value, bytes) else value


class Graph:
    def __init__(self, path):
        with h5py.File(path, "r") as file:
            root = file["node"]
            assert text(root["type"]) == "NIRGraph"
            self.edges = [(a.decode(), b.decode()) for a, b in root["edges"][()]]
            self.nodes = {}
            self.steps = {}  # of nodes whose numbers change from step to step: their metadata
            for name, group in root["nodes"].items():
                node = {k: v[()] for k, v in group.items() if isinstance(v, h5py.Dataset)}
                node["type"] = text(group["type"])
                self.nodes[name] = node
                if "metadata" in group and "bntt_scale" in group["metadata"]:
                    self.steps[name] = {k: v[()] for k, v in group["metadata"].items()}
            self.metadata = {k: v[()] for k, v in root["metadata"].items()}
        assert all("." not in name for name in self.nodes), "PyTorch refuses dots in names of modules"

    def node_at(self, name, step):
        node = self.nodes[name]
        if name not in self.steps:
            return node
        kept = self.steps[name]
        scale, shift = kept["bntt_scale"][step], kept["bntt_shift"][step]
        if node["type"] == "Scale":
            assert not shift.any(), name
            return {**node, "scale": scale}
        raw = kept.get("raw_weight", np.ones_like(node["weight"]))  # a shortcut has no weights of its own
        return {**node, "weight": raw * scale.reshape(-1, *[1] * (raw.ndim - 1)), "bias": shift}

    def order(self):
        done, order = set(), []
        while len(order) < len(self.nodes):
            ready = [n for n in self.nodes if n not in done and all(a in done for a, b in self.edges if b == n)]
            assert ready, "a cycle"
            order += ready
            done |= set(ready)
        return order


def convolve(x, node):
    weight, bias, groups = node["weight"].astype(float), node["bias"].astype(float), int(node["groups"])
    pad, stride = node["padding"][0], node["stride"][0]
    assert list(node["dilation"]) == [1, 1] and list(node["input_shape"]) == list(x.shape[1:])
    x = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    outputs, inputs, height, width = weight.shape
    rows, columns = (x.shape[1] - height) // stride + 1, (x.shape[2] - width) // stride + 1
    y = np.zeros((outputs, rows, columns))
    for o in range(outputs):
        first = o // (outputs // groups) * inputs
        for r in range(rows):
            for c in range(columns):
                window = x[first : first + inputs, r * stride : r * stride + height, c * stride : c * stride + width]
                y[o, r, c] = np.sum(window * weight[o]) + bias[o]
    return y


def sum_pool(x, node):
    k, l = node["kernel_size"]
    assert list(node["stride"]) == [k, l] and not np.any(node["padding"])
    rows, columns = x.shape[1] // k, x.shape[2] // l
    return x[:, : rows * k, : columns * l].reshape(-1, rows, k, columns, l).sum((2, 4))


def simulate(graph, frames):
    """Spikes of every node of neurons [step, ...], and what reaches the output at every step."""
    dt = float(np.float32(graph.metadata["dt"]))
    volts, spikes, outputs = {}, {}, []
    order = graph.order()
    for step, frame in enumerate(frames):
        values = {}
        for name in order:
            node = graph.node_at(name, step)
            kind = node["type"]
            arriving = [values[a] for a, b in graph.edges if b == name]
            x = frame if kind == "Input" else sum(arriving[1:], arriving[0])
            assert all(value.shape == x.shape for value in arriving), name
            if kind in ("Input", "Output"):
                assert tuple(node["shape"]) == x.shape, name
            elif kind == "Conv2d":
                x = convolve(x, node)
            elif kind == "Affine":
                x = node["weight"].astype(float) @ x + node["bias"]
            elif kind == "Scale":
                assert node["scale"].shape == x.shape, name
                x = node["scale"] * x
            elif kind == "SumPool2d":
                x = sum_pool(x, node)
            elif kind == "Flatten":
                assert int(node["start_dim"]) == 0 and tuple(node["input_type"]) == x.shape, name
                x = x.reshape(-1)
            elif kind in ("LIF", "IF", "LI"):
                assert all(node[p].shape == x.shape for p in node if p != "type"), name
                v = volts.get(name, np.zeros(x.shape))
                if kind == "IF":
                    v = v + node["r"] * x
                else:
                    v = v + dt / node["tau"].astype(float) * (node["v_leak"] - v + node["r"] * x)
                if kind == "LI":
                    x = v
                else:
                    x = (v > node["v_threshold"]).astype(float)
                    v = np.where(x > 0, node["v_reset"], v)
                    spikes.setdefault(name, []).append(x)
                volts[name] = v
            else:
                raise AssertionError(f"{name}: a {kind}")
            values[name] = x
        outputs.append(next(values[n] for n in graph.nodes if graph.nodes[n]["type"] == "Output"))
    return {name: np.array(train) for name, train in spikes.items()}, np.array(outputs)


def decoded(graph, outputs):
    decode = graph.metadata["decode"].decode()
    logits = outputs[-1] if decode == "last voltage" else outputs.sum(0)
    if graph.metadata["divide_by_steps"]:
        logits = logits / len(outputs)
    return logits.reshape(-1, int(graph.metadata["votes"])).mean(1)


def main():
    directory = pathlib.Path(sys.argv[1])
    files = sorted(directory.glob("*.nir"))
    assert len(files) >= 3 and any(Graph(path).steps for path in files), files
    for path in files:
        ours = read_tensors(path.with_suffix(".safetensors"))
        graph = Graph(path)
        spikes, outputs = simulate(graph, ours["input"])
        stages = sorted(set(ours) - {"input", "logits"})
        assert sorted(spikes) == stages, (sorted(spikes), stages)
        fired = 0
        for name, train in spikes.items():
            expected = ours[name].reshape(train.shape)
            assert np.array_equal(train, expected), f"{path.name}: {name} fires differently"
            share = expected.mean()
            assert 0.01 < share < 0.99, f"{path.name}: {name} fires {share}: nothing is shown"
            fired += int(expected.sum())
        difference = np.abs(decoded(graph, outputs) - ours["logits"]).max()
        assert difference < 1e-4, f"{path.name}: logits differ by {difference}"
        print(f"{path.name}: {fired} spikes of {len(spikes)} stages agree, logits within {difference:.1e}")


main()
