#!/usr/bin/env bash
# page.sh PAGE COMPILER [FLAG...]: the C++ blocks of a page compile: the first as it stands, the others one after another in
# a function, where a few names are there already.
set -euo pipefail
page=$1
shift

program=$(awk '
  /^```cpp$/ { inside = 1; ++block; if (block == 2) print "void page(Host& host) {"; if (block == 4) print names; next }
  /^```$/ { inside = 0; next }
  inside { print }
  END { if (block >= 2) print "}"; exit block < 4 }' names='
  Host& device = host;
  Model net(device, Net{});
  const double validation_loss = 1;
  const auto train_set = data::CIFAR10::train("data");
  const data::DataLoader test_loader(train_set);' "$page") || { echo "$page: less than four blocks of C++"; exit 1; }
"$@" -fsyntax-only -x c++ - <<<"$program"
