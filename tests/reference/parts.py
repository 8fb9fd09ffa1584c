"""Prints parts.hpp: PyTorch's steps of a network whose parts are frozen for a while, and of groups of parameters, in double.

Usage: see regenerate.sh     (PyTorch 2.15)
"""

import torch
from torch import nn

from common import begin, end, pattern, rounded

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
    return torch.cat([p.detach().flatten() for p in net.parameters()])


optimizers = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.05),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.02, weight_decay=0.05),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.02, weight_decay=0.2),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5, weight_decay=0.05, centered=True, eps=0.1),
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
    "OneCycleLR": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, max_lr=0.05, total_steps=30),
    "SequentialLR": lambda o: torch.optim.lr_scheduler.SequentialLR(
        o, [torch.optim.lr_scheduler.LinearLR(o, start_factor=0.1, total_iters=5),
            torch.optim.lr_scheduler.ExponentialLR(o, gamma=0.9)], milestones=[6]),
    "ReduceLROnPlateau": lambda o: torch.optim.lr_scheduler.ReduceLROnPlateau(o, patience=1, min_lr=0.001),
}

begin("vector")
print("""// A Linear(4, 5), Tanh, Linear(5, 3) whose parameters and inputs [5, 4] are patterns, with CrossEntropyLoss and the labels
// 0 2 1 1 0. The parameters after all steps.
struct PartsRun {
  const char *optimizer, *name;
  std::vector<double> parameters;
};
""")
print("""// 7 steps each with the first layer frozen, with the last bias frozen, and with nothing frozen; `name` says what happens to the
// gradients.""")
print("inline const PartsRun frozen_runs[] = {")
for optimizer, make in optimizers.items():
    for name, change in (("plain", lambda net: None), ("clipped", clip), ("penalized", penalize)):
        net = network()
        freeze(net, make(net.parameters()), change)
        print(f'{{"{optimizer}", "{name}", {rounded(values_of(net))}}},')
print("};\n")
print("""// 20 steps of three groups: the biases without weight decay, the last weight with a learning rate of 0.005 and a momentum, or first
// beta, of 0.5, and the rest; `name` is that of the schedule.""")
print("inline const PartsRun group_runs[] = {")
for optimizer, make in optimizers.items():
    for name, schedule in schedules.items():
        net = network()
        o = make(groups(net))
        s = schedule(o)
        for i in range(20):
            step(net, o)
            s.step(*([1.0] if name == "ReduceLROnPlateau" else []))
        print(f'{{"{optimizer}", "{name}", {rounded(values_of(net))}}},')
print("};\n")
end()
