"""Prints weight_penalty.hpp: the gradients of a small classifier with a penalty of its weights, in double.

Usage: see regenerate.sh     (PyTorch 2.15)
"""

import torch
from torch import nn

from common import begin, end, pattern, rounded


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


begin("vector")
print("""// The classifier of optimizers.hpp with its first weight 0: its gradients, weight and bias.
struct WeightPenalty {
  double l1, l2;
  std::vector<double> gradients;
};
""")
print("inline const WeightPenalty weight_penalties[] = {")
for l1, l2 in ((0.25, 0.0), (0.0, 0.125), (0.03125, 2.0)):
    print(f"{{{l1}, {l2}, {gradients(l1, l2)}}},")
print("};\n")
end()
