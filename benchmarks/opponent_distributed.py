"""Steps of PyTorch's DistributedDataParallel (gloo) on the jobs of opponent_jobs.py, as distributed.cpp runs ours.

  opponent_distributed.py JOB SECONDS RANK RANKS THREADS FILE     FILE: where the processes meet; prints as distributed.cpp
"""

import os
import sys
import time

sys.dont_write_bytecode = True

import torch
import torch.distributed as dist

from opponent_jobs import JOBS


def main():
    job, seconds, rank, ranks, threads, file = sys.argv[1:]
    seconds, rank, ranks = float(seconds), int(rank), int(ranks)
    torch.set_num_threads(int(threads))
    training = JOBS[job]()
    training.inputs, training.targets = training.inputs[rank::ranks].clone(), training.targets[rank::ranks].clone()
    if ranks > 1:
        dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=ranks)
    best = None
    for optimizer in training.ways["optimizer"]:  # the fastest that it has
        training.start(optimizer=optimizer)
        if ranks > 1:
            training.model = torch.nn.parallel.DistributedDataParallel(training.model)
        training.run(3)
        loss = torch.tensor([training.value])
        end, times = False, []
        begin = time.perf_counter()
        while not end:
            for _ in range(10):
                times.append(training.time(1))
            passed = torch.tensor([time.perf_counter() - begin])
            if ranks > 1:
                dist.all_reduce(passed, dist.ReduceOp.MAX)
            end = passed.item() > seconds / len(training.ways["optimizer"])
        if ranks > 1:
            dist.all_reduce(loss)
        median = torch.tensor([sorted(times)[len(times) // 2]])
        if ranks > 1:
            dist.broadcast(median, 0)  # all of them choose the same
        if best is None or median.item() < best[0]:
            best = median.item(), loss.item() / ranks
    if rank == 0:
        print(f"{best[0]:.4f} ms, loss {best[1]:.6f}", flush=True)
    if ranks > 1:
        dist.destroy_process_group()
        os._exit(0)  # gloo's threads end the interpreter with an abort


main()
