#!/usr/bin/env bash
# headers_alone.sh INCLUDE_DIR [--without HEADER]... COMPILER [FLAG...]: checks that each .hpp compiles alone, without what another
# header happens to include before it: gpunet/gpunet.hpp and gpunet/src.hpp header-only, all others as the compiled
# library has them, without bodies.
#
# Reading the same headers again for each would take minutes. Some are therefore precompiled, and header A is compiled after the
# precompiled B if this changes nothing for A: B is among what A includes, or these include, before the first other line of A,
# without condition; and B does not lead back to A. Then all names that B brings are there in a program that includes A alone.
set -euo pipefail
cd "$1"
shift
without=()
while [[ $1 == --without ]]; do
  without+=("$2")
  shift 2
done
compiler=("$@" -I. -Winvalid-pch)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Lines "HEADER PRECOMPILED". First those that are to be precompiled, for which PRECOMPILED is "make"; "none" if none helps.
# The effort for a header is taken to be its lines with all that it includes, and a fixed number for each standard header.
find . -type f \( -name '*.hpp' -o -name '*.ipp' -o -name '*.inl' \) -printf '%P\n' | sort |
  xargs -r awk -v without="${without[*]}" '
  FNR == 1 { files[++n] = FILENAME; at_top = 1 }
  { ++lines[FILENAME] }
  /^[ \t]*#[ \t]*include[ \t]*</ {
    match($0, /<[^>]*/)
    name = substr($0, RSTART + 1, RLENGTH - 1)
    if (name !~ /^gpunet\//) standard[FILENAME] = standard[FILENAME] " " name
    else if (name !~ /\.cuh$/) {
      includes[FILENAME] = includes[FILENAME] " " name
      if (at_top) top[FILENAME] = top[FILENAME] " " name
    }
    next
  }
  !/^[ \t]*(\/\/.*)?$/ && !/^#pragma once$/ { at_top = 0 }

  # Adds `file` and all that it leads to to reached[from, ...] and reach[from].
  function visit(from, file,    names, i, count) {
    if ((from, file) in reached) return
    reached[from, file]
    reach[from] = reach[from] " " file
    count = split(includes[file], names, " ")
    for (i = 1; i <= count; ++i) visit(from, names[i])
  }
  function effort_of(from,    all, i, count, names, k, standard_count, seen, sum) {
    count = split(reach[from], all, " ")
    for (i = 1; i <= count; ++i) {
      sum += 2 * lines[all[i]]
      standard_count = split(standard[all[i]], names, " ")
      for (k = 1; k <= standard_count; ++k) if (!(names[k] in seen)) { seen[names[k]]; sum += 700 }
    }
    return sum
  }

  END {
    for (i = 1; i <= n; ++i) { visit(files[i], files[i]); effort[files[i]] = effort_of(files[i]) }
    count = split(without, names, " ")
    for (i = 1; i <= count; ++i) omitted[names[i]]
    for (i = 1; i <= n; ++i) if (files[i] ~ /\.hpp$/ && !(files[i] in omitted)) headers[++m] = files[i]
    for (i = 1; i <= m; ++i) {
      header = headers[i]
      count = split(top[header], names, " ")
      for (k = 1; k <= count; ++k) {
        inner_count = split(reach[names[k]], inner, " ")
        for (j = 1; j <= inner_count; ++j)
          if (inner[j] ~ /\.hpp$/ && !((inner[j], header) in reached) && !((header, inner[j]) in may)) {
            may[header, inner[j]]
            users[inner[j]] = users[inner[j]] " " header
          }
      }
    }
    # Each time the header that saves most, as long as one saves half a second. To load one takes an effort, too.
    load = 3000
    for (;;) {
      most = 10000
      for (i = 1; i <= m; ++i) {
        header = headers[i]
        if (header in chosen) continue
        gain = -1.5 * effort[header]
        count = split(users[header], names, " ")
        for (k = 1; k <= count; ++k) {
          more = effort[header] - load - saved[names[k]]
          if (more > 0) gain += more
        }
        if (gain > most) { most = gain; best = header }
      }
      if (most == 10000) break
      chosen[best]
      print best, "make"
      count = split(users[best], names, " ")
      for (k = 1; k <= count; ++k)
        if (effort[best] - load > saved[names[k]]) { saved[names[k]] = effort[best] - load; with[names[k]] = best }
    }
    for (i = 1; i <= m; ++i) if (!(headers[i] in chosen)) print headers[i], headers[i] in with ? with[headers[i]] : "none"
  }' >"$work/plan"

# compile HEADER PRECOMPILED, as above. What the compiler says about a header that does not compile is kept in a file of "bad".
compile() {
  local unit=$work/${1//\//_} flags
  printf '#include <%s>\n' "$1" >"$unit"
  if [[ $1 == gpunet/gpunet.hpp || $1 == gpunet/src.hpp ]]; then
    flags=(-x c++ -fsyntax-only)
  else
    flags=(-DGPUNET_COMPILED=1 -x c++ -fsyntax-only)
    case $2 in
      make) flags=(-DGPUNET_COMPILED=1 -x c++-header -o "$unit.gch") ;;
      none) ;;
      *) flags+=(-include "$work/${2//\//_}") ;;
    esac
  fi
  "${compiler[@]}" "${flags[@]}" "$unit" >"$unit.log" 2>&1 || {
    echo "$1 does not compile alone" >>"$unit.log"
    mv "$unit.log" "$work/bad"
  }
}

# compile_all LINE...: as many at a time as there are processors.
compile_all() {
  local line
  for line in "$@"; do
    while [[ $(jobs -r | wc -l) -ge $processors ]]; do wait -n || true; done
    # shellcheck disable=SC2086  # two words
    compile $line &
  done
  wait
}

processors=$(nproc)
mkdir "$work/bad"
mapfile -t precompiled < <(grep ' make$' "$work/plan")
mapfile -t others < <(grep -v ' make$' "$work/plan")
echo "${#others[@]} headers, and ${#precompiled[@]} that are precompiled"
compile_all "${precompiled[@]}"
compile_all "${others[@]}"
[[ -z $(ls "$work/bad") ]] || { cat "$work"/bad/*; exit 1; }
