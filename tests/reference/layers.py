"""Prints layers.hpp: what PyTorch's layers make of small inputs, forward and backward.

Usage: see regenerate.sh     (PyTorch 2.15)
"""

import torch
from torch import nn


def pattern(n, step, start, modulus):
    """The function of the same name in tests/support/arrays.hpp."""
    return [((i * step + start) % modulus - modulus // 2) / 8 for i in range(n)]


def tensor(shape, *numbers):
    size = torch.Size(shape).numel()
    return torch.tensor(pattern(size, *numbers), dtype=torch.float64).reshape(shape)


def print_array(name, values, indent="    "):
    texts = [repr(v) if v != int(v) else str(int(v)) for v in values.flatten().tolist()]
    print(f"{indent}.{name} = {{{', '.join(texts)}}},")


def print_layer(name, layer, shape, batch=2, x_modulus=23, scale=64):
    """Parameters, inputs and output gradients follow patterns; results are printed as multiples of 1/scale."""
    layer = layer.double()
    x = tensor((batch, *shape), 7, 3, x_modulus).requires_grad_()
    parameters = list(layer.parameters())
    for parameter, numbers in zip(parameters, ((5, 1, 17), (3, 2, 7))):
        parameter.data = tensor(parameter.shape, *numbers)
    y = layer(x)
    y.backward(tensor(y.shape, 11, 5, 19))
    print(f"// {layer} of {list(shape)}")
    print(f"inline const LayerReference {name}{{")
    print_array("y", y * scale)
    print_array("dx", x.grad * scale)
    gradients = torch.cat([p.grad.flatten() for p in parameters]) if parameters else torch.zeros(0)
    print_array("parameters", gradients * scale)
    print("};\n")


def main():
    print("""// Printed by layers.py with PyTorch %s.
#pragma once

#include <vector>

namespace reference {

// Outputs and gradients of a layer for the patterns that layers.py says, batch 2, in multiples of 1/64.
struct LayerReference {
  std::vector<double> y, dx, parameters;
};
""" % torch.__version__.split("+")[0])

    print_layer("conv2d_3x3", nn.Conv2d(2, 3, 3), (2, 5, 4))
    print_layer("conv2d_2x2_stride3_padding1", nn.Conv2d(1, 2, 2, stride=3, padding=1), (1, 4, 6))
    print_layer("conv2d_1x1", nn.Conv2d(3, 2, 1), (3, 1, 1))
    print_layer("conv2d_5x5_stride2_padding2", nn.Conv2d(1, 4, 5, stride=2, padding=2), (1, 7, 5))
    print_layer("linear_7_3", nn.Linear(7, 3), (7,))
    print_layer("linear_1_1", nn.Linear(1, 1), (1,))
    print_layer("relu", nn.ReLU(), (3, 2, 2))
    # A small modulus makes equal elements: the first of them counts.
    print_layer("max_pool2d_2", nn.MaxPool2d(2), (2, 5, 4), x_modulus=5)
    print_layer("max_pool2d_3_stride1_padding1", nn.MaxPool2d(3, stride=1, padding=1), (1, 4, 5))
    print_layer("max_pool2d_2_stride3", nn.MaxPool2d(2, stride=3), (1, 5, 6), x_modulus=5)

    # Not exact in binary, so these are printed in full.
    print("// From here on in full, not in multiples of 1/64.")
    print_layer("softmax_1d", nn.Softmax(dim=1), (5,), scale=1)
    print_layer("softmax_3d", nn.Softmax(dim=1), (3, 1, 2), scale=1)

    print("""// Losses of the single samples, their mean and its gradient: logits [4, 5], a pattern times 3; labels 3 0 4 3.
struct LossReference {
  std::vector<double> losses, mean, dx;
};
""")
    x = (tensor((4, 5), 7, 3, 23) * 3).requires_grad_()
    labels = torch.tensor([3, 0, 4, 3])
    mean = nn.CrossEntropyLoss()(x, labels)
    mean.backward()
    print("inline const LossReference cross_entropy{")
    print_array("losses", nn.CrossEntropyLoss(reduction="none")(x, labels).detach())
    print_array("mean", mean.detach())
    print_array("dx", x.grad)
    print("};\n\n}  // namespace reference")


if __name__ == "__main__":
    main()
