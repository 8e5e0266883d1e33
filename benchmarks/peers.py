"""Times the network of `bntt bench` (vgg9 with BNTT) in other tools, on CIFAR-10:

    PYTHONPATH=SNNTORCH /usr/bin/python3 benchmarks/peers.py snntorch --data DIR train
    PYTHONPATH=SPIKINGJELLY /usr/bin/python3 benchmarks/peers.py spikingjelly --data DIR --batch 1 infer

SNNTORCH and SPIKINGJELLY are source trees of these tools. `torch` is the network in plain PyTorch, without
either. Prints JSON: images per second of the best and of the median repeat, peak memory, versions.
"""

import argparse
import ctypes
import importlib
import importlib.metadata
import json
import math
import pathlib
import platform
import re
import resource
import statistics
import sys
import time

TRAINING_IMAGES = 50000
IMAGE_SHAPE = (3, 32, 32)
MEAN = (0.4914, 0.4822, 0.4465)  # by channel, as bntt normalises CIFAR-10
DEVIATION = (0.2023, 0.1994, 0.2010)
WARM_UPS = 2  # SpikingJelly's TorchScript functions are optimised during their first calls
SINGLE_IMAGES = 16  # of one repeat of inference, at least: as bntt bench does


class BadInput(Exception):
    """A user's mistake, told in one sentence."""


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="peers.py",
        description="Times vgg9 with Batch Normalization Through Time in another tool, on CIFAR-10. Prints JSON.",
        epilog="Example: PYTHONPATH=SNNTORCH python3 benchmarks/peers.py snntorch --data DIR train")
    parser.add_argument("peer", choices=["snntorch", "spikingjelly", "torch"], help="torch: plain PyTorch")
    parser.add_argument("what", choices=["train", "infer"], help="training steps, or predictions")
    parser.add_argument("--data", required=True, type=pathlib.Path, help="directory with cifar-10-batches-bin")
    parser.add_argument("--batch", type=positive(int), default=32, help="images at once (default 32)")
    parser.add_argument("--steps", type=positive(int), default=25, help="time steps (default 25)")
    parser.add_argument("--width", type=positive(float), default=1.0, help="multiplies the channels (default 1)")
    parser.add_argument("--threads", type=positive(int), default=2, help="(default 2)")
    parser.add_argument("--repeats", type=positive(int), default=3, help="timed repeats (default 3)")
    parser.add_argument("--encoder", choices=["poisson", "direct"], default="poisson",
                        help="signed Poisson spikes, or the image itself at every step (default poisson)")
    parser.add_argument("--reset", choices=["soft", "hard"], default="soft", help="(default soft)")
    parser.add_argument("--leak", type=float, default=0.95, help="share of the membrane that stays (default 0.95)")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32",
                        help="bf16: with PyTorch's autocast (default fp32)")
    parser.add_argument("--channels-last", action="store_true", help="PyTorch's other memory layout")
    parser.add_argument("--step-mode", choices=["s", "m"], default="m",
                        help="of spikingjelly: m is layer by layer, s step by step (default m)")
    arguments = parser.parse_args()
    if not 0.0 < arguments.leak < 1.0:
        parser.error(f"--leak is {arguments.leak}, expected a number between 0 and 1")
    if arguments.what == "train" and arguments.batch < 2:
        parser.error("--batch is 1, expected at least 2 for training: one image has no batch statistics")
    if arguments.step_mode == "s" and arguments.peer != "spikingjelly":
        parser.error(f"--step-mode is an option of spikingjelly, but the tool is {arguments.peer}")
    return arguments


def positive(number):
    def parse(text):
        value = number(text)
        if not 0 < value < math.inf:
            raise ValueError
        return value

    parse.__name__ = f"{number.__name__} above 0"
    return parse


def make_network(arguments):
    try:
        return importlib.import_module("peer_networks").NETWORKS[arguments.peer](arguments)
    except (ImportError, AttributeError) as error:  # the latter where a peer wants another PyTorch
        raise BadInput(f"{arguments.peer} cannot be imported ({error}): put a source tree of it that fits the "
                       "installed PyTorch on PYTHONPATH") from error


