"""Prints averaged_models.safetensors: averages of weights by torch.optim.swa_utils.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

Linear(4, 3) and BatchNorm1d(3), whose numbers in update k = 0 to 5 are patterns over 3 + k. NAME.double and NAME.float are the averages of
weight, bias, running mean and running variance. The buffers are averaged too, but in buffers_copied and swa_by_lerp.
"""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, get_swa_multi_avg_fn

from common import pattern, write

cases = {
    "ema_slow": get_ema_multi_avg_fn(),
    "ema": get_ema_multi_avg_fn(0.9),
    "ema_fast": get_ema_multi_avg_fn(0.3),
    "ema_of_last": get_ema_multi_avg_fn(0.0),
    "ema_of_first": get_ema_multi_avg_fn(1.0),
    "swa": None,
}


def values(model):
    """Weight and bias of the layer, running mean and variance of the normalization."""
    tensors = [model[0].weight, model[0].bias, model[1].running_mean, model[1].running_var]
    return torch.cat([t.detach().flatten() for t in tensors])


results = {}


def run(name, avg_fn, use_buffers=True):
    for dtype in (torch.float64, torch.float32):
        model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).to(dtype)
        averaged = AveragedModel(model, multi_avg_fn=avg_fn, use_buffers=use_buffers)
        for k in range(6):
            for i, tensor in enumerate((model[0].weight, model[0].bias, model[1].running_mean, model[1].running_var)):
                tensor.data.copy_(pattern(tensor.shape, 5 + k, i, 17) / (3 + k))
            averaged.update_parameters(model)
        results[f"{name}.{'double' if dtype == torch.float64 else 'float'}"] = values(averaged.module)


for name, avg_fn in cases.items():
    run(name, avg_fn)
run("buffers_copied", get_ema_multi_avg_fn(0.9), False)
run("swa_by_lerp", get_swa_multi_avg_fn(), False)
write(results)
