"""Prints pillow_images.safetensors: small image files of every kind that gpunet reads, and what Pillow makes of them.

Usage: see regenerate.sh     (Pillow 13, safetensors)

NAME has the bytes of a file, and "hashes of NAME" those (FNV-1a, 64 bits as an int64) of what Pillow reads: red, green and blue of each
pixel, and its alpha; 0 for images without. All have 9 x 6 pixels. Besides, there are JPEG, and "pixels of JPEG" [height, width, 3].
"""

import io
import struct
import warnings
import zlib

import numpy as np
from PIL import Image, __version__

from common import fnv1a, signed, write

warnings.simplefilter("ignore")  # about palettes whose colors are transparent
WIDTH, HEIGHT = 9, 6  # so that each of the seven passes of an interlaced image has pixels, and bits are left over


def values(channels, most, width=WIDTH, height=HEIGHT):
    """Numbers from 0 to most, [height, width, channels]."""
    i = np.arange(height * width * channels, dtype=np.int64)
    return ((i * i * 7 + i * 40503 // 16) % (most + 1)).reshape(height, width, channels)


def row_bytes(row, depth):
    """One line of a file: numbers of `depth` bits."""
    if depth == 16:
        return row.astype(">u2").tobytes()
    bits = "".join(f"{v:0{depth}b}" for v in row)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))


