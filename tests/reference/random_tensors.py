"""Prints random_tensors.safetensors: what PyTorch's CPU generator draws, as the first, the last, and a hash of all bits.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors, on a processor with AVX2 and fused multiply-adds)

A row of FUNCTION.float or FUNCTION.double, which is the default dtype, has n, the FNV-1a hash of the values drawn after manual_seed(n) as
little-endian bytes (its 64 bits as an int64), and what random_() of an int64 tensor draws next; the row of FUNCTION.DTYPE.ends has the
first and the last value.
"""

import warnings

import torch
from torch.nn import init

from common import fnv1a, signed, write

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

results = {}
for name, draw in draws.items():
    for dtype in (torch.float32, torch.float64):
        torch.set_default_dtype(dtype)
        if name in ("randperm", "randint", "randint_wide") and dtype == torch.float64:
            continue
        rows, ends = [], []
        for n in (1, 15, 16, 17, 1000):
            torch.manual_seed(n)
            values = draw(n).flatten()
            following = torch.empty((), dtype=torch.int64).random_().item()
            rows.append([n, signed(fnv1a(values.numpy().tobytes())), following])
            ends.append(values[[0, -1]])
        key = f"{name}.{'double' if dtype == torch.float64 else 'float'}"
        results[key] = rows
        results[f"{key}.ends"] = torch.stack(ends)
write(results)
