"""Prints special_points.safetensors: what PyTorch makes of 0, bounds, saturation, infinity and NaN, forward and backward, in float and double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

tests/nn/special_points_test.cpp and tests/tensor/special_points_test.cpp have the same functions, by name.
"""

import sys
from math import inf, nan

import torch
from safetensors.torch import save
from torch.nn import functional as F

torch.set_num_threads(1)

POINTS = [0.0, 1e-37, 1e-30, 1e-12, 1e-8, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 3.5, 6.0, 6.5, 9.0, 17.0, 20.0, 20.5, 50.0, 88.0, 89.0,
          100.0, 104.0, 200.0, 709.0, 1e3, 1e10, 1e19, 1e20, 1e30, 3e38, inf]
NUMBERS = torch.tensor([s * p for p in POINTS for s in (1, -1)] + [nan], dtype=torch.float64)
FEW = [0.0, -0.0, 1e-30, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0, 100.0, -100.0, 1e20, -1e20, 3e38, -3e38, inf, -inf, nan]
PROBABILITIES = [0.0, 1e-37, 1e-30, 1e-12, 1e-7, 0.5, 1 - 1e-7, 1.0]
TARGETS = [0.0, 0.25, 1.0]
ROWS = [[0, 0, 0], [1e3, -1e3, 0], [3e38, -3e38, 0], [-3e38, -3e38, -3e38], [3e38, 3e38, 3e38], [inf, 0, 1], [-inf, 0, 1], [nan, 1, 2],
        [1, 2, nan], [-inf, -inf, -inf], [inf, inf, 0], [-inf, 3, -inf], [0, inf, -inf], [88, 89, -104], [1e-37, 0, -1e-37]]

# name: function of one number
unary = {
    "relu": F.relu, "relu6": F.relu6, "leaky_relu": F.leaky_relu, "elu": F.elu, "selu": F.selu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "mish": F.mish, "tanh": torch.tanh,
    "sigmoid": torch.sigmoid, "logsigmoid": F.logsigmoid, "softplus": F.softplus, "softsign": F.softsign,
    "hardtanh": F.hardtanh, "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "hardshrink": F.hardshrink,
    "pow_0": lambda x: x.pow(0), "pow_1": lambda x: x.pow(1), "pow_2": lambda x: x.pow(2), "pow_3": lambda x: x.pow(3),
    "pow_half": lambda x: x.pow(0.5), "pow_minus_1": lambda x: x.pow(-1), "pow_minus_2": lambda x: x.pow(-2), "pow_2.5": lambda x: x.pow(2.5),
    "pow_minus_half": lambda x: x.pow(-0.5), "clamp": lambda x: x.clamp(-0.5, 0.75), "clamp_0_1": lambda x: x.clamp(0, 1),
    "clamp_same": lambda x: x.clamp(0.5, 0.5), "two_by": lambda x: 2 / x, "from_3": lambda x: 3 - x, "neg": lambda x: -x,
    "by_4": lambda x: x / 4, "times_3": lambda x: 3 * x, "by_0": lambda x: x / 0, "times_0": lambda x: 0 * x,
    "log_sigmoid": lambda x: x.sigmoid().log(), "sqrt_square": lambda x: x.square().sqrt(), "log_exp": lambda x: x.exp().log(),
} | {name: getattr(torch, name) for name in (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh erf floor ceil round trunc sign square "
    "abs").split()}
