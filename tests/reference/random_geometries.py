"""Prints random_geometries.safetensors: PyTorch's results for random_geometries.txt, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

The test prints the list with GPUNET_GEOMETRY_SEED=239 GPUNET_GEOMETRY_LIST=10 (most options occur):
gpunet_tests --source-file='*random_geometries_test.cpp' | grep batch= >random_geometries.txt
An array has the name of its configuration. For the output, the gradient of the input and that of
each parameter it has three inner products with fixed vectors (the test says why). Inputs are drawn
as tests/geometry/check.hpp draws them: PyTorch's generator gives the same floats.
"""

import sys
from itertools import permutations
from math import factorial, sqrt
from pathlib import Path

import torch
from safetensors.torch import save
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def draw(generator, *shape, bound=1.0):
    """Floats, uniform in [-bound, bound)."""
    numbers = torch.empty(shape, dtype=torch.float32)
    return numbers.uniform_(-bound, bound, generator=generator).double()


class Configuration:
    """A line of the list. Its numbers are attributes, 0 if the family has none of the name."""

    def __init__(self, line):
        self.family, *numbers = line.split()
        self.numbers = {name: int(n) for name, n in (word.split("=") for word in numbers)}
        self.generator = torch.Generator().manual_seed(0)
        self.parameters = []

    def __getattr__(self, name):
        return self.numbers.get(name, 0)

    def along(self, name):
        """The number of a convolution or a pooling along each dimension."""
        suffixes = ("_depth", "", "_width")[-self.dimensions:]
        return tuple(getattr(self, name + suffix) for suffix in suffixes)

    @property
    def dimensions(self):
        return {"1d": 1, "3d": 3}.get(self.family[-2:], 2)

    def of_dimensions(self, name):
        """The function of PyTorch for the dimensions of the family."""
        return getattr(F, f"{name}{self.dimensions}d")

    def extents(self, prefix=""):
        names = ("depth", "height", "width")[-self.dimensions:]
        return tuple(getattr(self, prefix + name) for name in names)

    def image(self):
        return (self.channels, *self.extents())

    def sizes(self):
        return tuple(self.numbers[f"size{i}"] for i in range(self.rank))

    def norm_sizes(self):
        return {1: (self.channels,), 2: (self.channels, self.width),
                3: (self.channels, self.height, self.width)}[self.rank]

    def parameter(self, *shape):
        """The next parameter."""
        numel = torch.Size(shape).numel()
        fan_in = numel // (shape[0] if len(shape) > 1 else numel)
        bound = sqrt(3 / fan_in) if fan_in > 1 else 1.0
        self.parameters.append(draw(self.generator, *shape, bound=bound).requires_grad_())
        return self.parameters[-1]

    def parameter_if(self, condition, *shape):
        return self.parameter(*shape) if condition else None

    def draw_module(self, module):
        """A module with the next parameters, in its order."""
        for parameter in module.parameters():
            parameter.data = self.parameter(*parameter.shape).data
            self.parameters[-1] = parameter
        return module


def square_convolutions(x, c):
    weight = c.parameter(c.out, c.channels, c.kernel, c.kernel)
    y = F.conv2d(x, weight, c.parameter_if(c.bias, c.out), c.stride, c.padding)
    if c.relu:
        y = F.relu(y)
    if c.pool and min(y.shape[2:]) >= 2:
        y = F.max_pool2d(y, 2)
    if c.more:
        y = F.conv2d(y, c.parameter(c.out2, c.out, 3, 3), c.parameter(c.out2), padding=1)
    return y


