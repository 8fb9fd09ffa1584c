"""Prints recurrent_states.safetensors: outputs, final states and gradients of PyTorch's recurrent layers with initial states, in
double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

tests/nn/recurrent_states_test.cpp has the same cases, by name.
"""

import sys

import torch
from safetensors.torch import save
from torch import nn

torch.set_num_threads(1)
batch = 3


def numbers(n, step, start, modulus):
    """As in values.py."""
    return torch.tensor([((i * step + start) % modulus - modulus // 2) / 8 + 0.013 * (i % 7 + 1) for i in range(n)],
                        dtype=torch.float64)


results = {}
layers = {"lstm": (nn.LSTM, {}), "gru": (nn.GRU, {}), "rnn": (nn.RNN, {}), "relu": (nn.RNN, {"nonlinearity": "relu"})}
# steps, features, hidden_size, num_layers, bidirectional, bias, whether there are initial states
cases = [(4, 3, 2, 1, False, True, True), (3, 2, 3, 2, True, True, True), (1, 1, 2, 3, False, False, True),
         (5, 2, 1, 1, True, False, True), (2, 3, 9, 1, False, True, True), (3, 2, 2, 2, True, True, False)]
for kind, (make, options) in layers.items():
    for number, (steps, features, hidden, num_layers, bidirectional, bias, is_initial) in enumerate(cases):
        layer = make(features, hidden, num_layers, bias=bias, bidirectional=bidirectional, batch_first=True,
                     dtype=torch.float64, **options)
        states = num_layers * (2 if bidirectional else 1)
        sizes = [steps * features] + [states * hidden] * (is_initial * (2 if kind == "lstm" else 1))
        rows = numbers(batch * sum(sizes), 7, 3, 23).reshape(batch, sum(sizes)).requires_grad_()
        x, *initial = rows.split(sizes, 1)
        initial = [state.reshape(batch, states, hidden).transpose(0, 1).contiguous() for state in initial]
        parameters = list(layer.parameters())
        values = numbers(sum(p.numel() for p in parameters), 5, 1, 17) / 4  # small: relu multiplies steps and layers
        with torch.no_grad():
            nn.utils.vector_to_parameters(values, parameters)
        arguments = [] if not initial else [tuple(initial) if kind == "lstm" else initial[0]]
        y, final = layer(x.reshape(batch, steps, features), *arguments)
        final = final if kind == "lstm" else [final]
        y = torch.cat([y.flatten(1)] + [state.transpose(0, 1).flatten(1) for state in final], 1)
        gradients = torch.autograd.grad(y, [rows, *parameters], numbers(y.numel(), 11, 5, 19).reshape(y.shape))
        name = f"{kind}.{number}"
        results[f"{name}.y"] = y.detach().contiguous()
        results[f"{name}.dx"] = gradients[0]
        results[f"{name}.dp"] = torch.cat([gradient.flatten() for gradient in gradients[1:]])

sys.stdout.buffer.write(save(results, {"printed_by": "recurrent_states.py"}))
