"""Prints printed_tensors.hpp: how PyTorch prints tensors of float and of int64.

Usage: python3 printed_tensors.py > printed_tensors.hpp     (PyTorch 2.15)
"""

import json

import torch

from common import begin, end

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

begin("cmath", "string", "vector")
print("""// A tensor of float or, where `integers` says so, int64, and its text.
struct PrintedTensor {
  bool integers;
  std::vector<long> sizes;
  std::vector<double> values;
  std::string text;
};
""")


def value(v):
    return {"inf": "HUGE_VAL", "-inf": "-HUGE_VAL", "nan": "NAN"}.get(str(v), repr(v))


print("inline const std::vector<PrintedTensor> printed_tensors = {")
for t in tensors:
    # Long ones go by steps of 1/8, or 1, from their first value.
    flat = t.flatten().tolist()
    values = flat[:1] if len(flat) > 30 else flat
    sizes = ", ".join(str(n) for n in t.shape)
    print(f"{{{str(not t.is_floating_point()).lower()}, {{{sizes}}}, {{{', '.join(map(value, values))}}},")
    lines = str(t).split("\n")
    print("\n".join(json.dumps(line + ("\n" if i + 1 < len(lines) else "")) for i, line in enumerate(lines)) + "},")
print("};\n")
end()
