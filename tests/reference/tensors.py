"""Prints tensors.safetensors: what PyTorch makes of tensors by the functions of gpunet/tensors.hpp, at 20 shapes.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

tests/support/tensor_cases.hpp makes the same tensors; the files of tests/tensor/ call the same functions, by name. An array NAME
holds the results of all shapes, one after another, NAME.sizes the rank and the extents of each.
"""

import sys

import torch
from safetensors.torch import save

from common import pattern

# Two operands that broadcast, each as the extents of a tensor and what makes a view of it.
cases = [
    ("", ""),
    ("1", "3"),
    ("0", "1"),
    ("7", ""),
    ("1 1", "2 3"),
    ("2 3", "3"),
    ("2 3; transpose 0 1", "3 1"),
    ("0 3", "1 3"),
    ("3 0 2", "2"),
    ("5 1 4", "2 4; narrow 0 0 2; slice 1 0 4 1"),
    ("2 3 4; permute 2 0 1", "3"),
    ("4 6; slice 1 0 6 2", "4 1"),
    ("9; slice 0 1 9 3", "3; flip 0"),
    ("6 5; narrow 0 1 3; narrow 1 2 2", "2 3; transpose 0 1"),
    ("1 3; expand 4 3", "4 3"),
    ("2 1 3; expand 2 2 3; transpose 0 2", "3 1 2"),
    ("2 3 1 2 2", "3 2 1 1"),
    ("3 2 2 1 3; permute 4 1 0 3 2", "2 3 1 2"),
    ("2 2 3 2 2; slice 2 0 3 2; transpose 1 4; flip 0 3", "2; expand 2 2 2 2 2"),
    ("3 4 2; select 1 -2; flip 1", "3 2"),
]
types = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32}
results = {}


