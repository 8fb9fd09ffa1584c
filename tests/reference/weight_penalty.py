"""Prints weight_penalty.safetensors: the gradients of a small classifier with a penalty of its weights, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

The classifier is that of optimizers.py with its first weight 0. A row of penalties has l1, l2, and the gradients, weight and bias.
"""

import torch
from torch import nn

from common import rounded, pattern, write


def gradients(l1, l2):
    layer = nn.Linear(4, 3).double()
    layer.weight.data = pattern((3, 4), 5, 1, 17)
    layer.weight.data[0, 0] = 0
    layer.bias.data = pattern((3,), 3, 2, 7)
    x, labels = pattern((5, 4), 7, 3, 23), torch.tensor([0, 2, 1, 1, 0])
    loss = nn.CrossEntropyLoss()(layer(x), labels)
    for w in layer.parameters():
        if w.dim() > 1:
            loss = loss + l1 * w.abs().sum() + l2 / 2 * w.square().sum()
    loss.backward()
    return rounded(torch.cat([p.grad.flatten() for p in layer.parameters()]))


rows = [torch.cat([rounded([l1, l2]), gradients(l1, l2)]) for l1, l2 in ((0.25, 0.0), (0.0, 0.125), (0.03125, 2.0))]
write({"penalties": torch.stack(rows)})
