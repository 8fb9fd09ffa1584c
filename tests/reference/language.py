"""Prints language.safetensors: keys, shapes and losses of PyTorch's language models of characters, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)
"""

import sys

import torch
from safetensors.torch import save
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
batch, length, vocabulary = 4, 12, 11


class CharLSTM(nn.Module):
    def __init__(self, width, hidden, layers):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, vocabulary)

    def forward(self, x):
        return self.head(self.lstm(self.embed(x))[0]).transpose(1, 2)


class CharTransformer(nn.Module):
    def __init__(self, width, heads, feed_forward, layers):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, heads, feed_forward, 0.0, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        y = self.encoder(self.embed(x) + self.position.weight, mask, is_causal=True)
        return self.head(y).transpose(1, 2)


def text(n):
    """Characters in which each follows from the two before it, most of the time."""
    characters = [1, 2]
    while len(characters) < n:
        i = len(characters)
        characters.append((characters[-1] + 2 * characters[-2] + (3 if i * i % 7 == 0 else 1)) % vocabulary)
    return torch.tensor(characters)


results = {}


def add(name, make, steps):
    torch.manual_seed(2)
    net = make()
    keys = "".join(f"{key} {list(value.shape)}\n" for key, value in net.state_dict().items())
    results[f"{name}.keys"] = torch.tensor(list(keys.encode()), dtype=torch.uint8)
    results[f"{name}.initial"] = torch.cat([value.flatten() for value in net.state_dict().values()])
    characters = text(1000)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
    losses = []
    for step in range(steps):
        starts = [(step * batch + i) * 37 % (1000 - length - 1) for i in range(batch)]
        x = torch.stack([characters[start:start + length] for start in starts])
        t = torch.stack([characters[start + 1:start + length + 1] for start in starts])
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), t)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    results[f"{name}.losses"] = torch.tensor(losses)


add("lstm", lambda: CharLSTM(6, 16, 2), 100)
add("transformer", lambda: CharTransformer(16, 2, 32, 2), 100)

sys.stdout.buffer.write(save(results, {"printed_by": "language.py"}))
