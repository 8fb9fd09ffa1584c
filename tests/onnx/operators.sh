#!/usr/bin/env bash
# operators.sh PROGRAM PAGE: checks that the table of PAGE (docs/onnx.md) has the operators that gpunet reads, as PROGRAM
# (gpunet_onnx_exchange) lists them, and no others.
set -euo pipefail

diff <("$1" operators | LC_ALL=C sort) <(sed -n '/^| operator/,/^$/ s/^| \(`[^|]*`\) |.*/\1/p' "$2" | tr -d ' `' | tr ',' '\n' | LC_ALL=C sort) ||
  { echo "$2: its operators differ (<: read, >: on the page), correct the table"; exit 1; }
echo "the operators of $2 are those that gpunet reads"
