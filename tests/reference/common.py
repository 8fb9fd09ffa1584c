"""What the scripts of this folder share."""

import sys

import torch

torch.set_num_threads(1)  # everything here is small


def pattern(shape, step, start, modulus):
    """The function of the same name in tests/support/arrays.hpp."""
    n = torch.Size(shape).numel()
    values = [((i * step + start) % modulus - modulus // 2) / 8 for i in range(n)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def braces(values):
    """A list as C++ writes it; texts stay as they are, numbers get the digits that give them back."""
    return "{" + ", ".join(v if isinstance(v, str) else literal(v) for v in values) + "}"


def literal(value):
    """A number, a boolean or a list of them as C++ writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return braces(value)
    return repr(value)


def rounded(values):
    """Numbers with 15 digits, for results that rounding reaches."""
    return "{" + ", ".join(f"{v:.15g}" for v in values) + "}"


def fnv1a(data):
    """The 64-bit FNV-1a hash."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def begin(*includes):
    """The first lines of a header."""
    script = sys.argv[0].rsplit("/", 1)[-1]
    print(f"// Printed by {script} with PyTorch {torch.__version__.split('+')[0]}.")
    print("#pragma once\n")
    for include in includes:
        print(f"#include <{include}>" if include else "")
    print("\nnamespace reference {\n")


def end():
    """And the last one."""
    print("}  // namespace reference")
