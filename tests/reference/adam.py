"""Prints adam.hpp: 1000 steps of torch.optim.Adam on a small classifier, in double.

Usage: python3 adam.py > adam.hpp     (PyTorch 2.15)
"""

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
    "defaults": dict(),
    "a large rate": dict(lr=0.1),
    "betas": dict(lr=0.02, betas=(0.5, 0.75), eps=0.01),
    "no memory": dict(lr=0.01, betas=(0.0, 0.0), eps=0.5),
    "a large epsilon": dict(lr=0.05, eps=0.1),
    "weight decay": dict(lr=0.01, eps=0.1, weight_decay=0.05),
}

print(f"""// Printed by adam.py with PyTorch {torch.__version__.split("+")[0]}.
#pragma once

#include <vector>

namespace reference {{

// 1000 steps on the classifier and the batch of sgd.hpp: the loss before every 50th step, and weight and bias at the
// end.
struct AdamRun {{
  const char* name;
  double lr, beta1, beta2, eps, weight_decay;
  std::vector<double> losses, parameters;
}};

inline const AdamRun adam_runs[] = {{""")
for name, options in cases.items():
    layer = nn.Linear(4, 3).double()
    layer.weight.data = pattern((3, 4), 5, 1, 17)
    layer.bias.data = pattern((3,), 3, 2, 7)
    x, labels = pattern((5, 4), 7, 3, 23), torch.tensor([0, 2, 1, 1, 0])
    optimizer = torch.optim.Adam(layer.parameters(), **options)
    losses = []
    for step in range(1000):
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(layer(x), labels)
        if step % 50 == 0:
            losses.append(loss.item())
        loss.backward()
        optimizer.step()
    used = optimizer.defaults
    values = [used["lr"], *used["betas"], used["eps"], used["weight_decay"]]
    print(f'{{"{name}", {", ".join(map(str, values))},')
    print(f"{numbers(losses)}, {numbers(torch.cat([p.detach().flatten() for p in layer.parameters()]))}}},")
print("};\n\n}  // namespace reference")
