#!/usr/bin/env python3
"""Reads a run of bntt with nothing but Python's standard library.

  examples/read_run.py runs/demo

prints the epochs of metrics.jsonl and the tensors of a checkpoint. As a module:

  from read_run import read_metrics, read_tensors
  epochs = read_metrics("runs/demo", "epoch")
  metadata, tensors = read_tensors("runs/demo/best.safetensors")
  shape, values = tensors["conv1.norm.weight"]      # gamma, [step, channel]
  numpy.array(values, dtype=numpy.float32).reshape(shape)
"""
import array
import json
import pathlib
import struct
import sys

TYPE_CODES = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U8": "B"}


def read_metrics(run, kind):
    """The lines of metrics.jsonl of one kind (step, epoch or test), as dictionaries."""
    text = (pathlib.Path(run) / "metrics.jsonl").read_text(encoding="utf-8")
    # A run that is still being written may end in an incomplete line.
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    return [line for line in lines if line["kind"] == kind]


def read_tensors(path):
    """Metadata, and for every tensor its shape and its values in one flat array.

    A safetensors file consists of the length of its header (8 bytes, little endian), the header as
    JSON, and the numbers, to which the header's data_offsets point.
    """
    data = pathlib.Path(path).read_bytes()
    (header_bytes,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + header_bytes])
    metadata = header.pop("__metadata__", {})
    numbers = memoryview(data)[8 + header_bytes :]
    tensors = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        values = array.array(TYPE_CODES[tensor["dtype"]], bytes(numbers[begin:end]))
        if sys.byteorder == "big":
            values.byteswap()
        tensors[name] = (tensor["shape"], values)
    return metadata, tensors


def mean_of_rows(shape, values):
    """The mean of each row of a tensor [row, column], or the mean of a vector."""
    columns = shape[-1]
    rows = [values[i : i + columns] for i in range(0, len(values), columns)]
    return [sum(row) / columns for row in rows]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run = pathlib.Path(sys.argv[1])
    for line in read_metrics(run, "epoch"):
        validation = line.get("validation_accuracy")
        text = "none" if validation is None else f"{validation:.2f} %"
        print(f"epoch {line['epoch']}: train loss {line['train_loss']:.4f}, validation {text}")
    for line in read_metrics(run, "test"):
        print(f"test: {line['accuracy']:.2f} % of {line['images']} images")
    best = run / "best.safetensors"
    metadata, tensors = read_tensors(best if best.exists() else run / "checkpoint.safetensors")
    network = json.loads(metadata["bntt.network"])
    print(f"network: {network['steps']} steps, {len(network['stages'])} stages")
    for name, (shape, values) in tensors.items():
        print(f"{name} {shape}")
        if name.endswith("norm.weight"):
            means = " ".join(f"{mean:.2f}" for mean in mean_of_rows(shape, values))
            print(f"  mean gamma of each step: {means}")


if __name__ == "__main__":
    main()
