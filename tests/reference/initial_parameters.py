"""Prints initial_parameters.safetensors: the parameters that torch.nn draws, as the first, the last, and a hash of all bits.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

A row of NETWORK_DTYPE has a seed, and the FNV-1a hash of all parameters that torch.nn drew after manual_seed(seed), in the order of the
state dict, as little-endian bytes (its 64 bits as an int64); the row of NETWORK_DTYPE.ends has the first and the last of them.
"""

import torch
from torch import nn

from common import fnv1a, signed, write


def lenet():
    """Layers without parameters draw nothing, so they are left out."""
    return nn.Sequential(nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5),
                         nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10))


def perceptron():
    return nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 9), nn.Linear(9, 3))


def odd():
    """Fans of every kind: 1, 49, 3, 75."""
    return nn.Sequential(nn.Conv2d(1, 3, 1), nn.Conv2d(3, 1, 5, padding=2, stride=2), nn.Conv2d(1, 2, 7, padding=3),
                         nn.Linear(2 * 4 * 3, 1), nn.Linear(1, 5))


def lesson():
    """The CNN of three further lessons of this kind: many convolutions, padding."""
    return nn.Sequential(nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5, padding=3), nn.Conv2d(16, 16, 5), nn.Conv2d(16, 16, 3),
                         nn.Linear(64, 120), nn.Linear(120, 84), nn.Linear(84, 10))


def one():
    return nn.Sequential(nn.Linear(1, 1))


def wide():
    """More parameters than a model draws at a time, and no multiple of that."""
    return nn.Sequential(nn.Linear(123, 457))


def deep():
    return nn.Sequential(*(nn.Linear(n, n + 1) for n in range(2, 12)))


def strided():
    return nn.Sequential(nn.Conv2d(2, 5, 2, stride=2), nn.Conv2d(5, 7, 3, stride=3, padding=1))


def pixels():
    """Kernels of one pixel between many channels."""
    return nn.Sequential(nn.Conv2d(17, 33, 1), nn.Conv2d(33, 16, 1), nn.Linear(64, 2))


def digits():
    return nn.Sequential(nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3), nn.Conv2d(16, 24, 3), nn.Linear(11616, 32),
                         nn.Linear(32, 10))


def words():
    """Normal numbers: 12, which is fewer than 16, 21 and 200."""
    return nn.Sequential(nn.Embedding(3, 4), nn.Linear(4, 2), nn.Embedding(7, 3), nn.Embedding(40, 5, padding_idx=3))


def transformer():
    """PyTorch draws out_proj before in_proj, and the layers of an encoder are copies of one."""
    embedding, layer = nn.Embedding(5, 6), nn.TransformerEncoderLayer(6, 3, 10, batch_first=True)
    return nn.Sequential(embedding, nn.TransformerEncoder(layer, 3, nn.LayerNorm(6), False),
                         nn.MultiheadAttention(6, 2, bias=False), nn.Linear(6, 4))


def convolutions():
    """Fans of groups, rectangles and transposed convolutions, one of them without a bias."""
    return nn.Sequential(nn.Conv2d(6, 12, 3, groups=3), nn.Conv2d(12, 12, (1, 4), groups=12), nn.Conv1d(12, 7, 5),
                         nn.ConvTranspose1d(7, 6, 3, stride=2), nn.ConvTranspose2d(6, 4, (2, 3), groups=2),
                         nn.ConvTranspose2d(4, 2, 2, bias=False))


results = {}
for network, dtype, name in (
    (lenet, torch.float32, "lenet_float"),
    (perceptron, torch.float32, "perceptron_float"),
    (perceptron, torch.float64, "perceptron_double"),
    (odd, torch.float32, "odd_float"),
    (odd, torch.float64, "odd_double"),
    (lesson, torch.float32, "lesson_float"),
    (one, torch.float32, "one_float"),
    (wide, torch.float32, "wide_float"),
    (wide, torch.float64, "wide_double"),
    (deep, torch.float32, "deep_float"),
    (strided, torch.float32, "strided_float"),
    (pixels, torch.float32, "pixels_float"),
    (digits, torch.float32, "digits_float"),
    (convolutions, torch.float32, "convolutions_float"),
    (convolutions, torch.float64, "convolutions_double"),
    (words, torch.float32, "words_float"),
    (words, torch.float64, "words_double"),
    (transformer, torch.float32, "transformer_float"),
    (transformer, torch.float64, "transformer_double"),
):
    torch.set_default_dtype(dtype)
    rows, ends = [], []
    for seed in (0, 1, 32, 2**31 + 11, 67280421310721):
        torch.manual_seed(seed)
        values = torch.cat([p.detach().flatten() for p in network().parameters()])
        rows.append([seed, signed(fnv1a(values.numpy().tobytes()))])
        ends.append(values[[0, -1]])
    results[name] = rows
    results[f"{name}.ends"] = torch.stack(ends)
write(results)
