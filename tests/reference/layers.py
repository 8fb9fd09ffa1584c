"""Prints layers.safetensors: what PyTorch's layers make of small inputs, forward and backward.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

LAYER.y, LAYER.dx and LAYER.parameters are the outputs and gradients of a layer for patterns, batch 2; in multiples of 1/64, but for the
last layers, whose numbers are not exact in binary. cross_entropy.losses, .mean and .dx are the losses of the single samples, their mean
and its gradient: logits [4, 5], a pattern times 3; labels 3 0 4 3.
"""

import torch
from torch import nn

from common import pattern, write

results = {}


def run_layer(name, layer, shape, batch=2, x_modulus=23, scale=64):
    """Parameters, inputs and output gradients follow patterns; results are multiples of 1/scale."""
    layer = layer.double()
    x = pattern((batch, *shape), 7, 3, x_modulus).requires_grad_()
    parameters = list(layer.parameters())
    for parameter, numbers in zip(parameters, ((5, 1, 17), (3, 2, 7))):
        parameter.data = pattern(parameter.shape, *numbers)
    y = layer(x)
    y.backward(pattern(y.shape, 11, 5, 19))
    gradients = torch.cat([x.new_zeros(0), *(p.grad.flatten() for p in parameters)])
    results[f"{name}.y"] = y.detach() * scale
    results[f"{name}.dx"] = x.grad * scale
    results[f"{name}.parameters"] = gradients * scale


run_layer("conv2d_3x3", nn.Conv2d(2, 3, 3), (2, 5, 4))
run_layer("conv2d_2x2_stride3_padding1", nn.Conv2d(1, 2, 2, stride=3, padding=1), (1, 4, 6))
run_layer("conv2d_1x1", nn.Conv2d(3, 2, 1), (3, 1, 1))
run_layer("conv2d_5x5_stride2_padding2", nn.Conv2d(1, 4, 5, stride=2, padding=2), (1, 7, 5))
run_layer("linear_7_3", nn.Linear(7, 3), (7,))
run_layer("linear_1_1", nn.Linear(1, 1), (1,))
run_layer("relu", nn.ReLU(), (3, 2, 2))
# A small modulus makes equal elements: the first of them counts.
run_layer("max_pool2d_2", nn.MaxPool2d(2), (2, 5, 4), x_modulus=5)
run_layer("max_pool2d_3_stride1_padding1", nn.MaxPool2d(3, stride=1, padding=1), (1, 4, 5))
run_layer("max_pool2d_2_stride3", nn.MaxPool2d(2, stride=3), (1, 5, 6), x_modulus=5)
run_layer("softmax_1d", nn.Softmax(dim=1), (5,), scale=1)
run_layer("softmax_3d", nn.Softmax(dim=1), (3, 1, 2), scale=1)

x = (pattern((4, 5), 7, 3, 23) * 3).requires_grad_()
labels = torch.tensor([3, 0, 4, 3])
mean = nn.CrossEntropyLoss()(x, labels)
mean.backward()
results["cross_entropy.losses"] = nn.CrossEntropyLoss(reduction="none")(x, labels).detach()
results["cross_entropy.mean"] = mean.detach()
results["cross_entropy.dx"] = x.grad
write(results)
