"""Prints networks.safetensors: keys, shapes and losses of PyTorch's networks that gpunet/networks has too, in double.

Usage: see regenerate.sh     (PyTorch 2.15, torchvision 0.29, safetensors)
"""

import sys

import torch
import torchvision
from common import pattern
from safetensors.torch import save
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)


class CIFARResNet(nn.Module):
    """He and others 2016, section 4.2, with torchvision's block and names."""

    def __init__(self, n, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        before = 16
        for i in range(3):
            blocks = []
            for block in range(n):
                channels, stride = 16 * 2**i, 2 if i > 0 and block == 0 else 1
                downsample = None
                if stride != 1:
                    downsample = nn.Sequential(nn.Conv2d(before, channels, 1, stride, bias=False),
                                               nn.BatchNorm2d(channels))
                blocks.append(torchvision.models.resnet.BasicBlock(before, channels, stride, downsample))
                before = channels
            self.add_module(f"layer{i + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(64, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(x.mean((2, 3)))


class DoubleConv(nn.Sequential):
    def __init__(self, channels_in, channels, block):
        super().__init__()
        for i in (1, 2):
            self.add_module(f"{block}conv{i}", nn.Conv2d(channels_in, channels, 3, padding=1, bias=False))
            self.add_module(f"{block}norm{i}", nn.BatchNorm2d(channels))
            self.add_module(f"{block}relu{i}", nn.ReLU())
            channels_in = channels


class UNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        channels = 3
        for i in range(1, 5):
            width = features * 2**(i - 1)
            self.add_module(f"encoder{i}", DoubleConv(channels, width, f"enc{i}"))
            channels = width
        self.bottleneck = DoubleConv(channels, 2 * channels, "bottleneck")
        for i in range(4, 0, -1):
            width = features * 2**(i - 1)
            self.add_module(f"upconv{i}", nn.ConvTranspose2d(2 * width, width, 2, 2))
            self.add_module(f"decoder{i}", DoubleConv(2 * width, width, f"dec{i}"))
        self.conv = nn.Conv2d(features, 1, 1)

    def forward(self, x):
        down = []
        for i in range(1, 5):
            x = self.get_submodule(f"encoder{i}")(x)
            down.append(x)
            x = F.max_pool2d(x, 2)
        x = self.bottleneck(x)
        for i in range(4, 0, -1):
            x = torch.cat([self.get_submodule(f"upconv{i}")(x), down[i - 1]], 1)
            x = self.get_submodule(f"decoder{i}")(x)
        return self.conv(x).sigmoid()


results = {}


def add(name, make, criterion, side, steps, lr, batch=4):
    torch.manual_seed(1)
    net = make()
    text = "".join(f"{key} {list(value.shape)}\n" for key, value in net.state_dict().items())
    results[f"{name}.keys"] = torch.tensor(list(text.encode()), dtype=torch.uint8)
    x = pattern((batch, 3, side, side), 7, 3, 23)
    targets = torch.arange(batch) % 3
    if criterion is F.binary_cross_entropy:
        targets = (pattern((batch, 1, side, side), 5, 1, 17) > 0).double()
    optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = criterion(net(x), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    net.eval()
    results[f"{name}.losses"] = torch.tensor(losses)
    results[f"{name}.y"] = net(x).detach()


models = torchvision.models
add("resnet18", lambda: models.resnet18(num_classes=10), F.cross_entropy, 32, 2, 0.0001)
add("resnet20", lambda: CIFARResNet(3, 10), F.cross_entropy, 8, 100, 0.001)
add("resnet8", lambda: CIFARResNet(1, 10), F.cross_entropy, 8, 3, 0.01, batch=2)
add("mobilenet_v2", lambda: models.mobilenet_v2(num_classes=10, dropout=0), F.cross_entropy, 32, 1, 0.001)
add("unet", lambda: UNet(4), F.binary_cross_entropy, 32, 5, 0.01)
add("unet2", lambda: UNet(2), F.binary_cross_entropy, 16, 3, 0.01, batch=2)

sys.stdout.buffer.write(save(results, {"printed_by": "networks.py"}))
