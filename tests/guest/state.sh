#!/usr/bin/env bash
# state.sh NM LIBRARY: compares the objects in writable sections of the library with the list below, which has the reason of each.
# Constants are in read-only sections. A new name fails, and so does one that is no longer there.
set -euo pipefail
nm=$1 library=$2

allowed=$(grep -v '^$' <<'END'
gpunet::default_generator()::generator the default random generator, as PyTorch has one; locked for each draw
gpunet::detail::build_kinds the kinds of units, to refuse a mixture before main
gpunet::detail::current_isa()::isa the vector path that was chosen; a test may set another one
gpunet::distributed::engine_factory()::factory the engine between processes, if the program includes gpunet/distributed/mpi.hpp
gpunet::distributed::device_engine_factory()::factory that of GPUs, if the program includes gpunet/distributed/nccl.cuh
gpunet::io::deflate_codec()::codec zlib, if the program includes gpunet/io/zlib.hpp
gpunet::io::other_images[abi:cxx11]()::reader stb, if the program includes gpunet/io/stb_image.hpp
gpunet::io::detail::EventFile::files a counter in the names of event files, so that two of one second differ
gpunet::io::detail::crc32()::tables constants, computed on first use
gpunet::io::detail::crc32c()::tables constants, computed on first use
gpunet::io::detail::histogram_limits()::all constants, computed on first use
gpunet::train::InterruptGuard::caught_ the signal that a handler has seen, while an InterruptGuard asks for it
gpunet::train::InterruptGuard::guards_ how many InterruptGuards there are
END
)

# Names of objects in writable sections (.data.rel.ro and .tm_clone_table are not), without arguments of functions, and without
# what the compiler adds: guards of first uses, DW.ref of exceptions.
found=$("$nm" --demangle --format=sysv "$library" | awk -F'|' '
  $NF ~ /\.(data|bss|tdata|tbss|lbss|ldata)/ && $NF !~ /\.data\.rel\.ro/ {
    name = $1
    sub(/ +$/, "", name)
    gsub(/\(std::[^()]*(\([^()]*\))?[^()]*\)/, "()", name)
    sub(/EventFile::EventFile\(.*\)::/, "EventFile::", name)
    if (name !~ /^(DW\.ref|guard variable for |std::__ioinit|\.)/) print name
  }' | sort -u)

bad=0
while read -r name; do
  grep -qF "$name " <<<"$allowed" || { echo "$name: new global state, avoid it or add it to the list with its reason"; bad=1; }
done <<<"$found"
while read -r line; do
  name=${line%% *}
  grep -qxF "$name" <<<"$found" || { echo "$name: no longer there, remove it from the list"; bad=1; }
done <<<"$allowed"
[[ $bad == 0 ]] && echo "$(grep -c . <<<"$found") objects, each with its reason"
exit $bad
