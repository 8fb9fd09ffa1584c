"""Prints random_tensors.hpp: what PyTorch's CPU generator draws, as the first, the last, and a hash of all bits.

Usage: see regenerate.sh     (PyTorch 2.15, on a processor with AVX2 and fused multiply-adds)
"""

import warnings

import torch
from torch.nn import init

from common import begin, end, fnv1a

warnings.simplefilter("ignore")  # of ranges far from the mean

draws = {
    "rand": lambda n: torch.rand(n),
    "randn": lambda n: torch.randn(n),
    "randperm": lambda n: torch.randperm(n),
    "randint": lambda n: torch.randint(-3, 7, (n,)),
    "randint_wide": lambda n: torch.randint(5, 2**40, (n,)),
    "normal": lambda n: init.normal_(torch.empty(n), 0.5, 3.0),
    "uniform": lambda n: init.uniform_(torch.empty(n), -0.3, 0.7),
    "trunc_normal": lambda n: init.trunc_normal_(torch.empty(n)),
    "trunc_normal_narrow": lambda n: init.trunc_normal_(torch.empty(n), 0.1, 0.5, -0.2, 0.3),
    "trunc_normal_far": lambda n: init.trunc_normal_(torch.empty(n), 0.0, 1.0, 2.5, 4.0),
    "kaiming_uniform": lambda n: init.kaiming_uniform_(torch.empty(n, 3)),
    "kaiming_normal": lambda n: init.kaiming_normal_(torch.empty(n, 1, 2, 2), mode="fan_out", nonlinearity="relu"),
    "kaiming_normal_leaky": lambda n: init.kaiming_normal_(torch.empty(1, n), a=0.2),
    "xavier_uniform": lambda n: init.xavier_uniform_(torch.empty(n, 3), gain=init.calculate_gain("tanh")),
    "xavier_normal": lambda n: init.xavier_normal_(torch.empty(2, n, 3, 1)),
}

begin("cstdint")
print("""// Values drawn after manual_seed(n), float or double: the first, the last, and the FNV-1a hash of all, as little-endian
// bytes; and what random_() of an int64 tensor draws next. The functions are those of random_tensors.py.
struct RandomTensor {
  const char* name;
  bool is_double;
  std::int64_t n;
  double first, last;
  std::uint64_t hash;
  std::int64_t next;
};

inline constexpr RandomTensor random_tensors[] = {""")
for name, draw in draws.items():
    for dtype in (torch.float32, torch.float64):
        torch.set_default_dtype(dtype)
        if name in ("randperm", "randint", "randint_wide") and dtype == torch.float64:
            continue
        for n in (1, 15, 16, 17, 1000):
            torch.manual_seed(n)
            values = draw(n).flatten().numpy()
            following = torch.empty((), dtype=torch.int64).random_().item()
            is_double = str(dtype == torch.float64).lower()
            print(f'    {{"{name}", {is_double}, {n}, {values[0]!s}, {values[-1]!s}, {fnv1a(values.tobytes())}u, '
                  f"{following}}},")
print("};\n")
end()
