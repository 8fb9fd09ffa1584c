"""Prints regression_losses.hpp: the losses of the regression lesson, by PyTorch.

Usage: see regenerate.sh     (PyTorch 2.15, scikit-learn 1.9)
"""

import re

import torch
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
with open("../../include/gpunet/data/iris.ipp") as file:
    rows = re.findall(r"\{(\d+), (\d+), (\d+), (\d+)\}", file.read())
flowers = torch.tensor([[float(f"{int(number) / 10:.1f}") for number in row] for row in rows])
assert flowers.shape == (150, 4)
X_train, X_test, y_train, y_test = train_test_split(flowers[:, :3], flowers[:, 3:], test_size=0.2, random_state=33)

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(X_train, y_train), batch_size=16, shuffle=True)
test_loader = DataLoader(TensorDataset(X_test, y_test), batch_size=30)
losses, held_out = [], []
for epoch in range(100):
    total = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(inputs)
    losses.append(total / len(X_train))
    with torch.no_grad():
        held_out += [criterion(net(inputs), targets).item() for inputs, targets in test_loader]
with torch.no_grad():
    mean = nn.L1Loss()(net(X_test), y_test).item()


def numbers(values):
    return ", ".join(f"{value:.8f}" for value in values)


print(f"""// Printed by regression_losses.py with PyTorch {torch.__version__.split("+")[0]}.
#pragma once

namespace reference {{

// Each tenth epoch, from the first: the mean loss, and that of the rows held out after it.
inline constexpr double regression_losses[] = {{{numbers(losses[::10])}}};
inline constexpr double regression_held_out[] = {{{numbers(held_out[::10])}}};
// The mean error of the rows held out, at the end.
inline constexpr double regression_error = {mean:.8f};

}}  // namespace reference""")
