"""The opponents' side of the benchmarks: runs the jobs of opponent_jobs.py by PyTorch, of opponent_onnx.py by ONNX Runtime.

  opponent.py check                  prints the versions of PyTorch and ONNX Runtime, and the environment in which they are
                                     fastest
  opponent.py pytorch THREADS        runs the commands on its input: "start JOB", "run N", "end"; see worker.hpp
  opponent.py onnx THREADS           the same by ONNX Runtime
  opponent.py --device cuda MODE     the jobs of opponent_cuda.py: "start check", "start JOB PRECISION SECONDS"; MODE:
                                     eager, graphed, compiled
"""

import ctypes
import os
import signal
import subprocess
import sys
import traceback

signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C without a page of Python
sys.dont_write_bytecode = True  # nothing is left in the sources

if "cuda" in sys.argv:
    signal.alarm(60)  # loading from a slow disk must not hold up the measurements of ours

try:
    import torch
except ImportError as error:
    sys.exit(f"opponent.py: {sys.executable} has no PyTorch ({error}), name a Python that has it with --python")
from torch import nn

from opponent_jobs import JOBS, Product, Training, adam, momentum, numpy


def run_trainings(work, way, steps):
    """Milliseconds of the steps, in trainings of at most a thousand, two steps before each uncounted."""
    total = 0
    while steps > 0:
        part = min(steps, 1000)
        work.start(**way)
        work.run(2)
        total += work.time(part)
        steps -= part
    return total


def time_apart(make_work, way, threads):
    """Milliseconds of a step, measured in a process of its own so that this one stays fresh."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        ms = float("inf")
        try:
            torch.set_num_threads(threads)
            work = make_work()
            ms = run_trainings(work, way, 1)
            steps, repetitions = max(1, int(20 / ms)), 4 if ms < 60 else 1
            ms = min(run_trainings(work, way, steps) / steps for _ in range(repetitions))
        finally:
            os.write(into, str(ms).encode())
            os._exit(0)
    os.close(into)
    ms = float(os.read(out, 100))
    os.close(out)
    os.waitpid(pid, 0)
    return ms


def find_fastest_way(ways, time_of):
    """The choices with which time_of(way) is shortest, found one after another."""
    way = {}
    for choice, values in ways.items():
        times = [time_of({**way, choice: value}) if len(values) > 1 else 0 for value in values]
        way[choice] = values[times.index(min(times))]
    return way


def words(way):
    """A way as text."""
    parts = []
    for choice, value in way.items():
        parts.append(" ".join(value) or "plain" if isinstance(value, dict) else value)
    return " ".join(parts) or "as it is"


def memory(key):
    """A field of this process's status in MB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith(key))


def reset_peak_memory():
    """From here on the peak counts anew; what is free goes back to the system, else it would hide what comes."""
    ctypes.CDLL(None).malloc_trim(0)
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass  # then the peak includes what loading took


def load_what_is_lazy():
    """A training of one weight, so that what PyTorch loads at the first of all is not charged to a job."""
    for how in Training.ways["optimizer"]:
        work = Training(lambda: nn.Linear(1, 1), lambda p, **_: momentum(p, **how), torch.zeros(1, 1), torch.zeros(1, 1))
        work.start()
        work.run(3)


def serve_job(make_work, threads, loaded):
    """Runs a job until the line "end"; the process without it has taken `loaded` MB."""
    way = find_fastest_way(make_work().ways, lambda way: time_apart(make_work, way, threads))
    torch.set_num_threads(threads)
    load_what_is_lazy()
    work = make_work()
    reset_peak_memory()
    before = memory("VmHWM")
    work.start(**way)
    work.run(3)
    growth = memory("VmHWM") - before
    print(f"{growth:.3f} {loaded + growth:.1f} {work.value:.9g} {words(way)}", flush=True)
    while (line := sys.stdin.readline().split()) and line[0] == "run":
        print(run_trainings(work, way, int(line[1])), flush=True)


def reason(error):
    """An exception in one line."""
    text = " ".join(str(error).split())[:400]
    return text if isinstance(error, SystemExit) else f"{type(error).__name__}: {text}"


