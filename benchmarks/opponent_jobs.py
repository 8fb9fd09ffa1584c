"""The jobs of jobs.cpp for PyTorch, with the same networks and numbers.

A job has `ways`, the choices that it can be run with, start(choice=value...) and run(steps), which leaves `value`.
"""

import time

import torch
from torch import nn


def spread(n):
    """n numbers from 0 to 2^32, the same as spread() in work.hpp."""
    return torch.arange(n) * 2654435761 % 2**32


def spread_values(*sizes):
    n = torch.Size(sizes).numel()
    return (spread(n).double() / 2147483648 - 1).float().reshape(sizes)


def convolution(inputs, outputs, kernel, padding=0):
    return [nn.Conv2d(inputs, outputs, kernel, padding=padding), nn.ReLU()]


def linears(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return layers[:-1]


def iris():
    return nn.Sequential(*linears(4, 8, 9, 3))


def lenet():
    return nn.Sequential(*convolution(3, 6, 5), nn.MaxPool2d(2), *convolution(6, 16, 5), nn.MaxPool2d(2),
                         nn.Flatten(), *linears(400, 120, 84, 10))


def cnn():
    return nn.Sequential(*convolution(3, 6, 5), nn.MaxPool2d(2), *convolution(6, 16, 5, padding=3),
                         *convolution(16, 16, 5), nn.MaxPool2d(2), *convolution(16, 16, 3), nn.MaxPool2d(2),
                         nn.Flatten(), *linears(64, 120, 84, 10))


def mlp():
    return nn.Sequential(*linears(784, 512, 512, 10))


def vgg():
    return nn.Sequential(*convolution(3, 64, 3, 1), *convolution(64, 64, 3, 1), nn.MaxPool2d(2),
                         *convolution(64, 128, 3, 1), *convolution(128, 128, 3, 1), nn.MaxPool2d(2),
                         nn.Flatten(), *linears(8192, 256, 10))


IMAGE = (3, 32, 32)


def momentum(parameters, **how):
    return torch.optim.SGD(parameters, lr=0.001, momentum=0.9, **how)


def adam(lr):
    return lambda parameters, **how: torch.optim.Adam(parameters, lr=lr, **how)


def wall_time(run, steps):
    """Milliseconds of run(steps)."""
    begin = time.perf_counter()
    run(steps)
    return 1e3 * (time.perf_counter() - begin)


class Training:
    """Steps of a network on one batch, each with forward, loss, backward and update."""

    ways = {"optimizer": [{}, {"foreach": True}, {"fused": True}]}

    def __init__(self, network, optimizer, batch, sizes, classes):
        self.network, self.make_optimizer = network, optimizer
        self.inputs = spread_values(batch, *sizes)
        self.labels = (spread(batch) >> 16) % classes
        if sizes == IMAGE:
            self.ways = {"layout": ["contiguous", "channels_last"], **self.ways}

    def start(self, optimizer={}, layout="contiguous"):
        torch.manual_seed(0)
        self.model = self.network()
        if layout == "channels_last":
            self.model = self.model.to(memory_format=torch.channels_last)
            self.inputs = self.inputs.contiguous(memory_format=torch.channels_last)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = self.make_optimizer(self.model.parameters(), **optimizer)

    def run(self, steps):
        model, criterion, optimizer = self.model, self.criterion, self.optimizer
        inputs, labels = self.inputs, self.labels
        for _ in range(steps):
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            optimizer.step()
        self.value = loss.item()

    def time(self, steps):
        return wall_time(self.run, steps)


class Inference:
    """The network's output for one sample, which is read each time."""

    def __init__(self, network, sizes):
        self.network, self.inputs, self.ways = network, spread_values(1, *sizes), {}
        if sizes == IMAGE:
            self.ways = {"layout": ["contiguous", "channels_last"]}

    def start(self, layout="contiguous"):
        torch.manual_seed(0)
        self.model = self.network().eval()
        if layout == "channels_last":
            self.model = self.model.to(memory_format=torch.channels_last)
            self.inputs = self.inputs.contiguous(memory_format=torch.channels_last)

    def run(self, steps):
        model, inputs = self.model, self.inputs
        with torch.inference_mode():
            for _ in range(steps):
                output = model(inputs).tolist()
        self.value = output[0][0]

    def time(self, steps):
        return wall_time(self.run, steps)


class Product:
    """C = A B, by PyTorch or by numpy's OpenBLAS."""

    def __init__(self, n):
        self.a, self.b = spread_values(n, n), spread_values(n, n).t().contiguous()
        self.c = torch.zeros(n, n)
        self.ways = {"library": ["torch", "numpy"] if numpy() else ["torch"]}

    def start(self, library="torch"):
        self.library = library

    def run(self, steps):
        if self.library == "numpy":
            product, a, b, c = numpy().matmul, self.a.numpy(), self.b.numpy(), self.c.numpy()
        else:
            product, a, b, c = torch.mm, self.a, self.b, self.c
        for _ in range(steps):
            product(a, b, out=c)
        self.value = self.c[0, 1].item()

    def time(self, steps):
        return wall_time(self.run, steps)


def numpy():
    """The module, or None where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


JOBS = {
    "iris": lambda: Training(iris, adam(0.01), 120, (4,), 3),
    "lenet_b4": lambda: Training(lenet, momentum, 4, IMAGE, 10),
    "lenet_b256": lambda: Training(lenet, momentum, 256, IMAGE, 10),
    "cnn_b256": lambda: Training(cnn, adam(0.001), 256, IMAGE, 10),
    "mlp_b64": lambda: Training(mlp, momentum, 64, (784,), 10),
    "mlp_b512": lambda: Training(mlp, momentum, 512, (784,), 10),
    "vgg_b32": lambda: Training(vgg, momentum, 32, IMAGE, 10),
    "lenet_infer_b1": lambda: Inference(lenet, IMAGE),
    "mlp_infer_b1": lambda: Inference(mlp, (784,)),
    "gemm_256": lambda: Product(256),
    "gemm_1024": lambda: Product(1024),
    "gemm_2048": lambda: Product(2048),
}
