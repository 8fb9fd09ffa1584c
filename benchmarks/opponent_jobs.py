"""The jobs of jobs.cpp for PyTorch, with the same networks and numbers.

A job has `ways`, the choices that it can be run with, start(choice=value...) and run(steps), which leaves `value`.
"""

import time

import torch
from torch import nn

VOCABULARY, LENGTH = 65, 64  # of the language models


def spread(numbers):
    """Numbers from 0 to 2^32, the same as spread() in work.hpp."""
    return numbers * 2654435761 % 2**32


def range_of(sizes):
    return torch.arange(torch.Size(sizes).numel()).reshape(sizes)


def spread_values(*sizes):
    return (spread(range_of(sizes)).double() / 2147483648 - 1).float()


def spread_squares(*sizes):
    return (spread(range_of(sizes)**2).double() / 2147483648 - 1).float()


def spread_classes(classes, *sizes):
    return (spread(range_of(sizes)) >> 16) % classes


def images(batch):
    return spread_values(batch, 3, 32, 32)


def characters(batch):
    return spread_classes(VOCABULARY, batch, LENGTH)


def convolution(inputs, outputs, kernel, padding=0):
    return [nn.Conv2d(inputs, outputs, kernel, padding=padding), nn.ReLU()]


def linears(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return layers[:-1]


def iris():
    return nn.Sequential(*linears(4, 8, 9, 3))


def lenet():
    return nn.Sequential(*convolution(3, 6, 5), nn.MaxPool2d(2), *convolution(6, 16, 5), nn.MaxPool2d(2),
                         nn.Flatten(), *linears(400, 120, 84, 10))


def cnn():
    return nn.Sequential(*convolution(3, 6, 5), nn.MaxPool2d(2), *convolution(6, 16, 5, padding=3),
                         *convolution(16, 16, 5), nn.MaxPool2d(2), *convolution(16, 16, 3), nn.MaxPool2d(2),
                         nn.Flatten(), *linears(64, 120, 84, 10))


def mlp():
    return nn.Sequential(*linears(784, 512, 512, 10))


def vgg():
    return nn.Sequential(*convolution(3, 64, 3, 1), *convolution(64, 64, 3, 1), nn.MaxPool2d(2),
                         *convolution(64, 128, 3, 1), *convolution(128, 128, 3, 1), nn.MaxPool2d(2),
                         nn.Flatten(), *linears(8192, 256, 10))


def regression():
    return nn.Sequential(*linears(16, 64, 64, 1))


def convolution_and_norm(inputs, outputs, kernel, stride=1, groups=1):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(outputs)]


class BasicBlock(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.branch = nn.Sequential(*convolution_and_norm(inputs, channels, 3, stride), nn.ReLU(inplace=True),
                                    *convolution_and_norm(channels, channels, 3))
        self.shortcut = nn.Sequential(*convolution_and_norm(inputs, channels, 1, stride) if stride > 1 else [])
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.branch(x) + self.shortcut(x))


