#!/usr/bin/env bash
# regenerate.sh [--check] [name...]: prints the reference values of this folder anew, from NAME.py a file NAME.safetensors (numbers),
# NAME.txt (texts) or NAME.hpp; all of them, or those named. With --check it writes nothing, shows what differs, and fails if
# anything does. PYTHON is a Python with PyTorch 2.15, torchvision 0.29, Pillow 13, torchinfo 1.8, safetensors and scikit-learn 1.9
# (default: python3); clang-format 14 has to be installed. GPUNET_TEST_DATA is a folder with cifar10/; without it, the losses
# on CIFAR-10 are left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

check=
if [[ ${1:-} == --check ]]; then
  check=1
  shift
fi
(($#)) || set -- $(grep -l '^"""Prints ' ./*.py | sed 's,^\./,,; s,\.py$,,')

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
status=0
for name; do
  if [[ ! -d ${GPUNET_TEST_DATA:-}/cifar10 ]] && grep -q GPUNET_TEST_DATA "$name.py"; then
    echo "$name is left out: GPUNET_TEST_DATA names no folder with cifar10/"
    continue
  fi
  suffix=$(sed -n "1s/^\"\"\"Prints $name\.\([a-z]*\):.*/\1/p" "$name.py")
  file=$name.$suffix
  new=$temporary/$file
  PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$name.py" >"$new"
  if [[ $suffix == hpp ]]; then ../../scripts/format.sh "$new"; fi
  if [[ -z $check ]]; then
    cp "$new" "$file"
  elif ! cmp -s "$file" "$new"; then
    if [[ $suffix == safetensors ]]; then
      "${PYTHON:-python3}" compare.py "$file" "$new"
    else
      diff "$file" "$new" || true
    fi
    echo "$file is not what $name.py prints"
    status=1
  fi
done
exit $status
