"""The PyTorch side on a GPU: training steps in eager mode, compiled by torch.compile, or replayed as a CUDA graph.

Here are the same jobs as in gpu/jobs.cpp. Nothing in this file touches CUDA before a job starts: a process that has
used it cannot be copied.
"""

import signal
import sys
import warnings

import torch

from opponent_jobs import JOBS, Training, images, lenet, linears, momentum, spread_classes, spread_values, vgg
from torch import nn


def wide():
    return nn.Sequential(*linears(784, 4096, 4096, 10))


CUDA_JOBS = {
    "lenet_b4": JOBS["lenet_b4"],
    "iris": JOBS["iris"],
    "vgg_b256": lambda: Training(vgg, momentum, images(256), spread_classes(10, 256)),
    "mlp_wide_b4096": lambda: Training(wide, momentum, spread_values(4096, 784), spread_classes(10, 4096)),
    "lenet_b256": JOBS["lenet_b256"],
    "lenet_b4096": lambda: Training(lenet, momentum, images(4096), spread_classes(10, 4096)),
    "cnn_b256": JOBS["cnn_b256"],
    "mlp_b512": JOBS["mlp_b512"],
    "mlp_b64": JOBS["mlp_b64"],
    "vgg_b32": JOBS["vgg_b32"],
    "iris_single": JOBS["iris"],
}


def allow_tf32(allowed):
    """In matrix products and convolutions. PyTorch 2.9 and later have another switch (fp32_precision), but this one sets
    both, while torch.compile refuses to run after the new one alone."""
    warnings.filterwarnings("ignore", message=".*TF32 behavior.*")  # it says that there is a new one
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed


class CudaTraining:
    """A job of opponent_jobs.py on the GPU. `ways` are what is tried; start() and run() are as there."""

    def __init__(self, job, mode, precision):
        allow_tf32(precision == "tf32")
        torch.backends.cudnn.benchmark = True  # the fastest of cuDNN's kernels
        self.job, self.mode, self.device = job, mode, torch.device("cuda")
        self.inputs, self.targets = job.inputs.to(self.device), job.targets.to(self.device)
        self.ways = {"optimizer": [{"fused": True}, {"foreach": True}]}
        if "layout" in job.ways:
            self.ways["layout"] = job.ways["layout"]
        if mode == "compiled":  # each of them would be compiled anew
            self.ways = {choice: values[:1] for choice, values in self.ways.items()}
        self.forget()

    def forget(self):
        """Frees the model and everything that was made for it."""
        self.model = self.optimizer = self.forward = self.first = self.at = self.loss = self.graph = self.made = None

    def start(self, optimizer={}, layout="contiguous"):
        """From the initial weights again. What was compiled or recorded stays."""
        if self.made != (optimizer, layout):
            self.forget()
            self.make(optimizer, layout)
            self.made = (optimizer, layout)
        self.restore()

    def make(self, optimizer, layout):
        torch.manual_seed(0)
        model = self.job.network()
        if self.inputs.dim() == 4:
            form = torch.channels_last if layout == "channels_last" else torch.contiguous_format
            model = model.to(memory_format=form)
            self.inputs = self.inputs.contiguous(memory_format=form)
        self.model = model = model.to(self.device)
        criterion = self.job.criterion
        optimizer = dict(optimizer)
        if self.mode == "graphed" and self.job.make_optimizer is not momentum:
            optimizer["capturable"] = True  # Adam counts its steps on the device then
        self.optimizer = self.job.make_optimizer(model.parameters(), **optimizer)
        self.forward = lambda inputs, targets: criterion(model(inputs), targets)
        if self.mode == "compiled":
            self.forward = torch.compile(self.forward)
        self.first = [p.detach().clone() for p in model.parameters()]
        if self.mode == "graphed":
            self.record()
        else:
            for _ in range(3):
                self.step(self.inputs, self.targets)

    def step(self, inputs, targets):
        self.optimizer.zero_grad()
        loss = self.forward(inputs, targets)
        loss.backward()
        self.optimizer.step()
        return loss

    def record(self):
        """The whole step as a CUDA graph, as PyTorch's documentation has it: three steps on a side stream, then the
        recording, in which backward() allocates the gradients from the graph's own memory."""
        self.at = self.inputs.clone(), self.targets.clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step(*self.at)  # nothing keeps the loss: its autograd graph would tie the recording to this stream
        torch.cuda.current_stream().wait_stream(side)
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
        inputs, targets = self.inputs, self.targets
        if self.mode == "graphed":
            to_inputs, to_targets = self.at
            for _ in range(steps):  # each step brings a batch, as ours does
                to_inputs.copy_(inputs)
                to_targets.copy_(targets)
                self.graph.replay()
            loss = self.loss
        else:
            for _ in range(steps):
                loss = self.step(inputs, targets)
        self.value = loss.item()

    def time(self, steps):
        """Milliseconds. The same steps run once before, untimed: a GPU lowers its clocks while it waits for its turn."""
        self.run(steps)
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


def serve_cuda_job(name, mode, precision, seconds, run_trainings, find_fastest_way, words):
    """Runs a job until the line "end". An answer that takes longer than `seconds` ends this process."""
    signal.alarm(int(seconds))
    work = CudaTraining(CUDA_JOBS[name](), mode, precision)
    best = find_fastest_way(work.ways, work.time_of)
    work.forget()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work.start(**best)
    work.run(3)
    growth = torch.cuda.max_memory_allocated() - before
    print(f"{growth / 1e6:.3f} {torch.cuda.memory_reserved() / 1e6:.1f} {work.value:.9g} {words(best)}", flush=True)
    signal.alarm(0)
    while (line := sys.stdin.readline().split()) and line[0] == "run":
        signal.alarm(int(seconds))
        print(run_trainings(work, best, int(line[1])), flush=True)
        signal.alarm(0)


def check_cuda():
    """What PyTorch this is; exits with a reason if it cannot use a GPU."""
    signal.alarm(60)
    if not torch.cuda.is_available():
        sys.exit(f"PyTorch {torch.__version__} cannot use a GPU here: torch.cuda.is_available() is False")
    torch.ones(1, device="cuda").item()  # a kernel runs
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()},",
          torch.cuda.get_device_name(0), flush=True)
