"""Prints clip_grad.safetensors: what torch.nn.utils makes of the gradients of a small classifier, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

The classifier is that of optimizers.py. A row of all.norm has the largest norm, its type, the norm before, and the gradients, weight and
bias, after clip_grad_norm_; all.value has them after clip_grad_value_ by 0.125. weight.norm and weight.value are those of clipping the
weight alone.
"""

import torch
from torch import nn

from common import rounded, pattern, write


def classifier():
    layer = nn.Linear(4, 3).double()
    layer.weight.data = pattern((3, 4), 5, 1, 17)
    layer.bias.data = pattern((3,), 3, 2, 7)
    x, labels = pattern((5, 4), 7, 3, 23), torch.tensor([0, 2, 1, 1, 0])
    nn.CrossEntropyLoss()(layer(x), labels).backward()
    return layer


def gradients(layer):
    return rounded(torch.cat([p.grad.flatten() for p in layer.parameters()]))


results = {}
for name, parameters in (("all", lambda layer: layer.parameters()), ("weight", lambda layer: layer.weight)):
    rows = []
    for max_norm in (0.25, 100.0):
        for norm_type in (2.0, 1.0, torch.inf):
            layer = classifier()
            total = nn.utils.clip_grad_norm_(parameters(layer), max_norm, norm_type).item()
            rows.append(torch.cat([rounded([max_norm, norm_type, total]), gradients(layer)]))
    results[f"{name}.norm"] = torch.stack(rows)
    layer = classifier()
    nn.utils.clip_grad_value_(parameters(layer), 0.125)
    results[f"{name}.value"] = gradients(layer)
write(results)
