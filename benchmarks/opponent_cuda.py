"""The PyTorch side on a GPU: training steps as they come (eager), by torch.compile, or replayed as a CUDA graph.

Here are the same jobs as in gpu/jobs.cpp. Nothing in this file touches CUDA before a job starts: a process that has
used it cannot be copied.
"""

import os
import signal
import sys
import time

import torch

from opponent_jobs import IMAGE, JOBS, Training, lenet, linears, momentum, vgg
from torch import nn


def wide():
    return nn.Sequential(*linears(784, 4096, 4096, 10))


CUDA_JOBS = {
    "lenet_b4": JOBS["lenet_b4"],
    "iris": JOBS["iris"],
    "vgg_b256": lambda: Training(vgg, momentum, 256, IMAGE, 10),
    "mlp_wide_b4096": lambda: Training(wide, momentum, 4096, (784,), 10),
    "lenet_b256": JOBS["lenet_b256"],
    "lenet_b4096": lambda: Training(lenet, momentum, 4096, IMAGE, 10),
    "cnn_b256": JOBS["cnn_b256"],
    "mlp_b512": JOBS["mlp_b512"],
    "mlp_b64": JOBS["mlp_b64"],
    "vgg_b32": JOBS["vgg_b32"],
    "iris_single": JOBS["iris"],
}


class CudaTraining:
    """A job of opponent_jobs.py on the GPU. `ways` are what is tried; start() and run() are as there."""

    def __init__(self, job, way, precision, device="cuda"):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.benchmark = True  # the fastest of cuDNN's kernels
        self.job, self.way, self.device = job, way, torch.device(device)
        self.inputs, self.labels = job.inputs.to(self.device), job.labels.to(self.device)
        self.ways = {"optimizer": [{"fused": True}, {"foreach": True}]}
        if "layout" in job.ways:
            self.ways["layout"] = job.ways["layout"]
        if way == "compiled":  # each of them would be compiled anew
            self.ways = {choice: values[:1] for choice, values in self.ways.items()}
        self.made = None

    def start(self, optimizer={}, layout="contiguous"):
        """From the first weights again. What was compiled or recorded is kept."""
        if self.made != (optimizer, layout):
            self.make(optimizer, layout)
            self.made = (optimizer, layout)
        self.restore()

    def make(self, optimizer, layout):
        torch.manual_seed(0)
        self.model = self.job.network()
        if layout == "channels_last":
            self.model = self.model.to(memory_format=torch.channels_last)
            self.inputs = self.inputs.contiguous(memory_format=torch.channels_last)
        elif self.inputs.dim() == 4:
            self.inputs = self.inputs.contiguous(memory_format=torch.contiguous_format)
        self.model = self.model.to(self.device)
        criterion = nn.CrossEntropyLoss()
        optimizer = dict(optimizer)
        if self.way == "graphed" and self.job.make_optimizer is not momentum:
            optimizer["capturable"] = True  # Adam counts its steps on the device then
        self.optimizer = self.job.make_optimizer(self.model.parameters(), **optimizer)
        self.forward = lambda inputs, labels: criterion(self.model(inputs), labels)
        if self.way == "compiled":
            self.forward = torch.compile(self.forward)
        self.first = [p.detach().clone() for p in self.model.parameters()]
        if self.way == "graphed":
            self.record()
        else:
            for _ in range(3):
                self.step(self.inputs, self.labels)

    def step(self, inputs, labels):
        self.optimizer.zero_grad()
        loss = self.forward(inputs, labels)
        loss.backward()
        self.optimizer.step()
        return loss

    def record(self):
        """The whole step as a CUDA graph, as PyTorch's documentation has it: three steps beside, then the recording."""
        self.at = self.inputs.clone(), self.labels.clone()
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(3):
                self.step(*self.at)
        torch.cuda.current_stream().wait_stream(beside)
        self.optimizer.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self.step(*self.at)

    def restore(self):
        with torch.no_grad():
            for p, first in zip(self.model.parameters(), self.first):
                p.copy_(first)
            for state in self.optimizer.state.values():
                for value in state.values():
                    if torch.is_tensor(value):
                        value.zero_()

    def run(self, steps):
        inputs, labels = self.inputs, self.labels
        if self.way == "graphed":
            to_inputs, to_labels = self.at
            for _ in range(steps):  # each step brings a batch, as ours does
                to_inputs.copy_(inputs)
                to_labels.copy_(labels)
                self.graph.replay()
            loss = self.loss
        else:
            for _ in range(steps):
                loss = self.step(inputs, labels)
        self.value = loss.item()

    def time(self, steps):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        self.run(steps)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    def time_of(self, way):
        """Milliseconds of a step, the best of a few short runs."""
        self.start(**way)
        self.time(2)
        steps = max(1, int(10 / self.time(1)))
        return min(self.time(steps) / steps for _ in range(3))


begun = time.monotonic()


def limit_time(most=None):
    """Ends this process when the time of the whole run is over, or after `most` seconds: nothing waits for it for ever."""
    left = float(os.environ.get("GPUNET_BENCH_SECONDS", 600)) - (time.monotonic() - begun)
    signal.alarm(max(1, int(min(left, most or left))))


def serve_cuda_job(name, precision, way, run_trainings, find_fastest_way, words):
    """Runs a job until the line "end"."""
    limit_time(None if way == "compiled" else 60)
    work = CudaTraining(CUDA_JOBS[name](), way, precision)
    best = find_fastest_way(work.ways, work.time_of)
    work.model = work.optimizer = work.forward = work.first = work.at = work.loss = work.graph = work.made = None
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work.start(**best)
    work.run(3)
    growth = torch.cuda.max_memory_allocated() - before
    print(f"{growth / 1e6:.3f} {torch.cuda.memory_reserved() / 1e6:.1f} {work.value:.9g} {words(best)}", flush=True)
    while (line := sys.stdin.readline().split()) and line[0] == "run":
        print(run_trainings(work, best, int(line[1])), flush=True)


def check_cuda():
    """What PyTorch this is; ends with 1 if it cannot use a GPU."""
    limit_time(60)
    if not torch.cuda.is_available():
        sys.exit("this PyTorch cannot use a GPU: torch.cuda.is_available() is False")
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()},",
          torch.cuda.get_device_name(0), flush=True)
