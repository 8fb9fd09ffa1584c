"""Prints lr_schedulers.safetensors: the learning rates that PyTorch's schedules set.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

NAME.lr is the learning rate when the schedule is made, for an optimizer with 0.1, and after each of 48 steps; and where there is a cycle of
it, NAME.momentum is the momentum.
"""

import warnings

import torch
from torch.optim import SGD, Adam
from torch.optim import lr_scheduler as lr
from torch.optim.swa_utils import SWALR

from common import write

warnings.simplefilter("ignore")  # of schedules stepped before their optimizers


def metric(step):
    """A loss that falls, rests, and rises a little; the test has the same one."""
    return max(1.0 - step / 16, 0.5) + (step % 4) / 1024 + max(step - 40, 0) / 64


def sequence(optimizer):
    return lr.SequentialLR(optimizer, [lr.LinearLR(optimizer, 0.25, 1.0, 4), lr.CosineAnnealingLR(optimizer, 10, 0.001),
                                       lr.ExponentialLR(optimizer, 0.8)], [5, 18])


def chain(optimizer):
    return lr.ChainedScheduler([lr.ConstantLR(optimizer, 0.1, 20), lr.ExponentialLR(optimizer, 0.9)])


def warm_up_then_restarts(optimizer):
    return lr.SequentialLR(optimizer, [lr.LinearLR(optimizer, 0.01, 1.0, 5), lr.CosineAnnealingWarmRestarts(optimizer, 6, 2),
                                       lr.PolynomialLR(optimizer, 9, 2.0)], [5, 30])


cases = {
    "step": lambda o: lr.StepLR(o, 7, 0.3),
    "multi_step": lambda o: lr.MultiStepLR(o, [3, 10, 10, 31], 0.7),
    "multi_step_from_0": lambda o: lr.MultiStepLR(o, [0, 2], 0.5),
    "exponential": lambda o: lr.ExponentialLR(o, 0.93),
    "cosine": lambda o: lr.CosineAnnealingLR(o, 12),
    "cosine_to_min": lambda o: lr.CosineAnnealingLR(o, 17, 0.003),
    "linear": lambda o: lr.LinearLR(o),
    "linear_down": lambda o: lr.LinearLR(o, 0.9, 0.05, 23),
    "constant": lambda o: lr.ConstantLR(o),
    "constant_long": lambda o: lr.ConstantLR(o, 0.7, 31),
    "constant_of_no_steps": lambda o: lr.ConstantLR(o, 0.5, 0),
    "polynomial": lambda o: lr.PolynomialLR(o),
    "polynomial_slow": lambda o: lr.PolynomialLR(o, 40, 0.9),
    "polynomial_of_no_steps": lambda o: lr.PolynomialLR(o, 0, 2.0),
    "warm_restarts": lambda o: lr.CosineAnnealingWarmRestarts(o, 7),
    "warm_restarts_longer": lambda o: lr.CosineAnnealingWarmRestarts(o, 3, 2, 0.003),
    "by_lambda": lambda o: lr.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    "swa_lr": lambda o: SWALR(o, 0.05),
    "swa_lr_linear": lambda o: SWALR(o, 0.02, 7, "linear"),
    "swa_lr_at_once": lambda o: SWALR(o, 0.02, 0),
    "sequential": sequence,
    "chained": chain,
    "warm_up_then_restarts": warm_up_then_restarts,
    "one_cycle": lambda o: lr.OneCycleLR(o, 0.7, total_steps=49),
    "one_cycle_linear": lambda o: lr.OneCycleLR(o, 0.7, epochs=7, steps_per_epoch=7, pct_start=0.4, div_factor=10,
                                                anneal_strategy="linear", final_div_factor=100, base_momentum=0.6,
                                                max_momentum=0.8),
    "one_cycle_three_phases": lambda o: lr.OneCycleLR(o, 0.7, total_steps=49, three_phase=True),
    "plateau": lambda o: lr.ReduceLROnPlateau(o, patience=2),
    "plateau_max": lambda o: lr.ReduceLROnPlateau(o, mode="max", factor=0.6, patience=1, threshold=0.05,
                                                  threshold_mode="abs", cooldown=3, min_lr=0.004),
    "plateau_rel_max": lambda o: lr.ReduceLROnPlateau(o, mode="max", factor=0.6, patience=4, threshold=0.01),
    "plateau_abs_min": lambda o: lr.ReduceLROnPlateau(o, factor=0.5, patience=0, threshold=0.02, threshold_mode="abs",
                                                      eps=0.001),
}

results = {}
for name, make in cases.items():
    parameter = [torch.nn.Parameter(torch.zeros(1))]
    uses_adam = name == "one_cycle_three_phases"
    optimizer = Adam(parameter, lr=0.1) if uses_adam else SGD(parameter, lr=0.1, momentum=0.9)
    schedule = make(optimizer)
    rates, momenta = [], []
    for step in range(49):
        group = optimizer.param_groups[0]
        rates.append(group["lr"])
        momenta.append(group["betas"][0] if uses_adam else group["momentum"])
        assert schedule.get_last_lr() == [group["lr"]]
        if isinstance(schedule, lr.ReduceLROnPlateau):
            schedule.step(metric(step))
        else:
            schedule.step()
    results[f"{name}.lr"] = rates
    if "cycle" in name:
        results[f"{name}.momentum"] = momenta
write(results)
