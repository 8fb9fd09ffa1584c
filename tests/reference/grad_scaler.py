"""Prints grad_scaler.safetensors: scales and parameters of trainings with PyTorch's GradScaler, some of whose gradients overflow.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

Trainings of weights [2] by Adam with lr 0.1, with the loss x w of inputs x [2]: the RUN.options init_scale, growth_factor, backoff_factor and
growth_interval, the RUN.inputs [steps, 2], and the RUN.scales and RUN.weights after each step.
"""

import torch

from common import rounded, write

inf, nan = float("inf"), float("nan")
results = {}


def run(init_scale, growth_factor, backoff_factor, growth_interval, inputs):
    w = torch.tensor([0.5, -0.25], requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=init_scale, growth_factor=growth_factor,
                                  backoff_factor=backoff_factor, growth_interval=growth_interval)
    scales, weights = [], []
    for x in inputs:
        optimizer.zero_grad()
        scaler.scale((torch.tensor(x) * w).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        weights.append(w.detach().clone())
    key = len(results) // 4
    results[f"{key}.options"] = [float(option) for option in (init_scale, growth_factor, backoff_factor, growth_interval)]
    results[f"{key}.inputs"] = torch.tensor(inputs)
    results[f"{key}.scales"] = scales
    results[f"{key}.weights"] = rounded(torch.cat(weights)).reshape(-1, 2)


fine = [[1.0, -2.0], [0.5, 1.0], [-1.0, 0.25]]
run(1024.0, 2.0, 0.5, 3,
    fine[:2] + [[inf, 1.0]] + fine + fine[:1] + [[1.0, nan]] + [[-inf, inf]] + fine * 2 + [[1.0, inf]] + fine[:1])
run(65536.0, 1.5, 0.3, 2, [[inf, 0.0]] + fine * 2 + [[nan, nan]] + fine)  # scales that are rounded to floats
run(2.0**126, 4.0, 0.5, 1, fine)  # grows no more where it would become infinite
write(results)
