"""vgg9 with Batch Normalization Through Time, as bntt has it, in other tools: benchmarks/peers.py.

A network takes frames [step, image, channel, y, x], where one step may stand for all of them (direct input), and
returns logits [image, class].
"""

import math

import torch
from torch import nn

EPSILON = 1e-4
THRESHOLD = 1.0
SURROGATE_HEIGHT = 0.3  # of the triangle in plain PyTorch, as in bntt
CLASSES = 10
SIDE = 32


def vgg9_synapses(layers, width):
    """Pools and convolutions without bias, made of `layers`: torch.nn or what a peer has in its place.

    Fully connected layers are convolutions of the whole map, so that they go through oneDNN: the BLAS that
    Debian's PyTorch links may be the plain reference. Also returns the channels of the hidden stages.
    """
    hidden = [max(1, math.floor(channels * width + 0.5)) for channels in (64, 64, 128, 128, 256, 256, 256, 1024)]
    behind_pool = {2, 4, 7}
    synapses = []
    inputs = 3
    for stage, outputs in enumerate(hidden):
        if stage == len(hidden) - 1:
            synapse = layers.Conv2d(inputs, outputs, SIDE // 8, bias=False)
        else:
            synapse = layers.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        synapses.append(nn.Sequential(layers.AvgPool2d(2), synapse) if stage in behind_pool else synapse)
        inputs = outputs
    synapses.append(layers.Conv2d(inputs, CLASSES, 1, bias=False))
    return synapses, hidden


def bntt_norms(channels, steps):
    """A batch norm for every step, without shift."""
    norms = nn.ModuleList(nn.BatchNorm2d(channels, eps=EPSILON) for _ in range(steps))
    for norm in norms:
        norm.bias = None
    return norms


def snntorch_network(options):
    """A loop over steps through snn.Leaky, as in snnTorch's tutorials, with snnTorch's own BNTT.

    Its soft reset subtracts the threshold after the leak, ours before; its surrogate is the default (atan), since
    its `triangular` is not a triangle.
    """
    import snntorch

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            synapses, hidden = vgg9_synapses(nn, options.width)
            self.readout = synapses.pop()
            self.synapses = nn.ModuleList(synapses)
            self.norms = nn.ModuleList(
                snntorch.BatchNormTT2d(channels, options.steps, eps=EPSILON) for channels in hidden)
            reset = {"soft": "subtract", "hard": "zero"}[options.reset]
            self.neurons = nn.ModuleList(
                snntorch.Leaky(beta=options.leak, threshold=THRESHOLD, reset_mechanism=reset) for _ in hidden)

        def forward(self, frames):
            membranes = [neuron.reset_mem() for neuron in self.neurons]
            current = None
            voltage = 0.0
            for step in range(options.steps):
                if step < len(frames):
                    current = self.synapses[0](frames[step])
                spikes, membranes[0] = self.neurons[0](self.norms[0][step](current), membranes[0])
                for stage in range(1, len(self.neurons)):
                    drive = self.norms[stage][step](self.synapses[stage](spikes))
                    spikes, membranes[stage] = self.neurons[stage](drive, membranes[stage])
                voltage = voltage + self.readout(spikes)
            return voltage.flatten(1) / options.steps

    return Network()


def spikingjelly_network(options):
    """Layer by layer, all steps at once where there is no state (step mode m), as SpikingJelly recommends for speed.

    SpikingJelly has no BNTT, so the norm of every step is PyTorch's. Its surrogate is our triangle, of height 1.
    """
    from spikingjelly.activation_based import base, functional, layer, neuron, surrogate

    class PerStepNorm(base.MemoryModule):
        def __init__(self, channels):
            super().__init__()
            self.norms = bntt_norms(channels, options.steps)
            self.register_memory("step", 0)

        def single_step_forward(self, current):
            self.step += 1
            return self.norms[self.step - 1](current)

        def multi_step_forward(self, currents):
            frames = currents.unbind(0) if len(currents) > 1 else [currents[0]] * options.steps
            return torch.stack([norm(frame) for norm, frame in zip(self.norms, frames)])

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            synapses, hidden = vgg9_synapses(layer, options.width)
            stages = []
            for synapse, channels in zip(synapses, hidden):
                stages += [synapse, PerStepNorm(channels), self.neurons()]
            self.chain = nn.Sequential(*stages, synapses[-1])
            functional.set_step_mode(self, options.step_mode)

        @staticmethod
        def neurons():
            return neuron.LIFNode(
                tau=1.0 / (1.0 - options.leak), decay_input=False, v_threshold=THRESHOLD,
                v_reset=None if options.reset == "soft" else 0.0,
                surrogate_function=surrogate.PiecewiseQuadratic(alpha=1.0), detach_reset=True, backend="torch")

        def forward(self, frames):
            functional.reset_net(self)
            if options.step_mode == "m":
                return self.chain(frames).mean(0).flatten(1)
            voltage = 0.0
            for step in range(options.steps):
                voltage = voltage + self.chain(frames[min(step, len(frames) - 1)])
            return voltage.flatten(1) / options.steps

    return Network()


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(context, over_threshold):
        context.save_for_backward(over_threshold)
        return (over_threshold > 0.0).to(over_threshold)

    @staticmethod
    def backward(context, gradient):
        over_threshold, = context.saved_tensors
        return gradient * (1.0 - over_threshold.abs() / THRESHOLD).clamp_min(0.0) * SURROGATE_HEIGHT


class TorchNetwork(nn.Module):
    """Plain PyTorch: the convolution of all steps at once, then norm and neurons step by step."""

    def __init__(self, options):
        super().__init__()
        synapses, hidden = vgg9_synapses(nn, options.width)
        self.options = options
        self.readout = synapses.pop()
        self.synapses = nn.ModuleList(synapses)
        self.norms = nn.ModuleList(bntt_norms(channels, options.steps) for channels in hidden)

    def forward(self, frames):
        for synapse, norms in zip(self.synapses, self.norms):
            currents = self.of_every_step(synapse, frames).unbind(0)
            if len(currents) == 1:
                currents = currents * self.options.steps
            frames = self.fire(norm(current) for norm, current in zip(norms, currents))
        return self.of_every_step(self.readout, frames).mean(0).flatten(1)

    @staticmethod
    def of_every_step(synapse, frames):
        return synapse(frames.flatten(0, 1)).unflatten(0, frames.shape[:2])

    def fire(self, drives):
        trains = []
        rest = None
        for drive in drives:
            membrane = drive if rest is None else drive + self.options.leak * rest
            spikes = Spike.apply(membrane - THRESHOLD)
            fired = spikes.detach()
            rest = membrane - THRESHOLD * fired if self.options.reset == "soft" else membrane * (1.0 - fired)
            trains.append(spikes)
        return torch.stack(trains)


NETWORKS = {"snntorch": snntorch_network, "spikingjelly": spikingjelly_network, "torch": TorchNetwork}
