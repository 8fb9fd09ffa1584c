"""Prints activations.safetensors: PyTorch's element-wise activations of some numbers and their gradients, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

The keys are those of tests/nn/activations_test.cpp; "repr" of the metadata is how PyTorch prints the layers.
"""

import sys

import torch
from safetensors.torch import save
from torch import nn

torch.set_num_threads(1)

LAYERS = {
    "tanh": nn.Tanh(), "sigmoid": nn.Sigmoid(), "hardtanh": nn.Hardtanh(), "hardtanh_options": nn.Hardtanh(-0.4, 1.7),
    "relu6": nn.ReLU6(), "leaky_relu": nn.LeakyReLU(), "leaky_relu_options": nn.LeakyReLU(0.2), "elu": nn.ELU(),
    "elu_options": nn.ELU(0.7), "selu": nn.SELU(), "gelu": nn.GELU(), "gelu_options": nn.GELU("tanh"), "silu": nn.SiLU(),
    "mish": nn.Mish(), "logsigmoid": nn.LogSigmoid(), "softplus": nn.Softplus(), "softplus_options": nn.Softplus(2.0, 2.9),
    "softsign": nn.Softsign(), "hardswish": nn.Hardswish(), "hardsigmoid": nn.Hardsigmoid(),
    "hardshrink": nn.Hardshrink(), "hardshrink_options": nn.Hardshrink(0.3),
}


def main():
    generator = torch.Generator().manual_seed(1)
    x = torch.cat([torch.empty(96).uniform_(-5, 5, generator=generator), torch.empty(16).uniform_(-40, 40, generator=generator),
                   torch.tensor([-100.0, -3, -1, -1e-3, -1e-6, 0, 1e-6, 1e-3, 1, 1.5, 2, 3, 6, 20, 21, 100])])
    dy = torch.empty(len(x)).uniform_(-2, 2, generator=generator)
    results = {"x": x, "dy": dy}
    for name, layer in LAYERS.items():
        inputs = x.double().requires_grad_()
        y = layer(inputs)
        (dx,) = torch.autograd.grad(y, inputs, dy.double())
        results[f"{name}.y"] = y.detach()
        results[f"{name}.dx"] = dx
    sys.stdout.buffer.write(save(results, {name: repr(layer) for name, layer in LAYERS.items()}))


main()
