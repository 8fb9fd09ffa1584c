"""Prints distributed.safetensors: trainings with DistributedDataParallel (gloo), two and four processes.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

NUMBER.NETWORK.options   whether some steps are in no_sync(), and whether batches are uneven
NUMBER.NETWORK.losses    [ranks, steps]
NUMBER.NETWORK.weights   a weighted sum of each parameter at the end
NUMBER.NETWORK.buffers   and the sum of each buffer on rank 0
"""

import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from common import rounded, pattern, write


class LeNet(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


class Normalized(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(2, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(128, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))


NETWORKS = {"LeNet": (LeNet, (3, 32, 32), 10), "Normalized": (Normalized, (2, 8, 8), 4)}


def batch_of(shape, classes, step, rank, size):
    """As tests/distributed/ddp_test.cpp makes it."""
    return (pattern((size, *shape), 7, 31 * step + 5 * rank, 29),
            torch.tensor([(3 * i + step + rank) % classes for i in range(size)]))


def run(rank, world, port, name, steps, no_sync, uneven, queue):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    make, shape, classes = NETWORKS[name]
    torch.manual_seed(rank)  # the parameters of rank 0 count
    net = make()
    ddp = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for step in range(steps):
        size = 4 if not uneven or step % 3 else 2 + rank
        x, y = batch_of(shape, classes, step, rank, size)
        if no_sync and step % 3 != 2:
            with ddp.no_sync():
                loss = nn.functional.cross_entropy(ddp(x), y)
                loss.backward()
        else:
            loss = nn.functional.cross_entropy(ddp(x), y)
            loss.backward()
        losses.append(loss.item())
        if not no_sync or step % 3 == 2:
            optimizer.step()
            optimizer.zero_grad()
    weights = [(p * pattern(p.shape, 5, 2, 23)).sum().item() for p in net.parameters()]
    buffers = [b.double().sum().item() for b in net.buffers()]
    queue.put((rank, losses, weights, buffers))
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    arrays = {}
    for name, world, steps, no_sync, uneven in (("LeNet", 2, 100, False, False), ("LeNet", 4, 100, False, False),
                                                ("Normalized", 2, 100, False, False), ("Normalized", 4, 100, False, False),
                                                ("Normalized", 2, 30, True, False), ("Normalized", 2, 30, False, True),
                                                ("LeNet", 4, 30, True, True)):
        context = mp.get_context("spawn")
        queue = context.SimpleQueue()
        port = free_port()
        processes = [context.Process(target=run, args=(r, world, port, name, steps, no_sync, uneven, queue))
                     for r in range(world)]
        for p in processes:
            p.start()
        results = sorted(queue.get() for _ in range(world))
        for p in processes:
            p.join()
        losses = [loss for result in results for loss in result[1]]
        key = f"{len(arrays) // 4}.{name}"
        arrays[f"{key}.options"] = [int(no_sync), int(uneven)]
        arrays[f"{key}.losses"] = rounded(losses).reshape(world, steps)
        arrays[f"{key}.weights"] = rounded(results[0][2])
        arrays[f"{key}.buffers"] = rounded(results[0][3])
    write(arrays)
