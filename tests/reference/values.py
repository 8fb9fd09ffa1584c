"""Prints values.safetensors: what PyTorch makes of functions of values, forward and backward, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

tests/nn/value_test.cpp has the same functions, by name.
"""

import math
import sys

import torch
from safetensors.torch import save
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
batch = 3


def numbers(n, step, start, modulus):
    """Multiples of 1/8 beside a smaller part, so that no two are equal and none is 0."""
    return torch.tensor([((i * step + start) % modulus - modulus // 2) / 8 + 0.013 * (i % 7 + 1) for i in range(n)],
                        dtype=torch.float64)


def inputs(*shapes):
    """A batch of each input: the rows of all of them, one after another, are counted through."""
    features = [torch.Size(shape).numel() for shape in shapes]
    rows = numbers(batch * sum(features), 7, 3, 23).reshape(batch, sum(features))
    return [part.reshape(batch, *shape) for part, shape in zip(rows.split(features, 1), shapes)], rows


def labels(t):
    return (1e6 * t).clamp(0, 1) + (1e6 * (t - 0.7)).clamp(0, 1)


def positions(length, features):
    """The sinusoidal encoding of "Attention Is All You Need", as in PyTorch's tutorial on transformers."""
    place = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    rate = torch.exp(torch.arange(0, features, 2, dtype=torch.float64) * (-math.log(10000.0) / features))
    table = torch.zeros(1, length, features, dtype=torch.float64)
    table[0, :, 0::2] = torch.sin(place * rate)
    table[0, :, 1::2] = torch.cos(place * rate)
    return table


def mask():
    return torch.arange(12).reshape(4, 3) % 5 > 1


# name: (function of inputs and parameters, shapes of the inputs, shapes of the parameters)
cases = {
    "add": (lambda a, b: a + b.unsqueeze(1), [(3, 4), (4,)], []),
    "add_same": (lambda a, b: a + b + a, [(3, 4), (3, 4)], []),
    "sub": (lambda a, b: a - b.unsqueeze(1), [(2, 3, 2), (3, 1)], []),
    "mul": (lambda a, b: a * b.unsqueeze(1), [(2, 1, 3), (4, 1)], []),
    "div": (lambda a, b: a / (b * b + 1), [(2, 3), (2, 3)], []),
    "div_broadcast": (lambda a, b: a / b.exp(), [(1, 3), (2, 1)], []),
    "maximum": (lambda a, b: torch.maximum(a, b) * torch.minimum(a, b * 2), [(5,), (5,)], []),
    "numbers": (lambda a: 2 * a - 1 + (3 - a) / 4 - (-a) + 0.5 / (a * a + 1) - 2 * (a + 1) + (1 + a) * 3, [(7,)], []),
    "functions": (lambda a: a.exp() + (a * a + 1).log() + (a * a + 0.5).sqrt() + a.square() + a.abs() + a.sin() + a.cos(),
                  [(7,)], []),
    "pow": (lambda a: a.pow(3) + a.exp().pow(-1.5) + a.clamp(-0.5, 0.75), [(7,)], []),
    "sum": (lambda a: a.square().sum(dim=tuple(range(1, a.dim()))), [(2, 3, 4)], []),
    "mean": (lambda a: a.square().mean(dim=tuple(range(1, a.dim()))), [(2, 3)], []),
    "sum_dims": (lambda a: a.square().sum((1, 3)), [(2, 3, 4)], []),
    "mean_keepdim": (lambda a: a - a.mean(-1, keepdim=True), [(2, 3)], []),
    "mean_first": (lambda a: a.square().mean(1), [(2, 3, 2)], []),
    "shapes": (lambda a: a.reshape(batch, 4, 3).transpose(1, 2).flatten(1) * a.permute(0, 3, 2, 1).flatten(1),
               [(2, 3, 2)], []),
    "cat": (lambda a, b: torch.cat([a, b.square(), a], -1), [(2, 3), (2, 2)], []),
    "narrow": (lambda a: a.narrow(1, 1, 2) * a.narrow(1, 0, 2), [(3, 2)], []),
    "activations": (lambda a: F.relu(a) + F.relu6(a * 3) + F.leaky_relu(a, 0.1) + F.elu(a) + F.selu(a) + F.gelu(a)
                    + F.gelu(a, approximate="tanh") + F.silu(a) + F.mish(a) + a.tanh() + a.sigmoid()
                    + F.logsigmoid(a) + F.softplus(a) + F.softsign(a) + F.hardtanh(a, -0.5, 0.5)
                    + (a + 1) * (a / 6 + 0.5).clamp(0, 1), [(9,)], []),  # PyTorch's hardswish has 1 / 6 in float
    "softmax": (lambda a: a.softmax(-1) * a.log_softmax(1), [(3, 4)], []),
    "linear": (lambda a, w, b, v: F.linear(F.linear(a, w, b).tanh(), v), [(2, 3)], [(4, 3), (4,), (2, 4)]),
    "conv2d": (lambda a, w, b, v: F.conv2d(F.conv2d(a, w, b, stride=2, padding=1).tanh(), v), [(2, 5, 4)],
               [(3, 2, 3, 3), (3,), (2, 3, 1, 1)]),
    "grouped": (lambda a, w, b, v: F.conv2d(F.conv2d(a, w, b, stride=2, padding=1, groups=2).tanh(), v, dilation=2),
                [(4, 7, 8)], [(6, 2, 3, 3), (6,), (2, 6, 2, 2)]),
    "pooling": (lambda a: F.max_pool2d(a, 2).sum((2, 3)) + F.avg_pool2d(a, 3, 2, 1).sum((2, 3))
                + F.adaptive_avg_pool2d(a, 2).square().sum((2, 3)), [(2, 4, 6)], []),
    "norms": (lambda a, w, b, v, g, h: F.layer_norm(a, (4,), w, b) + F.rms_norm(a, (4,), v)
              * F.group_norm(a, 2, g, h), [(2, 4)], [(4,), (4,), (4,), (2,), (2,)]),
    "batch_norm": (lambda a, w, b: F.batch_norm(a, None, None, w, b, training=True), [(2, 3)], [(2,), (2,)]),
    "parameter": (lambda a, p: a * p + p, [(2, 3)], [(2, 3)]),
    "shared": (lambda a, b, w, c: F.linear(a, w, c) * F.linear(b, w, c), [(3,), (3,)], [(2, 3), (2,)]),
    "constant_mul": (lambda a: a * numbers(12, 5, 2, 13).reshape(3, 4) + numbers(3, 3, 1, 7).reshape(3, 1) / a,
                     [(3, 4)], []),
    "constant_wider": (lambda a: (numbers(6, 5, 2, 13).reshape(2, 1, 3) - a) * a, [(2, 4, 1)], []),
    "constant_positions": (lambda a, w, b: F.linear(a + positions(5, 4), w, b), [(5, 4)], [(3, 4), (3,)]),
    "constant_mask": (lambda a: a.masked_fill(~mask(), 0).square() + torch.maximum(a, numbers(3, 3, 1, 7)), [(4, 3)], []),
    "constant_cat": (lambda a: torch.cat([a, numbers(3, 3, 1, 7).expand(batch, 1, 3)], 1).square(), [(2, 3)], []),
    "detach": (lambda a: a.square() * a.square().detach() + a, [(4,)], []),
    "distances": (lambda a, b: F.pairwise_distance(a.reshape(-1, 4), b.reshape(-1, 4)).reshape(batch, 2)
                  + F.cosine_similarity(a, b, -1), [(2, 4), (2, 4)], []),
    "gather": (lambda a, t: a.gather(1, labels(t).detach().long().unsqueeze(1)).squeeze(1), [(3, 4), (4,)], []),
    "mse_loss": (lambda a, t: (a - t).square().mean(1), [(5,), (5,)], []),
    "l1_loss": (lambda a, t: F.l1_loss(a, 0.9 * t, reduction="none").mean(1), [(5,), (5,)], []),
    "smooth_l1_loss": (lambda a, t: F.smooth_l1_loss(a, 0.9 * t, beta=0.7, reduction="none").mean(1), [(5,), (5,)], []),
    "huber_loss": (lambda a, t: F.huber_loss(a, 0.9 * t, delta=0.6, reduction="none").mean(1), [(5,), (5,)], []),
    "bce": (lambda a, t: F.binary_cross_entropy(a.sigmoid(), t.sigmoid(), reduction="none").mean(1), [(5,), (5,)], []),
    "bce_logits": (lambda a, t: F.binary_cross_entropy_with_logits(a, t.sigmoid(), reduction="none").mean(1),
                   [(5,), (5,)], []),
    "cross_entropy": (lambda a, t: F.cross_entropy(a, labels(t).detach().long(), reduction="none").mean(1),
                      [(3, 4), (4,)], []),
    "kl_div": (lambda a, t: F.kl_div(a.log_softmax(1), t.softmax(1), reduction="none").sum(1), [(4,), (4,)], []),
    "embedding_losses": (lambda a, b, c: F.hinge_embedding_loss(a, torch.tensor([1.0, -1.0]).repeat(batch, 2).double(),
                                                                reduction="none").mean(1)
                         + F.triplet_margin_loss(a, b, c, reduction="none")
                         + F.cosine_embedding_loss(a, b, -torch.ones(batch), margin=-0.5, reduction="none")
                         + F.cosine_embedding_loss(b, c, torch.ones(batch), reduction="none"),
                         [(4,), (4,), (4,)], []),
}



def causal_mask(length):
    return nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.float64)


def attention(a, m, mask, *parameters):
    layer = nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64)
    names = dict(zip((name for name, _ in layer.named_parameters()), parameters))
    ignored = torch.stack([labels(mask[:, 0]) > 1, labels(mask[:, 0]) > 5, labels(mask[:, 1]) > 0], 1)
    return torch.func.functional_call(layer, names, (a, m, m), {"key_padding_mask": ignored.detach(),
                                                                "need_weights": False})[0]