def read_images(path, count):
    """The first images of a file of CIFAR-10, normalised, [image, channel, y, x], and their labels."""
    import torch

    record = 1 + math.prod(IMAGE_SHAPE)
    try:
        with path.open("rb") as file:
            data = file.read(record * count)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}, expected a file of CIFAR-10's binary version") from error
    if len(data) < record * count:
        raise BadInput(f"{path}: holds {len(data)} bytes, expected at least {record * count} for {count} images")
    records = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(count, record)
    pixels = records[:, 1:].view(count, *IMAGE_SHAPE) / 255.0
    normalised = (pixels - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(DEVIATION).view(3, 1, 1)
    return normalised, records[:, 0].long()


class Work:
    """Repeat after repeat: a training step on the next batch, or the same predictions."""

    def __init__(self, network, arguments):
        import torch

        self.torch = torch
        self.arguments = arguments
        self.training = arguments.what == "train"
        self.network = network.train(self.training)
        if arguments.channels_last:
            self.network.to(memory_format=torch.channels_last)
        self.sgd = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
        self.losses = []
        batches = 1 if self.training else math.ceil(SINGLE_IMAGES / arguments.batch)
        self.images_per_repeat = arguments.batch * batches
        repeats = WARM_UPS + arguments.repeats if self.training else 1
        file = arguments.data / "cifar-10-batches-bin" / ("data_batch_1.bin" if self.training else "test_batch.bin")
        self.images, self.labels = read_images(file, self.images_per_repeat * repeats)

    def repeat(self, number):
        batch = self.arguments.batch
        if self.training:
            self.train(slice(number * batch, (number + 1) * batch))
            return
        for first in range(0, len(self.images), batch):
            self.infer(slice(first, first + batch))

    def train(self, batch):
        self.sgd.zero_grad()
        with self.autocast():
            logits = self.network(self.frames(batch))
        loss = self.torch.nn.functional.cross_entropy(logits.float(), self.labels[batch])
        loss.backward()
        self.sgd.step()
        self.losses.append(loss.item())

    def infer(self, batch):
        with self.torch.inference_mode(), self.autocast():
            self.network(self.frames(batch)).argmax(1)

    def autocast(self):
        return self.torch.autocast("cpu", self.torch.bfloat16, enabled=self.arguments.precision == "bf16")

    def frames(self, batch):
        """[step, image, channel, y, x]; of direct input one step stands for all."""
        images = self.images[batch]
        if self.arguments.channels_last:
            images = images.contiguous(memory_format=self.torch.channels_last)
        if self.arguments.encoder == "direct":
            return images.unsqueeze(0)
        draws = self.torch.rand(self.arguments.steps, *images.shape)
        return (2.0 * draws <= images.abs()) * images.sign()


def version_of(peer):
    """Of the package if it is installed, else as its source tree says."""
    module = importlib.import_module(peer)
    if hasattr(module, "__version__"):
        return module.__version__
    for name in ("pyproject.toml", "setup.py"):
        description = pathlib.Path(module.__file__).parents[1] / name
        found = description.is_file() and re.search(r"^\s*version\s*=\s*[\"']([^\"']+)", description.read_text(), re.M)
        if found:
            return found[1]
    try:
        return importlib.metadata.version(peer)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def peak_memory_bytes():
    """VmHWM; not ru_maxrss, which survives exec."""
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"^VmHWM:\s*(\d+) kB", status, re.M)[1])


def keep_freed_memory():
    """As bntt bench does for itself and LibTorch: training is faster if malloc keeps the pages of large tensors."""
    trim_threshold, mmap_max = -1, -4  # of malloc.h
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(mmap_max, 0)
    mallopt(trim_threshold, 2**31 - 1)


def processor_seconds():
    """Of all threads, in the program and in the kernel."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measure(arguments):
    keep_freed_memory()
    network = make_network(arguments)
    import torch

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    work = Work(network, arguments)
    for number in range(WARM_UPS):
        work.repeat(number)
    seconds = []
    processor = []
    for number in range(WARM_UPS, WARM_UPS + arguments.repeats):
        processor_start = processor_seconds()
        start = time.perf_counter()
        work.repeat(number)
        seconds.append(time.perf_counter() - start)
        processor.append(processor_seconds() - processor_start)
    images = work.images_per_repeat
    settings = {name: getattr(arguments, name) for name in ("batch", "steps", "width", "threads", "precision")}
    report = {
        "peer": arguments.peer,
        "version": version_of(arguments.peer),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "what": arguments.what,
        **settings,
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        "images_per_second": images / min(seconds),
        "median_images_per_second": images / statistics.median(seconds),
        "processor_seconds_per_image": min(processor) / images,
        "peak_memory_bytes": peak_memory_bytes(),
        "seconds": seconds,
    }
    if work.training:
        report["losses"] = work.losses
        report["extrapolated_epoch_seconds"] = TRAINING_IMAGES / report["images_per_second"]
    return report


def main():
    arguments = parse_arguments()
    try:
        report = measure(arguments)
    except BadInput as error:
        print(f"peers.py: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
