"""Prints sgd.hpp: 20 steps of torch.optim.SGD on a small classifier, in double.

Usage: python3 sgd.py > sgd.hpp     (PyTorch 2.15)
"""

import numpy
import torch
from torch import nn


def pattern(shape, step, start, modulus):
    """The function of the same name in tests/support/arrays.hpp."""
    n = torch.Size(shape).numel()
    values = [((i * step + start) % modulus - modulus // 2) / 8 for i in range(n)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def numbers(values):
    return "{" + ", ".join(f"{v:.15g}" for v in values) + "}"


cases = {
    "plain": dict(lr=0.1),
    "momentum": dict(lr=0.1, momentum=0.9),
    "dampening": dict(lr=0.1, momentum=0.9, dampening=0.3),
    "weight decay": dict(lr=0.1, weight_decay=0.05),
    "weight decay and momentum": dict(lr=0.1, momentum=0.5, dampening=0.25, weight_decay=0.05),
    "Nesterov": dict(lr=0.1, momentum=0.9, nesterov=True),
    "Nesterov and weight decay": dict(lr=0.05, momentum=0.8, weight_decay=0.1, nesterov=True),
}

print(f"""// Printed by sgd.py with PyTorch {torch.__version__.split("+")[0]}.
#pragma once

#include <vector>

namespace reference {{

// 20 steps on a Linear(4, 3) whose weight, bias and inputs [5, 4] are patterns, with CrossEntropyLoss and the labels
// 0 2 1 1 0: the loss before each step, and weight and bias at the end. Options are rounded to float first.
struct SgdRun {{
  const char* name;
  double lr, momentum, dampening, weight_decay;
  bool nesterov;
  std::vector<double> losses, parameters;
}};

inline const SgdRun sgd_runs[] = {{""")
for name, options in cases.items():
    layer = nn.Linear(4, 3).double()
    layer.weight.data = pattern((3, 4), 5, 1, 17)
    layer.bias.data = pattern((3,), 3, 2, 7)
    x, labels = pattern((5, 4), 7, 3, 23), torch.tensor([0, 2, 1, 1, 0])
    rounded = {k: v if isinstance(v, bool) else float(numpy.float32(v)) for k, v in options.items()}
    optimizer = torch.optim.SGD(layer.parameters(), **rounded)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(layer(x), labels)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
    values = [options.get(k, 0) for k in ("lr", "momentum", "dampening", "weight_decay")]
    print(f'{{"{name}", {", ".join(map(str, values))}, {str("nesterov" in options).lower()},')
    print(f"{numbers(losses)}, {numbers(torch.cat([p.detach().flatten() for p in layer.parameters()]))}}},")
print("};\n\n}  // namespace reference")