# name: function of two numbers
binary = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "maximum": torch.maximum, "minimum": torch.minimum,
    "mse": lambda x, t: F.mse_loss(x, t, reduction="none"), "l1": lambda x, t: F.l1_loss(x, t, reduction="none"),
    "smooth_l1": lambda x, t: F.smooth_l1_loss(x, t, reduction="none"),
    "smooth_l1_0": lambda x, t: F.smooth_l1_loss(x, t, beta=0.0, reduction="none"),
    "huber": lambda x, t: F.huber_loss(x, t, delta=0.5, reduction="none"),
    "bce_logits": lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction="none"),
    "kl_div": lambda x, t: F.kl_div(x, t, reduction="none"),
    "kl_div_log": lambda x, t: F.kl_div(x, t, reduction="none", log_target=True),
    "poisson": lambda x, t: F.poisson_nll_loss(x, t, reduction="none"),
    "poisson_rate": lambda x, t: F.poisson_nll_loss(x, t, log_input=False, reduction="none"),
}
# name: function of rows
rows = {
    "softmax": lambda x: x.softmax(1), "log_softmax": lambda x: x.log_softmax(1),
}
# name: function of two rows
row_pairs = {
    "pairwise_distance": F.pairwise_distance, "pairwise_distance_0": lambda a, b: F.pairwise_distance(a, b, eps=0.0),
    "cosine_similarity": F.cosine_similarity,
    "cosine_embedding_1": lambda a, b: F.cosine_embedding_loss(a, b, torch.ones(len(a)), reduction="none"),
    "cosine_embedding_minus_1": lambda a, b: F.cosine_embedding_loss(a, b, -torch.ones(len(a)), reduction="none"),
    "soft": lambda x, t: F.cross_entropy(x, t, reduction="none"),
    "soft_smooth": lambda x, t: F.cross_entropy(x, t, reduction="none", label_smoothing=0.25),
}
VECTORS = [[0, 0, 0], [1, 2, 3], [-1, -2, -3], [1e-30, 0, 0], [1e20, 0, 0], [3e38, 3e38, 0], [inf, 0, 0], [nan, 0, 0], [1e-12, 1e-12, 0]]
SOFT = [[0, 1, 0], [1, 0, 0], [0.25, 0.25, 0.5], [0, 0, 0]]
OF_LABELS = {"ce": {}, "ce_smooth": {"label_smoothing": 0.25}, "ce_weight": {"weight": [1, 0, 0.5]},
             "ce_all": {"label_smoothing": 0.25, "weight": [1, 0, 0.5]}, "nll": {}, "nll_weight": {"weight": [1, 0, 0.5]}}
LABELS = {"ignored": [-100] * 5, "one_left": [-100, -100, 2, -100, -100], "of_weight_0": [1] * 5, "ignored_or_0": [1, -100, 1, -100, -100]}
# name: function of a tensor, forward alone
tensor_unary = {name: getattr(torch, name) for name in (
    "neg isnan isinf isfinite").split()} | {"relu": F.relu, "clamp": unary["clamp"], "pow_0": unary["pow_0"], "pow_half": unary["pow_half"]}
tensor_binary = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum, "minimum": torch.minimum,
                 "pow": torch.pow, "atan2": torch.atan2, "fmod": torch.fmod, "remainder": torch.remainder}
tensor_rows = {"softmax": lambda x: x.softmax(1), "log_softmax": lambda x: x.log_softmax(1), "logsumexp": lambda x: x.logsumexp(1),
               "sum": lambda x: x.sum(1), "mean": lambda x: x.mean(1), "prod": lambda x: x.prod(1), "amax": lambda x: x.amax(1), "amin": lambda x: x.amin(1),
               "argmax": lambda x: x.argmax(1), "argmin": lambda x: x.argmin(1), "var": lambda x: x.var(1), "std": lambda x: x.std(1),
               "norm": lambda x: torch.linalg.vector_norm(x, 2, 1), "norm_1": lambda x: torch.linalg.vector_norm(x, 1, 1),
               "norm_inf": lambda x: torch.linalg.vector_norm(x, inf, 1), "cumsum": lambda x: x.cumsum(1)}
norms = {"layer_norm": lambda x: F.layer_norm(x, (4,)), "rms_norm": lambda x: F.rms_norm(x, (4,), eps=1e-5),
         "group_norm": lambda x: F.group_norm(x, 2)}
NORM_ROWS = [[0, 0, 0, 0], [1, 1, 1, 1], [nan, 0, 1, 2], [0, 1, nan, 2], [1e-30, -1e-30, 2e-30, 0], [1e-3, -1e-3, 2e-3, 0]]

results = {}


def store(name, y):
    results[name] = (y.to(torch.float64) if y.dtype in (torch.bool, torch.int64) else y).detach().clone().contiguous()


