"""Prints sync_batch_norm.safetensors: trainings in one process with the batches of all ranks as one, which those of
DistributedDataParallel with torch.nn.SyncBatchNorm are, and SyncBatchNorm runs on GPUs only. DistributedDataParallel takes the mean over
the ranks of the gradients of each rank's mean loss.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

NUMBER.NETWORK.options   whether batches are uneven, the momentum (-1: none), and whether the parameters of normalizations are frozen
NUMBER.NETWORK.losses    [ranks, steps]
NUMBER.NETWORK.weights   a weighted sum of each parameter at the end
NUMBER.NETWORK.buffers   and the sum of each running statistic
"""

import torch
from torch import nn

from common import rounded, pattern, write


class Images(nn.Sequential):
    def __init__(self, momentum):
        super().__init__(nn.Conv2d(2, 6, 3, padding=1), nn.BatchNorm2d(6, momentum=momentum), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(6, 5, 3), nn.BatchNorm2d(5, momentum=momentum), nn.Flatten(), nn.Linear(20, 7),
                         nn.BatchNorm1d(7, momentum=momentum), nn.ReLU6(), nn.Linear(7, 4))


class Features(nn.Sequential):
    def __init__(self, momentum):
        super().__init__(nn.BatchNorm1d(5, momentum=momentum), nn.Linear(5, 9), nn.BatchNorm1d(9, momentum=momentum),
                         nn.Tanh(), nn.Linear(9, 3))


results = {}
NETWORKS = {"Images": (Images, (2, 8, 8), 4), "Features": (Features, (5,), 3)}


def size_of(rank, step, uneven):
    return (rank + step) % 3 + 1 if uneven else 3


def batch_of(shape, classes, step, rank, size):
    """As tests/distributed/sync_batch_norm_test.cpp makes it."""
    return (pattern((size, *shape), 7, 31 * step + 5 * rank, 29) * (1 + rank) + rank,
            torch.tensor([(3 * i + step + rank) % classes for i in range(size)]))


def run(name, ranks, uneven, momentum, frozen, steps=24):
    make, shape, classes = NETWORKS[name]
    torch.manual_seed(0)
    net = make(momentum)
    for i, module in enumerate(net):
        if frozen and "BatchNorm" in type(module).__name__:
            module.requires_grad_(False)
    optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.05, momentum=0.9)
    losses = [[] for _ in range(ranks)]
    for step in range(steps):
        parts = [batch_of(shape, classes, step, rank, size_of(rank, step, uneven)) for rank in range(ranks)]
        outputs = net(torch.cat([x for x, _ in parts])).split([len(y) for _, y in parts])
        means = [nn.functional.cross_entropy(output, y) for output, (_, y) in zip(outputs, parts)]
        optimizer.zero_grad()
        torch.stack(means).mean().backward()
        optimizer.step()
        for rank, loss in enumerate(means):
            losses[rank].append(loss.item())
    weights = [(p * pattern(p.shape, 5, 2, 23)).sum().item() for p in net.parameters()]
    buffers = [b.double().sum().item() for key, b in net.named_buffers() if "running" in key]
    key = f"{len(results) // 4:02}.{name}"
    results[f"{key}.options"] = [float(uneven), momentum or -1.0, float(frozen)]
    results[f"{key}.losses"] = rounded(sum(losses, [])).reshape(ranks, steps)
    results[f"{key}.weights"] = rounded(weights)
    results[f"{key}.buffers"] = rounded(buffers)


torch.set_default_dtype(torch.float64)
for count in (1, 2, 3, 4):
    for network in NETWORKS:
        run(network, count, False, 0.1, False)
        if count > 1:
            run(network, count, True, 0.3, False)
    if count > 1:
        run("Images", count, True, None, True)
write(results)
