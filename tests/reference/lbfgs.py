"""Prints lbfgs.safetensors: steps of PyTorch's LBFGS on a small regression, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

Six steps for a Linear(4, 3), Tanh, Linear(3, 2) whose parameters, inputs [5, 4] and targets [5, 2]
are patterns, with MSELoss: NAME.losses, which the steps return, NAME.evaluations of the loss in all,
and NAME.parameters at the end. NAME.spread: how far losses and parameters move, relative to the
largest, if the inputs are rounded differently in their last place (the largest of 29 tries). The
test has the options of each name.
"""

import torch
from torch import nn

from common import rounded, pattern, write

cases = {
    "defaults": dict(lr=0.1),
    "few iterations": dict(lr=0.5, max_iter=3),
    "a short history": dict(lr=0.3, max_iter=6, history_size=2),
    "strong Wolfe": dict(line_search_fn="strong_wolfe"),
    "strong Wolfe, few iterations": dict(lr=0.2, max_iter=4, history_size=3, line_search_fn="strong_wolfe"),
    "strong Wolfe, a large rate": dict(lr=50, max_iter=5, line_search_fn="strong_wolfe"),
    "strong Wolfe, few evaluations": dict(max_iter=5, max_eval=3, line_search_fn="strong_wolfe"),
    "tolerances": dict(lr=0.5, tolerance_grad=0.01, tolerance_change=0.001),
}


def train(options, seed):
    """Losses, parameters at the end, evaluations. `seed` rounds the inputs, except 0."""
    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)).double()
    for i, p in enumerate(net.parameters()):
        p.data = pattern(p.shape, 5, i, 17)
    x, y = pattern((5, 4), 7, 3, 23), pattern((5, 2), 3, 1, 11)
    if seed:
        unit = torch.rand(x.shape, generator=torch.Generator().manual_seed(seed)).double() * 2 - 1
        x = x * (1 + 2**-52 * unit)
    optimizer = torch.optim.LBFGS(net.parameters(), **options)
    evaluations = 0

    def closure():
        nonlocal evaluations
        evaluations += 1
        optimizer.zero_grad()
        loss = nn.MSELoss()(net(x), y)
        loss.backward()
        return loss

    losses = torch.tensor([optimizer.step(closure).item() for _ in range(6)], dtype=torch.double)
    return losses, torch.cat([p.detach().flatten() for p in net.parameters()]), evaluations


def largest_move(tries, values):
    return max(((x - values).abs().max() / values.abs().max()).item() for x in tries)


results = {}
for name, options in cases.items():
    losses, parameters, evaluations = train(options, 0)
    others = [train(options, seed) for seed in range(1, 30)]
    results[f"{name}.losses"] = rounded(losses)
    results[f"{name}.evaluations"] = [evaluations]
    results[f"{name}.parameters"] = rounded(parameters)
    results[f"{name}.spread"] = [
        largest_move((x[0] for x in others), losses),
        largest_move((x[1] for x in others), parameters),
    ]
write(results)
