"""Prints batch_norm.hpp: PyTorch's batch normalization over three batches, then in eval mode.

Usage: see regenerate.sh     (PyTorch 2.15)
"""

import torch
from torch import nn

from layers import print_array, tensor


def print_pass(layer, x, dy):
    for parameter in layer.parameters():
        parameter.grad = None
    x.requires_grad_()
    y = layer(x)
    y.backward(dy)
    print("    {")
    print_array("y", y, "        ")
    print_array("dx", x.grad, "        ")
    print_array("parameters", torch.cat([layer.weight.grad, layer.bias.grad]), "        ")
    print("    },")


def print_layer(name, layer, shape, batch=3):
    layer = layer.double()
    layer.weight.data = tensor(layer.weight.shape, 5, 1, 17)
    layer.bias.data = tensor(layer.bias.shape, 3, 2, 7)
    shape = (batch, *shape)
    print(f"// {layer} of {list(shape)}")
    print(f"inline const BatchNormReference {name}{{")
    for i in range(2):
        layer(tensor(shape, 7, i, 23))
    print("    .train =")
    print_pass(layer, tensor(shape, 7, 3, 23), tensor(shape, 11, 5, 19))
    print_array("running_mean", layer.running_mean)
    print_array("running_var", layer.running_var)
    layer.eval()
    print("    .eval =")
    print_pass(layer, tensor(shape, 7, 3, 23), tensor(shape, 11, 5, 19))
    print("};\n")


if __name__ == "__main__":
    print("""// Printed by batch_norm.py with PyTorch %s.
#pragma once

#include "reference/layers.hpp"

namespace reference {

// Outputs and gradients in training, for the third of three batches of 3, and then in eval mode; the running statistics
// between both. Patterns as batch_norm.py says.
struct BatchNormReference {
  LayerReference train;
  std::vector<double> running_mean, running_var;
  LayerReference eval;
};
""" % torch.__version__.split("+")[0])
    print_layer("batch_norm_1d", nn.BatchNorm1d(5), (5,))
    print_layer("batch_norm_1d_length", nn.BatchNorm1d(2, eps=1e-3, momentum=0.3), (2, 4))
    print_layer("batch_norm_2d", nn.BatchNorm2d(3), (3, 2, 5))
    print_layer("batch_norm_2d_mean_of_all", nn.BatchNorm2d(4, momentum=None), (4, 3, 1))
    print("}  // namespace reference")
