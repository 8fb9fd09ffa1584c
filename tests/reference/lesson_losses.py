"""Prints lesson_losses.hpp: the first hundred losses of the CIFAR-10 lesson and of a deeper network, by PyTorch.

Usage: see regenerate.sh     (PyTorch 2.15; GPUNET_TEST_DATA: folder with cifar10/, the CIFAR-10 binary files)
"""

import os

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

STEPS = 100


def lenet():
    return nn.Sequential(
        nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def cnn():
    return nn.Sequential(
        nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5, padding=3), nn.ReLU(),
        nn.Conv2d(16, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def read(folder):
    records = numpy.concatenate(
        [numpy.fromfile(f"{folder}/data_batch_{i}.bin", numpy.uint8).reshape(-1, 3073) for i in range(1, 6)])
    images = torch.from_numpy(records[:, 1:].reshape(-1, 3, 32, 32)).float()
    return TensorDataset((images / 255 - 0.5) / 0.5, torch.from_numpy(records[:, 0]).long())


def print_losses(name, what, make, batch, make_optimizer, data, dtype=torch.float32):
    torch.manual_seed(0)
    net = make().to(dtype)
    optimizer = make_optimizer(net.parameters())
    criterion = nn.CrossEntropyLoss()
    losses = []
    for step, (inputs, labels) in enumerate(DataLoader(data, batch_size=batch, shuffle=True)):
        if step == STEPS:
            break
        optimizer.zero_grad()
        loss = criterion(net(inputs.to(dtype)), labels)
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.8f}")
    print(f"// {what}\ninline constexpr double {name}[] = {{{', '.join(losses)}}};\n")


torch.set_num_threads(1)
cifar = read(os.environ["GPUNET_TEST_DATA"] + "/cifar10")
print("""// Printed by lesson_losses.py with PyTorch %s.
#pragma once

namespace reference {
""" % torch.__version__.split("+")[0])
print_losses("lesson_losses", "The lesson's network: seed 0, batch 4, SGD 0.001, momentum 0.9.", lenet, 4,
             lambda p: torch.optim.SGD(p, lr=0.001, momentum=0.9), cifar)
# In float, PyTorch with and without oneDNN are 1.1 % and 0.5 % away from this at most: small differences grow.
print_losses("cnn_losses", "Four convolutions: seed 0, batch 256, Adam with its defaults; in double.", cnn, 256,
             torch.optim.Adam, cifar, torch.float64)
print("}  // namespace reference")
