"""Prints mean_loss.hpp: the mean of 1, 1/2, ... 1/n as PyTorch's losses compute it, in float.

Usage: see regenerate.sh     (PyTorch 2.15)
"""

import torch

print("""// Printed by mean_loss.py with PyTorch %s.
#pragma once

namespace reference {

// The mean of 1, 1/2, ... 1/n, in float.
struct MeanLoss {
  int n;
  float mean;
};

inline constexpr MeanLoss mean_losses[] = {""" % torch.__version__.split("+")[0])
for n in (1, 2, 16, 17, 18, 33, 120, 129, 256, 257, 258, 300, 4097, 70000):
    losses = 1 / torch.arange(1, n + 1, dtype=torch.float32)
    mean = torch.nn.functional.nll_loss(-losses.reshape(n, 1), torch.zeros(n, dtype=torch.long)).item()
    print(f"    {{{n}, {mean.hex()}f}},")
print("};\n\n}  // namespace reference")