def any_convolution(x, c):
    f = c.of_dimensions("conv")
    weight = c.parameter(c.out, c.channels // c.parts, *c.along("kernel"))
    y = f(x, weight, c.parameter_if(c.bias, c.out), c.along("stride"), c.along("padding"),
          c.along("dilation"), c.parts)
    return F.relu(y) if c.relu else y


def transposed_convolution(x, c):
    f = c.of_dimensions("conv_transpose")
    weight = c.parameter(c.channels, c.out // c.parts, *c.along("kernel"))
    y = f(x, weight, c.parameter_if(c.bias, c.out), c.along("stride"), c.along("padding"),
          c.along("more"), c.parts, c.along("dilation"))
    return F.relu(y) if c.relu else y


def max_pool(x, c):
    return c.of_dimensions("max_pool")(x, c.along("kernel"), c.along("stride"), c.along("padding"),
                                       ceil_mode=c.ceil == 1)


def avg_pool(x, c):
    return c.of_dimensions("avg_pool")(x, c.along("kernel"), c.along("stride"), c.along("padding"),
                                       c.ceil == 1, c.counts_padding == 1)


def adaptive(x, c):
    return c.of_dimensions("adaptive_avg_pool")(x, c.extents("out_"))


def linear(x, c):
    y = F.linear(x, c.parameter(c.out, x.shape[-1]), c.parameter_if(c.bias, c.out))
    if c.relu:
        y = F.relu(y)
    return F.linear(y, c.parameter(c.out2, c.out), c.parameter(c.out2)) if c.more else y


def hardsigmoid(x):
    """Of double: F.hardsigmoid has 1 / 6 in float in its gradient."""
    return (x / 6 + 0.5).clamp(0, 1)


activations = [F.relu, F.relu6, F.leaky_relu, F.elu, F.selu, F.gelu, F.silu, F.mish, torch.tanh,
               torch.sigmoid, F.logsigmoid, F.softplus, F.softsign,
               lambda x: F.hardtanh(x, -0.5, 0.5), F.hardswish, hardsigmoid,
               lambda x: x.sin().exp(), lambda x: (x.cos().square() + 1).sqrt()]


def softmax(x, c):
    return (F.log_softmax if c.logarithm else F.softmax)(4 * x, c.dim)


def binary(x, c):
    a, b = (3 * x).sin(), x.cos()
    for i in range(c.rank):
        if c.of_size1 >> i & 1:
            b = b.narrow(i + 1, c.sizes()[i] // 2, 1)
    for i in range(min(c.left_out, c.rank - 1)):
        b = b.mean(i + 1, keepdim=True)
    functions = (torch.add, torch.sub, torch.mul, lambda l, r: l / (r.square() + 0.5),
                 torch.maximum, torch.minimum)
    return functions[c.function](*((b, a) if c.swapped else (a, b)))


def sums(x, c):
    dims = [i + 1 for i in range(c.rank) if c.dims >> i & 1]
    if not dims:
        return x
    return (torch.mean if c.mean else torch.sum)(x, dims, keepdim=c.keepdim == 1)


def glu_sizes(c):
    return tuple(2 * size if i == c.dim else size for i, size in enumerate(c.sizes()))


def moves(x, c):
    order = c.order if c.order < factorial(c.rank) else 0
    y = x.permute(0, *list(permutations(range(1, c.rank + 1)))[order])
    length = max(1, y.shape[c.dim] * c.part // 8)
    part = y.narrow(c.dim, (y.shape[c.dim] - length) * c.start // 8, length)
    return torch.cat([part, y, part.sin()], c.dim)


def images(x, c):
    if c.kind == 0:
        mode = ("constant", "reflect", "replicate", "circular")[c.mode]
        return F.pad(x, (c.left - 1, c.right - 1, c.top - 1, c.bottom - 1), mode)
    if c.kind == 1:
        return F.pixel_shuffle(x, c.factor)
    if c.kind == 2:
        return F.interpolate(x, scale_factor=c.factor)
    return F.interpolate(x, scale_factor=c.factor, mode="bilinear", align_corners=c.kind == 4)


def layer_norm(x, c):
    row = x.shape[max(1, x.dim() - c.dims):]
    weight = c.parameter_if(c.affine, *row)
    return F.layer_norm(x, row, weight, c.parameter_if(c.affine and c.bias, *row), c.eps / 1000)


def rms_norm(x, c):
    row = x.shape[max(1, x.dim() - c.dims):]
    return F.rms_norm(x, row, c.parameter_if(c.affine, *row), c.eps / 1000)


def group_norm(x, c):
    weight = c.parameter_if(c.affine, c.channels)
    return F.group_norm(x, c.groups, weight, c.parameter_if(c.bias, c.channels), c.eps / 1000)


def batch_norm(x, c):
    weight, bias = c.parameter(c.channels), c.parameter(c.channels)
    statistics = torch.zeros(c.channels), torch.ones(c.channels)
    y = F.batch_norm(x, *statistics, weight, bias, training=True, eps=c.eps / 1000)
    if c.eval:  # with the statistics of the call before
        y = F.batch_norm(x, *statistics, weight, bias, training=False, eps=c.eps / 1000)
    return F.relu(y) if c.relu else y


def recurrent(x, c):
    options = {"nonlinearity": "relu"} if c.relu else {}
    module = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}[c.family](
        c.features, c.hidden, c.layers, bias=c.bias == 1, bidirectional=c.bidirectional == 1,
        batch_first=True, **options)
    y, states = c.draw_module(module)(x)
    states = [h.transpose(0, 1).flatten(1) for h in (states if c.family == "lstm" else [states])]
    return states[-1] if c.last else torch.cat([y.flatten(1), *states], 1)


def attention_parts(c):
    """The numbers of query, key and value, which are the input of attention one after another."""
    parts = [c.heads * n for n in (c.queries * c.dim, c.keys * c.dim, c.keys * c.value_dim)]
    return [*parts, c.masked * c.keys]


def attention(x, c):
    q, k, v, mask = x.split(attention_parts(c), 1)
    q = q.reshape(-1, c.heads, c.queries, c.dim)
    k = k.reshape(-1, c.heads, c.keys, c.dim)
    v = v.reshape(-1, c.heads, c.keys, c.value_dim)
    ignored = causal_mask(c.queries, c.keys) if c.causal else torch.zeros(1, 1, dtype=torch.bool)
    if c.masked:
        ignored = ignored | (mask > 0)[:, None, None]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~ignored)


def causal_mask(queries, keys):
    return torch.ones(queries, keys, dtype=torch.bool).triu(1)


def padding_mask(keys):
    """The function of the same name in tests/geometry/sequences_test.cpp."""
    return keys[..., 0] > keys[:, :1, 0]


def multihead_attention(x, c):
    query = x[:, :c.queries]
    memory = query if c.itself else x[:, c.queries:]
    module = nn.MultiheadAttention(c.embed, c.heads, bias=c.bias == 1, batch_first=True)
    mask = causal_mask(query.shape[1], memory.shape[1]) if c.causal else None
    padding = padding_mask(memory) if c.masked else None
    return c.draw_module(module)(query, memory, memory, padding, attn_mask=mask)[0]


def decoder_layer(x, c):
    module = nn.TransformerDecoderLayer(c.embed, c.heads, c.feedforward, dropout=0,
                                        batch_first=True, norm_first=c.norm_first == 1)
    mask = causal_mask(c.length, c.length) if c.causal else None
    target, memory = x[:, :c.length], x[:, c.length:]
    return c.draw_module(module)(
        target, memory, tgt_mask=mask,
        tgt_key_padding_mask=padding_mask(target) if c.masked & 1 else None,
        memory_key_padding_mask=padding_mask(memory) if c.masked & 2 else None)


def drawn(network, k, low, high):
    """The function of the same name in tests/geometry/sized_test.cpp."""
    bits = 2**64 - 1
    x = (network * 64 + k + 1) * 0x9E3779B97F4A7C15 & bits
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & bits
    x = (x ^ x >> 27) * 0x94D049BB133111EB & bits
    return low + (x ^ x >> 31) % (high - low + 1)


def sized_limits(c):
    """The largest numbers of channels of inputs and outputs and of pixels along a side."""
    return (4, 7, 9) if c.network < 12 else (20, 33, 19)


def sized_sizes(c):
    most, _, pixels = sized_limits(c)
    kind = c.network % 4
    if kind == 0:
        return (drawn(c.network, 0, 1, 70),)
    least = (5, 3, 7)[kind - 1]
    return (drawn(c.network, 0, 1, 6 if kind == 3 else most),
            *(drawn(c.network, k, least, pixels) for k in (1, 2)))


def sized(x, c):
    """The networks of tests/geometry/sized_test.cpp."""
    def of(k, low, high):
        return drawn(c.network, k, low, high)

    def linear(x, out):
        return F.linear(x, c.parameter(out, x.shape[1]), c.parameter(out))

    def conv(x, out, kernel, stride=1, padding=0, bias=True):
        weight = c.parameter(out, x.shape[1], kernel, kernel)
        return F.conv2d(x, weight, c.parameter_if(bias, out), stride, padding)

    out = sized_limits(c)[1]
    kind = c.network % 4
    if kind == 0:
        return linear(linear(linear(x, of(1, 1, 70)).tanh(), of(2, 1, 40)).relu(), of(3, 1, 20))
    if kind == 1:
        y = conv(x, of(3, 1, out), of(4, 1, 3), of(5, 1, 2), of(6, 0, 2))
        return linear(F.max_pool2d(y.relu(), 2).flatten(1), of(7, 1, 20))
    if kind == 2:
        y = conv(x, of(3, 1, out), 3, of(4, 1, 3), 1, bias=False)
        c.numbers |= {"channels": y.shape[1], "eps": 0.01}
        return conv(batch_norm(y, c).relu(), of(5, 1, 20), of(6, 1, 3), padding=1)
    y = F.max_pool2d(conv(x, of(3, 1, out), of(4, 2, 4)), 3, 2, 1)
    return linear(F.avg_pool2d(conv(y, of(5, 1, out), 1), 2).flatten(1), of(6, 1, 12))


# family: its function and the sizes of a sample
families = {
    "conv2d": (square_convolutions, Configuration.image),
    "conv2d_of_few": (square_convolutions, Configuration.image),
    "conv2d_options": (any_convolution, Configuration.image),
    "conv1d": (any_convolution, Configuration.image),
    "conv3d": (any_convolution, Configuration.image),
    "conv_transpose2d": (transposed_convolution, Configuration.image),
    "conv_transpose1d": (transposed_convolution, Configuration.image),
    "conv_transpose3d": (transposed_convolution, Configuration.image),
    "max_pool2d": (max_pool, Configuration.image),
    "max_pool1d": (max_pool, Configuration.image),
    "max_pool3d": (max_pool, Configuration.image),
    "avg_pool2d": (avg_pool, Configuration.image),
    "avg_pool1d": (avg_pool, Configuration.image),
    "avg_pool3d": (avg_pool, Configuration.image),
    "adaptive_avg_pool2d": (adaptive, Configuration.image),
    "adaptive_avg_pool1d": (adaptive, Configuration.image),
    "adaptive_avg_pool3d": (adaptive, Configuration.image),
    "linear": (linear, Configuration.sizes),
    "activation": (lambda x, c: activations[c.function](4 * x), Configuration.sizes),
    "sized": (sized, sized_sizes),
    "softmax": (softmax, Configuration.sizes),
    "binary": (binary, Configuration.sizes),
    "sum": (sums, Configuration.sizes),
    "glu": (lambda x, c: F.glu(x, c.dim + 1), glu_sizes),
    "prelu": (lambda x, c: F.prelu(x, c.parameter(c.size0 if c.each else 1)), Configuration.sizes),
    "moves": (moves, Configuration.sizes),
    "images": (images, Configuration.image),
    "layer_norm": (layer_norm, Configuration.norm_sizes),
    "rms_norm": (rms_norm, Configuration.norm_sizes),
    "group_norm": (group_norm, Configuration.norm_sizes),
    "batch_norm": (batch_norm, Configuration.norm_sizes),
    "lstm": (recurrent, lambda c: (c.steps, c.features)),
    "gru": (recurrent, lambda c: (c.steps, c.features)),
    "rnn": (recurrent, lambda c: (c.steps, c.features)),
    "attention": (attention, lambda c: (sum(attention_parts(c)),)),
    "multihead_attention": (multihead_attention,
                            lambda c: (c.queries + (0 if c.itself else c.keys), c.embed)),
    "transformer_decoder_layer": (decoder_layer, lambda c: (c.length + c.memory, c.embed)),
    "embedding": (lambda x, c: F.embedding(x.long(), c.parameter(c.rows, c.dim)),
                  lambda c: (c.tokens,)),
}


def projections(numbers):
    """The function of the same name in tests/geometry/random_geometries_test.cpp."""
    vectors = (draw(torch.Generator().manual_seed(k), numbers.numel()) for k in (1, 2, 3))
    return [numbers.detach().flatten() @ vector for vector in vectors]


def results(line):
    c = Configuration(line)
    function, sizes = families[c.family]
    shape = (c.batch, *sizes(c))
    if c.family == "embedding":
        x = torch.randint(c.rows, shape, generator=c.generator).double()
    else:
        x = draw(c.generator, *shape)
    x.requires_grad_()
    y = function(x * c.parameter(*shape[1:]) if c.scale else x, c)
    targets = draw(c.generator, *y.shape)
    gradients = torch.autograd.grad(y, [x, *c.parameters], 2 * (y.detach() - targets),
                                    materialize_grads=True)
    return torch.tensor([product for array in (y, *gradients) for product in projections(array)])


lines = Path(__file__).with_suffix(".txt").read_text().splitlines()
sys.stdout.buffer.write(save({line: results(line) for line in lines},
                             {"printed_by": "random_geometries.py"}))
