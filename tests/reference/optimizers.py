"""Prints optimizers.safetensors: 1000 steps of PyTorch's optimizers on a small classifier, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

1000 steps on a Linear(4, 3) whose weight, bias and inputs [5, 4] are patterns, with CrossEntropyLoss and the labels 0 2 1 1 0:
OPTIMIZER.NAME.losses, before every 50th step, and OPTIMIZER.NAME.parameters, weight and bias at the end. The tests have the options of
each name.
"""

import torch
from torch import nn

from common import Lion, rounded, pattern, write

cases = {
    "SGD": {
        "plain": dict(lr=0.1),
        "momentum": dict(lr=0.01, momentum=0.9),
        "dampening": dict(lr=0.1, momentum=0.9, dampening=0.3),
        "weight decay": dict(lr=0.1, weight_decay=0.05),
        "weight decay and momentum": dict(lr=0.1, momentum=0.5, dampening=0.25, weight_decay=0.05),
        "Nesterov": dict(lr=0.01, momentum=0.9, nesterov=True),
        "Nesterov and weight decay": dict(lr=0.05, momentum=0.8, weight_decay=0.1, nesterov=True),
    },
    "Adam": {
        "defaults": dict(),
        "a large rate": dict(lr=0.1),
        "betas": dict(lr=0.02, betas=(0.5, 0.75), eps=0.01),
        "no memory": dict(lr=0.01, betas=(0.0, 0.0), eps=0.5),
        "a large epsilon": dict(lr=0.05, eps=0.1),
        "weight decay": dict(lr=0.01, eps=0.1, weight_decay=0.05),
        "decoupled weight decay": dict(lr=0.01, weight_decay=0.05, decoupled_weight_decay=True),
        "AMSGrad": dict(lr=0.01, amsgrad=True),
        "AMSGrad and weight decay": dict(lr=0.02, betas=(0.8, 0.9), eps=0.1, weight_decay=0.05, amsgrad=True),
    },
    "AdamW": {
        "defaults": dict(),
        "weight decay": dict(lr=0.01, weight_decay=0.1),
        "no weight decay": dict(lr=0.01, weight_decay=0.0),
        "AMSGrad": dict(lr=0.02, betas=(0.8, 0.95), eps=0.01, weight_decay=0.2, amsgrad=True),
    },
    "RMSprop": {
        "defaults": dict(lr=0.001),
        "alpha": dict(lr=0.01, alpha=0.8, eps=0.01),
        "weight decay": dict(lr=0.01, eps=0.1, weight_decay=0.05),
        "momentum": dict(lr=0.001, momentum=0.9),
        "centred": dict(lr=0.001, centered=True),
        "centred, with momentum": dict(lr=0.002, alpha=0.9, eps=0.1, weight_decay=0.01, momentum=0.5, centered=True),
    },
    "NAdam": {
        "defaults": dict(),
        "betas": dict(lr=0.02, betas=(0.5, 0.75), eps=0.01),
        "no memory": dict(lr=0.01, betas=(0.0, 0.0), eps=0.5),
        "momentum decay": dict(lr=0.01, momentum_decay=0.5),
        "no momentum decay": dict(lr=0.01, momentum_decay=0.0),
        "weight decay": dict(lr=0.01, eps=0.1, weight_decay=0.05),
        "decoupled weight decay": dict(lr=0.01, weight_decay=0.05, decoupled_weight_decay=True),
    },
    "RAdam": {
        "defaults": dict(),
        "betas": dict(lr=0.02, betas=(0.5, 0.9), eps=0.01),
        "never adapted": dict(lr=0.01, betas=(0.9, 0.5)),
        "weight decay": dict(lr=0.01, eps=0.1, weight_decay=0.05),
        "decoupled weight decay": dict(lr=0.01, weight_decay=0.05, decoupled_weight_decay=True),
    },
    "Adagrad": {
        "defaults": dict(),
        "a large rate": dict(lr=0.5),
        "rate decay": dict(lr=0.5, lr_decay=0.1),
        "weight decay": dict(lr=0.1, weight_decay=0.05),
        "initial value": dict(lr=0.1, initial_accumulator_value=0.5, eps=0.01),
    },
    "Adadelta": {
        "defaults": dict(),
        "a small rate": dict(lr=0.1),
        "rho": dict(lr=0.5, rho=0.5, eps=0.01),
        "weight decay": dict(lr=0.5, eps=0.01, weight_decay=0.05),
    },
    "Lion": {
        "defaults": dict(),
        "betas": dict(lr=0.001, betas=(0.95, 0.98)),
        "weight decay": dict(lr=0.001, weight_decay=0.1),
    },
}


torch.optim.Lion = Lion
torch.set_default_dtype(torch.float64)  # in which NAdam stores a product

results = {}
for optimizer_name, runs in cases.items():
    for name, options in runs.items():
        layer = nn.Linear(4, 3).double()
        layer.weight.data = pattern((3, 4), 5, 1, 17)
        layer.bias.data = pattern((3,), 3, 2, 7)
        x, labels = pattern((5, 4), 7, 3, 23), torch.tensor([0, 2, 1, 1, 0])
        optimizer = getattr(torch.optim, optimizer_name)(layer.parameters(), **options)
        losses = []
        for step in range(1000):
            optimizer.zero_grad()
            loss = nn.CrossEntropyLoss()(layer(x), labels)
            if step % 50 == 0:
                losses.append(loss.item())
            loss.backward()
            optimizer.step()
        results[f"{optimizer_name}.{name}.losses"] = rounded(losses)
        results[f"{optimizer_name}.{name}.parameters"] = rounded(torch.cat([p.detach().flatten() for p in layer.parameters()]))
write(results)
