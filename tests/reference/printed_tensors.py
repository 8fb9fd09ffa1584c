"""Prints printed_tensors.txt: how PyTorch prints tensors of float and of int64.

Usage: see regenerate.sh     (PyTorch 2.15)

The title of a text is the type, the shape, and behind a colon the values; of a long tensor the first, from which they go by steps of 1/8,
or 1.
"""

import torch

from common import write_text

inf, nan = torch.inf, torch.nan
ramp = torch.arange(1, 4001, dtype=torch.float32) / 8

tensors = [
    torch.tensor([0.5, -1.25, 3]), torch.tensor([1.0, 2, -30]), torch.tensor(2.5), torch.tensor(7.0),
    torch.tensor([1.0, 1001]), torch.tensor([1.5, 1500]), torch.tensor([1.5, 1501]), torch.tensor([2e8, 1e8]),
    torch.tensor([1e8, 1.5e7]), torch.tensor([1e-5, 0.001]), torch.tensor([0.0, 0]), torch.tensor([0.0, inf, -inf, nan]),
    torch.tensor([1.0, inf, -inf, nan]), torch.tensor([1.5, inf, -inf, nan, -0.0]), torch.tensor([1e-9, -inf, 2, nan]),
    torch.tensor([1e9, 1e-9]), torch.tensor([0.00005, -0.00015]), torch.tensor([0.03125, 0.15625, 0.12345678]),
    ramp[:30], -ramp[:24].reshape(2, 12) / 3, ramp[:24].reshape(4, 6) - 1, ramp[:24].reshape(2, 3, 4),
    ramp[:16].reshape(2, 2, 2, 2), ramp[:1000].reshape(500, 2)[:20], ramp[:1001], ramp[:1200].reshape(100, 12),
    ramp[:1200].reshape(6, 200), ramp[:2400].reshape(8, 3, 100), ramp[:4000].reshape(2, 2000),
    torch.tensor([], dtype=torch.float32), torch.empty(0, 3), torch.empty(2, 0, 3),
    torch.tensor([[3, -1], [10, 0]]), torch.tensor(-5), torch.arange(40), torch.arange(3000) - 1000,
]

for t in tensors:
    flat = t.flatten().tolist()
    values = flat[:1] if len(flat) > 30 else flat
    write_text(" ".join(["float" if t.is_floating_point() else "int64", *map(str, t.shape), ":", *map(str, values)]), t)
