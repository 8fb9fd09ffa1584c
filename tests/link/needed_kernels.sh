#!/usr/bin/env bash
# needed_kernels.sh NM ALL FEW: the library ALL has symbols of Winograd's convolution, and FEW has none.
set -euo pipefail
nm=$1 all=$2 few=$3

count() { "$nm" --demangle "$1" | grep -c winograd || true; }
kernels=$(count "$all") unneeded=$(count "$few")
((kernels > 0)) || { echo "$all has no symbols of Winograd's convolution"; exit 1; }
((unneeded == 0)) || { echo "$few has $unneeded symbols of Winograd's convolution, which its network never calls"; exit 1; }
