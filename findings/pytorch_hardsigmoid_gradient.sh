#!/usr/bin/env bash
# PyTorch 2.15.0: the gradient of hardsigmoid in float64 is 1/6 rounded to float32.
#
# Seen: 0.1666666716337204, off by 3.0e-8 relatively; the output is right to the last bit, and so is the
# gradient of hardswish. A gradient check of double precision with tolerances of 1e-9 fails on a network
# with it. Expected: 0.16666666666666666.
#
# Here, a reference for hardsigmoid in double is (x / 6 + 0.5).clamp(0, 1): tests/reference/random_geometries.py.
# Ends with 0 while PyTorch does this, with 1 when it no longer does. Needs python3 with venv, and 6 GB.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet torch==2.15.0 numpy==2.4.6
"$folder/bin/python" - <<'END'
import torch
from torch.nn import functional as F

x = torch.zeros((), dtype=torch.float64, requires_grad=True)
F.hardsigmoid(x).backward()
hardsigmoid = x.grad.item()
x = torch.ones((), dtype=torch.float64, requires_grad=True)
F.hardswish(x).backward()
hardswish = x.grad.item()

rounded = torch.tensor(1 / 6, dtype=torch.float32).item()
print(f"torch {torch.__version__}: hardsigmoid'(0) = {hardsigmoid!r}, 1/6 in float32 is {rounded!r}")
print(f"hardswish'(1) = {hardswish!r}, 5/6 is {5 / 6!r}")
if hardsigmoid != rounded or abs(hardswish - 5 / 6) > 1e-15:
    raise SystemExit("this has changed")
END
