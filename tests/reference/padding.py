"""Prints padding.safetensors: paddings and convolutions with them, forward and backward, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

tests/nn/padding_test.cpp has the same cases.
"""

import torch
from torch import nn
from torch.nn.functional import pad

from common import pattern, write

cases = {
    "ZeroPad1d": (nn.ZeroPad1d((1, 2)), (2, 3)),
    "ZeroPad2d": (nn.ZeroPad2d((1, -2, -1, 3)), (2, 3, 4)),
    "ZeroPad3d": (nn.ZeroPad3d((0, 1, 2, 0, 1, 1)), (2, 1, 2, 3)),
    "ConstantPad1d": (nn.ConstantPad1d((2, -1), 0.5), (3, 4)),
    "ConstantPad2d": (nn.ConstantPad2d((1, 0, 2, 3), -3.5), (2, 1, 4)),
    "ConstantPad3d": (nn.ConstantPad3d(1, 7), (1, 2, 1, 2)),
    "ReflectionPad1d": (nn.ReflectionPad1d((3, 1)), (2, 4)),
    "ReflectionPad2d": (nn.ReflectionPad2d((1, 3, 2, 0)), (2, 3, 4)),
    "ReflectionPad3d": (nn.ReflectionPad3d((1, 0, 2, 1, 1, 1)), (2, 2, 3, 2)),
    "ReplicationPad1d": (nn.ReplicationPad1d((3, 1)), (2, 1)),
    "ReplicationPad2d": (nn.ReplicationPad2d((5, 1, 0, 2)), (2, 3, 2)),
    "ReplicationPad3d": (nn.ReplicationPad3d((1, 2, 3, 0, 2, 1)), (1, 1, 2, 3)),
    "CircularPad1d": (nn.CircularPad1d((4, 3)), (2, 4)),
    "CircularPad2d": (nn.CircularPad2d((1, 2, 3, 0)), (2, 3, 2)),
    "CircularPad3d": (nn.CircularPad3d((2, 0, 1, 3, 1, 2)), (2, 2, 3, 2)),
    "Conv1d": (nn.Conv1d(2, 3, 3, stride=2, padding=2, padding_mode="reflect"), (2, 5)),
    "Conv1d same": (nn.Conv1d(4, 2, 4, padding="same", groups=2, padding_mode="circular"), (4, 6)),
    "Conv2d": (nn.Conv2d(2, 4, 3, padding=(1, 3), padding_mode="circular", bias=False), (2, 4, 5)),
    "Conv2d same": (nn.Conv2d(3, 2, (2, 3), padding="same", dilation=2, padding_mode="replicate"), (3, 4, 5)),
    "pad": (lambda x: pad(pad(pad(pad(x, (1, 2, 1, 0), "reflect"), (0, 3, 0, 0), "replicate"), (2, 0, 1, 1),
                              "circular"), (-1, 1, 0, 0, 1, 0), value=0.25), (2, 3, 4)),
}

batch = 3
results = {}
for name, (layer, shape) in cases.items():
    x = pattern((batch, *shape), 5, 2, 17).requires_grad_()
    parameters = list(layer.double().parameters()) if isinstance(layer, nn.Module) else []
    for parameter in parameters:
        parameter.data = pattern(parameter.shape, 3, 1, 13)
    y = layer(x)
    gradients = torch.autograd.grad(y, [x, *parameters], pattern(y.shape, 7, 3, 19))
    results[f"{name}.y"] = y.detach()
    results[f"{name}.dx"] = gradients[0]
    results[f"{name}.parameters"] = torch.cat([torch.zeros(0), *(g.flatten() for g in gradients[1:])])
write(results)
