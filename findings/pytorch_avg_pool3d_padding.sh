#!/usr/bin/env bash
# PyTorch 2.15.0: avg_pool3d refuses an input smaller than the kernel even if the padded input is not.
#
# Seen: kernel 3, stride 1 and padding 1 on [1, 1, 1, 3, 3] raise "input image (T: 1 H: 3 W: 3) smaller than
# kernel size (kT: 3 kH: 3 kW: 3)". avg_pool1d and avg_pool2d take the same sizes along each dimension, and so
# does max_pool3d. Expected: an output of [1, 1, 1, 3, 3], as theirs.
#
# nn::AvgPool3d takes such inputs; the comparison with PyTorch draws none (tests/geometry/pooling_test.cpp).
# Ends with 0 while PyTorch does this, with 1 when it no longer does. Needs python3 with venv, and 6 GB.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet torch==2.15.0 numpy==2.4.6
"$folder/bin/python" - <<'END'
import torch
from torch.nn import functional as F

results = {}
for dimensions in (1, 2, 3):
    x = torch.ones(1, 1, 1, *[3] * (dimensions - 1))
    for kind in ("avg", "max"):
        name = f"{kind}_pool{dimensions}d"
        try:
            results[name] = list(getattr(F, name)(x, 3, 1, 1).shape)
        except RuntimeError as error:
            results[name] = str(error)
        print(f"torch {torch.__version__}: {name} of {list(x.shape)}: {results[name]}")

refused = {name for name, result in results.items() if isinstance(result, str)}
if refused != {"avg_pool3d"} or "smaller than kernel size" not in results["avg_pool3d"]:
    raise SystemExit("this has changed")
END
