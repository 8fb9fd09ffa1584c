#!/usr/bin/env bash
# columns.sh DIR...: checks that no line of code is wider than 100 columns, except a URL or another word that cannot be
# broken.
set -euo pipefail

find "$@" -type f -regex '.*\.\(hpp\|ipp\|cuh\|inl\|cpp\|cu\)' | sort | xargs -r awk '
  FNR == 1 { ++files }
  length > 100 && !/^ *(\/\/ *)?[^ ]+$/ {
    print FILENAME ":" FNR ": " length " columns (want at most 100), break the line"
    bad = 1
  }
  END { if (!bad) print files " files of at most 100 columns"; exit bad }'
