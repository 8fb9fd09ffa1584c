"""Prints hooks.safetensors: what PyTorch's hooks see of a network, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

What the hooks of each layer see in a pass of a Sequential of Conv2d(2, 3, 3), BatchNorm2d(3), ReLU, MaxPool2d(2), Flatten, Linear(12, 5),
ReLU, Linear(5, 3), whose parameters and inputs [5, 2, 6, 6] are patterns, with CrossEntropyLoss and the labels 0 2 1 1 0: LAYER.output, and
LAYER.gradient, of the loss by it.
"""

import torch
from torch import nn

from common import rounded, pattern, write

net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12, 5),
                    nn.ReLU(), nn.Linear(5, 3)).double()
for i, parameter in enumerate(net.parameters()):
    parameter.data = pattern(parameter.shape, 5 + 2 * i, i, 29)
seen, gradients = {}, {}
for name, layer in net.named_children():
    layer.register_forward_hook(lambda m, x, y, name=name: seen.update({name: y.detach()}))
    layer.register_full_backward_hook(lambda m, dx, dy, name=name: gradients.update({name: dy[0]}))
nn.CrossEntropyLoss()(net(pattern((5, 2, 6, 6), 7, 3, 23).requires_grad_()), torch.tensor([0, 2, 1, 1, 0])).backward()
results = {}
for name, _ in net.named_children():
    results[f"{name}.output"] = rounded(seen[name].flatten())
    results[f"{name}.gradient"] = rounded(gradients[name].flatten())
write(results)