def serve_each(serve_one):
    """Each job runs in a copy of this process, which has loaded PyTorch and done nothing. Where one fails, the answer
    says why."""
    torch.set_num_threads(1)  # a process that has used more cannot be copied: its copies would wait for ever
    while line := sys.stdin.readline().split():
        answer = "ended"
        pid = os.fork() if line[0] == "start" else -1  # the "end" of a copy that has ended early is nobody's
        if pid == 0:
            status = 0
            try:
                serve_one(*line[1:])
            except BaseException as error:
                status = 1
                if not isinstance(error, SystemExit):
                    traceback.print_exc()
                print("failed:", reason(error), flush=True)
            finally:
                os._exit(status)
        if pid > 0:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if status > 0:
                continue  # it has answered
            if status < 0:
                answer = f"failed: {signal.strsignal(-status)}" + " (its time limit)" * (status == -signal.SIGALRM)
        print(answer, flush=True)


def load_optimizers():
    """What PyTorch loads with the first optimizer takes seconds: once, and not in each copy of this process."""
    for make_optimizer in momentum, adam(1):
        make_optimizer([torch.zeros(1, requires_grad=True)])


def serve(jobs, threads):
    load_optimizers()
    loaded = memory("VmHWM")
    serve_each(lambda job: serve_job(jobs[job], threads, loaded))


def onnx():
    """opponent_onnx.py, or None where a module that it needs is not installed."""
    try:
        import opponent_onnx
    except ImportError:
        return None
    return opponent_onnx


def serve_cuda(mode):
    import opponent_cuda as cuda
    load_optimizers()  # no more: torch.compile's modules touch CUDA, and then copies of this process could not use it
    signal.alarm(0)

    def serve_one(job, *how):
        if job == "check":
            cuda.check_cuda()
        else:
            cuda.serve_cuda_job(job, mode, *how, run_trainings, find_fastest_way, words)

    serve_each(serve_one)


def product_rate(library, n=1024):
    """GFLOP/s of one thread."""
    work = Product(n)
    ms = min(run_trainings(work, {"library": library}, 5) / 5 for _ in range(5))
    return 2 * n**3 / ms / 1e6


def check():
    """Prints what this is, whether it is at its best, and in "use" lines the environment that numpy wants."""
    has = {True: "yes", False: "NO, which makes it slow"}
    print("PyTorch", torch.__version__)
    print("vector level", torch.backends.cpu.get_cpu_capability())
    print("MKL:", has[torch.backends.mkl.is_available()])
    print("oneDNN:", has[torch.backends.mkldnn.is_available()])
    torch.set_num_threads(1)
    rate = product_rate("torch")
    print(f"matrix product of 1024, one thread: {rate:.0f} GFLOP/s")
    if numpy():
        numpy_rate = product_rate("numpy")
        print(f"the same by numpy {numpy().__version__}: {numpy_rate:.0f} GFLOP/s")
        if numpy_rate < 0.8 * rate and torch.backends.cpu.get_cpu_capability() == "AVX512":
            choose_kernels(numpy_rate)
    else:
        print("no numpy, whose OpenBLAS may be faster")
    if onnx():
        print("ONNX Runtime", onnx().VERSION)
    else:
        print("no ONNX Runtime (pip install onnx onnxruntime): its columns are left out")
    print("end", flush=True)


def choose_kernels(numpy_rate):
    """OpenBLAS may not know this processor: tries the kernels of another one."""
    variable = {"OPENBLAS_CORETYPE": "SkylakeX"}
    rate = float(subprocess.run([sys.executable, __file__, "numpy"], env={**os.environ, **variable},
                                capture_output=True, check=True, text=True).stdout)
    print(f"the same with OpenBLAS's kernels for SkylakeX: {rate:.0f} GFLOP/s")
    if rate > numpy_rate:
        print("use OPENBLAS_CORETYPE=SkylakeX")


def main(arguments):
    if arguments == ["check"]:
        check()
    elif arguments == ["numpy"]:
        print(product_rate("numpy"))
    elif arguments[:2] == ["--device", "cuda"]:
        serve_cuda(arguments[2])
    else:
        serve({"pytorch": JOBS, "onnx": onnx() and onnx().JOBS}[arguments[0]], int(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
