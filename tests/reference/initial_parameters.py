"""Prints initial_parameters.hpp: the parameters that torch.nn draws, as the first, the last, and a hash of all bits.

Usage: python3 initial_parameters.py > initial_parameters.hpp     (PyTorch 2.15)
"""

import torch
from torch import nn


def lenet():
    """Layers without parameters draw nothing, so they are left out."""
    return nn.Sequential(nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5),
                         nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10))


def perceptron():
    return nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 9), nn.Linear(9, 3))


def odd():
    """Fans of every kind: 1, 49, 3, 75."""
    return nn.Sequential(nn.Conv2d(1, 3, 1), nn.Conv2d(3, 1, 5, padding=2, stride=2), nn.Conv2d(1, 2, 7, padding=3),
                         nn.Linear(2 * 4 * 3, 1), nn.Linear(1, 5))


def fnv1a(data):
    """The 64-bit FNV-1a hash."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


print(f"""// Printed by initial_parameters.py with PyTorch {torch.__version__.split("+")[0]}.
#pragma once

#include <cstdint>

namespace reference {{

// Parameters that torch.nn drew after manual_seed(seed): the first, the last, and the FNV-1a hash of all, in the
// order of the state dict, as little-endian bytes.
struct InitialParameters {{
  std::int64_t seed;
  double first, last;
  std::uint64_t hash;
}};
""")
for network, dtype, name in (
    (lenet, torch.float32, "lenet_float"),
    (perceptron, torch.float32, "perceptron_float"),
    (perceptron, torch.float64, "perceptron_double"),
    (odd, torch.float32, "odd_float"),
    (odd, torch.float64, "odd_double"),
):
    torch.set_default_dtype(dtype)
    print(f"inline constexpr InitialParameters {name}[] = {{")
    for seed in (0, 1, 32, 2**31 + 11, 67280421310721):
        torch.manual_seed(seed)
        values = torch.cat([p.detach().flatten() for p in network().parameters()]).numpy()
        print(f"    {{{seed}, {values[0]!s}, {values[-1]!s}, {fnv1a(values.tobytes())}u}},")
    print("};\n")
print("}  // namespace reference")
