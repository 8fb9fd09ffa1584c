"""Makes optimizer_states.pth: for each optimizer of PyTorch, a small network after 3 steps, the state of the optimizer then,
and the network after 3 more steps; and optimizer_maximize.pth, the state of one that maximizes.

Usage: python3 optimizer_states.py     (PyTorch 2.15)

With a FILE that gpunet wrote (tests/optim/optimizer_state_test.cpp leaves it where GPUNET_KEEP_STATES says), it checks that
PyTorch loads the states and makes the same further steps:
       python3 optimizer_states.py FOLDER
"""

import pathlib
import sys

import torch
from torch import nn, optim

here = pathlib.Path(__file__).parent
x = torch.arange(12, dtype=torch.float64).reshape(4, 3).sin()
y = torch.arange(8, dtype=torch.float64).reshape(4, 2).cos()

cases = {
    "SGD": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.25, weight_decay=0.01),
    "Nesterov": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Plain": lambda p: optim.SGD(p, lr=0.1),
    "Adam": lambda p: optim.Adam(p, lr=0.01, betas=(0.8, 0.99), amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01, eps=1e-7),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.5),
    "Adadelta": lambda p: optim.Adadelta(p, rho=0.8),
    "NAdam": lambda p: optim.NAdam(p, lr=0.01),
    "RAdam": lambda p: optim.RAdam(p, lr=0.01, decoupled_weight_decay=True, weight_decay=0.1),
    "Groups": lambda p: optim.Adam([{"params": [p[0]]}, {"params": [p[1]], "lr": 0.5, "weight_decay": 0.1}], lr=0.01),
}


def new_net():
    net = nn.Linear(3, 2, dtype=torch.float64)
    with torch.no_grad():
        net.weight.copy_(torch.arange(6, dtype=torch.float64).reshape(2, 3) / 10)
        net.bias.copy_(torch.tensor([0.5, -0.25]))
    return net


def step(net, optimizer, times):
    for _ in range(times):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()


def copy_of(net):
    return {name: value.clone() for name, value in net.state_dict().items()}


def make():
    torch.save(optim.SGD(new_net().parameters(), lr=0.1, maximize=True).state_dict(), here / "optimizer_maximize.pth")
    out = {"x": x, "y": y}
    for name, optimizer_of in cases.items():
        net = new_net()
        optimizer = optimizer_of(list(net.parameters()))
        step(net, optimizer, 3)
        # Copies: the next steps change the tensors of a state dict.
        state = torch.load(to_bytes(optimizer.state_dict()))
        before = copy_of(net)
        step(net, optimizer, 3)
        out[name] = {"model": before, "optimizer": state, "after": copy_of(net)}
    torch.save(out, here / "optimizer_states.pth")


def to_bytes(x):
    import io
    out = io.BytesIO()
    torch.save(x, out)
    out.seek(0)
    return out


def check(folder):
    reference = torch.load(here / "optimizer_states.pth")
    for name, optimizer_of in cases.items():
        net = new_net()
        net.load_state_dict(reference[name]["model"])
        optimizer = optimizer_of(list(net.parameters()))
        optimizer.load_state_dict(torch.load(folder / f"{name}.pth"))
        step(net, optimizer, 3)
        error = max((value - reference[name]["after"][key]).abs().max().item() for key, value in net.state_dict().items())
        print(f"{name}: differs by {error}")
        assert error <= (1e-7 if name == "NAdam" else 0), name
    print(f"PyTorch {torch.__version__} goes on from {len(cases)} states that gpunet wrote")


if len(sys.argv) > 1:
    check(pathlib.Path(sys.argv[1]))
else:
    make()