def decoder(a, m, *parameters, norm_first=False):
    layer = nn.TransformerDecoderLayer(4, 2, 6, 0.0, batch_first=True, norm_first=norm_first,
                                       activation="gelu" if norm_first else "relu", dtype=torch.float64)
    names = dict(zip((name for name, _ in layer.named_parameters()), parameters))
    return torch.func.functional_call(layer, names, (a, m), {"tgt_mask": causal_mask(a.shape[1]),
                                                             "tgt_is_causal": True})


def vae(x, fc1, b1, fc21, b21, fc22, b22, fc3, b3, fc4, b4):
    """The loss of lesson 08 with a number in place of the random ones, as in PyTorch's examples/vae."""
    x = x.sigmoid()
    hidden = F.relu(F.linear(x, fc1, b1))
    mean, logvar = F.linear(hidden, fc21, b21), F.linear(hidden, fc22, b22)
    z = mean + torch.exp(0.5 * logvar) * 0.3
    rebuilt = torch.sigmoid(F.linear(F.relu(F.linear(z, fc3, b3)), fc4, b4))
    cross_entropy = F.binary_cross_entropy(rebuilt, x, reduction="none").sum(1)
    return cross_entropy - 0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).sum(1)


attention_shapes = [(12, 4), (12,), (4, 4), (4,)]
decoder_shapes = attention_shapes * 2 + [(6, 4), (6,), (4, 6), (4,)] + [(4,)] * 6
cases |= {
    "dot_product": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), [(3, 4), (5, 4), (5, 2)], []),
    "dot_product_heads": (lambda q, k: F.scaled_dot_product_attention(q, k, k, is_causal=True),
                          [(2, 3, 4), (2, 3, 4)], []),
    "attention": (attention, [(2, 4), (3, 4), (2,)], attention_shapes),
    "vae": (vae, [(6,)], [(4, 6), (4,), (2, 4), (2,), (2, 4), (2,), (4, 2), (4,), (6, 4), (6,)]),
    "decoder": (decoder, [(3, 4), (2, 4)], decoder_shapes),
    "decoder_norm_first": (lambda *x: decoder(*x, norm_first=True), [(3, 4), (2, 4)], decoder_shapes),
}

