"""Shows the arrays in which two safetensors files differ, and by how much.

Usage: compare.py OLD NEW
"""

import sys

from safetensors.torch import load_file

old, new = map(load_file, sys.argv[1:])
for name in sorted(old.keys() | new.keys()):
    if name not in old or name not in new:
        print(f"{name} is in one of them only")
        continue
    a, b = old[name], new[name]
    if a.dtype != b.dtype or a.shape != b.shape:
        print(f"{name}: {a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)}")
    elif not a.equal(b):
        largest = (a.double() - b.double()).abs().max()
        print(f"{name}: the largest difference is {largest:.2g}, the largest number {a.double().abs().max():.2g}")