def resnet20():
    layers, inputs = [*convolution_and_norm(3, 16, 3), nn.ReLU(inplace=True)], 16
    for channels in 16, 32, 64:
        for _ in range(3):
            layers.append(BasicBlock(inputs, channels, channels // inputs))
            inputs = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class MobileNetBlock(nn.Module):
    def __init__(self, channels, wide):
        super().__init__()
        self.branch = nn.Sequential(*convolution_and_norm(channels, wide, 1), nn.ReLU6(inplace=True),
                                    *convolution_and_norm(wide, wide, 3, groups=wide), nn.ReLU6(inplace=True),
                                    *convolution_and_norm(wide, channels, 1))

    def forward(self, x):
        return x + self.branch(x)


def mobilenet():
    return MobileNetBlock(32, 192)


def resnet18():
    layers, inputs = [*convolution_and_norm(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
    for channels in 64, 128, 256, 512:
        for _ in range(2):
            layers.append(BasicBlock(inputs, channels, channels // inputs))
            inputs = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, channels, stride, expansion):
        super().__init__()
        wide = inputs * expansion
        layers = [*convolution_and_norm(inputs, wide, 1), nn.ReLU6(inplace=True)] if expansion > 1 else []
        self.branch = nn.Sequential(*layers, *convolution_and_norm(wide, wide, 3, stride, wide), nn.ReLU6(inplace=True),
                                    *convolution_and_norm(wide, channels, 1))
        self.adds = stride == 1 and inputs == channels

    def forward(self, x):
        return x + self.branch(x) if self.adds else self.branch(x)


def mobilenet_v2():
    layers, inputs = [*convolution_and_norm(3, 32, 3, 2), nn.ReLU6(inplace=True)], 32
    for expansion, channels, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                                (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            layers.append(InvertedResidual(inputs, channels, 1 if block else stride, expansion))
            inputs = channels
    return nn.Sequential(*layers, *convolution_and_norm(320, 1280, 1), nn.ReLU6(inplace=True), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(1280, 1000))


def double_conv(inputs, channels):
    return nn.Sequential(*convolution_and_norm(inputs, channels, 3), nn.ReLU(inplace=True),
                         *convolution_and_norm(channels, channels, 3), nn.ReLU(inplace=True))


class UNetLevel(nn.Module):
    def __init__(self, inputs, channels, levels):
        super().__init__()
        self.encoder, self.pool = double_conv(inputs, channels), nn.MaxPool2d(2)
        self.below = UNetLevel(channels, 2 * channels, levels - 1) if levels > 1 else double_conv(channels, 2 * channels)
        self.up = nn.ConvTranspose2d(2 * channels, channels, 2, 2)
        self.decoder = double_conv(2 * channels, channels)

    def forward(self, x):
        down = self.encoder(x)
        return self.decoder(torch.cat([self.up(self.below(self.pool(down))), down], 1))


def unet():
    return nn.Sequential(UNetLevel(3, 32, 4), nn.Conv2d(32, 1, 1), nn.Sigmoid())


class CharLSTM(nn.Module):
    def __init__(self, width, hidden, layers):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.lstm = nn.LSTM(width, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, VOCABULARY)

    def forward(self, x):
        return self.head(self.lstm(self.embed(x))[0]).transpose(1, 2)


def lstm():
    return CharLSTM(64, 128, 2)


class CharTransformer(nn.Module):
    def __init__(self, width, heads, feed_forward, layers):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.position = nn.Embedding(LENGTH, width)
        layer = nn.TransformerEncoderLayer(width, heads, feed_forward, 0.0, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, VOCABULARY)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, x):
        y = self.encoder(self.embed(x) + self.position.weight, self.mask, is_causal=True)
        return self.head(y).transpose(1, 2)


def transformer():
    return CharTransformer(128, 4, 512, 3)


def twice(form, *sizes, channels=64, **options):
    """Two convolutions of a class like nn.Conv2d."""
    return lambda: nn.Sequential(*(form(channels, channels, *sizes, **options) for _ in range(2)))


def momentum(parameters, **how):
    return torch.optim.SGD(parameters, lr=0.001, momentum=0.9, **how)


def adam(lr):
    return lambda parameters, **how: torch.optim.Adam(parameters, lr=lr, **how)


def wall_time(run, steps):
    """Milliseconds of run(steps)."""
    begin = time.perf_counter()
    run(steps)
    return 1e3 * (time.perf_counter() - begin)


def layouts(inputs):
    """The memory formats to try: two for images, none for other inputs."""
    return {"layout": ["contiguous", "channels_last"]} if inputs.dim() == 4 else {}


def in_layout(layout, tensor):
    """Images in a memory format; other tensors unchanged."""
    has_choice = layout == "channels_last" and tensor.dim() == 4
    return tensor.contiguous(memory_format=torch.channels_last) if has_choice else tensor


def make_model(network, layout):
    torch.manual_seed(0)
    model = network()
    return model.to(memory_format=torch.channels_last) if layout == "channels_last" else model


class Training:
    """Steps of a network on one batch, each with forward, loss, backward and update. The targets are labels, or numbers
    for MSELoss."""

    ways = {"optimizer": [{}, {"foreach": True}, {"fused": True}]}

    def __init__(self, network, optimizer, inputs, targets):
        self.network, self.make_optimizer, self.inputs, self.targets = network, optimizer, inputs, targets
        self.criterion = nn.MSELoss() if targets.is_floating_point() else nn.CrossEntropyLoss()
        self.ways = {**layouts(inputs), **self.ways}

    def start(self, optimizer={}, layout="contiguous"):
        self.model = make_model(self.network, layout)
        self.inputs, self.targets = in_layout(layout, self.inputs), in_layout(layout, self.targets)
        self.optimizer = self.make_optimizer(self.model.parameters(), **optimizer)

    def run(self, steps):
        model, criterion, optimizer = self.model, self.criterion, self.optimizer
        inputs, targets = self.inputs, self.targets
        for _ in range(steps):
            optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            loss.backward()
            optimizer.step()
        self.value = loss.item()

    def time(self, steps):
        return wall_time(self.run, steps)


class Inference:
    """The network's output for one sample, which is copied each time."""

    def __init__(self, network, inputs):
        self.network, self.inputs, self.ways = network, inputs, layouts(inputs)

    def start(self, layout="contiguous"):
        self.model = make_model(self.network, layout).eval()
        self.inputs = in_layout(layout, self.inputs)
        with torch.inference_mode():
            sizes = self.model(self.inputs).shape
        self.output = torch.empty(sizes)

    def run(self, steps):
        model, inputs, output = self.model, self.inputs, self.output
        with torch.inference_mode():
            for _ in range(steps):
                output.copy_(model(inputs))

    @property
    def value(self):
        """The sum of all outputs, each with a weight of its own."""
        return (self.output.double() * spread_squares(*self.output.shape)).sum().item()

    def time(self, steps):
        return wall_time(self.run, steps)


class Product:
    """C = A B, by PyTorch or by numpy's OpenBLAS."""

    def __init__(self, n):
        self.a, self.b = spread_values(n, n), spread_values(n, n).t().contiguous()
        self.c = torch.zeros(n, n)
        self.ways = {"library": ["torch", "numpy"] if numpy() else ["torch"]}

    def start(self, library="torch"):
        self.library = library

    def run(self, steps):
        if self.library == "numpy":
            product, a, b, c = numpy().matmul, self.a.numpy(), self.b.numpy(), self.c.numpy()
        else:
            product, a, b, c = torch.mm, self.a, self.b, self.c
        for _ in range(steps):
            product(a, b, out=c)
        self.value = self.c[0, 1].item()

    def time(self, steps):
        return wall_time(self.run, steps)


class TensorFunction:
    """A function of two tensors of one shape, which may be written in several forms."""

    def __init__(self, sizes, **forms):
        self.forms, self.a, self.b = forms, spread_values(*sizes), spread_squares(*sizes)
        self.ways = {"form": list(forms)}

    def start(self, form):
        self.compute = self.forms[form]

    def run(self, steps):
        with torch.inference_mode():
            for _ in range(steps):
                result = self.compute(self.a, self.b)
        self.value = result.mean().item()

    def time(self, steps):
        return wall_time(self.run, steps)


def chain(*sizes):
    return TensorFunction(sizes, plain=lambda a, b: torch.sqrt(torch.abs(a * b + 2.5) - b),
                          in_place=lambda a, b: (a * b).add_(2.5).abs_().sub_(b).sqrt_())


def convolution_training(network, inputs):
    with torch.inference_mode():
        sizes = network()(inputs).shape
    return Training(network, momentum, inputs, spread_squares(*sizes))


def numpy():
    """The module, or None where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


JOBS = {
    "iris": lambda: Training(iris, adam(0.01), spread_values(120, 4), spread_classes(3, 120)),
    "lenet_b4": lambda: Training(lenet, momentum, images(4), spread_classes(10, 4)),
    "lenet_b256": lambda: Training(lenet, momentum, images(256), spread_classes(10, 256)),
    "cnn_b256": lambda: Training(cnn, adam(0.001), images(256), spread_classes(10, 256)),
    "mlp_b64": lambda: Training(mlp, momentum, spread_values(64, 784), spread_classes(10, 64)),
    "mlp_b512": lambda: Training(mlp, momentum, spread_values(512, 784), spread_classes(10, 512)),
    "vgg_b32": lambda: Training(vgg, momentum, images(32), spread_classes(10, 32)),
    "regression_b64": lambda: Training(regression, adam(0.001), spread_values(64, 16), spread_squares(64, 1)),
    "resnet20_b128": lambda: Training(resnet20, momentum, images(128), spread_classes(10, 128)),
    "mobilenet_b32": lambda: Training(mobilenet, momentum, spread_values(32, 32, 28, 28),
                                      spread_squares(32, 32, 28, 28)),
    "lstm_b32": lambda: Training(lstm, adam(0.001), characters(32), characters(32)),
    "transformer_b32": lambda: Training(transformer, adam(0.001), characters(32), characters(32)),
    "lenet_infer_b1": lambda: Inference(lenet, images(1)),
    "mlp_infer_b1": lambda: Inference(mlp, spread_values(1, 784)),
    "regression_infer_b1": lambda: Inference(regression, spread_values(1, 16)),
    "resnet20_infer_b1": lambda: Inference(resnet20, images(1)),
    "mobilenet_infer_b1": lambda: Inference(mobilenet, spread_values(1, 32, 28, 28)),
    "lstm_infer_b1": lambda: Inference(lstm, characters(1)),
    "transformer_infer_b1": lambda: Inference(transformer, characters(1)),
    "gemm_256": lambda: Product(256),
    "gemm_1024": lambda: Product(1024),
    "gemm_2048": lambda: Product(2048),
    "tensor_chain": lambda: chain(1000000),
    "tensor_small": lambda: chain(32),
    "tensor_row_sums": lambda: TensorFunction((1024, 1024), plain=lambda a, b: a.sum(1)),
    "tensor_column_sums": lambda: TensorFunction((1024, 1024), plain=lambda a, b: a.sum(0)),
    "tensor_matmul": lambda: TensorFunction((256, 256), plain=lambda a, b: a @ b),
    "tensor_sort": lambda: TensorFunction((1000000,), plain=lambda a, b: a.sort().values),
    "resnet18_b8": lambda: Training(resnet18, momentum, spread_values(8, 3, 224, 224), spread_classes(1000, 8)),
    "resnet18_b16": lambda: Training(resnet18, momentum, spread_values(16, 3, 224, 224), spread_classes(1000, 16)),
    "resnet18_infer_b1": lambda: Inference(resnet18, spread_values(1, 3, 224, 224)),
    "mobilenet_v2_b8": lambda: Training(mobilenet_v2, momentum, spread_values(8, 3, 224, 224), spread_classes(1000, 8)),
    "mobilenet_v2_infer_b1": lambda: Inference(mobilenet_v2, spread_values(1, 3, 224, 224)),
    "unet_b2": lambda: Training(unet, momentum, spread_values(2, 3, 256, 256), spread_squares(2, 1, 256, 256)),
    "unet_infer_b1": lambda: Inference(unet, spread_values(1, 3, 256, 256)),
    "conv_square": lambda: convolution_training(twice(nn.Conv2d, 3, padding=1), spread_values(16, 64, 28, 28)),
    "conv_square_forward": lambda: Inference(twice(nn.Conv2d, 3, padding=1), spread_values(16, 64, 28, 28)),
    "conv_kernel_3x5": lambda: convolution_training(twice(nn.Conv2d, (3, 5), padding=(1, 2)), spread_values(16, 64, 28, 28)),
    "conv_kernel_3x5_forward": lambda: Inference(twice(nn.Conv2d, (3, 5), padding=(1, 2)), spread_values(16, 64, 28, 28)),
    "conv_padding_1x0": lambda: convolution_training(twice(nn.Conv2d, 3, padding=(1, 0)), spread_values(16, 64, 28, 28)),
    "conv_padding_1x0_forward": lambda: Inference(twice(nn.Conv2d, 3, padding=(1, 0)), spread_values(16, 64, 28, 28)),
    "conv_stride_2": lambda: convolution_training(twice(nn.Conv2d, 3, stride=2, padding=1), spread_values(16, 64, 28, 28)),
    "conv_stride_2_forward": lambda: Inference(twice(nn.Conv2d, 3, stride=2, padding=1), spread_values(16, 64, 28, 28)),
    "conv_groups_2": lambda: convolution_training(twice(nn.Conv2d, 3, padding=1, groups=2), spread_values(16, 64, 28, 28)),
    "conv_groups_2_forward": lambda: Inference(twice(nn.Conv2d, 3, padding=1, groups=2), spread_values(16, 64, 28, 28)),
    "conv_depthwise": lambda: convolution_training(twice(nn.Conv2d, 3, padding=1, groups=64), spread_values(16, 64, 28, 28)),
    "conv_depthwise_forward": lambda: Inference(twice(nn.Conv2d, 3, padding=1, groups=64), spread_values(16, 64, 28, 28)),
    "conv_1x1": lambda: convolution_training(twice(nn.Conv2d, 1), spread_values(16, 64, 28, 28)),
    "conv_1x1_forward": lambda: Inference(twice(nn.Conv2d, 1), spread_values(16, 64, 28, 28)),
    "conv_dilated": lambda: convolution_training(twice(nn.Conv2d, 3, padding=2, dilation=2), spread_values(16, 64, 28, 28)),
    "conv_dilated_forward": lambda: Inference(twice(nn.Conv2d, 3, padding=2, dilation=2), spread_values(16, 64, 28, 28)),
    "conv_1d": lambda: convolution_training(twice(nn.Conv1d, 3, padding=1), spread_values(16, 64, 1024)),
    "conv_1d_forward": lambda: Inference(twice(nn.Conv1d, 3, padding=1), spread_values(16, 64, 1024)),
    "conv_1d_dilated": lambda: convolution_training(twice(nn.Conv1d, 3, padding=8, dilation=8), spread_values(16, 64, 1024)),
    "conv_1d_dilated_forward": lambda: Inference(twice(nn.Conv1d, 3, padding=8, dilation=8), spread_values(16, 64, 1024)),
    "conv_transposed_2x2": lambda: convolution_training(twice(nn.ConvTranspose2d, 2, stride=2), spread_values(16, 64, 14, 14)),
    "conv_transposed_2x2_forward": lambda: Inference(twice(nn.ConvTranspose2d, 2, stride=2), spread_values(16, 64, 14, 14)),
    "conv_transposed_4x4": lambda: convolution_training(twice(nn.ConvTranspose2d, 4, stride=2, padding=1), spread_values(16, 64, 14, 14)),
    "conv_transposed_4x4_forward": lambda: Inference(twice(nn.ConvTranspose2d, 4, stride=2, padding=1), spread_values(16, 64, 14, 14)),
    "conv_3d": lambda: convolution_training(twice(nn.Conv3d, 3, padding=1, channels=32), spread_values(16, 32, 8, 28, 28)),
    "conv_3d_forward": lambda: Inference(twice(nn.Conv3d, 3, padding=1, channels=32), spread_values(16, 32, 8, 28, 28)),
}
