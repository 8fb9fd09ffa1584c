"""Prints branches.hpp: the losses of networks with branches, by PyTorch in double.

Usage: see regenerate.sh     (PyTorch 2.15)
"""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


class Block(nn.Module):
    """The basic block of a ResNet, with torchvision's names."""

    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = None
        if stride != 1 or channels_in != channels:
            self.downsample = nn.Sequential(nn.Conv2d(channels_in, channels, 1, stride, bias=False),
                                            nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(2, 4, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.layer1 = nn.Sequential(Block(4, 4, 1), Block(4, 4, 1))
        self.layer2 = nn.Sequential(Block(4, 7, 2), Block(7, 7, 1))
        self.fc = nn.Linear(7 * 4 * 4, 3)

    def forward(self, x):
        x = self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x)))))
        return self.fc(x.flatten(1))


class Inception(nn.Module):
    """Branches that are joined, and branches that are added."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(2, 3, 1)
        self.b = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.Tanh(), nn.Conv2d(4, 2, 3, padding=1))
        self.c = nn.Conv2d(7, 3, 3)
        self.d = nn.Conv2d(7, 3, 3)
        self.fc = nn.Linear(3 * 6 * 6, 3)

    def forward(self, x):
        x = torch.cat([self.a(x), x, self.b(x)], 1)
        return self.fc(torch.tanh(self.c(x) + self.d(x)).flatten(1))


def losses(net, samples):
    values = (torch.arange(samples * 2 * 8 * 8) * 7 + 3) % 23 - 11
    x = values.double().reshape(samples, 2, 8, 8) / 8
    labels = torch.arange(samples) % 3
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    out = []
    for _ in range(12):
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(net(x), labels)
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    return ", ".join(f"{value:.15g}" for value in out)


def main():
    torch.manual_seed(1)
    resnet = ResNet()
    keys = ", ".join(f'"{name}"' for name, _ in resnet.named_parameters())
    resnet_losses = losses(resnet, 5)
    torch.manual_seed(2)
    inception_losses = losses(Inception(), 3)
    print(f"""// Printed by branches.py with PyTorch {torch.__version__.split("+")[0]}.
#pragma once

namespace reference {{

// Twelve steps of SGD on one batch.
inline constexpr double resnet_losses[] = {{{resnet_losses}}};
inline constexpr double inception_losses[] = {{{inception_losses}}};
// The parameters of the former, in order.
inline constexpr const char* resnet_keys[] = {{{keys}}};

}}  // namespace reference""")


main()
