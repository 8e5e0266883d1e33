"""A directory with a tiny data set in MNIST's format, settings for it and a trained run."""

import os
import shutil
import struct
import tempfile

import numpy

import bntt

TRAIN, TEST, SIDE = 48, 21, 12


def images(count):
    """Class k is a bright 3x6 field at the place k."""
    image, y, x = numpy.indices((count, SIDE, SIDE))
    label = image % 8
    bright = (y // 3 == label // 2) & (x // 6 == label % 2)
    pixels = numpy.where(bright, 210, 10) + (image * 5 + y * 3 + x) % 40
    return pixels.astype(numpy.uint8)[..., None]


def write_idx(path, array):
    with open(path, "wb") as file:
        file.write(bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes())


def write_recordings(directory):
    """Like N-MNIST: digit k is a column of events."""
    for digit in range(10):
        events = bytearray()
        for k in range(100):
            time_us = 1000 * k
            on = 0x80 if k % 2 == 0 else 0
            events += bytes([3 * digit + k % 4, k % 34, on | time_us >> 16, time_us >> 8 & 0xFF, time_us & 0xFF])
        for name in ("Train/{}/0.bin", "Train/{}/1.bin", "Train/{}/2.bin", "Test/{}/0.bin", "Test/{}/1.bin"):
            path = os.path.join(directory, name.format(digit))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(events)


SETTINGS = {
    "data": {"name": "mnist", "dir": "data", "validation": 0.25, "augment_pad": 1},
    "model": {"name": "vgg5", "steps": 3, "width": 0.05},
    "train": {"epochs": 3, "batch": 6},
    "run": {"log_steps": 2, "checkpoint_steps": 2},
}


def enter():
    """Makes the directory, goes there, and trains runs/demo. What to call at the end."""
    before = os.getcwd()
    directory = tempfile.mkdtemp(prefix="bntt-python-")
    os.environ["XDG_CACHE_HOME"] = os.path.join(directory, "cache")
    os.chdir(directory)
    os.mkdir("data")
    for prefix, count in (("train", TRAIN), ("t10k", TEST)):
        write_idx(f"data/{prefix}-images-idx3-ubyte", images(count)[..., 0])
        write_idx(f"data/{prefix}-labels-idx1-ubyte", (numpy.arange(count) % 8).astype(numpy.uint8))
    shutil.copy(os.environ["BNTT_PICTURE"], "boot.png")
    bntt.train(SETTINGS, "runs/demo", progress=False)

    def leave():
        os.chdir(before)
        shutil.rmtree(directory)

    return leave
