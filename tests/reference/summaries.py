"""Prints summaries.txt: what torchinfo says of networks, number by number and as its table, and how PyTorch prints them.

Usage: see regenerate.sh     (PyTorch 2.15, torchinfo 1.8)

The texts of a network are
NAME.layers   for each layer its class, path, input and output size, parameters, multiply-adds, and the bytes of outputs and parameters
NAME.totals   total_params, trainable_params, total_mult_adds, total_output_bytes and total_param_bytes
NAME.table    as torchinfo.summary prints it with columns of 20 characters
NAME.repr     as PyTorch prints the network
"""

from collections import OrderedDict

import torch
import torchinfo
from torch import nn

from common import write_text


def sequential(*layers):
    """Of layers and (name, layer); a layer without a name is called by its position."""
    pairs = [layer if isinstance(layer, tuple) else (str(i), layer) for i, layer in enumerate(layers)]
    return nn.Sequential(OrderedDict(pairs))


def lenet():
    return sequential(("conv1", nn.Conv2d(3, 6, 5)), nn.ReLU(), nn.MaxPool2d(2),
                      ("conv2", nn.Conv2d(6, 16, 5)), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                      ("fc1", nn.Linear(400, 120)), nn.ReLU(), ("fc2", nn.Linear(120, 84)), nn.ReLU(),
                      ("fc3", nn.Linear(84, 10)))


def iris():
    return sequential(("fc1", nn.Linear(4, 8)), nn.ReLU(), ("fc2", nn.Linear(8, 9)), nn.ReLU(),
                      ("out", nn.Linear(9, 3)))


def normalized():
    """Every layer that lenet() has not, and every option."""
    return sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8, momentum=None), nn.ReLU(),
                      nn.MaxPool2d(3, stride=2, padding=1), nn.Flatten(), nn.Linear(8 * 8 * 8, 10),
                      ("a_norm_with_a_name_that_is_long", nn.BatchNorm1d(10, eps=0.0001, momentum=0.25)), nn.Softmax(1))


def wide():
    return sequential(nn.Conv2d(64, 512, 3, padding=1), nn.BatchNorm2d(512), nn.Flatten(), nn.Linear(524288, 5000))


def nested():
    """Blocks of layers, one of them in another, and layers without a name behind them."""
    return sequential(("features", sequential(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2),
                                              ("deep", sequential(nn.Conv2d(6, 16, 5), ("act", nn.ReLU()))),
                                              nn.MaxPool2d(2))),
                      nn.Flatten(), sequential(nn.Linear(400, 84), nn.ReLU()), nn.Linear(84, 10))


def convolutions():
    """Groups, dilation, rectangles and transposed convolutions."""
    return sequential(nn.Conv2d(4, 8, 3, padding=1, groups=4), nn.Conv2d(8, 6, (3, 2), padding="same", dilation=2),
                      nn.ConvTranspose2d(6, 4, 3, stride=2, padding=1, output_padding=1, groups=2),
                      nn.ConvTranspose2d(4, 3, (2, 3), stride=(2, 1), padding=(0, 1), bias=False))


def rows():
    return sequential(nn.Conv1d(4, 6, 3, stride=2, dilation=2, groups=2),
                      nn.ConvTranspose1d(6, 4, 4, stride=2, padding=1, bias=False))


def print_summary(name, net, size, dtype=torch.float):
    result = torchinfo.summary(net.to(dtype), input_size=size, dtypes=[dtype], device=next(net.parameters()).device,
                               col_names=("output_size", "num_params", "mult_adds"), col_width=20,
                               row_settings=("depth", "var_names"), verbose=0)
    text = str(result)
    for unit in torchinfo.enums.Units:
        text = text.replace(f"({unit})", f"({unit.value})")  # Python 3.11 and later spell the name of the enumerator
    rows = []
    for layer in result.summary_list[1:]:
        if layer.class_name == "Sequential":
            continue
        path, parent = layer.var_name, layer.parent_info
        while parent.parent_info:
            path, parent = f"{parent.var_name}.{path}", parent.parent_info
        sizes = ["x".join(map(str, size)) for size in (layer.input_size, layer.output_size)]
        counts = [layer.num_params, layer.macs, layer.output_bytes, layer.param_bytes]
        rows.append(" ".join(map(str, [layer.class_name, path, *sizes, *counts])))
    totals = "total_params", "trainable_params", "total_mult_adds", "total_output_bytes", "total_param_bytes"
    write_text(f"{name}.layers", "\n".join(rows))
    write_text(f"{name}.totals", " ".join(str(getattr(result, total)) for total in totals))
    write_text(f"{name}.table", text)
    write_text(f"{name}.repr", net)


if __name__ == "__main__":
    print_summary("lenet_of_1", lenet(), (1, 3, 32, 32))
    print_summary("lenet_of_4", lenet(), (4, 3, 32, 32))
    print_summary("lenet_of_doubles", lenet(), (256, 3, 32, 32), torch.double)
    print_summary("iris_of_120", iris(), (120, 4))
    print_summary("nested_of_8", nested(), (8, 3, 32, 32))
    print_summary("normalized_of_64", normalized(), (64, 3, 32, 32))
    print_summary("convolutions_of_5", convolutions(), (5, 4, 6, 7))
    print_summary("rows_of_3", rows(), (3, 4, 15))
    print_summary("wide_of_32", wide().to("meta"), (32, 64, 32, 32))
    print_summary("wide_of_1024", wide().to("meta"), (1024, 64, 32, 32))
