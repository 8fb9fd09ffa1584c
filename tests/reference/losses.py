"""Prints losses.safetensors: what PyTorch's losses of outputs and targets of one shape make of ten shapes each.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

Outputs and targets are drawn in float, each case from a generator of its own; the results are those of double.
tests/nn/elementwise_loss_test.cpp has the same list.
"""

import sys

import torch
from safetensors.torch import save
from torch import nn

torch.set_num_threads(1)

SHAPES = ((1, 1), (2, 7), (17, 3), (3, 33), (16, 16), (5, 2, 3), (33, 2), (4, 1, 3, 2), (48, 1), (7, 19))
KINDS = {
    "mse": (nn.MSELoss, {}, "any"),
    "l1": (nn.L1Loss, {}, "any"),
    "smooth_l1": (nn.SmoothL1Loss, {"beta": 0.7}, "any"),
    "smooth_l1_0": (nn.SmoothL1Loss, {"beta": 0.0}, "any"),
    "huber": (nn.HuberLoss, {"delta": 1.3}, "any"),
    "bce": (nn.BCELoss, {}, "probabilities"),
    "bce_with_logits": (nn.BCEWithLogitsLoss, {}, "logits"),
    "bce_pos_weight": (nn.BCEWithLogitsLoss, {"pos_weight": torch.tensor(2.5, dtype=torch.float64)}, "logits"),
    "kl_div": (nn.KLDivLoss, {}, "logarithm and probability"),
    "kl_div_log": (nn.KLDivLoss, {"log_target": True}, "logarithms"),
    "hinge": (nn.HingeEmbeddingLoss, {"margin": 1.5}, "pairs"),
    "poisson": (nn.PoissonNLLLoss, {}, "counts"),
    "poisson_full": (nn.PoissonNLLLoss, {"full": True}, "counts"),
    "poisson_rate": (nn.PoissonNLLLoss, {"log_input": False, "full": True, "eps": 1e-3}, "rates"),
}


CLASS_SHAPES = ((2, 3), (2, 2), (17, 5), (4, 33), (16, 10), (3, 4, 5), (2, 3, 4, 2), (5, 2, 17), (33, 7), (1, 6, 1, 3))


def class_options(kind, classes):
    weight = torch.tensor([0.25 + k % 5 for k in range(classes)], dtype=torch.float64)
    return {
        "cross_entropy": {},
        "weight": {"weight": weight},
        "ignore": {"ignore_index": 1},
        "smoothing": {"label_smoothing": 0.2},
        "all": {"weight": weight, "ignore_index": 0, "label_smoothing": 0.1},
    }[kind]


def draw(generator, shape, low, high):
    return torch.empty(shape).uniform_(low, high, generator=generator).double()


def main():
    results = {}
    for kind, (loss, options, inputs) in KINDS.items():
        for number, shape in enumerate(SHAPES):
            generator = torch.Generator().manual_seed(number)
            low, high = {"probabilities": (0, 1), "logarithm and probability": (-3, 0), "logarithms": (-3, 0),
                         "rates": (0, 4)}.get(inputs, (-4, 4))
            x = draw(generator, shape, low, high).requires_grad_()
            low, high = {"probabilities": (0, 1), "logits": (0, 1), "logarithm and probability": (0, 1),
                         "logarithms": (-3, 0), "counts": (0, 9), "rates": (0, 9)}.get(inputs, (-4, 4))
            t = draw(generator, shape, low, high)
            if inputs == "pairs":
                t = torch.where(t > 0, 1.0, -1.0).double()
            for reduction in ("mean", "sum"):
                value = loss(reduction=reduction, **options)(x, t)
                results[f"{kind}.{number}.{reduction}"] = value.detach()
                (results[f"{kind}.{number}.{reduction}.dx"],) = torch.autograd.grad(value, x)
            if kind == "kl_div":
                results[f"{kind}.{number}.batchmean"] = loss(reduction="batchmean")(x, t).detach()
    for number in range(len(SHAPES)):  # those of the sum are the same up to a factor
        for kind in KINDS:
            if kind not in ("mse", "kl_div"):
                del results[f"{kind}.{number}.sum.dx"]
    for number, (batch, classes, *places) in enumerate(CLASS_SHAPES):
        generator = torch.Generator().manual_seed(number)
        x = draw(generator, (batch, classes, *places), -4, 4).requires_grad_()
        count = batch * torch.tensor(places, dtype=torch.int64).prod().item()
        labels = torch.tensor([(i * i + 1) % classes for i in range(int(count))]).reshape(batch, *places)
        losses = {kind: (nn.CrossEntropyLoss, class_options(kind, classes), labels)
                  for kind in ("cross_entropy", "weight", "ignore", "smoothing", "all")}
        losses["nll"] = (nn.NLLLoss, class_options("weight", classes), labels)
        soft = draw(generator, x.shape, 0, 1)
        losses["soft"] = (nn.CrossEntropyLoss, {}, soft)
        losses["soft_all"] = (nn.CrossEntropyLoss, {**class_options("weight", classes), "label_smoothing": 0.3}, soft)
        for kind, (loss, options, targets) in losses.items():
            value = loss(**options)(x, targets)
            results[f"{kind}.{number}.mean"] = value.detach()
            (results[f"{kind}.{number}.mean.dx"],) = torch.autograd.grad(value, x)
            results[f"{kind}.{number}.sum"] = loss(reduction="sum", **options)(x, targets).detach()
    sys.stdout.buffer.write(save({name: value.float().contiguous() for name, value in results.items()}))


if __name__ == "__main__":
    main()
