"""Prints clip_grad.hpp: what torch.nn.utils makes of the gradients of a small classifier, in double.

Usage: see regenerate.sh     (PyTorch 2.15)
"""

import torch
from torch import nn

from common import begin, end, pattern, rounded


def classifier():
    layer = nn.Linear(4, 3).double()
    layer.weight.data = pattern((3, 4), 5, 1, 17)
    layer.bias.data = pattern((3,), 3, 2, 7)
    x, labels = pattern((5, 4), 7, 3, 23), torch.tensor([0, 2, 1, 1, 0])
    nn.CrossEntropyLoss()(layer(x), labels).backward()
    return layer


def gradients(layer):
    return rounded(torch.cat([p.grad.flatten() for p in layer.parameters()]))


begin("limits", "vector")
print("""// The classifier of optimizers.hpp: its gradients, weight and bias, after clip_grad_norm_, and the norm before.
struct ClipGradNorm {
  double max_norm, norm_type, total;
  std::vector<double> gradients;
};
""")


def print_norms(name, parameters):
    print(f"inline const ClipGradNorm {name}[] = {{")
    for max_norm in (0.25, 100.0):
        for norm_type, text in ((2.0, "2"), (1.0, "1"), (torch.inf, "std::numeric_limits<double>::infinity()")):
            layer = classifier()
            total = nn.utils.clip_grad_norm_(parameters(layer), max_norm, norm_type).item()
            print(f"{{{max_norm}, {text}, {total:.15g}, {gradients(layer)}}},")
    print("};\n")


print_norms("clip_grad_norms", lambda layer: layer.parameters())
print("// And of the weight alone.")
print_norms("clip_grad_norms_of_weight", lambda layer: layer.weight)
layer = classifier()
nn.utils.clip_grad_value_(layer.parameters(), 0.125)
print("// And after clip_grad_value_ by 0.125.")
print(f"inline const std::vector<double> clip_grad_value = {gradients(layer)};\n")
layer = classifier()
nn.utils.clip_grad_value_(layer.weight, 0.125)
print("// And after that of the weight alone.")
print(f"inline const std::vector<double> clip_grad_value_of_weight = {gradients(layer)};\n")
end()
