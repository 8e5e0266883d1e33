"""A plain BNTT network in PyTorch, with nothing of ours in it, must give our logits.

usage: python_bntt_check.py WEIGHTS.safetensors CASE.safetensors

WEIGHTS has the tensor names of the authors' model; CASE has input_spikes [step, batch, channel, y, x]
and our logits [batch, class].
"""

import json
import struct
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional

LEAK = 0.95
THRESHOLD = 1.0
TOLERANCE = 1e-4


def read_safetensors(path):
    with open(path, "rb") as file:
        (header_size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(header_size))
        data = file.read()
    header.pop("__metadata__", None)
    types = {"F32": "<f4", "F64": "<f8", "I64": "<i8"}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = numpy.frombuffer(data[begin:end], dtype=types[entry["dtype"]])
        tensors[name] = torch.from_numpy(values.reshape(entry["shape"]).copy())
    return tensors


class BnttNetwork(nn.Module):
    """conv, conv, pool, conv, pool, fc, readout; every size is read off the weights."""

    def __init__(self, weights, steps):
        super().__init__()
        self.steps = steps
        for i in (1, 2, 3):
            out_channels, in_channels = weights[f"conv{i}.weight"].shape[:2]
            setattr(self, f"conv{i}", nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False))
            setattr(self, f"bntt{i}", self.norms(nn.BatchNorm2d, out_channels))
        for i in (1, 2):
            out_features, in_features = weights[f"fc{i}.weight"].shape
            setattr(self, f"fc{i}", nn.Linear(in_features, out_features, bias=False))
        self.bntt_fc = self.norms(nn.BatchNorm1d, self.fc1.out_features)

    def norms(self, kind, channels):
        norms = nn.ModuleList(kind(channels, eps=1e-4, momentum=0.1) for _ in range(self.steps))
        for norm in norms:
            norm.bias = None
        return norms

    def forward(self, input_spikes):
        membranes = {}
        self.nearest = float("inf")
        self.fired = {}

        def fire(name, drive):
            membrane = LEAK * membranes.get(name, torch.zeros_like(drive)) + drive
            spikes = (membrane > THRESHOLD).to(drive.dtype)
            membranes[name] = membrane - THRESHOLD * spikes
            self.nearest = min(self.nearest, (membrane - THRESHOLD).abs().min().item())
            self.fired[name] = self.fired.get(name, 0) + spikes.sum().item()
            return spikes

        voltage = 0
        for step in range(self.steps):
            spikes = fire("conv1", self.bntt1[step](self.conv1(input_spikes[step])))
            spikes = fire("conv2", self.bntt2[step](self.conv2(spikes)))
            spikes = functional.avg_pool2d(spikes, 2)
            spikes = fire("conv3", self.bntt3[step](self.conv3(spikes)))
            spikes = functional.avg_pool2d(spikes, 2)
            spikes = fire("fc1", self.bntt_fc[step](self.fc1(spikes.flatten(1))))
            voltage = voltage + self.fc2(spikes)
        return voltage / self.steps


def main():
    weights = read_safetensors(sys.argv[1])
    case = read_safetensors(sys.argv[2])
    input_spikes = case["input_spikes"].double()
    expected = case["logits"].double()

    # In float64 only our own rounding is left; the exporter chose a case without membranes near the threshold.
    network = BnttNetwork(weights, steps=input_spikes.shape[0])
    network.load_state_dict(weights, strict=True)
    network.double().eval()
    with torch.no_grad():
        logits = network(input_spikes)

    difference = (logits - expected).abs().max().item()
    print(f"nearest membrane to the threshold: {network.nearest:.1e}; spikes: {network.fired}")
    print(f"largest difference of logits: {difference:.1e} of {expected.abs().max().item():.3f}")
    if not all(network.fired.values()):
        sys.exit("a layer never fired: the comparison says nothing")
    if expected.abs().max().item() == 0 or not difference <= TOLERANCE:
        sys.exit(f"logits differ by {difference}, more than {TOLERANCE}")
    if not torch.equal(logits.argmax(1), expected.argmax(1)):
        sys.exit("the classes differ")


if __name__ == "__main__":
    main()
