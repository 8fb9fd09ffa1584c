"""What the scripts of this folder share."""

import sys

import numpy
import torch
from safetensors.torch import save

torch.set_num_threads(1)  # everything here is small


def pattern(shape, step, start, modulus):
    """The function of the same name in tests/support/arrays.hpp."""
    n = torch.Size(shape).numel()
    values = [((i * step + start) % modulus - modulus // 2) / 8 for i in range(n)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def rounded(values):
    """Numbers with 15 digits, for results that rounding reaches, in double."""
    return torch.tensor([float(f"{v:.15g}") for v in values], dtype=torch.float64)


def signed(value):
    """The 64 bits of a hash as an integer with a sign."""
    return value - 2**64 if value >= 2**63 else value


def write(arrays, package=f"PyTorch {torch.__version__.split('+')[0]}"):
    """Writes named arrays as a safetensors file: tensors, arrays, or lists of numbers in double or int64."""
    tensors = {name: values if isinstance(values, torch.Tensor) else torch.from_numpy(numpy.array(values))
               for name, values in arrays.items()}
    script = sys.argv[0].rsplit("/", 1)[-1]
    sys.stdout.buffer.write(save({name: tensor.contiguous() for name, tensor in tensors.items()},
                                 {"printed_by": f"{script} with {package}"}))


def write_text(title, text):
    """Prints one of several texts with a title, as tests/support/reference_texts.hpp reads them."""
    print(f"#### {title}", text, sep="\n")


def fnv1a(data):
    """The 64-bit FNV-1a hash."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of "Symbolic Discovery of Optimization Algorithms" (Chen et al. 2023), which PyTorch lacks."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            (beta1, beta2), lr = group["betas"], group["lr"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                mean = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                sign = (beta1 * mean + (1 - beta1) * p.grad).sign()
                p -= lr * (sign + group["weight_decay"] * p)
                mean.mul_(beta2).add_(p.grad, alpha=1 - beta2)
