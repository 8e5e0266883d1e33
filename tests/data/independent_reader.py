#!/usr/bin/python3
"""Compares every pixel and label that our loaders give with what Pillow and NumPy read from the same files.

usage: independent_reader.py DUMP_PROGRAM SHARED_DATA
Files made here are always compared; real ones where SHARED_DATA (or $BNTT_SHARED_DATA) is a folder.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

program = sys.argv[1]
shared = Path(os.environ.get("BNTT_SHARED_DATA", sys.argv[2]))
work = tempfile.TemporaryDirectory(prefix="bntt-test-")
root = Path(work.name)
MASK = (1 << 64) - 1


def dump(name, directory, *options):
    subprocess.run([program, name, str(directory), str(root / "dump"), *options], check=True)
    result = []
    for split in ("train", "test"):
        raw = (root / f"dump.{split}").read_bytes()
        count, frames, height, width, channels = np.frombuffer(raw, "<i8", 5)
        labels = np.frombuffer(raw, "<i8", count, 40)
        pixels = np.frombuffer(raw, np.uint8, offset=40 + 8 * count)
        result.append((labels, pixels.reshape(count, frames, height, width, channels)))
    return result


def name_hash(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def hashed(folder):
    return sorted((p for p in folder.iterdir() if p.is_file()), key=lambda p: name_hash(p.name))


def interleaved(classes):
    ranked = [((2 * i + 1) / len(files), label, path)
              for label, files in enumerate(classes) for i, path in enumerate(files)]
    return [(path, label) for _, label, path in sorted(ranked, key=lambda r: (r[0], r[1]))]


def expect_images(got, expected, what, tolerance=0, load=None):
    labels, pixels = got
    assert len(labels) == len(expected), f"{what}: {len(labels)} samples, expected {len(expected)}"
    for i, (path, label) in enumerate(expected):
        assert labels[i] == label, f"{what}: {path} has the label {labels[i]}, expected {label}"
        difference = np.abs(pixels[i].astype(int) - load(path).astype(int)).max()
        assert difference <= tolerance, f"{what}: {path} differs by {difference}"
    print(f"{what}: {len(labels)} samples agree")


def rgb(path):
    return np.asarray(Image.open(path).convert("RGB"))[None]


def cropped(size):
    def load(path):
        image = Image.open(path).convert("RGB")
        side = min(image.size)
        left, top = (image.size[0] - side) / 2, (image.size[1] - side) / 2
        return np.asarray(image.resize((size, size), Image.BILINEAR, (left, top, left + side, top + side)))[None]
    return load


def squeezed(size):
    return lambda path: np.asarray(Image.open(path).convert("RGB").resize((size, size), Image.BILINEAR))[None]


def frames_of(t, x, y, p, width, height, side, frames, interval):
    t = t - t.min()
    index = t * frames // (t.max() + 1) if interval == "time" else np.arange(len(t)) * frames // len(t)
    counts = np.zeros((frames, side, side, 2), np.int64)
    np.add.at(counts, (index, y * side // height, x * side // width, p), 1)
    return np.minimum(counts, 255)


def nmnist(frames, interval):
    def load(path):
        e = np.fromfile(path, np.uint8).reshape(-1, 5).astype(np.int64)
        t = (e[:, 2] & 127) << 16 | e[:, 3] << 8 | e[:, 4]
        return frames_of(t, e[:, 0], e[:, 1], e[:, 2] >> 7, 34, 34, 34, frames, interval)
    return load


def dvs128(frames, interval):
    def load(path):
        raw = path.read_bytes()
        begin = 0
        while raw[begin:begin + 1] == b"#":
            begin = raw.index(b"\n", begin) + 1
        e = np.frombuffer(raw[begin:], ">u4").reshape(-1, 2).astype(np.int64)
        x, y, p = e[:, 0] >> 1 & 127, e[:, 0] >> 8 & 127, 1 - (e[:, 0] & 1)
        return frames_of(e[:, 1], 127 - y, 127 - x, p, 128, 128, 42, frames, interval)
    return load


def check_made_images():
    random = np.random.default_rng(1)
    for name, size in (("cats", (32, 32)), ("dogs", (32, 32)), ("large", (90, 61))):
        (root / "folder" / name).mkdir(parents=True)
        for i in range(12):
            picture = Image.fromarray(random.integers(0, 256, (size[1], size[0], 3), np.uint8))
            mode = ("RGB", "L", "P")[i % 3]
            picture.convert(mode).save(root / "folder" / name / f"{i}.png")
            picture.convert("RGB" if mode == "P" else mode).save(root / "folder" / name / f"{i}.jpg")
    files = [hashed(root / "folder" / name) for name in ("cats", "dogs", "large")]
    tests = [f[:3] for f in files]  # a tenth of 24, rounded up
    trains = [f[3:] for f in files]
    for options, load in (((), cropped(32)), (("fit=squeeze",), squeezed(32))):
        train, test = dump("folder", root / "folder", *options)
        # Pillow resizes in two rounded steps.
        expect_images(train, interleaved(trains), "folder", 1, load)
        expect_images(test, interleaved(tests), "folder", 1, load)


def made_events(random, width, height, start, count=400):
    """Rows t, x, y, p in the order of time; many share time and row."""
    t = start + np.sort(random.integers(0, 9000, count)) // 7 * 7
    e = np.stack([t, random.integers(0, width, count), random.integers(0, height, count) // 9 * 9,
                  random.integers(0, 2, count)], 1)
    return e[np.lexsort((e[:, 1], e[:, 3], e[:, 2], e[:, 0]))]


def evt2_file(events):
    words, high = [], None
    for t, x, y, p in events.tolist():
        if t >> 6 != high:
            high = t >> 6
            words.append(8 << 28 | high & (1 << 28) - 1)
        words.append(p << 28 | (t & 63) << 22 | x << 11 | y)
    return b"% evt 2.0\n% geometry 640x480\n% end\n" + np.array(words, "<u4").tobytes()


def evt3_file(events):
    """Runs of one time, row and polarity become single pixels or vectors, in turn."""
    words, high, low, row = [], None, None, None
    rows = np.unique(events[:, [0, 2, 3]], axis=0)
    for i, (t, y, p) in enumerate(rows.tolist()):
        xs = np.unique(events[(events[:, [0, 2, 3]] == (t, y, p)).all(1), 1]).tolist()
        if t >> 12 != high:
            high, low = t >> 12, None
            words.append(0x8000 | high & 0xFFF)
        if t & 0xFFF != low:
            low = t & 0xFFF
            words.append(0x6000 | low)
        if y != row:
            row = y
            words.append(y)
        if i % 2 == 0:
            words += [0x2000 | p << 11 | x for x in xs]
            continue
        base = xs[0] // 32 * 32
        words.append(0x3000 | p << 11 | base)
        while base <= xs[-1]:
            for kind, size in ((0x4000, 12), (0x4000, 12), (0x5000, 8)):
                words.append(kind | sum(1 << x - base for x in xs if base <= x < base + size))
                base += size
    return b"% format EVT3;height=720;width=1280\n" + np.array(words, "<u2").tobytes()


def dat_file(events):
    t, x, y, p = events.T
    records = np.stack([t & 0xFFFFFFFF, p << 28 | y << 14 | x], 1).astype("<u4")
    return b"% Data file containing CD events.\n% Version 2\n% Height 240\n% Width 304\n\x0c\x08" + records.tobytes()


def aedat3_file(events):
    t, x, y, p = events.T
    records = np.stack([x << 17 | y << 2 | p << 1 | 1, t], 1).astype("<u4")
    packet = np.array([1 | 1 << 16, 8, 4, 0] + 3 * [len(events)], "<u4")
    return (b"#!AER-DAT3.1\r\n#Format: RAW\r\n#Source 1: DAVIS240C\r\n#!END-HEADER\r\n" + packet.tobytes()
            + records.tobytes())


def bin_file(events):
    t, x, y, p = events.T
    return np.stack([x, y, p << 7 | t >> 16, t >> 8 & 255, t & 255], 1).astype(np.uint8).tobytes()


def check_made_events():
    random = np.random.default_rng(2)
    # Times that wrap around in the middle of the recording, where the format has a counter.
    kinds = {"evt2.raw": (evt2_file, 640, 480, (1 << 34) - 4000), "evt3.raw": (evt3_file, 1280, 720, (1 << 24) - 4000),
             "events.dat": (dat_file, 304, 240, (1 << 32) - 4000), "events.aedat": (aedat3_file, 240, 180, 77)}
    expected = {}

    def write(folder, name, label, file, width, height, start):
        events = made_events(random, width, height, start)
        if file == evt3_file:  # a pixel has one event at a time
            events = np.unique(events, axis=0)
        (root / folder / label).mkdir(parents=True, exist_ok=True)
        path = root / folder / label / name
        path.write_bytes(file(events))
        expected[path] = lambda side: frames_of(*events.T, width, height, side, 7, "time")

    for label in ("left", "right"):
        for i in range(3):
            for name, (file, width, height, start) in kinds.items():
                write("mixed", f"{i}-{name}", label, file, width, height, start)
            write("plain", f"{i}.bin", label, bin_file, 240, 180, 5)
    for folder, tests, options in (("mixed", 2, ()), ("plain", 1, ("width=240", "height=180"))):
        files = [hashed(root / folder / label) for label in ("left", "right")]
        train, test = dump("event-folder", root / folder, "frames=7", *options)
        expect_images(train, interleaved([f[tests:] for f in files]), f"{folder} events", 0,
                      lambda path: expected[path](42))
        expect_images(test, interleaved([f[:tests] for f in files]), f"{folder} events", 0,
                      lambda path: expected[path](42))


def check_cifar100():
    records = np.frombuffer((shared / "cifar100-mini/test.bin").read_bytes(), np.uint8).reshape(-1, 3074)
    whole = np.tile(records, (10000 // len(records), 1))
    (root / "cifar100").mkdir()
    whole.tofile(root / "cifar100/test.bin")
    images = whole[:, 2:].reshape(-1, 1, 3, 32, 32).transpose(0, 1, 3, 4, 2)
    for labels, column in (("fine", 1), ("coarse", 0)):
        _, (got_labels, got) = dump("cifar100", root / "cifar100", "train=0", f"labels={labels}")
        assert (got_labels == whole[:, column]).all() and (got == images).all(), "cifar100 differs"
    print(f"cifar100: {len(records)} samples agree, fine and coarse")


def check_tiny_imagenet():
    folder = shared / "tiny-imagenet-mini"
    wnids = (folder / "wnids.txt").read_text().split()
    train, test = dump("tiny-imagenet", folder)
    expect_images(train, interleaved([hashed(folder / "train" / w / "images") for w in wnids]),
                  "tiny-imagenet train", 0, rgb)
    rows = [line.split("\t") for line in (folder / "val/val_annotations.txt").read_text().splitlines()]
    expect_images(test, [(folder / "val/images" / r[0], wnids.index(r[1])) for r in rows],
                  "tiny-imagenet val", 0, rgb)


def check_nmnist():
    folder = shared / "nmnist"
    for interval in ("time", "count"):
        train, test = dump("nmnist", folder, "frames=7", f"interval={interval}")
        for got, split in ((train, "Train"), (test, "Test")):
            expect_images(got, interleaved([hashed(folder / split / str(d)) for d in range(10)]),
                          f"nmnist {split} by {interval}", 0, nmnist(7, interval))


def check_dvs_cifar10():
    classes = "airplane automobile bird cat deer dog frog horse ship truck".split()
    recordings = [shared / "dvs128/Lapiseira.aedat", shared / "dvs128/Tesoura.aedat"]
    files = []
    for number, name in enumerate(classes):
        (root / "dvs" / name).mkdir(parents=True)
        for i in range(2):
            (root / "dvs" / name / f"cifar10_{name}_{i}.aedat").symlink_to(recordings[(number + i) % 2])
        files.append(hashed(root / "dvs" / name))
    train, test = dump("dvs-cifar10", root / "dvs", "frames=20")
    expect_images(train, interleaved([f[1:] for f in files]), "dvs-cifar10 train", 0, dvs128(20, "time"))
    expect_images(test, interleaved([f[:1] for f in files]), "dvs-cifar10 test", 0, dvs128(20, "time"))


def check_cifar10(folder):
    train, test = dump("cifar10", folder)
    names = [[f"data_batch_{i}.bin" for i in range(1, 6)], ["test_batch.bin"]]
    for (labels, images), files in zip((train, test), names):
        records = np.concatenate([np.fromfile(folder / f, np.uint8).reshape(-1, 3073) for f in files])
        expected = records[:, 1:].reshape(-1, 1, 3, 32, 32).transpose(0, 1, 3, 4, 2)
        assert (labels == records[:, 0]).all() and (images == expected).all(), "cifar10 differs"
        print(f"cifar10: {len(labels)} samples agree")


check_made_images()
check_made_events()
if shared.is_dir():
    check_cifar100()
    check_tiny_imagenet()
    check_nmnist()
    check_dvs_cifar10()
else:
    print(f"no real files: {shared} is not a folder")
if "BNTT_CIFAR10_DIR" in os.environ:
    place = Path(os.environ["BNTT_CIFAR10_DIR"])
    inner = place / "cifar-10-batches-bin"
    check_cifar10(inner if inner.is_dir() else place)
