"""Prints batch_norm.safetensors: PyTorch's batch normalization over three batches, then in eval mode.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

NAME.train.y, .dx and .parameters are the outputs and gradients in training, for the third of three batches of 3, and NAME.eval.* those in
eval mode then; NAME.running_mean and NAME.running_var are the running statistics between both.
"""

import torch
from torch import nn

from common import pattern, write

results = {}


def run_pass(name, layer, x, dy):
    for parameter in layer.parameters():
        parameter.grad = None
    x.requires_grad_()
    y = layer(x)
    y.backward(dy)
    results[f"{name}.y"] = y.detach()
    results[f"{name}.dx"] = x.grad
    results[f"{name}.parameters"] = torch.cat([layer.weight.grad, layer.bias.grad])


def run_layer(name, layer, shape, batch=3):
    layer = layer.double()
    layer.weight.data = pattern(layer.weight.shape, 5, 1, 17)
    layer.bias.data = pattern(layer.bias.shape, 3, 2, 7)
    shape = (batch, *shape)
    for i in range(2):
        layer(pattern(shape, 7, i, 23))
    run_pass(f"{name}.train", layer, pattern(shape, 7, 3, 23), pattern(shape, 11, 5, 19))
    results[f"{name}.running_mean"] = layer.running_mean
    results[f"{name}.running_var"] = layer.running_var
    layer.eval()
    run_pass(f"{name}.eval", layer, pattern(shape, 7, 3, 23), pattern(shape, 11, 5, 19))


run_layer("batch_norm_1d", nn.BatchNorm1d(5), (5,))
run_layer("batch_norm_1d_length", nn.BatchNorm1d(2, eps=1e-3, momentum=0.3), (2, 4))
run_layer("batch_norm_2d", nn.BatchNorm2d(3), (3, 2, 5))
run_layer("batch_norm_2d_mean_of_all", nn.BatchNorm2d(4, momentum=None), (4, 3, 1))
write(results)