results = {}
torch.manual_seed(4)
results["decoder.initial"] = torch.cat([p.detach().flatten() for p in nn.TransformerDecoderLayer(4, 2, 6).parameters()])
for name, (function, shapes, parameter_shapes) in cases.items():
    parts, rows = inputs(*shapes)
    rows.requires_grad_()
    features = [torch.Size(shape).numel() for shape in shapes]
    parts = [part.reshape(batch, *shape) for part, shape in zip(rows.split(features, 1), shapes)]
    count = sum(torch.Size(shape).numel() for shape in parameter_shapes)
    values = numbers(count, 5, 1, 17).split([torch.Size(shape).numel() for shape in parameter_shapes])
    parameters = [value.reshape(shape).requires_grad_() for value, shape in zip(values, parameter_shapes)]
    y = function(*parts, *parameters)
    dy = numbers(y.numel(), 11, 5, 19).reshape(y.shape)
    gradients = torch.autograd.grad(y, [rows, *parameters], dy, allow_unused=True)
    results[f"{name}.y"] = y.detach().contiguous()
    results[f"{name}.dx"] = gradients[0]
    if parameters:
        results[f"{name}.dp"] = torch.cat([gradient.flatten() for gradient in gradients[1:]])

sys.stdout.buffer.write(save(results, {"printed_by": "values.py"}))