def differentiate(name, function, *inputs):
    """Stores y and the gradients for dy = 1 and dy = 0."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    y = function(*inputs)
    store(f"{name}.y", y)
    for i, dy in (("", 1.0), ("0", 0.0)):
        gradients = torch.autograd.grad(y, inputs, torch.full_like(y, dy), retain_graph=True, allow_unused=True)
        for k, (x, gradient) in enumerate(zip(inputs, gradients)):
            store(f"{name}.dx{i}.{k}", torch.zeros_like(x) if gradient is None else gradient)


def pairs(a, b):
    """All pairs of rows of a and b."""
    return a.repeat_interleave(len(b), 0), b.repeat(len(a), *[1] * (b.dim() - 1))


for kind, dtype in (("float", torch.float32), ("double", torch.float64)):
    def t(values):
        return torch.tensor(values, dtype=torch.float64).to(dtype)

    numbers, rows_of_3 = NUMBERS.to(dtype), t(ROWS)
    few = pairs(t(FEW), t(FEW))
    probabilities = pairs(t(PROBABILITIES), t(TARGETS))
    hinge = pairs(t(FEW), t([1.0, -1.0]))
    vectors, soft = pairs(t(VECTORS), t(VECTORS)), pairs(rows_of_3, t(SOFT))
    norm_rows = t(NORM_ROWS)
    for name, value in (("numbers", numbers), ("rows", rows_of_3), ("few.0", few[0]), ("few.1", few[1]), ("probabilities.0", probabilities[0]),
                        ("probabilities.1", probabilities[1]), ("hinge.0", hinge[0]), ("hinge.1", hinge[1]), ("vectors.0", vectors[0]),
                        ("vectors.1", vectors[1]), ("soft.0", soft[0]), ("soft.1", soft[1]), ("norm_rows", norm_rows)):
        store(f"{kind}.{name}", value)
    for name, function in unary.items():
        differentiate(f"{kind}.{name}", function, numbers)
    for name, function in binary.items():
        differentiate(f"{kind}.{name}", function, *few)
    differentiate(f"{kind}.bce", lambda x, y: F.binary_cross_entropy(x, y, reduction="none"), *probabilities)
    differentiate(f"{kind}.hinge", lambda x, y: F.hinge_embedding_loss(x, y, reduction="none"), *hinge)
    logits = pairs(t(FEW[:-1]), t(TARGETS))
    store(f"{kind}.logits.0", logits[0]), store(f"{kind}.logits.1", logits[1])
    differentiate(f"{kind}.bce_sigmoid", lambda x, y: F.binary_cross_entropy(x.sigmoid(), y, reduction="none"), *logits)
    for name, function in rows.items():
        differentiate(f"{kind}.{name}", function, rows_of_3)
    for name, function in row_pairs.items():
        differentiate(f"{kind}.{name}", function, *(soft if name.startswith("soft") else vectors))
    for name, function in norms.items():
        differentiate(f"{kind}.{name}", function, norm_rows)
    for label in range(3):
        targets = torch.full((len(ROWS),), label)
        differentiate(f"{kind}.ce_{label}", lambda x: F.cross_entropy(x, targets, reduction="none"), rows_of_3)
        differentiate(f"{kind}.ce_smooth_{label}", lambda x: F.cross_entropy(x, targets, reduction="none", label_smoothing=0.25), rows_of_3)
        differentiate(f"{kind}.nll_{label}", lambda x: F.nll_loss(x, targets, reduction="none"), rows_of_3)
    scores = torch.tensor([((7 * i + 3) % 23 - 11) / 8 for i in range(15)], dtype=dtype).reshape(5, 3)
    store(f"{kind}.scores", scores)
    for name, options in OF_LABELS.items():
        options = {k: t(v) if k == "weight" else v for k, v in options.items()}
        function = F.cross_entropy if name.startswith("ce") else F.nll_loss
        for case, labels in LABELS.items():
            for reduction in ("mean", "sum"):
                differentiate(f"{kind}.{name}.{case}.{reduction}", lambda x: function(x, torch.tensor(labels), reduction=reduction, **options), scores)
    for name, function in tensor_unary.items():
        store(f"{kind}.tensor.{name}", function(numbers))
    for name, function in tensor_binary.items():
        store(f"{kind}.tensor.{name}", function(*few))
    for name, function in tensor_rows.items():
        store(f"{kind}.tensor.{name}", function(rows_of_3))

sys.stdout.buffer.write(save(results, {"printed_by": "special_points.py"}))
