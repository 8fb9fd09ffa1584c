"""Prints parts.safetensors: PyTorch's steps of a network whose parts are frozen for a while, of groups of parameters, and of both with
gradients of two batches, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

A Linear(4, 5), Tanh, Linear(5, 3) whose parameters and inputs [5, 4] are patterns, with CrossEntropyLoss and the labels 0 2 1 1 0. The
parameters after all steps, of
frozen.OPTIMIZER.NAME       7 steps each with the first layer frozen, with the last bias frozen, and with nothing frozen; the name says what
                            happens to the gradients
groups.OPTIMIZER.SCHEDULE   20 steps of three groups: the biases without weight decay, the last weight with a learning rate of 0.005 and a
                            momentum, or first beta, of 0.5, and the rest
accumulated.OPTIMIZER.none  16 batches, of which each two make an update, in the groups above; the first bias is frozen for the first 9. The
                            second batch of an update is another pattern
lbfgs.NAME                  three steps of LBFGS: of the last layer, and of all with the first bias frozen
"""

import torch
from torch import nn

from common import Lion, rounded, pattern, write

torch.set_default_dtype(torch.float64)  # in which NAdam stores a product

labels = torch.tensor([0, 2, 1, 1, 0])


def network():
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    for i, parameter in enumerate(net.parameters()):
        parameter.data = pattern(parameter.shape, 5 + 2 * i, i, 17)
    return net


def step(net, optimizer, change=lambda net: None):
    optimizer.zero_grad()
    loss = nn.CrossEntropyLoss()(net(pattern((5, 4), 7, 3, 23)), labels)
    loss.backward()
    change(net)
    optimizer.step()
    return loss.item()


def values_of(net):
    return rounded(torch.cat([p.detach().flatten() for p in net.parameters()]))


optimizers = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.05),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.02, weight_decay=0.05),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.02, weight_decay=0.2),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5, weight_decay=0.05, centered=True, eps=0.1),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.02, weight_decay=0.05, momentum_decay=0.1),
    "RAdam": lambda p: torch.optim.RAdam(p, lr=0.02, weight_decay=0.2, decoupled_weight_decay=True),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.05, lr_decay=0.1, weight_decay=0.05, initial_accumulator_value=0.5),
    "Adadelta": lambda p: torch.optim.Adadelta(p, lr=0.5, rho=0.8, eps=0.01, weight_decay=0.05),
    "Lion": lambda p: Lion(p, lr=0.003, betas=(0.9, 0.999), weight_decay=0.1),
}


def freeze(net, optimizer, change):
    """Steps with the first layer frozen, then with a bias of the last, then with nothing frozen."""
    for frozen in (("0.weight", "0.bias"), ("2.bias",), ()):
        for name, parameter in net.named_parameters():
            parameter.requires_grad_(name not in frozen)
        for _ in range(7):
            step(net, optimizer, change)


def clip(net):
    nn.utils.clip_grad_norm_(net.parameters(), 0.05)


def penalize(net):
    for parameter in net.parameters():
        if parameter.grad is not None and parameter.dim() > 1:
            parameter.grad += 0.01 * parameter.data.sign() + 0.02 * parameter.data


def groups(net):
    biases = [p for p in net.parameters() if p.dim() < 2]
    last = [net[2].weight]
    return [{"params": [net[0].weight]}, {"params": biases, "weight_decay": 0},
            {"params": last, "lr": 0.005, "momentum": 0.5, "betas": (0.5, 0.999)}]


schedules = {
    "none": lambda o: torch.optim.lr_scheduler.ConstantLR(o, factor=1),
    "StepLR": lambda o: torch.optim.lr_scheduler.StepLR(o, step_size=3, gamma=0.5),
    "CosineAnnealingLR": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, T_max=15, eta_min=0.001),
    "OneCycleLR": lambda o: torch.optim.lr_scheduler.OneCycleLR(
        o, max_lr=0.05, total_steps=30, cycle_momentum="momentum" in o.defaults or "betas" in o.defaults),
    "SequentialLR": lambda o: torch.optim.lr_scheduler.SequentialLR(
        o, [torch.optim.lr_scheduler.LinearLR(o, start_factor=0.1, total_iters=5),
            torch.optim.lr_scheduler.ExponentialLR(o, gamma=0.9)], milestones=[6]),
    "ReduceLROnPlateau": lambda o: torch.optim.lr_scheduler.ReduceLROnPlateau(o, patience=1, min_lr=0.001),
    "PolynomialLR": lambda o: torch.optim.lr_scheduler.PolynomialLR(o, total_iters=15, power=0.9),
    "CosineAnnealingWarmRestarts": lambda o: torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2),
    "LambdaLR": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    "ChainedScheduler": lambda o: torch.optim.lr_scheduler.ChainedScheduler(
        [torch.optim.lr_scheduler.ConstantLR(o, factor=0.5, total_iters=4),
         torch.optim.lr_scheduler.ExponentialLR(o, gamma=0.9)]),
    "SWALR": lambda o: torch.optim.swa_utils.SWALR(o, swa_lr=0.02, anneal_epochs=6),
}


def schedules_of(optimizer):
    """All for SGD; of the newer schedules, and of the newer optimizers, some."""
    if optimizer == "SGD":
        return schedules
    older = ("none", "StepLR", "CosineAnnealingLR", "OneCycleLR", "SequentialLR", "ReduceLROnPlateau")
    names = older if optimizer in ("Adam", "AdamW", "RMSprop") else ("none", "StepLR", "OneCycleLR")
    return {name: schedules[name] for name in names}


def accumulate(net, optimizer):
    """Updates by the gradients of two batches: with a frozen bias, and after half of the steps, in the middle of an update, without."""
    for i in range(16):
        net[0].bias.requires_grad_(i >= 9)
        if i % 2 == 0:
            optimizer.zero_grad()
        x = pattern((5, 4), 7, 3, 23) if i % 2 == 0 else pattern((5, 4), 3, 1, 19)
        (nn.CrossEntropyLoss()(net(x), labels) / 2).backward()
        if i % 2 == 1:
            optimizer.step()


def minimize(net, parameters):
    """Steps of LBFGS."""
    optimizer = torch.optim.LBFGS(parameters, lr=0.5, max_iter=4, history_size=3, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(net(pattern((5, 4), 7, 3, 23)), labels)
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)


results = {}
for optimizer, make in optimizers.items():
    for name, change in (("plain", lambda net: None), ("clipped", clip), ("penalized", penalize)):
        net = network()
        freeze(net, make(net.parameters()), change)
        results[f"frozen.{optimizer}.{name}"] = values_of(net)
for optimizer, make in optimizers.items():
    for name, schedule in schedules_of(optimizer).items():
        net = network()
        o = make(groups(net))
        s = schedule(o)
        for i in range(20):
            step(net, o)
            s.step(*([1.0] if name == "ReduceLROnPlateau" else []))
        results[f"groups.{optimizer}.{name}"] = values_of(net)
for optimizer, make in optimizers.items():
    net = network()
    accumulate(net, make(groups(net)))
    results[f"accumulated.{optimizer}.none"] = values_of(net)
for name in ("last", "others"):
    net = network()
    net[0].bias.requires_grad_(name == "last")
    minimize(net, list(net[2].parameters() if name == "last" else net.parameters()))
    results[f"lbfgs.{name}"] = values_of(net)
write(results)