def filtered(lines, step):
    """Lines of a PNG file, each behind another filter."""
    out, above = b"", bytes(len(lines[0]))
    for y, line in enumerate(lines):
        kind = (y + 3) % 5
        out += bytes([kind])
        for i, v in enumerate(line):
            a, c = (line[i - step], above[i - step]) if i >= step else (0, 0)
            b = above[i]
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            out += bytes([(v - (0, a, b, (a + b) // 2, nearest)[kind]) % 256])
        above = line
    return out


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(color, depth, interlaced=0, palette=b"", transparent=b"", most=None):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    pixels = values(channels, most or 2**depth - 1)
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    data = b""
    for x0, y0, dx, dy in passes if interlaced else ((0, 0, 1, 1),):
        lines = [row_bytes(row.reshape(-1), depth) for row in pixels[y0::dy, x0::dx]]
        data += filtered(lines, max(1, channels * depth // 8))
    packed = zlib.compress(data, 0)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, color, 0, 0, interlaced))
    file += chunk(b"PLTE", palette) * bool(palette) + chunk(b"tRNS", transparent) * bool(transparent)
    return file + chunk(b"IDAT", packed[:20]) + chunk(b"IDAT", packed[20:]) + chunk(b"IEND", b"")


def bmp(bits, height=HEIGHT, header=40, masks=(), colors=0):
    pixels = values(bits // 8 or 1, (colors or 2 ** min(bits, 8)) - 1)
    lines = [row_bytes(row.reshape(-1), min(bits, 8)) for row in pixels]
    data = b"".join(line + bytes(-len(line) % 4) for line in lines)
    if header == 12:
        head = struct.pack("<IHHHH", 12, WIDTH, height, 1, bits)
    else:
        head = struct.pack("<IiiHHIIiiII", header, WIDTH, height, 1, bits, 3 if masks else 0, len(data), 0, 0, colors, 0)
        head = (head + b"".join(struct.pack("<I", m) for m in masks)).ljust(header, b"\0")
    palette = b"".join(bytes([i * 50 % 256, i * 7 % 256, 255 - i] + [0] * (header > 12))
                       for i in range((colors or 2**bits) if bits <= 8 else 0))
    begin = 14 + len(head) + len(palette)
    return b"BM" + struct.pack("<IHHI", begin + len(data), 0, 0, begin) + head + palette + data


def pnm(kind, most=1):
    pixels = values(3 if kind in (3, 6) else 1, most)
    file = f"P{kind} # a comment\n{WIDTH}\n#another\n {HEIGHT}\n".encode() + (b"%d\n" % most if kind not in (1, 4) else b"")
    if kind <= 3:
        return file + b"#here too\n" + b" ".join(b"%d" % v for v in pixels.reshape(-1))
    return file + b"".join(row_bytes(row.reshape(-1), 1 if kind == 4 else 16 if most > 255 else 8) for row in pixels)


files = {}
for color, depths in ((0, (1, 2, 4, 8, 16)), (2, (8, 16)), (4, (8, 16)), (6, (8, 16))):
    for depth in depths:
        for interlaced in (0, 1):
            files[f"PNG of type {color}, {depth} bits{', interlaced' * interlaced}"] = png(color, depth, interlaced)
for depth in (1, 2, 4, 8):
    colors = min(2**depth, 20)
    palette = bytes(values(3, 255, colors, 1).astype(np.uint8).tobytes())
    files[f"PNG with a palette, {depth} bits"] = png(3, depth, 0, palette, b"", colors - 1)
    files[f"PNG with a palette, {depth} bits, interlaced"] = png(3, depth, 1, palette, bytes([0, 100]), colors - 1)
files["PNG with a transparent gray"] = png(0, 8, 0, b"", b"\0\x02", 3)
files["PNG with a transparent color"] = png(2, 8, 1, b"", b"\0\1\0\0\0\1", 1)
for bits in (1, 4, 8, 16, 24, 32):
    files[f"BMP, {bits} bits"] = bmp(bits, colors=20 if bits == 8 else 0)
    files[f"BMP, {bits} bits, from the top"] = bmp(bits, -HEIGHT, colors=20 if bits == 8 else 0)
files["BMP, 4 bits, short header"] = bmp(4, header=12)
files["BMP, 24 bits, long header"] = bmp(24, header=124)
files["BMP, 16 bits as 5 6 5"] = bmp(16, masks=(0xF800, 0x7E0, 0x1F))
files["BMP, 32 bits in another order"] = bmp(32, masks=(0xFF000000, 0xFF0000, 0xFF00))
files["BMP, 32 bits with alpha"] = bmp(32, -HEIGHT, 108, (0xFF0000, 0xFF00, 0xFF, 0xFF000000))
for kind in (1, 4):
    files[f"P{kind}"] = pnm(kind)
for kind in (2, 3, 5, 6):
    for most in (100, 255, 1000, 65535):
        files[f"P{kind}, up to {most}"] = pnm(kind, most)

results = {}
for name, file in files.items():
    image = Image.open(io.BytesIO(file))
    rgb = np.array(image.convert("RGB"))
    if image.mode.startswith("I"):  # gray with 16 bits: Pillow makes all that is over 255 white
        wide = np.array(image).astype(np.int64)
        most = 65535
        if name.startswith("P2") or name.startswith("P5"):
            most = int(name.split()[-1])
            wide = values(1, most)[:, :, 0]
            gray = np.rint(wide / most * 255)  # as Pillow does for P3 and P6
        else:
            gray = wide >> 8  # as Pillow does for colors
        rgb = np.repeat(gray.astype(np.uint8)[:, :, None], 3, 2)
    has_alpha = "A" in image.mode or "transparency" in image.info
    alpha = np.array(image.convert("RGBA"))[:, :, 3] if has_alpha else None
    results[name] = np.frombuffer(file, np.uint8)
    results[f"hashes of {name}"] = [signed(fnv1a(rgb.tobytes())), signed(fnv1a(alpha.tobytes())) if has_alpha else 0]
x, y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
picture = Image.fromarray(np.stack([x * 28, y * 51, 255 - x * 14 - y * 25], 2).astype(np.uint8))
file = io.BytesIO()
picture.save(file, "JPEG", quality=90, subsampling=0)
results["JPEG"] = np.frombuffer(file.getvalue(), np.uint8)
results["pixels of JPEG"] = np.array(Image.open(file)).reshape(-1)
write(results, f"Pillow {__version__}")
