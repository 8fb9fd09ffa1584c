"""Prints attention.safetensors: what PyTorch's attention and transformer layers make of ten shapes each, forward and backward.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

As in layer_shapes.py parameters, inputs and output gradients are drawn in float, each case from a generator of its own, and results
are computed in double and printed in float. tests/nn/transformer_test.cpp and tests/ops/attention/attention_test.cpp have the
same lists. The losses of a training are printed in double.
"""

import sys

import torch
from safetensors.torch import save
from torch import nn
from torch.nn import functional

torch.set_num_threads(1)
results = {}


def draw(generator, *shape, limit=1):
    return torch.empty(shape).uniform_(-limit, limit, generator=generator).double()


def causal_mask(length):
    return nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.float64)


class SelfAttention(nn.Module):
    def __init__(self, embed, heads, causal=False, bias=True):
        super().__init__()
        self.attention = nn.MultiheadAttention(embed, heads, bias=bias, batch_first=True)
        self.causal = causal

    def forward(self, x):
        mask = causal_mask(x.shape[1]) if self.causal else None
        return self.attention(x, x, x, attn_mask=mask, is_causal=self.causal, need_weights=False)[0]


class Encoder(nn.Module):
    """A TransformerEncoderLayer, or with layers > 0 a TransformerEncoder of them."""

    def __init__(self, embed, heads, feed_forward, causal=False, layers=0, norm=False, **options):
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(embed, heads, feed_forward, dropout=0.0, batch_first=True, **options)
        if layers > 0:
            self.encoder = nn.TransformerEncoder(self.encoder, layers, nn.LayerNorm(embed) if norm else None,
                                                 enable_nested_tensor=False)
        self.causal = causal

    def forward(self, x):
        if self.causal:
            return self.encoder(x, causal_mask(x.shape[1]), is_causal=True)
        return self.encoder(x)


def run(kind, cases):
    for number, (layer, shape) in enumerate(cases):
        name = f"{kind}.{number}"
        generator = torch.Generator().manual_seed(number)
        layer = layer.double()
        for parameter in layer.parameters():
            parameter.data = draw(generator, *parameter.shape)
        x = draw(generator, *shape).requires_grad_()
        dy = draw(generator, *shape)
        y = layer(x)
        gradients = torch.autograd.grad(y, [x, *layer.parameters()], dy)
        results[f"{name}.y"] = y.detach()
        results[f"{name}.dx"] = gradients[0]
        results[f"{name}.parameters"] = torch.cat([g.flatten() for g in gradients[1:]])


def split_heads(x, heads):
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def run_products(cases):
    """Queries, keys, values and the numbers of a mask are one input, in this order: a key is ignored where its number exceeds 0.5."""
    for number, (batch, heads, queries, keys, dim, value_dim, causal, masked) in enumerate(cases):
        name = f"products.{number}"
        generator = torch.Generator().manual_seed(number)
        sizes = [queries * heads * dim, keys * heads * dim, keys * heads * value_dim, keys if masked else 0]
        x = draw(generator, batch, sum(sizes)).requires_grad_()
        dy = draw(generator, batch, queries * heads * value_dim)
        q, k, v, numbers = x.split(sizes, 1)
        q, k, v = (split_heads(part.unflatten(1, (length, -1)), heads)
                   for part, length in ((q, queries), (k, keys), (v, keys)))
        allowed = torch.ones(batch, 1, queries, keys, dtype=torch.bool)
        if causal:
            allowed = allowed.tril()
        if masked:
            allowed = allowed & (numbers <= 0.5)[:, None, None, :]
        y = functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        y = y.transpose(1, 2).flatten(1)
        results[f"{name}.y"] = y.detach()
        results[f"{name}.dx"] = torch.autograd.grad(y, x, dy)[0]


class Words(nn.Module):
    """A small language model."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 8)
        self.position = nn.Embedding(6, 8)
        self.encoder = Encoder(8, 2, 12, causal=True, layers=2, norm=True, norm_first=True, activation="gelu")
        self.head = nn.Linear(8, 11)

    def forward(self, x):
        return self.head(self.encoder(self.words(x) + self.position.weight)).transpose(1, 2)


def run_training():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(3)
    model = Words()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for step in range(20):
        places = torch.arange(5 * 6).reshape(5, 6) + step
        words, labels = places * places % 11, (places + 1) * (places + 1) % 11
        loss = nn.CrossEntropyLoss()(model(words), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    results["training"] = torch.tensor(losses)


def main():
    run("multihead_attention", [
        (SelfAttention(4, 2), (2, 3, 4)),
        (SelfAttention(1, 1), (1, 1, 1)),
        (SelfAttention(6, 3, causal=True), (3, 5, 6)),
        (SelfAttention(8, 1, bias=False), (17, 4, 8)),
        (SelfAttention(4, 2, causal=True), (1, 70, 4)),
        (SelfAttention(2, 2), (4, 140, 2)),
        (SelfAttention(4, 1, causal=True, bias=False), (16, 35, 4)),
        (SelfAttention(20, 5), (5, 7, 20)),
        (SelfAttention(34, 2, causal=True), (2, 9, 34)),
        (SelfAttention(3, 1), (33, 2, 3)),
    ])
    run("encoder_layer", [
        (Encoder(4, 2, 6), (2, 3, 4)),
        (Encoder(2, 1, 1), (1, 1, 2)),
        (Encoder(6, 3, 4, causal=True), (3, 5, 6)),
        (Encoder(4, 1, 8, norm_first=True), (17, 4, 4)),
        (Encoder(4, 2, 8, activation="gelu"), (4, 6, 4)),
        (Encoder(8, 2, 16, causal=True, norm_first=True, activation="gelu"), (5, 10, 8)),
        (Encoder(6, 2, 3, bias=False), (16, 3, 6)),
        (Encoder(4, 2, 6, layers=2), (2, 5, 4)),
        (Encoder(4, 4, 6, layers=3, norm_first=True, norm=True), (3, 4, 4)),
        (Encoder(2, 2, 5, causal=True, layers=1), (33, 3, 2)),
    ])
    run_products([  # batch, heads, queries, keys, dim, value_dim, causal, masked
        (2, 2, 3, 4, 2, 2, False, False),
        (1, 1, 1, 1, 1, 1, False, False),
        (3, 2, 4, 7, 3, 2, False, True),
        (17, 1, 5, 3, 2, 4, True, False),
        (4, 3, 6, 6, 2, 1, True, True),
        (2, 1, 20, 140, 2, 3, False, True),
        (16, 1, 9, 70, 1, 2, False, True),
        (5, 2, 3, 9, 18, 17, False, True),
        (3, 1, 40, 33, 4, 4, True, True),
        (33, 2, 2, 2, 2, 2, False, True),
    ])
    run_training()
    sys.stdout.buffer.write(save({name: (value if name == "training" else value.float()).contiguous()
                                  for name, value in results.items()}))


if __name__ == "__main__":
    main()