def numbers(shape, operand, dtype):
    """The elements of a tensor: see tensor_cases.hpp."""
    n = torch.Size(shape).numel()
    step, start, modulus = [(7, 3, 23), (5, 1, 17)][operand]
    if dtype in (torch.int32, torch.int64):
        whole = [(i * step + start) % modulus - modulus // 2 for i in range(n)]
        values = [v + 1 if operand and v >= 0 else v for v in whole]
    elif dtype == torch.bool:
        values = [(i * step + start) % modulus > modulus // 2 for i in range(n)]
    else:
        smaller = torch.tensor([0.013 * (i % 7 + 1) for i in range(n)], dtype=torch.float64).reshape(shape)
        return (pattern(shape, step, start, modulus) + smaller).to(dtype)
    return torch.tensor(values, dtype=dtype).reshape(shape)


def view(text, operand, dtype, fill=numbers):
    first, *changes = text.split(";")
    x = fill([int(word) for word in first.split()], operand, dtype)
    for change in changes:
        name, *words = change.split()
        n = [int(word) for word in words]
        if name == "slice":
            x = x[(slice(None),) * n[0] + (slice(n[1], n[2], n[3]),)] if n[0] else x[n[1]:n[2]:n[3]]
        elif name in ("permute", "expand", "flip"):
            x = getattr(x, name)(n)
        else:
            x = getattr(x, name)(*n)
    return x


def views(dtype, fill=numbers):
    """The first operands."""
    return [view(a, 0, dtype, fill) for a, _ in cases]


def store(name, tensors):
    tensors = [torch.as_tensor(x) for x in tensors]
    values = torch.cat([x.contiguous().flatten() for x in tensors])
    if not values.is_floating_point():  # few bytes
        values = values.long()
        most = int(values.abs().max())
        values = values.to(torch.int8 if most < 128 else torch.int16 if most < 32768 else torch.int64)
    results[name] = values
    results[f"{name}.sizes"] = torch.tensor([n for x in tensors for n in (x.dim(), *x.shape)], dtype=torch.uint8)


# Functions of elements.
unary_of_floats = ("sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh erf "
                   "sigmoid floor ceil round trunc isnan isinf isfinite neg abs sign square relu").split()
of_doubles = "sqrt rsqrt exp expm1 log log1p sin tan asin atan cosh tanh erf sigmoid round".split()
inf, nan = float("inf"), float("nan")
special = torch.tensor([0.0, -0.0, 1, -1, inf, -inf, nan, 1e-45, -3e-39, 3.4028235e38, 1.17549435e-38, 0.5, -0.5, 1.5, 2.5, -2.5,
                        3, -7.25, 8388609, 1e-3, -100, 88, 0.99999994])
for name in unary_of_floats:
    function = getattr(torch, name)
    store(f"{name}.f32", [function(x) for x in views(torch.float32)] + [function(special)])
    if name in of_doubles:
        store(f"{name}.f64", [function(x) for x in views(torch.float64)])
for name in ("neg", "abs", "sign", "square", "relu"):
    store(f"{name}.i32", [getattr(torch, name)(x) for x in views(torch.int32)])
for name in ("exp", "sqrt"):
    store(f"{name}.i32", [getattr(torch, name)(x) for x in views(torch.int32)])

# PyTorch's remainder is NaN where a / b overflows.
moderate = special[~((special != 0) & ((special.abs() < 1e-30) | (special.abs() > 1e30) & special.isfinite()))]
arithmetic = "add sub mul maximum minimum remainder floor_divide eq ne lt le gt ge true_divide".split()
for name in arithmetic + ["pow", "atan2"]:
    function = getattr(torch, name)
    for text in ("f32", "f64", "i32"):
        if text == "f64" and name not in ("add", "true_divide", "remainder", "floor_divide", "pow", "atan2"):
            continue
        if text == "i32" and name in ("pow", "atan2"):
            continue
        dtype = types[text]
        made = [function(view(a, 0, dtype), view(b, 1, dtype)) for a, b in cases]
        if text == "f32":
            x = moderate if name == "remainder" else special
            made.append(function(x.unsqueeze(1), x))
        store(f"{name}.{text}", made)
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    for text, dtype in (("i32", torch.int32), ("bool", torch.bool)):
        store(f"{name}.{text}", [getattr(torch, name)(view(a, 0, dtype), view(b, 1, dtype)) for a, b in cases])
for text in ("f32", "i32"):
    store(f"where.{text}", [torch.where(view(a, 0, types[text]) > 0, view(b, 1, types[text]), view(a, 0, types[text]))
                            for a, b in cases])
    store(f"clamp.{text}", [x.clamp(-1, 1) for x in views(types[text])])
for power in (2, 3, 0.5, -0.5, -1, -2, 1.7):
    store(f"pow {power}", [x.pow(power) for x in views(torch.float32)] + [special.pow(power)])

# Reductions.


def dims_of(rank):
    """The dimensions that are reduced; none: all."""
    if rank == 0:
        return [(), (-1,)]
    return [(), (0,), (-1,)] + ([(0, -1)] if rank > 1 else []) + ([(1,), (2, 1)] if rank > 2 else [])


def reduced(function, tensors, of_nothing=True):
    made = []
    for x in tensors:
        for k, dims in enumerate(dims_of(x.dim())):
            reduces_nothing = 0 in [x.shape[d] for d in dims] if x.dim() else False
            if not of_nothing and (x.numel() == 0 if not dims else reduces_nothing):
                continue
            made.append(function(x, dims or tuple(range(x.dim())), k % 2 == 1))
    return made


def exact(shape, operand, dtype):
    """Sums of these have no rounding errors."""
    return pattern(shape, 7, 3, 23).to(dtype)


def chained(function):
    """A function of several dimensions, made of one of one dimension."""
    def of_dims(x, dims, keepdim):
        for d in sorted((d % max(x.dim(), 1) for d in dims), reverse=True):
            x = function(x, d, keepdim)
        return x if dims else function(x, 0, keepdim)
    return of_dims


store("sum exact", reduced(lambda x, d, k: x.sum(d, k), views(torch.float32, exact)))
for text in ("f32", "f64", "i32"):
    store(f"sum.{text}", reduced(lambda x, d, k: x.sum(d, k), views(types[text])))
    store(f"prod.{text}", reduced(chained(lambda x, d, k: x.prod(d, k)), views(types[text])))
    if text != "f64":
        store(f"amax.{text}", reduced(torch.amax, views(types[text]), False))
        store(f"amin.{text}", reduced(torch.amin, views(types[text]), False))
for text in ("f32", "f64"):
    store(f"mean.{text}", reduced(lambda x, d, k: x.mean(d, k), views(types[text])))
    store(f"var.{text}", reduced(lambda x, d, k: x.var(d, keepdim=k), views(types[text])))
    store(f"std.{text}", reduced(lambda x, d, k: x.std(d, correction=0, keepdim=k), views(types[text])))
for p in (1, 2, 3, 0.5, inf):
    store(f"norm {p}", reduced(lambda x, d, k: torch.linalg.vector_norm(x, p, d, k), views(torch.float32), p != inf))
store("any", reduced(lambda x, d, k: torch.any(x > 1, d, k), views(torch.float32)))
store("all", reduced(lambda x, d, k: torch.all(x > -1, d, k), views(torch.float32)))
store("sum bool", reduced(lambda x, d, k: (x > 0).sum(d, k), views(torch.float32)))


def along_one(function, tensors):
    """Of all elements, and along each dimension."""
    made = [function(x.flatten(), 0, False) for x in tensors if x.numel()]
    for x in tensors:
        made += [function(x, d, d % 2 == 1) for d in range(x.dim()) if x.shape[d] > 0]
    return made


def repeated(shape, operand, dtype):
    """Few different numbers, so that many are equal."""
    n = torch.Size(shape).numel()
    return torch.tensor([(i * 7 + 3) % 5 - 2 for i in range(n)], dtype=dtype).reshape(shape)


# torch.max takes any of equal elements: the first one is that of a stable sort.
def first_place(x, d, keepdim, largest):
    y = x.sort(dim=d, descending=largest, stable=True).indices.select(d, 0)
    return y.unsqueeze(d) if keepdim else y


for name, largest in (("argmax", True), ("argmin", False)):
    store(name, along_one(lambda x, d, k: first_place(x, d, k, largest).int(), views(torch.float32, repeated)))

# In double: the results of gpunet are compared with exact ones.
for function in (torch.softmax, torch.log_softmax):
    store(function.__name__, [function(x.double(), d).float() for x in views(torch.float32) for d in range(-1, x.dim())
                              if x.dim() or d])
store("logsumexp", reduced(lambda x, d, k: torch.logsumexp(x.double(), d, k).float(), views(torch.float32)))
store("count_nonzero", reduced(lambda x, d, k: torch.count_nonzero(x, d), views(torch.int32)))
# Of a copy: medians of an expanded tensor are wrong in PyTorch 2.15.
for fill, name in ((numbers, "median"), (repeated, "median repeated")):
    store(name, along_one(lambda x, d, k: x.contiguous().median(d, k).values, views(torch.float32, fill)))
for k, options in enumerate(({}, {"rtol": 0.5, "atol": 0}, {"rtol": 0, "atol": 1, "equal_nan": True})):
    for text in ("f32", "i32"):
        a_and_b = [(view(a, 0, types[text]), view(b, 1, types[text])) for a, b in cases]
        a_and_b += [(special.unsqueeze(1), special)] if text == "f32" else []
        store(f"isclose {k}.{text}", [torch.isclose(*torch.broadcast_tensors(a, b), **options) for a, b in a_and_b])
store("masked_fill", [torch.masked_fill(view(a, 0, torch.float32), view(b, 1, torch.float32) > 0, 7) for a, b in cases])
store("diff", [x.diff(n, d) for x in views(torch.float32) for d in range(x.dim()) for n in range(4)])
store("diff bool", [(x > 0).diff(1, d) for x in views(torch.float32) for d in range(x.dim())])

# Shapes.
some = torch.float32
every = views(some)
store("t", [x.t() if x.dim() == 2 else x for x in every])
store("transpose", [x.transpose(0, -1) for x in every if x.dim()])
store("permute", [x.permute(list(range(x.dim()))[::-1]) for x in every])
store("flatten", [x.flatten() for x in every])
store("flatten 1", [x.flatten(1) for x in every if x.dim() > 1])
store("squeeze", [x.squeeze() for x in every])
store("squeeze -1", [x.squeeze(-1) for x in every if x.dim()])
store("unsqueeze", [x.unsqueeze(0) for x in every])
store("unsqueeze -1", [x.unsqueeze(-1) for x in every])
store("narrow", [x.narrow(0, x.shape[0] // 2, x.shape[0] - x.shape[0] // 2) for x in every if x.dim()])
store("slice", [x[1:-1] if x.dim() else x for x in every])
store("slice 2", [x[..., ::2] for x in every if x.dim()])
store("select", [x.select(-1, -1) for x in every if x.dim() and x.shape[-1]])
store("expand", [x.expand([2] + list(x.shape)) for x in every])
store("flip", [x.flip([0, -1] if x.dim() > 1 else [0]) for x in every if x.dim()])
store("reshape", [x.reshape(-1, 1) for x in every if x.numel()])
for n in (2, 3):
    store(f"split {n}", [part for x in every for d in range(x.dim()) for part in x.split(n, d)])
    store(f"chunk {n}", [part for x in every for d in range(x.dim()) for part in x.chunk(n, d)])
store("diagonal", [x.diagonal() for x in every if x.dim() == 2])

# Parts joined.
store("cat", [torch.cat([x, x.flip(0), x], 0) for x in every if x.dim()])
store("cat -1", [torch.cat([x, 2 * x], -1) for x in every if x.dim()])
store("stack", [torch.stack([x, x], 0) for x in every])
store("stack -1", [torch.stack([x, x, -x], -1) for x in every])
store("roll", [x.roll(shift, 0) for x in every if x.dim() for shift in (1, -2)])
store("roll -1", [x.roll(7, -1) for x in every if x.dim()])
store("repeat", [x.repeat([2] * max(x.dim(), 1)) for x in every if x.dim() < 5])
store("repeat 3", [x.repeat([3, 0 if x.dim() == 1 else 1] + [1] * x.dim()) for x in every if x.dim() < 3])
for k in (-1, 0, 2):
    store(f"tril {k}", [x.tril(k) for x in every if x.dim() > 1])
    store(f"triu {k}", [x.triu(k) for x in every if x.dim() > 1])
store("arange", [torch.arange(5), torch.arange(2, 11, 3), torch.arange(3, -4, -2), torch.arange(4, 4)])
store("arange.f32", [torch.arange(0, 1, 0.1), torch.arange(1, -1, -0.3), torch.arange(0.5, 4)])
store("linspace.f32", [torch.linspace(0, 1, 11), torch.linspace(3, -2, 7), torch.linspace(1, 2, 1), torch.linspace(1, 2, 0),
                       torch.linspace(-1, 1, 8)])
store("eye", [torch.eye(n) for n in (0, 1, 3)])

# Indexing. Indices go over a dimension of n elements: (5 i + 2) % n.


def index_of(shape, n):
    count = torch.Size(shape).numel()
    return torch.tensor([(5 * i + 2) % max(n, 1) for i in range(count)], dtype=torch.int64).reshape(shape)


with_elements = [x for x in every if x.dim() and x.shape[0] > 0]
last_elements = [x for x in every if x.dim() and x.shape[-1] > 0]
store("index_select", [x.index_select(0, index_of([4], x.shape[0])) for x in with_elements])
store("index_select -1", [x.index_select(-1, index_of([3], x.shape[-1])) for x in last_elements])
store("gather", [x.gather(0, index_of([3] + list(x.shape[1:]), x.shape[0])) for x in with_elements])
store("gather -1", [x.gather(-1, index_of([max(n - 1, 0) for n in x.shape[:-1]] + [2], x.shape[-1]))
                    for x in last_elements])


def scattered(x, function):
    index = index_of([3] + list(x.shape[1:]), x.shape[0])
    return getattr(x.clone(), function)(0, index, pattern(index.shape, 5, 1, 17).to(some))


store("scatter_add", [scattered(x, "scatter_add") for x in views(some, exact) if x.dim() and x.shape[0] > 0])
store("one_hot", [torch.nn.functional.one_hot(index_of(shape, 4), 4) for shape in ([], [3], [2, 3], [0])])
store("nonzero", [(x > 0).nonzero() for x in every])
store("nonzero.i32", [x.nonzero() for x in views(torch.int32)])
store("masked_select", [x.masked_select(x > 0) for x in every])
for text in ("f32", "f64", "i32"):
    store(f"cumsum.{text}", [x.cumsum(d) for x in views(types[text]) for d in range(x.dim())])
store("cumsum exact", [x.cumsum(d) for x in views(some, exact) for d in range(x.dim())])
store("cumsum bool", [(x > 0).cumsum(-1) for x in every if x.dim()])

# Sorting.
with_special = torch.tensor([2.0, nan, -0.0, inf, 0.0, -inf, -1e-45, 2.0, -nan, 1e-45, 0.0])
for descending in (False, True):
    sorted_ = [x.sort(dim=d, descending=descending, stable=True) for x in views(some, repeated) for d in range(x.dim())]
    sorted_.append(with_special.sort(dim=0, descending=descending, stable=True))
    store(f"sort{' descending' * descending}", [s.values for s in sorted_])
    store(f"argsort{' descending' * descending}", [s.indices for s in sorted_])
for largest in (True, False):
    store(f"topk{' smallest' * (not largest)}", [x.topk((x.shape[d] + 1) // 2, d, largest).values
                                                for x in views(some) for d in range(x.dim())])
unique = [x.unique(return_inverse=True, return_counts=True) for x in views(some, repeated)]
for k, name in enumerate(("unique", "unique inverse", "unique counts")):
    store(name, [u[k] for u in unique])
store("histc", [torch.histc(x, 4, -1, 1) for x in views(some)] + [torch.histc(x, 5) for x in views(some)])
store("bincount", [torch.bincount(x.flatten() + 11) for x in views(torch.int32)])

# Products of matrices, with exact sums.
product_shapes = [("3", "3"), ("2 3", "3"), ("3", "3 2"), ("2 3", "3 4"), ("3 2; transpose 0 1", "3 4"), ("2 3", "4 3; transpose 0 1"),
                  ("3 2; transpose 0 1", "4 3; transpose 0 1"), ("0 3", "3 2"), ("2 0", "0 3"), ("2 3", "3 0"), ("1 1", "1 1"),
                  ("5 2 3", "3 4"), ("5 2 3", "5 3 4"), ("2 3", "5 3 4"), ("5 2 3", "3"), ("3", "5 3 2"),
                  ("4 6; slice 1 0 6 2", "3 2"), ("2 1 2 3", "3 3 2"), ("1 3; expand 2 3", "3 2; flip 0"),
                  ("2 3 4; permute 1 2 0", "4 2 2; slice 0 0 4 2; select 0 1"), ("2 1 2 1 3", "2 1 3 2"),
                  ("5 2 3; transpose 0 1", "3 4"), ("2 5 1 3; expand 2 5 2 3", "5 4 3; transpose 1 2")]


def small(shape, operand, dtype):
    return pattern(shape, *[(7, 3, 23), (5, 1, 17)][operand]).to(dtype)


store("matmul", [torch.matmul(view(a, 0, some, small), view(b, 1, some, small)) for a, b in product_shapes])

vector_shapes = [(m, n) for m in (0, 1, 3, 7) for n in (0, 1, 5)]
store("outer", [torch.outer(small([m], 0, some), small([n], 1, some)) for m, n in vector_shapes])
store("dot", [torch.dot(small([m], 0, some), small([m], 1, some)) for m, n in vector_shapes])

for name, list_ in (("cases", cases), ("product_shapes", product_shapes)):  # a text: the order of metadata varies
    results[name] = torch.tensor(list("".join(f"{a}|{b}\n" for a, b in list_).encode()), dtype=torch.uint8)
sys.stdout.buffer.write(save(results, {"printed_by": "tensors.py"}))
