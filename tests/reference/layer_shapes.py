"""Prints layer_shapes.safetensors: what PyTorch's layers and losses make of ten shapes each, forward and backward.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

Parameters, inputs and output gradients are drawn in float, each case from a generator of its own; the results are
those of double, so that PyTorch's own rounding is not in them. tests/nn/layer_shapes_test.cpp has the same list.
"""

import sys

import torch
from safetensors.torch import save
from torch import nn

torch.set_num_threads(1)
results = {}


class Permute(nn.Module):
    def __init__(self, *dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return x.permute(0, *(dim + 1 for dim in self.dims))


class Reshape(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.sizes = sizes

    def forward(self, x):
        return x.reshape(x.shape[0], *self.sizes)


def draw(generator, *shape, limit=1):
    return torch.empty(shape).uniform_(-limit, limit, generator=generator).double()


def forward_backward(name, layer, x, dy):
    parameters = list(layer.parameters())
    x.requires_grad_()
    y = layer(x)
    gradients = torch.autograd.grad(y, [x, *parameters], dy)
    results[f"{name}.y"] = y.detach()
    results[f"{name}.dx"] = gradients[0]
    for (parameter, _), gradient in zip(layer.named_parameters(), gradients[1:]):
        results[f"{name}.d{parameter}"] = gradient


def run(kind, cases):
    for number, (layer, shape) in enumerate(cases):
        name = f"{kind}.{number}"
        generator = torch.Generator().manual_seed(number)
        layer = layer.double()
        for parameter in layer.parameters():
            parameter.data = draw(generator, *parameter.shape)
        is_batch_norm = "batch_norm" in kind
        if is_batch_norm:
            layer(draw(generator, *shape))  # so that the running statistics have a past
        x = draw(generator, *shape)
        dy = draw(generator, *layer.eval()(x).shape)
        forward_backward(name, layer.train(), x, dy)
        if is_batch_norm:
            results[f"{name}.running_mean"] = layer.running_mean.clone()
            results[f"{name}.running_var"] = layer.running_var.clone()
            forward_backward(f"{name}.eval", layer.eval(), x, dy)


def run_cross_entropy(shapes):
    for number, (samples, classes) in enumerate(shapes):
        name = f"cross_entropy.{number}"
        generator = torch.Generator().manual_seed(number)
        x = draw(generator, samples, classes, limit=8).requires_grad_()
        labels = torch.tensor([i * 7 % classes for i in range(samples)])
        mean = nn.CrossEntropyLoss()(x, labels)
        mean.backward()
        results[f"{name}.losses"] = nn.CrossEntropyLoss(reduction="none")(x, labels).detach()
        results[f"{name}.dx"] = x.grad


def states_of(layer):
    """The recurrent layer without its last states."""
    class Output(layer):
        def forward(self, x):
            return super().forward(x)[0]
    return lambda *sizes, **options: Output(*sizes, batch_first=True, **options)


def run_recurrent():
    for kind, layer in (("lstm", nn.LSTM), ("gru", nn.GRU), ("rnn", nn.RNN)):
        make = states_of(layer)
        run(kind, [
            (make(3, 4), (2, 5, 3)),
            (make(1, 1), (1, 1, 1)),
            (make(8, 16), (17, 3, 8)),
            (make(5, 3, num_layers=2), (4, 4, 5)),
            (make(2, 4, bidirectional=True), (3, 4, 2)),
            (make(3, 2, num_layers=3, bidirectional=True), (2, 3, 3)),
            (make(6, 5, bias=False), (16, 2, 6)),
            (make(12, 9), (5, 6, 12)),
            (make(4, 8, **({"nonlinearity": "relu"} if kind == "rnn" else {})), (33, 2, 4)),
            (make(2, 20, num_layers=2, bias=False, bidirectional=True), (1, 7, 2)),
        ])


def main():
    run("linear", [(nn.Linear(i, o), (n, i)) for n, i, o in
                   ((1, 1, 1), (2, 7, 3), (4, 12, 10), (17, 5, 4), (3, 16, 17),
                    (5, 33, 9), (33, 3, 2), (16, 16, 16), (2, 64, 5), (7, 2, 33))])
    run("conv2d", [
        (nn.Conv2d(2, 3, 3), (2, 2, 5, 4)),
        (nn.Conv2d(3, 6, 5), (2, 3, 9, 8)),
        (nn.Conv2d(3, 4, 3, padding=1), (3, 3, 6, 6)),
        (nn.Conv2d(4, 2, 1), (5, 4, 3, 3)),
        (nn.Conv2d(2, 5, 2, stride=2), (3, 2, 7, 6)),
        (nn.Conv2d(1, 3, 5, stride=2, padding=2), (2, 1, 9, 7)),
        (nn.Conv2d(2, 1, 3, stride=3, padding=1), (4, 2, 8, 5)),
        (nn.Conv2d(3, 2, 4, padding=3), (1, 3, 3, 4)),
        (nn.Conv2d(5, 8, 3, padding=1), (2, 5, 4, 4)),
        (nn.Conv2d(1, 7, 2, padding=1), (17, 1, 3, 2)),
    ])
    run("linear_of_rows", [
        (nn.Linear(5, 3), (1, 2, 5)),
        (nn.Linear(4, 4), (2, 3, 4)),
        (nn.Linear(12, 9), (17, 4, 12)),
        (nn.Linear(4, 8), (4, 2, 3, 4)),
        (nn.Linear(16, 33), (1, 20, 16)),
        (nn.Linear(8, 16, bias=False), (1, 30, 8)),
        (nn.Linear(24, 40), (16, 3, 24)),
        (nn.Linear(7, 2), (5, 1, 7)),
        (nn.Linear(9, 20), (33, 5, 9)),
        (nn.Linear(2, 1), (3, 2, 2, 2)),
    ])
    run("linear_without_bias", [(nn.Linear(i, o, bias=False), (n, i)) for n, i, o in
                                ((1, 1, 1), (2, 7, 3), (4, 12, 10), (17, 5, 4), (3, 16, 17),
                                 (5, 33, 9), (33, 3, 2), (16, 16, 16), (2, 64, 5), (16, 40, 33))])
    run("conv2d_without_bias", [
        (nn.Conv2d(2, 3, 3, bias=False), (2, 2, 5, 4)),
        (nn.Conv2d(3, 6, 5, bias=False), (2, 3, 9, 8)),
        (nn.Conv2d(3, 4, 3, padding=1, bias=False), (3, 3, 6, 6)),
        (nn.Conv2d(4, 2, 1, bias=False), (5, 4, 3, 3)),
        (nn.Conv2d(2, 5, 2, stride=2, bias=False), (3, 2, 7, 6)),
        (nn.Conv2d(1, 3, 5, stride=2, padding=2, bias=False), (2, 1, 9, 7)),
        (nn.Conv2d(3, 2, 4, padding=3, bias=False), (1, 3, 3, 4)),
        (nn.Conv2d(1, 7, 2, padding=1, bias=False), (17, 1, 3, 2)),
        (nn.Conv2d(18, 17, 3, padding=1, bias=False), (2, 18, 4, 4)),
        (nn.Conv2d(17, 16, 3, stride=2, padding=1, bias=False), (3, 17, 5, 5)),
    ])
    run("max_pool2d", [
        (nn.MaxPool2d(2), (2, 3, 4, 6)),
        (nn.MaxPool2d(2), (3, 1, 5, 7)),
        (nn.MaxPool2d(3), (2, 2, 9, 6)),
        (nn.MaxPool2d(3, stride=1), (1, 2, 4, 5)),
        (nn.MaxPool2d(3, stride=2, padding=1), (4, 1, 7, 8)),
        (nn.MaxPool2d(2, stride=1), (17, 1, 3, 3)),
        (nn.MaxPool2d(2, padding=1), (2, 2, 4, 3)),
        (nn.MaxPool2d(1), (2, 3, 2, 2)),
        (nn.MaxPool2d(4, stride=3, padding=2), (1, 2, 9, 10)),
        (nn.MaxPool2d(2, stride=3), (3, 2, 8, 8)),
    ])
    run("avg_pool2d", [
        (nn.AvgPool2d(2), (2, 3, 4, 6)),
        (nn.AvgPool2d(2), (3, 1, 5, 7)),
        (nn.AvgPool2d(3), (2, 2, 9, 6)),
        (nn.AvgPool2d(3, stride=1), (1, 2, 4, 5)),
        (nn.AvgPool2d(3, stride=2, padding=1), (4, 1, 7, 8)),
        (nn.AvgPool2d(2, stride=1), (17, 1, 3, 3)),
        (nn.AvgPool2d(2, padding=1), (2, 2, 4, 3)),
        (nn.AvgPool2d(8), (2, 3, 8, 8)),
        (nn.AvgPool2d(17, stride=2, padding=8), (1, 2, 9, 20)),
        (nn.AvgPool2d(2, stride=3), (3, 2, 8, 8)),
    ])
    run("adaptive_avg_pool2d", [
        (nn.AdaptiveAvgPool2d((1, 1)), (2, 3, 4, 6)),
        (nn.AdaptiveAvgPool2d((1, 1)), (17, 4, 8, 8)),
        (nn.AdaptiveAvgPool2d((1, 1)), (3, 5, 1, 1)),
        (nn.AdaptiveAvgPool2d((2, 2)), (2, 3, 4, 4)),
        (nn.AdaptiveAvgPool2d((3, 2)), (4, 2, 7, 5)),
        (nn.AdaptiveAvgPool2d((7, 7)), (1, 2, 10, 15)),
        (nn.AdaptiveAvgPool2d((5, 4)), (2, 2, 3, 2)),
        (nn.AdaptiveAvgPool2d((1, 3)), (16, 1, 6, 8)),
        (nn.AdaptiveAvgPool2d((6, 1)), (3, 2, 9, 4)),
        (nn.AdaptiveAvgPool2d((2, 2)), (1, 1, 33, 37)),
    ])
    shapes = ((1, 1), (2, 7), (17, 5), (3, 33), (16, 16), (2, 129), (5, 6, 2), (2, 3, 4, 4), (1, 1, 5, 7), (4, 2, 3, 1))
    for kind, layer in (("relu", nn.ReLU), ("tanh", nn.Tanh), ("sigmoid", nn.Sigmoid)):
        run(kind, [(layer(), shape) for shape in shapes])
    run("softmax", [(nn.Softmax(dim=1), shape) for shape in
                    ((1, 1), (2, 10), (17, 3), (4, 33), (3, 100), (16, 5), (33, 2), (2, 3, 4), (1, 7, 2),
                     (5, 2, 3, 2))])
    run("log_softmax", [(nn.LogSoftmax(dim=1), shape) for shape in
                        ((1, 1), (2, 10), (17, 3), (4, 33), (3, 100), (16, 5), (33, 2), (2, 3, 4), (1, 7, 2),
                         (5, 2, 3, 2))])
    run("prelu", [(nn.PReLU(slopes), shape) for slopes, shape in
                  ((1, (1, 1)), (1, (2, 10)), (3, (17, 3)), (33, (4, 33)), (1, (3, 100)), (5, (16, 5)), (1, (33, 2)),
                   (3, (2, 3, 4)), (7, (1, 7, 2)), (2, (5, 2, 3, 2)))])
    run("layer_norm", [
        (nn.LayerNorm(5), (3, 5)),
        (nn.LayerNorm(4), (2, 3, 4)),
        (nn.LayerNorm((3, 4)), (17, 3, 4)),
        (nn.LayerNorm(33, eps=0.01), (4, 33)),
        (nn.LayerNorm((2, 3, 4)), (5, 2, 3, 4)),
        (nn.LayerNorm(6, bias=False), (16, 2, 6)),
        (nn.LayerNorm((2, 2), elementwise_affine=False), (3, 3, 2, 2)),
        (nn.LayerNorm(128), (2, 128)),
        (nn.LayerNorm(3), (33, 3)),
        (nn.LayerNorm(7), (1, 5, 7)),
    ])
    run("rms_norm", [
        (nn.RMSNorm(5, eps=1e-5), (3, 5)),
        (nn.RMSNorm(4, eps=1e-5), (2, 3, 4)),
        (nn.RMSNorm((3, 4), eps=1e-5), (17, 3, 4)),
        (nn.RMSNorm(33, eps=0.01), (4, 33)),
        (nn.RMSNorm((2, 3, 4), eps=1e-5), (5, 2, 3, 4)),
        (nn.RMSNorm(6, eps=1e-5), (16, 2, 6)),
        (nn.RMSNorm((2, 2), eps=1e-5, elementwise_affine=False), (3, 3, 2, 2)),
        (nn.RMSNorm(128, eps=1e-5), (2, 128)),
        (nn.RMSNorm(3, eps=1e-5), (33, 3)),
        (nn.RMSNorm(7, eps=1e-5), (1, 5, 7)),
    ])
    run("group_norm", [
        (nn.GroupNorm(2, 4), (3, 4, 5)),
        (nn.GroupNorm(1, 3), (2, 3, 4, 2)),
        (nn.GroupNorm(3, 9), (17, 9)),
        (nn.GroupNorm(2, 6, eps=0.01), (4, 6, 3, 3)),
        (nn.GroupNorm(4, 8, affine=False), (16, 8, 2, 1)),
        (nn.InstanceNorm2d(3), (2, 3, 4, 4)),
        (nn.InstanceNorm2d(2, affine=True), (5, 2, 3, 1)),
        (nn.InstanceNorm2d(1, eps=0.1), (17, 1, 2, 5)),
        (nn.InstanceNorm2d(4, affine=True), (1, 4, 6, 3)),
        (nn.GroupNorm(5, 5), (3, 5, 7)),
        (nn.InstanceNorm1d(3, affine=True), (2, 3, 5)),
        (nn.InstanceNorm3d(2, eps=0.1, affine=True), (3, 2, 3, 1, 4)),
    ])
    run("batch_norm1d", [
        (nn.BatchNorm1d(3), (4, 3)),
        (nn.BatchNorm1d(1), (5, 1)),
        (nn.BatchNorm1d(4), (17, 4)),
        (nn.BatchNorm1d(16, momentum=0.5), (6, 16)),
        (nn.BatchNorm1d(5, eps=0.01), (16, 5)),
        (nn.BatchNorm1d(2), (33, 2)),
        (nn.BatchNorm1d(8, momentum=None), (7, 8)),
        (nn.BatchNorm1d(2), (4, 2, 7)),
        (nn.BatchNorm1d(5), (3, 5, 4)),
        (nn.BatchNorm1d(3, momentum=1.0), (1, 3, 6)),
    ])
    run("batch_norm2d", [
        (nn.BatchNorm2d(3), (2, 3, 4, 4)),
        (nn.BatchNorm2d(2), (1, 2, 3, 3)),
        (nn.BatchNorm2d(1), (17, 1, 2, 2)),
        (nn.BatchNorm2d(4, momentum=0.5), (3, 4, 1, 5)),
        (nn.BatchNorm2d(2, eps=0.01), (5, 2, 3, 1)),
        (nn.BatchNorm2d(3), (4, 3, 2, 2)),
        (nn.BatchNorm2d(8, momentum=None), (2, 8, 3, 3)),
        (nn.BatchNorm2d(1), (3, 1, 7, 5)),
        (nn.BatchNorm2d(2), (16, 2, 2, 2)),
        (nn.BatchNorm2d(5, momentum=1.0), (2, 5, 6, 1)),
    ])
    run("glu", [
        (nn.GLU(), (3, 4)),
        (nn.GLU(), (2, 3, 6)),
        (nn.GLU(dim=1), (17, 4, 5)),
        (nn.GLU(dim=-2), (4, 2, 6, 3)),
        (nn.GLU(dim=2), (1, 3, 8, 2)),
        (nn.GLU(), (16, 32)),
        (nn.GLU(dim=1), (5, 2)),
        (nn.GLU(dim=-1), (33, 2, 2)),
        (nn.GLU(dim=1), (2, 34, 3, 3)),
        (nn.GLU(dim=3), (3, 2, 2, 10)),
    ])
    run_recurrent()
    run("permute", [
        (Permute(1, 0), (2, 3, 4)),
        (Permute(1, 0), (17, 33, 5)),
        (Permute(2, 0, 1), (3, 2, 3, 4)),
        (Permute(1, 2, 0), (2, 5, 4, 3)),
        (Permute(0, 2, 1), (16, 3, 2, 7)),
        (Permute(2, 1, 0), (1, 16, 3, 8)),
        (Permute(0, 1, 2), (3, 2, 2, 2)),
        (Permute(3, 1, 0, 2), (4, 2, 3, 4, 5)),
        (Permute(1, 0, 3, 2), (5, 3, 2, 1, 4)),
        (Permute(0), (4, 6)),
    ])
    run("reshape", [
        (nn.Unflatten(1, (2, 3)), (4, 6)),
        (nn.Unflatten(1, (6,)), (1, 6)),
        (nn.Unflatten(1, (2, -1, 2)), (17, 12)),
        (nn.Unflatten(1, (1, 5, 1, 2)), (3, 10)),
        (nn.Unflatten(1, (3, 4, 4)), (16, 48)),
        (Reshape(3, 2), (2, 6)),
        (Reshape(6, 4), (4, 2, 3, 4)),
        (Reshape(-1), (5, 3, 3)),
        (Reshape(2, -1), (3, 4, 5)),
        (Reshape(1, 7, 2), (33, 14)),
    ])
    run("zero_pad2d", [
        (nn.ZeroPad2d(1), (2, 3, 4, 5)),
        (nn.ZeroPad2d(2), (17, 1, 3, 3)),
        (nn.ZeroPad2d((1, 2, 3, 4)), (3, 2, 5, 4)),
        (nn.ZeroPad2d((0, 1, 0, 1)), (4, 3, 7, 7)),
        (nn.ZeroPad2d((0, 0, 2, 0)), (1, 2, 3, 1)),
        (nn.ZeroPad2d((3, 0, 0, 0)), (16, 1, 1, 6)),
        (nn.ZeroPad2d(0), (2, 2, 2, 2)),
        (nn.ZeroPad2d(5), (1, 1, 1, 1)),
        (nn.ZeroPad2d((0, 0, 0, 1)), (5, 4, 2, 3)),
        (nn.ZeroPad2d((7, 8, 1, 0)), (2, 1, 9, 2)),
    ])
    run("pixel_shuffle", [
        (nn.PixelShuffle(2), (2, 4, 3, 3)),
        (nn.PixelShuffle(2), (3, 8, 4, 5)),
        (nn.PixelShuffle(3), (17, 9, 2, 1)),
        (nn.PixelShuffle(3), (1, 18, 3, 4)),
        (nn.PixelShuffle(1), (4, 3, 2, 2)),
        (nn.PixelShuffle(4), (2, 16, 5, 3)),
        (nn.PixelShuffle(2), (16, 12, 1, 1)),
        (nn.PixelShuffle(5), (1, 25, 1, 2)),
        (nn.PixelShuffle(2), (5, 4, 7, 1)),
        (nn.PixelShuffle(2), (33, 4, 1, 6)),
    ])
    run("upsample", [
        (nn.Upsample(scale_factor=2), (2, 3, 4, 5)),
        (nn.Upsample(scale_factor=2), (17, 1, 1, 1)),
        (nn.Upsample(scale_factor=3), (3, 2, 2, 7)),
        (nn.Upsample(scale_factor=1), (4, 2, 3, 3)),
        (nn.Upsample(scale_factor=4), (1, 5, 3, 2)),
        (nn.Upsample(scale_factor=2), (16, 4, 2, 2)),
        (nn.Upsample(scale_factor=5), (2, 1, 1, 3)),
        (nn.Upsample(scale_factor=2), (5, 2, 7, 1)),
        (nn.Upsample(scale_factor=3), (1, 1, 9, 8)),
        (nn.Upsample(scale_factor=7), (2, 2, 2, 2)),
        (nn.Upsample(scale_factor=3), (3, 2, 5)),
        (nn.Upsample(scale_factor=2), (2, 2, 3, 1, 4)),
    ])
    run("bilinear", [
        (nn.Upsample(scale_factor=2, mode="bilinear"), (2, 3, 4, 5)),
        (nn.Upsample(scale_factor=2, mode="bilinear"), (17, 1, 1, 1)),
        (nn.Upsample(scale_factor=3, mode="bilinear"), (3, 2, 2, 7)),
        (nn.Upsample(scale_factor=1, mode="bilinear"), (4, 2, 3, 3)),
        (nn.Upsample(scale_factor=4, mode="bilinear"), (16, 5, 3, 2)),
        (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), (2, 3, 4, 5)),
        (nn.Upsample(scale_factor=3, mode="bilinear", align_corners=True), (17, 1, 1, 2)),
        (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), (5, 2, 7, 1)),
        (nn.Upsample(scale_factor=1, mode="bilinear", align_corners=True), (1, 1, 1, 4)),
        (nn.Upsample(scale_factor=5, mode="bilinear", align_corners=True), (3, 2, 3, 6)),
    ])
    run_cross_entropy(((1, 2), (2, 10), (4, 5), (17, 3), (3, 100), (16, 16), (33, 2), (5, 1), (7, 33), (8, 65)))
    run("max_pool2d_rectangular", [
        (nn.MaxPool2d((3, 2), stride=(2, 1), padding=(1, 0)), (2, 3, 6, 5)),
        (nn.MaxPool2d((2, 3)), (3, 1, 5, 7)),
        (nn.MaxPool2d((1, 3), stride=2), (2, 2, 9, 6)),
        (nn.MaxPool2d((3, 1), stride=1), (1, 2, 4, 5)),
        (nn.MaxPool2d(3, stride=(2, 1), padding=1), (4, 1, 7, 8)),
        (nn.MaxPool2d(2, stride=1, padding=(0, 1)), (17, 1, 3, 4)),
        (nn.MaxPool2d((4, 3), padding=(2, 1)), (2, 2, 4, 3)),
        (nn.MaxPool2d(2, stride=(1, 2)), (2, 3, 2, 2)),
        (nn.MaxPool2d((5, 4), stride=(3, 2), padding=(0, 2)), (1, 2, 9, 10)),
        (nn.MaxPool2d((2, 8), stride=(3, 1)), (3, 2, 8, 8)),
    ])
    run("avg_pool2d_rectangular", [
        (nn.AvgPool2d((3, 2), stride=(2, 1), padding=(1, 0)), (2, 3, 6, 5)),
        (nn.AvgPool2d((2, 3)), (3, 1, 5, 7)),
        (nn.AvgPool2d((1, 3), stride=2), (2, 2, 9, 6)),
        (nn.AvgPool2d((3, 1), stride=1), (1, 2, 4, 5)),
        (nn.AvgPool2d(3, stride=(2, 1), padding=1), (4, 1, 7, 8)),
        (nn.AvgPool2d(2, stride=1, padding=(0, 1)), (17, 1, 3, 4)),
        (nn.AvgPool2d((4, 3), padding=(2, 1)), (2, 2, 4, 3)),
        (nn.AvgPool2d(2, stride=(1, 2)), (2, 3, 2, 2)),
        (nn.AvgPool2d((5, 4), stride=(3, 2), padding=(0, 2)), (1, 2, 9, 10)),
        (nn.AvgPool2d((2, 8), stride=(3, 1)), (3, 2, 8, 8)),
    ])
    run("max_pool2d_ceil", [
        (nn.MaxPool2d(2, ceil_mode=True), (2, 3, 5, 7)),
        (nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True), (3, 1, 5, 7)),
        (nn.MaxPool2d(3, stride=2, ceil_mode=True), (2, 2, 9, 6)),
        (nn.MaxPool2d(3, stride=3, padding=1, ceil_mode=True), (1, 2, 4, 5)),
        (nn.MaxPool2d(2, stride=3, padding=1, ceil_mode=True), (4, 1, 6, 8)),
        (nn.MaxPool2d(2, stride=3, ceil_mode=True), (17, 1, 3, 4)),
        (nn.MaxPool2d((4, 3), stride=(3, 2), padding=(2, 1), ceil_mode=True), (2, 2, 4, 3)),
        (nn.MaxPool2d(3, ceil_mode=True), (2, 3, 2, 2)),
        (nn.MaxPool2d((5, 4), stride=(4, 3), padding=(0, 2), ceil_mode=True), (1, 2, 8, 10)),
        (nn.MaxPool2d(2, ceil_mode=True), (3, 2, 8, 8)),
    ])
    run("avg_pool2d_ceil", [
        (nn.AvgPool2d(2, ceil_mode=True), (2, 3, 5, 7)),
        (nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True), (3, 1, 5, 7)),
        (nn.AvgPool2d(3, stride=2, ceil_mode=True), (2, 2, 9, 6)),
        (nn.AvgPool2d(3, stride=3, padding=1, ceil_mode=True), (1, 2, 4, 5)),
        (nn.AvgPool2d(2, stride=3, padding=1, ceil_mode=True), (4, 1, 6, 8)),
        (nn.AvgPool2d(2, stride=3, ceil_mode=True), (17, 1, 3, 4)),
        (nn.AvgPool2d((4, 3), stride=(3, 2), padding=(2, 1), ceil_mode=True), (2, 2, 4, 3)),
        (nn.AvgPool2d(3, ceil_mode=True), (2, 3, 2, 2)),
        (nn.AvgPool2d((5, 4), stride=(4, 3), padding=(0, 2), ceil_mode=True), (1, 2, 8, 10)),
        (nn.AvgPool2d(2, ceil_mode=True), (3, 2, 8, 8)),
    ])
    run("avg_pool2d_without_padding", [
        (nn.AvgPool2d(2, padding=1, count_include_pad=False), (2, 3, 4, 6)),
        (nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False), (3, 1, 5, 7)),
        (nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False), (2, 2, 9, 6)),
        (nn.AvgPool2d(5, stride=1, padding=2, ceil_mode=True, count_include_pad=False), (1, 2, 4, 5)),
        (nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False), (4, 1, 7, 8)),
        (nn.AvgPool2d(2, count_include_pad=False), (17, 1, 3, 3)),
        (nn.AvgPool2d((3, 2), stride=(2, 1), padding=(1, 0), count_include_pad=False), (2, 2, 4, 3)),
        (nn.AvgPool2d(4, stride=4, padding=2, count_include_pad=False), (16, 3, 3, 3)),
        (nn.AvgPool2d(17, stride=2, padding=8, count_include_pad=False), (1, 2, 9, 20)),
        (nn.AvgPool2d(2, stride=3, padding=1, ceil_mode=True, count_include_pad=False), (3, 2, 6, 8)),
    ])
    run("max_pool1d", [
        (nn.MaxPool1d(2), (2, 3, 6)),
        (nn.MaxPool1d(3, stride=1), (3, 1, 7)),
        (nn.MaxPool1d(3, stride=2, padding=1), (2, 2, 9)),
        (nn.MaxPool1d(2, ceil_mode=True), (1, 2, 5)),
        (nn.MaxPool1d(4, stride=3, padding=2, ceil_mode=True), (4, 1, 8)),
        (nn.MaxPool1d(1), (17, 1, 3)),
        (nn.MaxPool1d(17, stride=2, padding=8), (2, 2, 40)),
        (nn.MaxPool1d(2, stride=3, padding=1, ceil_mode=True), (16, 3, 6)),
        (nn.MaxPool1d(2), (1, 5, 33)),
        (nn.MaxPool1d(3, ceil_mode=True), (3, 2, 2)),
    ])
    run("avg_pool1d", [
        (nn.AvgPool1d(2), (2, 3, 6)),
        (nn.AvgPool1d(3, stride=1), (3, 1, 7)),
        (nn.AvgPool1d(3, stride=2, padding=1), (2, 2, 9)),
        (nn.AvgPool1d(2, ceil_mode=True), (1, 2, 5)),
        (nn.AvgPool1d(4, stride=3, padding=2, ceil_mode=True), (4, 1, 8)),
        (nn.AvgPool1d(1), (17, 1, 3)),
        (nn.AvgPool1d(17, stride=2, padding=8, count_include_pad=False), (2, 2, 40)),
        (nn.AvgPool1d(2, stride=3, padding=1, ceil_mode=True, count_include_pad=False), (16, 3, 6)),
        (nn.AvgPool1d(2), (1, 5, 33)),
        (nn.AvgPool1d(3, ceil_mode=True), (3, 2, 2)),
    ])
    run("adaptive_avg_pool1d", [
        (nn.AdaptiveAvgPool1d(1), (2, 3, 6)),
        (nn.AdaptiveAvgPool1d(1), (17, 4, 8)),
        (nn.AdaptiveAvgPool1d(1), (3, 5, 1)),
        (nn.AdaptiveAvgPool1d(2), (2, 3, 4)),
        (nn.AdaptiveAvgPool1d(3), (4, 2, 7)),
        (nn.AdaptiveAvgPool1d(7), (1, 2, 15)),
        (nn.AdaptiveAvgPool1d(5), (2, 2, 3)),
        (nn.AdaptiveAvgPool1d(3), (16, 1, 8)),
        (nn.AdaptiveAvgPool1d(6), (3, 2, 4)),
        (nn.AdaptiveAvgPool1d(2), (1, 1, 37)),
    ])
    run("conv2d_of_options", [
        (nn.Conv2d(4, 6, 3, groups=2), (2, 4, 5, 4)),
        (nn.Conv2d(5, 5, 3, padding=1, groups=5), (17, 5, 4, 6)),
        (nn.Conv2d(3, 12, 3, stride=2, padding=1, groups=3), (3, 3, 7, 8)),
        (nn.Conv2d(2, 7, 3, padding=2, dilation=2), (4, 2, 6, 5)),
        (nn.Conv2d(3, 4, (1, 5), padding=(0, 2)), (2, 3, 3, 7)),
        (nn.Conv2d(2, 3, (4, 2), stride=(1, 3), padding=(2, 0), dilation=(1, 2), bias=False), (5, 2, 5, 9)),
        (nn.Conv2d(4, 4, 4, padding="same", groups=2), (1, 4, 3, 5)),
        (nn.Conv2d(2, 3, 3, padding="same"), (3, 2, 4, 4)),
        (nn.Conv2d(2, 2, (2, 3), padding="same", dilation=(3, 1)), (16, 2, 5, 3)),
        (nn.Conv2d(8, 12, 1, stride=2, groups=4), (2, 8, 3, 3)),
    ])
    run("conv1d", [
        (nn.Conv1d(2, 3, 3), (2, 2, 7)),
        (nn.Conv1d(3, 8, 5, padding=2), (17, 3, 9)),
        (nn.Conv1d(4, 6, 4, stride=2, padding=1), (3, 4, 12)),
        (nn.Conv1d(2, 5, 3, padding=4, dilation=4), (4, 2, 10)),
        (nn.Conv1d(6, 6, 3, padding=1, groups=6), (5, 6, 8)),
        (nn.Conv1d(4, 10, 2, stride=3, groups=2, bias=False), (2, 4, 11)),
        (nn.Conv1d(3, 4, 4, padding="same"), (1, 3, 33)),
        (nn.Conv1d(16, 16, 1), (16, 16, 2)),
        (nn.Conv1d(1, 1, 1), (1, 1, 1)),
        (nn.Conv1d(1, 2, 21, stride=2, padding=10), (33, 1, 20)),
    ])
    run("conv_transpose1d", [
        (nn.ConvTranspose1d(2, 3, 3), (2, 2, 5)),
        (nn.ConvTranspose1d(3, 8, 2, stride=2), (17, 3, 4)),
        (nn.ConvTranspose1d(4, 6, 4, stride=2, padding=1), (3, 4, 6)),
        (nn.ConvTranspose1d(2, 5, 3, dilation=2, padding=1), (4, 2, 7)),
        (nn.ConvTranspose1d(6, 6, 3, stride=2, padding=1, output_padding=1, groups=6), (5, 6, 4)),
        (nn.ConvTranspose1d(4, 10, 2, stride=3, groups=2, bias=False), (2, 4, 3)),
        (nn.ConvTranspose1d(3, 4, 5, stride=4, output_padding=3), (1, 3, 8)),
        (nn.ConvTranspose1d(16, 8, 1), (16, 16, 2)),
        (nn.ConvTranspose1d(1, 1, 1), (1, 1, 1)),
        (nn.ConvTranspose1d(1, 2, 9, stride=3, padding=4, output_padding=2), (33, 1, 5)),
    ])
    run("conv_transpose2d", [
        (nn.ConvTranspose2d(2, 3, 3), (2, 2, 3, 4)),
        (nn.ConvTranspose2d(3, 4, 2, stride=2), (17, 3, 3, 2)),
        (nn.ConvTranspose2d(4, 6, 4, stride=2, padding=1), (3, 4, 3, 3)),
        (nn.ConvTranspose2d(2, 5, 3, stride=2, padding=1, output_padding=1), (4, 2, 3, 4)),
        (nn.ConvTranspose2d(4, 4, 3, stride=2, padding=1, groups=4), (5, 4, 2, 3)),
        (nn.ConvTranspose2d(4, 6, 2, dilation=2, groups=2, bias=False), (2, 4, 4, 3)),
        (nn.ConvTranspose2d(3, 2, (3, 2), stride=(1, 3), padding=(1, 0), output_padding=(0, 2)), (1, 3, 5, 4)),
        (nn.ConvTranspose2d(9, 8, 1), (16, 9, 2, 2)),
        (nn.ConvTranspose2d(2, 3, 1, stride=2), (3, 2, 3, 3)),
        (nn.ConvTranspose2d(1, 2, (1, 5), padding=(0, 2), dilation=(1, 2)), (33, 1, 2, 6)),
    ])
    # In float: half the bytes, and no last bit that another processor's sums would change.
    sys.stdout.buffer.write(save({name: value.float().contiguous() for name, value in results.items()}))


if __name__ == "__main__":
    main()
