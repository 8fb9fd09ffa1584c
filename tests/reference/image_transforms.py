"""Prints image_transforms.safetensors: transforms of images with given parameters, as torchvision computes them in double.

Usage: see regenerate.sh     (PyTorch 2.15, torchvision 0.29, safetensors)

NUMBER.NAME              what becomes of an image [channels, height, width]
NUMBER.NAME.parameters   the sizes of the image before, and the parameters of the transform
resized_sides            rows of a size, height and width, and what Resize(size) makes of these two
fallback_crops           rows of the bounds of a ratio
fallback_crops.sides     and of height and width, and the part that RandomResizedCrop takes when none of ten fits: top,
                         left, height and width
"""

import torch
import torchvision.transforms as T
import torchvision.transforms.functional as F

from common import rounded, write


def image(channels, height, width):
    """The function of the same name in the test: values from 0 to 1, grey pixels among them."""
    n = channels * height * width
    values = [(i * 37 + i // 7 * 11) % 65 / 64 for i in range(n)]
    x = torch.tensor(values, dtype=torch.float64).reshape(channels, height, width)
    x[:, 0, 0] = 0.25
    x[:, 0, 1:2] = 0
    return x


results = {}


def case(name, parameters, x, y):
    key = f"{len(results) // 2:02}.{name}"
    results[key] = rounded(y.flatten()).reshape(y.shape)
    results[f"{key}.parameters"] = [float(number) for number in (*x.shape, *parameters)]


for top, left, height, width in ((1, 2, 2, 2), (-2, -1, 4, 5), (2, 3, 4, 4), (0, 0, 3, 5)):
    x = image(2, 3, 5)
    case("crop", (top, left, height, width), x, F.crop(x, top, left, height, width))
x = image(3, 2, 5)
case("hflip", (), x, F.hflip(x))
case("erase", (0, 1, 2, 3, 0.5), x, F.erase(x, 0, 1, 2, 3, torch.tensor(0.5, dtype=torch.float64)))
# Interpolation 1: bilinear; center as x, y. Sides are both even or both odd, else rounding decides
# which pixel is nearest at 90 degrees.
for height, width in ((4, 6), (3, 3), (1, 5)):
    x = image(2, height, width)
    for angle in (0, 17, -38.5, 90, 180, 271):
        for mode in (0, 1):
            y = F.rotate(x, angle, [F.InterpolationMode.NEAREST, F.InterpolationMode.BILINEAR][mode], fill=[0.5])
            case("rotate", (angle, mode, 0.5), x, y)
    y = F.rotate(x, 17, F.InterpolationMode.BILINEAR, center=[1, 2.25], fill=[0.0])
    case("rotate", (17, 1, 0, 1, 2.25), x, y)
for old, new in (((4, 5), (2, 3)), ((5, 4), (2, 3)), ((3, 3), (6, 5)), ((2, 7), (5, 2)), ((4, 4), (4, 4)), ((1, 9), (3, 2))):
    x = image(2, *old)
    case("center_crop", new, x, F.center_crop(x, list(new)))
x = image(2, 6, 7)
case("resized_crop", (1, 2, 4, 3, 5, 2), x, F.resized_crop(x, 1, 2, 4, 3, [5, 2], antialias=True))
for old, new in (((4, 4), (2, 2)), ((5, 7), (3, 2)), ((3, 5), (7, 6)), ((9, 2), (4, 5)), ((1, 1), (2, 3)), ((11, 6), (1, 1))):
    for antialias in (0, 1):
        x = image(1, *old)
        case("resize", (*new, antialias), x, F.resize(x, list(new), antialias=bool(antialias)))
for channels in (1, 3):
    x = image(channels, 3, 4)
    for factor in (0, 0.6, 1.7):
        case("brightness", (factor,), x, F.adjust_brightness(x, factor))
        case("contrast", (factor,), x, F.adjust_contrast(x, factor))
        case("saturation", (factor,), x, F.adjust_saturation(x, factor))
    for turn in (-0.5, -0.07, 0.21, 0.5):
        case("hue", (turn,), x, F.adjust_hue(x, turn))
results["resized_sides"] = []
for size, height, width in ((32, 32, 32), (32, 100, 75), (31, 75, 100), (224, 333, 500), (7, 3, 10), (5, 1, 9)):
    y = F.resize(torch.zeros(1, height, width), [size])
    results["resized_sides"].append([size, height, width, y.shape[1], y.shape[2]])
results["fallback_crops"], results["fallback_crops.sides"] = [], []
for ratio, height, width in (((0.75, 4 / 3), 4, 100), ((0.75, 4 / 3), 101, 6), ((2, 3), 7, 18), ((0.5, 0.5), 5, 9)):
    # Parts of no area never fit.
    part = T.RandomResizedCrop.get_params(torch.zeros(1, height, width), [0.0, 0.0], list(ratio))
    results["fallback_crops"].append([float(bound) for bound in ratio])
    results["fallback_crops.sides"].append([height, width, *part])
write(results)
